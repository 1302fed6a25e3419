// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/option_value.h"
#include "lib/answers/why/why.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"

enum {
	OPT_CALL = 512,
	OPT_WAKEUP,
	OPT_REQUEST,
	OPT_RUN,
	OPT_TASK,
	OPT_ALL,
	OPT_SLOW,
	OPT_TO,
	OPT_BY,
	SLOWEST_MAX = 1000
};

struct arguments {
	struct analyse analyse;
	struct why_options why;
	struct analyse_margin margin;
};

static const struct option_row options[] = {
	{ "call", OPT_CALL, "NAME", 0, "Explain the longest call of this name: read, fsync", 1, OPTION_BY_KEY },
	{ "wakeup", OPT_WAKEUP, NULL, 0, "Explain the longest time from a wakeup until the task ran", 1,
	  OPTION_BY_KEY },
	{ "request", OPT_REQUEST, NULL, 0,
	  "Explain the longest request of a disk, from when it was queued until it was completed", 1, OPTION_BY_KEY },
	{ "run", OPT_RUN, "COMM", 0, "Explain the life of a task of this name, a glob, until it ended", 1,
	  OPTION_BY_KEY },
	{ "task", OPT_TASK, "PID|COMM", 0, "Explain what this task did, from --since to --until", 1, OPTION_BY_KEY },
	{ "all", OPT_ALL, "call|wakeup|request|run|mark[:NAME]", 0,
	  "Add up all of this kind and name: call:fsync, wakeup", 1, OPTION_BY_KEY },
	{ "slow", OPT_SLOW, "PERCENT", 0, "Show what the slowest PERCENT of all do that the others do not", 2,
	  OPTION_BY_KEY },
	{ "slowest", 0, "N", 0, "The N longest instead of one", 2,
	  OPTION_RANGE(struct arguments, why.slowest, 1, SLOWEST_MAX) },
	{ "by", OPT_BY, "task|process|program|unit|container|pod|cgroup", 0,
	  "Name these instead of tasks (default: task), as those of each task were at that time", 2, OPTION_BY_KEY },
	{ "to", OPT_TO, "folded|speedscope", 0,
	  "Print the path as stacks of who waited for whom: for flamegraph.pl, or for speedscope in the order of time",
	  2, OPTION_BY_KEY },
	{ "tree", 0, NULL, 0, "Show the path in the order of time, too", 2, OPTION_FLAG(struct arguments, why.tree) },
	{ 0 },
};

static void choose(struct arguments *arguments, enum why_of of, const char *name, struct argp_state *state)
{
	if (arguments->why.of != WHY_LONGEST)
		argp_error(state, "only one of --call, --wakeup, --request, --run, --task and --all can be explained");
	arguments->why.of = (uint8_t)of;
	arguments->why.name = name;
}

/* "call", "call:fsync" */
static void choose_all(struct arguments *arguments, const char *arg, struct argp_state *state)
{
	static const struct {
		const char *name;
		enum why_of of;
	} kinds[] = { { "call", WHY_CALL },
		      { "wakeup", WHY_WAKEUP },
		      { "request", WHY_REQUEST },
		      { "run", WHY_RUN },
		      { "mark", WHY_MARK } };
	size_t len = strcspn(arg, ":");

	for (size_t i = 0; i < array_size(kinds); i++) {
		if (strlen(kinds[i].name) != len || strncmp(kinds[i].name, arg, len))
			continue;
		if (arg[len] && (!arg[len + 1] || kinds[i].of == WHY_WAKEUP || kinds[i].of == WHY_REQUEST))
			argp_error(state, "--all: '%s' has no name behind the colon", arg);
		choose(arguments, kinds[i].of, arg[len] ? &arg[len + 1] : NULL, state);
		arguments->why.all = true;
		return;
	}
	argp_error(state,
		   "--all: '%s' is no kind; it is call, wakeup, request, run or mark, or one of them with a name, "
		   "as call:fsync",
		   arg);
}

/* "1%", "0.5" */
static void take_slow(struct arguments *arguments, const char *arg, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	size_t len = strspn(arg, "0123456789.");
	uint64_t ns = 0;
	char text[32];

	/* A bare number is one of seconds, with up to nine decimals. */
	snprintf(text, sizeof(text), "%.*s", len < sizeof(text) ? (int)len : 0, arg);
	if (strcmp(arg + len, "%") && arg[len])
		ns = 0;
	else if (text_parse_time(text, &ns, &fail))
		ns = 0;
	arguments->why.slow = ns < UINT64_C(100000000000) ? (uint32_t)(ns / 100000) : 0;
	if (!arguments->why.slow)
		argp_error(state, "--slow: '%s' is no share between 0 and 100 percent, such as 1%%", arg);
}

