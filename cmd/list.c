// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/list.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/terminal/pager.h"
#include "cmd/terminal/terminal.h"
#include "formats/sink.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/cpus.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/buffer/ring_buffer.h"
#include "lib/setup/tracer.h"
#include "lib/trace/trace.h"
#include "lib/tracefs/event_select.h"
#include "lib/tracefs/instance.h"
#include "lib/undo/instance_open.h"

bool list_wanted(struct list *list, const char *name)
{
	bool any = !list->nr_globs;

	for (size_t i = 0; i < list->nr_globs; i++) {
		if (!text_glob(list->globs[i], name))
			continue;
		list->matched[i] = true;
		any = true;
	}
	return any;
}

static int read_file(const struct list *list, const char *file, struct buf *buf, struct fail *fail)
{
	return listed_read(&list->listed, file, buf, fail);
}

/* Prints an item; with --full, then a tab and its state. */
static void print_item(const struct list *list, const char *name, const char *state)
{
	cleanup_free char *shown = terminal_line(name);

	if (list->full && *state)
		printf("%s\t%s\n", shown, state);
	else
		puts(shown);
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

static int list_formats(struct list *list, struct fail *fail)
{
	(void)fail;
	for (size_t i = 0; sink_at(i); i++)
		if (list_wanted(list, sink_at(i)->name))
			print_item(list, sink_at(i)->name, sink_at(i)->summary);
	return 0;
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
	{ "instances", "instance", list_instances, false }, { "formats", "format", list_formats, true },
	{ "syscalls", "system call", list_calls, false },   { "plugins", "plugin", list_plugins, false },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < array_size(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

static const struct argp_option options[] = {
	{ "events", 'e', NULL, 0, "As the word events", 0 },
	{ "tracers", 't', NULL, 0, "As the word tracers", 0 },
	{ "clocks", 'C', NULL, 0, "As the word clocks", 0 },
	{ "options", 'o', NULL, 0, "As the word options", 0 },
	{ "functions", 'f', NULL, 0, "As the word functions", 0 },
	{ "input", 'i', "FILE", 0, "List what the recording FILE says about the kernel that was traced", 0 },
	{ "full", 'F', NULL, 0,
	  "Show more about each: the fields of events, the state of options, tracers and instances", 0 },
	{ 0 },
};

static error_t choose(struct list *list, const char *what, struct argp_state *state)
{
	if (list->what)
		argp_error(state, "one list at a time: %s and %s", list->what, what);
	list->what = what;
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct list *list = state->input;

	switch (key) {
	case 'e':
		return choose(list, "events", state);
	case 't':
		return choose(list, "tracers", state);
	case 'C':
		return choose(list, "clocks", state);
	case 'o':
		return choose(list, "options", state);
	case 'f':
		return choose(list, "functions", state);
	case 'i':
		option_once("file", &list->input, arg, state);
		return 0;
	case 'F':
		list->full = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &list->kernel;
		return 0;
	case ARGP_KEY_ARG:
		if (!list->what)
			list->what = arg;
		else if (list->nr_globs < GLOBS_MAX)
			list->globs[list->nr_globs++] = arg;
		else
			argp_error(state, "no more than %d patterns at a time", GLOBS_MAX);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.children = kernel_children,
	.parser = parse_option,
	.args_doc = "[events|systems|tracers|clocks|options|functions|instances|formats|syscalls|plugins] [GLOB...]",
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

static void overview_events(struct list *list)
{
	const struct catalog *catalog;
	size_t systems = 0;

	if (listed_events(&list->listed, NULL))
		return;
	catalog = list->listed.catalog;
	for (size_t i = 0; i < catalog->nr; i++)
		systems += !i || strcmp(catalog->events[i].system, catalog->events[i - 1].system);
	printf("%-11s %zu in %zu systems\n", "events", catalog->nr, systems);
}

static void overview_functions(const struct list *list)
{
	cleanup_buf struct buf buf = BUF_INIT;
	size_t lines = 0;
	int err = listed_read(&list->listed, "available_filter_functions", &buf, NULL);

	for (size_t i = 0; i < buf.len; i++)
		lines += buf.data[i] == '\n';
	if (!err)
		printf("%-11s %zu that can be traced\n", "functions", lines);
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
	printf("\n\n'weft list events', systems, tracers, clocks, options, functions, instances, formats, syscalls, "
	       "plugins: each in full\n");
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
	if (list->what) {
		kind = find_kind(list->what);
		if (!kind)
			return unknown_kind(list->what);
	}
	if (!kind || !kind->no_kernel)
		err = listed_open(&list->listed, list->input, kind && kind->run == list_plugins, &fail);
	if (!err)
		err = kind ? kind->run(list, &fail) : list_overview(list, &fail);
	if (!err && kind)
		err = check_matches(list, kind, &fail);
	listed_close(&list->listed);
	return kernel_finish(&list->kernel, err, &fail);
}

const struct command list_command = {
	.name = "list",
	.summary = "list what this kernel can trace: events, tracers, clocks, functions...",
	.brief = "events, tracers",
	.examples = "  weft list events\n"
		    "  weft list tracers",
	.group = "kernel",
	.argp = &argp,
	.run = list_run,
};
