// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/form_options.h"
#include "cmd/options/output_options.h"
#include "cmd/sandboxed_rewrite.h"
#include "cmd/terminal/paste.h"
#include "lib/files/rewrite/excerpt.h"
#include "lib/files/rewrite/join.h"
#include "lib/files/rewrite/kernel_ties.h"
#include "lib/files/rewrite/unite.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/wall.h"
#include "lib/pages/trace/trace.h"

/* weft merge: makes one file from the recordings of several machines. */
enum { OPT_OFFSET = 256 };

enum { FILES_MAX = 1000 };

struct source {
	const char *path;
	char name[64]; /* of its buffers: the file's name without its directory and ".dat" */
	int64_t offset;
	struct trace *trace;
	bool damaged;
	struct kernel_ties ties; /* of a log, with the recording that it stands in */
};

struct arguments {
	struct form form;
	struct source sources[FILES_MAX];
	size_t nr;
	const char *offsets[FILES_MAX];
	size_t nr_offsets;
	const char *match;
	struct unite *unite;
	struct excerpt *joined;    /* the files are parts of one recording */
	const struct source *like; /* the recording in which the lines of logs stand; NULL: there are no logs */
	bool is_dated;             /* it tells the time of day by itself */
	uint64_t size, events;
};

static const struct option_row options[] = {
	{ "offset", OPT_OFFSET, "FILE=NS", 0,
	  "Add NS nanoseconds, which may be negative, to the times of FILE; repeatable", 1, OPTION_BY_KEY },
	{ "match", 0, "EVENT", 0,
	  "Shift the files' times so that the first EVENT of each file happens at the same time", 1,
	  OPTION_TEXT(struct arguments, match) },
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
		argp_error(state, "%s: weft merge -o FILE FILE FILE...",
			   arguments->nr ? "only one file given" : "no files given");
	if (arguments->match && arguments->nr_offsets)
		argp_error(state, "--offset and --match cannot be combined");
	for (size_t i = 0; i < arguments->nr_offsets; i++)
		set_offset(arguments, arguments->offsets[i], state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPT_OFFSET:
		if (arguments->nr_offsets == FILES_MAX)
			argp_error(state, "more than %d offsets", FILES_MAX);
		arguments->offsets[arguments->nr_offsets++] = arg;
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

static const struct options_child children[] = {
	{ &form_options, offsetof(struct arguments, form), 2, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "FILE...",
	.doc = "Writes the recordings of several machines as one file, in one order of time."
	       "\vThe events of each FILE are a buffer of its name, without directory and .dat; parts that "
	       "'weft split' made of one recording become one again.",
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

	if (arguments->joined)
		return excerpt_write(arguments->joined, fd, &arguments->size, fail);
	return unite_write(arguments->unite, fd, &arguments->size, fail);
}

/* Parts of one recording become the recording again, unless their times are moved or an event is in two of them. */
static int join_sources(struct arguments *arguments, struct fail *fail)
{
	struct trace *traces[FILES_MAX];
	bool damaged[FILES_MAX] = { false };
	int r;

	for (size_t i = 0; i < arguments->nr; i++)
		traces[i] = arguments->sources[i].trace;
	if (arguments->match || arguments->nr_offsets || !join_is_of_one(traces, arguments->nr))
		return 0;
	r = join_new(traces, arguments->nr, &arguments->form.as, &arguments->joined, damaged, fail);
	for (size_t i = 0; !r && i < arguments->nr; i++)
		arguments->sources[i].damaged = damaged[i];
	arguments->events = arguments->joined ? excerpt_count(arguments->joined) : 0;
	return r == -EEXIST ? 0 : r;
}

/* Lines of logs stand in the first recording that is none. */
static int place_logs(struct arguments *arguments, struct fail *fail)
{
	struct source *like = NULL, *log = NULL;
	int r = 0;

	for (size_t i = arguments->nr; i-- > 0;) {
		struct source *source = &arguments->sources[i];

		if (unite_is_log(source->trace))
			log = source;
		else
			like = source;
	}
	if (!log || !like || arguments->match)
		return 0;
	for (size_t i = 0; !r && i < arguments->nr; i++)
		if (unite_is_log(arguments->sources[i].trace))
			r = kernel_ties_find(like->trace, arguments->sources[i].trace, &arguments->sources[i].ties,
					     fail);
	if (r)
		return fail_in(fail, r, "'%s'", like->path);
	arguments->like = like;
	for (size_t i = 0; !arguments->is_dated && i < trace_buffers(like->trace); i++)
		arguments->is_dated = trace_setting(like->trace, i, SETTING_CLOCKS).len;
	if (!arguments->is_dated && !log->ties.nr && trace_buffers(like->trace) < 2)
		return fail_set(fail, -ENODATA,
				"'%s' does not tell the time of day, so the lines of the log '%s' have no place in it, "
				"and no line of the kernel is in both; --match and --offset shift its times",
				like->path, log->path);
	return unite_like(arguments->unite, like->trace, like->name, like->offset, &log->ties, fail);
}

static int unite_sources(struct arguments *arguments, struct fail *fail)
{
	int r = arguments->match ? find_offsets(arguments, fail) : 0;

	if (!r)
		r = unite_new(&arguments->form.as, &arguments->unite, fail);
	if (!r)
		r = place_logs(arguments, fail);
	if (!r && !arguments->match && !arguments->sources[0].offset)
		r = unite_compare(arguments->unite, arguments->sources[0].trace, fail);
	return r ? r : take_sources(arguments, fail);
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

	if (!r)
		r = join_sources(arguments, fail);
	if (!r && !arguments->joined)
		r = unite_sources(arguments, fail);
	return r ? r : form_write(&arguments->form, "", write_union, arguments, fail);
}

/* By how much the clock of a file was wrong beside that of the first one, and how exact that is. */
static void tell_compared(const struct arguments *arguments, size_t which)
{
	char by[TEXT_HUMAN], half[TEXT_HUMAN];
	uint64_t bound;
	int64_t ns;

	if (unite_compared(arguments->unite, which, &ns, &bound))
		command_warn("%s: its times are moved by %s%s, to the clock of %s to within +-%s",
			     arguments->sources[which].path, ns < 0 ? "-" : "",
			     text_time(by, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns), arguments->sources[0].path,
			     text_time(half, bound));
}

/* What the lines say that the kernel printed into a log and a recording. */
static void tell_ties(const struct arguments *arguments, const struct source *log)
{
	const struct kernel_ties *ties = &log->ties;
	char least[TEXT_HUMAN], most[TEXT_HUMAN];

	text_time(least, ties->least < 0 ? (uint64_t)-ties->least : (uint64_t)ties->least);
	text_time(most, ties->most < 0 ? (uint64_t)-ties->most : (uint64_t)ties->most);
	if (arguments->is_dated) {
		command_warn("%s line%s of the kernel in '%s' %s of '%s', too: %s%s to %s%s later",
			     text_count((char[TEXT_HUMAN]){ 0 }, ties->nr), text_plural(ties->nr), log->path,
			     ties->nr == 1 ? "is an event" : "are events", arguments->like->path,
			     ties->least < 0 ? "-" : "", least, ties->most < 0 ? "-" : "", most);
		return;
	}
	text_time(most, (uint64_t)(ties->most - ties->least));
	command_warn(
		"'%s' does not tell the time of day: %s line%s of the kernel that %s in '%s', too, give%s the log its "
		"place, to +-%s and the unit of its times",
		arguments->like->path, text_count((char[TEXT_HUMAN]){ 0 }, ties->nr), text_plural(ties->nr),
		ties->nr == 1 ? "is" : "are", log->path, ties->nr == 1 ? "s" : "", most);
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
		if (!arguments->form.quiet && source->ties.nr)
			tell_ties(arguments, source);
		if (!arguments->form.quiet && arguments->match)
			command_warn("%s: offset %" PRId64 " ns", source->path, source->offset);
		else if (!arguments->form.quiet && !arguments->joined)
			tell_compared(arguments, i);
	}
	if (!arguments->form.quiet)
		command_warn("%s: %s event%s of %zu file%s, %s%s", output_told(arguments->form.output),
			     text_count((char[TEXT_HUMAN]){ 0 }, arguments->events), text_plural(arguments->events),
			     arguments->nr, text_plural(arguments->nr), text_size(size, arguments->size),
			     arguments->joined ? "; they are parts of one recording, and make one again" : "");
	return status;
}

static int make_file(void *arg)
{
	struct arguments *arguments = arg;
	struct fail fail = FAIL_INIT;
	int r = merge_files(arguments, &fail);

	r = r ? command_failed(&fail) : tell(arguments);
	unite_free(arguments->unite);
	excerpt_free(arguments->joined);
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
		    "  weft merge --offset guest.dat=-1500000 -o all.dat host.dat guest.dat\n"
		    "  weft merge -o all.dat trace.dat journal.dat",
	.group = "read",
	.options = &command_options,
	.run = run,
};
