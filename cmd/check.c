// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/progress.h"
#include "cmd/terminal/terminal.h"
#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/reader/reader.h"
#include "lib/trace/check.h"
#include "lib/trace/trace.h"

#include <inttypes.h>
#include <stdbool.h>

/* weft check: verifies all of a file, the container first and then every page. */
struct arguments {
	const char *input;
	bool quiet;
	struct reading reading;
};

struct findings {
	const char *path;
	unsigned count;
	uint64_t opening; /* the offset of the damage that opening the file found; UINT64_MAX: unknown */
	bool opening_told;
};

enum { SECTION_HEAD = 128 };

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Check FILE (default: trace.dat); - is standard input", 1 },
	{ "quiet", 'q', NULL, 0, "Print nothing about an intact file", 1 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->reading;
		return 0;
	case 'i':
	case ARGP_KEY_ARG:
		option_once("file", &arguments->input, arg, state);
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &reading_argp, 0, NULL, 1 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.children = children,
	.doc = "Verifies a trace.dat and says what is wrong at which offset."
	       "\vEvery section, every chunk and every event is read. The exit status is 0 if "
	       "the file is intact, 1 otherwise.",
};

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
	command_warn("'%s' is damaged at offset %" PRIu64 ": %s", findings->path, offset, text);
}

static void found_text(struct findings *findings, const char *text)
{
	findings->count++;
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

static int run(int argc, char **argv)
{
	struct arguments arguments = { .input = NULL };
	struct check_summary summary = { 0 };
	char size[TEXT_HUMAN], count[TEXT_HUMAN];
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
	/* The file is read twice: its sections and pages, then the events. */
	progress_start(2 * trace_info(trace)->size);
	r = check(trace, &findings, &summary, &events, &fail);
	progress_end();
	if (!r && !findings.count && !arguments.quiet) {
		cleanup_free char *name = terminal_line(findings.path);

		printf("%s: ok, version %u, %" PRIu64 " section%s, %zu buffer%s, %s of pages, %s event%s\n", name,
		       trace_info(trace)->version, summary.sections, text_plural(summary.sections),
		       trace_buffers(trace), text_plural(trace_buffers(trace)), text_size(size, summary.pages),
		       text_count(count, events), text_plural(events));
	}
	trace_free(trace);
	if (r)
		return command_failed(&fail);
	return findings.count ? EXIT_FAILED : EXIT_OK;
}

const struct command check_command = {
	.name = "check",
	.summary = "verify a recording",
	.brief = "is it whole",
	.examples = "  weft check trace.dat\n"
		    "  weft check -q trace.dat && weft report",
	.group = "read",
	.argp = &argp,
	.run = run,
};
