// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/extract_dump.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/pager.h"
#include "cmd/terminal/terminal.h"
#include "lib/base/cleanup.h"
#include "lib/base/number.h"
#include "lib/base/out.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/events.h"
#include "lib/reader/cpu_count.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* weft info: tells what a file contains. */
enum { OPT_NO_EVENTS = 256, OPT_SETTINGS, OPT_SETTING, OPT_DUMP };

struct arguments {
	const char *input;
	const char *setting;
	const char *instance;
	const char *dumps[EXTRACT_DUMPS_MAX];
	size_t nr_dumps;
	bool settings, no_events;
	struct reading reading;
};

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Look into FILE (default: trace.dat); - is standard input", 1 },
	{ "dump", OPT_DUMP, "FILE", 0,
	  "FILE is a dump of a kernel's memory: list its trace buffers, which weft extract --dump makes files of", 1 },
	{ "no-events", OPT_NO_EVENTS, NULL, 0, "Do not read the events: no counts, no times", 1 },
	{ "settings", OPT_SETTINGS, NULL, 0, "List the tracefs settings saved in the file instead", 2 },
	{ "setting", OPT_SETTING, "NAME", 0, "Print only the saved setting NAME, byte for byte", 2 },
	{ "instance", 'B', "INSTANCE", 0, "With --settings and --setting: those of this instance", 2 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->reading;
		return 0;
	case 'i':
	case ARGP_KEY_ARG:
		option_once("file", &arguments->input, arg, state);
		return 0;
	case 'B':
		arguments->instance = arg;
		return 0;
	case OPT_NO_EVENTS:
		arguments->no_events = true;
		return 0;
	case OPT_DUMP:
		if (arguments->nr_dumps == EXTRACT_DUMPS_MAX)
			argp_error(state, "more than %d files of a dump", EXTRACT_DUMPS_MAX);
		arguments->dumps[arguments->nr_dumps++] = arg;
		return 0;
	case OPT_SETTINGS:
		arguments->settings = true;
		return 0;
	case OPT_SETTING:
		arguments->setting = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &reading_argp, 0, NULL, 1 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.children = children,
	.doc = "Shows what is in a trace.dat: sections, CPUs, time span, events of each type, lost events.",
};

static void print_line(struct out *out, const char *name, const char *text)
{
	if (text)
		out_f(out, "%-10s %.*s\n", name, (int)strcspn(text, "\n"), text);
}

/* Prints the lines of setup_probes_missed() (lib/setup/setup_probes.h). */
static void print_missed(struct trace_text text, struct out *out)
{
	struct text_word line;

	while (text.text && text_next_line(&text.text, &text.len, &line)) {
		const char *hits = memchr(line.at, ' ', line.len),
			   *missed = hits ? memrchr(line.at, ' ', line.len) : NULL;

		if (missed && missed != hits)
			out_f(out, "%-10s %.*s of probe %.*s, which made%.*s events\n", "missed",
			      (int)(line.at + line.len - missed - 1), missed + 1, (int)(hits - line.at), line.at,
			      (int)(missed - hits), hits);
	}
}

static void print_head(struct trace *trace, struct out *out)
{
	const struct trace_info *info = trace_info(trace);
	struct trace_text text;
	struct fail fail = FAIL_INIT;
	char size[TEXT_HUMAN];
	size_t from = out_len(out);

	out_f(out, "%-10s %s\n", "file", trace_path(trace));
	terminal_seal(out, from);
	out_f(out, "%-10s trace.dat version %u, %s, %s endian, %d-bit kernel, pages of %" PRIu32 " bytes\n", "format",
	      info->version, info->codec, info->big_endian ? "big" : "little", info->long_size * 8, info->page_size);
	out_f(out, "%-10s %s (%" PRIu64 " bytes)\n", "size", text_size(size, info->size), info->size);
	if (!trace_meta(trace, TRACE_UNAME, &text, &fail))
		print_line(out, "kernel", text.text);
	if (!trace_meta(trace, TRACE_VERSION, &text, &fail) && text.len)
		print_line(out, "recorded by", text.text);
	print_line(out, "mode", trace_setting(trace, 0, "weft/mode").text);
	print_line(out, "command", trace_setting(trace, 0, "weft/command").text);
	print_line(out, "tracer", trace_setting(trace, 0, "current_tracer").text);
	print_missed(trace_setting(trace, 0, "weft/missed"), out);
	if (info->cpu_count)
		out_f(out, "%-10s %" PRIu32 "\n", "CPUs", info->cpu_count);
}

