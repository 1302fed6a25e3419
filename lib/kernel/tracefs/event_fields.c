// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/event_fields.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/instance.h"

enum { FIELDS_MAX = 4096 };

void event_fields_release(struct event_fields *fields)
{
	for (size_t i = 0; i < fields->nr; i++) {
		free(fields->fields[i].type);
		free(fields->fields[i].name);
		free(fields->fields[i].array);
	}
	free(fields->fields);
	*fields = (struct event_fields){ .nr = 0 };
}

const struct event_field *event_fields_find(const struct event_fields *fields, const char *name)
{
	for (size_t i = 0; i < fields->nr; i++)
		if (!strcmp(fields->fields[i].name, name))
			return &fields->fields[i];
	return NULL;
}

bool event_field_is_generic(const char *name)
{
	static const char *const names[] = {
		"CPU",
		"cpu",
		"common_cpu",
		"COMM",
		"comm",
		"common_comm",
		"stacktrace",
		"STACKTRACE",
		"common_stacktrace",
		"common_timestamp",
		"hitcount",
	};

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/*
 * Splits a declaration, such as "char prev_comm[16]" or "__data_loc char[] name", into its last name and the type
 * around it. "int (*call)(void)" is not supported.
 */
static bool split(struct text_word declaration, struct event_field *ret)
{
	const char *begin = declaration.at, *end = begin + declaration.len, *array = NULL, *at;
	size_t array_len = 0;

	if (end > begin && end[-1] == ']') {
		at = memrchr(begin, '[', (size_t)(end - begin));
		if (!at)
			return false;
		array = at + 1;
		array_len = (size_t)(end - 1 - array);
		end = at;
	}
	for (at = end; at > begin && text_is_name_char(at[-1]);)
		at--;
	if (at == end || at == begin)
		return false;
	ret->name = strndup(at, (size_t)(end - at));
	while (at > begin && at[-1] == ' ')
		at--;
	ret->type = strndup(begin, (size_t)(at - begin));
	ret->array = array ? strndup(array, array_len) : NULL;
	return true;
}

/* Parses one line: "\tfield:TYPE NAME;\toffset:8;\tsize:16;\tsigned:0;". */
static int add_line(struct event_fields *fields, struct text_word line, struct fail *fail)
{
	static const char field_is[] = "field:";
	const char *end = memchr(line.at, ';', line.len), *size;
	struct event_field field = { .size = 0 }, *added;
	const char *at = line.at + (line.len && *line.at == '\t');

	if (!end || (size_t)(end - at) < strlen(field_is) || memcmp(at, field_is, strlen(field_is)))
		return 0;
	at += strlen(field_is);
	if (fields->nr == FIELDS_MAX || !split((struct text_word){ .at = at, .len = (size_t)(end - at) }, &field))
		return 0;
	size = memmem(end, line.len - (size_t)(end - line.at), "size:", 5);
	/* strtoul() stops inside the text, because a newline or a NUL follows the line. */
	if (size)
		field.size = (unsigned)strtoul(size + 5, NULL, 10);
	field.is_signed = memmem(end, line.len - (size_t)(end - line.at), "signed:1", 8);
	if (field.name && field.type && event_fields_find(fields, field.name)) {
		free(field.name);
		free(field.type);
		free(field.array);
		return 0;
	}
	added = field.name && field.type ? vec_push(fields->fields, fields->nr) : NULL;
	if (!added) {
		free(field.name);
		free(field.type);
		free(field.array);
		return fail_memory(fail);
	}
	*added = field;
	return 0;
}

int event_fields_parse(struct event_fields *fields, const char *format, struct fail *fail)
{
	size_t left = strlen(format);
	struct text_word line;
	int err = 0;

	while (!err && text_next_line(&format, &left, &line))
		err = add_line(fields, line, fail);
	return err;
}

static int add_event(struct event_fields *fields, const struct instance *instance, const char *system,
		     const char *event, struct fail *fail)
{
	cleanup_buf struct buf format = BUF_INIT;
	int err = event_format(instance, system, event, &format, fail);

	return err ? err : event_fields_parse(fields, buf_str(&format), fail);
}

static int add_system(struct event_fields *fields, const struct instance *instance, const char *system,
		      struct fail *fail)
{
	cleanup_free char *path = NULL;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	if (asprintf(&path, "%s/events/%s", instance->dir, system) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	dir = opendir(path);
	if (!dir)
		return tracing_refused(path, -errno, "open", fail);
	while (!err && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		err = add_event(fields, instance, system, entry->d_name, fail);
		/* `enable` and `filter` in this directory are files, not events. */
		if (err == -ENOTDIR || err == -ENOENT)
			err = 0;
	}
	closedir(dir);
	return err;
}

int event_fields_read(const struct instance *instance, const char *system, const char *event, struct event_fields *ret,
		      struct fail *fail)
{
	struct event_fields fields = { .nr = 0 };
	int err =
		event ? add_event(&fields, instance, system, event, fail) : add_system(&fields, instance, system, fail);

	if (err) {
		event_fields_release(&fields);
		return err;
	}
	*ret = fields;
	return 0;
}
