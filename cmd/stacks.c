// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/choice.h"

static const struct argp_option options[] = {
	{ "by", OPT_ANALYSE_BY, "stack|function|task", 0, "A row for each of these (default: stack)", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	error_t err = analyse_by_parse(key, arg, state);
	struct analyse *analyse;

	if (key == ARGP_KEY_INIT) {
		analyse = state->child_inputs[0];
		state->child_inputs[1] = &analyse->query;
	}
	return err;
}

static const struct argp_child children[] = {
	{ &analyse_argp, 0, NULL, 0 },
	{ &choice_events_argp, 0, NULL, 92 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording with stacks where events happened, where tasks left their CPUs, "
	       "how long they were off, and which task woke them.",
};

static int run(int argc, char **argv)
{
	return analyse_by_run(&stacks_command, &stacks_analysis, &rows_of_stacks, argc, argv);
}

const struct command stacks_command = {
	.name = "stacks",
	.summary = "show where events happened, and where tasks left their CPUs",
	.brief = "call chains",
	.examples = "  weft record -e sched -T -- make\n"
		    "  weft stacks\n"
		    "  weft stacks --by function --comm make\n"
		    "  weft stacks -e kmem:kmalloc -f 'bytes_alloc > 4096'",
	.group = "read",
	.argp = &argp,
	.run = run,
};
