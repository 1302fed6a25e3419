// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/empty_answer.h"
#include "cmd/formats.h"
#include "cmd/reading.h"
#include "cmd/report_stored.h"
#include "cmd/stamp.h"

#include "formats/render.h"
#include "formats/sink.h"
#include "lib/base/cpus.h"
#include "lib/base/near.h"
#include "lib/base/pool.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/events.h"
#include "lib/event/latency_facts.h"
#include "lib/plugin/plugins.h"
#include "lib/query/selection.h"
#include "lib/query/tail.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 256, THREADS_MAX = 64, FEW_EVENTS = 1000 };

/* Words of an option that may be given several times. */
struct words {
	const char *at[WORDS_MAX];
	size_t len;
};

struct report_options {
	const char *input;
	const char *instance;           /* NULL: all */
	const struct sink_ops *format;
	struct sink_options sink;
	struct words events, comms, options;
	int32_t pids[WORDS_MAX];
	size_t nr_pids;
	struct cpus cpus;
	bool some_cpus;
	bool has_self, self;            /* whether what weft itself did is printed; left to the format */
	const char *since, *until;
	uint64_t limit, threads;
	uint64_t tail;                  /* UINT64_MAX: from the start */
	bool decode, no_sandbox, trust_size;
	const char *plugin_dir, *stored; /* stored: a text to print instead */
	uint64_t *printed;              /* events, of all buffers */
};

enum { OPT_CPU = 256, OPT_PID, OPT_COMM, OPT_SINCE, OPT_UNTIL, OPT_TAIL, OPT_FORMAT, OPT_DECODE, OPT_PLUGIN_DIR, OPT_THREADS, OPT_STORED, OPT_COLOR,
       OPT_SELF, OPT_NO_SELF, OPT_NO_SANDBOX, OPT_TRUST_SIZE };

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; '-' is standard input (default: trace.dat)", 1 },
	{ "instance", 'B', "NAME", 0, "Print only the buffer of this instance; '' is the top one", 1 },

	{ "event", 'e', "EVENT", 0, "Print only EVENT: system:event, system or event, with globs; several with commas, repeatable", 2 },
	{ "cpu", OPT_CPU, "CPULIST", 0, "Print only events of these CPUs, such as 0-3,7", 2 },
	{ "pid", OPT_PID, "PID", 0, "Print only events of these tasks; a list with commas, repeatable", 2 },
	{ "comm", OPT_COMM, "NAME", 0, "Print only events of tasks of this name, a glob; repeatable", 2 },
	{ "no-self", OPT_NO_SELF, NULL, 0, "Leave out what weft itself did while it recorded, but not interrupts that hit it", 2 },
	{ "self", OPT_SELF, NULL, 0, "Print that, too, where the format leaves it out (pretty)", 2 },
	{ "since", OPT_SINCE, "TIME", 0, "Begin at TIME, in seconds as the trace prints them", 2 },
	{ "until", OPT_UNTIL, "TIME", 0, "End at TIME, that one included", 2 },
	{ "limit", 'n', "N", 0, "End after N events", 2 },
	{ "tail", OPT_TAIL, "N", 0, "Print only the last N events", 2 },

	{ "format", OPT_FORMAT, "FORMAT", 0, "Print as FORMAT (default: ftrace, the kernel's own text)", 3 },
	{ "color", OPT_COLOR, "auto|always|never", 0, "Colour what has colours, --format pretty (auto, the default: on a terminal)", 3 },
	{ "nanoseconds", 't', NULL, 0, "Print time stamps with nine digits", 3 },
	{ "raw", 'R', NULL, 0, "Print each field as field=value instead of the event's text", 3 },
	{ "option", 'O', "OPTION", 0, "Print as with this trace option, or without it: noOPTION; repeatable", 3 },
	{ "decode", OPT_DECODE, NULL, 0, "Add behind an event what a plugin knows of it: names of system calls and errors", 3 },
	{ "plugin-dir", OPT_PLUGIN_DIR, "DIR", 0, "Take the plugins of --decode from DIR", 3 },
	{ "stored", OPT_STORED, "NAME", 0, "Print a text that the recording keeps instead: hist, stack, stat or a file's name", 3 },

	{ "threads", OPT_THREADS, "N", 0, "Use N threads (default: one for each CPU of this machine, at most 8)", 4 },
	{ "no-sandbox", OPT_NO_SANDBOX, NULL, 0, "Keep all rights while reading, for systems where giving them up fails", 4 },
	{ "trust-size", OPT_TRUST_SIZE, NULL, 0, "Read pages, too, that claim more bytes or memory than any recording", 4 },
	{ 0 },
};

