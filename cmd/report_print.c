// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/report_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/choice.h"
#include "cmd/options/formats.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/progress.h"
#include "cmd/terminal/terminal.h"
#include "formats/painted.h"
#include "formats/render.h"
#include "formats/slices.h"
#include "formats/text_end.h"
#include "formats/tracecmd/tracecmd.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/pool.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/apart.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/latency_facts.h"
#include "lib/meaning/plugin/foreign.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/slices.h"
#include "lib/pages/trace/trace.h"

enum { FEW_EVENTS = 1000 };

/*
 * Limits the text by the size of the file: TEXT_RATIO_MAX bytes per byte of the file, plus TEXT_FREE. Recordings need
 * 10 to 60; a file with the same event over and over, on the clock uptime, needs 16,000. The limit keeps a small
 * hostile file from filling the disk of its reader.
 */
enum { TEXT_RATIO_MAX = 32768, TEXT_FREE = 64 << 20 };

/* More do not help where one thread reads for all. */
enum { THREADS_IN_ORDER = 8 };

static unsigned thread_count(const struct report_options *report)
{
	if (report->threads)
		return (unsigned)report->threads;
	/* To start a thread takes as long as some hundred lines. */
	if (report->query.limit <= FEW_EVENTS || report->query.tail <= FEW_EVENTS)
		return 1;
	return reading_threads();
}

/* What printing the buffers of a file needs. The arrays are indexed by event::buffer. */
struct printing {
	struct reader reader;
	struct sink **sinks;
	uint64_t **left_out;
	char **prefixes;                 /* NULL: none */
	struct apart *apart;             /* NULL: the order of all lines is known, or nothing is known of it */
	char **close;                    /* prefixes of lines that may come before a line above them */
	struct selection **raw, **plain; /* the types that -r and trace-cmd's -n name, or NULL */
	struct sink_times times;
	struct face *faces;   /* one for each buffer */
	struct extent extent; /* of the file; found when it is needed */
	struct pool *pool;
	struct text_end end;
	struct fields_told told; /* the types whose fields are printed */
	bool changed;            /* -O asks for other options than those that were recorded, in a buffer with a text */
	int worst;               /* the error of the first buffer that cannot be printed; 0: none */
	struct fail failure;     /* the message of that error */
};

/*
 * Whether the buffer has only the kernel's text of a latency tracer's worst case, beside pages or not, and no events of
 * it. No option can change this text, and no format but the kernel's own can show it: such options are refused.
 */
static bool is_text_only(const struct context *context)
{
	return context->latency && !context->section;
}

/* The index among the further files; SIZE_MAX: the first file. */
static size_t other_of(const struct report_options *report, const struct trace *trace)
{
	for (size_t i = 0; i < report->nr_others; i++)
		if (report->others[i] == trace)
			return i;
	return SIZE_MAX;
}

static struct foreign *foreign_of(const struct report_options *report, const struct trace *trace)
{
	size_t other = other_of(report, trace);

	return other == SIZE_MAX ? report->user_plugins.foreign : report->other_user_plugins[other].foreign;
}

static int buffer_init(const struct report_options *report, struct reader_buffer *buffer, struct printing *printing,
		       uint64_t **ret_left_out, struct fail *fail)
{
	uint64_t recorded = buffer->context->trace_flags;
	int r = decode_open(&report->decode, buffer->context, fail);

	buffer->context->foreign = foreign_of(report, buffer->context->trace);
	for (size_t i = 0; !r && i < report->options.len; i++)
		r = context_set_option(buffer->context, report->options.at[i], fail);
	printing->changed |= is_text_only(buffer->context) && buffer->context->trace_flags != recorded;
	/* Damage of the file is reported later, when the report reads it. */
	if (!r && context_option(buffer->context, OPTION_LATENCY_FORMAT))
		(void)!latency_facts_learn(buffer->context, NULL);
	return r ? r :
		   query_narrow(&report->query, buffer, report->format->leaves_out_self, &printing->extent,
				ret_left_out, fail);
}

