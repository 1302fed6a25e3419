// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/form_apart.h"
#include "cmd/options/form_options.h"
#include "cmd/options/option_value.h"
#include "lib/base/fail.h"
#include "lib/base/readable.h"
#include "lib/base/sandbox.h"
#include "lib/base/text.h"
#include "lib/import/import.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* weft import: makes a recording from the kernel's text. */
enum { OPT_FORMATS_FROM = 256, OPT_STRICT };

struct arguments {
	struct form form;
	const char *input, *formats_from;
	struct trace *formats;
	struct import *import;
	FILE *file;
	bool strict;
	uint64_t size;
};

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Read the text FILE; - is standard input", 1 },
	{ "formats-from", OPT_FORMATS_FROM, "FILE", 0,
	  "Take the fields of events from FILE, a trace.dat of the same kernel", 1 },
	{ "strict", OPT_STRICT, 0, 0, "Fail, and write no file, if the text has a line that is no event", 1 },
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
	case OPT_STRICT:
		arguments->strict = true;
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

static int read_file(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	const struct arguments *arguments = arg;
	size_t len = fread(to, 1, size < INT_MAX ? size : INT_MAX, arguments->file);

	if (!len && ferror(arguments->file))
		return fail_set(fail, -EIO, "cannot read '%s': %s", arguments->input, strerror(errno));
	return (int)len;
}

static int write_import(void *arg, int fd, struct fail *fail)
{
	struct arguments *arguments = arg;

	return import_write(arguments->import, fd, &arguments->size, fail);
}

/* Opens the inputs and then gives up all rights, because both inputs may come from strangers. */
static int open_inputs(struct arguments *arguments, struct fail *fail)
{
	FILE *file = stdin;
	struct stat st;
	int fd, r = 0;

	if (strcmp(arguments->input, "-") != 0) {
		r = readable_open(arguments->input, &fd, fail);
		file = r ? NULL : fdopen(fd, "r");
		if (!r && !file)
			r = fail_set(fail, -errno, "cannot open '%s': %s", arguments->input, strerror(errno));
	}
	if (!r && arguments->formats_from)
		r = trace_new(arguments->formats_from, &arguments->formats, fail);
	if (!r && fstat(fileno(file), &st))
		r = fail_set(fail, -errno, "cannot read '%s': %s", arguments->input, strerror(errno));
	if (!r && S_ISREG(st.st_mode))
		r = form_limit(&arguments->form,
			       (uint64_t)st.st_size + (arguments->formats ? trace_info(arguments->formats)->size : 0),
			       fail);
	if (!r && !arguments->form.reading.no_sandbox)
		r = sandbox_enter(st.st_uid, st.st_gid, fail);
	if (!r && arguments->formats)
		r = trace_load(arguments->formats, fail);
	arguments->file = file;
	return r;
}

/* Says which lines were not understood: how many of each kind, and the first ones. */
static void tell_lines(const struct told *told)
{
	uint64_t nr = told_count(told);
	char kinds[512] = "";
	size_t len = 0;

	if (!nr)
		return;
	for (unsigned kind = 0; kind < TOLD_KINDS; kind++)
		if (told->counts[kind] && len < sizeof(kinds))
			len += (size_t)snprintf(kinds + len, sizeof(kinds) - len, "%s%" PRIu64 " %s", len ? ", " : "",
						told->counts[kind], told_name(kind));
	command_warn("note: %" PRIu64 " line%s no event%s: %s", nr, nr == 1 ? " is" : "s are", text_plural(nr), kinds);
	for (unsigned kind = 0; kind < TOLD_KINDS; kind++)
		if (told->counts[kind] && told_advice(kind))
			command_warn("note: %s", told_advice(kind));
	for (unsigned i = 0; i < told->nr_shown; i++) {
		const struct told_line *line = &told->shown[i];

		command_warn("note: line %" PRIu64 ": %.*s%s", line->number, (int)line->len, line->text,
			     line->len == TOLD_WIDTH ? "..." : "");
	}
}

/* Refuses a text without events, and with --strict one with other lines. */
static int judge(const struct arguments *arguments, struct fail *fail)
{
	struct import_counts counts = import_counts(arguments->import);
	const struct told *told = &counts.told;
	const struct told_line *line = &told->shown[0];

	if (counts.events && (!arguments->strict || !told->nr_shown))
		return 0;
	if (counts.events)
		return fail_set(fail, -EBADMSG, "'%s' has %" PRIu64 " lines that are no event; line %" PRIu64 ": %.*s",
				arguments->input, told_count(told), line->number, (int)line->len, line->text);
	if (told->nr_shown && line->kind != TOLD_OTHER)
		return fail_set(fail, -ENOENT,
				"'%s' has no line of a trace that can be imported; line %" PRIu64 " looks %s: %.*s%s%s",
				arguments->input, line->number, told_name(line->kind), (int)line->len, line->text,
				told_advice(line->kind) ? "; " : "", told_advice(line->kind) ?: "");
	return fail_set(fail, -ENOENT, "'%s' has no line of a trace: TASK-PID [CPU] flags TIME: EVENT",
			arguments->input);
}

static int import_text(struct arguments *arguments, struct fail *fail)
{
	const struct import_source source = { .read = read_file, .arg = arguments };
	int r = open_inputs(arguments, fail);

	if (!r)
		r = import_new(arguments->formats, &arguments->form.as, &arguments->import, fail);
	if (!r)
		r = import_read(arguments->import, &source, fail);
	if (!r)
		r = judge(arguments, fail);
	if (arguments->file && arguments->file != stdin)
		fclose(arguments->file);
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
	if (counts.no_flags)
		command_warn("note: no line has columns of flags: which events happened in an interrupt is not known, "
			     "and each counts for the task that it hit");
	if (*counts.partial_flags)
		command_warn("note: events have different columns of flags, as of several kernels (%s): 'weft report' "
			     "prints the same ones for all, in which a dot may stand for a flag that the text lacks",
			     counts.partial_flags);
	if (counts.mixed_times)
		command_warn("note: some events have times since the beginning of the trace, as the option "
			     "latency-format prints them, and others the time of the clock: one report cannot print "
			     "both forms, so 'weft report' prints 12us as 0.000012");
	if (counts.backwards)
		command_warn("note: %" PRIu64
			     " line%s a time before that of an earlier line of the same CPU, as where the "
			     "texts of two recordings follow one another: they stay in the order of the text",
			     counts.backwards, counts.backwards == 1 ? " has" : "s have");
	if (counts.guessed)
		command_warn("note: %" PRIu64
			     " lines of the function graph have no time: their times are made from their order and the "
			     "durations, without the time between functions; the option funcgraph-abstime prints times",
			     counts.guessed);
	if (*counts.partial)
		command_warn("note: only some lines of the function graph have these columns, so 'weft report' leaves "
			     "them out: %s",
			     counts.partial);
	if (counts.unknown)
		command_warn("note: the task of %" PRIu64
			     " events of the function graph is unknown; their PID is 4194304 plus the CPU's number; "
			     "the option funcgraph-proc prints tasks",
			     counts.unknown);
	tell_lines(&counts.told);
}

static int make_file(void *arg)
{
	struct arguments *arguments = arg;
	struct fail fail = FAIL_INIT;
	int r = import_text(arguments, &fail);
	bool lacks = false;

	if (r)
		command_failed(&fail);
	else
		tell(arguments);
	if (!r) {
		struct import_counts counts = import_counts(arguments->import);

		lacks = told_events(&counts.told);
	}
	import_free(arguments->import);
	trace_free(arguments->formats);
	return r || lacks ? EXIT_FAILED : EXIT_OK;
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
