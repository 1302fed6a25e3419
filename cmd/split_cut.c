// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/split_cut.h"

#include "cmd/command.h"
#include "cmd/form_apart.h"
#include "cmd/form_write.h"
#include "cmd/options/choice.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/made/excerpt.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = FORM_FILES_MAX, WORD_MAX = FORM_WORD };

/* A file that is being written. */
struct piece {
	struct excerpt *excerpt;
	uint64_t key;        /* for CUT_CPU the CPU, for CUT_EVENT the id of the event */
	char word[WORD_MAX]; /* a part of the file's name; "": there is only one file */
	uint64_t size;       /* the file's size, once it is written */
};

struct cutting {
	struct cut_job *job;
	struct trace *trace;
	struct reader reader;
	int64_t **lost;       /* lost[buffer][cpu]: number of events lost before the CPU's next event */
	struct piece *pieces; /* the last one is open; with CUT_CPU and CUT_EVENT, all are */
	size_t nr_pieces;
	uint64_t edge; /* the time at which the open piece ends; 0: there was no event yet */
};

static int write_excerpt(void *arg, int fd, struct fail *fail)
{
	struct piece *piece = arg;

	return excerpt_write(piece->excerpt, fd, &piece->size, fail);
}

static int close_piece(struct cutting *cutting, struct piece *piece, struct fail *fail)
{
	const struct form *form = cutting->job->form;
	cleanup_free char *path = form_path(form, piece->word);
	char size[TEXT_HUMAN];
	int r;

	if (!path)
		return fail_memory(fail);
	r = form_write(form, piece->word, write_excerpt, piece, fail);
	if (r)
		return r;
	cutting->job->parts++;
	if (!form->quiet)
		command_warn("%s: %" PRIu64 " event%s, %s", path, excerpt_count(piece->excerpt),
			     text_plural(excerpt_count(piece->excerpt)), text_size(size, piece->size));
	excerpt_free(piece->excerpt);
	piece->excerpt = NULL;
	return 0;
}

static int open_piece(struct cutting *cutting, uint64_t key, struct piece **ret, struct fail *fail)
{
	struct piece *piece;

	if (cutting->nr_pieces == PARTS_MAX)
		return fail_set(fail, -E2BIG, "more than %d parts; make them larger", PARTS_MAX);
	piece = vec_push(cutting->pieces, cutting->nr_pieces);
	if (!piece)
		return fail_memory(fail);
	piece->key = key;
	*ret = piece;
	return excerpt_new(cutting->trace, &cutting->job->form->as, &piece->excerpt, fail);
}

/* Returns whether the open piece ends before an event of this time. */
static bool is_full(const struct cutting *cutting, const struct piece *piece, uint64_t ts)
{
	switch (cutting->job->by) {
	case CUT_TIME:
		return ts >= cutting->edge;
	case CUT_SIZE:
		return excerpt_size(piece->excerpt) >= cutting->job->step;
	case CUT_COUNT:
		return excerpt_count(piece->excerpt) >= cutting->job->step;
	case CUT_NOT:
	case CUT_CPU:
	case CUT_EVENT:
		return false;
	}
	return false;
}

/* Sets the first edge, or moves the edge behind `ts`. A piece without events makes no file. */
static void move_edge(struct cutting *cutting, uint64_t ts)
{
	uint64_t step = cutting->job->step;

	if (!cutting->nr_pieces)
		cutting->edge = ts;
	if (ts >= cutting->edge &&
	    __builtin_add_overflow(cutting->edge, ((ts - cutting->edge) / step + 1) * step, &cutting->edge))
		cutting->edge = UINT64_MAX;
}

static int piece_in_order(struct cutting *cutting, const struct event *event, struct piece **ret, struct fail *fail)
{
	struct piece *last = cutting->nr_pieces ? &cutting->pieces[cutting->nr_pieces - 1] : NULL;
	int r = 0;

	if (last && !is_full(cutting, last, event->ts)) {
		*ret = last;
		return 0;
	}
	if (cutting->job->by == CUT_TIME)
		move_edge(cutting, event->ts);
	if (last)
		r = close_piece(cutting, last, fail);
	if (!r)
		r = open_piece(cutting, 0, ret, fail);
	if (!r && cutting->job->by != CUT_NOT)
		snprintf((*ret)->word, WORD_MAX, "%03zu", cutting->nr_pieces);
	return r;
}

/*
 * Makes a word from the name of an event. The name comes from the file, so only its letters, digits and '_' become part
 * of a file's name.
 */
static void name_event(struct cutting *cutting, struct piece *piece, const struct event *event)
{
	const char *name = event->type->format && *event->type->format->name ? event->type->format->name : "event";
	size_t len = 0;

	for (; name[len] && len < WORD_MAX - 8; len++)
		piece->word[len] =
			strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", name[len]) ?
				name[len] :
				'_';
	piece->word[len] = '\0';
	for (size_t i = 0; &cutting->pieces[i] != piece; i++)
		if (!strcmp(cutting->pieces[i].word, piece->word)) {
			snprintf(piece->word + len, WORD_MAX - len, ".%u", (unsigned)event->id);
			return;
		}
}

