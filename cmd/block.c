// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "lib/analysis/block.h"
#include "lib/base/text.h"

enum { OPT_BY = 512, OPT_OPERATION, OPT_SIZES };

static const struct argp_option options[] = {
	{ "by", OPT_BY, "device|operation|task", 0, "A row for each of these (default: device, with its operations)",
	  1 },
	{ "operation", OPT_OPERATION, "LIST", 0, "Only these operations: read, write, discard, flush, other", 1 },
	{ "sizes", OPT_SIZES, NULL, 0, "Also show how many requests of each row had which size", 1 },
	{ 0 },
};

struct arguments {
	struct analyse analyse;
	struct block_options block;
};

static void take_operations(struct arguments *arguments, const char *list, struct argp_state *state)
{
	struct text_word word;

	while (text_next_word(&list, ",", &word)) {
		size_t i = 0;

		while (i < BLOCK_OPERATIONS && !text_word_is(word, block_operations[i]))
			i++;
		if (i == BLOCK_OPERATIONS)
			argp_error(state,
				   "--operation: unknown operation '%.*s'; there are read, write, discard, flush and "
				   "other",
				   (int)word.len, word.at);
		arguments->block.operations |= 1U << i;
	}
	if (!arguments->block.operations)
		argp_error(state, "--operation: no operation is named");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->analyse;
		return 0;
	case OPT_BY:
		arguments->block.by = (enum block_by)analyse_by(&rows_of_block, arg, state);
		return 0;
	case OPT_OPERATION:
		take_operations(arguments, arg, state);
		return 0;
	case OPT_SIZES:
		arguments->block.sizes = true;
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
	.doc = "Shows from a recording how long block requests waited, how long the devices took, how deep the queues "
	       "were, and which tasks wanted the requests.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	command_parse(&block_command, argc, argv, 0, &arguments);
	return analyse_run(&arguments.analyse, &block_analysis, &arguments.block);
}

const struct command block_command = {
	.name = "block",
	.summary = "show how long block requests waited and took",
	.brief = "disk requests",
	.examples = "  weft record -e block -- dd if=/dev/sda of=/dev/null count=1000\n"
		    "  weft block\n"
		    "  weft block --by task --sort q2c_max_ns\n"
		    "  weft block --by task --operation write --sizes",
	.group = "read",
	.argp = &argp,
	.run = run,
};
