// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdbool.h>

#include "cmd/command.h"
#include "cmd/options/answer.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/progress.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/check.h"
#include "lib/pages/trace/trace.h"

/* weft check: verifies all of a file, the container first and then every page. */
struct arguments {
	const char *input;
	bool quiet;
	struct reading reading;
	struct answer answer;
};

struct findings {
	const char *path;
	struct json *json; /* of the array of damage; NULL: it is told in lines */
	unsigned count;
	uint64_t opening; /* the offset of the damage that opening the file found; UINT64_MAX: unknown */
	bool opening_told;
};

enum { SECTION_HEAD = 128 };

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Check FILE (default: trace.dat); - is standard input", 1,
	  OPTION_ONCE(struct arguments, input, "file") },
	{ "quiet", 'q', NULL, 0, "Print nothing about an intact file", 1, OPTION_FLAG(struct arguments, quiet) },
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
	{ &reading_options, offsetof(struct arguments, reading), 1, NULL },
	{ &answer_options, offsetof(struct arguments, answer), 1, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.children = children,
	.doc = "Verifies a trace.dat and says what is wrong at which offset."
	       "\vEvery section, every chunk and every event is read. The exit status is 0 if "
	       "the file is intact, 1 otherwise.",
};

/* `offset` NULL: it is not known. */
static void put_damage(struct json *json, const uint64_t *offset, const char *text)
{
	json_object(json);
	json_key(json, "offset");
	if (offset)
		json_put_u64(json, *offset);
	else
		json_put_null(json);
	answer_text(json, "text", text);
	json_end(json);
}

static void found(void *arg, uint64_t offset, const char *text)
{
	struct findings *findings = arg;

	findings->count++;
	/*
	 * Opening the file reports the offset of the damage inside a section; the walk over the sections reports that
	 * of the section's head. Both are the same damage.
	 */
	if (offset <= findings->opening && findings->opening - offset <= SECTION_HEAD)
		findings->opening_told = true;
	if (findings->json)
		put_damage(findings->json, &offset, text);
	else
		command_warn("'%s' is damaged at offset %" PRIu64 ": %s", findings->path, offset, text);
}

static void found_text(struct findings *findings, const char *text)
{
	findings->count++;
	if (findings->json)
		put_damage(findings->json, NULL, text);
	else
		command_warn("%s", text);
}

/* Reads all events of all buffers. */
static int check_events(struct trace *trace, struct findings *findings, uint64_t *events_seen, struct fail *fail)
{
	struct reader reader;
	int r = 0;

	reader_init(&reader);
	for (size_t i = 0; !r && i < trace_buffers(trace); i++)
		r = reader_add(&reader, trace, i, fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r)
		r = reader_run(&reader, NULL, 0, fail);
	for (size_t i = 0; !r && i < reader.nr_buffers; i++)
		if (events_damage(reader.buffers[i].events))
			found_text(findings, events_damage(reader.buffers[i].events));
	if (!r)
		*events_seen = reader_count(&reader);
	reader_release(&reader);
	return r;
}

static int check(struct trace *trace, struct findings *findings, struct check_summary *summary, uint64_t *events,
		 struct fail *fail)
{
	const char *opening = trace_damage(trace);
	int r;

	findings->opening = UINT64_MAX;
	if (opening && !number_after(opening, " at offset ", &findings->opening))
		findings->opening = UINT64_MAX;
	r = trace_check(trace, found, findings, summary, fail);
	if (opening && !findings->opening_told)
		found_text(findings, opening);
	/* After damage was found, reading the events would report broken chunks again. */
	if (!r && !findings->count)
		r = check_events(trace, findings, events, fail);
	if (!r && !findings->count && trace_damage(trace))
		found_text(findings, trace_damage(trace));
	return r;
}

static void print_ok(struct trace *trace, const struct check_summary *summary, uint64_t events)
{
	cleanup_free char *name = terminal_line(trace_path(trace));
	char size[TEXT_HUMAN], count[TEXT_HUMAN];

	if (trace_info(trace)->replaced_size) {
		printf("%s: ok, a perf.data, %s event%s\n", name, text_count(count, events), text_plural(events));
		return;
	}
	printf("%s: ok, version %u, %" PRIu64 " section%s, %zu buffer%s, %s of pages, %s event%s\n", name,
	       trace_info(trace)->version, summary->sections, text_plural(summary->sections), trace_buffers(trace),
	       text_plural(trace_buffers(trace)), text_size(size, summary->pages), text_count(count, events),
	       text_plural(events));
}

/* After the array of damage. Events are counted in an intact file only. */
static void put_rest(struct json *json, struct trace *trace, const struct findings *findings,
		     const struct check_summary *summary, uint64_t events)
{
	json_end(json);
	answer_bool(json, "intact", !findings->count);
	answer_text(json, "file", findings->path);
	answer_number(json, "file_version", trace_info(trace)->version);
	answer_number(json, "sections", summary->sections);
	answer_number(json, "buffers", trace_buffers(trace));
	answer_number(json, "pages_bytes", summary->pages);
	json_key(json, "events");
	if (findings->count)
		json_put_null(json);
	else
		json_put_u64(json, events);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .input = NULL };
	struct check_summary summary = { 0 };
	struct answer *answer = &arguments.answer;
	struct findings findings;
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	uint64_t events = 0;
	int r;

	command_parse(&check_command, argc, argv, 0, &arguments);
	if (!arguments.input)
		arguments.input = "trace.dat";
	if (!arguments.quiet)
		progress_prepare("check", false);
	if (reading_open(arguments.input, &arguments.reading, &trace, &fail))
		return command_failed(&fail);
	findings = (struct findings){ .path = trace_path(trace) };
	if (answer->is_json) {
		if (answer_begin(answer, &fail)) {
			trace_free(trace);
			return command_failed(&fail);
		}
		findings.json = &answer->json;
		json_key(findings.json, "damage");
		json_array(findings.json);
	}
	/* The file is read twice: its sections and pages, then the events. */
	progress_start(2 * trace_info(trace)->size);
	r = check(trace, &findings, &summary, &events, &fail);
	progress_end();
	if (answer->is_json) {
		put_rest(&answer->json, trace, &findings, &summary, events);
		r = r ? r : answer_end(answer, &fail);
	} else if (!r && !findings.count && !arguments.quiet) {
		print_ok(trace, &summary, events);
	}
	trace_free(trace);
	if (r)
		return command_failed(&fail);
	return findings.count ? EXIT_FAILED : EXIT_OK;
}

/* clang-format off */
static const struct json_member members[] = {
	{ "damage[].offset", "number|null", "in the file, of what is wrong, if that is known" },
	{ "damage[].text", "string", "what is wrong" },
	{ "intact", "boolean", "nothing is wrong" },
	{ "file", "string", "its name" },
	{ "file_version", "number", "6 or 7" },
	{ "sections", "number", "how many the file has" },
	{ "buffers", "number", "the top buffer and those of instances" },
	{ "pages_bytes", "number", "of all sub-buffers" },
	{ "events", "number|null", "how many were read; null where they could not all be read" },
	{ 0 },
};
/* clang-format on */

const struct command check_command = {
	.name = "check",
	.summary = "verify a recording",
	.brief = "is it whole",
	.examples = "  weft check trace.dat\n"
		    "  weft check -q trace.dat && weft report",
	.group = "read",
	.options = &command_options,
	.answer = members,
	.run = run,
};
