// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/elsewhere.h"
#include "cmd/options/choice.h"
#include "cmd/options/decode.h"
#include "cmd/options/formats.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_for.h"
#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "cmd/setup_run.h"
#include "cmd/terminal/color.h"
#include "cmd/terminal/progress.h"
#include "cmd/terminal/terminal.h"
#include "formats/painted.h"
#include "formats/sink.h"
#include "lib/answers/frame/analysis.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/live/lanes.h"
#include "lib/kernel/live/live.h"
#include "lib/kernel/live/tables.h"
#include "lib/kernel/record/workload.h"
#include "lib/kernel/undo/undo.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"

enum { LATENCY_NS = 100000000, LATENCY_MIN_NS = 3000000 };

enum { EVERY_NS = NS_PER_S, ROWS = 10 };

struct stream_options {
	struct live_options live; /* print_stream() sets where the text goes */
	const struct sink_ops *format;
	struct sink_options sink;
	enum face_kind face;
	struct decode decode;
	bool pages;                 /* write these instead of lines */
	bool has_self, self;        /* self: print weft's own events; has_self: was given, else the format decides */
	struct live_tables *tables; /* prints these instead of lines; borrowed; NULL: prints lines */
};

struct arguments {
	struct setup_arguments setup;
	struct stream_options options;
	struct live_tables tables;
	bool quiet, fail_on_lost, top_given;
	bool for_tables; /* --summary without a name: of what --for names */
	struct elsewhere_arguments elsewhere;
};

static void take_latency(const struct option_row *row, void *member, char *arg, struct argp_state *state)
{
	uint64_t *ns = member;

	*ns = option_time(row->name, arg, state);
	if (*ns < LATENCY_MIN_NS)
		setup_usage(state, "--latency: the shortest is 3ms");
}

static void take_summary(const struct option_row *row, void *input, char *arg, struct argp_state *state)
{
	struct arguments *arguments = input;
	struct live_tables *tables = &arguments->tables;
	struct setup *setup = arguments->setup.setup;

	(void)row;
	/* Another option follows, or nothing. */
	if (*arg == '-')
		state->next--;
	if (*arg == '-' || !*arg) {
		arguments->for_tables = true;
		return;
	}
	if (tables->ops)
		setup_usage(state, "one --summary at a time: '%s' and '%s'", tables->ops->name, arg);
	setup_for(&setup->instances[setup->nr_instances - 1], "--summary", arg, state);
	tables->ops = setup_for_intervals(arg, state);
}

static const struct option_row table[] = {
	{ .doc = "Output:", .group = SETUP_OWN_GROUP },
	{ "format", 0, "FORMAT", 0, "Print as FORMAT (default: ftrace, the kernel's own text)", SETUP_OWN_GROUP,
	  OPTION_CALL(struct arguments, options.format, format_take) },
	{ "summary", 0, SETUP_FOR, 0,
	  "Print, instead of events, the tables of 'weft NAME', for each interval and at the end for the whole time; "
	  "trace what --for NAME does; without NAME: of --for",
	  SETUP_OWN_GROUP, OPTION_TAKE(take_summary), .may_lack = true },
	{ "every", 0, "TIME", 0, "The interval of --summary (default 1s), by the times of the events", SETUP_OWN_GROUP,
	  OPTION_TIME(struct arguments, tables.every_ns) },
	{ "top", 0, "N", 0, "Show the first N rows of each table of --summary (default: 10 as text, else all; 0: all)",
	  SETUP_OWN_GROUP, OPTION_RANGE(struct arguments, tables.print.top, 0, UINT64_MAX),
	  OPTION_GIVEN(struct arguments, top_given) },
	{ "pages", 0, NULL, 0,
	  "Write, instead of text, the kernel's pages and what describes them, for weft_live_open_fd() of libweft",
	  SETUP_OWN_GROUP, OPTION_FLAG(struct arguments, options.pages) },
	{ "color", 0, COLOR_VALUES, 0, COLOR_HELP, SETUP_OWN_GROUP,
	  OPTION_CALL(struct arguments, options.sink.color, color_take) },
	{ "time", 0, CHOICE_LIVE_FACES, 0,
	  "Print times as the trace clock has them (trace, the default), or as times of day of this machine's zone "
	  "(wall) or of UTC (utc)",
	  SETUP_OWN_GROUP, OPTION_CALL(struct arguments, options.face, choice_take_live_face) },
	{ "nanoseconds", 't', NULL, 0, "Print time stamps with nine digits", SETUP_OWN_GROUP,
	  OPTION_FLAG(struct arguments, options.sink.nanoseconds) },
	{ "raw", 0, NULL, 0, "Print each field as field=value instead of the event's text", SETUP_OWN_GROUP,
	  OPTION_FLAG(struct arguments, options.sink.raw) },
	{ "no-self", 0, NULL, 0, "Leave out weft's own tasks, but keep interrupts that ran on top of them",
	  SETUP_OWN_GROUP, OPTION_VALUE(struct arguments, options.self, false),
	  OPTION_GIVEN(struct arguments, options.has_self) },
	{ "self", 0, NULL, 0, "Print weft's own tasks too, where the format leaves them out (pretty)", SETUP_OWN_GROUP,
	  OPTION_VALUE(struct arguments, options.self, true), OPTION_GIVEN(struct arguments, options.has_self) },
	{ "latency", 0, "TIME", 0, "Print an event at most TIME after it happened (default 100ms)", SETUP_OWN_GROUP,
	  OPTION_CALL(struct arguments, options.live.latency_ns, take_latency) },
	{ "limit", 0, "N", 0, "End after N events", SETUP_OWN_GROUP,
	  OPTION_RANGE(struct arguments, options.live.limit, 1, UINT64_MAX) },
	{ "duration", 0, "TIME", 0, "End after TIME: 500ms, 10s, 2m; a bare number counts seconds", SETUP_OWN_GROUP,
	  OPTION_TIME(struct arguments, options.live.tap.duration_ns) },
	{ "no-filter", 0, NULL, 0, "No effect: weft itself is traced in any case", SETUP_OWN_GROUP, OPTION_NOTHING },
	{ "fail-on-lost", 0, NULL, 0, "Exit with status 123 when events were lost, or may have been", SETUP_OWN_GROUP,
	  OPTION_FLAG(struct arguments, fail_on_lost) },
	{ "quiet", 'q', NULL, 0, "Print no summary", SETUP_OWN_GROUP, OPTION_FLAG(struct arguments, quiet) },
	{ 0 },
};

