// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/info_buffer.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/pager.h"
#include "cmd/terminal/terminal.h"
#include "lib/base/cleanup.h"
#include "lib/base/out.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/trace/trace.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* weft info: tells what a file contains. */
enum { OPT_NO_EVENTS = 256, OPT_SETTINGS, OPT_SETTING };

struct arguments {
	const char *input;
	const char *setting;
	const char *instance;
	bool settings, no_events;
	struct reading reading;
};

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Look into FILE (default: trace.dat); - is standard input", 1 },
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
