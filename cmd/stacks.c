// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/choice.h"
#include "lib/meaning/event/own_formats.h"

struct arguments {
	struct analyse_by by; /* first */
	bool on_cpu;
};

static const struct option_row options[] = {
	{ "by", OPT_ANALYSE_BY, "stack|function|task|process|program|unit|container|pod|cgroup|user", 0,
	  "A row for each of these (default: stack)", 1, OPTION_BY_KEY },
	{ "on-cpu", 0, NULL, 0, "Show what CPUs spent their time on, from a recording of record --profile", 1,
	  OPTION_FLAG(struct arguments, on_cpu) },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct analyse *analyse = &arguments->by.analyse;

	if (key != ARGP_KEY_SUCCESS || !arguments->on_cpu)
		return analyse_by_parse(key, arg, state);
	if (analyse->query.instance)
		argp_error(state, "--on-cpu is about the samples of --profile, and no instance that -B names");
	if (analyse->argv)
		argp_error(state, "--on-cpu needs a file: weft record --profile -- COMMAND");
	if (arguments->by.chosen.slowest)
		argp_error(state, "--slowest and --longer are about times off the CPU: leave out --on-cpu");
	analyse->query.instance = OWN_BUFFER_PROFILE;
	return 0;
}

static const struct options_child children[] = {
	{ &analyse_options, offsetof(struct arguments, by.analyse), 0, NULL },
	{ &analyse_slowest_options, offsetof(struct arguments, by.chosen), 1, NULL },
	{ &choice_events_options, offsetof(struct arguments, by.analyse.query), 92, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording with stacks where events happened, where tasks left their CPUs, "
	       "how long they were off, and which task woke them; or what CPUs spent their time on.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .by = { .analyse = ANALYSE_INIT, .ops = &stacks_analysis } };

	command_parse(&stacks_command, argc, argv, 0, &arguments);
	return analyse_run(&arguments.by.analyse, arguments.on_cpu ? &stacks_on_cpu_analysis : &stacks_analysis,
			   &arguments.by.chosen);
}

const struct command stacks_command = {
	.name = "stacks",
	.summary = "show where events happened, and where tasks left their CPUs",
	.brief = "call chains",
	.examples = "  weft record -e sched -T -- make\n"
		    "  weft stacks\n"
		    "  weft stacks --by function --comm make\n"
		    "  weft stacks --longer 20ms\n"
		    "  weft stacks -e kmem:kmalloc -f 'bytes_alloc > 4096'\n"
		    "  weft record --profile -- make\n"
		    "  weft stacks --on-cpu --by function",
	.group = "read",
	.options = &command_options,
	.run = run,
};
