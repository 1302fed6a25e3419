// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/analyse_record.h"
#include "cmd/options/choice.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/reading.h"
#include "cmd/sandboxed_folder.h"
#include "cmd/terminal/pager.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/terminal.h"
#include "formats/export/folder.h"
#include "lib/answers/explain/explained.h"
#include "lib/answers/frame/intervals.h"
#include "lib/answers/frame/run.h"
#include "lib/answers/frame/series.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/pool.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/guest/host.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

enum { COURSE_SIZE = 1 << 20 };

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; '-' is standard input (default: trace.dat)", 91, OPTION_BY_KEY },

	{ "self", 0, NULL, 0, "Show weft's own tasks, too", 92,
	  OPTION_VALUE(struct analyse, query.self, QUERY_SELF_IN) },

	{ "every", 0, "TIME", 0,
	  "Show how the figures of the column that orders the rows go on, in intervals of this length: 100ms, 1s. "
	  "weft-summary(1) says more",
	  93, OPTION_TIME(struct analyse, every_ns) },
	{ "time", 0, CHOICE_FACES, 0,
	  "Show moments as the trace clock has them (trace, the default), or as weft report --time does", 93,
	  OPTION_CALL(struct analyse, face, choice_take_face) },
	{ "format", 0, "text|json|csv|schema", 0,
	  "Print for people (text, the default) or for programs, or what json looks like, as a JSON Schema", 93,
	  OPTION_CALL(struct analyse, findings.format, analyse_take_format) },
	{ "max-bytes", 0, "N", 0, "Print at most so many bytes: rows at the ends of tables are left out, and told", 93,
	  OPTION_NUMBER(struct analyse, findings.max_bytes) },
	{ "output", 'o', "DIR", 0,
	  "Write each table into a file of its own, DIR/TABLE.csv; DIR is empty or does not exist yet", 93,
	  OPTION_TEXT(struct analyse, folder) },
	{ "sort", 0, "COLUMN", 0, "Order rows by this column, the largest first", 93,
	  OPTION_TEXT(struct analyse, findings.sort) },
	{ "table", 0, "NAME", 0, "Show only this table, by its name in JSON, such as tasks; repeatable", 93,
	  OPTION_WORDS(struct analyse, tables) },
	{ "top", 0, "N", 0, "Show the first N rows (default: 25 as text, else all; 0: all)", 93,
	  OPTION_NUMBER(struct analyse, findings.top), OPTION_GIVEN(struct analyse, top_given) },
	{ 0 },
};

/* In front of a table, for sandboxed_folder(). */
static void put_file_name(struct out *out, const char *table, size_t len)
{
	char word[FOLDER_WORD_MAX], name[FOLDER_WORD_MAX + sizeof(".csv")];

	folder_word(table, word);
	snprintf(name, sizeof(name), "%s.csv", word);
	folder_piece(out, name, len);
}

void analyse_take_format(const struct option_row *row, void *format, char *name, struct argp_state *state)
{
	static const char *const names[] = {
		[TABLE_AS_TEXT] = "text",
		[TABLE_AS_JSON] = "json",
		[TABLE_AS_CSV] = "csv",
		[TABLE_AS_SCHEMA] = "schema",
	};
	bool schemas = strstr(row->arg, names[TABLE_AS_SCHEMA]);

	size_t i = 0;

	while (i < array_size(names) && strcmp(names[i], name))
		i++;
	if (i == array_size(names) || (i == TABLE_AS_SCHEMA && !schemas))
		argp_error(state, "--format: unknown format '%s'; use text, json%s", name,
			   schemas ? ", csv or schema" : " or csv");
	*(enum table_format *)format = (enum table_format)i;
}