static int piece_of_key(struct cutting *cutting, const struct event *event, struct piece **ret, struct fail *fail)
{
	uint64_t key = cutting->job->by == CUT_CPU ? event->cpu : event->id;
	int r;

	for (size_t i = 0; i < cutting->nr_pieces; i++)
		if (cutting->pieces[i].key == key) {
			*ret = &cutting->pieces[i];
			return 0;
		}
	r = open_piece(cutting, key, ret, fail);
	if (r)
		return r;
	if (cutting->job->by == CUT_CPU)
		snprintf((*ret)->word, WORD_MAX, "cpu%u", (unsigned)event->cpu);
	else
		name_event(cutting, *ret, event);
	return 0;
}

static void add_lost(int64_t *lost, int64_t more)
{
	*lost = *lost >= 0 && more > 0 ? *lost + more : more;
}

static int take_event(struct cutting *cutting, const struct event *event, struct fail *fail)
{
	int64_t *lost = &cutting->lost[event->buffer][event->cpu_index];
	bool keyed = cutting->job->by == CUT_CPU || cutting->job->by == CUT_EVENT;
	struct piece *piece = NULL;
	int r;

	if (event->kind == EVENT_LOST) {
		add_lost(lost, event->lost);
		return 0;
	}
	r = keyed ? piece_of_key(cutting, event, &piece, fail) : piece_in_order(cutting, event, &piece, fail);
	if (!r)
		r = excerpt_add(piece->excerpt, event->type->context->buffer, event, *lost, fail);
	*lost = 0;
	cutting->job->events += !r;
	return r;
}

static int take_events(struct cutting *cutting, struct fail *fail)
{
	struct event event;
	int r = 0;

	while (cutting->job->events < cutting->job->query->limit &&
	       (r = reader_next(&cutting->reader, &event, fail)) > 0) {
		r = take_event(cutting, &event, fail);
		if (r)
			return r;
	}
	/* What was not read for lack of memory is not damaged, and the file would lack it. */
	if (r >= 0 && trace_starved(cutting->trace))
		r = fail_memory(fail);
	/* A selection without events makes a file without events. */
	if (r >= 0 && !cutting->nr_pieces && cutting->job->by == CUT_NOT) {
		struct piece *piece;

		r = open_piece(cutting, 0, &piece, fail);
	}
	for (size_t i = 0; r >= 0 && i < cutting->nr_pieces; i++)
		if (cutting->pieces[i].excerpt)
			r = close_piece(cutting, &cutting->pieces[i], fail);
	return r;
}

static int can_cut(const struct cutting *cutting, struct fail *fail)
{
	const struct reader *reader = &cutting->reader;
	enum cut_by by = cutting->job->by;

	if (!reader_is_merged(reader) && (by == CUT_TIME || by == CUT_SIZE || by == CUT_COUNT))
		return fail_set(fail, -EINVAL,
				"the clocks of the instances differ, so their times cannot be "
				"compared; choose one with -B NAME");
	if (by == CUT_TIME && reader->nr_buffers && reader->buffers[0].context->unit != CLOCK_UNIT_NS)
		return fail_set(fail, -EINVAL, "the clock '%s' does not count ns; divide by --events or --size",
				reader->buffers[0].context->clock);
	return 0;
}

static int start(struct cutting *cutting, struct fail *fail)
{
	const struct query *query = cutting->job->query;
	int r = choice_buffers(query, NULL, cutting->trace, &cutting->reader, fail);
	size_t nr = cutting->reader.nr_buffers;

	if (!r)
		r = query_tail(query, &cutting->reader, fail);
	if (r)
		return r;
	cutting->lost = calloc(nr + 1, sizeof(*cutting->lost));
	for (size_t i = 0; cutting->lost && i < nr; i++) {
		size_t cpus = trace_buffer(cutting->trace, cutting->reader.buffers[i].context->buffer)->nr_cpus;

		cutting->lost[i] = calloc(cpus + 1, sizeof(**cutting->lost));
		if (!cutting->lost[i])
			return fail_memory(fail);
	}
	if (!cutting->lost)
		return fail_memory(fail);
	r = reader_start(&cutting->reader, &(struct reader_options){ .pool = NULL }, fail);
	return r ? r : can_cut(cutting, fail);
}

static void release(struct cutting *cutting)
{
	for (size_t i = 0; i < cutting->nr_pieces; i++)
		excerpt_free(cutting->pieces[i].excerpt);
	free(cutting->pieces);
	for (size_t i = 0; cutting->lost && i < cutting->reader.nr_buffers; i++)
		free(cutting->lost[i]);
	free(cutting->lost);
	reader_release(&cutting->reader);
}

int cut(struct cut_job *job, struct trace *trace, struct fail *fail)
{
	struct cutting cutting = { .job = job, .trace = trace };
	const char *path, *damage;
	int r;

	reader_init(&cutting.reader);
	r = start(&cutting, fail);
	if (!r)
		r = take_events(&cutting, fail);
	damage = r ? NULL : reader_damage(&cutting.reader, &path);
	if (damage)
		r = fail_set(fail, -EBADMSG, "'%s' is damaged: %s", path, damage);
	else if (!r && trace_damage(trace))
		r = fail_set(fail, -EBADMSG, "%s", trace_damage(trace));
	release(&cutting);
	return r;
}