static void print_sections(struct trace *trace, struct out *out)
{
	static const struct table_column columns[] = {
		{ "offset", TABLE_NUMBER, NULL },       { "size", TABLE_NUMBER, NULL },
		{ "uncompressed", TABLE_NUMBER, NULL }, { "ratio", TABLE_NUMBER, NULL },
		{ "what", TABLE_TEXT, NULL },
	};
	size_t count;
	const struct trace_section *sections = trace_sections(trace, &count);
	struct table table;

	table_init(&table, columns, array_size(columns));
	table.indent = 2;
	for (size_t i = 0; i < count; i++) {
		const struct trace_section *section = &sections[i];

		table_cell_u64(&table, section->offset);
		table_cell_u64(&table, section->size);
		if (section->raw_size && section->raw_size != section->size)
			table_cell_u64(&table, section->raw_size);
		else
			table_cell(&table, "");
		if (section->raw_size > section->size && section->size)
			table_cellf(&table, "%.1f", (double)section->raw_size / (double)section->size);
		else
			table_cell(&table, "");
		table_cell(&table, section->what);
	}
	out_str(out, "\nSections\n");
	out->failed |= !table_print(&table, out);
	table_release(&table);
}

/* Finds the index of the buffer that --instance names. Returns -1, after a message, if there is none. */
static int find_buffer(struct trace *trace, const char *name, size_t *ret, struct fail *fail)
{
	for (size_t i = 0; i < trace_buffers(trace); i++)
		if (!strcmp(trace_buffer(trace, i)->name.text, name ? name : "")) {
			*ret = i;
			return 0;
		}
	*ret = 0;
	return name ? fail_set(fail, -1, "'%s' has no instance '%s'", trace_path(trace), name) : 0;
}

static int print_setting(struct trace *trace, const struct arguments *arguments, struct out *out, struct fail *fail)
{
	struct trace_text text;
	size_t buffer;
	int r = find_buffer(trace, arguments->instance, &buffer, fail);

	if (r)
		return r;
	text = trace_setting(trace, buffer, arguments->setting);
	if (!text.text)
		return fail_set(fail, -1, "'%s' contains no setting '%s'; --settings lists those it contains",
				trace_path(trace), arguments->setting);
	out_mem(out, text.text, text.len);
	return 0;
}

static int print_settings(struct trace *trace, const struct arguments *arguments, struct out *out, struct fail *fail)
{
	static const struct table_column columns[] = { { "", TABLE_TEXT, NULL }, { "", TABLE_TEXT, NULL } };
	struct trace_text text;
	struct table table;
	const char *name;
	size_t only, buffer;
	int r = find_buffer(trace, arguments->instance, &only, fail);

	if (r)
		return r;
	table_init(&table, columns, array_size(columns));
	for (size_t i = 0; trace_setting_at(trace, i, &buffer, &name, &text); i++) {
		size_t len = strcspn(text.text, "\n");

		if (buffer != only)
			continue;
		table_cell(&table, name);
		/* A text of one line is shown; of a longer text, only its size. */
		if (len + 1 >= text.len && len <= 100)
			table_cellf(&table, "%.*s", (int)len, text.text);
		else
			table_cellf(&table, "(%zu bytes)", text.len);
	}
	out->failed |= !table_print(&table, out);
	table_release(&table);
	return 0;
}

static void cell_time(struct table *table, enum clock_unit unit, bool seen, uint64_t ts)
{
	char text[TEXT_HUMAN];

	if (!seen)
		table_cell(table, "");
	else if (unit == CLOCK_UNIT_NS)
		table_cell(table, text_stamp(text, ts));
	else
		table_cell_u64(table, ts);
}

static void cells_stats(struct table *table, const struct context *context, uint32_t cpu)
{
	for (size_t i = 0; i < context->nr_stats; i++)
		if (context->stats[i].cpu == cpu) {
			table_cell_u64(table, context->stats[i].overrun);
			table_cell_u64(table, context->stats[i].dropped);
			return;
		}
	table_cell(table, "");
	table_cell(table, "");
}

static void print_cpus(struct trace *trace, size_t buffer, const struct context *context, const struct cpu_count *cpus,
		       struct out *out)
{
	static const struct table_column columns[] = {
		{ "CPU", TABLE_NUMBER, NULL },    { "stored", TABLE_NUMBER, NULL },  { "pages", TABLE_NUMBER, NULL },
		{ "events", TABLE_NUMBER, NULL }, { "lost", TABLE_NUMBER, NULL },    { "first", TABLE_NUMBER, NULL },
		{ "last", TABLE_NUMBER, NULL },   { "overrun", TABLE_NUMBER, NULL }, { "dropped", TABLE_NUMBER, NULL },
	};
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	char text[TEXT_HUMAN];
	struct table table;

