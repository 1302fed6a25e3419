// SPDX-License-Identifier: GPL-2.0-only
/* What trace-cmd report prints instead of events: facts of the file. */
#include "cmd/command.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/event/context.h"
#include "lib/reader/cpu_count.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_endian(struct trace *trace)
{
	bool big = trace_info(trace)->big_endian;

	printf("file is %s endian and host is %s endian\n", big ? "big" : "little",
	       big != trace_info(trace)->swap ? "big" : "little");
}

/* A line of kallsyms or printk_formats with its address, for sorting. */
struct address_line {
	uint64_t address;
	const char *text;
	size_t len, at;
};

static int compare_lines(const void *a, const void *b)
{
	const struct address_line *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	/* The last of several names comes first. */
	return (left->at < right->at) - (left->at > right->at);
}

/* Returns the lines "ADDRESS REST" of a text, by address; their number in *ret_nr. */
static struct address_line *lines_of(enum trace_meta which, struct trace_text text, const char *between, size_t *ret_nr)
{
	struct address_line *lines;
	size_t nr = 0, max = 1;

	for (size_t i = 0; i < text.len; i++)
		max += text.text[i] == '\n';
	lines = calloc(max + 1, sizeof(*lines));
	for (const char *line = text.text, *end; lines && line && *line && nr < max; line = *end ? end + 1 : end) {
		char *rest;
		uint64_t address = strtoull(line, &rest, 16);

		end = line + strcspn(line, "\n");
		rest += strspn(rest, between);
		/* An absolute symbol is no function. */
		if (which == TRACE_KALLSYMS && (*rest == 'A' || *rest == 'a'))
			continue;
		if (rest >= end)
			continue;
		lines[nr] = (struct address_line){ address, rest, (size_t)(end - rest), nr };
		nr++;
	}
	if (lines)
		qsort(lines, nr, sizeof(*lines), compare_lines);
	*ret_nr = nr;
	return lines;
}

/* "ffffffff81000000 _text", "ffffffffc0000000 name [module]" */
static void print_function(const struct address_line *line)
{
	const char *name = line->len > 2 && line->text[1] == ' ' ? line->text + 2 : line->text;
	const char *end = line->text + line->len, *tab = memchr(name, '\t', (size_t)(end - name));

	printf("%016" PRIx64 " %.*s", line->address, (int)((tab ? tab : end) - name), name);
	if (tab)
		printf(" %.*s", (int)(end - tab - 1), tab + 1);
	putchar('\n');
}

/* 'ffffffff81a91000 text': the quotes are taken off, and the escapes stay. */
static void print_printk(const struct address_line *line)
{
	const char *at = line->text, *end = at + line->len;

	if (at < end && *at == '"')
		at++;
	if (end > at && end[-1] == '"')
		end--;
	if (end > at + 1 && end[-2] == '\\' && end[-1] == 'n')
		end -= 2;
	printf("%016" PRIx64 " %.*s\n", line->address, (int)(end - at), at);
}

static int print_lines(struct trace *trace, enum trace_meta which, const char *between,
		       void (*print)(const struct address_line *line), struct fail *fail)
{
	cleanup_free struct address_line *lines = NULL;
	struct trace_text text;
	size_t nr;
	int r = trace_meta(trace, which, &text, fail);

	if (r < 0 || !text.text)
		return r;
	lines = lines_of(which, text, between, &nr);
	if (!lines)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++)
		print(&lines[i]);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *name_of(const struct trace_format *format, int *ret_len)
{
	const char *name = format->text.text ? strstr(format->text.text, "name: ") : NULL;

	*ret_len = name ? (int)strcspn(name + 6, "\n") : 0;
	return name ? name + 6 : "";
}

/* By system, and in it by name; a slash is below every letter. */
static int print_names(struct trace *trace, struct fail *fail)
{
	const struct trace_format *formats;
	cleanup_free char **names = NULL;
	size_t nr;
	bool ok;

	formats = trace_formats(trace, &nr);
	names = calloc(nr + 1, sizeof(*names));
	ok = names;
	for (size_t i = 0; ok && i < nr; i++) {
		int len;
		const char *name = name_of(&formats[i], &len);

		ok = asprintf(&names[i], "%s%c%.*s", formats[i].system.text, '\1', len, name) >= 0;
	}
	if (ok)
		qsort(names, nr, sizeof(*names), compare_names);
	for (size_t i = 0; names && i < nr; i++) {
		if (ok) {
			*strchr(names[i], '\1') = ':';
			puts(names[i]);
		}
		free(names[i]);
	}
	return ok ? 0 : fail_memory(fail);
}

static void print_formats(struct trace *trace)
{
	const struct trace_format *formats;
	size_t nr;

	formats = trace_formats(trace, &nr);
	for (size_t i = 0; i < nr; i++)
		if (formats[i].text.text)
			printf("\nsystem: %s\n%s", formats[i].system.text, formats[i].text.text);
}

static void print_time(const struct report_lists *lists, const struct context *context, uint64_t ts)
{
	if (context->unit == CLOCK_UNIT_COUNT)
		printf("%12" PRIu64, ts);
	else if (lists->nanoseconds)
		printf("%5" PRIu64 ".%09" PRIu64, ts / 1000000000, ts % 1000000000);
	else
		printf("%5" PRIu64 ".%06" PRIu64, (ts + 500) / 1000 / 1000000, (ts + 500) / 1000 % 1000000);
}

