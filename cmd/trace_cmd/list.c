// SPDX-License-Identifier: GPL-2.0-only
/* trace-cmd list: what this kernel can trace, in trace-cmd's words. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/instance.h"

enum { KEY_FULL = 256, KEY_PROTO };

struct list {
	struct kernel kernel;
	struct instance top;
	bool events, formats, full, triggers, filters, systems, tracers, options, functions, instances, clocks, codecs,
		plugin_options, plugins;
	const char *pattern; /* a regular expression for events or functions; NULL: all */
	regex_t regex;
};

static int parse(int argc, char **argv, struct list *list)
{
	static const struct option longs[] = {
		{ "full", no_argument, NULL, KEY_FULL },
		{ "proto", no_argument, NULL, KEY_PROTO },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const struct {
		char letter;
		bool *flag;
	} flags[] = {
		{ 'e', &list->events },         { 'F', &list->formats }, { 'R', &list->triggers },
		{ 'l', &list->filters },        { 's', &list->systems }, { 't', &list->tracers },
		{ 'p', &list->tracers },        { 'o', &list->options }, { 'f', &list->functions },
		{ 'B', &list->instances },      { 'C', &list->clocks },  { 'c', &list->codecs },
		{ 'O', &list->plugin_options }, { 'P', &list->plugins }, { 'a', &list->events },
	};
	int key;

	optind = 1;
	/* A pattern may stand anywhere. */
	while ((key = getopt_long(argc, argv, "heFRlstpofBCcOPa", longs, NULL)) != -1) {
		bool known = key == KEY_FULL;

		list->full |= key == KEY_FULL;
		for (size_t i = 0; i < array_size(flags); i++)
			if (flags[i].letter == key)
				*flags[i].flag = known = true;
		if (key == KEY_PROTO)
			command_warn("trace-cmd list: no --proto: weft does not print the prototypes of functions");
		if (!known)
			return -TRACE_CMD_USAGE;
	}
	list->pattern = optind < argc ? argv[optind] : NULL;
	if (list->pattern && regcomp(&list->regex, list->pattern, REG_ICASE | REG_NOSUB)) {
		command_warn("trace-cmd list: '%s' is not a regular expression", list->pattern);
		list->pattern = NULL;
		return -TRACE_CMD_USAGE;
	}
	return 0;
}

/* A pattern with a colon is for the system and the name together. */
static bool fits(const struct list *list, const struct catalog_event *event)
{
	char text[512];

	snprintf(text, sizeof(text), "%s:%s", event->system, event->name);
	return !list->pattern || !regexec(&list->regex, strchr(list->pattern, ':') ? text : event->name, 0, NULL, 0);
}

static int print_format(const struct list *list, const struct catalog_event *event, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *fmt;
	int err = event_format(&list->top, event->system, event->name, &text, fail);

	if (err)
		return err;
	fmt = list->full ? NULL : strstr(buf_str(&text), "print fmt:");
	printf("system: %s\n%.*s", event->system, (int)(fmt ? (size_t)(fmt - buf_str(&text)) : text.len),
	       buf_str(&text));
	return 0;
}

static int print_file_of(const struct list *list, const struct catalog_event *event, const char *file,
			 struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	char path[600];
	int err;

	snprintf(path, sizeof(path), "events/%s/%s/%s", event->system, event->name, file);
	err = instance_read(&list->top, path, &text, fail);
	if (!err)
		printf("%s:%s\n%s\n", event->system, event->name, buf_str(&text));
	return err;
}

static int print_event(const struct list *list, const struct catalog_event *event, struct fail *fail)
{
	if (list->formats)
		return print_format(list, event, fail);
	if (list->triggers)
		return print_file_of(list, event, "trigger", fail);
	if (list->filters)
		return print_file_of(list, event, "filter", fail);
	printf("%s:%s\n", event->system, event->name);
	return 0;
}

static int print_events(const struct list *list, const struct catalog *catalog, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < catalog->nr; i++)
		if (fits(list, &catalog->events[i]))
			err = print_event(list, &catalog->events[i], fail);
	return err;
}

/* Calls `each` with the names in a directory of tracefs, in its order. */
static int each_name(const struct list *list, const char *file,
		     void (*each)(const struct list *list, const char *name, unsigned char type), struct fail *fail)
{
	cleanup_free char *path = NULL;
	struct dirent *entry;
	DIR *dir;
	int err = instance_path(&list->top, file, &path, fail);

	if (err)
		return err;
	dir = opendir(path);
	if (!dir)
		return fail_set(fail, -errno, "cannot open '%s': %s", path, strerror(errno));
	while ((entry = readdir(dir)))
		if (*entry->d_name != '.')
			each(list, entry->d_name, entry->d_type);
	closedir(dir);
	return 0;
}

static void print_system(const struct list *list, const char *name, unsigned char type)
{
	(void)list;
	if (type == DT_DIR)
		puts(name);
}

static int print_systems(const struct list *list, struct fail *fail)
{
	int err = each_name(list, "events", print_system, fail);

	if (!err)
		putchar('\n');
	return err;
}