/* Adds a buffer. If it cannot be printed, the others still are, and the error is reported at the end. */
static void add_buffer(const struct report_options *report, struct trace *trace, size_t index,
		       struct printing *printing)
{
	struct reader *reader = &printing->reader;
	size_t at = reader->nr_buffers;
	struct fail here = FAIL_INIT;
	int r = reader_add(reader, trace, index, &here);

	if (!r) {
		r = buffer_init(report, &reader->buffers[at], printing, &printing->left_out[at], &here);
		if (r) {
			decode_close(reader->buffers[at].context);
			reader_drop(reader);
		}
	}
	if (r && !printing->worst) {
		printing->worst = r;
		printing->failure = here;
	}
}

static size_t add_buffers_of(const struct report_options *report, struct trace *trace, struct printing *printing)
{
	size_t nr_wanted = 0;

	for (size_t i = 0; i < trace_buffers(trace); i++) {
		/* The longest case of a latency tracer is printed although it may not be in the pages. */
		if (!query_wants(&report->query, trace, i, true))
			continue;
		nr_wanted++;
		add_buffer(report, trace, i, printing);
	}
	return nr_wanted;
}

static int add_buffers(const struct report_options *report, struct trace *trace, struct printing *printing,
		       struct fail *fail)
{
	size_t nr_buffers = trace_buffers(trace), nr_wanted;

	for (size_t i = 0; i < report->nr_others; i++)
		nr_buffers += trace_buffers(report->others[i]);
	printing->sinks = calloc(nr_buffers + 1, sizeof(*printing->sinks));
	printing->left_out = calloc(nr_buffers + 1, sizeof(*printing->left_out));
	printing->raw = calloc(nr_buffers + 1, sizeof(*printing->raw));
	printing->plain = calloc(nr_buffers + 1, sizeof(*printing->plain));
	printing->faces = calloc(nr_buffers + 1, sizeof(*printing->faces));
	if (!printing->faces)
		return fail_memory(fail);
	if (!printing->raw || !printing->plain || !printing->sinks || !printing->left_out)
		return fail_memory(fail);
	nr_wanted = add_buffers_of(report, trace, printing);
	for (size_t i = 0; i < report->nr_others; i++)
		nr_wanted += add_buffers_of(report, report->others[i], printing);
	if (report->query.instance && !nr_wanted)
		return query_no_instance(&report->query, trace, fail);
	return query_check_durations(&printing->reader, fail);
}

/* Adds each name of a list with commas by itself: trace-cmd takes names of events that the file does not know. */
static int add_known(struct selection *selection, const char *list, struct fail *fail)
{
	struct text_word word;
	int r = 0;

	while (!r && text_next_word(&list, ",", &word)) {
		char *name = strndup(word.at, word.len);

		r = name ? selection_add_events(selection, name, fail) : fail_memory(fail);
		free(name);
		if (r == -ENOENT)
			r = 0;
	}
	return r;
}

/* Selects the event types that an option names. */
static int choose_types(const struct report_options *report, const struct option_words *words,
			const struct context *context, struct selection **ret, struct fail *fail)
{
	int r = words->len ? selection_new(context, ret, fail) : 0;

	for (size_t i = 0; !r && i < words->len; i++)
		r = report->sink.tracecmd ? add_known(*ret, words->at[i], fail) :
					    selection_add_events(*ret, words->at[i], fail);
	return r;
}

static const char *base_name(const struct trace *trace)
{
	const char *slash = strrchr(trace_path(trace), '/');

	return slash ? slash + 1 : trace_path(trace);
}

/* With several files the lines of a file's top instance begin with the file's name. */
static void name_file(const struct report_options *report, const struct context *context,
		      const struct printing *printing, struct tracecmd_options *own)
{
	if (!report->nr_others)
		return;
	own->file = base_name(context->trace);
	for (size_t i = 0; i < printing->reader.nr_buffers; i++) {
		const struct context *other = printing->reader.buffers[i].context;
		size_t len = strlen(*other->instance ? other->instance : base_name(other->trace));

		own->width = len > own->width ? len : own->width;
	}
}

