// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/control.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/tracing.h"

/*
 * Restores lines that name an action: the triggers of events and the probes of functions. The kernel prints them as
 *    traceoff:count=3 if prev_prio > 100             event_trigger_print() of trace_events_trigger.c
 *    enable_event:sched:sched_switch:unlimited
 *    hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 [active]
 *    vfs_read:traceoff:count=5                       ftrace_probe_print() of trace_functions.c
 *    ext4_sync [ext4]:enable_event:sched:sched_switch:unlimited
 * but takes a different text to set them, and another to remove them.
 */

static bool is_hist(struct text_word line)
{
	return line.len >= 5 && !memcmp(line.at, "hist:", 5);
}

/* The line of a histogram without the " [active]" at its end. */
static struct text_word without_state(struct text_word line)
{
	const char *state = is_hist(line) ? memrchr(line.at, '[', line.len) : NULL;

	if (state && state > line.at && line.at[line.len - 1] == ']')
		line.len = (size_t)(state - line.at) - (state[-1] == ' ');
	return line;
}

static bool at_count(struct text_word line, size_t at)
{
	return line.len - at >= 6 && !memcmp(line.at + at, "count=", 6);
}

static size_t skip_count(struct text_word line, size_t at)
{
	for (at += 6; at < line.len && isdigit((unsigned char)line.at[at]); at++)
		;
	return at;
}

bool control_same_line(struct text_word one, struct text_word other)
{
	size_t i = 0, j = 0;

	one = without_state(one);
	other = without_state(other);
	while (i < one.len && j < other.len) {
		if (at_count(one, i) && at_count(other, j)) {
			i = skip_count(one, i);
			j = skip_count(other, j);
		} else if (one.at[i++] != other.at[j++]) {
			return false;
		}
	}
	return i == one.len && j == other.len;
}

static bool has(const char *text, struct text_word line)
{
	size_t left = strlen(text);
	struct text_word other;

	while (text_next_line(&text, &left, &other))
		if (control_same_line(line, other))
			return true;
	return false;
}

struct text_word control_field_name(struct text_word printed)
{
	static const char cpu[] = "common_cpu", *const names[] = { "common_cpu", "cpu", "CPU" };
	const size_t len = strlen(cpu);

	if (printed.len > len && !memcmp(printed.at, cpu, len)) {
		struct text_word rest = { .at = printed.at + len, .len = printed.len - len };

		for (size_t i = 0; i < array_size(names); i++)
			if (text_word_is(rest, names[i]))
				return rest;
	}
	return printed;
}

/* Adds the part of a histogram's text from `at` to `end`, with each name as the kernel takes it. */
static bool add_fields(struct buf *buf, const char *at, const char *end)
{
	while (at < end) {
		struct text_word name = { .at = at };

		while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
			at++;
		name.len = (size_t)(at - name.at);
		name = control_field_name(name);
		if (!buf_add(buf, name.at, name.len) || (at < end && !buf_add(buf, at++, 1)))
			return false;
	}
	return true;
}

/*
 * Adds the sort keys of a histogram. The kernel prints them with their modifiers, "lat.log2,pid.descending", but
 * accepts only the modifier for the order.
 */
static bool add_sort(struct buf *buf, const char *at, const char *end)
{
	static const char descending[] = ".descending";
	bool ok = true;

	while (ok && at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
		const char *dot = memchr(at, '.', (size_t)(stop - at));
		size_t len = (size_t)(stop - at), order = strlen(descending);
		bool falls = len > order && !memcmp(stop - order, descending, order);

		ok = add_fields(buf, at, dot ? dot : stop) && (!falls || buf_add_str(buf, descending)) &&
		     (!comma || buf_add_str(buf, ","));
		at = stop + 1;
	}
	return ok;
}