static void check_folder(struct analyse *analyse, struct argp_state *state)
{
	if (!*analyse->folder || !strcmp(analyse->folder, "-"))
		argp_error(state, "-o: name a directory for the files of the tables");
	if (analyse->lines)
		argp_error(state, "-o writes tables: leave out what prints lines or a picture");
	if (analyse->findings.format == TABLE_AS_JSON)
		argp_error(state, "-o writes CSV: send what --format json prints into a file with '>'");
	if (analyse->findings.max_bytes)
		argp_error(state, "--max-bytes limits what is printed: not with -o");
	analyse->findings.format = TABLE_AS_CSV;
	analyse->findings.csv_file = put_file_name;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct analyse *analyse = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		/* Everything after "--" is the COMMAND and its own options. */
		if (state->quoted && state->next > state->quoted) {
			analyse->argv = &state->argv[state->next - 1];
			state->next = state->argc;
			return 0;
		}
		/* fallthrough */
	case 'i':
		option_once("file", &analyse->findings.input, choice_take_file(&analyse->query, arg, state), state);
		analyse->input = analyse->findings.input;
		return 0;
	case ARGP_KEY_SUCCESS:
		analyse->findings.tables = analyse->tables.at;
		analyse->findings.nr_tables = analyse->tables.len;
		if (analyse->folder)
			check_folder(analyse, state);
		if (analyse->findings.max_bytes && (analyse->every_ns || analyse->lines))
			argp_error(state, "--max-bytes limits tables: not with --every, nor a line for each event");
		if (analyse->every_ns && analyse->findings.format == TABLE_AS_SCHEMA) {
			/* One interval may have other tables than another. */
			analyse->findings.of_any = analyse->findings.of_intervals = true;
			analyse->every_ns = 0;
		}
		if (analyse->every_ns && analyse->lines)
			argp_error(state, "--every shows tables, not a line for each event");
		if (analyse->host && analyse->host->buffer && (analyse->every_ns || analyse->argv))
			argp_error(state, "--host is for a merged file as a whole: leave out %s",
				   analyse->argv ? "COMMAND" : "--every");
		if (analyse->argv && analyse->findings.input)
			argp_error(state, "either a file or a COMMAND: '%s' and '%s'", analyse->input,
				   analyse->argv[0]);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &choice_part_options, offsetof(struct analyse, query), 92, NULL },
	{ &choice_count_options, offsetof(struct analyse, query), 92, NULL },
	{ &reading_options, offsetof(struct analyse, reading), 94, NULL },
	{ 0 },
};

const struct options analyse_options = { .rows = options, .parser = parse, .children = children };

static void widen(const struct analyse_margin *margin, struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		struct events_options *window = &reader->buffers[i].window;

		*margin->since = window->since;
		*margin->until = window->until;
		window->since -= window->since < margin->ns ? window->since : margin->ns;
		window->until += window->until > UINT64_MAX - margin->ns ? UINT64_MAX - window->until : margin->ns;
	}
}

static int add_buffers(const struct analyse *analyse, struct trace *trace, struct reader *reader, struct fail *fail)
{
	const struct query_manner manner = {
		.prepare = decode_prepare, .arg = &analyse->decode, .times_only = !analyse->selects, .texts = true
	};
	int r = query_add(&analyse->query, &manner, trace, reader, fail);

	if (!r && !reader->nr_buffers)
		r = fail_set(fail, -ENODATA, "'%s' has no events", trace_path(trace));
	if (!r && analyse->margin)
		widen(analyse->margin, reader);
	if (!r)
		r = query_tail(&analyse->query, reader, fail);
	reader_limit(reader, analyse->query.limit);
	return r;
}

static int flush_to(int fd, struct out *out, struct fail *fail)
{
	int r = fd ? out_flush(out, fd) : terminal_flush(out, fail);

	return r && fd ? fail_set(fail, r, FAIL_WRITE "%s", strerror(-r)) : r;
}

/* `to`: see struct analyse. */
static int print_to(struct findings *findings, const struct findings_options *options, int to, struct fail *fail)
{
	struct out out;
	int r = findings_arrange(findings, options, fail);

	if (!r)
		r = findings_one_csv(findings, options, fail);
	if (r)
		return r;
	if (!out_init(&out, 1 << 16))
		return fail_memory(fail);
	if (options->max_bytes)
		r = findings_write_within(findings, options, &out, fail);
	else
		r = findings_write(findings, options, &out) ? 0 : fail_memory(fail);
	if (!r)
		r = flush_to(to, &out, fail);
	out_release(&out);
	return r;
}

int analyse_print(struct findings *findings, const struct findings_options *options, struct fail *fail)
{
	return print_to(findings, options, 0, fail);
}

struct course {
	struct intervals intervals;
	struct series series;
	struct out out;
	int to;   /* see struct analyse */
	bool any; /* some interval has a table with rows */
};

static int take_findings(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail)
{
	struct course *course = arg;
	int r = findings_choose(findings, &course->series.print, span && span->whole, fail);

	if (!r)
		r = findings_one_csv(findings, &course->series.print, fail);
	if (r)
		return r;
	course->any |= findings->nr && findings->items[0].table.nr_items;
	r = series_take(&course->series, findings, span, fail);
	return r || out_len(&course->out) < COURSE_SIZE ? r : flush_to(course->to, &course->out, fail);
}

