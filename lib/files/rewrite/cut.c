// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/cut.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/rewrite/excerpt.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

/* A file that is being written. */
struct piece {
	struct excerpt *excerpt;
	uint64_t key;        /* for CUT_CPU the CPU, for CUT_EVENT the id of the event */
	char word[CUT_WORD]; /* a part of the file's name; "": there is only one file */
	struct buf selected; /* what is not in it */
};

struct cutting {
	const struct cut_options *options;
	struct trace *trace;
	struct reader *reader;
	uint64_t events;
	int64_t **lost;       /* lost[buffer][cpu]: number of events lost before the CPU's next event */
	struct piece *pieces; /* the last one is open; with CUT_CPU and CUT_EVENT, all are */
	size_t nr_pieces;
	uint64_t edge; /* the time at which the open piece ends; 0: there was no event yet */
};

/* All pieces are open until the last event. */
static bool is_keyed(const struct cutting *cutting)
{
	return cutting->options->by == CUT_CPU || cutting->options->by == CUT_EVENT;
}

static int close_piece(const struct cutting *cutting, struct piece *piece, struct fail *fail)
{
	int r;

	excerpt_selected(piece->excerpt, buf_str(&piece->selected));
	if (cutting->options->by != CUT_NOT)
		excerpt_divided(piece->excerpt, is_keyed(cutting) ? 0 : cutting->nr_pieces, cutting->events);
	r = cutting->options->write(cutting->options->arg, piece->word, piece->excerpt, fail);
	if (r)
		return r;
	excerpt_free(piece->excerpt);
	piece->excerpt = NULL;
	return 0;
}

static int open_piece(struct cutting *cutting, uint64_t key, struct piece **ret, struct fail *fail)
{
	struct piece *piece;

	if (cutting->nr_pieces == CUT_PARTS_MAX)
		return fail_set(fail, -E2BIG, "more than %d parts; make them larger", CUT_PARTS_MAX);
	piece = vec_push(cutting->pieces, cutting->nr_pieces);
	if (!piece)
		return fail_memory(fail);
	piece->key = key;
	*ret = piece;
	if (cutting->options->selected && !buf_add_str(&piece->selected, cutting->options->selected))
		return fail_memory(fail);
	return excerpt_new(cutting->trace, cutting->options->as, &piece->excerpt, fail);
}

