// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/form_options.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/perf_file.h"
#include "cmd/sandboxed_rewrite.h"
#include "lib/files/import/import.h"
#include "lib/files/import/log.h"
#include "lib/files/import/otlp.h"
#include "lib/files/import/perf.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/readable.h"
#include "lib/ground/base/sandbox.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/perf/perf_data.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/trace.h"

/* weft import: makes a recording from the kernel's text, or from a perf.data. */

struct arguments {
	struct form form;
	const char *input, *formats_from, *symbols_from, *tasks_from;
	struct buf symbols; /* the text of symbols_from */
	struct trace *formats;
	struct import *import;
	FILE *file;
	uint8_t begin[PERF_MAGIC_SIZE]; /* the first bytes of the input, which were read */
	size_t begin_len, begin_given;
	struct perf_import *perf; /* the input is a perf.data */
	struct input *inputs;     /* its files */
	size_t nr_inputs;
	bool strict, log, with_samples;
	const char *log_pattern;
	struct log_reader log_reader;
	bool with_spans;
	struct trace *tasks; /* of tasks_from */
	struct otlp *otlp;
	struct buf samples;
	uint64_t size;
};

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; - is standard input", 1, OPTION_ONCE(struct arguments, input, "input") },
	{ "formats-from", 0, "FILE", 0, "Take the fields of events from FILE, a trace.dat of the same kernel", 1,
	  OPTION_TEXT(struct arguments, formats_from) },
	{ "kallsyms", 0, "FILE", 0,
	  "Of a perf.data: take the names of the kernel's functions from FILE, such as /proc/kallsyms if it was "
	  "recorded since this machine was booted",
	  1, OPTION_TEXT(struct arguments, symbols_from) },
	{ "log", 0, 0, 0,
	  "FILE is a log: journalctl -o json or short-iso, or syslog; lines become markers at their time of day", 1,
	  OPTION_FLAG(struct arguments, log) },
	{ "log-pattern", 0, "PATTERN", 0,
	  "FILE is a log, whose lines begin with a time as PATTERN of strptime(3) says; behind '*' it may stand "
	  "anywhere",
	  1, OPTION_TEXT(struct arguments, log_pattern) },
	{ "otlp", 0, 0, 0,
	  "FILE has spans of OpenTelemetry in OTLP/JSON, as its collector's file exporter writes them; they become "
	  "marks at their time of day",
	  1, OPTION_FLAG(struct arguments, with_spans) },
	{ "tasks-from", 0, "FILE", 0, "Of --otlp: FILE is the recording whose processes and threads the spans are of",
	  1, OPTION_TEXT(struct arguments, tasks_from) },
	{ "samples", 0, 0, 0,
	  "Of a perf.data: also import samples that are no tracepoints, such as cycles, for stacks and flame graphs", 1,
	  OPTION_FLAG(struct arguments, with_samples) },
	{ "strict", 0, 0, 0, "Fail, and write no file, if the text has a line that is no event", 1,
	  OPTION_FLAG(struct arguments, strict) },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		option_once("input", &arguments->input, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!arguments->input)
			argp_error(state, "no FILE given; - is standard input");
		arguments->log |= arguments->log_pattern != NULL;
		if (arguments->log && arguments->formats_from)
			argp_error(state, "--formats-from is not for a log");
		if (arguments->with_spans && (arguments->log || arguments->formats_from))
			argp_error(state, "--otlp cannot be combined with %s",
				   arguments->log ? "--log" : "--formats-from");
		if (arguments->tasks_from && !arguments->with_spans)
			argp_error(state, "--tasks-from is of --otlp");
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
	.args_doc = "FILE",
	.doc = "Makes a trace.dat from the kernel's text, as in a bug report or the log of a console, or from a "
	       "perf.data.",
	.children = children,
};

static int read_file(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct arguments *arguments = arg;
	size_t begin = arguments->begin_len - arguments->begin_given, len;

	size = size < INT_MAX ? size : INT_MAX;
	/* What was read before and what follows are one piece: the head of a compressed text is looked for in it. */
	begin = begin < size ? begin : size;
	memcpy(to, arguments->begin + arguments->begin_given, begin);
	arguments->begin_given += begin;
	len = begin + fread(to + begin, 1, size - begin, arguments->file);
	if (!len && ferror(arguments->file))
		return fail_set(fail, -EIO, "cannot read '%s': %s", arguments->input, strerror(errno));
	return (int)len;
}

