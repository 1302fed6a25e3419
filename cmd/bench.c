// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/apart.h"
#include "cmd/bench_record.h"
#include "cmd/bench_run.h"
#include "cmd/bench_save.h"
#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_for.h"
#include "cmd/terminal/terminal.h"
#include "lib/analysis/bench.h"
#include "lib/analysis/findings.h"
#include "lib/base/buf.h"
#include "lib/base/random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
	OPT_RUNS = 540,
	OPT_WARMUP,
	OPT_PREPARE,
	OPT_IGNORE,
	OPT_SEED,
	OPT_FAIL_IF,
	OPT_FORMAT,
	OPT_FOR,
	OPT_PLAIN,
	OPT_KEEP,
	OPT_TOP,
	OPT_SAVE,
	OPT_AGAINST
};

enum { TOP_AS_TEXT = 12, RUNS = 10, WARMUPS = 1, SEEDS = 1000000 };

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "The runs:", 1 },
	{ "runs", OPT_RUNS, "N", 0, "Measure N runs of each command, up to 100 (default: 10)", 1 },
	{ "warmup", OPT_WARMUP, "N", 0, "Run each command N times before, without measuring it (default: 1)", 1 },
	{ "prepare", OPT_PREPARE, "COMMAND", 0, "Run COMMAND in a shell before each run, without measuring it", 1 },
	{ "ignore-failure", OPT_IGNORE, NULL, 0, "Also measure runs that end with another status than 0", 1 },
	{ "seed", OPT_SEED, "N", 0, "Choose the order of the runs by this number (default: a random one)", 1 },

	{ "save", OPT_SAVE, "FILE", 0, "Save the runs of one command in FILE", 1 },
	{ "against", OPT_AGAINST, "FILE", 0, "Compare with the runs in FILE, which are the old ones", 1 },

	{ NULL, 0, NULL, 0, "What explains a difference:", 2 },
	{ "for", OPT_FOR, SETUP_FOR, 0,
	  "Record each run for these analyses; a list with commas (default: sched,syscalls)", 2 },
	{ "plain", OPT_PLAIN, NULL, 0, "Do not record the runs, which takes time, too", 2 },
	{ "keep", OPT_KEEP, "DIR", 0, "Keep the recordings of the runs in DIR: old-01.dat and so on", 2 },

	{ NULL, 0, NULL, 0, "Output:", 3 },
	{ "fail-if", OPT_FAIL_IF, "CONDITION", 0,
	  "Exit with status 1 if a figure has changed by more: 'FIGURE > N%' or 'FIGURE < -N%', such as 'wall > 2%'; "
	  "repeatable. Of rows: 'ROW: time > N%' or 'ROW: calls > N%'; ROW is a glob",
	  3 },
	{ "format", OPT_FORMAT, "text|json|csv", 0, "Print for people (text, the default) or for programs", 3 },
	{ "top", OPT_TOP, "N", 0, "Show the first N rows of what the runs did (default: 12 as text, else all; 0: all)",
	  3 },
	{ 0 },
};

struct arguments {
	struct bench_running running;
	struct bench_recording recording;
	bool plain, top_given;
	struct diff_condition conditions[DIFF_CONDITIONS_MAX];
	struct bench_options bench;
	struct findings_options findings;
	bool seed_given, for_given;
	const char *against;
	struct bench_saving saving;
};

static void add_condition(struct arguments *arguments, const char *text, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;

	if (arguments->bench.nr_conditions == DIFF_CONDITIONS_MAX)
		argp_error(state, "more than %d times --fail-if", DIFF_CONDITIONS_MAX);
	if (bench_condition_parse(text, &arguments->conditions[arguments->bench.nr_conditions], &fail))
		argp_error(state, "--fail-if: %s", fail.text);
	arguments->bench.nr_conditions++;
}

/*
 * A path of a program and plain arguments. The shell would fork, run it and wait; some shells execute it themselves.
 * Then the runs have a task less, whose time explains nothing.
 */
static bool is_program(const char *line)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-+./:,@%";
	const char *slash = strchr(line, '/');

	return slash && (size_t)(slash - line) < strcspn(line, " ") && !line[strspn(line, plain)];
}

/* One word is a line for the shell; several are a program and its arguments. */
static void add_command(struct bench_running *running, char **words, size_t nr, struct argp_state *state)
{
	struct bench_command *command = &running->commands[running->end++];
	cleanup_buf struct buf text = BUF_INIT;

	if (!nr)
		argp_error(state, "a command is missing: weft bench -- 'OLD COMMAND' -- 'NEW COMMAND'");
	for (size_t i = 0; i < nr; i++)
		option_need(buf_addf(&text, "%s%s", i ? " " : "", words[i]), state);
	command->text = buf_take(&text, NULL);
	option_need(command->text, state);
	command->argv = words;
	if (nr > 1)
		return;
	if (is_program(words[0])) {
		free(command->line);
		option_need(asprintf(&command->line, "exec %s", words[0]) >= 0, state);
	}
	command->shell[0] = "sh";
	command->shell[1] = "-c";
	command->shell[2] = command->line ? command->line : words[0];
	command->argv = command->shell;
}