/* Adds the text that sets a histogram and, after "!", removes it. */
static bool add_hist(struct buf *buf, struct text_word line)
{
	static const char sort_is[] = ":sort=";
	const char *sort, *stop, *end;

	line = without_state(line);
	end = line.at + line.len;
	sort = memmem(line.at, line.len, sort_is, strlen(sort_is));
	if (!sort)
		return add_fields(buf, line.at, end);
	sort += strlen(sort_is);
	for (stop = sort; stop < end && *stop != ':' && *stop != ' ';)
		stop++;
	return add_fields(buf, line.at, sort) && add_sort(buf, sort, stop) && buf_add(buf, stop, (size_t)(end - stop));
}

/*
 * Adds the text that removes a trigger: "!" and, for a histogram, its whole text; for other triggers, the kind and the
 * event that it switches.
 */
static bool add_trigger_removal(struct buf *buf, struct text_word line)
{
	size_t parts = 1, len = 0;

	if (is_hist(line))
		return buf_add_str(buf, "!") && add_hist(buf, line);
	if (memmem(line.at, line.len, "able_event:", 11) || memmem(line.at, line.len, "able_hist:", 10))
		parts = 3;
	for (; len < line.len && line.at[len] != ' '; len++)
		if (line.at[len] == ':' && !--parts)
			break;
	return buf_addf(buf, "!%.*s", (int)len, line.at);
}

/*
 * A histogram whose key was set as "cpu" or "CPU" is printed with "common_cpu", and the kernel removes it only by
 * "cpu"; it tells nobody that "!hist:keys=common_cpu" has removed nothing (parse_field() of trace_events_hist.c; Linux
 * 5.15 and later). An event with a field of that name has another histogram of "cpu": so the second name is for a line
 * that the first one has left.
 */
static int remove_by_other_name(const char *path, const char *removal, struct text_word line)
{
	static const char common[] = "common_cpu";
	cleanup_buf struct buf now = BUF_INIT, other = BUF_INIT;
	const char *name, *filter = strstr(removal, " if ");
	int err;

	if (!is_hist(line) || !strstr(removal, common))
		return 0;
	err = control_read(path, "trigger", &now, NULL);
	if (err || !has(buf_str(&now), line))
		return err;
	while ((name = strstr(removal, common)) && (!filter || name < filter)) {
		if (!buf_add(&other, removal, (size_t)(name - removal)) || !buf_add_str(&other, "cpu"))
			return -ENOMEM;
		removal = name + strlen(common);
	}
	if (!buf_add_str(&other, removal))
		return -ENOMEM;
	return control_write(path, true, buf_str(&other));
}

/* Adds the text that sets the line again: without ":unlimited", and with "5" for "count=5". */
static bool add_words(struct buf *buf, struct text_word line)
{
	if (is_hist(line))
		return add_hist(buf, line);
	for (size_t at = 0; at < line.len; at++) {
		if (line.len - at >= 10 && !memcmp(line.at + at, ":unlimited", 10))
			at += 9;
		else if (at_count(line, at))
			at += 5;
		else if (!buf_add(buf, line.at + at, 1))
			return false;
	}
	return true;
}

/*
 * The name of the function, without its module: "ext4_sync [ext4]:traceoff:..." is set and removed by the name alone.
 */
static struct text_word function_of(struct text_word line)
{
	const char *colon = memchr(line.at, ':', line.len), *space;

	line.len = (size_t)(colon - line.at);
	space = memchr(line.at, ' ', line.len);
	if (space)
		line.len = (size_t)(space - line.at);
	return line;
}

static struct text_word command_of(struct text_word line)
{
	const char *colon = memchr(line.at, ':', line.len);

	return (struct text_word){ .at = colon + 1, .len = line.len - (size_t)(colon + 1 - line.at) };
}

