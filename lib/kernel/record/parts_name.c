// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/parts_name.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lib/ground/base/destination.h"
#include "lib/ground/base/now.h"

static const char default_temp_dir[] = "/var/tmp";
static const char infix[] = ".weft-";
static const char suffix[] = ".parts";

const char *parts_leaf(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *parts_directory_of(const char *path)
{
	const char *leaf = parts_leaf(path);

	if (leaf == path)
		return strdup(".");
	return leaf == path + 1 ? strdup("/") : strndup(path, (size_t)(leaf - path) - 1);
}

/* The directory of the parts; NULL: beside the output. Beside a device they would be in memory, in devtmpfs. */
static const char *directory_for(const char *output, const char *temp_dir)
{
	struct destination to = DESTINATION_INIT;
	bool is_file;

	if (temp_dir)
		return temp_dir;
	is_file = destination_open(output, &to, NULL) || to.kind == DESTINATION_FILE;
	destination_release(&to);
	return is_file ? NULL : default_temp_dir;
}

char *parts_name_new(const char *output, const char *temp_dir)
{
	const char *leaf = strcmp(output, "-") ? parts_leaf(output) : "stdout";
	const char *dir = directory_for(output, temp_dir);
	int beside = dir ? 0 : (int)(leaf - output);
	uint32_t random;
	char *path;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
		random = (uint32_t)now_ns();
	if (asprintf(&path, "%s%s%.*s%s%s%d-%08" PRIx32 "%s", dir ? dir : "", dir ? "/" : "", beside, output, leaf,
		     infix, getpid(), random, suffix) < 0)
		return NULL;
	return path;
}

/* The PID in ".weft-PID-RANDOM.parts", the end of a path. 0: the text has another form. */
static pid_t owner_at(const char *at)
{
	char *end;
	long long pid;

	if (strncmp(at, infix, strlen(infix)))
		return 0;
	at += strlen(infix);
	if (*at < '0' || *at > '9')
		return 0;
	pid = strtoll(at, &end, 10);
	if (pid <= 0 || pid > INT_MAX || *end != '-')
		return 0;
	end++;
	end += strspn(end, "0123456789abcdef");
	if (strncmp(end, suffix, strlen(suffix)))
		return 0;
	end += strlen(suffix);
	return end[strspn(end, "/")] ? 0 : (pid_t)pid;
}

static const char *find_infix(const char *path)
{
	const char *at = strstr(path, infix);

	while (at && !owner_at(at))
		at = strstr(at + 1, infix);
	return at;
}

pid_t parts_owner(const char *path)
{
	const char *at = find_infix(path);

	return at ? owner_at(at) : 0;
}

char *parts_output(const char *path)
{
	const char *at = find_infix(path);

	return at && at > path && at[-1] != '/' ? strndup(path, (size_t)(at - path)) : NULL;
}

static bool is_parts_name(const char *name, const char *output)
{
	return *output ? !strncmp(name, output, strlen(output)) && owner_at(name + strlen(output)) :
			 parts_owner(name) > 0;
}

int parts_each(const char *output, int (*each)(const char *path, void *data), void *data)
{
	cleanup_free char *directory = parts_directory_of(output);
	struct dirent **names;
	int nr = directory ? scandir(directory, &names, NULL, alphasort) : -1;
	int ret = 0;

	for (int i = 0; i < nr; i++) {
		char *path = NULL;

		if (!ret && is_parts_name(names[i]->d_name, parts_leaf(output)) &&
		    asprintf(&path, "%.*s%s", (int)(parts_leaf(output) - output), output, names[i]->d_name) >= 0) {
			ret = each(path, data);
			free(path);
		}
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
	return ret;
}

const char *parts_name_place(const char *output, const char *temp_dir)
{
	const char *dir = directory_for(output, temp_dir);

	return dir ? dir : output;
}
