// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/options/choice.h"
#include "cmd/options/option_rows.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/terminal.h"
#include "lib/answers/explain/brief.h"
#include "lib/answers/frame/findings.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/reader/query.h"
#include "lib/pages/trace/trace.h"

enum { OPT_ASK = 512, OPT_FORMAT };
enum brief_form { AS_TEXT, AS_MARKDOWN, AS_JSON, AS_SCHEMA };

struct arguments {
	const char *given, *input;
	struct query query;
	struct reading reading;
	struct brief_options brief;
	enum brief_form form;
	uint64_t max_bytes;
};

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; '-' is standard input (default: trace.dat)", 1, OPTION_BY_KEY },
	{ "ask", OPT_ASK, "latency|io|locks|cpu|errors|memory", 0,
	  "Tell only of this kind; then smaller things stand out, too", 1, OPTION_BY_KEY },
	{ "format", OPT_FORMAT, "text|markdown|json|schema", 0,
	  "Print lines of text (the default), the same as a block of Markdown, or tables for programs", 1,
	  OPTION_BY_KEY },
	{ "max-bytes", 0, "N", 0, "Of json: print at most so many bytes", 1,
	  OPTION_NUMBER(struct arguments, max_bytes) },
	{ 0 },
};

static void take_ask(struct arguments *arguments, const char *name, struct argp_state *state)
{
	for (int i = 0; i < BRIEF_KINDS; i++)
		if (!strcmp(name, brief_kinds[i])) {
			arguments->brief.ask = (enum brief_kind)i;
			return;
		}
	argp_error(state, "--ask: '%s' is no kind; use latency, io, locks, cpu, errors or memory", name);
}

static void take_form(struct arguments *arguments, const char *name, struct argp_state *state)
{
	static const char *const names[] = {
		[AS_TEXT] = "text", [AS_MARKDOWN] = "markdown", [AS_JSON] = "json", [AS_SCHEMA] = "schema"
	};

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(name, names[i])) {
			arguments->form = (enum brief_form)i;
			return;
		}
	argp_error(state, "--format: unknown format '%s'; use text, markdown, json or schema", name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
	case 'i':
		option_once("file", &arguments->given, choice_take_file(&arguments->query, arg, state), state);
		arguments->input = arguments->given;
		return 0;
	case OPT_ASK:
		take_ask(arguments, arg, state);
		return 0;
	case OPT_FORMAT:
		take_form(arguments, arg, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		if (arguments->max_bytes && arguments->form != AS_JSON)
			argp_error(state, "--max-bytes limits --format json; a text has at most %d bytes", BRIEF_BYTES);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &choice_part_options, offsetof(struct arguments, query), 2, NULL },
	{ &reading_options, offsetof(struct arguments, reading), 3, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = children,
	.args_doc = "[FILE]",
	.doc = "Tells on less than a page what stands out in a recording and why, for a mail or a ticket.",
};

static int print(const struct arguments *arguments, struct findings *findings, struct fail *fail)
{
	const struct findings_options how = { .format = arguments->form == AS_JSON ? TABLE_AS_JSON : TABLE_AS_SCHEMA,
					      .top = UINT64_MAX,
					      .max_bytes = arguments->max_bytes };
	struct out out;
	int r;

	if (arguments->form >= AS_JSON)
		return analyse_print(findings, &how, fail);
	if (!out_init(&out, 1 << 12))
		return fail_memory(fail);
	r = brief_write(&arguments->brief, findings, arguments->form == AS_MARKDOWN, &out) ?
		    terminal_flush(&out, fail) :
		    fail_memory(fail);
	out_release(&out);
	return r;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .input = "trace.dat", .query = QUERY_INIT, .brief = { .ask = BRIEF_KINDS } };
	cleanup_buf struct buf pasted = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	struct findings findings;
	bool shape;
	int r;

	command_parse(&brief_command, argc, argv, 0, &arguments);
	shape = arguments.form == AS_SCHEMA && !arguments.given;
	findings_init(&findings);
	arguments.brief.input = strcmp(arguments.input, "-") ?
					paste_recording(&pasted, arguments.query.instance, arguments.input) :
					"FILE";
	if (!arguments.brief.input)
		r = fail_memory(&fail);
	else if (shape)
		r = reading_open_nothing(&trace, &fail);
	else
		r = reading_open(arguments.input, &arguments.reading, &trace, &fail);
	if (!r && (r = brief_find(&arguments.brief, trace, &arguments.query, &findings, &fail)))
		fail_in(&fail, r, "'%s'", arguments.input);
	/* A name that no task has is no reason to say that all is well. */
	if (!shape && (r == -ENODATA || (!r && brief_is_empty(&findings))))
		choice_tell_empty(trace, &arguments.query, true);
	if (!r)
		r = print(&arguments, &findings, &fail);
	if (!r && trace_damage(trace))
		r = fail_set(&fail, -EBADMSG, "%s", trace_damage(trace));
	findings_release(&findings);
	query_release(&arguments.query);
	trace_free(trace);
	return r ? command_failed(&fail) : EXIT_OK;
}

const struct command brief_command = {
	.name = "brief",
	.summary = "tell on less than a page what stands out, and why",
	.brief = "for a ticket",
	.examples = "  weft brief trace.dat\n"
		    "  weft brief --ask io trace.dat\n"
		    "  weft brief --format markdown trace.dat > comment.md",
	.group = "read",
	.options = &command_options,
	.run = run,
};