static void add_word(struct words *words, const char *word, struct argp_state *state)
{
	if (words->len == WORDS_MAX)
		argp_error(state, "more than %d of one option", WORDS_MAX);
	words->at[words->len++] = word;
}

/* Values that are wrong in themselves are errors of usage. */
static void usage_failed(struct argp_state *state, const char *option, const struct fail *fail)
{
	argp_error(state, "--%s: %s", option, fail->text);
}

static void parse_pids(struct report_options *report, const char *arg, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	struct text_word word;

	while (text_next_word(&arg, ",", &word)) {
		char pid[32];
		uint64_t value = 0;

		snprintf(pid, sizeof(pid), "%.*s", (int)word.len, word.at);
		if (text_parse_range(pid, 0, INT32_MAX, &value, &fail) < 0)
			usage_failed(state, "pid", &fail);
		if (report->nr_pids == WORDS_MAX)
			argp_error(state, "more than %d pids", WORDS_MAX);
		report->pids[report->nr_pids++] = (int32_t)value;
	}
}

static bool wants_color(const char *when, struct argp_state *state)
{
	/* https://no-color.org, and terminals that know nothing. */
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (!strcmp(when, "auto"))
		return isatty(STDOUT_FILENO) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
	if (strcmp(when, "always") && strcmp(when, "never"))
		argp_error(state, "--color: there is no '%s'; there are auto, always and never", when);
	return !strcmp(when, "always");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct report_options *report = state->input;
	struct fail fail = FAIL_INIT;

	switch (key) {
	case 'i':
		report->input = arg;
		return 0;
	case 'B':
		report->instance = arg;
		return 0;
	case 'e':
		add_word(&report->events, arg, state);
		return 0;
	case OPT_CPU:
		report->some_cpus = true;
		if (cpus_parse(arg, &report->cpus, &fail) < 0)
			usage_failed(state, "cpu", &fail);
		return 0;
	case OPT_PID:
		parse_pids(report, arg, state);
		return 0;
	case OPT_COMM:
		add_word(&report->comms, arg, state);
		return 0;
	case OPT_NO_SELF:
	case OPT_SELF:
		report->has_self = true;
		report->self = key == OPT_SELF;
		return 0;
	case OPT_SINCE:
		report->since = arg;
		return 0;
	case OPT_UNTIL:
		report->until = arg;
		return 0;
	case 'n':
		if (text_parse_u64(arg, &report->limit, &fail) < 0)
			usage_failed(state, "limit", &fail);
		return 0;
	case OPT_TAIL:
		if (text_parse_u64(arg, &report->tail, &fail) < 0)
			usage_failed(state, "tail", &fail);
		return 0;
	case OPT_FORMAT:
		report->format = format_named(arg, state);
		return 0;
	case 't':
		report->sink.nanoseconds = true;
		return 0;
	case 'R':
		report->sink.raw = true;
		return 0;
	case 'O':
		add_word(&report->options, arg, state);
		return 0;
	case OPT_TRUST_SIZE:
		report->trust_size = true;
		return 0;
	case OPT_DECODE:
		report->decode = true;
		return 0;
	case OPT_PLUGIN_DIR:
		if (report->plugin_dir)
			argp_error(state, "one directory of plugins at a time: '%s' and '%s'", report->plugin_dir, arg);
		report->decode = true;
		report->plugin_dir = arg;
		return 0;
	case OPT_COLOR:
		report->sink.color = wants_color(arg, state);
		return 0;
	case OPT_STORED:
		report->stored = arg;
		return 0;
	case OPT_NO_SANDBOX:
		report->no_sandbox = true;
		return 0;
	case OPT_THREADS:
		if (text_parse_range(arg, 1, THREADS_MAX, &report->threads, &fail) < 0)
			usage_failed(state, "threads", &fail);
		return 0;
	case ARGP_KEY_ARG:
		if (report->input)
			argp_error(state, "one file at a time: '%s' and '%s'", report->input, arg);
		report->input = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Prints a recorded trace as the kernel's own trace file did."
	       "\vA file that is damaged is printed as far as it can be read; the exit status is then 1.",
};

static int select_events(const struct report_options *report, struct selection *selection, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < report->events.len; i++)
		r = selection_add_events(selection, report->events.at[i], fail);
	for (size_t i = 0; !r && i < report->comms.len; i++)
		r = selection_add_comm(selection, report->comms.at[i], fail);
	for (size_t i = 0; !r && i < report->nr_pids; i++)
		r = selection_add_pid(selection, report->pids[i], fail);
	return r;
}