/* Times of day are those of the first buffer. take_off_face() follows, also after a failure. */
static int put_on_face(struct analyse *analyse, const struct reader *reader, struct face *face, struct fail *fail)
{
	const struct context *context = reader->buffers[0].context;
	struct extent extent = { .known = false };
	int r = 0;

	*face = (struct face){ .kind = FACE_TRACE };
	if (analyse->face != FACE_TRACE)
		r = extent_find(context, &extent, fail);
	if (!r)
		r = face_init(face, analyse->face, context->wall, extent.first, fail);
	analyse->findings.face = face;
	analyse->findings.wall = context->wall;
	return r;
}

static void take_off_face(struct analyse *analyse, struct face *face)
{
	analyse->findings.face = NULL;
	face_release(face);
}

/* Prints how the figures go on. */
static int run_course(struct analyse *analyse, struct reader *reader, const struct analysis_ops *ops,
		      const void *ops_options, struct fail *fail)
{
	struct pass_filter filter = analysis_filter(&analyse->query);
	struct course course = { .to = analyse->to };
	struct face face;
	int r;

	course.intervals = (struct intervals){ .ops = ops,
					       .options = ops_options,
					       .every_ns = analyse->every_ns,
					       .found = take_findings,
					       .arg = &course };
	series_init(&course.series);
	course.series.every_ns = analyse->every_ns;
	course.series.utf8 = terminal_utf8();
	course.series.into = &course.out;
	if (!out_init(&course.out, 1 << 16))
		return fail_memory(fail);
	r = put_on_face(analyse, reader, &face, fail);
	filter.face = analyse->findings.face;
	filter.wall = analyse->findings.wall;
	course.series.print = analyse->findings;
	if (!r)
		r = intervals_run(&course.intervals, reader, &filter, fail);
	if (!r)
		r = flush_to(course.to, &course.out, fail);
	analyse->empty = !course.any;
	take_off_face(analyse, &face);
	series_release(&course.series);
	intervals_release(&course.intervals);
	out_release(&course.out);
	return r;
}

static int print_findings(struct analyse *analyse, struct analysis_run *run, struct fail *fail)
{
	analyse->empty = run->findings.nr && !run->findings.items[0].table.nr_items;
	return print_to(&run->findings, &analyse->findings, analyse->to, fail);
}

static bool has_host(const struct analyse *analyse)
{
	return analyse->host && analyse->host->buffer;
}

static int run_pass(struct analyse *analyse, struct reader *reader, const struct analysis_ops *ops,
		    const void *ops_options, struct fail *fail)
{
	struct pass_filter filter = analysis_filter(&analyse->query);
	struct analysis_run run = { .ops = ops, .options = ops_options };
	const struct analysis_lines lines = { terminal_flush };
	struct guest_host_reading *host = NULL;
	struct pass pass;
	struct face face;
	int r = 0;

	filter.shape = analyse->shape;
	filter.guest = analyse->shape && has_host(analyse);
	if (has_host(analyse) && !analyse->shape)
		r = guest_host_begin(analyse->host, reader->buffers[0].context, &host, fail);
	if (!r && host)
		r = guest_host_run(host, NULL, NULL, fail);
	if (r) {
		guest_host_end(host);
		return r;
	}
	filter.vcpus = guest_host_vcpus(host);
	findings_init(&run.findings);
	pass = (struct pass){ .reader = NULL };
	r = put_on_face(analyse, reader, &face, fail);
	filter.face = analyse->findings.face;
	filter.wall = analyse->findings.wall;
	if (!r)
		r = analyses_run(&pass, reader, &filter, &run, 1, analyse->lines ? &lines : NULL, NULL, fail);
	if (!r && !analyse->only_lines)
		r = print_findings(analyse, &run, fail);
	take_off_face(analyse, &face);
	findings_release(&run.findings);
	pass_release(&pass);
	guest_host_end(host);
	return r;
}

/* Adds to a message about something missing that it may have been in the damaged part. */
static int hint_damage(const struct reader *reader, struct trace *trace, int r, struct fail *fail)
{
	const char *path, *damage = reader_damage(reader, &path);
	char hint[sizeof(fail->text)];

	if (damage)
		snprintf(hint, sizeof(hint), "; '%s' is damaged: %s", path, damage);
	else if (trace_damage(trace))
		snprintf(hint, sizeof(hint), "; %s", trace_damage(trace));
	else
		return r;
	return fail_hint(fail, r, hint);
}

/* Plugins need not stand several threads. */
static int read_in_slices(const struct analyse *analyse, struct reader *reader, void *arg, struct fail *fail)
{
	return analyse->in_slices && !analyse->decode.wanted ? analyse->in_slices(arg, reader, fail) : -EAGAIN;
}