static int write_import(void *arg, int fd, struct fail *fail)
{
	struct arguments *arguments = arg;

	return import_write(arguments->import, fd, &arguments->size, fail);
}

/* Makes the input one that is read by offset: a pipe is copied to a temporary file, behind what was read of it. */
static int add_input(struct arguments *arguments, int fd, const char *name, struct fail *fail)
{
	struct input *added = vec_push(arguments->inputs, arguments->nr_inputs);
	cleanup_fd int spooled = -1;
	char data[1 << 16];
	struct stat st;
	ssize_t got = 0;
	int r = added ? 0 : fail_memory(fail);

	if (r)
		return r;
	*added = (struct input){ .fd = -1 };
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return input_init(added, fd, name, fail);
	r = input_temporary(&spooled, fail);
	if (!r)
		r = io_write(spooled, arguments->begin, arguments->begin_len);
	while (!r && (got = io_read(fd, data, sizeof(data))) > 0)
		r = io_write(spooled, data, (size_t)got);
	if (r || got < 0)
		return fail_set(fail, r ? r : (int)got, "cannot copy '%s' to a temporary file: %s", name,
				strerror(r ? -r : (int)-got));
	return input_init(added, spooled, name, fail);
}

/* A directory of perf record --threads: "data", and the records of each thread in "data.0", "data.1"... */
static int open_directory(struct arguments *arguments, struct stat *ret, struct fail *fail)
{
	cleanup_fd int dir = -1;
	int r = dir_open(AT_FDCWD, arguments->input, "data", &dir, fail);

	for (unsigned i = 0; !r; i++) {
		cleanup_fd int fd = -1;
		char name[32] = "data";

		if (i)
			snprintf(name, sizeof(name), "data.%u", i - 1);
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT && i)
			break;
		if (fd < 0 || fstat(fd, ret) || !S_ISREG(ret->st_mode))
			return fail_set(fail, -EINVAL, "'%s' has no file '%s', as a directory of perf record has%s",
					arguments->input, name, fd < 0 ? "" : ", but something else");
		r = add_input(arguments, fd, name, fail);
	}
	if (!r && arguments->nr_inputs)
		r = input_read(&arguments->inputs[0], 0, arguments->begin, sizeof(arguments->begin), fail);
	arguments->begin_len = sizeof(arguments->begin);
	return r;
}

/* Reads the first bytes, which say what the input is. */
static int see_begin(struct arguments *arguments, int fd, struct fail *fail)
{
	ssize_t got = 1;

	while (got > 0 && arguments->begin_len < sizeof(arguments->begin)) {
		got = io_again(read(fd, arguments->begin + arguments->begin_len,
				    sizeof(arguments->begin) - arguments->begin_len));
		if (got < 0)
			return fail_set(fail, -errno, "cannot read '%s': %s", arguments->input, strerror(errno));
		arguments->begin_len += (size_t)got;
	}
	return 0;
}

static bool is_perf(const struct arguments *arguments)
{
	return arguments->begin_len == sizeof(arguments->begin) && perf_data_is(arguments->begin);
}

static int open_input(struct arguments *arguments, struct stat *ret, struct fail *fail)
{
	FILE *file = stdin;
	int fd, r;

	if (strcmp(arguments->input, "-") != 0) {
		r = readable_open(arguments->input, &fd, fail);
		if (r == -EISDIR)
			return open_directory(arguments, ret, fail);
		file = r ? NULL : fdopen(fd, "r");
		if (!r && !file)
			r = fail_set(fail, -errno, "cannot open '%s': %s", arguments->input, strerror(errno));
		if (r)
			return r;
	}
	arguments->file = file;
	if (fstat(fileno(file), ret))
		return fail_set(fail, -errno, "cannot read '%s': %s", arguments->input, strerror(errno));
	r = see_begin(arguments, fileno(file), fail);
	return r || !is_perf(arguments) ? r : add_input(arguments, fileno(file), arguments->input, fail);
}

/* A text of functions has some 10 MB. */
enum { SYMBOLS_MAX = 64 << 20 };