/* A line of words, "blk function nop". */
static int print_words(const struct list *list, const char *file, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int err = instance_read(&list->top, file, &text, fail);
	size_t len = text.len;

	while (!err && len && strchr(" \n", buf_str(&text)[len - 1]))
		len--;
	if (!err)
		printf("%.*s\n", (int)len, buf_str(&text));
	return err;
}

static void print_option(const struct list *list, const char *name, unsigned char type)
{
	char file[300], word[8];

	(void)type;
	snprintf(file, sizeof(file), "options/%s", name);
	if (!instance_read_word(&list->top, file, word, sizeof(word), NULL))
		printf("%s%s\n", *word == '1' ? "" : "no", name);
}

static int print_options(const struct list *list, struct fail *fail)
{
	return each_name(list, "options", print_option, fail);
}

static int print_functions(const struct list *list, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int err = instance_read(&list->top, "available_filter_functions", &text, fail);
	size_t left = text.len;
	const char *at = err ? "" : buf_str(&text);
	struct text_word line;

	while (!err && text_next_line(&at, &left, &line)) {
		char name[512];

		snprintf(name, sizeof(name), "%.*s", (int)line.len, line.at);
		if (line.len && (!list->pattern || !regexec(&list->regex, name, 0, NULL, 0)))
			puts(name);
	}
	return err;
}

static int print_name(const char *name, void *data)
{
	*(bool *)data = true;
	puts(name);
	return 0;
}

static int print_instances(const struct list *list, struct fail *fail)
{
	bool any = false;
	int err = instance_each(&list->kernel.tracing, print_name, &any, fail);

	if (!err && !any)
		puts("No buffer instances defined");
	return err;
}

/* What report -O takes. */
static void print_plugin_options(void)
{
	static const struct {
		const char *plugin, *option, *text;
		bool set;
	} known[] = {
		{ "ftrace", "parent", "Print parent of functions for function events", false },
		{ "ftrace", "indent", "Try to show function call indents, based on parents", true },
		{ "ftrace", "offset", "Show function names as well as their offsets", false },
		{ "fgraph", "tailprint", "Print function name at function exit in function graph", false },
		{ "fgraph", "depth", "Show the depth of each entry", false },
	};

	for (size_t i = 0; i < array_size(known); i++) {
		if (i)
			puts(strcmp(known[i].plugin, known[i - 1].plugin) ? "============" : "------------");
		printf("  plugin:\t%s\n  option:\t%s\n    desc:\t%s\n     set:\t%d\n", known[i].plugin, known[i].option,
		       known[i].text, known[i].set);
	}
}

static int print_chosen(const struct list *list, const struct catalog *catalog, struct fail *fail)
{
	int err = 0;

	if (list->events)
		err = print_events(list, catalog, fail);
	if (!err && list->tracers)
		err = print_words(list, "available_tracers", fail);
	if (!err && list->options)
		err = print_options(list, fail);
	if (!err && list->clocks)
		err = print_words(list, "trace_clock", fail);
	if (list->plugins)
		command_warn("note: report prints the texts of libtraceevent's plugins by itself and loads none");
	if (list->plugin_options)
		print_plugin_options();
	if (!err && list->systems)
		err = print_systems(list, fail);
	if (!err && list->functions)
		err = print_functions(list, fail);
	if (!err && list->instances)
		err = print_instances(list, fail);
	if (list->codecs)
		puts("Supported compression algorithms:\n\tzstd");
	return err;
}

static int print_all(struct list *list, const struct catalog *catalog, struct fail *fail)
{
	int err;

	/* A pattern is for -e and -f alone. */
	if (list->pattern)
		regfree(&list->regex);
	list->pattern = NULL;

	puts("event systems:");
	err = print_systems(list, fail);
	puts("events:");
	if (!err)
		err = print_events(list, catalog, fail);
	puts("\ntracers:");
	if (!err)
		err = print_words(list, "available_tracers", fail);
	puts("\noptions:");
	if (!err)
		err = print_options(list, fail);
	puts("Supported compression algorithms:\n\tzstd");
	return err;
}

int trace_cmd_options(int argc, char **argv)
{
	struct fail fail = FAIL_INIT;
	int err;

	(void)argv;
	if (argc > 1)
		return TRACE_CMD_USAGE;
	print_plugin_options();
	err = command_flush(&fail);
	return err ? trace_cmd_failed(err, &fail) : EXIT_OK;
}

int trace_cmd_list(int argc, char **argv)
{
	struct list list = { .events = false };
	struct catalog *catalog = NULL;
	struct fail fail = FAIL_INIT;
	int err = parse(argc, argv, &list);
	bool some = list.events || list.systems || list.tracers || list.options || list.functions || list.instances ||
		    list.clocks || list.codecs || list.plugin_options || list.plugins;

	if (err)
		return -err;
	err = kernel_find(&list.kernel, &fail);
	if (!err) {
		list.top = instance_top(&list.kernel.tracing);
		err = catalog_new(&list.kernel.tracing, &catalog, &fail);
	}
	if (!err)
		err = some ? print_chosen(&list, catalog, &fail) : print_all(&list, catalog, &fail);
	if (!err)
		err = command_flush(&fail);
	if (list.pattern)
		regfree(&list.regex);
	catalog_free(catalog);
	kernel_close(&list.kernel);
	return err ? trace_cmd_failed(err, &fail) : EXIT_OK;
}