/* Returns whether the open piece ends before an event of this time. */
static bool is_full(const struct cutting *cutting, const struct piece *piece, uint64_t ts)
{
	switch (cutting->options->by) {
	case CUT_TIME:
		return ts >= cutting->edge;
	case CUT_SIZE:
		return excerpt_size(piece->excerpt) >= cutting->options->step;
	case CUT_COUNT:
		return excerpt_count(piece->excerpt) >= cutting->options->step;
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
	uint64_t step = cutting->options->step;

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
	if (cutting->options->by == CUT_TIME)
		move_edge(cutting, event->ts);
	if (last)
		r = close_piece(cutting, last, fail);
	if (!r)
		r = open_piece(cutting, 0, ret, fail);
	if (!r && cutting->options->by != CUT_NOT)
		snprintf((*ret)->word, CUT_WORD, "%03zu", cutting->nr_pieces);
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

	for (; name[len] && len < CUT_WORD - 8; len++)
		piece->word[len] =
			strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", name[len]) ?
				name[len] :
				'_';
	piece->word[len] = '\0';
	for (size_t i = 0; &cutting->pieces[i] != piece; i++)
		if (!strcmp(cutting->pieces[i].word, piece->word)) {
			snprintf(piece->word + len, CUT_WORD - len, ".%u", (unsigned)event->id);
			return;
		}
}

static int piece_of_key(struct cutting *cutting, const struct event *event, struct piece **ret, struct fail *fail)
{
	uint64_t key = cutting->options->by == CUT_CPU ? event->cpu : event->id;
	int r;

	for (size_t i = 0; i < cutting->nr_pieces; i++)
		if (cutting->pieces[i].key == key) {
			*ret = &cutting->pieces[i];
			return 0;
		}
	r = open_piece(cutting, key, ret, fail);
	if (r)
		return r;
	if (cutting->options->by == CUT_CPU) {
		snprintf((*ret)->word, CUT_WORD, "cpu%u", (unsigned)event->cpu);
		return buf_addf(&(*ret)->selected, "--cpu %u\n", (unsigned)event->cpu) ? 0 : fail_memory(fail);
	}
	name_event(cutting, *ret, event);
	return !event->type->format || buf_addf(&(*ret)->selected, "-e %s:%s\n", event->type->format->system,
						event->type->format->name) ?
		       0 :
		       fail_memory(fail);
}

static void add_lost(int64_t *lost, int64_t more)
{
	*lost = *lost >= 0 && more > 0 ? *lost + more : more;
}

static int take_event(struct cutting *cutting, const struct event *event, struct fail *fail)
{
	int64_t *lost = &cutting->lost[event->buffer][event->cpu_index];
	struct piece *piece = NULL;
	int r;

	if (event->kind == EVENT_LOST) {
		add_lost(lost, event->lost);
		return 0;
	}
	r = is_keyed(cutting) ? piece_of_key(cutting, event, &piece, fail) :
				piece_in_order(cutting, event, &piece, fail);
	if (!r)
		r = excerpt_add(piece->excerpt, event->type->context->buffer, event, *lost, fail);
	*lost = 0;
	cutting->events += !r;
	return r;
}

static int take_events(struct cutting *cutting, struct fail *fail)
{
	struct event event;
	int r = 0;

	while (cutting->events < cutting->options->limit && (r = reader_next(cutting->reader, &event, fail)) > 0) {
		r = take_event(cutting, &event, fail);
		if (r)
			return r;
	}
	/* What was not read for lack of memory is not damaged, and the file would lack it. */
	if (r >= 0 && trace_starved(cutting->trace))
		r = fail_memory(fail);
	/* A selection without events makes a file without events. */
	if (r >= 0 && !cutting->nr_pieces && cutting->options->by == CUT_NOT) {
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
	const struct reader *reader = cutting->reader;
	enum cut_by by = cutting->options->by;

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
	size_t nr = cutting->reader->nr_buffers;
	int r;

	cutting->lost = calloc(nr + 1, sizeof(*cutting->lost));
	for (size_t i = 0; cutting->lost && i < nr; i++) {
		size_t cpus = trace_buffer(cutting->trace, cutting->reader->buffers[i].context->buffer)->nr_cpus;

		cutting->lost[i] = calloc(cpus + 1, sizeof(**cutting->lost));
		if (!cutting->lost[i])
			return fail_memory(fail);
	}
	if (!cutting->lost)
		return fail_memory(fail);
	r = reader_start(cutting->reader, &(struct reader_options){ .pool = NULL }, fail);
	return r ? r : can_cut(cutting, fail);
}

static void release(struct cutting *cutting)
{
	for (size_t i = 0; i < cutting->nr_pieces; i++) {
		excerpt_free(cutting->pieces[i].excerpt);
		buf_release(&cutting->pieces[i].selected);
	}
	free(cutting->pieces);
	for (size_t i = 0; cutting->lost && i < cutting->reader->nr_buffers; i++)
		free(cutting->lost[i]);
	free(cutting->lost);
}

int cut(const struct cut_options *options, struct trace *trace, struct reader *reader, uint64_t *ret_events,
	struct fail *fail)
{
	struct cutting cutting = { .options = options, .trace = trace, .reader = reader };
	const char *path, *damage;
	int r = start(&cutting, fail);

	if (!r)
		r = take_events(&cutting, fail);
	damage = r ? NULL : reader_damage(reader, &path);
	if (damage)
		r = fail_set(fail, -EBADMSG, "'%s' is damaged: %s", path, damage);
	else if (!r && trace_damage(trace))
		r = fail_set(fail, -EBADMSG, "%s", trace_damage(trace));
	*ret_events = cutting.events;
	release(&cutting);
	return r;
}
