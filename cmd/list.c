// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/list.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/terminal/pager.h"
#include "cmd/terminal/terminal.h"
#include "formats/sink.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/fit.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/probe/usdt.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/pages/trace/trace.h"

static const char for_more[] = "--max-bytes with a larger number, or a GLOB, shows them";

static int read_file(const struct list *list, const char *file, struct buf *buf, struct fail *fail)
{
	return listed_read(&list->listed, file, buf, fail);
}

/* JSON has the state in any case; none is null. */
static void put_item(struct list *list, const char *name, const char *state)
{
	struct json *json = list_row(list);

	answer_text(json, "name", name);
	answer_text(json, "state", *state ? state : NULL);
	list_row_end(list);
}

/* Adds an item; with --full, then a tab and its state. */
static void print_item(struct list *list, const char *name, const char *state)
{
	cleanup_free char *shown = NULL;

	if (list->answer.is_json) {
		put_item(list, name, state);
		return;
	}
	shown = terminal_line(name);
	if (list->full && *state)
		out_f(&list->rows, "%s\t%s\n", shown, state);
	else
		out_f(&list->rows, "%s\n", shown);
	list_row_end(list);
}

static int list_systems(struct list *list, struct fail *fail)
{
	const struct catalog *catalog;
	int err = listed_events(&list->listed, fail);

	if (err)
		return err;
	catalog = list->listed.catalog;
	for (size_t i = 0; i < catalog->nr;) {
		const char *system = catalog->events[i].system;
		size_t first = i;
		char count[24];

		while (i < catalog->nr && !strcmp(catalog->events[i].system, system))
			i++;
		snprintf(count, sizeof(count), "%zu", i - first);
		if (list_wanted(list, system))
			print_item(list, system, count);
	}
	return 0;
}

/* Prints the words of a file. The current one is in brackets, or it is `current`. */
static int list_words(struct list *list, const char *file, const char *current, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word word;
	const char *at;
	int err = read_file(list, file, &buf, fail);

	if (err)
		return err;
	for (at = buf_str(&buf); text_next_word(&at, " \n", &word);) {
		bool bracket = word.len > 2 && word.at[0] == '[';
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)word.len - 2 * bracket, word.at + bracket);
		if (list_wanted(list, name))
			print_item(list, name, bracket || (current && !strcmp(current, name)) ? "current" : "");
	}
	return 0;
}

static int list_tracers(struct list *list, struct fail *fail)
{
	char current[64] = "";

	cleanup_buf struct buf buf = BUF_INIT;

	if (!read_file(list, "current_tracer", &buf, NULL))
		snprintf(current, sizeof(current), "%.*s", (int)strcspn(buf_str(&buf), "\n"), buf_str(&buf));
	/* A recording has only the tracer that was used. */
	return list_words(list, list->input ? "current_tracer" : "available_tracers", current, fail);
}

static int list_clocks(struct list *list, struct fail *fail)
{
	return list_words(list, "trace_clock", NULL, fail);
}

static int not_dot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* trace_options of a recording: "print-parent" is on, "nosym-offset" is off. */
static int options_of_file(struct list *list, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;
	int err = read_file(list, "trace_options", &buf, fail);

	at = buf_str(&buf);
	left = err ? 0 : buf.len;
	while (text_next_line(&at, &left, &line)) {
		bool off = line.len > 2 && !memcmp(line.at, "no", 2);
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)line.len - 2 * off, line.at + 2 * off);
		if (*name && list_wanted(list, name))
			print_item(list, name, off ? "off" : "on");
	}
	return err;
}