static int read_trace(const struct analyse *analyse, struct trace *trace, analyse_work *work, void *arg,
		      struct fail *fail)
{
	struct reader reader;
	struct pool *pool = NULL;
	int r;

	reader_init(&reader);
	r = add_buffers(analyse, trace, &reader, fail);
	if (!r)
		r = decode_seal(&analyse->decode, trace, analyse->reading.no_sandbox, fail);
	if (!r)
		r = read_in_slices(analyse, &reader, arg, fail);
	if (r == -EAGAIN) {
		r = reading_start(&reader, trace, analyse->in_batches, &pool, fail);
		if (!r)
			r = work(arg, &reader, fail);
	}
	if (!r)
		r = decode_check_all(&reader, fail);
	if (r == -ENODATA || r == -ENOENT)
		r = hint_damage(&reader, trace, r, fail);
	decode_end(&reader);
	reader_release(&reader);
	pool_free(pool);
	return r;
}

/* Reads the opened trace and frees it. */
static int read_opened(const struct analyse *analyse, struct trace *trace, analyse_work *work, void *arg,
		       struct fail *fail)
{
	int r;

	r = read_trace(analyse, trace, work, arg, fail);
	if (!r && trace_damage(trace))
		r = fail_set(fail, -EBADMSG, "%s", trace_damage(trace));
	if (!analyse->shape && ((!r && analyse->empty) || r == -ENODATA))
		choice_tell_empty(trace, &analyse->query, true);
	trace_free(trace);
	return r;
}

int analyse_read(const struct analyse *analyse, analyse_work *work, void *arg, struct fail *fail)
{
	struct trace *trace = NULL;
	struct reading reading = analyse->reading;
	int r;

	reading.opens_more = analyse->decode.wanted;
	r = reading_open(analyse->input, &reading, &trace, fail);
	return r ? r : read_opened(analyse, trace, work, arg, fail);
}

struct passing {
	struct analyse *analyse;
	const struct analysis_ops *ops;
	const void *options;
	const struct analyse_recorded *recorded;
};

/* Prints the answer from what could be read, and reports the damage after it. */
static int pass_work(void *arg, struct reader *reader, struct fail *fail)
{
	const struct passing *passing = arg;
	struct analyse *analyse = passing->analyse;
	const char *damage, *path;
	int r = analyse->every_ns ? run_course(analyse, reader, passing->ops, passing->options, fail) :
				    run_pass(analyse, reader, passing->ops, passing->options, fail);

	/* Some analyses have rows even without events. */
	analyse->empty |= !reader_count(reader);
	damage = reader_damage(reader, &path);
	if (!r && damage)
		r = fail_set(fail, -EBADMSG, "'%s' is damaged: %s", path, damage);
	return r;
}

static int pass_slices(void *arg, struct reader *reader, struct fail *fail)
{
	const struct passing *passing = arg;
	struct pass_filter filter = analysis_filter(&passing->analyse->query);
	struct analysis_run run = { .ops = passing->ops, .options = passing->options };
	struct pass pass = { .reader = NULL };
	struct face face;
	int r;

	if (!passing->ops->shares || has_host(passing->analyse) || passing->analyse->every_ns ||
	    passing->analyse->lines || passing->analyse->shape)
		return -EAGAIN;
	findings_init(&run.findings);
	r = put_on_face(passing->analyse, reader, &face, fail);
	filter.face = passing->analyse->findings.face;
	filter.wall = passing->analyse->findings.wall;
	if (!r)
		r = analysis_share(&pass, reader, &filter, &run, reading_share, fail);
	if (!r)
		r = print_findings(passing->analyse, &run, fail);
	take_off_face(passing->analyse, &face);
	findings_release(&run.findings);
	pass_release(&pass);
	return r;
}

static int hint_time(const struct analyse_recorded *recorded, int r, struct fail *fail)
{
	char time[TEXT_HUMAN], hint[2 * TEXT_HUMAN];

	snprintf(hint, sizeof(hint), " in the %s of the command", text_time(time, recorded->time_ns));
	return fail_hint(fail, r, hint);
}

/*
 * A recording made for this answer is removed and a pipe can be read only once, so the commands to paste cannot name
 * it.
 */
static int name_input(struct analyse *analyse, struct buf *into, struct fail *fail)
{
	analyse->findings.input = NULL;
	if (analyse->argv || !strcmp(analyse->input, "-"))
		return 0;
	analyse->findings.input = paste_recording(into, analyse->query.instance, analyse->input);
	return analyse->findings.input ? 0 : fail_memory(fail);
}

struct apart {
	const struct passing *passing;
	struct trace *trace;
};

