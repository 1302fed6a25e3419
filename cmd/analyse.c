// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"

#include "cmd/analyse_record.h"
#include "cmd/options/choice.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/terminal.h"
#include "lib/analysis/explained.h"
#include "lib/analysis/intervals.h"
#include "lib/analysis/run.h"
#include "lib/analysis/series.h"
#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/base/pool.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/reader/extent.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COURSE_SIZE = 1 << 20 };

enum { OPT_FORMAT = 256, OPT_SORT, OPT_TOP, OPT_SELF, OPT_EVERY };

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; '-' is standard input (default: trace.dat)", 91 },

	{ "self", OPT_SELF, NULL, 0, "Show weft's own tasks, too", 92 },

	{ "every", OPT_EVERY, "TIME", 0,
	  "Show how the figures of the column that orders the rows go on, in intervals of this length: 100ms, 1s. "
	  "weft-summary(1) says more",
	  93 },
	{ "format", OPT_FORMAT, "text|json|csv", 0, "Print for people (text, the default) or for programs", 93 },
	{ "sort", OPT_SORT, "COLUMN", 0, "Order rows by this column, the largest first", 93 },
	{ "top", OPT_TOP, "N", 0, "Show the first N rows (default: 25 as text, else all; 0: all)", 93 },
	{ 0 },
};

enum table_format analyse_format(const char *name, struct argp_state *state)
{
	static const char *const names[] = {
		[TABLE_AS_TEXT] = "text", [TABLE_AS_JSON] = "json", [TABLE_AS_CSV] = "csv"
	};

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(names[i], name))
			return (enum table_format)i;
	argp_error(state, "--format: unknown format '%s'; use text, json or csv", name);
	return TABLE_AS_TEXT;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct analyse *analyse = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &analyse->query;
		state->child_inputs[2] = &analyse->reading;
		return 0;
	case ARGP_KEY_ARG:
		/* Everything after "--" is the COMMAND and its own options. */
		if (state->quoted && state->next > state->quoted) {
			analyse->argv = &state->argv[state->next - 1];
			state->next = state->argc;
			return 0;
		}
		/* fallthrough */
	case 'i':
		option_once("file", &analyse->findings.input, arg, state);
		analyse->input = arg;
		return 0;
	case OPT_SELF:
		analyse->query.self = QUERY_SELF_IN;
		return 0;
	case OPT_FORMAT:
		analyse->findings.format = analyse_format(arg, state);
		return 0;
	case OPT_EVERY:
		analyse->every_ns = option_time("every", arg, state);
		return 0;
	case OPT_SORT:
		analyse->findings.sort = arg;
		return 0;
	case OPT_TOP:
		analyse->top_given = true;
		option_number("top", arg, &analyse->findings.top, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		if (analyse->every_ns && analyse->lines)
			argp_error(state, "--every shows tables, not a line for each event");
		if (analyse->argv && analyse->findings.input)
			argp_error(state, "either a file or a COMMAND: '%s' and '%s'", analyse->input,
				   analyse->argv[0]);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &choice_part_argp, 0, NULL, 92 },
	{ &choice_count_argp, 0, NULL, 92 },
	{ &reading_argp, 0, NULL, 94 },
	{ 0 },
};

const struct argp analyse_argp = { .options = options, .parser = parse, .children = children };
const struct argp_child analyse_children[] = { { &analyse_argp, 0, NULL, 0 }, { 0 } };

