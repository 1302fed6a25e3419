// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/extract_dump.h"
#include "cmd/options/answer.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/pager.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/day.h"
#include "lib/meaning/clock/pings.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/reader/cpu_count.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

/* weft info: tells what a file contains. */
enum { OPT_DUMP = 256 };

struct arguments {
	const char *input;
	const char *setting;
	const char *instance;
	const char *dumps[EXTRACT_DUMPS_MAX];
	size_t nr_dumps;
	bool settings, no_events;
	struct reading reading;
	struct answer answer;
};

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Look into FILE (default: trace.dat); - is standard input", 1,
	  OPTION_ONCE(struct arguments, input, "file") },
	{ "dump", OPT_DUMP, "FILE", 0,
	  "FILE is a dump of a kernel's memory: list its trace buffers, which weft extract --dump makes files of", 1,
	  OPTION_BY_KEY },
	{ "no-events", 0, NULL, 0, "Do not read the events: no counts, no times", 1,
	  OPTION_FLAG(struct arguments, no_events) },
	{ "settings", 0, NULL, 0, "List the tracefs settings saved in the file instead", 2,
	  OPTION_FLAG(struct arguments, settings) },
	{ "setting", 0, "NAME", 0, "Print only the saved setting NAME, byte for byte", 2,
	  OPTION_TEXT(struct arguments, setting) },
	{ "instance", 'B', "INSTANCE", 0, "With --settings and --setting: those of this instance", 2,
	  OPTION_TEXT(struct arguments, instance) },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		option_once("file", &arguments->input, arg, state);
		return 0;
	case OPT_DUMP:
		if (arguments->nr_dumps == EXTRACT_DUMPS_MAX)
			argp_error(state, "more than %d files of a dump", EXTRACT_DUMPS_MAX);
		arguments->dumps[arguments->nr_dumps++] = arg;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (arguments->answer.is_json && arguments->setting)
			argp_error(state, "--format: the bytes of a setting print as text only");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &reading_options, offsetof(struct arguments, reading), 1, NULL },
	{ &answer_options, offsetof(struct arguments, answer), 1, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
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

/* Prints the lines of setup_probes_missed() (lib/kernel/setup/setup_probes.h). */
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

static uint64_t weight(const struct trace *trace)
{
	const char *text = trace_setting(trace, 0, SETTING_SAMPLE).text;

	return text && !strncmp(text, "1/", 2) ? number_of(text + 2, 1) : 1;
}

static void print_sample(const struct trace *trace, struct out *out)
{
	const char *ended = trace_setting(trace, 0, SETTING_ENDED).text;
	char time[TEXT_HUMAN];

	if (weight(trace) != 1)
		out_f(out, "%-10s one hour of %" PRIu64 ": it stands for %" PRIu64 " recordings\n", "sample",
		      weight(trace), weight(trace));
	if (ended && !strncmp(ended, "max-cpu ", 8))
		out_f(out, "%-10s early, when --max-cpu %s was used up\n", "ended",
		      text_time(time, number_of(ended + 8, 0)));
	else if (ended && !strncmp(ended, "max-events ", 11))
		out_f(out, "%-10s early, when --max-events %" PRIu64 " was used up\n", "ended",
		      number_of(ended + 11, 0));
}

/* What is read of a perf.data is a trace.dat that was made of it. */
static bool is_perf(const struct trace_info *info)
{
	return info->replaced_size;
}

static uint64_t size_of(const struct trace_info *info)
{
	return is_perf(info) ? info->replaced_size : info->size;
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
	if (is_perf(info))
		out_f(out, "%-10s perf.data, %s endian, %d-bit\n", "format", info->big_endian ? "big" : "little",
		      info->long_size * 8);
	else
		out_f(out, "%-10s trace.dat version %u, %s, %s endian, %d-bit, pages of %" PRIu32 " bytes\n", "format",
		      info->version, info->codec, info->big_endian ? "big" : "little", info->long_size * 8,
		      info->page_size);
	out_f(out, "%-10s %s (%" PRIu64 " bytes)\n", "size", text_size(size, size_of(info)), size_of(info));
	if (!trace_meta(trace, TRACE_UNAME, &text, &fail))
		print_line(out, "kernel", text.text);
	if (!trace_meta(trace, TRACE_VERSION, &text, &fail) && text.len)
		print_line(out, "recorded by", text.text);
	print_line(out, "mode", trace_setting(trace, 0, "weft/mode").text);
	print_line(out, "tracer", trace_setting(trace, 0, "current_tracer").text);
	print_sample(trace, out);
	print_missed(trace_setting(trace, 0, "weft/missed"), out);
	if (info->cpu_count)
		out_f(out, "%-10s %" PRIu32 "\n", "CPUs", info->cpu_count);
}

/* Prints the table, or makes it a value of `json`, and releases it. */
static void put_table(struct table *table, const char *key, struct json *json, struct out *out)
{
	if (json)
		json_key(json, key);
	out->failed |= json ? !table_put_json(table, json) : !table_print(table, out);
	table_release(table);
}

static void print_sections(struct trace *trace, struct json *json, struct out *out)
{
	static const struct table_column columns[] = {
		{ "offset", TABLE_NUMBER, NULL, 0 },
		{ "size", TABLE_NUMBER, "size_bytes", 0 },
		{ "uncompressed", TABLE_NUMBER, "uncompressed_bytes", 0 },
		{ "ratio", TABLE_NUMBER, NULL, TABLE_TEXT_ONLY },
		{ "what", TABLE_TEXT, NULL, 0 },
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
	if (!json)
		out_str(out, "\nSections\n");
	put_table(&table, "sections", json, out);
}

/* Finds the index of the buffer that --instance names. Returns -1, after a message, if there is none. */
static int find_buffer(struct trace *trace, const char *name, size_t *ret, struct fail *fail)
{
	if (trace_find_buffer(trace, name ? name : "", ret))
		return 0;
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
	static const struct table_column columns[] = { { "", TABLE_TEXT, NULL, 0 }, { "", TABLE_TEXT, NULL, 0 } };
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

/* A time as programs read it: seconds with all decimals, or as the clock counts. */
static void cell_exact(struct table *table, enum clock_unit unit, bool seen, uint64_t ts)
{
	if (!seen)
		table_cell(table, "");
	else if (unit == CLOCK_UNIT_NS)
		table_cell_moment(table, ts);
	else
		table_cell_u64(table, ts);
}

/* JSON has for each CPU whether more were lost than are counted. */
static void print_cpus(struct trace *trace, size_t buffer, const struct context *context, const struct cpu_count *cpus,
		       struct json *json, struct out *out)
{
	enum { OF_KERNEL = 2, WITHOUT_EVENTS = 3 };
	static const struct table_column columns[] = {
		{ "CPU", TABLE_NUMBER, NULL, 0 },
		{ "stored", TABLE_SIZE, NULL, 0 },
		{ "pages", TABLE_SIZE, NULL, 0 },
		{ "events", TABLE_COUNT, NULL, 0 },
		{ "lost", TABLE_NUMBER, NULL, TABLE_TEXT_ONLY },
		{ "lost", TABLE_NUMBER, NULL, TABLE_DATA_ONLY },
		{ "lost more", TABLE_NUMBER, "lost_more", TABLE_DATA_ONLY },
		{ "first", TABLE_NUMBER, NULL, TABLE_TEXT_ONLY },
		{ "last", TABLE_NUMBER, NULL, TABLE_TEXT_ONLY },
		{ "first", TABLE_NUMBER, NULL, TABLE_DATA_ONLY },
		{ "last", TABLE_NUMBER, NULL, TABLE_DATA_ONLY },
		{ "overrun", TABLE_COUNT, NULL, 0 },
		{ "dropped", TABLE_COUNT, NULL, 0 },
	};
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	size_t nr = array_size(columns);
	struct table table;
	char lost[TEXT_HUMAN];

	/* The last two columns are the kernel's own counts, if the file has them. */
	table_init(&table, columns, !cpus ? WITHOUT_EVENTS : context->nr_stats ? nr : nr - OF_KERNEL);
	table.indent = 2;
	for (size_t i = 0; i < of->nr_cpus; i++) {
		table_cell_u64(&table, of->cpus[i].cpu);
		table_cell_u64(&table, of->cpus[i].size);
		table_cell_u64(&table, trace_pages_total(trace, buffer, i));
		if (!cpus)
			continue;
		table_cell_u64(&table, cpus[i].events);
		table_cellf(&table, "%s%s", text_count(lost, cpus[i].lost), cpus[i].lost_some ? "+" : "");
		table_cell_u64(&table, cpus[i].lost);
		table_cell_u64(&table, cpus[i].lost_some);
		cell_time(&table, context->unit, cpus[i].seen, cpus[i].first);
		cell_time(&table, context->unit, cpus[i].seen, cpus[i].last);
		cell_exact(&table, context->unit, cpus[i].seen, cpus[i].first);
		cell_exact(&table, context->unit, cpus[i].seen, cpus[i].last);
		if (context->nr_stats)
			cells_stats(&table, context, of->cpus[i].cpu);
	}
	put_table(&table, "cpus", json, out);
}

static int compare_types(const void *a, const void *b)
{
	const struct event_type *left = *(const struct event_type *const *)a,
				*right = *(const struct event_type *const *)b;

	if (left->seen != right->seen)
		return left->seen < right->seen ? 1 : -1;
	return (left->id > right->id) - (left->id < right->id);
}

static bool print_types(struct events *events, struct json *json, struct out *out)
{
	static const struct table_column columns[] = { { "events", TABLE_COUNT, NULL, 0 },
						       { "type", TABLE_TEXT, NULL, 0 } };
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
	if (!json)
		out_char(out, '\n');
	put_table(&table, "types", json, out);
	return true;
}

static void put_bound(struct out *out, uint64_t ns)
{
	char text[TEXT_HUMAN];

	if (ns == WALL_NO_BOUND)
		out_str(out, ", how exact is not known");
	else
		out_f(out, ", to +-%s", text_time(text, ns));
}

/* Where the time of day was set, or the machine slept. */
static void print_steps(const struct context *context, struct out *out)
{
	const struct wall_piece *piece;
	char at[TEXT_HUMAN], by[TEXT_HUMAN];

	for (size_t i = 1; (piece = wall_piece_at(context->wall, i)); i++) {
		uint64_t size = (uint64_t)(piece->set_ns < 0 ? -piece->set_ns : piece->set_ns);

		if (context->unit == CLOCK_UNIT_NS)
			text_stamp(at, piece->since);
		else
			snprintf(at, sizeof(at), "%" PRIu64, piece->since);
		if (piece->slept_ns)
			out_f(out, "  the machine slept %s %s %s\n",
			      text_time(by, (uint64_t)(piece->slept_ns < 0 ? -piece->slept_ns : piece->slept_ns)),
			      piece->is_exact ? "until" : "before", at);
		if (piece->set_ns)
			out_f(out, "  the time of day was set by %s%s %s %s\n", piece->set_ns < 0 ? "-" : "+",
			      text_time(by, size), piece->is_exact ? "at" : "before", at);
	}
}

/* When the events were, how exact that is, and what the machine knew about its own clock. */
static void print_wall(const struct context *context, uint64_t first, uint64_t last, struct out *out)
{
	struct zone *zone = NULL;
	uint64_t bound, bound_last;
	int64_t from, to, drift;
	char span[DAY_SPAN_TEXT], text[TEXT_HUMAN];

	if (!wall_of(context->wall, first, &from, &bound) || !wall_of(context->wall, last, &to, &bound_last) ||
	    zone_new("", &zone, NULL))
		return;
	out_f(out, "  from %s", day_span_text(span, zone, from, to, 6));
	put_bound(out, bound > bound_last ? bound : bound_last);
	out_char(out, '\n');
	if (wall_drift_ppb(context->wall, &drift) && drift)
		out_f(out, "  the trace clock drifts by %+.3f ppm\n", (double)drift / 1000);
	print_steps(context, out);
	if (wall_samples(context->wall) && wall_host_error_us(context->wall) < 0)
		out_str(out, "  the clock of the machine was not synchronised\n");
	else if (wall_samples(context->wall))
		out_f(out, "  the clock of the machine was synchronised to +-%s\n",
		      text_time(text, (uint64_t)wall_host_error_us(context->wall) * 1000));
	zone_free(zone);
}

struct span {
	uint64_t first, last, lost; /* first > last: there is no event */
	bool lost_some;
};

static struct span span_of(const struct trace_buffer *buffer, const struct cpu_count *cpus)
{
	struct span span = { .first = UINT64_MAX };

	for (size_t i = 0; i < buffer->nr_cpus; i++) {
		span.lost += cpus[i].lost;
		span.lost_some |= cpus[i].lost_some;
		if (!cpus[i].seen)
			continue;
		span.first = cpus[i].first < span.first ? cpus[i].first : span.first;
		span.last = cpus[i].last > span.last ? cpus[i].last : span.last;
	}
	return span;
}

static void print_span(const struct trace_buffer *buffer, const struct context *context, const struct cpu_count *cpus,
		       struct events *events, struct out *out)
{
	const struct span span = span_of(buffer, cpus);
	const uint64_t first = span.first, last = span.last, lost = span.lost;
	const bool lost_some = span.lost_some;
	char count[TEXT_HUMAN], text[TEXT_HUMAN];
	size_t from = out_len(out);

	out_f(out, "  %s event%s", text_count(count, events_count(events)), text_plural(events_count(events)));
	if (first <= last && context->unit == CLOCK_UNIT_NS)
		out_f(out, " in %s", text_time(text, last - first));
	if (lost || lost_some)
		out_f(out, ", %s%s lost", lost_some ? "at least " : "", text_count(text, lost));
	else
		out_str(out, ", none lost");
	out_f(out, ", clock %s\n", context->clock);
	terminal_seal(out, from);
	if (first <= last)
		print_wall(context, first, last, out);
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

static uint64_t times_cleared(const struct trace *trace, size_t buffer, const struct trace_buffer *of)
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
	return most;
}

static void print_cleared(const struct trace *trace, size_t buffer, const struct trace_buffer *of, struct out *out)
{
	uint64_t most = times_cleared(trace, buffer, of);

	if (most)
		out_f(out, "  cleared by somebody else while it was recorded (%" PRIu64 " time%s as far as noticed)\n",
		      most, most == 1 ? "" : "s");
}

/* What the file was made without, when it was made of another one. */
static void print_selected(const struct context *context, struct out *out)
{
	const char *at = context->selected;
	struct text_word line;

	while (at && text_next_word(&at, "\n", &line))
		out_f(out, "  made of another file, with %.*s\n", (int)line.len, line.at);
}

/* How the clock of a recorded machine stood to that of the machine from which it was recorded. */
static void print_pings(const struct trace *trace, size_t buffer, const struct span *span, struct out *out)
{
	char ahead[TEXT_HUMAN], half[TEXT_HUMAN], later[TEXT_HUMAN], count[TEXT_HUMAN], shortest[TEXT_HUMAN];
	uint64_t bound, bound_last;
	struct pings_piece piece;
	struct pings *pings;
	int64_t ns;
	size_t from = out_len(out);

	if (span->first > span->last || pings_of(trace, buffer, &pings, NULL) || !pings)
		return;
	ns = pings_ahead(pings, span->first, &bound);
	(void)!pings_ahead(pings, span->last, &bound_last);
	out_f(out, "  clock of %s: offset %s%s to within +-%s at first, +-%s at last; %s ping%s, the shortest %s\n",
	      pings_host(pings), ns < 0 ? "-" : "", text_time(ahead, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns),
	      text_time(half, bound), text_time(later, bound_last), text_count(count, pings_count(pings)),
	      text_plural(pings_count(pings)), text_time(shortest, pings_shortest(pings)));
	for (size_t i = 1; pings_piece(pings, i, &piece); i++)
		out_f(out, "  it jumped by %s%s before %s\n", piece.step_ns < 0 ? "+" : "-",
		      text_time(ahead, piece.step_ns < 0 ? 0 - (uint64_t)piece.step_ns : (uint64_t)piece.step_ns),
		      text_stamp(later, piece.first));
	terminal_seal(out, from);
	pings_free(pings);
}

static void print_buffer(struct reader *reader, struct trace *trace, size_t buffer, const struct cpu_count *cpus,
			 struct out *out)
{
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	const struct context *context = reader->buffers[0].context;
	const struct span span = span_of(of, cpus);

	print_span(of, context, cpus, reader->buffers[0].events, out);
	print_pings(trace, buffer, &span, out);
	print_worst(context, out);
	print_cleared(trace, buffer, of, out);
	print_selected(context, out);
	print_cpus(trace, buffer, context, cpus, NULL, out);
	if (reader_count(reader) && !print_types(reader->buffers[0].events, NULL, out))
		out->failed = true;
}

static void put_moment(struct json *json, const char *key, const struct context *context, bool known, uint64_t ts)
{
	json_key(json, key);
	if (!known)
		json_put_null(json);
	else if (context->unit == CLOCK_UNIT_NS)
		json_put_decimal_u64(json, ts, 9);
	else
		json_put_u64(json, ts);
}

/* The time of day of the first event, in seconds since 1970, and its error. */
static void put_day(struct json *json, const struct context *context, const struct span *span)
{
	uint64_t bound = 0;
	int64_t ns = 0;
	bool known = span->first <= span->last && wall_of(context->wall, span->first, &ns, &bound);

	json_key(json, "unix_time");
	if (known)
		json_put_decimal(json, ns, 9);
	else
		json_put_null(json);
	json_key(json, "unix_time_error_ns");
	if (known && bound != WALL_NO_BOUND)
		json_put_u64(json, bound);
	else
		json_put_null(json);
}

static void put_pings(struct json *json, const struct trace *trace, size_t buffer, const struct span *span)
{
	struct pings *pings = NULL;
	uint64_t bound = 0;
	bool known = span->first <= span->last && !pings_of(trace, buffer, &pings, NULL) && pings;
	int64_t ns = known ? pings_ahead(pings, span->first, &bound) : 0;

	answer_text(json, "host", known ? pings_host(pings) : NULL);
	json_key(json, "clock_offset_ns");
	if (known)
		json_put_s64(json, ns);
	else
		json_put_null(json);
	json_key(json, "clock_offset_error_ns");
	if (known)
		json_put_u64(json, bound);
	else
		json_put_null(json);
	pings_free(pings);
}

static void put_buffer(struct reader *reader, struct trace *trace, size_t buffer, const struct cpu_count *cpus,
		       struct json *json, struct out *out)
{
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	const struct context *context = reader->buffers[0].context;
	const struct span span = span_of(of, cpus);

	answer_number(json, "events", reader_count(reader));
	answer_number(json, "lost", span.lost);
	answer_bool(json, "lost_more", span.lost_some);
	answer_text(json, "clock", context->clock);
	put_moment(json, "first", context, span.first <= span.last, span.first);
	put_moment(json, "last", context, span.first <= span.last, span.last);
	put_day(json, context, &span);
	put_pings(json, trace, buffer, &span);
	answer_number(json, "cleared", times_cleared(trace, buffer, of));
	answer_text(json, "selected", context->selected);
	print_cpus(trace, buffer, context, cpus, json, out);
	if (!print_types(reader->buffers[0].events, json, out))
		out->failed = true;
}

/*
 * Prints the report of weft info about one buffer: its CPUs and, unless no_events is set, the time span, losses and
 * events of each type. Damage inside its pages is reported as a warning; what was counted before it is printed.
 */
static int info_buffer(struct trace *trace, size_t buffer, bool no_events, struct json *json, struct out *out,
		       bool *ret_damaged, struct fail *fail)
{
	const struct trace_buffer *of = trace_buffer(trace, buffer);
	cleanup_free struct cpu_count *cpus = NULL;
	const char *damage, *path;
	struct reader reader;
	size_t from;
	int r;

	if (json) {
		json_object(json);
		answer_text(json, "instance", of->name.text);
	} else {
		out_char(out, '\n');
		from = out_len(out);
		out_f(out, "%s%s\n", of->name.len ? "Instance " : "Top buffer", of->name.text);
		terminal_seal(out, from);
	}
	if (no_events) {
		print_cpus(trace, buffer, NULL, NULL, json, out);
		if (json)
			json_end(json);
		return 0;
	}
	reader_init(&reader);
	r = reader_add(&reader, trace, buffer, fail);
	if (!r)
		r = cpu_count_all(&reader, &cpus, fail);
	if (!r && json)
		put_buffer(&reader, trace, buffer, cpus, json, out);
	else if (!r)
		print_buffer(&reader, trace, buffer, cpus, out);
	damage = r ? NULL : reader_damage(&reader, &path);
	if (json) {
		answer_text(json, "damage", damage);
		json_end(json);
	}
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
	if (!is_perf(trace_info(trace)))
		print_sections(trace, NULL, out);
	for (size_t i = 0; !r && i < trace_buffers(trace); i++)
		r = info_buffer(trace, i, arguments->no_events, NULL, out, ret_damaged, fail);
	return r;
}

static void put_head(struct trace *trace, struct json *json)
{
	const struct trace_info *info = trace_info(trace);
	struct trace_text text;
	struct fail fail = FAIL_INIT;

	answer_text(json, "file", trace_path(trace));
	answer_number(json, "size_bytes", size_of(info));
	answer_number(json, "file_version", info->version);
	answer_text(json, "compression", info->codec);
	answer_text(json, "byte_order", info->big_endian ? "big" : "little");
	answer_number(json, "kernel_bits", info->long_size * 8);
	answer_number(json, "page_bytes", info->page_size);
	answer_number(json, "machine_cpus", info->cpu_count);
	answer_line(json, "kernel", trace_meta(trace, TRACE_UNAME, &text, &fail) ? NULL : text.text);
	answer_line(json, "recorded_by",
		    trace_meta(trace, TRACE_VERSION, &text, &fail) || !text.len ? NULL : text.text);
	answer_line(json, "mode", trace_setting(trace, 0, "weft/mode").text);
	answer_line(json, "tracer", trace_setting(trace, 0, "current_tracer").text);
	answer_number(json, "weight", weight(trace));
	answer_line(json, "ended_by", trace_setting(trace, 0, SETTING_ENDED).text);
}

static void put_settings(struct trace *trace, size_t only, struct json *json)
{
	struct trace_text text;
	const char *name;
	size_t buffer;

	json_key(json, "settings");
	json_object(json);
	for (size_t i = 0; trace_setting_at(trace, i, &buffer, &name, &text); i++)
		if (buffer == only) {
			json_key(json, name);
			json_put_bytes(json, text.text, text.len);
		}
	json_end(json);
}

static int put_all(struct trace *trace, const struct arguments *arguments, struct answer *answer, bool *ret_damaged,
		   struct fail *fail)
{
	struct json *json = &answer->json;
	int r = answer_begin(answer, fail);
	size_t only = 0;

	if (r)
		return r;
	put_head(trace, json);
	if (arguments->settings)
		r = find_buffer(trace, arguments->instance, &only, fail);
	if (!r && arguments->settings) {
		put_settings(trace, only, json);
	} else if (!r) {
		print_sections(trace, json, &answer->out);
		json_key(json, "buffers");
		json_array(json);
		for (size_t i = 0; !r && i < trace_buffers(trace); i++)
			r = info_buffer(trace, i, arguments->no_events, json, &answer->out, ret_damaged, fail);
		json_end(json);
	}
	if (r) {
		out_release(&answer->out);
		return r;
	}
	return answer_end(answer, fail);
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
								.list = true,
								.answer = &arguments.answer });
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
	if (arguments.answer.is_json)
		r = put_all(trace, &arguments, &arguments.answer, &damaged, &fail);
	else if (arguments.setting)
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

/* clang-format off */
static const struct json_member members[] = {
	{ "file", "string", "its name" },
	{ "dump?.format", "string", "with --dump, in place of all that follows: which kind of file it is" },
	{ "dump?.release", "string", "of the kernel that crashed" },
	{ "dump?.machine", "string", "x86_64" },
	{ "dump?.host", "string", "its name" },
	{ "dump?.symbols", "number", "how many it has" },
	{ "dump?.crashed_unix_time", "number|null", "in seconds since 1970" },
	{ "dump?.panic_cpu", "number|null", "the CPU that panicked" },
	{ "dump?.panic_pid", "number|null", "of the task that ran there" },
	{ "dump?.panic_comm", "string|null", "its name" },
	{ "dump?.buffers[].instance", "string", "its name; empty for the top buffer" },
	{ "dump?.buffers[].snapshot", "boolean", "it is the snapshot of that buffer" },
	{ "dump?.buffers[].cpus", "number", "how many it has" },
	{ "dump?.buffers[].pages_bytes", "number", "of its sub-buffers with events" },
	{ "dump?.buffers[].events", "number", "found" },
	{ "dump?.buffers[].counted", "number", "that the kernel counted" },
	{ "dump?.buffers[].overwritten", "number", "that the kernel counted" },
	{ "size_bytes?", "number", "of the file" },
	{ "file_version?", "number", "6 or 7" },
	{ "compression?", "string|null", "zstd, zlib or none" },
	{ "byte_order?", "string", "little or big" },
	{ "kernel_bits?", "number", "32 or 64" },
	{ "page_bytes?", "number", "of a sub-buffer" },
	{ "machine_cpus?", "number", "of the machine that recorded" },
	{ "kernel?", "string|null", "its name, release and machine" },
	{ "recorded_by?", "string|null", "program and version" },
	{ "mode?", "string|null", "record, extract, or how else the file was made" },
	{ "tracer?", "string|null", "current_tracer" },
	{ "weight?", "number", "how many recordings it stands for, by record --sample; 1 without that" },
	{ "ended_by?", "string|null", "the option of record whose budget was used up, and its value; CPU time in ns" },
	{ "settings?.*", "string", "with --settings, in place of all that follows: each saved setting" },
	{ "sections[]?.offset", "number", "in the file" },
	{ "sections[]?.size_bytes", "number", "in the file" },
	{ "sections[]?.uncompressed_bytes", "number|null", "null where it is not compressed" },
	{ "sections[]?.what", "string", "what it holds" },
	{ "buffers[]?.instance", "string", "its name; empty for the top buffer" },
	{ "buffers[]?.events?", "number", "how many; this and what has a time is missing with --no-events" },
	{ "buffers[]?.lost?", "number", "events that the kernel counted as lost" },
	{ "buffers[]?.lost_more?", "boolean", "more were lost, which nobody counted" },
	{ "buffers[]?.clock?", "string", "trace_clock" },
	{ "buffers[]?.first?", "number|null", "time of the first event" },
	{ "buffers[]?.last?", "number|null", "time of the last event" },
	{ "buffers[]?.unix_time?", "number|null", "time of day of the first event, in seconds since 1970" },
	{ "buffers[]?.unix_time_error_ns?", "number|null", "how far that may be off; null where nobody knows" },
	{ "buffers[]?.host?", "string|null", "the machine of record --on; null: it was recorded where it ran" },
	{ "buffers[]?.clock_offset_ns?", "number|null",
	  "how far CLOCK_MONOTONIC of the machine of record --on was ahead of the clock at the first event" },
	{ "buffers[]?.clock_offset_error_ns?", "number|null", "how far that may be off at most" },
	{ "buffers[]?.cleared?", "number", "how often somebody emptied the buffer meanwhile" },
	{ "buffers[]?.selected?", "string|null", "what was left out when the file was made from another one" },
	{ "buffers[]?.cpus[].cpu", "number", "its number" },
	{ "buffers[]?.cpus[].stored_bytes", "number", "in the file" },
	{ "buffers[]?.cpus[].pages_bytes", "number", "of its sub-buffers" },
	{ "buffers[]?.cpus[].events?", "number", "of this CPU" },
	{ "buffers[]?.cpus[].lost?", "number", "of this CPU" },
	{ "buffers[]?.cpus[].lost_more?", "number", "1: more were lost" },
	{ "buffers[]?.cpus[].first?", "number|null", "time of its first event" },
	{ "buffers[]?.cpus[].last?", "number|null", "time of its last event" },
	{ "buffers[]?.cpus[].overrun?", "number|null", "the kernel's own count, if the file has it" },
	{ "buffers[]?.cpus[].dropped?", "number|null", "the kernel's own count, if the file has it" },
	{ "buffers[]?.types[]?.events", "number", "how many of this type" },
	{ "buffers[]?.types[]?.type", "string", "system:event" },
	{ "buffers[]?.damage?", "string|null", "what is wrong in its pages" },
	{ 0 },
};
/* clang-format on */

const struct command info_command = {
	.name = "info",
	.summary = "show what is in a recording",
	.brief = "what is in it",
	.examples = "  weft info trace.dat\n  weft info --setting current_tracer trace.dat",
	.group = "read",
	.options = &command_options,
	.answer = members,
	.run = run,
};
