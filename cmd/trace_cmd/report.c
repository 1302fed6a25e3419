// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/reading.h"
#include "cmd/report_print.h"
#include "cmd/terminal/terminal.h"
#include "cmd/trace_cmd/filter.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "formats/sink.h"
#include "formats/tracecmd/tracecmd.h"
#include "formats/tracecmd/wakeups.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/cpu_count.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

/* What trace-cmd report prints instead of events: facts of the file. */

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
	char text[TEXT_HUMAN];

	if (context->unit == CLOCK_UNIT_COUNT)
		printf("%12" PRIu64, ts);
	else if (lists->nanoseconds)
		printf("%15s", text_seconds(text, ts));
	else
		printf("%12s", text_stamp(text, ts));
}

static int print_cpus(const struct report_lists *lists, struct trace *trace, struct fail *fail)
{
	const struct trace_buffer *buffer = trace_buffer(trace, 0);
	cleanup_free struct cpu_count *cpus = NULL;
	const struct context *context;
	struct reader reader;
	int r;

	/* A damaged file may have no buffer. */
	if (!buffer) {
		printf("List of CPUs in %s with data:\n", trace_path(trace));
		return 0;
	}
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
	uint64_t at = buffer ? buffer->page_size : 0;
	uint32_t nr = trace_info(trace)->cpu_count;

	/* A damaged file may have no buffer. */
	if (!buffer)
		return;
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

	if (r)
		return r;
	puts("\nKernel buffer statistics:\n"
	     "  Note: \"entries\" are the entries left in the kernel ring buffer and are not\n"
	     "        recorded in the trace data. They should all be zero.\n");
	/* The texts of the CPUs, with a blank line behind each. */
	for (const char *at = text.text, *end; at && *at; at = end) {
		end = strstr(at + 1, "CPU: ");
		if (!end)
			end = text.text + text.len;
		printf("%.*s\n", (int)(end - at), at);
	}
	putchar('\n');
	print_places(trace);
	return 0;
}

/* Whether every format can be read: status 22 if not. */
static int check(struct trace *trace, struct fail *fail)
{
	struct reader reader;
	const char *system, *name, *why;
	int32_t id;
	int r;

	if (!trace_buffers(trace))
		return 0;
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

	if (lists->what >= REPORT_VERSION)
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

/* trace-cmd report: its options, for the sink that prints its text. */

enum { FILES_MAX = 31 };

struct trace_cmd_report {
	struct report_options report;
	struct tracecmd_options own;
	struct report_lists lists;
	struct cpus cpus;
	struct trace_cmd_filters filters;
	struct option_words pids, comms;
	struct buf raw, plain;          /* the names of all -r, and of all -n, with commas: scripts give thousands */
	const char *others[FILES_MAX];  /* the files after the first */
	int64_t offsets[FILES_MAX + 1]; /* of --ts-offset: for the first file, then for the others */
	struct trace *traces[FILES_MAX];
	struct user_plugins plugins[FILES_MAX];
	size_t nr_others;
	const char *refused; /* an option that cannot be had, with the reason; NULL: none */
	bool hz_of_file;     /* --ts2secs stands behind an -i */
	bool negated, nodate, test_filters;
};

enum {
	OPT_CPU = 256,
	OPT_CPUS,
	OPT_EVENTS,
	OPT_EVENT,
	OPT_FIRST,
	OPT_KALLSYMS,
	OPT_PID,
	OPT_COMM,
	OPT_CHECK,
	OPT_NODATE,
	OPT_STAT,
	OPT_BOUNDARY,
	OPT_DEBUG,
	OPT_LAST,
	OPT_PROFILE,
	OPT_UNAME,
	OPT_VERSION,
	OPT_BYCOMM,
	OPT_TSOFFSET,
	OPT_TS2SECS,
	OPT_TSDIFF,
	OPT_TSCHECK,
	OPT_RAW_TS,
	OPT_ALIGN_TS,
	OPT_VERBOSE,
};

static const char short_options[] = "+hSIi:H:feGpRr:tPNn:LlEwF:V::vTqO:";

/* getopt_long() takes abbreviations of these, as trace-cmd does. */
static const struct option long_options[] = {
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "cpus", no_argument, NULL, OPT_CPUS },
	{ "events", no_argument, NULL, OPT_EVENTS },
	{ "event", required_argument, NULL, OPT_EVENT },
	{ "filter-test", no_argument, NULL, 'T' },
	{ "first-event", no_argument, NULL, OPT_FIRST },
	{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "check-events", no_argument, NULL, OPT_CHECK },
	{ "nodate", no_argument, NULL, OPT_NODATE },
	{ "stat", no_argument, NULL, OPT_STAT },
	{ "boundary", no_argument, NULL, OPT_BOUNDARY },
	{ "debug", no_argument, NULL, OPT_DEBUG },
	{ "last-event", no_argument, NULL, OPT_LAST },
	{ "profile", no_argument, NULL, OPT_PROFILE },
	{ "uname", no_argument, NULL, OPT_UNAME },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "by-comm", no_argument, NULL, OPT_BYCOMM },
	{ "ts-offset", required_argument, NULL, OPT_TSOFFSET },
	{ "ts2secs", required_argument, NULL, OPT_TS2SECS },
	{ "ts-diff", no_argument, NULL, OPT_TSDIFF },
	{ "ts-check", no_argument, NULL, OPT_TSCHECK },
	{ "raw-ts", no_argument, NULL, OPT_RAW_TS },
	{ "align-ts", no_argument, NULL, OPT_ALIGN_TS },
	{ "verbose", optional_argument, NULL, OPT_VERBOSE },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int usage(const char *format, const char *word)
{
	struct fail fail = FAIL_INIT;

	fail_set(&fail, -EINVAL, format, word);
	command_failed(&fail);
	return -TRACE_CMD_USAGE;
}