static int read_symbols(struct arguments *arguments, struct fail *fail)
{
	cleanup_fd int fd = -1;
	ssize_t got = 1;
	int r = readable_open(arguments->symbols_from, &fd, fail);

	while (!r && got > 0) {
		if (arguments->symbols.len > SYMBOLS_MAX)
			return fail_set(fail, -EFBIG, "'%s' has more than %d MiB, so it is no list of symbols",
					arguments->symbols_from, SYMBOLS_MAX >> 20);
		if (!buf_reserve(&arguments->symbols, 1 << 16))
			return fail_memory(fail);
		got = io_read(fd, arguments->symbols.data + arguments->symbols.len, 1 << 16);
		arguments->symbols.len += got > 0 ? (size_t)got : 0;
	}
	return r || got >= 0 ?
		       r :
		       fail_set(fail, (int)got, "cannot read '%s': %s", arguments->symbols_from, strerror((int)-got));
}

static uint64_t size_of(const struct trace *trace)
{
	return trace ? trace_info(trace)->size : 0;
}

/* Opens the inputs and then gives up all rights, because both inputs may come from strangers. */
static int open_inputs(struct arguments *arguments, struct fail *fail)
{
	uint64_t size = 0;
	struct stat st;
	int r = open_input(arguments, &st, fail);

	for (size_t i = 0; i < arguments->nr_inputs; i++)
		size += arguments->inputs[i].size;
	if (!r && arguments->formats_from)
		r = trace_new(arguments->formats_from, &arguments->formats, fail);
	if (!r && arguments->tasks_from)
		r = trace_new(arguments->tasks_from, &arguments->tasks, fail);
	if (!r && arguments->symbols_from && !is_perf(arguments))
		r = fail_set(fail, -EINVAL, "--kallsyms is of a perf.data, and '%s' is none", arguments->input);
	if (!r && arguments->with_samples && !is_perf(arguments))
		r = fail_set(fail, -EINVAL, "--samples is of a perf.data, and '%s' is none", arguments->input);
	if (!r && arguments->symbols_from)
		r = read_symbols(arguments, fail);
	if (!r && !arguments->nr_inputs && S_ISREG(st.st_mode))
		size = (uint64_t)st.st_size;
	if (!r && (arguments->nr_inputs || S_ISREG(st.st_mode)))
		r = form_limit(&arguments->form, size + size_of(arguments->formats) + size_of(arguments->tasks), fail);
	tzset();
	if (!r && !arguments->form.reading.no_sandbox)
		r = sandbox_enter(st.st_uid, st.st_gid, fail);
	if (!r && arguments->formats)
		r = trace_load(arguments->formats, fail);
	if (!r && arguments->tasks)
		r = trace_load(arguments->tasks, fail);
	return r;
}

/* Says which lines were not understood: how many of each kind, and the first ones. */
static void tell_lines(const struct unknown_lines *told)
{
	uint64_t nr = unknown_lines_count(told);
	char kinds[512] = "";
	size_t len = 0;

	if (!nr)
		return;
	for (unsigned kind = 0; kind < UNKNOWN_LINES_KINDS; kind++)
		if (told->counts[kind] && len < sizeof(kinds))
			len += (size_t)snprintf(kinds + len, sizeof(kinds) - len, "%s%" PRIu64 " %s", len ? ", " : "",
						told->counts[kind], unknown_lines_name(kind));
	command_warn("note: %s line%s no event%s: %s", text_count((char[TEXT_HUMAN]){ 0 }, nr),
		     nr == 1 ? " is" : "s are", text_plural(nr), kinds);
	for (unsigned kind = 0; kind < UNKNOWN_LINES_KINDS; kind++)
		if (told->counts[kind] && unknown_lines_advice(kind))
			command_warn("note: %s", unknown_lines_advice(kind));
	for (unsigned i = 0; i < told->nr_shown; i++) {
		const struct unknown_lines_line *line = &told->shown[i];

		command_warn("note: line %" PRIu64 ": %.*s%s", line->number, (int)line->len, line->text,
			     line->len == UNKNOWN_LINES_WIDTH ? "..." : "");
	}
}