/* Times of day have the day of the first event of all files. */
static int set_face(const struct report_options *report, struct printing *printing, size_t at, struct fail *fail)
{
	const struct context *context = printing->reader.buffers[at].context;
	int r = extent_find(printing->reader.buffers[0].context, &printing->extent, fail);

	return r ? r : face_init(&printing->faces[at], report->face, context->wall, printing->extent.first, fail);
}

static int new_sink(const struct report_options *report, size_t at, struct printing *printing, struct sink **ret,
		    struct fail *fail)
{
	struct sink_options options = report->sink;
	struct tracecmd_options own;

	if (options.tracecmd) {
		own = *options.tracecmd;
		if (printing->plain[at])
			own.plain_types = selection_types(printing->plain[at]);
		name_file(report, printing->reader.buffers[at].context, printing, &own);
		options.tracecmd = &own;
	}
	options.raw_types = printing->raw[at] ? selection_types(printing->raw[at]) : NULL;
	options.left_out = printing->left_out[at];
	options.times = &printing->times;
	if (report->face != FACE_TRACE) {
		int r = set_face(report, printing, at, fail);

		if (r)
			return r;
		options.face = &printing->faces[at];
	}
	options.ended_arg = printing->reader.buffers[at].selection;
	options.ended = options.ended_arg ? selection_ended : NULL;
	options.one_line = format_is_one_line(&options);
	return painted_new(report->format, printing->reader.buffers[at].context, &options, ret, fail);
}

/*
 * The origin is the first event of all files, so that the time of an event does not depend on the selection. The extent
 * of the first file is kept for others that ask.
 */
static int set_origin(const struct report_options *report, struct printing *printing, struct fail *fail)
{
	int r = extent_find(printing->reader.buffers[0].context, &printing->extent, fail);

	printing->times.has_origin = !r && printing->extent.found;
	printing->times.first = printing->extent.first;
	for (size_t i = 1; !r && report->nr_others && i < printing->reader.nr_buffers; i++) {
		struct extent extent = { .known = false };

		r = extent_find(printing->reader.buffers[i].context, &extent, fail);
		if (r || !extent.found)
			continue;
		if (!printing->times.has_origin || extent.first < printing->times.first)
			printing->times.first = extent.first;
		printing->times.has_origin = true;
	}
	return r;
}

/* A negative time would be printed as a huge one. */
static int check_offset(const struct report_options *report, struct printing *printing, struct fail *fail)
{
	int r = report->ts_offset < 0 ? extent_find(printing->reader.buffers[0].context, &printing->extent, fail) : 0;

	if (!r && report->ts_offset < 0 && printing->extent.found && printing->extent.first > INT64_MAX)
		r = fail_set(fail, -EINVAL, "--ts-offset: with %" PRId64 " times would be below 0", report->ts_offset);
	return r;
}

/* The prefixes of lines whose order is not known, where the file was made of those of several machines. */
static int find_close(struct printing *printing, struct fail *fail)
{
	const struct reader *reader = &printing->reader;
	int r = printing->prefixes ? apart_of(reader->buffers[0].context->trace, &printing->apart, fail) : 0;

	if (r || !printing->apart)
		return r;
	printing->close = calloc(reader->nr_buffers + 1, sizeof(*printing->close));
	for (size_t i = 0; printing->close && i < reader->nr_buffers; i++) {
		char *prefix = printing->close[i] = strdup(printing->prefixes[i]);
		char *colon = prefix ? strrchr(prefix, ':') : NULL;

		if (!prefix)
			return fail_memory(fail);
		if (colon)
			*colon = '~';
	}
	return printing->close ? 0 : fail_memory(fail);
}