/* Adds the words of a list with commas. */
static int add_list(struct option_words *words, char *list)
{
	char *save = NULL;

	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (words->len == OPTION_WORDS_MAX)
			return usage("too many values: '%s'", word);
		words->at[words->len++] = word;
	}
	return 0;
}

/* "fgraph:tailprint", "ftrace:indent=0"; without the part before the colon it means every plugin's option. */
static int plugin_option(struct tracecmd_options *own, const char *text)
{
	const char *colon = strchr(text, ':'), *name = colon ? colon + 1 : text, *value = strchr(name, '=');
	size_t len = value ? (size_t)(value - name) : strlen(name);
	bool on = !value || (strcmp(value, "=0") && strcmp(value, "=false") && strcmp(value, "=no"));
	const struct {
		const char *name;
		bool *option, inverted;
	} known[] = {
		{ "parent", &own->parent, false }, { "indent", &own->no_indent, true },
		{ "offset", &own->offset, false }, { "tailprint", &own->tailprint, false },
		{ "depth", &own->depth, false },
	};

	for (size_t i = 0; i < array_size(known); i++)
		if (strlen(known[i].name) == len && !memcmp(known[i].name, name, len))
			*known[i].option = on != known[i].inverted;
	/* trace-cmd takes what no plugin knows, too. */
	return 0;
}

static int add_cpus(struct trace_cmd_report *options, const char *list)
{
	struct fail fail = FAIL_INIT;
	struct cpus cpus;

	if (cpus_parse(list, &cpus, &fail) < 0) {
		command_failed(&fail);
		return -EINVAL;
	}
	for (int cpu = cpus_next(&cpus, 0); cpu >= 0; cpu = cpus_next(&cpus, cpu + 1))
		cpus_add(&options->cpus, (uint32_t)cpu);
	options->own.cpus = &options->cpus;
	return 0;
}

/* Options that choose what is printed instead of events, or how. */
static bool parse_list(int key, struct trace_cmd_report *options)
{
	static const struct {
		int key;
		enum report_list what;
	} lists[] = {
		{ 'e', REPORT_ENDIAN },      { 'p', REPORT_PAGE_SIZE },   { 'f', REPORT_FUNCTIONS },
		{ 'P', REPORT_PRINTK },      { 'E', REPORT_NAMES },       { OPT_EVENTS, REPORT_FORMATS },
		{ OPT_CPUS, REPORT_CPUS },   { OPT_FIRST, REPORT_CPUS },  { OPT_LAST, REPORT_CPUS },
		{ OPT_STAT, REPORT_STAT },   { OPT_UNAME, REPORT_UNAME }, { OPT_VERSION, REPORT_VERSION },
		{ OPT_CHECK, REPORT_CHECK },
	};

	options->lists.first |= key == OPT_FIRST;
	options->lists.last |= key == OPT_LAST;
	for (size_t i = 0; i < array_size(lists); i++)
		if (lists[i].key == key) {
			if (!options->lists.what || lists[i].what < options->lists.what)
				options->lists.what = lists[i].what;
			return true;
		}
	return false;
}

