// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/user_internal.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#include "lib/ground/base/fail.h"

static const char login_defs[] = "/etc/login.defs";
static const char default_shell[] = "/bin/sh";

/* The defaults of the shadow package, for a login.defs without these lines. */
static const char path_of_root[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
static const char path_of_others[] = "/usr/local/bin:/usr/bin:/bin";

/* The value in a line "NAME VALUE", where VALUE may be "PATH=...". NULL: the line has another name. */
static char *value_in(char *line, const char *name)
{
	static const char blanks[] = " \t\n\"";
	size_t len = strlen(name);

	line += strspn(line, blanks);
	if (strncmp(line, name, len) || !line[len] || !strchr(blanks, line[len]))
		return NULL;
	line += len;
	line += strspn(line, blanks);
	line[strcspn(line, blanks)] = '\0';
	return !strncmp(line, "PATH=", 5) ? line + 5 : line;
}

static char *find_path(uid_t uid)
{
	const char *name = uid ? "ENV_PATH" : "ENV_SUPATH";
	cleanup_file FILE *in = fopen(login_defs, "re");
	char line[4096], *value;

	while (in && fgets(line, sizeof(line), in)) {
		value = value_in(line, name);
		if (value && *value)
			return strdup(value);
	}
	return strdup(uid ? path_of_others : path_of_root);
}

int user_find(const char *name, struct user *ret, struct fail *fail)
{
	const struct passwd *entry;
	struct user user = USER_INIT;

	errno = 0;
	entry = getpwnam(name);
	if (!entry)
		return fail_set(fail, errno ? -errno : -ENOENT, "there is no user '%s'", name);
	user = (struct user){
		.name = strdup(entry->pw_name),
		.home = strdup(entry->pw_dir),
		.shell = strdup(*entry->pw_shell ? entry->pw_shell : default_shell),
		.path = find_path(entry->pw_uid),
		.uid = entry->pw_uid,
		.gid = entry->pw_gid,
	};
	if (!user.name || !user.home || !user.shell || !user.path) {
		user_release(&user);
		return fail_memory(fail);
	}
	*ret = user;
	return 0;
}

void user_release(struct user *user)
{
	free(user->name);
	free(user->home);
	free(user->shell);
	free(user->path);
	*user = (struct user)USER_INIT;
}

int user_become(const struct user *user)
{
	if (initgroups(user->name, user->gid) || setgid(user->gid) || setuid(user->uid))
		return -errno;
	if (setenv("USER", user->name, 1) || setenv("LOGNAME", user->name, 1) || setenv("HOME", user->home, 1) ||
	    setenv("SHELL", user->shell, 1) || setenv("PATH", user->path, 1))
		return -errno;
	return 0;
}