	/* The last two columns are the kernel's own counts, if the file has them. */
	table_init(&table, columns, !cpus ? 3 : context->nr_stats ? array_size(columns) : array_size(columns) - 2);
	table.indent = 2;
	for (size_t i = 0; i < of->nr_cpus; i++) {
		table_cell_u64(&table, of->cpus[i].cpu);
		table_cell(&table, text_size(text, of->cpus[i].size));
		table_cell(&table, text_size(text, trace_pages_total(trace, buffer, i)));
		if (!cpus)
			continue;
		table_cell_u64(&table, cpus[i].events);
		table_cellf(&table, "%" PRIu64 "%s", cpus[i].lost, cpus[i].lost_some ? "+" : "");
		cell_time(&table, context->unit, cpus[i].seen, cpus[i].first);
		cell_time(&table, context->unit, cpus[i].seen, cpus[i].last);
		if (context->nr_stats)
			cells_stats(&table, context, of->cpus[i].cpu);
	}
	out->failed |= !table_print(&table, out);
	table_release(&table);
}

static int compare_types(const void *a, const void *b)
{
	const struct event_type *left = *(const struct event_type *const *)a,
				*right = *(const struct event_type *const *)b;

	if (left->seen != right->seen)
		return left->seen < right->seen ? 1 : -1;
	return (left->id > right->id) - (left->id < right->id);
}

static bool print_types(struct events *events, struct out *out)
{
	static const struct table_column columns[] = { { "events", TABLE_NUMBER, NULL }, { "type", TABLE_TEXT, NULL } };
	cleanup_free const struct event_type **types = NULL;
	const struct event_type *type;
	struct table table;
	size_t count = 0;

	while (events_type_at(events, count, &type))
		count++;
	types = calloc(count + 1, sizeof(*types));
	if (!types)
		return false;
	for (size_t i = 0; i < count; i++)
		events_type_at(events, i, &types[i]);
	qsort(types, count, sizeof(*types), compare_types);
	table_init(&table, columns, array_size(columns));
	table.indent = 2;
	for (size_t i = 0; i < count; i++) {
		table_cell_u64(&table, types[i]->seen);
		if (types[i]->format)
			table_cellf(&table, "%s:%s", types[i]->format->system, types[i]->format->name);
		else
			table_cellf(&table, "of unknown id %" PRId32, types[i]->id);
	}
	out_char(out, '\n');
	out->failed |= !table_print(&table, out);
	table_release(&table);
	return true;
}

static void print_span(const struct trace_buffer *buffer, const struct context *context, const struct cpu_count *cpus,
		       struct events *events, struct out *out)
{
	uint64_t first = UINT64_MAX, last = 0, lost = 0;
	char count[TEXT_HUMAN], text[TEXT_HUMAN];
	bool lost_some = false;
	size_t from;

	for (size_t i = 0; i < buffer->nr_cpus; i++) {
		lost += cpus[i].lost;
		lost_some = lost_some || cpus[i].lost_some;
		if (!cpus[i].seen)
			continue;
		first = cpus[i].first < first ? cpus[i].first : first;
		last = cpus[i].last > last ? cpus[i].last : last;
	}
	from = out_len(out);
	out_f(out, "  %s event%s", text_count(count, events_count(events)), text_plural(events_count(events)));
	if (first <= last && context->unit == CLOCK_UNIT_NS)
		out_f(out, " in %s", text_time(text, last - first));
	if (lost || lost_some)
		out_f(out, ", %s%s lost", lost_some ? "at least " : "", text_count(text, lost));
	else
		out_str(out, ", none lost");
	out_f(out, ", clock %s\n", context->clock);
	terminal_seal(out, from);
}

/* Prints the longest case from the head of the kernel's text: "# latency: 68 us, #12/12, CPU#0 | ...". */
static void print_worst(const struct context *context, struct out *out)
{
	const char *line = context->latency ? strstr(context->latency, "# latency: ") : NULL;
	unsigned long long us = 0, entries = 0;

	if (!context->latency)
		return;
	if (line && sscanf(line, "# latency: %llu us, #%llu/", &us, &entries) == 2)
		out_f(out, "  the tracer's worst case%s: %llu entries, latency %llu us\n",
		      context->section ? "" : " as the kernel's text", entries, us);
	else
		out_str(out, "  the tracer has measured no worst case\n");
}

