// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/remote.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/tracefs/tracing.h"

static const char prefix[] = "remotes/";

static const char *bare(const char *name)
{
	return strncmp(name, prefix, strlen(prefix)) ? name : name + strlen(prefix);
}

bool remote_is(const struct tracing *tracing, const char *name)
{
	cleanup_free char *path = NULL;
	struct stat st;

	name = bare(name);
	if (!*name || *name == '.' || strchr(name, '/'))
		return false;
	if (asprintf(&path, "%s/%s%s", tracing->dir, prefix, name) < 0) {
		path = NULL;
		return false;
	}
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int remote_refuse(const char *name, struct fail *fail)
{
	name = bare(name);
	return fail_set(
		fail, -EOPNOTSUPP,
		"'%s' is not an instance but a remote, the buffer of another system than this kernel, which gives "
		"text only: 'weft show remotes/%s/trace' prints it",
		name, name);
}

int remote_each(const struct tracing *tracing, int (*each)(const char *name, void *data), void *data)
{
	cleanup_free char *path = NULL;
	struct dirent **entries;
	int nr, ret = 0;

	if (asprintf(&path, "%s/%s", tracing->dir, prefix) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	nr = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < nr; i++) {
		if (!ret && entries[i]->d_name[0] != '.' && remote_is(tracing, entries[i]->d_name))
			ret = each(entries[i]->d_name, data);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	return ret;
}
