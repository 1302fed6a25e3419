// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/form_apart.h"
#include "cmd/form_options.h"
#include "cmd/form_write.h"
#include "cmd/option_value.h"
#include "lib/base/fail.h"
#include "lib/base/sandbox.h"
#include "lib/base/text.h"
#include "lib/import/import.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* weft import: makes a recording from the kernel's text. */
enum { OPT_FORMATS_FROM = 256 };

enum { LINE_MAX_LEN = 1 << 16 };

struct arguments {
	struct form form;
	const char *input, *formats_from;
	struct trace *formats;
	struct import *import;
	uint64_t size;
};

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Read the text FILE; - is standard input", 1 },
	{ "formats-from", OPT_FORMATS_FROM, "FILE", 0,
	  "Take the fields of events from FILE, a trace.dat of the same kernel", 1 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->form;
		return 0;
	case OPT_FORMATS_FROM:
		arguments->formats_from = arg;
		return 0;
	case 'i':
	case ARGP_KEY_ARG:
		option_once("text", &arguments->input, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!arguments->input)
			argp_error(state, "no FILE given; - is standard input");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &form_argp, 0, NULL, 2 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "TEXT",
	.doc = "Makes a trace.dat from the kernel's text, as in a bug report or the log of a console.",
	.children = children,
};

/* Reads lines. Longer ones are cut: no event of the kernel is that long. */
static int read_lines(struct arguments *arguments, FILE *file, struct fail *fail)
{
	cleanup_free char *line = malloc(LINE_MAX_LEN);
	size_t len = 0;
	int c, r = line ? 0 : fail_memory(fail);

	while (!r && (c = getc(file)) != EOF) {
		if (c != '\n') {
			if (len < LINE_MAX_LEN)
				line[len++] = (char)c;
			continue;
		}
		r = import_line(arguments->import, line, len, fail);
		len = 0;
	}
	if (!r && ferror(file))
		r = fail_set(fail, -EIO, "cannot read '%s': %s", arguments->input, strerror(errno));
	return r || !len ? r : import_line(arguments->import, line, len, fail);
}

static int write_import(void *arg, int fd, struct fail *fail)
{
	struct arguments *arguments = arg;

	return import_write(arguments->import, fd, &arguments->size, fail);
}

/* Opens the inputs and then gives up all rights, because both inputs may come from strangers. */
static int open_inputs(struct arguments *arguments, FILE **ret, struct fail *fail)
{
	FILE *file = strcmp(arguments->input, "-") ? fopen(arguments->input, "re") : stdin;
	struct stat st;
	int r = file ? 0 : fail_set(fail, -errno, "cannot open '%s': %s", arguments->input, strerror(errno));

	if (!r && arguments->formats_from)
		r = trace_new(arguments->formats_from, &arguments->formats, fail);
	if (!r && fstat(fileno(file), &st))
		r = fail_set(fail, -errno, "cannot read '%s': %s", arguments->input, strerror(errno));
	if (!r && !arguments->form.no_sandbox)
		r = sandbox_enter(st.st_uid, st.st_gid, fail);
	if (!r && arguments->formats)
		r = trace_load(arguments->formats, fail);
	*ret = file;
	return r;
}

static int import_text(struct arguments *arguments, struct fail *fail)
{
	FILE *file = NULL;
	int r = open_inputs(arguments, &file, fail);

	if (!r)
		r = import_new(arguments->formats, &arguments->form.as, &arguments->import, fail);
	if (!r)
		r = read_lines(arguments, file, fail);
	if (!r && !import_counts(arguments->import).events)
		r = fail_set(fail, -ENOENT, "'%s' has no line of a trace: TASK-PID [CPU] flags TIME: EVENT",
			     arguments->input);
	if (file && file != stdin)
		fclose(file);
	return r ? r : form_write(&arguments->form, "", write_import, arguments, fail);
}

static void tell(const struct arguments *arguments)
{
	struct import_counts counts = import_counts(arguments->import);
	char size[TEXT_HUMAN];

	if (arguments->form.quiet)
		return;
	command_warn("%s: %" PRIu64 " event%s, %s", arguments->form.output, counts.events, text_plural(counts.events),
		     text_size(size, arguments->size));
	if (counts.whole)
		command_warn("note: the fields of %" PRIu64 " of them are unknown, they have only their text%s",
			     counts.whole,
			     arguments->formats ? "" : "; --formats-from FILE, of the same kernel, has more fields");
	if (counts.guessed)
		command_warn("note: %" PRIu64
			     " lines of the function graph have no time: their times are made from their order and the "
			     "durations, without the time between functions; the option funcgraph-abstime prints times",
			     counts.guessed);
	if (counts.unknown)
		command_warn("note: the task of %" PRIu64
			     " events of the function graph is unknown; their PID is 4194304 plus the CPU's number; "
			     "the option funcgraph-proc prints tasks",
			     counts.unknown);
	if (counts.passed)
		command_warn("note: %" PRIu64 " line%s no event%s", counts.passed, counts.passed == 1 ? " is" : "s are",
			     text_plural(counts.passed));
}

static int make_file(void *arg)
{
	struct arguments *arguments = arg;
	struct fail fail = FAIL_INIT;
	int r = import_text(arguments, &fail);

	if (r)
		command_failed(&fail);
	else
		tell(arguments);
	import_free(arguments->import);
	trace_free(arguments->formats);
	return r ? EXIT_FAILED : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .input = NULL };

	command_parse(&import_command, argc, argv, 0, &arguments);
	return form_apart(&arguments.form, make_file, &arguments);
}

const struct command import_command = {
	.name = "import",
	.summary = "make a trace.dat of the kernel's text",
	.brief = "text to a file",
	.examples = "  weft import -o trace.dat trace.txt\n"
		    "  dmesg | weft import -o trace.dat -",
	.group = "read",
	.argp = &argp,
	.run = run,
};
