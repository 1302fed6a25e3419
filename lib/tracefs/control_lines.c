// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/tracefs/control.h"

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

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