/* `trace` is of a recording that was made for this, or NULL. */
static int open_and_read(const struct passing *passing, struct trace *trace, struct fail *fail)
{
	const struct analyse *analyse = passing->analyse;
	int r;

	if (trace)
		r = reading_load(trace, &analyse->reading, &trace, fail);
	else if (analyse->shape)
		r = reading_open_nothing(&trace, fail);
	else
		r = reading_open(analyse->input, &analyse->reading, &trace, fail);
	if (!r)
		r = read_opened(analyse, trace, pass_work, (void *)(uintptr_t)passing, fail);
	return r == -ENODATA && passing->recorded->time_ns ? hint_time(passing->recorded, r, fail) : r;
}

/* In the reader process. */
static int read_apart(const void *arg, int fd)
{
	const struct apart *apart = arg;
	struct fail fail = FAIL_INIT;
	int r, status;

	apart->passing->analyse->to = fd;
	r = open_and_read(apart->passing, apart->trace, &fail);
	if (!r)
		return EXIT_OK;
	status = command_failed(&fail);
	return r == -EBADMSG ? EXIT_DAMAGED : status;
}

/* Returns the exit status. */
static int write_folder(const struct passing *passing, struct trace *trace)
{
	const struct apart apart = { passing, trace };
	int status = sandboxed_folder(&(struct sandboxed_folder){ .path = passing->analyse->folder,
								  .input = passing->analyse->input,
								  .mode = OUTPUT_MODE,
								  .work = read_apart,
								  .arg = &apart });

	trace_free(trace);
	return status == EXIT_DAMAGED ? EXIT_FAILED : status;
}

int analyse_run(struct analyse *analyse, const struct analysis_ops *ops, const void *ops_options)
{
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	struct analyse_recorded recorded = { .status = EXIT_OK };
	const struct passing passing = { analyse, ops, ops_options, &recorded };
	cleanup_buf struct buf pasted = BUF_INIT;
	int r, status, written = EXIT_OK;

	analyse->shape = analyse->findings.format == TABLE_AS_SCHEMA && !analyse->findings.input && !analyse->argv;
	analyse->findings.of_any = analyse->shape;
	/* A COMMAND has the terminal for itself. */
	if (!analyse->argv && !analyse->folder)
		pager_start();
	r = name_input(analyse, &pasted, &fail);
	analyse->in_batches = !analyse->every_ns;
	analyse->in_slices = pass_slices;
	analyse->findings.width = terminal_width();
	if (!analyse->findings.top)
		analyse->findings.top = UINT64_MAX;
	else if (!analyse->top_given && analyse->findings.format == TABLE_AS_TEXT)
		analyse->findings.top = analyse->top_as_text ? analyse->top_as_text : analysis_rows_as_text(ops);
	if (!r && !analyse->argv && !analyse->shape)
		reading_tell_left_behind(analyse->input);
	else if (!r && analyse->argv)
		r = analyse_record(&(struct analyse_command){ analyse->argv, analyse->only_command }, ops, &trace,
				   &recorded, &fail);
	if (!r && analyse->folder)
		written = write_folder(&passing, trace);
	else if (!r)
		r = open_and_read(&passing, trace, &fail);
	query_release(&analyse->query);
	if (written)
		return recorded.status ? recorded.status : written;
	if (r >= 0)
		return recorded.status;
	status = command_failed(&fail);
	return recorded.status ? recorded.status : status;
}

int analyse_only_run(const struct command *command, const struct analysis_ops *ops, int argc, char **argv)
{
	struct analyse analyse = ANALYSE_INIT;

	command_parse(command, argc, argv, 0, &analyse);
	return analyse_run(&analyse, ops, NULL);
}

int analyse_trigger(const char *input, struct explained *explained, enum table_format format)
{
	const struct findings_options options = {
		.format = format, .top = UINT64_MAX, .width = terminal_width(), .for_columns = "--format json"
	};
	const struct reading reading = { .no_sandbox = false };
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	struct findings findings;
	int r = reading_open(input, &reading, &trace, &fail);

	findings_init(&findings);
	if (!r && (r = explained_find(explained, trace, &findings, &fail)))
		fail_in(&fail, r, "'%s'", input);
	if (!r && !explained->brief) {
		r = analyse_print(&findings, &options, &fail);
	} else if (!r && explained->line.len) {
		printf("%s\n", buf_str(&explained->line));
		r = command_flush(&fail);
	}
	if (!r && trace_damage(trace))
		r = fail_set(&fail, -EBADMSG, "%s", trace_damage(trace));
	findings_release(&findings);
	explained_release(explained);
	trace_free(trace);
	return r ? command_failed(&fail) : EXIT_OK;
}
