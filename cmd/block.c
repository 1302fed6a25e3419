// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "lib/answers/block/block.h"
#include "lib/ground/base/text.h"

enum { OPT_BY = 512, OPT_OPERATION };

struct arguments {
	struct analyse analyse;
	struct block_options block;
};

static const struct option_row options[] = {
	{ "by", OPT_BY, "device|operation|task|file|process|program|unit|container|pod|cgroup|user", 0,
	  "A row for each of these (default: device, with its operations)", 1, OPTION_BY_KEY },
	{ "operation", OPT_OPERATION, "LIST", 0, "Only these operations: read, write, discard, flush, other", 1,
	  OPTION_BY_KEY },
	{ "sizes", 0, NULL, 0, "Also show how many requests of each row had which size", 1,
	  OPTION_FLAG(struct arguments, block.sizes) },
	{ 0 },
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
	case OPT_BY:
		arguments->block.rows.by = analyse_by(block_analysis.by, arg, state);
		return 0;
	case OPT_OPERATION:
		take_operations(arguments, arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &analyse_options, offsetof(struct arguments, analyse), 0, NULL },
	{ &analyse_slowest_options, offsetof(struct arguments, block.rows), 1, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = children,
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
		    "  weft block --longer 10ms\n"
		    "  weft block --by task --sort bytes\n"
		    "  weft block --by task --operation write --sizes",
	.group = "read",
	.options = &command_options,
	.run = run,
};