static void check_tables(struct arguments *arguments, struct argp_state *state)
{
	struct stream_options *options = &arguments->options;
	struct live_tables *tables = &arguments->tables;

	if (arguments->for_tables && !tables->ops && !arguments->setup.analysis)
		setup_usage(state, "--summary: the tables of which analysis? Such as --summary syscalls");
	if (arguments->for_tables && !tables->ops)
		tables->ops = setup_for_intervals(arguments->setup.analysis, state);
	if (!tables->ops && (tables->every_ns || arguments->top_given))
		setup_usage(state, "--every and --top need --summary");
	if (!tables->ops)
		return;
	if (options->sink.raw || options->decode.wanted || options->has_self)
		setup_usage(
			state,
			"--summary cannot be combined with --raw, --decode, --self and --no-self: it prints tables");
	if (options->format != sink_at(0) && strcmp(options->format->name, "json"))
		setup_usage(state, "--summary prints tables as text or JSON, not with --format %s",
			    options->format->name);
	options->tables = tables;
	tables->every_ns = tables->every_ns ? tables->every_ns : EVERY_NS;
	tables->print.format = options->format == sink_at(0) ? TABLE_AS_TEXT : TABLE_AS_JSON;
	if (!arguments->top_given)
		tables->print.top = tables->print.format == TABLE_AS_TEXT ? ROWS : UINT64_MAX;
	else if (!tables->print.top)
		tables->print.top = UINT64_MAX;
	tables->print.width = terminal_width();
	tables->print.for_columns = "--format json";
	tables->redraws = tables->print.format == TABLE_AS_TEXT && terminal_escapes() && options->sink.color;
}

static void check_pages(struct arguments *arguments, struct argp_state *state)
{
	struct stream_options *options = &arguments->options;

	if (!options->pages)
		return;
	if (options->tables || options->format != sink_at(0) || options->sink.raw || options->decode.wanted ||
	    options->has_self || options->face != FACE_TRACE || options->live.limit != UINT64_MAX)
		setup_usage(state, "--pages writes no text: leave out the options for the output");
	if (isatty(STDOUT_FILENO))
		setup_usage(state, "--pages writes no text: standard output is a terminal");
	options->live.relays = true;
	options->live.tap.time_of_day = true;
}