/* The sinks open what they need here, before the right to open files is given up. */
static int open_sinks(const struct report_options *report, struct trace *trace, struct printing *printing,
		      struct fail *fail)
{
	const struct reader *reader = &printing->reader;
	int r = check_offset(report, printing, fail);

	if (!r && (report->format->relative || (report->sink.tracecmd && report->sink.tracecmd->align)))
		r = set_origin(report, printing, fail);
	if (!r && report->decode.wanted && !report->reading.no_sandbox)
		r = trace_sandbox(trace, fail);
	for (size_t i = 0; !r && i < reader->nr_buffers; i++)
		r = choose_types(report, &report->raw_events, reader->buffers[i].context, &printing->raw[i], fail);
	for (size_t i = 0; !r && i < reader->nr_buffers; i++)
		r = choose_types(report, &report->plain_events, reader->buffers[i].context, &printing->plain[i], fail);
	for (size_t i = 0; !r && i < reader->nr_buffers; i++)
		r = new_sink(report, i, printing, &printing->sinks[i], fail);
	if (!r && reader->nr_buffers > 1 && !report->format->tells_instance)
		printing->prefixes = format_prefixes(reader, &report->sink);
	if (!r && reader->nr_buffers > 1 && !report->format->tells_instance && !printing->prefixes)
		r = fail_memory(fail);
	return r ? r : find_close(printing, fail);
}

static void open_end(const struct report_options *report, struct printing *printing)
{
	uint64_t size = trace_info(printing->reader.buffers[0].context->trace)->size;

	printing->end.fd = STDOUT_FILENO;
	printing->end.escaped = format_is_escaped(report->format, &report->sink);
	printing->end.max = report->reading.trust_size ? 0 : TEXT_FREE + TEXT_RATIO_MAX * size;
}

/* What a thread of slices needs for a sink of its own. */
struct slicing {
	const struct report_options *report;
	struct printing *printing;
};

static int new_sink_of_slices(void *arg, size_t buffer, struct sink **ret, struct fail *fail)
{
	const struct slicing *slicing = arg;

	return new_sink(slicing->report, buffer, slicing->printing, ret, fail);
}

static void note_fields(struct printing *printing, const struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (reader->buffers[i].events)
			format_note_fields(&printing->told, i, reader->buffers[i].events);
}

static void slices_done(void *arg, const struct reader *reader)
{
	const struct slicing *slicing = arg;

	note_fields(slicing->printing, reader);
}

static bool has_foreign(const struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (reader->buffers[i].context->foreign)
			return true;
	return false;
}

/* -EAGAIN: the text cannot be made in slices of time, or not all of it. */
static int print_slices(const struct report_options *report, struct printing *printing, struct render_options *options,
			struct fail *fail)
{
	const struct reader *reader = &printing->reader;
	struct slicing slicing = { .report = report, .printing = printing };
	struct query_again again = { &report->query, reader };
	struct slices slices;
	const struct sliced sliced = { .slices = &slices,
				       .options = options,
				       .end = &printing->end,
				       .new_sink = new_sink_of_slices,
				       .done = slices_done,
				       .wrote = progress_part,
				       .arg = &slicing };
	int r;

	if (has_foreign(reader) || printing->apart || report->query.tail != UINT64_MAX ||
	    !slices_can(printing->sinks, reader->nr_buffers, options) ||
	    !slices_plan(reader, thread_count(report), &slices))
		return -EAGAIN;
	r = pool_new(slices.threads - 1, &printing->pool, fail);
	options->pool = printing->pool;
	slices.select = query_select_again;
	slices.arg = &again;
	if (!r)
		r = slices_render(&sliced, printing->sinks, report->printed, fail);
	slices_release(&slices);
	if (r == -EAGAIN) {
		printing->end.skip = printing->end.written;
		printing->end.len = 0;
	}
	return r;
}

