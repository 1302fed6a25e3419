// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/choice.h"
#include "cmd/options/formats.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/report_print.h"
#include "cmd/terminal/color.h"
#include "cmd/terminal/pager.h"
#include "cmd/terminal/progress.h"
#include "cmd/terminal/terminal.h"
#include "formats/sink.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/pool.h"
#include "lib/meaning/clock/face.h"
#include "lib/pages/trace/trace.h"

enum { THREADS_MAX = 64 };

enum { OPT_TS_OFFSET = 256 };

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; '-' is standard input (default: trace.dat)", 1,
	  OPTION_TEXT(struct report_options, input) },

	{ NULL, 'F', "FILTER", 0, "The same as -f; trace-cmd's letter", 2,
	  OPTION_CALL(struct report_options, query, choice_take_filter) },
	{ "self", 0, NULL, 0, "Print weft's own tasks too, where the format leaves them out (pretty)", 2,
	  OPTION_VALUE(struct report_options, query.self, QUERY_SELF_IN) },

	{ "format", 0, "FORMAT", 0, "Print as FORMAT (default: ftrace, the kernel's own text)", 3,
	  OPTION_CALL(struct report_options, format, format_take) },
	{ "color", 0, COLOR_VALUES, 0, COLOR_HELP, 3, OPTION_CALL(struct report_options, sink.color, color_take) },
	{ "nanoseconds", 't', NULL, 0, "Print time stamps with nine digits", 3,
	  OPTION_FLAG(struct report_options, sink.nanoseconds) },
	{ "time", 0, CHOICE_FACES, 0,
	  "Print times as the trace clock has them (trace, the default), as times of day of this machine's zone (wall) "
	  "or of UTC (utc), or from the first event of the file (relative)",
	  3, OPTION_CALL(struct report_options, face, choice_take_face) },
	{ "ts-diff", 0, NULL, 0,
	  "Print after each time stamp the difference from the previous line: (+us), with -t (+ns)", 3,
	  OPTION_FLAG(struct report_options, sink.differences) },
	{ "ts-offset", OPT_TS_OFFSET, "NS", 0,
	  "Add NS to all times, in units of the trace clock (nanoseconds for most clocks); may be negative", 3,
	  OPTION_BY_KEY },
	{ "raw", 'R', NULL, 0, "Print each field as field=value instead of the event's text", 3,
	  OPTION_FLAG(struct report_options, sink.raw) },
	{ "raw-event", 'r', "EVENT", 0, "Like --raw, for these events only; several with commas, repeatable", 3,
	  OPTION_WORDS(struct report_options, raw_events) },
	{ "option", 'O', "OPTION", 0, "Print as if this trace option were set, or cleared by noOPTION; repeatable", 3,
	  OPTION_WORDS(struct report_options, options) },
	{ "latency-format", 'l', NULL, 0, "Print as if the trace option latency-format were set", 3, OPTION_BY_KEY },
	{ "traceevent-plugins", 0, "DIR", OPTION_ARG_OPTIONAL,
	  "Add the texts of your plugins of libtraceevent, from DIR (default: ~/.local/lib/traceevent/plugins)", 3,
	  OPTION_TEXT(struct report_options, user_plugins.dir),
	  OPTION_GIVEN(struct report_options, user_plugins.wanted) },
	{ "stored", 0, "NAME", 0,
	  "Print a text saved in the recording instead of its events: hist, stack, stat or the name of a tracefs file",
	  3, OPTION_TEXT(struct report_options, stored) },

	{ "quiet", 'q', NULL, 0, "Show no progress", 4, OPTION_FLAG(struct report_options, quiet) },
	{ "threads", 0, "N", 0, "Use N threads (default: one for each CPU that it may use, at most 32)", 4,
	  OPTION_RANGE(struct report_options, threads, 1, THREADS_MAX) },
	{ 0 },
};

