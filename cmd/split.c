// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/choice.h"
#include "cmd/options/form_options.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/setup_values.h"
#include "cmd/sandboxed_rewrite.h"
#include "lib/files/rewrite/cut.h"
#include "lib/files/rewrite/excerpt.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

/* weft split: writes some of the events of a recording into a file of their own, or all of them into several files. */
enum { OPT_EVERY = 256, OPT_SIZE, OPT_COUNT, OPT_BY };

struct arguments {
	struct query query;
	struct form form;
	const char *input;
	enum cut_by by;
	uint64_t step;
};

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE (default: trace.dat); - is standard input", 1,
	  OPTION_ONCE(struct arguments, input, "file") },
	{ "every", OPT_EVERY, "TIME", 0, "A file for each span of TIME, such as 100ms", 1, OPTION_BY_KEY },
	{ "size", OPT_SIZE, "SIZE", 0, "A file for each SIZE of pages, such as 10M", 1, OPTION_BY_KEY },
	{ "count", OPT_COUNT, "N", 0, "A file for each N events", 1, OPTION_BY_KEY },
	{ "by", OPT_BY, "cpu|event", 0, "A file for each CPU, or for each type of event", 1, OPTION_BY_KEY },
	{ 0 },
};

static void choose_division(struct arguments *arguments, enum cut_by by, uint64_t step, struct argp_state *state)
{
	if (arguments->by != CUT_NOT)
		argp_error(state, "only one of --every, --size, --count and --by is allowed");
	arguments->by = by;
	arguments->step = step;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPT_EVERY:
		choose_division(arguments, CUT_TIME, option_time("every", arg, state), state);
		return 0;
	case OPT_SIZE:
		choose_division(arguments, CUT_SIZE, setup_size("--size", arg, state), state);
		return 0;
	case OPT_COUNT:
		choose_division(arguments, CUT_COUNT, setup_number("--count", arg, 1, UINT64_MAX, state), state);
		return 0;
	case OPT_BY:
		if (strcmp(arg, "cpu") && strcmp(arg, "event"))
			argp_error(state, "--by: cpu or event, not '%s'", arg);
		choose_division(arguments, *arg == 'c' ? CUT_CPU : CUT_EVENT, 1, state);
		return 0;
	case ARGP_KEY_ARG:
		option_once("file", &arguments->input, arg, state);
		return 0;
	case ARGP_KEY_END:
		arguments->form.divides = arguments->by != CUT_NOT;
		if (arguments->by != CUT_NOT && arguments->form.output && !strcmp(arguments->form.output, "-"))
			argp_error(state, "several files cannot be written to standard output: use -o FILE");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &choice_options, offsetof(struct arguments, query), 2, NULL },
	{ &form_options, offsetof(struct arguments, form), 3, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Writes some of the events of a recording as a file of their own, or all of them as several files."
	       "\vThe parts of -o part.dat are part.001.dat and so on, with --by part.cpu0.dat or "
	       "part.sched_switch.dat. Each has the texts and settings of the recording.",
	.children = children,
};

/* What write_part() needs. */
struct parts {
	const struct form *form;
	uint64_t nr;
};

struct part {
	struct excerpt *excerpt;
	uint64_t size; /* of the file, once it is written */
};

static int write_excerpt(void *arg, int fd, struct fail *fail)
{
	struct part *part = arg;

	return excerpt_write(part->excerpt, fd, &part->size, fail);
}

static int write_part(void *arg, const char *word, struct excerpt *excerpt, struct fail *fail)
{
	struct parts *parts = arg;
	cleanup_free char *path = form_path(parts->form, word);
	struct part part = { .excerpt = excerpt };
	char size[TEXT_HUMAN];
	int r;

	_Static_assert((int)CUT_WORD <= (int)FORM_WORD && (int)CUT_PARTS_MAX <= (int)FORM_FILES_MAX, "fits");
	if (!path)
		return fail_memory(fail);
	r = form_write(parts->form, word, write_excerpt, &part, fail);
	if (r == -EMFILE)
		return fail_in(fail, r,
			       "after %" PRIu64 " parts; make them larger, or allow more open files with 'ulimit -n'",
			       parts->nr);
	if (r)
		return r;
	parts->nr++;
	if (!parts->form->quiet)
		command_warn("%s: %s event%s, %s", output_told(path),
			     text_count((char[TEXT_HUMAN]){ 0 }, excerpt_count(excerpt)),
			     text_plural(excerpt_count(excerpt)), text_size(size, part.size));
	return 0;
}

static int divide(struct arguments *arguments, struct trace *trace, struct fail *fail)
{
	struct query *query = &arguments->query;
	struct parts parts = { .form = &arguments->form };
	cleanup_buf struct buf selected = BUF_INIT;
	struct cut_options options = { .by = arguments->by,
				       .step = arguments->step,
				       .limit = query->limit,
				       .as = &arguments->form.as,
				       .write = write_part,
				       .arg = &parts };
	struct reader reader;
	uint64_t events = 0;
	int r;

	if (!query_put_choice(query, &selected))
		return fail_memory(fail);
	options.selected = buf_str(&selected);
	/* What weft's own buffers say in a span of time is right as a whole only. They are no events to be counted. */
	if (arguments->by <= CUT_SIZE && query->limit == UINT64_MAX && query->tail == UINT64_MAX)
		query->own = QUERY_OWN_ALL;
	reader_init(&reader);
	r = choice_buffers(query, NULL, QUERY_GIVES_CHOSEN, trace, &reader, fail);
	if (!r)
		r = query_tail(query, &reader, fail);
	if (!r)
		r = cut(&options, trace, &reader, &events, fail);
	if (!r)
		choice_tell_unknown(query, &reader);
	reader_release(&reader);
	if (!r && !arguments->form.quiet && arguments->by != CUT_NOT)
		command_warn("%s event%s in %s file%s", text_count((char[TEXT_HUMAN]){ 0 }, events),
			     text_plural(events), text_count((char[TEXT_HUMAN]){ 0 }, parts.nr), text_plural(parts.nr));
	return r;
}

static int make_files(void *arg)
{
	struct arguments *arguments = arg;
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	int r;

	if (form_open(&arguments->form, &arguments->input, 1, &trace, &fail))
		return command_failed(&fail);
	r = divide(arguments, trace, &fail);
	trace_free(trace);
	return r ? command_failed(&fail) : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .query = QUERY_INIT, .by = CUT_NOT };
	int status;

	command_parse(&split_command, argc, argv, 0, &arguments);
	if (!arguments.input)
		arguments.input = "trace.dat";
	status = form_apart(&arguments.form, make_files, &arguments);
	query_release(&arguments.query);
	return status;
}

const struct command split_command = {
	.name = "split",
	.summary = "write some events of a recording as a file, or all as several",
	.brief = "smaller files",
	.examples = "  weft split --since +1s --until +2s -o second.dat trace.dat\n"
		    "  weft split --every 10s -o part.dat trace.dat\n"
		    "  weft split --by cpu -o part.dat trace.dat",
	.group = "read",
	.options = &command_options,
	.run = run,
};