static int start_reading(const struct report_options *report, struct printing *printing, struct fail *fail)
{
	struct reader *reader = &printing->reader;
	struct reader_options options = { .keep_blocks = true, .tells_ends = report->format->durations };
	unsigned threads = thread_count(report);
	int r = query_tail(&report->query, reader, fail);

	if (!report->threads && threads > THREADS_IN_ORDER)
		threads = THREADS_IN_ORDER;
	if (!r && !printing->pool && threads > 1)
		r = pool_new(threads - 1, &printing->pool, fail);
	/* Finding the tail counted events with the same selections, so the counts start again. */
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (printing->left_out[i])
			*printing->left_out[i] = 0;
	options.pool = printing->pool;
	return r ? r : reader_start(reader, &options, fail);
}

static void tell_missing(const struct report_options *report, const struct reader *reader)
{
	bool chosen = false;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		chosen |= reader->buffers[i].selection && selection_asks_duration(reader->buffers[i].selection);
	if (chosen || report->format->durations)
		command_warn("note: what went on while events are missing has no duration%s",
			     chosen ? ", and is left out" : "");
}

static int print_events(const struct report_options *report, struct printing *printing, struct fail *fail)
{
	struct reader *reader = &printing->reader;
	struct render_options options = { .limit = report->query.limit,
					  .prefixes = printing->prefixes,
					  .apart = printing->apart,
					  .close = printing->close };
	const char *damage, *path;
	char widest[TEXT_HUMAN];
	int r;

	open_end(report, printing);
	/* A part of the file is looked for without reading all. */
	progress_start(report->query.since || report->query.until || report->query.around ||
				       report->query.tail != UINT64_MAX ?
			       0 :
			       trace_info(reader->buffers[0].context->trace)->size);
	r = print_slices(report, printing, &options, fail);
	if (r == -EAGAIN) {
		r = start_reading(report, printing, fail);
		options.pool = printing->pool;
		if (!r)
			r = render(reader, printing->sinks, &options, &printing->end, report->printed, fail);
		note_fields(printing, reader);
	}
	progress_end();

	if (!r && !reader_is_merged(reader))
		command_warn("note: the clocks of the instances differ, so their events cannot be merged by time: "
			     "the instances are printed one after the other");
	for (size_t i = 0; !r && i < reader->nr_buffers; i++)
		format_tell_fields(&printing->told, i);
	if (!r && printing->apart && *report->printed)
		command_warn("note: times of two machines are exact to within %s in all; '~' in place of ':' is a line "
			     "that may have happened before one of another machine above it",
			     text_time(widest, apart_widest(printing->apart)));
	for (size_t i = 0; !r && !*report->printed && i < reader->nr_buffers; i++)
		if (is_text_only(reader->buffers[i].context) && strcmp(report->format->name, "ftrace"))
			command_warn(
				"'%s' holds a tracer's worst case as the kernel's text only: leave out --format to "
				"read it",
				trace_path(reader->buffers[i].context->trace));
	damage = reader_damage(reader, &path);
	if (!r && damage)
		tell_missing(report, reader);
	if (!r && damage)
		r = fail_set(fail, -EBADMSG, "'%s' is damaged: %s", path, damage);
	return r ? r : decode_check_all(reader, fail);
}

static void printing_release(struct printing *printing)
{
	for (size_t i = 0; i < printing->reader.nr_buffers; i++) {
		if (printing->sinks[i])
			printing->sinks[i]->ops->free(printing->sinks[i]);
		face_release(&printing->faces[i]);
		selection_free(printing->raw[i]);
		selection_free(printing->plain[i]);
	}
	decode_end(&printing->reader);
	reader_release(&printing->reader);
	pool_free(printing->pool);
	free(printing->sinks);
	free(printing->faces);
	free(printing->raw);
	free(printing->plain);
	free(printing->left_out);
	fields_told_release(&printing->told);
	format_prefixes_free(printing->prefixes);
	format_prefixes_free(printing->close);
	apart_free(printing->apart);
}

