// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <unistd.h>

#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/host_options.h"
#include "cmd/terminal/terminal.h"
#include "lib/answers/sched/sched.h"
#include "lib/meaning/guest/host.h"

enum { MAP_COLUMNS = 72, MAP_HEAD = 8 };

struct arguments {
	struct analyse analyse;
	struct guest_host host;
	struct sched_options sched;
};

enum { OPT_BY = 512 };

static const struct option_row options[] = {
	{ "by", OPT_BY, "task|process|program|unit|container|pod|cgroup|user", 0,
	  "A row for each of these (default: task): the sums of its tasks, while they belonged to it", 1,
	  OPTION_BY_KEY },
	{ "timehist", 0, NULL, 0,
	  "Also print a line for each run of a task: the time off the CPU before, the wakeup delay, "
	  "the time on the CPU",
	  1, OPTION_FLAG(struct arguments, sched.timehist), OPTION_GIVEN(struct arguments, analyse.lines) },
	{ "chain", 0, "TASK", 0,
	  "Show only which task woke TASK (a PID or a glob for names), which task had woken that one, "
	  "and so on back to an interrupt; --table shows other tables, too",
	  1, OPTION_TEXT(struct arguments, sched.chain) },
	{ "idle-while-waiting", 0, NULL, 0,
	  "Also show which CPUs were idle while tasks waited for others, and whether the task may run there", 1,
	  OPTION_FLAG(struct arguments, sched.idle) },
	{ "map", 0, NULL, 0, "Draw only a lane for each CPU: which task ran there when; --table shows tables, too", 1,
	  OPTION_VALUE(struct arguments, sched.map, MAP_COLUMNS), OPTION_GIVEN(struct arguments, analyse.lines) },
	{ "rt", 0, NULL, 0, "Show only real-time tasks and their wakeups", 1, OPTION_FLAG(struct arguments, sched.rt) },
	{ 0 },
};

/* A chain or a picture is what was asked for: the tables come with it if they are named. */
static void alone(struct arguments *arguments)
{
	struct option_words *tables = &arguments->analyse.tables;

	if (tables->len)
		return;
	if (arguments->sched.chain)
		tables->at[tables->len++] = "chains";
	else
		arguments->analyse.findings.only_notes = arguments->sched.map;
}

/* The words of perf sched, unless there is such a file. */
static void refuse_words_of_perf(const char *word, struct argp_state *state)
{
	static const struct {
		const char *word, *ours;
	} words[] = { { "latency", "weft sched FILE" },
		      { "timehist", "weft sched --timehist FILE" },
		      { "map", "weft sched --map FILE" },
		      { "record", "weft record --for sched -- COMMAND" } };

	for (size_t i = 0; i < array_size(words); i++)
		if (!strcmp(words[i].word, word) && access(word, F_OK))
			argp_error(state, "there is no file '%s'; perf sched %s is '%s' here", word, word,
				   words[i].ours);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		refuse_words_of_perf(arg, state);
		return ARGP_ERR_UNKNOWN;
	case OPT_BY:
		arguments->sched.rows.by = analyse_by(sched_analysis.by, arg, state);
		return 0;
	case ARGP_KEY_END:
		alone(arguments);
		return 0;
	case ARGP_KEY_SUCCESS:
		if (arguments->sched.rows.by && arguments->host.buffer)
			argp_error(state, "--host shows tasks: leave out --by");
		if (arguments->sched.rows.by && (arguments->sched.rt || arguments->analyse.query.comms.nr))
			argp_error(state, "--by is for all of a task's time: leave out --rt, and "
					  "instead of --comm, name a program by --process");
		if (arguments->analyse.lines && arguments->analyse.findings.format != TABLE_AS_TEXT)
			argp_error(state, "%s prints text only: leave out --format",
				   arguments->sched.timehist ? "--timehist" : "--map");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &analyse_options, offsetof(struct arguments, analyse), 0, NULL },
	{ &host_options, offsetof(struct arguments, host), 1, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording how long each task ran, waited for a CPU and slept, how long it took from a "
	       "wakeup until the task ran, and what each CPU did.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	arguments.analyse.host = &arguments.host;
	command_parse(&sched_command, argc, argv, 0, &arguments);
	if (arguments.sched.map && terminal_width() > MAP_HEAD)
		arguments.sched.map = (size_t)terminal_width() - MAP_HEAD;
	return analyse_run(&arguments.analyse, &sched_analysis, &arguments.sched);
}

const struct command sched_command = {
	.name = "sched",
	.summary = "show which tasks ran, waited and slept, and how late wakeups were",
	.brief = "who ran, waited",
	.examples = "  weft record -e sched -e irq -- make\n  weft sched\n"
		    "  weft sched --sort max --top 5 trace.dat\n"
		    "  weft sched --map --chain make\n"
		    "  weft sched --timehist --comm make | less",
	.group = "read",
	.options = &command_options,
	.run = run,
};
