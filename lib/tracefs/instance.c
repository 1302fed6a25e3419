// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/tracefs/instance.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/tracefs/control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

int instance_each(const struct tracing *tracing, int (*each)(const char *name, void *data), void *data,
		  struct fail *fail)
{
	cleanup_free char *path = NULL;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	if (asprintf(&path, "%s/instances", tracing->dir) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	dir = opendir(path);
	if (!dir)
		return tracing_refused(path, -errno, "open", fail);
	while (!err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			err = each(entry->d_name, data);
	closedir(dir);
	return err;
}

int instance_path(const struct instance *instance, const char *file, char **ret, struct fail *fail)
{
	int len = *file == '/' ? asprintf(ret, "%s", file) : asprintf(ret, "%s/%s", instance->dir, file);

	if (len >= 0)
		return 0;
	*ret = NULL;
	return fail_memory(fail);
}

bool instance_has(const struct instance *instance, const char *file)
{
	char path[PATH_MAX];
	int len = *file == '/' ? snprintf(path, sizeof(path), "%s", file) :
				 snprintf(path, sizeof(path), "%s/%s", instance->dir, file);

	return len > 0 && (size_t)len < sizeof(path) && !access(path, F_OK);
}

int instance_read(const struct instance *instance, const char *file, struct buf *buf, struct fail *fail)
{
	cleanup_free char *path = NULL;
	int err = instance_path(instance, file, &path, fail);

	return err ? err : tracing_read_path(path, buf, fail);
}

int instance_read_word(const struct instance *instance, const char *file, char *into, size_t size, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	int err = instance_read(instance, file, &buf, fail);

	if (err)
		return err;
	if (!control_word(buf_str(&buf), control_kind(file), into, size))
		return fail_set(fail, -EBADMSG, "'%s/%s' holds no word", instance->dir, file);
	return 0;
}

int instance_open_file(const struct instance *instance, const char *file, int flags, int *ret_fd, struct fail *fail)
{
	cleanup_free char *path = NULL;
	int err = instance_path(instance, file, &path, fail), fd;

	if (err)
		return err;
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return tracing_refused(path, -errno, "open", fail);
	*ret_fd = fd;
	return 0;
}