static bool parse_text(int key, struct trace_cmd_report *options)
{
	switch (key) {
	case 'R':
		options->report.sink.raw = true;
		return true;
	case 't':
		options->report.sink.nanoseconds = options->lists.nanoseconds = true;
		return true;
	case 'w':
		if (!options->own.wakeups)
			options->own.wakeups = wakeups_new();
		return true;
	case 'l':
		options->own.latency = true;
		return true;
	case 'N':
		options->own.no_plugins = true;
		options->report.user_plugins.wanted = false;
		return true;
	case 'L':
		/* The user's own plugins only. */
		options->own.no_plugins = true;
		return true;
	case 'I':
		options->own.flags_out |= EVENT_HARDIRQ;
		return true;
	case 'S':
		options->own.flags_out |= EVENT_SOFTIRQ;
		return true;
	case OPT_TSDIFF:
		options->report.sink.differences = true;
		return true;
	case OPT_RAW_TS:
		options->own.raw_ts = true;
		return true;
	case OPT_ALIGN_TS:
		options->own.align = true;
		return true;
	case OPT_NODATE:
		options->nodate = true;
		return true;
	case OPT_BOUNDARY:
	case OPT_DEBUG:
		options->refused = "--boundary and --debug: 'weft info --pages' shows the sub-buffers";
		return true;
	case OPT_PROFILE:
	case 'H':
		options->refused = "--profile: 'weft sched', 'weft syscalls', 'weft irq' and 'weft latency' show it";
		return true;
	case 'q':
	case 'V':
	case OPT_VERBOSE:
	case OPT_TSCHECK:
	case OPT_BYCOMM:
	case 'G':
		return true;
	case 'T':
		options->test_filters = true;
		return true;
	}
	return false;
}

static int parse_value(int key, char *arg, struct trace_cmd_report *options)
{
	struct report_options *report = &options->report;

	switch (key) {
	case 'i':
		if (report->input && options->nr_others == FILES_MAX)
			return usage("too many files: '%s': 'weft merge' makes one file of them", arg);
		if (report->input)
			options->others[options->nr_others++] = arg;
		else
			report->input = arg;
		return 0;
	case 'F':
		return trace_cmd_filter_add(&options->filters, arg, options->negated);
	case 'v':
		if (options->negated)
			return usage("only one -v can be used%s", "");
		options->negated = true;
		return 0;
	case 'r':
	case 'n':
		if (!buf_addf(key == 'r' ? &options->raw : &options->plain, "%s,", arg))
			return usage("out of memory%s", "");
		return 0;
	case 'O':
		if (report->user_plugins.values.len < OPTION_WORDS_MAX)
			report->user_plugins.values.at[report->user_plugins.values.len++] = arg;
		return plugin_option(&options->own, arg);
	case OPT_CPU:
		return add_cpus(options, arg);
	case OPT_PID:
		return add_list(&options->pids, arg);
	case OPT_COMM:
		return add_list(&options->comms, arg);
	case OPT_TSOFFSET:
		if (!report->input)
			return usage("--ts-offset must come after -i%s", "");
		options->offsets[options->nr_others] = strtoll(arg, NULL, 0);
		return 0;
	case OPT_TS2SECS:
		options->own.hz = strtoull(arg, NULL, 10);
		options->hz_of_file = report->input != NULL;
		return 0;
	case OPT_EVENT:
		options->lists.what = REPORT_FORMATS;
		return 0;
	case OPT_KALLSYMS:
		options->refused = "--kallsyms: the symbols are those of the file";
		return 0;
	}
	return -TRACE_CMD_USAGE;
}

/* 0, or the negative exit status. */
static int parse(int argc, char **argv, struct trace_cmd_report *options)
{
	int key, r = 0;

	optind = 1;
	while (r >= 0 && (key = getopt_long(argc, argv, short_options, long_options, NULL)) != -1)
		if (!parse_list(key, options) && !parse_text(key, options))
			r = parse_value(key, optarg, options);
	if (r < 0)
		return r;
	/* trace-cmd reads the word behind the options only if there is no -i, and no further word. */
	if (optind < argc && options->report.input)
		return usage("the file '%s' stands behind that of -i", argv[optind]);
	if (optind < argc)
		options->report.input = argv[optind];
	if (optind + 1 < argc)
		command_warn("note: '%s' is left out: trace-cmd reads several files only with an -i before each",
			     argv[optind + 1]);
	if (!options->report.input)
		options->report.input = "trace.dat";
	if (options->refused)
		return usage("trace-cmd report %s", options->refused);
	if (options->nr_others && options->own.wakeups)
		return usage("-w works for one file only%s", "");
	if (options->nr_others && options->hz_of_file)
		return usage("--ts2secs of one of several files cannot be had%s: before -i it is for all", "");
	if (options->nr_others && options->filters.nr)
		return usage("-F works for one file only%s: 'weft merge' makes one of several", "");
	if (options->nr_others && options->lists.what)
		return usage("what is listed instead of events is that of one file%s", "");
	if (options->raw.len)
		options->report.raw_events = (struct option_words){ .at = { buf_str(&options->raw) }, .len = 1 };
	if (options->plain.len)
		options->report.plain_events = (struct option_words){ .at = { buf_str(&options->plain) }, .len = 1 };
	return 0;
}

