// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/form_apart.h"
#include "cmd/options/form_options.h"
#include "cmd/terminal/paste.h"
#include "lib/base/text.h"
#include "lib/made/unite.h"
#include "lib/made/unite_events.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* weft merge: makes one file from the recordings of several machines. */
enum { OPT_OFFSET = 256, OPT_MATCH };

enum { FILES_MAX = 64 };

struct source {
	const char *path;
	char name[64]; /* of its buffers: the file's name without its directory and ".dat" */
	int64_t offset;
	struct trace *trace;
	bool damaged;
};

struct arguments {
	struct form form;
	struct source sources[FILES_MAX];
	size_t nr;
	const char *offsets[FILES_MAX];
	size_t nr_offsets;
	const char *match;
	struct unite *unite;
	uint64_t size, events;
};

static const struct argp_option options[] = {
	{ "offset", OPT_OFFSET, "FILE=NS", 0,
	  "Add NS nanoseconds, which may be negative, to the times of FILE; repeatable", 1 },
	{ "match", OPT_MATCH, "EVENT", 0,
	  "Shift the files' times so that the first EVENT of each file happens at the same time", 1 },
	{ 0 },
};

static void set_offset(struct arguments *arguments, const char *text, struct argp_state *state)
{
	const char *equals = strrchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;
	struct fail fail = FAIL_INIT;

	if (!equals)
		argp_error(state, "--offset: '%s' is not FILE=NS", text);
	for (size_t i = 0; i < arguments->nr; i++)
		if (strlen(arguments->sources[i].path) == len && !strncmp(arguments->sources[i].path, text, len)) {
			if (text_parse_s64(equals + 1, &arguments->sources[i].offset, &fail))
				argp_error(state, "--offset: %s", fail.text);
			return;
		}
	argp_error(state, "--offset: '%.*s' is not one of the files", (int)len, text);
}

static void add_source(struct arguments *arguments, const char *path, struct argp_state *state)
{
	const char *leaf = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t len = strlen(leaf);
	struct source *source = &arguments->sources[arguments->nr];

	if (arguments->nr == FILES_MAX)
		argp_error(state, "more than %d files", FILES_MAX);
	source->path = path;
	len -= len > 4 && !strcmp(leaf + len - 4, ".dat") ? 4 : 0;
	snprintf(source->name, sizeof(source->name), "%.*s", len > 40 ? 40 : (int)len, leaf);
	for (size_t i = 0; i < arguments->nr; i++)
		if (!strcmp(arguments->sources[i].name, source->name)) {
			len = strlen(source->name);
			snprintf(source->name + len, sizeof(source->name) - len, "-%zu", arguments->nr + 1);
			break;
		}
	arguments->nr++;
}

static void finish_arguments(struct arguments *arguments, struct argp_state *state)
{
	if (arguments->nr < 2)
		argp_error(state, "no files given: weft merge -o FILE FILE FILE...");
	if (arguments->match && arguments->nr_offsets)
		argp_error(state, "--offset and --match cannot be combined");
	for (size_t i = 0; i < arguments->nr_offsets; i++)
		set_offset(arguments, arguments->offsets[i], state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->form;
		return 0;
	case OPT_OFFSET:
		if (arguments->nr_offsets == FILES_MAX)
			argp_error(state, "more than %d offsets", FILES_MAX);
		arguments->offsets[arguments->nr_offsets++] = arg;
		return 0;
	case OPT_MATCH:
		arguments->match = arg;
		return 0;
	case ARGP_KEY_ARG:
		add_source(arguments, arg, state);
		return 0;
	case ARGP_KEY_END:
		finish_arguments(arguments, state);
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
	.args_doc = "FILE...",
	.doc = "Writes the recordings of several machines as one file, in one order of time."
	       "\vThe events of each FILE are a buffer of its name, without directory and .dat.",
	.children = children,
};

static int find_offsets(struct arguments *arguments, struct fail *fail)
{
	uint64_t first = 0, ts = 0;

	for (size_t i = 0; i < arguments->nr; i++) {
		int r = unite_first(arguments->sources[i].trace, arguments->match, &ts, fail);

		if (r)
			return fail_in(fail, r, "'%s'", arguments->sources[i].path);
		if (!i)
			first = ts;
		arguments->sources[i].offset = (int64_t)(first - ts);
	}
	return 0;
}

static int take_sources(struct arguments *arguments, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < arguments->nr; i++) {
		struct source *source = &arguments->sources[i];

		r = unite_trace(arguments->unite, source->trace, source->name, source->offset, fail);
		if (!r)
			r = unite_events(arguments->unite, i, source->trace, &arguments->events, &source->damaged,
					 fail);
		if (r)
			fail_in(fail, r, "'%s'", source->path);
	}
	return r;
}

static int write_union(void *arg, int fd, struct fail *fail)
{
	struct arguments *arguments = arg;

	return unite_write(arguments->unite, fd, &arguments->size, fail);
}

static int open_sources(struct arguments *arguments, struct fail *fail)
{
	const char *paths[FILES_MAX];
	struct trace *traces[FILES_MAX] = { NULL };
	int r;

	for (size_t i = 0; i < arguments->nr; i++)
		paths[i] = arguments->sources[i].path;
	r = form_open(&arguments->form, paths, arguments->nr, traces, fail);
	for (size_t i = 0; i < arguments->nr; i++)
		arguments->sources[i].trace = traces[i];
	return r;
}

static int merge_files(struct arguments *arguments, struct fail *fail)
{
	int r = open_sources(arguments, fail);

	if (!r && arguments->match)
		r = find_offsets(arguments, fail);
	if (!r)
		r = unite_new(&arguments->form.as, &arguments->unite, fail);
	if (!r)
		r = take_sources(arguments, fail);
	return r ? r : form_write(&arguments->form, "", write_union, arguments, fail);
}

static int tell(const struct arguments *arguments)
{
	char size[TEXT_HUMAN];
	int status = EXIT_OK;

	for (size_t i = 0; i < arguments->nr; i++) {
		const struct source *source = &arguments->sources[i];

		if (source->damaged) {
			cleanup_buf struct buf pasted = BUF_INIT;

			command_warn("'%s' is damaged; 'weft check %s' says where", source->path,
				     paste_file(&pasted, source->path));
			status = EXIT_FAILED;
		}
		if (!arguments->form.quiet && arguments->match)
			command_warn("%s: offset %" PRId64 " ns", source->path, source->offset);
	}
	if (!arguments->form.quiet)
		command_warn("%s: %" PRIu64 " event%s of %zu file%s, %s", arguments->form.output, arguments->events,
			     text_plural(arguments->events), arguments->nr, text_plural(arguments->nr),
			     text_size(size, arguments->size));
	return status;
}

static int make_file(void *arg)
{
	struct arguments *arguments = arg;
	struct fail fail = FAIL_INIT;
	int r = merge_files(arguments, &fail);

	r = r ? command_failed(&fail) : tell(arguments);
	unite_free(arguments->unite);
	for (size_t i = 0; i < arguments->nr; i++)
		trace_free(arguments->sources[i].trace);
	return r;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .nr = 0 };

	command_parse(&merge_command, argc, argv, 0, &arguments);
	return form_apart(&arguments.form, make_file, &arguments);
}

const struct command merge_command = {
	.name = "merge",
	.summary = "write the recordings of several machines as one file",
	.brief = "several files",
	.examples = "  weft merge -o all.dat host.dat guest.dat\n"
		    "  weft merge --offset guest.dat=-1500000 -o all.dat host.dat guest.dat",
	.group = "read",
	.argp = &argp,
	.run = run,
};