static unsigned thread_count(const struct report_options *report)
{
	long cpus;

	if (report->threads)
		return (unsigned)report->threads;
	/* To start a thread takes as long as some hundred lines. */
	if (report->limit <= FEW_EVENTS || report->tail <= FEW_EVENTS)
		return 1;
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	return cpus < 1 ? 1 : cpus > 8 ? 8 : (unsigned)cpus;
}

/* Which part of one buffer is printed. */
struct part {
	bool last;                      /* of the file */
	struct events_options events;
	struct selection *selection;
	uint64_t *left_out;
	struct render_options render;
};

static int part_window(const struct report_options *report, struct context *context, struct part *part,
		       struct fail *fail)
{
	int r = 0;

	part->events.until = UINT64_MAX;
	if (report->since)
		r = stamp_parse(context, "since", report->since, &part->events.since, fail);
	if (!r && report->until)
		r = stamp_parse(context, "until", report->until, &part->events.until, fail);
	if (report->some_cpus) {
		part->events.cpu_mask = report->cpus.bits;
		part->events.cpu_mask_words = array_size(report->cpus.bits);
	}
	return r;
}

static int part_tail(const struct report_options *report, struct context *context, struct part *part,
		     struct fail *fail)
{
	struct tail tail = { 0 };
	int r = tail_find(context, &part->events, report->tail, part->render.select, part->render.select_arg, &tail, fail);

	if (r < 0)
		return r;
	part->events.since = tail.since;
	part->render.skip = tail.skip;
	return 0;
}

static int part_init(const struct report_options *report, struct context *context, struct part *part, struct fail *fail)
{
	int r = selection_new(context, &part->selection, fail);

	if (!r)
		r = select_events(report, part->selection, fail);
	if (!r && (report->has_self ? !report->self : report->format->leaves_out_self))
		r = selection_leave_out_self(part->selection, &part->left_out, fail);
	if (!r)
		r = part_window(report, context, part, fail);
	if (r < 0)
		return r;
	part->render.limit = report->limit;
	if (!selection_empty(part->selection)) {
		part->render.select = selection_keep;
		part->render.select_arg = part->selection;
	}
	if (report->tail != UINT64_MAX)
		r = part_tail(report, context, part, fail);
	/* The tail has been looked for by the same selection. */
	if (part->left_out)
		*part->left_out = 0;
	part->events.keep_blocks = true;
	return r;
}

static int print_part(const struct report_options *report, struct part *part, struct context *context, struct sink *sink,
		      struct fail *fail)
{
	struct events *events = NULL;
	uint64_t printed = 0;
	int r = events_open(context, &part->events, &events, fail);

	if (r < 0)
		return r;
	part->render.pool = part->events.pool;
	part->render.escape = format_is_escaped(report->format, &report->sink);
	r = render(events, sink, &part->render, STDOUT_FILENO, &printed, fail);
	*report->printed += printed;
	if (!r)
		format_tell_fields(events);
	if (!r && !printed && context->latency && strcmp(report->format->name, "ftrace"))
		command_warn("'%s' holds a tracer's worst case, of which there is only the kernel's text: leave out --format to read it",
			     trace_path(context->trace));
	if (!r && events_damage(events))
		r = fail_set(fail, -EBADMSG, "'%s' is damaged: %s", trace_path(context->trace), events_damage(events));
	events_free(events);
	return r;
}

static int report_part(const struct report_options *report, struct context *context, struct part *part,
		       struct fail *fail)
{
	struct sink_options sink_options = report->sink;
	unsigned threads = thread_count(report);
	struct plugins *plugins = NULL;
	struct sink *sink = NULL;
	int r = report->decode ? format_plugins(context, report->plugin_dir, &plugins, fail) : 0;

	/* Plugins are of each buffer: the last has all that there is to open. */
	if (!r && report->decode && !report->no_sandbox && part->last)
		r = trace_sandbox(context->trace, fail);
	if (!r) {
		sink_options.plugins = plugins;
		sink_options.left_out = part->left_out;
		r = report->format->new(context, &sink_options, &sink, fail);
	}
	if (!r && threads > 1)
		r = pool_new(threads - 1, &part->events.pool, fail);
	if (!r)
		r = print_part(report, part, context, sink, fail);
	pool_free(part->events.pool);
	if (!r && plugins && plugins_failure(plugins))
		r = fail_set(fail, -ENOEXEC, "%s", plugins_failure(plugins));
	if (sink)
		sink->ops->free(sink);
	format_tell_plugins(plugins);
	plugins_free(plugins);
	return r;
}