static void check(struct arguments *arguments, struct argp_state *state)
{
	struct tap_options *tap = &arguments->options.live.tap;

	tap->time_of_day = arguments->options.face != FACE_TRACE;
	tap->user = arguments->setup.user;
	tap->path = getenv("PATH");
	check_tables(arguments, state);
	check_pages(arguments, state);
	if (tap->time_of_day && !strcmp(arguments->options.format->name, "trace-cmd"))
		setup_usage(state, "--time works not with 'trace-cmd', whose times are those of trace-cmd");
	setup_check_command(&arguments->setup, tap->argv, state);
	if (arguments->setup.elsewhere && !arguments->elsewhere.host)
		setup_usage(state, "put -- before the COMMAND, so that its --on is not taken for weft's");
	if (arguments->elsewhere.host && arguments->setup.dry_run)
		setup_usage(state, "--on cannot be used with --dry-run");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		arguments->setup.setup->cmdlines = SETUP_CMDLINES;
		arguments->setup.elsewhere = elsewhere_is_named(state->argc, state->argv);
		return 0;
	case ARGP_KEY_ARG:
		/* The rest is the COMMAND and its own options. */
		arguments->options.live.tap.argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &setup_options, offsetof(struct arguments, setup), SETUP_GROUP, NULL },
	{ &setup_command_options, offsetof(struct arguments, setup), SETUP_COMMAND_GROUP, NULL },
	{ &decode_options, offsetof(struct arguments, options.decode), SETUP_OWN_GROUP, NULL },
	{ &elsewhere_one_options, offsetof(struct arguments, elsewhere), SETUP_OWN_GROUP + 1, "Other machines:" },
	{ 0 },
};

static const struct options command_options = {
	.children = children,
	.rows = table,
	.parser = parse,
	.args_doc = "[--] [COMMAND...]",
	.doc = "Print what the kernel does while it happens, until COMMAND ends, or Ctrl-C.\v"
	       "The exit status is that of COMMAND; 126 or 127 when it cannot be run, 125 when streaming failed, "
	       "123 with --fail-on-lost when events were lost, or somebody cleared the buffer. "
	       "The standard output of COMMAND goes to standard error.",
};

struct printing {
	const struct stream_options *options;
	struct live *live;
	struct reader *reader; /* of the stream */
	struct lanes lanes;
	struct sink_times times;
	struct face face;
	char **prefixes; /* one for each lane; NULL: none */
	struct out scratch;
};

static int open_sink(struct printing *printing, size_t index, struct fail *fail)
{
	const struct stream_options *options = printing->options;
	struct context *context = printing->reader->buffers[index].context;
	struct sink_options sink = options->sink;
	int err = 0;

	if (!(options->has_self ? options->self : !options->format->leaves_out_self))
		err = live_leave_out_self(printing->live, index, &sink.left_out, fail);
	if (!err)
		err = decode_open(&options->decode, context, fail);
	sink.goes_on = true;
	sink.times = &printing->times;
	if (options->face != FACE_TRACE)
		sink.face = &printing->face;
	sink.one_line = format_is_one_line(&sink);
	return err ? err : painted_new(options->format, context, &sink, &printing->lanes.at[index].sink, fail);
}

static int open_sinks(struct printing *printing, struct fail *fail)
{
	size_t nr = printing->reader->nr_buffers;
	int err = 0;

	if (!printing->options->tables && !printing->options->pages) {
		printing->lanes.at = calloc(nr, sizeof(*printing->lanes.at));
		if (!printing->lanes.at)
			return fail_memory(fail);
		printing->lanes.nr = nr;
	}
	for (size_t i = 0; !err && i < printing->lanes.nr; i++)
		err = open_sink(printing, i, fail);
	return err;
}

static int set_prefixes(struct printing *printing, struct fail *fail)
{
	printing->prefixes = format_prefixes(printing->reader, &printing->options->sink);
	if (!printing->prefixes || !out_init(&printing->scratch, 0))
		return fail_memory(fail);
	for (size_t i = 0; i < printing->lanes.nr; i++)
		printing->lanes.at[i].prefix = printing->prefixes[i];
	printing->lanes.scratch = &printing->scratch;
	return 0;
}

static int set_face(struct printing *printing, struct fail *fail)
{
	if (printing->options->face == FACE_TRACE)
		return 0;
	if (printing->options->tables)
		printing->options->tables->print.face = &printing->face;
	return live_face(printing->reader, printing->options->face, &printing->face, fail);
}

