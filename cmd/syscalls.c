// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/option_value.h"
#include "lib/analysis/syscalls.h"

enum { OPT_BY = 512, OPT_FAILURES, OPT_SLOWEST, OPT_LONGER, OPT_TRACE };

static const struct argp_option options[] = {
	{ "by", OPT_BY, "syscall|task|process|errno|cpu", 0, "A row for each of these (default: syscall)", 1 },
	{ "failures", OPT_FAILURES, NULL, 0, "Count, or with --trace print, only calls that failed", 1 },
	{ "slowest", OPT_SLOWEST, "N", 0,
	  "Also show the N longest calls, each with its task and what its time was spent on", 1 },
	{ "longer", OPT_LONGER, "TIME", 0, "Also show all calls longer than TIME, in the same way: 500us, 10ms", 1 },
	{ "trace", OPT_TRACE, NULL, 0,
	  "Also print a line for each call, as strace does: arguments, result, how long it took", 1 },
	{ 0 },
};

struct arguments {
	struct analyse analyse;
	struct syscalls_options syscalls;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	uint64_t slowest = 0;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->analyse;
		return 0;
	case OPT_BY:
		arguments->syscalls.by = (enum syscalls_by)analyse_by(&rows_of_syscalls, arg, state);
		return 0;
	case OPT_FAILURES:
		arguments->syscalls.failures = true;
		return 0;
	case OPT_SLOWEST:
		option_range("slowest", arg, 1, SYSCALLS_SLOWEST_MAX, &slowest, state);
		arguments->syscalls.slowest = (size_t)slowest;
		return 0;
	case OPT_LONGER:
		arguments->syscalls.longer = option_time("longer", arg, state);
		return 0;
	case OPT_TRACE:
		arguments->syscalls.trace = true;
		arguments->analyse.lines = true;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (arguments->syscalls.longer && !arguments->syscalls.slowest)
			arguments->syscalls.slowest = SYSCALLS_SLOWEST_MAX;
		if (arguments->syscalls.trace && arguments->analyse.findings.format != TABLE_AS_TEXT)
			argp_error(state, "--trace prints text only: leave out --format");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = analyse_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording which system calls were made, how long they took, which failed, "
	       "and what their time was spent on.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	arguments.analyse.only_command = true;
	command_parse(&syscalls_command, argc, argv, 0, &arguments);
	return analyse_run(&arguments.analyse,
			   arguments.syscalls.trace && arguments.analyse.argv ? &syscalls_named_analysis :
										&syscalls_analysis,
			   &arguments.syscalls);
}

const struct command syscalls_command = {
	.name = "syscalls",
	.summary = "show how long system calls took, and which failed",
	.brief = "calls, errors",
	.examples = "  weft record -e raw_syscalls -e sched -- make\n  weft syscalls\n"
		    "  weft syscalls --by errno\n"
		    "  weft syscalls --trace -- ls\n"
		    "  weft syscalls --slowest 10 --comm make",
	.group = "read",
	.argp = &argp,
	.run = run,
};