error_t analyse_only(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static int add_buffers(const struct analyse *analyse, struct trace *trace, struct reader *reader, struct fail *fail)
{
	const struct query_manner manner = {
		.prepare = decode_prepare, .arg = &analyse->decode, .times_only = true, .texts = true
	};
	int r = query_add(&analyse->query, &manner, trace, reader, fail);

	if (!r && !reader->nr_buffers)
		r = fail_set(fail, -ENODATA, "'%s' has no events", trace_path(trace));
	if (!r)
		r = query_tail(&analyse->query, reader, fail);
	reader_limit(reader, analyse->query.limit);
	return r;
}

int analyse_print(struct findings *findings, const struct findings_options *options, struct fail *fail)
{
	struct out out;
	int r = findings_arrange(findings, options, fail);

	if (r)
		return r;
	if (!out_init(&out, 1 << 16))
		return fail_memory(fail);
	r = findings_write(findings, options, &out) ? terminal_flush(&out, fail) : fail_memory(fail);
	out_release(&out);
	return r;
}

struct course {
	struct intervals intervals;
	struct series series;
	struct out out;
	bool any; /* some interval has a table with rows */
};

static int take_findings(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail)
{
	struct course *course = arg;

	int r;

	course->any |= findings->nr && findings->items[0].table.nr_items;
	r = series_take(&course->series, findings, span, fail);
	return r || out_len(&course->out) < COURSE_SIZE ? r : terminal_flush(&course->out, fail);
}

/* Prints how the figures go on. */
static int run_course(struct analyse *analyse, struct reader *reader, const struct analysis_ops *ops,
		      const void *ops_options, struct fail *fail)
{
	const struct pass_filter filter = analysis_filter(&analyse->query);
	struct course course = { .any = false };
	int r;

	course.intervals = (struct intervals){ .ops = ops,
					       .options = ops_options,
					       .every_ns = analyse->every_ns,
					       .found = take_findings,
					       .arg = &course };
	series_init(&course.series);
	course.series.every_ns = analyse->every_ns;
	course.series.print = analyse->findings;
	course.series.utf8 = terminal_utf8();
	course.series.into = &course.out;
	if (!out_init(&course.out, 1 << 16))
		return fail_memory(fail);
	r = intervals_run(&course.intervals, reader, &filter, fail);
	if (!r)
		r = terminal_flush(&course.out, fail);
	analyse->empty = !course.any;
	series_release(&course.series);
	intervals_release(&course.intervals);
	out_release(&course.out);
	return r;
}

static int print_findings(struct analyse *analyse, struct analysis_run *run, struct fail *fail)
{
	analyse->empty = run->findings.nr && !run->findings.items[0].table.nr_items;
	return analyse_print(&run->findings, &analyse->findings, fail);
}

static int run_pass(struct analyse *analyse, struct reader *reader, const struct analysis_ops *ops,
		    const void *ops_options, struct fail *fail)
{
	const struct pass_filter filter = analysis_filter(&analyse->query);
	struct analysis_run run = { .ops = ops, .options = ops_options };
	const struct analysis_lines lines = { terminal_flush };
	struct pass pass;
	int r = analyses_run(&pass, reader, &filter, &run, 1, analyse->lines ? &lines : NULL, NULL, fail);

	if (!r)
		r = print_findings(analyse, &run, fail);
	findings_release(&run.findings);
	pass_release(&pass);
	return r;
}

/* Adds to a message about something missing that it may have been in the damaged part. */
static int hint_damage(const struct reader *reader, struct trace *trace, int r, struct fail *fail)
{
	const char *path, *damage = reader_damage(reader, &path);
	char hint[sizeof(fail->text)];

	if (damage)
		snprintf(hint, sizeof(hint), "; '%s' is damaged: %s", path, damage);
	else if (trace_damage(trace))
		snprintf(hint, sizeof(hint), "; %s", trace_damage(trace));
	else
		return r;
	return fail_hint(fail, r, hint);
}

/* Plugins need not stand several threads. */
static int read_in_slices(const struct analyse *analyse, struct reader *reader, void *arg, struct fail *fail)
{
	return analyse->in_slices && !analyse->decode.wanted ? analyse->in_slices(arg, reader, fail) : -EAGAIN;
}

static int read_trace(const struct analyse *analyse, struct trace *trace, analyse_work *work, void *arg,
		      struct fail *fail)
{
	struct reader reader;
	struct pool *pool = NULL;
	int r;

	reader_init(&reader);
	r = add_buffers(analyse, trace, &reader, fail);
	if (!r)
		r = decode_seal(&analyse->decode, trace, analyse->reading.no_sandbox, fail);
	if (!r)
		r = read_in_slices(analyse, &reader, arg, fail);
	if (r == -EAGAIN) {
		r = reading_start(&reader, trace, analyse->in_batches, &pool, fail);
		if (!r)
			r = work(arg, &reader, fail);
	}
	if (!r)
		r = decode_check_all(&reader, fail);
	if (r == -ENODATA || r == -ENOENT)
		r = hint_damage(&reader, trace, r, fail);
	decode_end(&reader);
	reader_release(&reader);
	pool_free(pool);
	return r;
}

/* Reads the opened trace and frees it. */
static int read_opened(const struct analyse *analyse, struct trace *trace, analyse_work *work, void *arg,
		       struct fail *fail)
{
	int r;

	r = read_trace(analyse, trace, work, arg, fail);
	if (!r && trace_damage(trace))
		r = fail_set(fail, -EBADMSG, "%s", trace_damage(trace));
	if ((!r && analyse->empty) || r == -ENODATA)
		choice_tell_empty(trace, &analyse->query, true);
	trace_free(trace);
	return r;
}

int analyse_read(const struct analyse *analyse, analyse_work *work, void *arg, struct fail *fail)
{
	struct trace *trace = NULL;
	struct reading reading = analyse->reading;
	int r;

	reading.opens_more = analyse->decode.wanted;
	r = reading_open(analyse->input, &reading, &trace, fail);
	return r ? r : read_opened(analyse, trace, work, arg, fail);
}

struct passing {
	struct analyse *analyse;
	const struct analysis_ops *ops;
	const void *options;
};

/* Prints the answer from what could be read, and reports the damage after it. */
static int pass_work(void *arg, struct reader *reader, struct fail *fail)
{
	const struct passing *passing = arg;
	struct analyse *analyse = passing->analyse;
	const char *damage, *path;
	int r = analyse->every_ns ? run_course(analyse, reader, passing->ops, passing->options, fail) :
				    run_pass(analyse, reader, passing->ops, passing->options, fail);

	/* Some analyses have rows even without events. */
	analyse->empty |= !reader_count(reader);
	damage = reader_damage(reader, &path);
	if (!r && damage)
		r = fail_set(fail, -EBADMSG, "'%s' is damaged: %s", path, damage);
	return r;
}

static int pass_slices(void *arg, struct reader *reader, struct fail *fail)
{
	const struct passing *passing = arg;
	const struct pass_filter filter = analysis_filter(&passing->analyse->query);
	struct analysis_run run = { .ops = passing->ops, .options = passing->options };
	struct pass pass;
	int r;

	if (!passing->ops->shares || passing->analyse->every_ns || passing->analyse->lines)
		return -EAGAIN;
	r = analysis_share(&pass, reader, &filter, &run, reading_share, fail);
	if (!r)
		r = print_findings(passing->analyse, &run, fail);
	findings_release(&run.findings);
	pass_release(&pass);
	return r;
}

static int hint_time(const struct analyse_recorded *recorded, int r, struct fail *fail)
{
	char time[TEXT_HUMAN], hint[2 * TEXT_HUMAN];

	snprintf(hint, sizeof(hint), " in the %s of the command", text_time(time, recorded->time_ns));
	return fail_hint(fail, r, hint);
}

/*
 * A recording made for this answer is removed and a pipe can be read only once, so the commands to paste cannot name
 * it.
 */
static int name_input(struct analyse *analyse, struct buf *into, struct fail *fail)
{
	analyse->findings.input = NULL;
	if (analyse->argv || !strcmp(analyse->input, "-"))
		return 0;
	analyse->findings.input = paste_recording(into, analyse->query.instance, analyse->input);
	return analyse->findings.input ? 0 : fail_memory(fail);
}

int analyse_run(struct analyse *analyse, const struct analysis_ops *ops, const void *ops_options)
{
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	struct analyse_recorded recorded = { .status = EXIT_OK };
	cleanup_buf struct buf pasted = BUF_INIT;
	int r, status;

	r = name_input(analyse, &pasted, &fail);
	analyse->in_batches = !analyse->every_ns;
	analyse->in_slices = pass_slices;
	analyse->findings.width = terminal_width();
	if (!analyse->findings.top)
		analyse->findings.top = UINT64_MAX;
	else if (!analyse->top_given && analyse->findings.format == TABLE_AS_TEXT)
		analyse->findings.top = analyse->top_as_text ? analyse->top_as_text : analysis_rows_as_text(ops);
	if (!r && !analyse->argv) {
		reading_tell_left_behind(analyse->input);
		r = reading_open(analyse->input, &analyse->reading, &trace, &fail);
	} else if (!r) {
		r = analyse_record(&(struct analyse_command){ analyse->argv, analyse->only_command, &analyse->reading },
				   ops, &trace, &recorded, &fail);
	}
	if (!r)
		r = read_opened(analyse, trace, pass_work, &(struct passing){ analyse, ops, ops_options }, &fail);
	if (r == -ENODATA && recorded.time_ns)
		r = hint_time(&recorded, r, &fail);
	query_release(&analyse->query);
	if (r >= 0)
		return recorded.status;
	status = command_failed(&fail);
	return recorded.status ? recorded.status : status;
}

int analyse_only_run(const struct command *command, const struct analysis_ops *ops, int argc, char **argv)
{
	struct analyse analyse = ANALYSE_INIT;

	command_parse(command, argc, argv, 0, &analyse);
	return analyse_run(&analyse, ops, NULL);
}

int analyse_trigger(const char *input, struct explained *explained, enum table_format format)
{
	const struct findings_options options = { .format = format, .top = UINT64_MAX, .width = terminal_width() };
	const struct reading reading = { .no_sandbox = false };
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	struct findings findings;
	int r = reading_open(input, &reading, &trace, &fail);

	findings_init(&findings);
	if (!r && (r = explained_find(explained, trace, &findings, &fail)))
		fail_in(&fail, r, "'%s'", input);
	if (!r && !explained->brief) {
		r = analyse_print(&findings, &options, &fail);
	} else if (!r && explained->line.len) {
		printf("%s\n", buf_str(&explained->line));
		r = command_flush(&fail);
	}
	if (!r && trace_damage(trace))
		r = fail_set(&fail, -EBADMSG, "%s", trace_damage(trace));
	findings_release(&findings);
	explained_release(explained);
	trace_free(trace);
	return r ? command_failed(&fail) : EXIT_OK;
}