/* The parts of whom a task belongs to, in the order of enum who_part. */
static const char *const by[] = { "task", "process", "program", "unit", "container", "pod", "cgroup", NULL };

static void take_form(struct arguments *arguments, const char *arg, struct argp_state *state)
{
	bool folded = !strcmp(arg, "folded");

	if (!folded && strcmp(arg, "speedscope"))
		argp_error(state, "--to: unknown format '%s'; use folded or speedscope", arg);
	arguments->why.form = folded ? WHY_FOLDED : WHY_SPEEDSCOPE;
	arguments->analyse.lines = arguments->analyse.only_lines = true;
}

/* A span with marks is what is explained, unless it is where something else is looked for. */
static void check_marks(struct arguments *arguments, struct argp_state *state)
{
	struct query_words *marks = &arguments->analyse.query.marks;

	if (arguments->why.of != WHY_LONGEST || !marks->nr)
		return;
	if (marks->nr > 1)
		argp_error(state, "the spans of one --mark can be explained, not those of %zu", marks->nr);
	arguments->why.of = WHY_MARK;
	arguments->why.name = marks->at[0];
	marks->nr = 0;
}

static void check(struct arguments *arguments, struct argp_state *state)
{
	const char *slash;

	if (arguments->analyse.every_ns)
		argp_error(state, "--every is for figures, not for the time of one interval");
	check_marks(arguments, state);
	if (arguments->why.form && (arguments->why.tree || arguments->why.slow))
		argp_error(state, "--to prints no tables: --tree and --slow have no meaning with it");
	if (arguments->why.form && arguments->analyse.findings.format != TABLE_AS_TEXT)
		argp_error(state, "--to and --format both say how the answer is printed");
	if (arguments->why.form == WHY_SPEEDSCOPE && arguments->why.all)
		argp_error(state,
			   "--to speedscope shows the longest ones in the order of time: use --slowest N, not --all");
	if (why_adds(&arguments->why) && arguments->why.of == WHY_TASK)
		argp_error(state, "--slow compares many intervals, and --task has one");
	if (arguments->why.slow && arguments->why.of == WHY_LONGEST)
		arguments->why.of = WHY_CALL;
	if (arguments->why.of == WHY_TASK)
		arguments->analyse.margin = &arguments->margin;
	/* Of a command that is recorded for this: where its own time went. */
	if (arguments->analyse.argv && arguments->why.of == WHY_LONGEST) {
		slash = strrchr(arguments->analyse.argv[0], '/');
		arguments->why.of = WHY_RUN;
		arguments->why.name = slash ? slash + 1 : arguments->analyse.argv[0];
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPT_CALL:
		choose(arguments, WHY_CALL, arg, state);
		return 0;
	case OPT_WAKEUP:
		choose(arguments, WHY_WAKEUP, NULL, state);
		return 0;
	case OPT_REQUEST:
		choose(arguments, WHY_REQUEST, NULL, state);
		return 0;
	case OPT_RUN:
		choose(arguments, WHY_RUN, arg, state);
		return 0;
	case OPT_TASK:
		choose(arguments, WHY_TASK, arg, state);
		return 0;
	case OPT_ALL:
		choose_all(arguments, arg, state);
		return 0;
	case OPT_BY:
		arguments->why.by = (uint8_t)analyse_by(by, arg, state);
		return 0;
	case OPT_TO:
		take_form(arguments, arg, state);
		return 0;
	case OPT_SLOW:
		take_slow(arguments, arg, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		check(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = OPTIONS_OF(analyse_options, struct arguments, analyse),
	.args_doc = ANALYSE_ARGS,
	.doc = "Explains from a recording where all the time of a system call, a wakeup, a command or a task went: "
	       "what it did itself, and for each of its sleeps what the one that woke it did meanwhile, and so on, "
	       "through disks, timers, packets and workers. The parts add up to the time. Without a choice it is the "
	       "longest call that does not wait for work.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	arguments.margin = (struct analyse_margin){ WHY_LOOKBACK, &arguments.why.from, &arguments.why.to };
	command_parse(&why_command, argc, argv, 0, &arguments);
	return analyse_run(&arguments.analyse, &why_analysis, &arguments.why);
}

const struct command why_command = {
	.name = "why",
	.summary = "show where the time of a call, a command or a task went, through all it waited for",
	.brief = "where time went",
	.examples = "  weft why -- make -j\n"
		    "  weft record --for why -- ./deploy\n"
		    "  weft why --call fsync\n"
		    "  weft why --task 812 --since 3996.107 --until 3996.128 --tree",
	.group = "read",
	.options = &command_options,
	.run = run,
};