/* The first option that asks for other lines, or for other text of them, than the kernel's own; NULL: none does. */
static const char *asked(const struct report_options *report, bool changed)
{
	const struct query *query = &report->query;
	const struct {
		bool given;
		const char *name;
	} options[] = {
		{ report->format != sink_at(0), "--format" },
		{ query->events.nr, "-e" },
		{ query->filters.nr, "-f" },
		{ query->flags_out & EVENT_HARDIRQ, "--no-hardirq" },
		{ query->flags_out & EVENT_SOFTIRQ, "--no-softirq" },
		{ query->some_cpus, "--cpu" },
		{ query->nr_pids, "--pid" },
		{ query->comms.nr, "--comm" },
		{ query->marks.nr, "--mark" },
		{ query->files.nr, "--file" },
		{ query->nr_who, "--process, --unit or another of its kind" },
		{ query->since, "--since" },
		{ query->until, "--until" },
		{ query->around, "--around" },
		{ query->limit != UINT64_MAX, "--limit" },
		{ query->tail != UINT64_MAX, "--tail" },
		{ report->sink.raw, "--raw" },
		{ report->raw_events.len, "-r" },
		{ changed, "-O" },
		{ report->sink.nanoseconds, "-t" },
		{ report->sink.differences, "--ts-diff" },
		{ report->ts_offset, "--ts-offset" },
	};

	for (size_t i = 0; i < array_size(options); i++)
		if (options[i].given)
			return options[i].name;
	return NULL;
}

/* Whether the output of this buffer would be its text, or nothing. */
static bool is_text(const struct context *context, bool kernel_text)
{
	bool shown = kernel_text && !context_option(context, OPTION_FIELDS);

	return is_text_only(context) && (shown || !trace_buffer(context->trace, context->buffer)->nr_cpus);
}

/*
 * -ENODATA if the output of all buffers would be such texts, or nothing, and an option asks for something else (NULL:
 * none does). If there are also events of other buffers, a warning says that the texts stay as they are. kernel_text:
 * the output is the kernel's text, in which a stored text takes the place of events.
 */
static int refuse_option(const struct reader *reader, const char *option, bool kernel_text, struct fail *fail)
{
	struct trace *trace = reader->buffers[0].context->trace;
	size_t nr_texts = 0;
	char what[160];

	for (size_t i = 0; i < reader->nr_buffers; i++)
		nr_texts += is_text(reader->buffers[i].context, kernel_text);
	if (!nr_texts || !option)
		return 0;
	snprintf(what, sizeof(what), "leave out %s to read it%s", option,
		 strcmp(option, "-O") ? "" : ", or record again with it (weft record -O)");
	if (nr_texts == reader->nr_buffers)
		return choice_refuse_text(trace, what, fail);
	command_warn(
		"note: '%s' holds the worst case of a latency tracer as the kernel's text, which %s does not change",
		trace_path(trace), option);
	return 0;
}

int report_print(const struct report_options *report, struct trace *trace, struct fail *fail)
{
	struct printing printing = { .worst = 0 };
	int r;

	reader_init(&printing.reader);
	r = add_buffers(report, trace, &printing, fail);
	if (!r && printing.reader.nr_buffers)
		r = refuse_option(&printing.reader, asked(report, printing.changed),
				  report->format == sink_at(0) && !report->sink.raw, fail);
	if (!r && printing.reader.nr_buffers) {
		r = open_sinks(report, trace, &printing, fail);
		if (!r && report->user_plugins.foreign)
			foreign_tell(report->user_plugins.foreign, trace);
		for (size_t i = 0; !r && i < report->nr_others; i++)
			if (report->other_user_plugins[i].foreign)
				foreign_tell(report->other_user_plugins[i].foreign, report->others[i]);
		if (!r)
			r = print_events(report, &printing, fail);
	}
	r = fail_first(r, printing.worst, fail, &printing.failure);
	if (r >= 0)
		choice_tell_unknown(&report->query, &printing.reader);
	printing_release(&printing);
	return r;
}