static int list_options(struct list *list, struct fail *fail)
{
	cleanup_free char *path = NULL;
	struct dirent **entries;
	int nr;

	if (list->input)
		return options_of_file(list, fail);
	if (asprintf(&path, "%s/options", list->kernel.instance->dir) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	nr = scandir(path, &entries, not_dot, alphasort);
	if (nr < 0)
		return tracing_refused(path, -errno, "open", fail);
	for (int i = 0; i < nr; i++) {
		const char *name = entries[i]->d_name;
		int on = list_wanted(list, name) ? option_get(list->kernel.instance, name) : -ENOENT;

		if (on >= 0)
			print_item(list, name, on ? "on" : "off");
		free(entries[i]);
	}
	free(entries);
	return 0;
}

static int list_functions(struct list *list, struct fail *fail)
{
	struct instance top = instance_top(&list->kernel.tracing);
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;
	int err;

	if (list->input)
		return fail_set(fail, -EOPNOTSUPP, "a recording does not say which functions could be traced");
	err = instance_read(&top, "available_filter_functions", &buf, fail);
	if (err == -ENOENT)
		return fail_set(fail, err, "this kernel cannot trace functions");
	if (err)
		return err;
	at = buf_str(&buf);
	left = buf.len;
	while (text_next_line(&at, &left, &line)) {
		const char *space = memchr(line.at, ' ', line.len);
		size_t len = space ? (size_t)(space - line.at) : line.len;
		char name[512];

		snprintf(name, sizeof(name), "%.*s", (int)len, line.at);
		if (list_wanted(list, name))
			print_item(list, name, space ? space + 1 : "");
	}
	return 0;
}

static int print_instance(const char *name, void *data)
{
	struct list *list = data;
	struct instance *instance = NULL;
	char tracer[64] = "?", on[8] = "?", state[256], size[TEXT_HUMAN];

	if (!list_wanted(list, name))
		return 0;
	if (!instance_open(&list->kernel.tracing, name, false, NULL, &instance, NULL)) {
		(void)!instance_read_word(instance, "current_tracer", tracer, sizeof(tracer), NULL);
		(void)!instance_read_word(instance, "tracing_on", on, sizeof(on), NULL);
		snprintf(state, sizeof(state), "tracer %s, tracing %s, %s per CPU", tracer, on[0] == '1' ? "on" : "off",
			 text_size(size, ring_buffer_size(instance)));
		instance_close(instance, NULL);
		print_item(list, name, state);
	}
	return 0;
}

static int list_instances(struct list *list, struct fail *fail)
{
	for (size_t i = 0; list->input && i < trace_buffers(list->listed.trace); i++) {
		const char *name = trace_buffer(list->listed.trace, i)->name.text;

		if (*name && list_wanted(list, name))
			print_item(list, name, "");
	}
	if (list->input)
		return 0;
	return instance_each(&list->kernel.tracing, print_instance, list, fail);
}

/* "PID NAME" on each line, as saved_cmdlines has it: each name once, or with the state the PIDs of it, too. */
static int list_tasks(struct list *list, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct trace_text text = { NULL, 0 };
	struct text_word line;
	struct labels seen;
	const char *at;
	size_t left;
	int err = list->input ? trace_meta(list->listed.trace, TRACE_CMDLINES, &text, fail) :
				read_file(list, "saved_cmdlines", &buf, fail);

	if (err)
		return err;
	at = list->input ? text.text : buf_str(&buf);
	left = list->input ? text.len : buf.len;
	labels_init(&seen);
	while (!err && at && text_next_line(&at, &left, &line)) {
		const char *space = memchr(line.at, ' ', line.len);
		char name[64], pid[24];
		bool is_new = false;

		if (!space)
			continue;
		snprintf(pid, sizeof(pid), "%.*s", (int)(space - line.at), line.at);
		snprintf(name, sizeof(name), "%.*s", (int)(line.at + line.len - space - 1), space + 1);
		if (!list_wanted(list, name))
			continue;
		if (!list->full && labels_add(&seen, name, strlen(name), &is_new) == LABEL_NONE)
			err = fail_memory(fail);
		else if (list->full || is_new)
			print_item(list, name, list->full ? pid : "");
	}
	labels_release(&seen);
	return err;
}

static int list_formats(struct list *list, struct fail *fail)
{
	(void)fail;
	for (size_t i = 0; sink_at(i); i++)
		if (list_wanted(list, sink_at(i)->name))
			print_item(list, sink_at(i)->name, sink_at(i)->summary);
	return 0;
}

/* Prints what weft probe add takes; with --full also where it is and what its arguments are. */
static int list_usdt_of(struct list *list, const char *path, struct fail *fail)
{
	struct usdt_list found;
	int err = usdt_read(path, &found, fail);

	for (size_t i = 0; !err && i < found.nr; i++) {
		const struct usdt *usdt = &found.items[i];
		char name[PATH_MAX + 512], state[512], full[256];

		snprintf(full, sizeof(full), "%s:%s", usdt->provider, usdt->name);
		if (!list_wanted(list, full) && !list_wanted(list, usdt->name))
			continue;
		snprintf(name, sizeof(name), "usdt:%s:%s", path, full);
		snprintf(state, sizeof(state), "%zu place%s%s%s%s", usdt->nr_places, text_plural(usdt->nr_places),
			 usdt->places[0].semaphore ? ", semaphore" : "", *usdt->places[0].arguments ? ": " : "",
			 usdt->places[0].arguments);
		print_item(list, name, state);
	}
	usdt_list_release(&found);
	return err;
}

/* The programs and libraries that a process has mapped as code. */
static int list_usdt_of_process(struct list *list, const char *pid, struct fail *fail)
{
	char maps[64], *line = NULL, last[PATH_MAX] = "";
	size_t size = 0;
	FILE *file;

	snprintf(maps, sizeof(maps), "/proc/%.20s/maps", pid);
	file = fopen(maps, "re");
	if (!file)
		return fail_set(fail, -errno, "cannot read the maps of process %s: %s", pid, strerror(errno));
	while (getline(&line, &size, file) > 0) {
		char *path = strchr(line, '/'), *root;

		line[strcspn(line, "\n")] = '\0';
		if (!path || strlen(line) < strcspn(line, " ") + 4 || line[strcspn(line, " ") + 3] != 'x' ||
		    !strcmp(path, last) || strlen(path) >= sizeof(last))
			continue;
		memcpy(last, path, strlen(path) + 1);
		/* Its files may be those of a container. */
		if (asprintf(&root, "/proc/%.20s/root%s", pid, path) < 0)
			break;
		(void)!list_usdt_of(list, access(path, R_OK) ? root : path, NULL);
		free(root);
	}
	free(line);
	fclose(file);
	return 0;
}

static int list_usdt(struct list *list, struct fail *fail)
{
	char path[PATH_MAX];
	int err;

	/* What stands as the word is a pattern here. */
	if (list->what && list->nr_globs < GLOBS_MAX)
		list->globs[list->nr_globs++] = list->what;
	if (!list->usdt[strspn(list->usdt, "0123456789")] && access(list->usdt, F_OK))
		return list_usdt_of_process(list, list->usdt, fail);
	err = usdt_path(list->usdt, path, fail);
	return err ? err : list_usdt_of(list, path, fail);
}

static const struct kind {
	const char *name;
	const char *one; /* the singular, for messages */
	int (*run)(struct list *list, struct fail *fail);
	bool no_kernel; /* tracefs is not needed */
} kinds[] = {
	{ "events", "event", list_events, false },          { "systems", "system", list_systems, false },
	{ "tracers", "tracer", list_tracers, false },       { "clocks", "clock", list_clocks, false },
	{ "options", "option", list_options, false },       { "functions", "function", list_functions, false },
	{ "instances", "instance", list_instances, false }, { "tasks", "task", list_tasks, false },
	{ "formats", "format", list_formats, true },        { "syscalls", "system call", list_calls, false },
	{ "plugins", "plugin", list_plugins, false },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < array_size(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* An option of trace-cmd that is one of the words. */
static void take_what(const struct option_row *row, void *member, char *arg, struct argp_state *state)
{
	const char **what = member;

	(void)arg;
	if (*what)
		argp_error(state, "one list at a time: %s and %s", *what, row->name);
	*what = row->name;
}

static const struct option_row options[] = {
	{ "events", 'e', NULL, 0, "As the word events", 0, OPTION_CALL(struct list, what, take_what) },
	{ "tracers", 't', NULL, 0, "As the word tracers", 0, OPTION_CALL(struct list, what, take_what) },
	{ "clocks", 'C', NULL, 0, "As the word clocks", 0, OPTION_CALL(struct list, what, take_what) },
	{ "options", 'o', NULL, 0, "As the word options", 0, OPTION_CALL(struct list, what, take_what) },
	{ "functions", 'f', NULL, 0, "As the word functions", 0, OPTION_CALL(struct list, what, take_what) },
	{ "usdt", 0, "FILE", 0,
	  "List the probes that the authors of a program or library put into it (USDT), or of the files of "
	  "a process, by its PID",
	  0, OPTION_TEXT(struct list, usdt) },
	{ "input", 'i', "FILE", 0, "List what the recording FILE says about the kernel that was traced", 0,
	  OPTION_ONCE(struct list, input, "file") },
	{ "full", 'F', NULL, 0,
	  "Show more about each: the fields of events, the state of options, tracers and instances", 0,
	  OPTION_FLAG(struct list, full) },
	{ "max-bytes", 0, "N", 0, "Print at most so many bytes: the last rows of a list are left out, and told", 0,
	  OPTION_NUMBER(struct list, max_bytes) },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct list *list = state->input;

	if (key == ARGP_KEY_END && list->max_bytes && !list->what && !list->usdt && !list->answer.is_json)
		argp_error(state, "--max-bytes leaves out rows of a list: name one, or use --format json");
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (!list->what)
		list->what = arg;
	else if (list->nr_globs < GLOBS_MAX)
		list->globs[list->nr_globs++] = arg;
	else
		argp_error(state, "no more than %d patterns at a time", GLOBS_MAX);
	return 0;
}

static const struct options_child children[] = {
	{ &kernel_options, offsetof(struct list, kernel), 0, NULL },
	{ &answer_options, offsetof(struct list, answer), 0, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.children = children,
	.parser = parse_option,
	.args_doc =
		"[events|systems|tracers|clocks|options|functions|instances|tasks|formats|syscalls|plugins] [GLOB...]",
	.doc = "Lists what this kernel can trace, or what a recording says about its kernel, one name on each line; "
	       "only those that match a GLOB (of system calls also those with the number GLOB). "
	       "Without arguments it gives an overview.",
};

/* Prints the words of a file on one line. The current one stays in brackets. */
static void overview_words(const struct list *list, const char *title, const char *file)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word word;
	const char *at;

	if (listed_read(&list->listed, file, &buf, NULL))
		return;
	printf("%-11s", title);
	for (at = buf_str(&buf); text_next_word(&at, " \n", &word);)
		printf(" %.*s", (int)word.len, word.at);
	putchar('\n');
}

static size_t count_systems(const struct catalog *catalog)
{
	size_t systems = 0;

	for (size_t i = 0; i < catalog->nr; i++)
		systems += !i || strcmp(catalog->events[i].system, catalog->events[i - 1].system);
	return systems;
}

static size_t count_lines(const struct buf *buf)
{
	size_t lines = 0;

	for (size_t i = 0; i < buf->len; i++)
		lines += buf->data[i] == '\n';
	return lines;
}

static void overview_events(struct list *list)
{
	if (!listed_events(&list->listed, NULL))
		printf("%-11s %zu in %zu systems\n", "events", list->listed.catalog->nr,
		       count_systems(list->listed.catalog));
}

static void overview_functions(const struct list *list)
{
	cleanup_buf struct buf buf = BUF_INIT;
	int err = listed_read(&list->listed, "available_filter_functions", &buf, NULL);

	if (!err)
		printf("%-11s %zu that can be traced\n", "functions", count_lines(&buf));
	else
		printf("%-11s %s\n", "functions",
		       err == -ENOENT ? "none: this kernel cannot trace them" : strerror(-err));
}

static int print_name(const char *name, void *data)
{
	size_t *count = data;

	printf("%s%s", (*count)++ ? " " : "", name);
	return 0;
}

static void print_lists(void)
{
	printf("\n\n'weft list events', systems, tracers, clocks, options, functions, instances, tasks, "
	       "formats, syscalls, plugins: each in full\n");
}

static int print_overview_of_file(struct list *list)
{
	struct trace_text text;

	printf("%-11s %s\n", "file", trace_path(list->listed.trace));
	if (!trace_meta(list->listed.trace, TRACE_UNAME, &text, NULL) && text.text)
		printf("%-11s %.*s\n", "kernel", (int)strcspn(text.text, "\n"), text.text);
	overview_words(list, "tracer", "current_tracer");
	overview_words(list, "clocks", "trace_clock");
	overview_events(list);
	printf("%-11s", "instances");
	for (size_t i = 0; i < trace_buffers(list->listed.trace); i++)
		printf(" %s", trace_buffer(list->listed.trace, i)->name.text);
	print_lists();
	return 0;
}

static int list_overview(struct list *list, struct fail *fail)
{
	struct utsname name;
	struct cpus online;
	char size[TEXT_HUMAN];
	size_t count = 0;

	if (list->input)
		return print_overview_of_file(list);
	if (!uname(&name))
		printf("%-11s %s %s %s\n", "kernel", name.sysname, name.release, name.machine);
	printf("%-11s %s\n", "tracefs", list->kernel.instance->dir);
	if (!tracing_online_cpus(&online, NULL))
		printf("%-11s %s for each of %u CPUs\n", "buffer",
		       text_size(size, ring_buffer_size(list->kernel.instance)), cpus_count(&online));
	overview_words(list, "tracer now", "current_tracer");
	overview_words(list, "tracers", "available_tracers");
	overview_words(list, "clocks", "trace_clock");
	overview_events(list);
	overview_functions(list);
	printf("%-11s ", "instances");
	if (instance_each(&list->kernel.tracing, print_name, &count, fail))
		return -EIO;
	puts(count ? "" : "none");
	printf("%-11s ", "formats");
	for (size_t i = 0; sink_at(i); i++)
		printf("%s%s", i ? " " : "", sink_at(i)->name);
	print_lists();
	return 0;
}

/* The short lists in full, and how much is in the others. */
static void put_facts(struct list *list, struct json *json)
{
	struct utsname name;
	struct trace_text text = { .text = NULL };
	struct cpus online;
	char kernel[3 * sizeof(name.release)];

	if (list->input) {
		answer_text(json, "file", trace_path(list->listed.trace));
		(void)!trace_meta(list->listed.trace, TRACE_UNAME, &text, NULL);
		answer_line(json, "kernel", text.text);
	} else {
		if (!uname(&name)) {
			snprintf(kernel, sizeof(kernel), "%s %s %s", name.sysname, name.release, name.machine);
			answer_text(json, "kernel", kernel);
		}
		answer_text(json, "tracefs", list->kernel.instance->dir);
		answer_number(json, "buffer_bytes", ring_buffer_size(list->kernel.instance));
		if (!tracing_online_cpus(&online, NULL))
			answer_number(json, "cpus", cpus_count(&online));
		if (list->nr_functions != SIZE_MAX)
			answer_number(json, "function_count", list->nr_functions);
	}
	if (!listed_events(&list->listed, NULL)) {
		answer_number(json, "event_count", list->listed.catalog->nr);
		answer_number(json, "system_count", count_systems(list->listed.catalog));
	}
}

static void count_functions(struct list *list)
{
	cleanup_buf struct buf functions = BUF_INIT;
	bool known = !list->input && !listed_read(&list->listed, "available_filter_functions", &functions, NULL);

	list->nr_functions = known ? count_lines(&functions) : SIZE_MAX;
}

static size_t begin_of(const struct list *list, size_t row)
{
	return row ? list->ends[row - 1] : 0;
}

/* Appends the first rows of a part as an array, and returns how many it lacks. */
static uint64_t put_part(const struct list *list, const struct list_part *part, uint64_t rows, struct json *json)
{
	uint64_t all = part->end - part->first, shown = rows < all ? rows : all;

	json_key(json, part->name);
	json_array(json);
	for (size_t row = part->first; row < part->first + shown; row++)
		json_put_raw(json, list->rows.start + begin_of(list, row), list->ends[row] - begin_of(list, row));
	json_end(json);
	return all - shown;
}

static void put_rows(struct list *list, uint64_t rows, struct out *out)
{
	uint64_t lacks[LIST_PARTS], all = 0;
	struct json json;

	answer_open(&json, out);
	if (!list->what && !list->usdt)
		put_facts(list, &json);
	for (size_t i = 0; i < list->nr_parts; i++)
		all += lacks[i] = put_part(list, &list->parts[i], rows, &json);
	if (all) {
		json_key(&json, "rows_left_out");
		json_object(&json);
		for (size_t i = 0; i < list->nr_parts; i++)
			if (lacks[i])
				answer_number(&json, list->parts[i].name, lacks[i]);
		json_end(&json);
		answer_text(&json, "for_more", for_more);
	}
	json_end(&json);
	json_line(&json);
}

static int write_rows(void *arg, uint64_t rows, struct out *out, struct fail *fail)
{
	struct list *list = arg;

	(void)fail;
	if (list->answer.is_json)
		put_rows(list, rows, out);
	else
		out_mem(out, list->rows.start, begin_of(list, (size_t)rows));
	return 0;
}

/* Prints what was collected. */
static int print_rows(struct list *list, struct fail *fail)
{
	struct fit fit = { write_rows, list, 0, list->max_bytes };
	uint64_t left_out = 0;
	struct out out;
	int r;

	for (size_t i = 0; i < list->nr_parts; i++)
		if (list->parts[i].end - list->parts[i].first > fit.rows)
			fit.rows = list->parts[i].end - list->parts[i].first;
	if (list->rows.failed || !out_init(&out, 1 << 16))
		return fail_memory(fail);
	r = fit_write(&fit, &out, &left_out, fail);
	if (!r)
		r = list->answer.is_json ? terminal_flush(&out, fail) : command_write(out.start, out_len(&out), fail);
	if (!r && left_out && !list->answer.is_json)
		command_warn("%s more row%s: %s", text_count((char[TEXT_HUMAN]){ 0 }, left_out), text_plural(left_out),
			     for_more);
	out_release(&out);
	return r;
}

/* Collects the rows of a list. */
static int collect(struct list *list, const struct kind *kind, struct fail *fail)
{
	struct list_part *part = &list->parts[list->nr_parts++];
	int r;

	*part = (struct list_part){ .name = kind->name, .first = list->nr_rows };
	r = kind->run(list, fail);
	part->end = list->nr_rows;
	return r;
}

/* Of a list that fails in the middle, people see what came before. */
static int print_lists_of(struct list *list, const struct kind *kind, struct fail *fail)
{
	static const char *const lists[LIST_PARTS] = { "tracers", "clocks", "instances", "formats" };
	struct fail later;
	int r = out_init(&list->rows, 1 << 16) ? 0 : fail_memory(fail);

	if (!r && !kind)
		count_functions(list);
	for (size_t i = 0; !r && !kind && i < array_size(lists); i++)
		r = collect(list, find_kind(lists[i]), fail);
	if (!r && kind)
		r = collect(list, kind, fail);
	if (!r)
		r = print_rows(list, fail);
	else if (!list->answer.is_json)
		(void)!print_rows(list, &later);
	out_release(&list->rows);
	free(list->ends);
	return r;
}

static int unknown_kind(const char *name)
{
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;

	for (size_t i = 0; i < array_size(kinds); i++)
		near_offer(&near, kinds[i].name);
	near_fail(&near, &fail, -EINVAL, "unknown list '%s'", name);
	fprintf(stderr, "weft: %s%s\n", fail.text, near.found ? "" : "; 'weft list --help' names the lists");
	return EXIT_USAGE;
}

static int check_matches(const struct list *list, const struct kind *kind, struct fail *fail)
{
	for (size_t i = 0; i < list->nr_globs; i++)
		if (!list->matched[i])
			return fail_set(fail, -ENOENT, "no %s matches '%s'", kind->one, list->globs[i]);
	return 0;
}

static int list_run(int argc, char **argv)
{
	cleanup_free struct list *list = calloc(1, sizeof(*list));
	const struct kind *kind = NULL;
	struct fail fail = FAIL_INIT;
	int err = 0;

	if (!list) {
		fail_memory(&fail);
		return command_failed(&fail);
	}
	list->listed.kernel = &list->kernel;
	command_parse(&list_command, argc, argv, 0, list);
	pager_start();
	if (list->usdt) {
		static const struct kind usdt = { "usdt", "USDT probe", list_usdt, true };

		if (list->input)
			err = fail_set(&fail, -EINVAL, "a recording does not say which probes a program has");
		kind = &usdt;
	} else if (list->what) {
		kind = find_kind(list->what);
		if (!kind)
			return unknown_kind(list->what);
	}
	if (!err && (!kind || !kind->no_kernel))
		err = listed_open(&list->listed, list->input, kind && kind->run == list_plugins, &fail);
	if (!err)
		err = kind || list->answer.is_json ? print_lists_of(list, kind, &fail) : list_overview(list, &fail);
	if (!err && kind)
		err = check_matches(list, kind, &fail);
	listed_close(&list->listed);
	return kernel_finish(&list->kernel, err, &fail);
}

/* clang-format off */
static const struct json_member members[] = {
	{ "file?", "string", "without a list: the recording, with -i" },
	{ "kernel?", "string|null", "without a list: its name, release and machine" },
	{ "tracefs?", "string", "without a list: where it is" },
	{ "buffer_bytes?", "number", "without a list: of each CPU" },
	{ "cpus?", "number", "without a list: how many are online" },
	{ "function_count?", "number", "without a list: of functions that can be traced" },
	{ "event_count?", "number", "without a list: of the events" },
	{ "system_count?", "number", "without a list: of the systems" },
	{ "rows_left_out?.*", "number", "with --max-bytes: how many rows are missing, by the name of the list" },
	{ "for_more?", "string", "how to get them" },
	{ "*[].name", "string", "of an event, a tracer, a clock...: the array has the name of the list" },
	{ "*[].system?", "string", "of an event" },
	{ "*[].format?", "string", "of an event, with -F" },
	{ "*[].state?", "string|null", "how it is set, as in the text" },
	{ "*[].number?", "number|null", "of a system call" },
	{ "*[].arguments?", "string|null", "of a system call" },
	{ 0 },
};
/* clang-format on */

const struct command list_command = {
	.name = "list",
	.summary = "list what this kernel can trace: events, tracers, clocks, functions...",
	.brief = "events, tracers",
	.examples = "  weft list events\n"
		    "  weft list tracers\n"
		    "  weft list --usdt /usr/bin/python3",
	.group = "kernel",
	.options = &command_options,
	.answer = members,
	.run = list_run,
};
