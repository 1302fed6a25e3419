// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/host_options.h"
#include "cmd/options/option_value.h"
#include "lib/answers/syscalls/syscalls.h"
#include "lib/meaning/guest/host.h"

enum { OPT_BY = 512 };

struct arguments {
	struct analyse analyse;
	struct guest_host host;
	struct syscalls_options syscalls;
};

static const struct option_row options[] = {
	{ "by", OPT_BY, "syscall|task|process|errno|cpu|program|unit|container|pod|cgroup|user|file", 0,
	  "A row for each of these (default: syscall)", 1, OPTION_BY_KEY },
	{ "failures", 0, NULL, 0, "Count, or with --trace print, only calls that failed", 1,
	  OPTION_FLAG(struct arguments, syscalls.failures) },
	{ "trace", 0, NULL, 0,
	  "Also print a line for each call, as strace does: arguments, result, how long it took; "
	  "as text only",
	  1, OPTION_FLAG(struct arguments, syscalls.trace), OPTION_GIVEN(struct arguments, analyse.lines) },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPT_BY:
		arguments->syscalls.rows.by = analyse_by(syscalls_analysis.by, arg, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		if (arguments->syscalls.trace && arguments->analyse.findings.format != TABLE_AS_TEXT)
			argp_error(state, "--trace prints text only: leave out --format; 'weft export --to csv' or "
					  "jsonl writes the events of the calls");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &analyse_options, offsetof(struct arguments, analyse), 0, NULL },
	{ &host_options, offsetof(struct arguments, host), 1, NULL },
	{ &analyse_slowest_options, offsetof(struct arguments, syscalls.rows), 1, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording which system calls were made, how long they took, which failed, "
	       "and what their time was spent on.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	arguments.analyse.host = &arguments.host;
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
	.options = &command_options,
	.run = run,
};