static int print(struct printing *printing, struct fail *fail)
{
	const struct stream_options *options = printing->options;
	struct flow_consumer consumer;
	int err = set_face(printing, fail);

	if (!err)
		err = open_sinks(printing, fail);

	if (!err)
		err = live_start(printing->live, fail);
	if (!err && printing->lanes.nr > 1 && !options->format->tells_instance)
		err = set_prefixes(printing, fail);
	if (!err && options->tables)
		err = live_tables_begin(options->tables, printing->reader, live_out(printing->live), fail);
	if (err)
		return err;
	printing->lanes.reader = printing->reader;
	printing->lanes.out = live_out(printing->live);
	consumer = options->pages  ? live_no_text(printing->live) :
		   options->tables ? live_tables_consumer(options->tables) :
				     lanes_consumer(&printing->lanes);
	err = live_run(printing->live, &consumer, fail);
	return err ? err : decode_check_all(printing->reader, fail);
}

static void release(struct printing *printing)
{
	struct reader *reader = printing->reader;
	struct fields_told told = { .types = NULL };

	for (size_t i = 0; i < printing->lanes.nr; i++)
		if (printing->lanes.at[i].sink)
			printing->lanes.at[i].sink->ops->free(printing->lanes.at[i].sink);
	decode_end(reader);
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (reader->buffers[i].events)
			format_note_fields(&told, i, reader->buffers[i].events);
	for (size_t i = 0; i < reader->nr_buffers; i++)
		format_tell_fields(&told, i);
	fields_told_release(&told);
	if (printing->options->tables)
		live_tables_release(printing->options->tables);
	face_release(&printing->face);
	format_prefixes_free(printing->prefixes);
	free(printing->lanes.at);
	out_release(&printing->scratch);
}

/*
 * Prints a stream (lib/kernel/live/live.h) to standard output, as lines or tables. Returns 0, also when the reader
 * closed the output; or -errno. In any case all settings were restored, and `ret` is filled.
 */
static int print_stream(struct stream_options *options, struct live_result *ret, struct fail *fail)
{
	struct printing printing = { .options = options };
	struct fail later = FAIL_INIT;
	int err, closed;

	options->live.fd = STDOUT_FILENO;
	/* Tables that are redrawn contain escape sequences of weft's own, and escape everything else themselves. */
	options->live.escapes = options->pages  ? false :
				options->tables ? terminal_escapes() && !options->tables->redraws :
						  format_is_escaped(options->format, &options->sink);
	err = live_new(&options->live, ret, &printing.live, fail);
	if (err)
		return err;
	printing.reader = live_reader(printing.live);
	err = print(&printing, fail);
	release(&printing);
	closed = live_free(printing.live, &later);
	return fail_first(err, closed, fail, &later);
}

static void tell_left_behind(void)
{
	struct undo_pending pending;
	unsigned at = 0;

	if (undo_next_pending(NULL, &at, &pending, NULL) > 0)
		command_warn("note: a tracing session that was killed (process %d) left settings changed; "
			     "'weft recover' puts them back",
			     pending.pid);
}

/* `colon` stands between `name` and the rest. */
static void print_left(const char *name, const char *colon, const struct live_sum *sum)
{
	char left[TEXT_HUMAN];

	if (sum->left)
		command_warn("%s%s%s more were traced but not printed: the output was no longer read", name, colon,
			     text_count(left, sum->left));
}

static void tell_cleared(const char *name, const struct live_sum *sum)
{
	if (!sum->clears_itself)
		kernel_tell_cleared(name, sum->cleared);
	else if (sum->cleared)
		command_warn(
			"%s%sthe latency tracer itself emptied the buffer (%u time%s as far as noticed), as it does "
			"with each longer latency; the events it held then are not printed: 'weft record' keeps "
			"those of the longest latency",
			name, *name ? ": " : "", sum->cleared, sum->cleared == 1 ? "" : "s");
}

static void print_instance(const struct live_sum *sum)
{
	const char *name = sum->instance ? sum->instance : "the main instance";
	char events[TEXT_HUMAN], lost[TEXT_HUMAN];

	command_warn("%s: %s event%s, %s lost", name, text_count(events, sum->printed), text_plural(sum->printed),
		     text_count(lost, sum->lost));
	print_left(name, ": ", sum);
	tell_cleared(name, sum);
}

static void print_summary(const struct live_result *result)
{
	const struct live_sum *all = &result->all;
	char events[TEXT_HUMAN], time[TEXT_HUMAN], lost[TEXT_HUMAN];

	command_warn("%s event%s in %s, %s lost", text_count(events, all->printed), text_plural(all->printed),
		     text_time(time, result->tap.time_ns), text_count(lost, all->lost));
	if (result->nr_sums < 2) {
		print_left("", "", all);
		tell_cleared("", result->nr_sums ? &result->sums[0] : all);
	}
	for (size_t i = 0; result->nr_sums > 1 && i < result->nr_sums; i++)
		print_instance(&result->sums[i]);
	kernel_tell_missed(result->tap.missed_probes);
	if (all->lost)
		command_warn("a larger buffer (-b) or a faster reader may keep them");
}