/* Refuses a text without events, and with --strict one with other lines. */
static int judge(const struct arguments *arguments, struct fail *fail)
{
	struct import_counts counts = import_counts(arguments->import);
	const struct unknown_lines *told = &counts.told;
	const struct unknown_lines_line *line = &told->shown[0];

	if (counts.events && (!arguments->strict || !told->nr_shown))
		return 0;
	if (counts.events)
		return fail_set(fail, -EBADMSG, "'%s' has %" PRIu64 " lines that are no event; line %" PRIu64 ": %.*s",
				arguments->input, unknown_lines_count(told), line->number, (int)line->len, line->text);
	if (told->nr_shown && line->kind != UNKNOWN_LINES_OTHER)
		return fail_set(fail, -ENOENT,
				"'%s' has no line of a trace that can be imported; line %" PRIu64 " looks %s: %.*s%s%s",
				arguments->input, line->number, unknown_lines_name(line->kind), (int)line->len,
				line->text, unknown_lines_advice(line->kind) ? "; " : "",
				unknown_lines_advice(line->kind) ?: "");
	if (trace_is_perfetto(arguments->begin, arguments->begin_len))
		return fail_set(fail, -ENOENT, "'%s' " TRACE_OF_PERFETTO, arguments->input);
	if (trace_is_own(arguments->begin, arguments->begin_len))
		return fail_set(fail, -ENOENT, "'%s' is a trace.dat already: all commands read it as it is",
				arguments->input);
	return fail_set(fail, -ENOENT, "'%s' has no line of a trace: TASK-PID [CPU] flags TIME: EVENT",
			arguments->input);
}

/* The zone of lines that name none is this machine's; tzset() was before the sandbox. */
static int read_log(struct arguments *arguments, struct fail *fail)
{
	struct log_reader *reader = &arguments->log_reader;
	const struct import_source source = { .read = log_reader_read, .arg = reader };
	struct zone *zone = NULL;
	int r = zone_new("", &zone, fail);

	*reader = (struct log_reader){ .source = { .read = read_file, .arg = arguments },
				       .pattern = arguments->log_pattern,
				       .zone = zone,
				       .now = (int64_t)time(NULL) * 1000000000 };
	if (!r)
		r = import_read(arguments->import, &source, fail);
	reader->zone = NULL;
	zone_free(zone);
	if (!r && !log_reader_samples(reader, &arguments->samples))
		r = fail_memory(fail);
	if (!r && (!reader->first || (arguments->strict && reader->no_times)))
		r = fail_set(fail, reader->first ? -EBADMSG : -ENOENT,
			     "'%s': %" PRIu64
			     " lines have no time of a form that is known; --log-pattern says where a time "
			     "stands, as in --log-pattern '%%Y/%%m/%%d %%H:%%M:%%S'",
			     arguments->input, reader->no_times);
	import_clock(arguments->import, LOG_CLOCK, &arguments->samples);
	return r;
}

static int read_spans(struct arguments *arguments, struct fail *fail)
{
	const struct import_source text = { .read = read_file, .arg = arguments };
	struct import_source lines = { .read = otlp_read };
	int r = otlp_new(arguments->tasks, &arguments->otlp, fail);

	if (!r)
		r = otlp_take(arguments->otlp, &text, fail);
	if (r)
		return fail_in(fail, r, "'%s'", arguments->input);
	if (!otlp_counts(arguments->otlp)->spans || (arguments->strict && otlp_counts(arguments->otlp)->refused))
		return fail_set(fail, -ENOENT, "'%s' has %s", arguments->input,
				otlp_counts(arguments->otlp)->spans ? "spans that lack an id, a begin or an end" :
								      "no spans");
	lines.arg = arguments->otlp;
	r = import_read(arguments->import, &lines, fail);
	if (!r && !otlp_samples(arguments->otlp, &arguments->samples))
		r = fail_memory(fail);
	import_clock(arguments->import, LOG_CLOCK, &arguments->samples);
	return r;
}

static int import_text(struct arguments *arguments, struct fail *fail)
{
	const struct import_source source = { .read = read_file, .arg = arguments };
	int r;

	r = import_new(arguments->formats, &arguments->form.as, &arguments->import, fail);
	if (!r && arguments->with_spans)
		r = read_spans(arguments, fail);
	else if (!r)
		r = arguments->log ? read_log(arguments, fail) : import_read(arguments->import, &source, fail);
	if (!r && !arguments->log && !arguments->with_spans)
		r = judge(arguments, fail);
	return r ? r : form_write(&arguments->form, "", write_import, arguments, fail);
}

