// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/tracing.h"

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

/* The end of a parameter: the next blank outside quotes, as in next_arg() of the kernel's lib/cmdline.c. */
static const char *parameter_end(const char *at)
{
	bool quoted = false;

	for (; *at && (quoted || !strchr(" \t\n", *at)); at++)
		if (*at == '"')
			quoted = !quoted;
	return at;
}

static const char *value_of(const char *at, const char *end, const char *name)
{
	size_t len = strlen(name);

	/* Quotes may enclose the value or the whole parameter. */
	at += *at == '"';
	if ((size_t)(end - at) <= len || strncmp(at, name, len))
		return NULL;
	return at[len] == '"' ? at + len + 1 : at + len;
}

bool boot_instance_in(const char *cmdline, const char *name)
{
	const char *at = cmdline;

	for (;;) {
		const char *end, *value;

		at += strspn(at, " \t\n");
		if (!*at)
			return false;
		end = parameter_end(at);
		/* The words after "--" are arguments of init. */
		if (end - at == 2 && !memcmp(at, "--", 2))
			return false;
		value = value_of(at, end, "trace_instance=");
		if (value) {
			struct text_word word = { value, strcspn(value, "=^@,\" \t\n") };

			if (text_word_is(word, name))
				return true;
		}
		at = end;
	}
}

bool boot_instance_is(const char *name)
{
	cleanup_buf struct buf text = BUF_INIT;

	return !tracing_read_path("/proc/cmdline", &text, NULL) && boot_instance_in(buf_str(&text), name);
}