/*
 * If the last word is --summary, an empty name is put behind it, because argp wants one; a COMMAND whose last word that
 * was gets its own words back. `words` has room for them.
 */
static void parse_words(int argc, char **argv, char **words, struct arguments *arguments)
{
	static char nothing[] = "";
	bool more = words && argc > 1 && !strcmp(argv[argc - 1], "--summary");
	char **command;

	if (more) {
		memcpy(words, argv, (size_t)argc * sizeof(*words));
		words[argc] = nothing;
	}
	command_parse(&stream_command, argc + more, more ? words : argv, ARGP_IN_ORDER, arguments);
	command = (char **)(uintptr_t)arguments->options.live.tap.argv;
	while (more && command && *command && (command[1] || **command))
		command++;
	if (more && command)
		*command = NULL;
}

static int stream(struct arguments *arguments)
{
	struct setup *setup = arguments->setup.setup;
	struct live_result result;
	struct fail fail = FAIL_INIT;
	int err, status = EXIT_OK;

	if (!arguments->quiet) {
		tell_left_behind();
		setup->step = progress_step;
	}
	err = print_stream(&arguments->options, &result, &fail);
	/* SIGPIPE: the user closed the output, so nothing more is reported. */
	if (result.tap.ran && !arguments->quiet && !result.gone) {
		print_summary(&result);
		kernel_tell_left_out(setup, result.tap.made_tasks);
		if (!result.all.printed && !result.all.left && !result.all.left_out)
			kernel_tell_unseen(setup);
	}
	if (err) {
		command_failed(&fail);
		status = result.tap.has_status && !result.tap.ran ? result.tap.status : EXIT_RECORD_FAILED;
	}
	/* The command may outlive the tracing. Its status is still weft's. */
	result.tap.has_status |= workload_wait(result.tap.command, &result.tap.status);
	if (!err && result.tap.has_status)
		status = result.tap.status;
	if (!err && arguments->fail_on_lost && (result.all.lost || result.all.cleared || result.tap.missed))
		status = EXIT_LOST;
	free(result.sums);
	free(result.tap.missed_probes);
	return status;
}

/* Starts a program that is named there: COMMAND, or with --plugin-dir what lies in DIR. */
static int refuse_far(const struct arguments *arguments, const struct far_side *far, struct fail *fail)
{
	if (arguments->options.decode.dir)
		return fail_set(fail, -EPERM, "no plugins of another place are used for another machine");
	if (arguments->options.live.tap.argv && !far->allow_command)
		return fail_set(fail, -EPERM, "no COMMAND is run here: weft serve was started without --allow-command");
	return 0;
}

static int act(struct arguments *arguments, const struct far_side *far)
{
	const struct tap_options *tap = &arguments->options.live.tap;
	struct fail fail = FAIL_INIT;

	if (far && refuse_far(arguments, far, &fail)) {
		command_failed(&fail);
		return EXIT_RECORD_FAILED;
	}
	if (!far && arguments->elsewhere.host)
		return elsewhere_command(&arguments->elsewhere, tap->argv);
	if (arguments->setup.dry_run)
		return setup_run_script(arguments->setup.setup, tap->argv, arguments->setup.user);
	return stream(arguments);
}

/* far: for another machine */
static int run_for(int argc, char **argv, const struct far_side *far)
{
	cleanup_free char **words = calloc((size_t)argc + 2, sizeof(*words));
	struct setup setup = { .nr_instances = 0 };
	struct arguments arguments = {
		.setup.setup = &setup,
		.options = { .live = { .tap.setup = &setup, .latency_ns = LATENCY_NS, .limit = UINT64_MAX },
			     .format = sink_at(0) },
	};
	int status;

	arguments.options.sink.color = color_auto();
	parse_words(argc, argv, words, &arguments);
	status = act(&arguments, far);
	elsewhere_release(&arguments.elsewhere);
	setup_release(&setup);
	return status;
}

static int run(int argc, char **argv)
{
	return run_for(argc, argv, NULL);
}

const struct command stream_command = {
	.name = "stream",
	.summary = "print what the kernel does while it happens",
	.brief = "print it live",
	.examples = "  weft stream -e sched:sched_process_exec\n"
		    "  weft stream -e syscalls -F -c -- ls\n"
		    "  weft stream --summary sched --every 2s",
	.group = "record",
	.options = &command_options,
	.run = run,
	.run_far = run_for,
};