static int write_perf(void *arg, int fd, struct fail *fail)
{
	struct arguments *arguments = arg;

	return perf_import_write(arguments->perf, fd, &arguments->size, fail);
}

static int import_perf(struct arguments *arguments, struct fail *damage, struct fail *fail)
{
	int r = perf_import_new(arguments->inputs, arguments->nr_inputs, arguments->formats, &arguments->form.as,
				&arguments->perf, fail);

	if (!r && arguments->with_samples)
		perf_import_samples(arguments->perf);
	if (!r && arguments->symbols.len)
		perf_import_symbols(arguments->perf, arguments->symbols.data, arguments->symbols.len);
	if (!r)
		r = perf_import_read(arguments->perf, damage, fail);
	if (r == -ENODATA)
		r = fail_hint(fail, r, "; --formats-from FILE takes them from a trace.dat of the same kernel");
	if (!r)
		r = form_write(&arguments->form, "", write_perf, arguments, fail);
	return r ? fail_in(fail, r, "'%s'", arguments->input) : 0;
}

static void tell_time_of_day(const struct arguments *arguments, const struct import_counts *counts)
{
	time_t seconds = (time_t)(counts->clock_sync_ms / 1000);
	char text[64];
	struct tm tm;

	if (!counts->clock_sync_ms || !gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		return;
	command_warn("note: a marker of atrace says that %" PRIu64 ".%06" PRIu64 " was %s.%03" PRIu64
		     " UTC: 'weft report --time wall %s' prints times of day",
		     counts->clock_sync_at / NS_PER_S, counts->clock_sync_at % NS_PER_S / 1000, text,
		     counts->clock_sync_ms % 1000, arguments->form.output);
}

/* How many spans found their thread, and how. */
static void tell_spans(const struct otlp_counts *counts)
{
	static const char *const hows[] = { [OTLP_BY_THREAD] = "by the thread's number",
					    [OTLP_BY_NAME] = "by the thread's name",
					    [OTLP_BY_PROCESS] = "by the process",
					    [OTLP_BY_TIME] = "by time only" };
	char text[256] = "";
	size_t len = 0;

	for (unsigned i = 0; i < OTLP_JOINED; i++)
		if (counts->joined[i] && len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%" PRIu64 " %s", len ? ", " : "",
						counts->joined[i], hows[i]);
	command_warn("note: %" PRIu64 " span%s joined: %s", counts->spans, counts->spans == 1 ? " is" : "s are", text);
	if (counts->absent)
		command_warn("note: the recording does not know the processes of %s of them, or cannot "
			     "tell which one of several is meant",
			     text_count((char[TEXT_HUMAN]){ 0 }, counts->absent));
	if (counts->crossing)
		command_warn(
			"note: %s of them do not lie inside the span of their thread that is around them: they are "
			"spans of the process",
			text_count((char[TEXT_HUMAN]){ 0 }, counts->crossing));
	if (counts->refused)
		command_warn("note: %" PRIu64 " span%s an id, a begin or an end, and %s left out", counts->refused,
			     counts->refused == 1 ? " lacks" : "s lack", counts->refused == 1 ? "is" : "are");
}

static void tell(const struct arguments *arguments)
{
	struct import_counts counts = import_counts(arguments->import);
	char size[TEXT_HUMAN];

	if (arguments->form.quiet)
		return;
	command_warn("%s: %s event%s, %s", output_told(arguments->form.output),
		     text_count((char[TEXT_HUMAN]){ 0 }, counts.events), text_plural(counts.events),
		     text_size(size, arguments->size));
	if (arguments->with_spans) {
		tell_spans(otlp_counts(arguments->otlp));
		return;
	}
	if (arguments->log) {
		if (arguments->log_reader.no_times)
			command_warn("note: %s lines have no time, and are left out",
				     text_count((char[TEXT_HUMAN]){ 0 }, arguments->log_reader.no_times));
		return;
	}
	if (counts.whole)
		command_warn("note: the fields of %s of them are unknown, they have only their text%s",
			     text_count((char[TEXT_HUMAN]){ 0 }, counts.whole),
			     arguments->formats ? "" : "; --formats-from FILE, of the same kernel, has more fields");
	if (counts.no_flags)
		command_warn("note: no line has columns of flags: which events happened in an interrupt is not known, "
			     "and each counts for the task that it hit");
	if (counts.cut_at)
		command_warn(
			"note: the longest lines are all of %zu characters and lack the end of their events, so they "
			"look cut, as by a terminal or a mail: their events have fewer fields",
			counts.cut_at);
	tell_time_of_day(arguments, &counts);
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
		command_warn(
			"note: %s lines of the function graph have no time: their times are made from their order and "
			"the durations, without the time between functions; the option funcgraph-abstime prints times",
			text_count((char[TEXT_HUMAN]){ 0 }, counts.guessed));
	if (*counts.partial)
		command_warn("note: only some lines of the function graph have these columns, so 'weft report' leaves "
			     "them out: %s",
			     counts.partial);
	if (counts.unknown)
		command_warn(
			"note: the task of %s events of the function graph is unknown; their PID is 4194304 plus the "
			"CPU's number; the option funcgraph-proc prints tasks",
			text_count((char[TEXT_HUMAN]){ 0 }, counts.unknown));
	tell_lines(&counts.told);
}

static void tell_perf(const struct arguments *arguments, const struct fail *damage)
{
	const struct perf_import_counts *counts = perf_import_counts(arguments->perf);
	char size[TEXT_HUMAN], number[TEXT_HUMAN];

	if (*damage->text)
		command_warn("'%s' is damaged: %s; what is before that is imported", arguments->input, damage->text);
	if (arguments->form.quiet)
		return;
	command_warn("%s: %s event%s, %s lost, %s", output_told(arguments->form.output),
		     text_count(number, counts->events), text_plural(counts->events),
		     text_count((char[TEXT_HUMAN]){ 0 }, counts->lost + counts->lost_later),
		     text_size(size, arguments->size));
	perf_file_tell(arguments->perf, arguments->with_samples);
}

/* 1: the file is there, and the input has more than is in it. */
static int make_of_perf(struct arguments *arguments, struct fail *fail)
{
	struct fail damage = FAIL_INIT;
	int r = import_perf(arguments, &damage, fail);

	if (!r)
		tell_perf(arguments, &damage);
	return r ? r : *damage.text != 0;
}

static int make_of_text(struct arguments *arguments, struct fail *fail)
{
	struct import_counts counts;
	int r = import_text(arguments, fail);

	if (r)
		return r;
	tell(arguments);
	counts = import_counts(arguments->import);
	return unknown_lines_events(&counts.told) != 0;
}

static int make_file(void *arg)
{
	struct arguments *arguments = arg;
	struct fail fail = FAIL_INIT;
	int r = open_inputs(arguments, &fail);

	/* Pages are compressed eight together; the next levels take longer and make no smaller file of them. */
	if (!arguments->form.compression)
		arguments->form.as.level = FRAME_LEVEL_DEFAULT;
	if (!r)
		r = is_perf(arguments) ? make_of_perf(arguments, &fail) : make_of_text(arguments, &fail);
	if (r < 0)
		command_failed(&fail);
	if (arguments->file && arguments->file != stdin)
		fclose(arguments->file);
	import_free(arguments->import);
	log_reader_release(&arguments->log_reader);
	otlp_free(arguments->otlp);
	buf_release(&arguments->samples);
	perf_import_free(arguments->perf);
	for (size_t i = 0; i < arguments->nr_inputs; i++)
		input_release(&arguments->inputs[i]);
	free(arguments->inputs);
	buf_release(&arguments->symbols);
	trace_free(arguments->formats);
	trace_free(arguments->tasks);
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
	.summary = "make a trace.dat of the kernel's text, or of a perf.data",
	.brief = "text to a file",
	.examples = "  weft import -o trace.dat trace.txt\n"
		    "  dmesg | weft import -o trace.dat -\n"
		    "  weft import -o trace.dat perf.data\n"
		    "  journalctl -o json --since 12:00 | weft import --log -o journal.dat -\n"
		    "  weft import --otlp --tasks-from trace.dat -o spans.dat spans.json",
	.group = "read",
	.options = &command_options,
	.run = run,
};
