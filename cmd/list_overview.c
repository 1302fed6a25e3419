// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/list.h"
#include "formats/sink.h"
#include "lib/base/buf.h"
#include "lib/base/cpus.h"
#include "lib/base/text.h"
#include "lib/buffer/ring_buffer.h"
#include "lib/trace/trace.h"
#include "lib/tracefs/event_select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* Prints the words of a file on one line. The current one stays in brackets. */
static void print_words(const struct list *list, const char *title, const char *file)
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

static void print_events(struct list *list)
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

static void print_functions(const struct list *list)
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
	print_words(list, "tracer", "current_tracer");
	print_words(list, "clocks", "trace_clock");
	print_events(list);
	printf("%-11s", "instances");
	for (size_t i = 0; i < trace_buffers(list->listed.trace); i++)
		printf(" %s", trace_buffer(list->listed.trace, i)->name.text);
	print_lists();
	return 0;
}

int list_overview(struct list *list, struct fail *fail)
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
	print_words(list, "tracer now", "current_tracer");
	print_words(list, "tracers", "available_tracers");
	print_words(list, "clocks", "trace_clock");
	print_events(list);
	print_functions(list);
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