static int print_cpus(const struct report_lists *lists, struct trace *trace, struct fail *fail)
{
	const struct trace_buffer *buffer = trace_buffer(trace, 0);
	cleanup_free struct cpu_count *cpus = NULL;
	const struct context *context;
	struct reader reader;
	int r;

	reader_init(&reader);
	r = reader_add(&reader, trace, 0, fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r)
		r = cpu_count_all(&reader, &cpus, fail);
	context = r ? NULL : reader.buffers[0].context;
	if (!r)
		printf("List of CPUs in %s with data:\n", trace_path(trace));
	for (size_t i = 0; !r && i < buffer->nr_cpus; i++) {
		if (!cpus[i].seen)
			continue;
		printf("  %" PRIu32, buffer->cpus[i].cpu);
		if (lists->first) {
			printf("\tFirst event:");
			print_time(lists, context, cpus[i].first);
		}
		if (lists->last) {
			printf("\tLast event:");
			print_time(lists, context, cpus[i].last);
		}
		putchar('\n');
	}
	reader_release(&reader);
	return r;
}

static int print_meta(struct trace *trace, enum trace_meta which, const char *what, struct fail *fail)
{
	struct trace_text text;
	int r = trace_meta(trace, which, &text, fail);

	if (r < 0)
		return r;
	if (text.text)
		printf("%.*s\n", (int)strnlen(text.text, text.len), text.text);
	else
		printf(" %s was not recorded in this file\n", what);
	return 0;
}

/* Of compressed pages the place in trace-cmd's copy of them, which begins with a page. */
static void print_places(struct trace *trace)
{
	const struct trace_buffer *buffer = trace_buffer(trace, 0);
	uint64_t at = buffer->page_size;
	uint32_t nr = trace_info(trace)->cpu_count;

	/* In version 7 the last CPU with pages is the last one that trace-cmd knows. */
	if (trace_info(trace)->version >= 7)
		nr = buffer->nr_cpus ? buffer->cpus[buffer->nr_cpus - 1].cpu + 1 : 0;
	for (uint32_t cpu = 0, i = 0; cpu < nr; cpu++) {
		uint64_t size = 0, offset = 0;

		if (i < buffer->nr_cpus && buffer->cpus[i].cpu == cpu) {
			size = buffer->compressed ? trace_pages_total(trace, 0, i) : buffer->cpus[i].size;
			offset = buffer->compressed ? at : buffer->cpus[i].offset;
			i++;
		}
		printf("CPU%" PRIu32 " data recorded at offset=0x%" PRIx64 "\n    %" PRIu64 " bytes in size\n", cpu,
		       offset, size);
		at += size;
	}
}

static int print_stat(struct trace *trace, struct fail *fail)
{
	struct trace_text text;
	int r = trace_meta(trace, TRACE_CPUSTAT, &text, fail);

	puts("\nKernel buffer statistics:\n"
	     "  Note: \"entries\" are the entries left in the kernel ring buffer and are not\n"
	     "        recorded in the trace data. They should all be zero.\n");
	/* The texts of the CPUs, with a blank line behind each. */
	for (const char *at = text.text, *end; !r && at && *at; at = end) {
		end = strstr(at + 1, "CPU: ");
		if (!end)
			end = text.text + text.len;
		printf("%.*s\n", (int)(end - at), at);
	}
	putchar('\n');
	print_places(trace);
	return r;
}

/* Whether every format can be read: status 22 if not. */
static int check(struct trace *trace, struct fail *fail)
{
	struct reader reader;
	const char *system, *name, *why;
	int32_t id;
	int r;

	reader_init(&reader);
	r = reader_add(&reader, trace, 0, fail);
	for (size_t i = 0; !r && schema_at(reader.buffers[0].context->schema, i, &id, &system, &name); i++)
		if (!schema_format(reader.buffers[0].context->schema, id, &why))
			r = fail_set(fail, -EINVAL, "the format of %s:%s cannot be read: %s", system, name, why);
	reader_release(&reader);
	return r;
}

int report_list(const struct report_lists *lists, struct trace *trace, struct fail *fail)
{
	int r = 0;

	if (lists->what >= REPORT_STAT && lists->what <= REPORT_VERSION)
		printf("cpus=%" PRIu32 "\n", trace_info(trace)->cpu_count);
	switch (lists->what) {
	case REPORT_EVENTS:
		break;
	case REPORT_ENDIAN:
		print_endian(trace);
		break;
	case REPORT_PAGE_SIZE:
		printf("file page size is %" PRIu32 ", and host page size is %ld\n", trace_info(trace)->page_size,
		       sysconf(_SC_PAGESIZE));
		break;
	case REPORT_FUNCTIONS:
		r = print_lines(trace, TRACE_KALLSYMS, " ", print_function, fail);
		break;
	case REPORT_PRINTK:
		r = print_lines(trace, TRACE_PRINTK, " :", print_printk, fail);
		break;
	case REPORT_NAMES:
		r = print_names(trace, fail);
		break;
	case REPORT_FORMATS:
		print_formats(trace);
		break;
	case REPORT_CPUS:
		r = print_cpus(lists, trace, fail);
		break;
	case REPORT_STAT:
		r = print_stat(trace, fail);
		break;
	case REPORT_UNAME:
		r = print_meta(trace, TRACE_UNAME, "uname", fail);
		if (!r)
			r = print_meta(trace, TRACE_VERSION, "version", fail);
		break;
	case REPORT_VERSION:
		r = print_meta(trace, TRACE_VERSION, "version", fail);
		break;
	case REPORT_CHECK:
		r = check(trace, fail);
		break;
	}
	return r ? r : command_flush(fail);
}