/* Adds the offset of the option to all times, and takes away the one of the recording's date. */
static void shift(const struct trace_cmd_report *options, struct trace *trace, int64_t offset)
{
	const struct trace_info *info = trace_info(trace);
	int64_t date = options->nodate && info->has_date ? info->date_offset_ns : 0;

	trace_shift_times(trace, offset - date);
}

static int print(struct trace_cmd_report *options, struct trace *trace, struct fail *fail)
{
	int r;

	if (options->lists.what)
		return report_list(&options->lists, trace, fail);
	r = trace_cmd_filters_apply(&options->filters, &options->pids, &options->comms, trace, &options->report.query,
				    fail);
	if (r < 0)
		return r;
	/* An event or a field that the file does not know. */
	if (options->test_filters && options->filters.nr)
		return trace_cmd_filters_print(&options->filters);
	return report_print(&options->report, trace, fail);
}

/* Opens all files before the right to open some is given up. Those that are open are freed by the caller. */
static int open_all(struct trace_cmd_report *options, struct trace **ret, struct fail *fail)
{
	struct trace *all[FILES_MAX + 1];
	size_t nr = 0;
	int r = trace_new(options->report.input, ret, fail);

	if (!r)
		all[nr++] = *ret;
	for (size_t i = 0; !r && i < options->nr_others; i++) {
		options->plugins[i].wanted = options->report.user_plugins.wanted;
		options->plugins[i].values = options->report.user_plugins.values;
		if (options->plugins[i].wanted && !options->lists.what)
			r = user_plugins_start(&options->plugins[i], false, fail);
		if (!r)
			r = trace_new(options->others[i], &options->traces[i], fail);
		if (!r)
			all[nr++] = options->traces[i];
	}
	if (!r)
		r = reading_load_all(all, nr, &options->report.reading, fail);
	for (size_t i = 0; !r && i < nr; i++)
		shift(options, all[i], options->offsets[i]);
	options->report.others = options->traces;
	options->report.nr_others = options->nr_others;
	options->report.other_user_plugins = options->plugins;
	return r;
}

static void close_all(struct trace_cmd_report *options, struct trace *first)
{
	user_plugins_end(&options->report.user_plugins);
	trace_free(first);
	for (size_t i = 0; i < options->nr_others; i++) {
		user_plugins_end(&options->plugins[i]);
		trace_free(options->traces[i]);
	}
}

int trace_cmd_report(int argc, char **argv)
{
	uint64_t printed = 0;
	struct trace_cmd_report options = {
		.report = { .query = QUERY_INIT,
			    .format = sink_find("trace-cmd"),
			    .printed = &printed,
			    .quiet = true,
			    .user_plugins = { .wanted = true } },
	};
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	int r = parse(argc, argv, &options);

	if (r < 0)
		return -r;
	options.report.query.self = QUERY_SELF_IN;
	options.report.sink.tracecmd = &options.own;
	options.report.sink.width = terminal_width();
	if (options.report.user_plugins.wanted && !options.lists.what)
		r = user_plugins_start(&options.report.user_plugins, false, &fail);
	if (!r)
		r = open_all(&options, &trace, &fail);
	if (!r)
		r = print(&options, trace, &fail);
	if (!r && trace_damage(trace))
		r = fail_set(&fail, -EBADMSG, "%s", trace_damage(trace));
	for (size_t i = 0; !r && i < options.nr_others; i++)
		if (trace_damage(options.traces[i]))
			r = fail_set(&fail, -EBADMSG, "%s", trace_damage(options.traces[i]));
	close_all(&options, trace);
	query_release(&options.report.query);
	buf_release(&options.raw);
	buf_release(&options.plain);
	trace_cmd_filters_release(&options.filters);
	wakeups_free(options.own.wakeups);
	if (r == -ENOENT && options.filters.nr)
		r = -TRACE_CMD_USAGE;
	return r == -EPIPE ? EXIT_OK : r < 0 ? trace_cmd_failed(r, &fail) : EXIT_OK;
}
