// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/tracefs/control.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/tracefs/tracing.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum control_kind control_kind(const char *file)
{
	static const struct {
		const char *name;
		enum control_kind kind;
	} kinds[] = {
		{ "trace_clock", CONTROL_CHOICE },
		{ "buffer_size_kb", CONTROL_SIZE },
		{ "set_event", CONTROL_EVENTS },
		{ "enable", CONTROL_SWITCH },
		{ "filter", CONTROL_FILTER },
		{ "trigger", CONTROL_TRIGGER },
		{ "mode", CONTROL_CHOICE }, /* of hwlat_detector */
		{ "snapshot", CONTROL_SNAPSHOT },
		{ "set_ftrace_filter", CONTROL_LIST },
		{ "set_ftrace_notrace", CONTROL_LIST },
		{ "set_ftrace_pid", CONTROL_TASKS },
		{ "set_ftrace_notrace_pid", CONTROL_TASKS },
		{ "set_graph_function", CONTROL_LIST },
		{ "set_graph_notrace", CONTROL_LIST },
		{ "stack_trace_filter", CONTROL_LIST },
		{ "set_event_pid", CONTROL_TASKS },
		{ "set_event_notrace_pid", CONTROL_TASKS },
	};
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	if (!strcmp(file, "osnoise/options"))
		return CONTROL_FLAGS;
	for (size_t i = 0; i < array_size(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return kinds[i].kind;
	return CONTROL_VALUE;
}

static bool is_blank(const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isspace((unsigned char)data[i]))
			return false;
	return true;
}

static int write_all(int fd, const char *data, size_t len)
{
	/*
	 * A file that takes words accepts one word per write(2), and write(2) returns the number of bytes that it
	 * accepted.
	 */
	while (len) {
		ssize_t done = write(fd, data, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		/*
		 * Before 5.18.3, the count that trace_pid_write() returns lacks the white space after the last number.
		 */
		if (!done)
			return is_blank(data, len) ? 0 : -EIO;
		data += done;
		len -= (size_t)done;
	}
	return 0;
}

int control_write(const char *path, bool append, const char *value)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC));
	cleanup_buf struct buf buf = BUF_INIT;

	if (fd < 0)
		return -errno;
	if (!*value)
		return 0;
	/*
	 * Without the newline some files process the last word only when they are closed, and then an error goes
	 * unnoticed.
	 */
	if (!buf_addf(&buf, "%s\n", value))
		return -ENOMEM;
	return write_all(fd, buf.data, buf.len);
}

bool control_word(const char *text, enum control_kind kind, char *into, size_t size)
{
	size_t len;

	if (kind == CONTROL_CHOICE) {
		const char *open = strchr(text, '[');

		if (!open)
			return false;
		text = open + 1;
		len = strcspn(text, "]\n");
	} else {
		len = strlen(text);
		while (len && strchr("\n\t ", text[len - 1]))
			len--;
	}
	if (len >= size)
		return false;
	memcpy(into, text, len);
	into[len] = '\0';
	return true;
}

bool control_same(enum control_kind kind, const char *one, const char *other)
{
	char a[256], b[256];

	if (control_word(one, kind, a, sizeof(a)) && control_word(other, kind, b, sizeof(b)))
		return !strcmp(a, b);
	return !strcmp(one, other);
}

/* "7 (expanded: 1408)" becomes 1408: nobody asked for a buffer of 7 KB. */
static bool size_word(const char *text, char *into, size_t size)
{
	const char *expanded = strstr(text, "(expanded: "),
		   *digits = expanded ? expanded + strlen("(expanded: ") : text;
	size_t len = strspn(digits, "0123456789");

	if (!len || len >= size)
		return false;
	memcpy(into, digits, len);
	into[len] = '\0';
	return true;
}

static bool has_line(const char *text, struct text_word line)
{
	size_t left = strlen(text);
	struct text_word other;

	while (text_next_line(&text, &left, &other))
		if (other.len == line.len && !memcmp(other.at, line.at, line.len))
			return true;
	return false;
}

bool control_is_name(struct text_word line)
{
	return line.len && line.at[0] != '#' && !text_word_is(line, "no pid");
}

/*
 * set_ftrace_filter prints "func [module]" and accepts "func:mod:module". Function probes ("func:traceoff:...") are
 * left out, because truncation does not remove them.
 */
static bool add_list_line(struct buf *buf, struct text_word line)
{
	const char *bracket = memchr(line.at, '[', line.len);

	if (control_is_probe(line))
		return true;
	if (bracket && bracket > line.at && bracket[-1] == ' ' && line.at[line.len - 1] == ']')
		return buf_addf(buf, "%.*s:mod:%.*s\n", (int)(bracket - 1 - line.at), line.at,
				(int)(line.at + line.len - bracket - 2), bracket + 1);
	return buf_add(buf, line.at, line.len) && buf_add(buf, "\n", 1);
}

static bool add_names(struct buf *buf, const char *text)
{
	size_t left = strlen(text);
	struct text_word line;

	while (text_next_line(&text, &left, &line))
		if (control_is_name(line) && !add_list_line(buf, line))
			return false;
	return true;
}

static int restore_list(const char *path, const char *old)
{
	cleanup_buf struct buf value = BUF_INIT;

	if (!add_names(&value, old))
		return -ENOMEM;
	if (value.len)
		value.data[--value.len] = '\0';
	return control_write(path, false, buf_str(&value));
}