/* Adds "!vfs_read:traceoff". To the kernel a probe with a count is another kind of probe; any number removes it. */
static bool add_probe_removal(struct buf *buf, struct text_word function, struct text_word line)
{
	struct text_word command = command_of(line);
	size_t len = command.len;
	bool counted = memmem(command.at, command.len, ":count=", 7);

	while (len && command.at[len - 1] != ':')
		len--;
	return buf_addf(buf, "!%.*s:%.*s%s", (int)function.len, function.at, len ? (int)len - 1 : (int)command.len,
			command.at, counted ? ":0" : "");
}

bool control_is_probe(struct text_word line)
{
	static const char module[] = ":mod:";
	const char *colon = control_is_name(line) ? memchr(line.at, ':', line.len) : NULL;
	size_t left = colon ? line.len - (size_t)(colon - line.at) : 0;

	return colon && (left < strlen(module) || memcmp(colon, module, strlen(module)) != 0);
}

/* Whether `text` has a probe with the same command. If so, only the probe of this function may be removed. */
static bool has_command(const char *text, struct text_word command)
{
	size_t left = strlen(text);
	struct text_word other;

	while (text_next_line(&text, &left, &other))
		if (control_is_probe(other) && control_same_line(command_of(other), command))
			return true;
	return false;
}

static int set_probe(const char *path, struct text_word line)
{
	struct text_word function = function_of(line);
	cleanup_buf struct buf value = BUF_INIT;

	if (!buf_addf(&value, "%.*s:", (int)function.len, function.at) || !add_words(&value, command_of(line)))
		return -ENOMEM;
	return control_write(path, true, buf_str(&value));
}

int control_restore_probes(const char *path, const char *old, const char *now)
{
	static const struct text_word all = { .at = "*", .len = 1 };
	cleanup_buf struct buf gone = BUF_INIT;
	size_t left = strlen(now);
	struct text_word line;
	const char *at = now;
	int err = 0, failed;

	while (text_next_line(&at, &left, &line)) {
		cleanup_buf struct buf value = BUF_INIT;
		bool only_ours;

		if (!control_is_probe(line) || has(old, line) || has_command(buf_str(&gone), command_of(line)))
			continue;
		only_ours = !has_command(old, command_of(line));
		if (!add_probe_removal(&value, only_ours ? all : function_of(line), line) ||
		    (only_ours && (!buf_add(&gone, line.at, line.len) || !buf_add(&gone, "\n", 1))))
			return -ENOMEM;
		failed = control_write(path, true, buf_str(&value));
		err = err ? err : failed;
	}
	left = strlen(old);
	for (at = old; text_next_line(&at, &left, &line);) {
		if (!control_is_probe(line) || has(now, line))
			continue;
		failed = set_probe(path, line);
		err = err ? err : failed;
	}
	return err;
}

int control_restore_triggers(const char *path, const char *old, const char *now)
{
	const char *at = now;
	size_t left = strlen(now);
	struct text_word line;
	int err = 0, failed;

	while (text_next_line(&at, &left, &line)) {
		cleanup_buf struct buf value = BUF_INIT;

		if (!line.len || *line.at == '#' || has(old, line))
			continue;
		if (!add_trigger_removal(&value, line))
			return -ENOMEM;
		failed = control_write(path, true, buf_str(&value));
		if (!failed)
			failed = remove_by_other_name(path, buf_str(&value), line);
		err = err ? err : failed;
	}
	left = strlen(old);
	for (at = old; text_next_line(&at, &left, &line);) {
		cleanup_buf struct buf value = BUF_INIT;

		if (!line.len || *line.at == '#' || has(now, line))
			continue;
		if (!add_words(&value, line))
			return -ENOMEM;
		failed = control_write(path, true, buf_str(&value));
		err = err ? err : failed;
	}
	return err;
}

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
	struct text_word word = { text, strlen(text) };

	if (kind == CONTROL_CHOICE && !text_chosen(text, &word))
		return false;
	while (kind != CONTROL_CHOICE && word.len && strchr("\n\t ", text[word.len - 1]))
		word.len--;
	if (word.len >= size)
		return false;
	memcpy(into, word.at, word.len);
	into[word.len] = '\0';
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
