// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdint.h>

#include "cmd/command.h"
#include "cmd/options/form_options.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/sandboxed_rewrite.h"
#include "lib/files/rewrite/recast.h"
#include "lib/ground/base/text.h"
#include "lib/pages/trace/trace.h"

/* weft convert: the same recording as a file of another version or compression. */
struct arguments {
	struct form form;
	const char *input;
	struct trace *trace;
	uint64_t size;
};

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE (default: trace.dat); - is standard input", 1,
	  OPTION_ONCE(struct arguments, input, "file") },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		option_once("file", &arguments->input, arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &form_options, offsetof(struct arguments, form), 2, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Writes the same recording as a file of another version or compression."
	       "\vEvery event, text and setting is kept, and the byte order stays that of the traced machine.",
	.children = children,
};

static int write_recast(void *arg, int fd, struct fail *fail)
{
	struct arguments *arguments = arg;

	return recast(arguments->trace, &arguments->form.as, fd, &arguments->size, fail);
}

static int make_file(void *arg)
{
	struct arguments *arguments = arg;
	const struct form *form = &arguments->form;
	char before[TEXT_HUMAN], after[TEXT_HUMAN];
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	bool damaged;

	if (form_open(form, &arguments->input, 1, &trace, &fail))
		return command_failed(&fail);
	arguments->trace = trace;
	if (form_write(form, "", write_recast, arguments, &fail)) {
		trace_free(trace);
		return command_failed(&fail);
	}
	damaged = trace_damage(trace);
	if (damaged)
		command_warn("%s", trace_damage(trace));
	if (!form->quiet)
		command_warn("%s: version %u, %s; it was version %u, %s", output_told(form->output), form->as.version,
			     text_size(after, arguments->size), trace_info(trace)->version,
			     text_size(before, trace_info(trace)->size));
	trace_free(trace);
	return damaged ? EXIT_FAILED : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .input = NULL };

	command_parse(&convert_command, argc, argv, 0, &arguments);
	if (!arguments.input)
		arguments.input = "trace.dat";
	return form_apart(&arguments.form, make_file, &arguments);
}

const struct command convert_command = {
	.name = "convert",
	.summary = "write a recording as another version of trace.dat",
	.brief = "file versions",
	.examples = "  weft convert --file-version 6 -o old.dat trace.dat\n"
		    "  weft convert --compression zstd:19 -o small.dat trace.dat",
	.group = "read",
	.options = &command_options,
	.run = run,
};