static int report_context(const struct report_options *report, struct context *context, bool last, struct fail *fail)
{
	struct part part = { .selection = NULL, .last = last };
	int r = 0;

	for (size_t i = 0; !r && i < report->options.len; i++)
		r = context_set_option(context, report->options.at[i], fail);
	/* What is wrong with the file is told when it is read for the report. */
	if (!r && context_option(context, OPTION_LATENCY_FORMAT))
		(void)!latency_facts_learn(context, NULL);
	if (!r)
		r = part_init(report, context, &part, fail);
	if (!r)
		r = report_part(report, context, &part, fail);
	selection_free(part.selection);
	return r;
}

static int report_buffer(const struct report_options *report, struct trace *trace, size_t buffer, bool last, struct fail *fail)
{
	struct context *context = NULL;
	int r = context_new(trace, buffer, &context, fail);

	if (r < 0)
		return r;
	r = report_context(report, context, last, fail);
	context_free(context);
	return r;
}

/* Buffers without events are left out when nobody asked for them by name; the worst case of a latency tracer is no page. */
static bool wanted(const struct report_options *report, struct trace *trace, size_t index)
{
	const struct trace_buffer *buffer = trace_buffer(trace, index);

	if (report->instance)
		return !strcmp(report->instance, buffer->name.text);
	return trace_buffers(trace) == 1 || buffer->nr_cpus || context_latency(trace, index);
}

static int report_trace(const struct report_options *report, struct trace *trace, struct fail *fail)
{
	size_t nr_buffers = trace_buffers(trace), nr_wanted = 0, last = 0;
	int r = 0, worst = 0;
	bool framed;

	for (size_t i = 0; i < nr_buffers; i++) {
		if (!wanted(report, trace, i))
			continue;
		nr_wanted++;
		last = i;
	}
	if (report->instance && !nr_wanted)
		return fail_set(fail, -ENOENT, "'%s' has no buffer of an instance '%s'", trace_path(trace),
				report->instance);
	framed = nr_wanted > 1 && !report->format->tells_instance;
	for (size_t i = 0; i < nr_buffers && r != -EPIPE; i++) {
		struct fail here = FAIL_INIT;

		if (!wanted(report, trace, i))
			continue;
		if (framed) {
			printf("# instance: %s\n", trace_buffer(trace, i)->name.text);
			fflush(stdout);
		}
		r = report_buffer(report, trace, i, i == last, &here);
		if (r < 0 && !worst) {
			worst = r;
			*fail = here;
		}
		if (framed && i != last) {
			putchar('\n');
			fflush(stdout);
		}
	}
	return worst;
}

static void tell_empty(const struct report_options *report, struct trace *trace)
{
	const struct empty_question question = {
		report->events.at, report->comms.at, report->events.len, report->comms.len, report->pids, report->nr_pids,
		report->some_cpus ? &report->cpus : NULL, report->since, report->until, report->instance,
	};

	if (!*report->printed && report->limit && report->tail)
		empty_answer_tell(trace, &question);
}

static int report_run(int argc, char **argv)
{
	uint64_t printed = 0;
	struct report_options report = { .limit = UINT64_MAX, .tail = UINT64_MAX, .format = sink_at(0), .printed = &printed };
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	int r;

	report.sink.color = wants_color("auto", NULL);
	command_parse(&report_command, argc, argv, 0, &report);
	if (!report.input)
		report.input = "trace.dat";
	reading_tell_left_behind(report.input);
	r = reading_open(report.input, !report.no_sandbox && !report.decode, &trace, &fail);
	if (r < 0)
		return command_failed(&fail);
	if (report.trust_size)
		trace_trust_sizes(trace);
	/* A reader that goes away, such as head, ends the report as it ends any other filter. */
	r = report.stored ? report_stored(trace, report.instance, report.stored, &fail) : report_trace(&report, trace, &fail);
	if (!r && trace_damage(trace))
		r = fail_set(&fail, -EBADMSG, "%s", trace_damage(trace));
	if (!r && !report.stored)
		tell_empty(&report, trace);
	trace_free(trace);
	return r < 0 ? command_failed(&fail) : EXIT_OK;
}

const struct command report_command = {
	.name = "report",
	.summary = "print a recorded trace as the kernel would",
	.examples = "  weft report | less\n"
		    "  weft report -e sched_switch --since 1204.5 --until 1204.7",
	.group = "read",
	.argp = &argp,
	.run = report_run,
};