/* The commands stand behind "--", with another "--" between them, which is replaced by the end of the first. */
static void add_commands(struct bench_running *running, bool against, char **words, size_t nr, struct argp_state *state)
{
	size_t end = 0;

	running->first = running->end = against;
	while (end < nr && strcmp(words[end], "--") != 0)
		end++;
	add_command(running, words, end, state);
	if (end == nr)
		return;
	if (against)
		argp_error(state, "--against compares one command with runs that were saved");
	words[end] = NULL;
	for (size_t i = end + 1; i < nr; i++)
		if (!strcmp(words[i], "--"))
			argp_error(state, "more than two commands: a command that has a '--' is written as one word");
	add_command(running, words + end + 1, nr - end - 1, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct bench_running *running = &arguments->running;
	struct fail fail = FAIL_INIT;

	switch (key) {
	case OPT_RUNS:
		option_range("runs", arg, 1, BENCH_RUNS_MAX, &running->runs, state);
		return 0;
	case OPT_WARMUP:
		option_range("warmup", arg, 0, BENCH_RUNS_MAX, &running->warmups, state);
		return 0;
	case OPT_PREPARE:
		option_once("--prepare", &running->prepare, arg, state);
		return 0;
	case OPT_IGNORE:
		running->ignore_failure = true;
		return 0;
	case OPT_SEED:
		option_number("seed", arg, &running->seed, state);
		arguments->seed_given = true;
		return 0;
	case OPT_FOR:
		if (bench_record_for(&arguments->recording, arg, &fail))
			argp_error(state, "--for: %s", fail.text);
		arguments->for_given = true;
		return 0;
	case OPT_PLAIN:
		arguments->plain = true;
		return 0;
	case OPT_KEEP:
		option_once("--keep", &arguments->recording.keep, arg, state);
		return 0;
	case OPT_SAVE:
		option_once("--save", &arguments->saving.path, arg, state);
		return 0;
	case OPT_AGAINST:
		option_once("--against", &arguments->against, arg, state);
		return 0;
	case OPT_TOP:
		arguments->top_given = true;
		option_number("top", arg, &arguments->bench.top, state);
		return 0;
	case OPT_FAIL_IF:
		add_condition(arguments, arg, state);
		return 0;
	case OPT_FORMAT:
		arguments->findings.format = analyse_format(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (!state->quoted || state->next <= state->quoted)
			argp_error(state, "commands stand behind '--': weft bench -- 'OLD COMMAND' -- 'NEW COMMAND'");
		add_commands(running, arguments->against, &state->argv[state->next - 1],
			     (size_t)(state->argc - state->next + 1), state);
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (!running->end)
			argp_error(state, "a command is missing: weft bench -- 'OLD COMMAND' -- 'NEW COMMAND'");
		if (arguments->bench.nr_conditions && running->end < 2)
			argp_error(state, "--fail-if compares two commands");
		if (arguments->saving.path && running->end == 2)
			argp_error(state, "--save saves the runs of one command, without --against");
		if (arguments->plain && arguments->recording.keep)
			argp_error(state, "--plain makes no recordings that --keep could keep");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "-- COMMAND [-- COMMAND]",
	.doc = "Measures the runs of two commands, alternately and in random order, and says whether the second one "
	       "takes another time, and what it does in this time, by a test that does not take chance for a change. "
	       "Of one command it prints the times.\v"
	       "A command of one word is a line for the shell (sh -c); of several words, a program and its "
	       "arguments.",
};

/* The findings are printed even if a condition is met or cannot be checked. */
static int report(const struct arguments *arguments, struct bench *bench, const struct bench_noise *noise,
		  struct fail *fail)
{
	struct fail met = FAIL_INIT;
	struct findings findings;
	int r = 0, condition = 0;

	findings_init(&findings);
	if (arguments->recording.of)
		r = bench_record_read(&arguments->recording, bench, fail);
	if (!r) {
		condition = bench_finish(bench, &arguments->bench, &findings, &met);
		if (condition && condition != -ERANGE && condition != -ENODATA)
			r = fail_set(fail, condition, "%s", met.text);
	}
	if (!r) {
		bench_tell(&arguments->running, bench, noise, &findings);
		r = analyse_print(&findings, &arguments->findings, fail);
	}
	if (!r && condition) {
		*fail = met;
		r = condition;
	}
	findings_release(&findings);
	return r;
}

static int conclude(int r, struct fail *fail)
{
	if (!r)
		return EXIT_OK;
	(void)command_failed(fail);
	return r == -ERANGE ? EXIT_FAILED : EXIT_RECORD_FAILED;
}

/* What reads the recordings gives up the right to name a file, so that another process does it. */
static int report_and_save(struct arguments *arguments, struct bench *bench, const struct bench_noise *noise,
			   struct fail *fail)
{
	pid_t pid = apart_fork();
	int status, r;

	if (!pid) {
		r = report(arguments, bench, noise, fail);
		if (!r)
			r = bench_saving_write(&arguments->saving, bench, arguments->recording.of, fail);
		status = conclude(r, fail);
		_exit(command_flush(fail) ? EXIT_RECORD_FAILED : status);
	}
	if (pid < 0)
		return EXIT_RECORD_FAILED;
	status = apart_end(pid, "the recordings");
	return status ? status : conclude(bench_saving_name(&arguments->saving, fail), fail);
}

/* The saved runs say what new ones are recorded for. */
static int use_saved(struct arguments *arguments, struct bench *bench, struct fail *fail)
{
	struct bench_recording *recording = &arguments->recording;
	int r = bench_saved_read(arguments->against, &recording->saved, fail);
	struct utsname machine;
	const char *of;

	if (r)
		return r;
	of = bench_saved_for(recording->saved);
	recording->other_kernel =
		!uname(&machine) && strcmp(machine.release, bench_saved_kernel(recording->saved)) != 0;
	bench_use(bench, recording->saved);
	if (arguments->plain)
		return 0;
	if (arguments->for_given && (!of || strcmp(of, recording->of) != 0))
		return fail_set(fail, -EINVAL, "the runs in '%s' were recorded for %s, not for %s", arguments->against,
				of ? of : "nothing", recording->of);
	recording->of = NULL;
	r = of ? bench_record_for(recording, of, fail) : 0;
	return r ? fail_in(fail, r, "'%s'", arguments->against) : 0;
}

static int measure(struct arguments *arguments, struct bench *bench, struct bench_noise *noise, struct fail *fail)
{
	int r = arguments->against ? use_saved(arguments, bench, fail) : 0;

	if (!r && arguments->saving.path)
		r = bench_saving_open(&arguments->saving, fail);
	if (!r)
		r = bench_record_start(&arguments->recording, fail);
	return r ? r : bench_run_all(&arguments->running, bench, noise, fail);
}

static void set_defaults(struct arguments *arguments)
{
	if (!arguments->seed_given)
		arguments->running.seed = random_number() % SEEDS;
	arguments->bench.each_run = arguments->findings.format != TABLE_AS_TEXT;
	/* What one command does is not compared with anything. */
	if (arguments->plain || (arguments->running.end < 2 && !arguments->saving.path))
		arguments->recording.of = NULL;
	arguments->running.recording = &arguments->recording;
	if (!arguments->top_given && arguments->findings.format == TABLE_AS_TEXT)
		arguments->bench.top = TOP_AS_TEXT;
	else if (!arguments->bench.top)
		arguments->bench.top = UINT64_MAX;
	arguments->findings.top = UINT64_MAX;
	arguments->findings.width = terminal_width();
	arguments->bench.conditions = arguments->conditions;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .running = { .runs = RUNS, .warmups = WARMUPS },
				       .recording = { .of = "sched,syscalls" },
				       .saving = BENCH_SAVING_INIT };
	struct bench *bench = calloc(1, sizeof(*bench));
	struct bench_noise noise = { .time_ns = 0 };
	struct fail fail = FAIL_INIT;
	int r, status;

	command_parse(&bench_command, argc, argv, ARGP_IN_ORDER, &arguments);
	set_defaults(&arguments);
	r = bench ? measure(&arguments, bench, &noise, &fail) : fail_memory(&fail);
	if (!r && arguments.saving.path)
		status = report_and_save(&arguments, bench, &noise, &fail);
	else
		status = conclude(r ? r : report(&arguments, bench, &noise, &fail), &fail);
	for (size_t i = arguments.running.first; i < arguments.running.end; i++) {
		free(arguments.running.commands[i].text);
		free(arguments.running.commands[i].line);
	}
	bench_saving_release(&arguments.saving);
	diff_free(bench ? bench->rows : NULL);
	bench_record_release(&arguments.recording);
	free(bench);
	return status;
}

const struct command bench_command = {
	.name = "bench",
	.summary = "compare the time that two commands take, over runs in random order",
	.brief = "two commands",
	.examples = "  weft bench -- './benchmark' -- './benchmark.new'\n"
		    "  weft bench --runs 20 --fail-if 'wall > 2%' -- make -s -- 'make -s CC=clang'\n"
		    "  weft bench -- 'grep -r needle .'",
	.group = "record",
	.argp = &argp,
	.run = run,
};
