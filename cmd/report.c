// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/empty_answer.h"
#include "cmd/formats.h"
#include "cmd/option_value.h"
#include "cmd/pager.h"
#include "cmd/reading.h"
#include "cmd/report_print.h"
#include "cmd/report_stored.h"
#include "cmd/stamp.h"

#include "formats/sink.h"
#include "lib/base/pool.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 64 };

enum {
	OPT_CPU = 256,
	OPT_PID,
	OPT_COMM,
	OPT_SINCE,
	OPT_UNTIL,
	OPT_LIMIT,
	OPT_TAIL,
	OPT_FORMAT,
	OPT_DECODE,
	OPT_PLUGIN_DIR,
	OPT_THREADS,
	OPT_STORED,
	OPT_COLOR,
	OPT_SELF,
	OPT_NO_SELF,
	OPT_NO_SANDBOX,
	OPT_TRUST_SIZE
};

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; '-' is standard input (default: trace.dat)", 1 },
	{ "instance", 'B', "NAME", 0, "Print only the buffer of this instance; '' is the top one", 1 },

	{ "event", 'e', "EVENT", 0,
	  "Print only EVENT: system:event, system or event, with globs; several with commas, repeatable", 2 },
	{ "filter", 'f', "FILTER", 0,
	  "Print only events that meet FILTER, which the kernel's language says: 'EVENT: FILTER' of the events so called, "
	  "or of all that have its fields; repeatable, one will do",
	  2 },
	{ NULL, 'F', NULL, OPTION_ALIAS, NULL, 2 },
	{ "invert", 'v', NULL, 0, "Leave out what the filters behind this meet", 2 },
	{ "no-hardirq", 'I', NULL, 0, "Leave out events of hard interrupts", 2 },
	{ "no-softirq", 'S', NULL, 0, "Leave out events of soft interrupts", 2 },
	{ "cpu", OPT_CPU, "CPULIST", 0, "Print only events of these CPUs, such as 0-3,7", 2 },
	{ "pid", OPT_PID, "PID", 0, "Print only events of these tasks; a list with commas, repeatable", 2 },
	{ "comm", OPT_COMM, "NAME", 0, "Print only events of tasks of this name, a glob; repeatable", 2 },
	{ "no-self", OPT_NO_SELF, NULL, 0,
	  "Leave out what weft itself did while it recorded, but not interrupts that hit it", 2 },
	{ "self", OPT_SELF, NULL, 0, "Print that, too, where the format leaves it out (pretty)", 2 },
	{ "since", OPT_SINCE, "TIME", 0, "Begin at TIME, " STAMP_HELP, 2 },
	{ "until", OPT_UNTIL, "TIME", 0, "End at TIME, that one included", 2 },
	{ "limit", OPT_LIMIT, "N", 0, "End after N events", 2 },
	{ "tail", OPT_TAIL, "N", 0, "Print only the last N events", 2 },

	{ "format", OPT_FORMAT, "FORMAT", 0, "Print as FORMAT (default: ftrace, the kernel's own text)", 3 },
	{ "color", OPT_COLOR, "auto|always|never", 0,
	  "Colour what has colours, --format pretty (auto, the default: on a terminal)", 3 },
	{ "nanoseconds", 't', NULL, 0, "Print time stamps with nine digits", 3 },
	{ "raw", 'R', NULL, 0, "Print each field as field=value instead of the event's text", 3 },
	{ "option", 'O', "OPTION", 0, "Print as with this trace option, or without it: noOPTION; repeatable", 3 },
	{ "latency-format", 'l', NULL, 0, "Print as with the trace option latency-format", 3 },
	{ "decode", OPT_DECODE, NULL, 0,
	  "Add behind an event what a plugin knows of it: names of system calls and errors", 3 },
	{ "plugin-dir", OPT_PLUGIN_DIR, "DIR", 0, "Take the plugins of --decode from DIR", 3 },
	{ "stored", OPT_STORED, "NAME", 0,
	  "Print a text that the recording keeps instead: hist, stack, stat or a file's name", 3 },

	{ "threads", OPT_THREADS, "N", 0, "Use N threads (default: one for each CPU of this machine, at most 8)", 4 },
	{ "no-sandbox", OPT_NO_SANDBOX, NULL, 0,
	  "Keep all rights while reading, for systems where giving them up fails", 4 },
	{ "trust-size", OPT_TRUST_SIZE, NULL, 0,
	  "Read and print, too, what claims more bytes, memory or text than any recording", 4 },
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
	int32_t pid;

	while (option_next_pid(&arg, &pid, state)) {
		if (report->nr_pids == WORDS_MAX)
			argp_error(state, "more than %d pids", WORDS_MAX);
		report->pids[report->nr_pids++] = pid;
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
	case 'v':
		report->negate = true;
		return 0;
	case 'f':
	case 'F':
		if (report->filters.len < WORDS_MAX)
			report->negated[report->filters.len] = report->negate;
		add_word(&report->filters, arg, state);
		return 0;
	case 'I':
		report->flags_out |= EVENT_HARDIRQ;
		return 0;
	case 'S':
		report->flags_out |= EVENT_SOFTIRQ;
		return 0;
	case 'l':
		add_word(&report->options, "latency-format", state);
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
	case OPT_LIMIT:
		option_number("limit", arg, &report->limit, state);
		return 0;
	case OPT_TAIL:
		option_number("tail", arg, &report->tail, state);
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
		option_range("threads", arg, 1, THREADS_MAX, &report->threads, state);
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

static void tell_empty(const struct report_options *report, struct trace *trace)
{
	const struct empty_question question = {
		report->events.at,  report->comms.at,
		report->filters.at, report->events.len,
		report->comms.len,  report->filters.len,
		report->negated,    report->pids,
		report->nr_pids,    report->some_cpus ? &report->cpus : NULL,
		report->since,      report->until,
		report->instance,
	};

	if (!*report->printed && report->limit && report->tail)
		empty_answer_tell(trace, &question);
}

static int report_run(int argc, char **argv)
{
	uint64_t printed = 0;
	struct report_options report = {
		.limit = UINT64_MAX, .tail = UINT64_MAX, .format = sink_at(0), .printed = &printed
	};
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	int r;

	report.sink.color = wants_color("auto", NULL);
	command_parse(&report_command, argc, argv, 0, &report);
	if (!report.input)
		report.input = "trace.dat";
	reading_tell_left_behind(report.input);
	pager_start();
	/* What tells the local time is read before the rights to do so are given up. */
	tzset();
	r = reading_open(report.input, !report.no_sandbox && !report.decode, &trace, &fail);
	if (r < 0)
		return command_failed(&fail);
	if (report.trust_size)
		trace_trust_sizes(trace);
	/* A reader that goes away, such as head, ends the report as it ends any other filter. */
	r = report.stored ? report_stored(trace, report.instance, report.stored, &fail) :
			    report_print(&report, trace, &fail);
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