static void check(const struct report_options *report, struct argp_state *state)
{
	if (report->sink.differences && !report->format->columns)
		argp_error(
			state,
			"--ts-diff works only with the kernel's text, not with '%s'; --format pretty always prints the "
			"time since the previous line",
			report->format->name);
	if (report->user_plugins.wanted && !report->format->columns && strcmp(report->format->name, "trace-cmd"))
		argp_error(state,
			   "--traceevent-plugins works only with the kernel's text and trace-cmd's, not with '%s'",
			   report->format->name);
	if (report->face != FACE_TRACE && !strcmp(report->format->name, "trace-cmd"))
		argp_error(state, "--time works not with '%s', whose times are those of trace-cmd",
			   report->format->name);
	if (report->raw_events.len && !report->format->columns)
		argp_error(state, "-r works only with the kernel's text, not with '%s'", report->format->name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_options *report = state->input;

	switch (key) {
	case OPT_TS_OFFSET:
		report->ts_offset = option_signed("ts-offset", arg, state);
		return 0;
	case 'l':
		option_add_word(&report->options, "latency-format", state);
		return 0;
	case ARGP_KEY_ARG:
		option_once("file", &report->input, choice_take_file(&report->query, arg, state), state);
		return 0;
	case ARGP_KEY_END:
		check(report, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &choice_options, offsetof(struct report_options, query), 2, NULL },
	{ &decode_options, offsetof(struct report_options, decode), 3, NULL },
	{ &reading_options, offsetof(struct report_options, reading), 4, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.args_doc = "[FILE]",
	.doc = "Prints a recorded trace as the kernel's own trace file did."
	       "\vA file that is damaged is printed as far as it can be read; the exit status is then 1.",
	.children = children,
};

static void tell_empty(const struct report_options *report, struct trace *trace)
{
	if (!*report->printed && report->query.limit && report->query.tail)
		choice_tell_empty(trace, &report->query, false);
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool ends(const char *name, const char *with)
{
	size_t len = strlen(name), tail = strlen(with);

	return len >= tail && !strcmp(name + len - tail, with);
}

/* Returns whether `name` is the setting that the user means by `asked`. */
static bool is_meant(const char *asked, const char *name)
{
	if (!strcmp(asked, "hist"))
		return begins(name, "events/") && ends(name, "/hist");
	if (!strcmp(asked, "stack"))
		return !strcmp(name, "stack_trace");
	if (!strcmp(asked, "stat"))
		return begins(name, "trace_stat/");
	return !strcmp(asked, name);
}

static int nothing(struct trace *trace, const char *asked, struct fail *fail)
{
	struct near near = near_to(asked);
	struct trace_text text;
	const char *name;
	size_t buffer;

	for (size_t i = 0; trace_setting_at(trace, i, &buffer, &name, &text); i++)
		near_offer(&near, name);
	return near_fail(&near, fail, -ENOENT,
			 "'%s' contains no saved text '%s'; 'weft info --settings' lists those it contains",
			 trace_path(trace), asked);
}

/*
 * Prints the stored texts of this name to standard output, byte for byte as the kernel wrote them, in the order of the
 * file: "hist", "stack", "stat", or the name of a file, "events/sched/sched_switch/hist". `instance` NULL: of every
 * buffer. The message of -ENOENT lists the stored texts.
 */
static int print_stored(struct trace *trace, const char *instance, const char *asked, struct fail *fail)
{
	struct trace_text text;
	bool found = false;
	const char *name;
	size_t buffer;
	int err = 0;

	for (size_t i = 0; !err && trace_setting_at(trace, i, &buffer, &name, &text); i++) {
		if (!is_meant(asked, name))
			continue;
		if (instance &&
		    (buffer >= trace_buffers(trace) || strcmp(trace_buffer(trace, buffer)->name.text, instance)))
			continue;
		found = true;
		err = command_write(text.text, text.len, fail);
	}
	if (!found)
		return nothing(trace, asked, fail);
	return err ? err : command_flush(fail);
}

static int report_run(int argc, char **argv)
{
	uint64_t printed = 0;
	struct report_options report = { .query = QUERY_INIT, .format = sink_at(0), .printed = &printed };
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	int r;

	report.sink.color = color_auto();
	command_parse(&report_command, argc, argv, 0, &report);
	if (!report.input)
		report.input = "trace.dat";
	reading_tell_left_behind(report.input);
	if (!report.quiet)
		progress_prepare("report", true);
	report.sink.width = terminal_width();
	pager_start();
	report.reading.opens_more = report.decode.wanted;
	r = report.user_plugins.wanted ? user_plugins_start(&report.user_plugins, true, &fail) : 0;
	if (!r)
		r = reading_open(report.input, &report.reading, &trace, &fail);
	if (r < 0) {
		user_plugins_end(&report.user_plugins);
		query_release(&report.query);
		return command_failed(&fail);
	}
	trace_shift_times(trace, report.ts_offset);
	/* A reader that goes away, such as head, ends the report as it ends any other filter. */
	r = report.stored ? print_stored(trace, report.query.instance, report.stored, &fail) :
			    report_print(&report, trace, &fail);
	if (!r && trace_damage(trace))
		r = fail_set(&fail, -EBADMSG, "%s", trace_damage(trace));
	if (!r && !report.stored)
		tell_empty(&report, trace);
	user_plugins_end(&report.user_plugins);
	trace_free(trace);
	query_release(&report.query);
	return r < 0 ? command_failed(&fail) : EXIT_OK;
}

const struct command report_command = {
	.name = "report",
	.summary = "print a recorded trace as the kernel would",
	.brief = "kernel's text",
	.examples = "  weft report | less\n"
		    "  weft report -e sched_switch --since 1204.5 --until 1204.7",
	.group = "read",
	.options = &command_options,
	.run = report_run,
};