static void print_cleared(const struct trace *trace, size_t buffer, const struct trace_buffer *of, struct out *out)
{
	uint64_t most = 0;

	for (size_t i = 0; i < of->nr_cpus; i++) {
		struct trace_text text;
		char name[64];

		snprintf(name, sizeof(name), "weft/per_cpu/cpu%u/cleared", (unsigned)of->cpus[i].cpu);
		text = trace_setting(trace, buffer, name);
		if (text.text && number_of(text.text, 0) > most)
			most = number_of(text.text, 0);
	}
	if (most)
		out_f(out, "  cleared by somebody else while it was recorded (%" PRIu64 " time%s as far as noticed)\n",
		      most, most == 1 ? "" : "s");
}

static void print_buffer(struct reader *reader, struct trace *trace, size_t buffer, const struct cpu_count *cpus,
			 struct out *out)
{
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	const struct context *context = reader->buffers[0].context;

	print_span(of, context, cpus, reader->buffers[0].events, out);
	print_worst(context, out);
	print_cleared(trace, buffer, of, out);
	print_cpus(trace, buffer, context, cpus, out);
	if (reader_count(reader) && !print_types(reader->buffers[0].events, out))
		out->failed = true;
}

/*
 * Prints the report of weft info about one buffer: its CPUs and, unless no_events is set, the time span, losses and
 * events of each type. Damage inside its pages is reported as a warning; what was counted before it is printed.
 */
static int info_buffer(struct trace *trace, size_t buffer, bool no_events, struct out *out, bool *ret_damaged,
		       struct fail *fail)
{
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	cleanup_free struct cpu_count *cpus = NULL;
	const char *damage, *path;
	struct reader reader;
	size_t from;
	int r;

	out_char(out, '\n');
	from = out_len(out);
	out_f(out, "%s%s\n", of->name.len ? "Instance " : "Top buffer", of->name.text);
	terminal_seal(out, from);
	if (no_events) {
		print_cpus(trace, buffer, NULL, NULL, out);
		return 0;
	}
	reader_init(&reader);
	r = reader_add(&reader, trace, buffer, fail);
	if (!r)
		r = cpu_count_all(&reader, &cpus, fail);
	if (!r)
		print_buffer(&reader, trace, buffer, cpus, out);
	damage = r ? NULL : reader_damage(&reader, &path);
	if (damage) {
		r = terminal_flush(out, fail);
		command_warn("%s", damage);
		*ret_damaged = true;
	}
	reader_release(&reader);
	return r;
}

static int print_all(struct trace *trace, const struct arguments *arguments, struct out *out, bool *ret_damaged,
		     struct fail *fail)
{
	int r = 0;

	print_head(trace, out);
	print_sections(trace, out);
	for (size_t i = 0; !r && i < trace_buffers(trace); i++)
		r = info_buffer(trace, i, arguments->no_events, out, ret_damaged, fail);
	return r;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .input = NULL };
	struct fail fail = FAIL_INIT, later = FAIL_INIT;
	struct trace *trace;
	bool damaged = false;
	struct out out;
	int r, err;

	command_parse(&info_command, argc, argv, 0, &arguments);
	if (arguments.nr_dumps)
		return extract_dump_run(&(struct extract_dump){ .dumps = arguments.dumps,
								.nr_dumps = arguments.nr_dumps,
								.reading = &arguments.reading,
								.list = true });
	pager_start();
	if (!arguments.input)
		arguments.input = "trace.dat";
	if (reading_open(arguments.input, &arguments.reading, &trace, &fail))
		return command_failed(&fail);
	if (!out_init(&out, 1 << 16)) {
		trace_free(trace);
		fail_memory(&fail);
		return command_failed(&fail);
	}
	if (arguments.setting)
		r = print_setting(trace, &arguments, &out, &fail);
	else if (arguments.settings)
		r = print_settings(trace, &arguments, &out, &fail);
	else
		r = print_all(trace, &arguments, &out, &damaged, &fail);
	err = terminal_flush(&out, r ? &later : &fail);
	out_release(&out);
	if (!r)
		r = err;
	if (r)
		command_failed(&fail);
	if (trace_damage(trace)) {
		command_warn("%s", trace_damage(trace));
		damaged = true;
	}
	trace_free(trace);
	return r || damaged ? EXIT_FAILED : EXIT_OK;
}

const struct command info_command = {
	.name = "info",
	.summary = "show what is in a recording",
	.brief = "what is in it",
	.examples = "  weft info trace.dat\n  weft info --setting current_tracer trace.dat",
	.group = "read",
	.argp = &argp,
	.run = run,
};