/*
 * Restores a list of tasks. With event-fork and function-fork the kernel removes tasks from a list when they end, and
 * an empty list stays installed: no task is then traced, but the text is that of a missing list. So an equal text is no
 * reason to skip the write unless the list has names.
 */
static int restore_tasks(const char *path, const char *old, const char *now)
{
	cleanup_buf struct buf names = BUF_INIT;

	if (!add_names(&names, old))
		return -ENOMEM;
	return names.len && !strcmp(old, now) ? 0 : restore_list(path, old);
}

/* Appends each line of `lines` that `known` lacks to the file, preceded by `before`. Returns the first error. */
static int append_missing(const char *path, const char *lines, const char *known, const char *before)
{
	size_t left = strlen(lines);
	struct text_word line;
	int err = 0;

	while (text_next_line(&lines, &left, &line)) {
		cleanup_buf struct buf value = BUF_INIT;
		int failed;

		if (!control_is_name(line) || has_line(known, line))
			continue;
		if (!buf_addf(&value, "%s%.*s", before, (int)line.len, line.at))
			return -ENOMEM;
		failed = control_write(path, true, buf_str(&value));
		/* An error because the event no longer exists is ignored. */
		if (failed && failed != -EINVAL && failed != -ENOENT && !err)
			err = failed;
	}
	return err;
}

static int restore_events(const char *path, const char *old, const char *now)
{
	int err = append_missing(path, now, old, "!");
	int also = append_missing(path, old, now, "");

	return err ? err : also;
}

/* Writes each flag of `old` that `now` lacks, one word at a time. */
static int restore_flags(const char *path, const char *old, const char *now)
{
	struct text_word word, other;
	int err = 0;

	while (text_next_word(&old, " \n", &word)) {
		char name[64];
		const char *at = now;
		bool there = false;

		while (!there && text_next_word(&at, " \n", &other))
			there = other.len == word.len && !memcmp(other.at, word.at, word.len);
		if (there || word.len >= sizeof(name))
			continue;
		memcpy(name, word.at, word.len);
		name[word.len] = '\0';
		if (!err)
			err = control_write(path, false, name);
	}
	return err;
}

/* Replaces the function names all at once, and the function probes one by one. */
static int restore_functions(const char *path, const char *old, const char *now)
{
	cleanup_buf struct buf mine = BUF_INIT, yours = BUF_INIT;
	int err = 0;

	if (!add_names(&mine, old) || !add_names(&yours, now))
		return -ENOMEM;
	if (strcmp(buf_str(&mine), buf_str(&yours)))
		err = restore_list(path, old);
	return err ? err : control_restore_probes(path, old, now);
}

static int restore_value(const char *path, enum control_kind kind, const char *old)
{
	cleanup_free char *value = malloc(strlen(old) + 1);

	if (!value)
		return -ENOMEM;
	if (kind == CONTROL_SIZE) {
		char digits[24];

		return size_word(old, digits, sizeof(digits)) ? control_write(path, false, digits) : -EINVAL;
	}
	if (!control_word(old, kind, value, strlen(old) + 1))
		return -EINVAL;
	if (kind == CONTROL_SWITCH)
		value[strcspn(value, "*")] = '\0';
	/*
	 * If the kernel refused a filter, the file shows its text followed by the error. Such a filter never took
	 * effect.
	 */
	if (kind == CONTROL_FILTER && (!strcmp(value, "none") || strstr(value, "parse_error")))
		return control_write(path, false, "0");
	return control_write(path, false, value);
}

/* Reads "freed" or "allocated". The file of a freed snapshot begins with "# * Snapshot is freed *". */
static int read_snapshot(const char *path, struct buf *buf, struct fail *fail)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	char head[512];
	ssize_t got;

	if (fd < 0)
		return tracing_refused(path, -errno, "open", fail);
	got = read(fd, head, sizeof(head) - 1);
	if (got < 0)
		return tracing_refused(path, -errno, "read", fail);
	head[got] = '\0';
	return buf_add_str(buf, strstr(head, "Snapshot is freed") ? "freed\n" : "allocated\n") ? 0 : fail_memory(fail);
}

int control_read(const char *path, const char *file, struct buf *buf, struct fail *fail)
{
	return control_kind(file) == CONTROL_SNAPSHOT ? read_snapshot(path, buf, fail) :
							tracing_read_path(path, buf, fail);
}

int control_restore(const char *path, const char *file, const char *old)
{
	enum control_kind kind = control_kind(file);
	cleanup_buf struct buf now = BUF_INIT;
	int err = control_read(path, file, &now, NULL);

	if (err)
		return err;
	if (kind == CONTROL_TASKS)
		return restore_tasks(path, old, buf_str(&now));
	if (control_same(kind, buf_str(&now), old))
		return 0;
	switch (kind) {
	case CONTROL_VALUE:
	case CONTROL_CHOICE:
	case CONTROL_SIZE:
	case CONTROL_SWITCH:
	case CONTROL_FILTER:
		return restore_value(path, kind, old);
	case CONTROL_LIST:
		return restore_functions(path, old, buf_str(&now));
	case CONTROL_TASKS:
		break;
	case CONTROL_EVENTS:
		return restore_events(path, old, buf_str(&now));
	case CONTROL_TRIGGER:
		return control_restore_triggers(path, old, buf_str(&now));
	case CONTROL_FLAGS:
		return restore_flags(path, old, buf_str(&now));
	case CONTROL_SNAPSHOT:
		/* The content of the snapshot cannot be restored; an allocated snapshot is restored empty. */
		return control_write(path, false, strncmp(old, "freed", 5) ? "1" : "0");
	}
	return 0;
}
