// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/slices.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render.h"
#include "formats/renderer_internal.h"
#include "formats/sink.h"
#include "formats/text_end.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/order.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/pool.h"
#include "lib/ground/base/populate.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/slices.h"

/* What a thread of slices has for texts that no sink makes (struct sliced_lines). */
struct slice_lines {
	const struct sliced_lines *ops;
	struct reader *reader;  /* borrowed */
	void *maker;            /* of sliced_lines::create() */
	struct out out;         /* the maker's */
	struct block **retired; /* for each buffer */
};

/* Text is handed over in pieces of about this size; a line more fits into the memory of a piece. */
enum { TEXT_SIZE = 128 << 10, TEXT_FULL = TEXT_SIZE - (4 << 10) };

/* After so many events, selected or not, the blocks that no later event needs are given back if they are this large. */
enum { LOOK_EVERY = 256, HELD = 512 << 10 };

/* `arg` is that of create(). */
static int slice_lines_init(struct slice_lines *lines, const struct sliced_lines *ops, void *arg, struct reader *reader,
			    struct fail *fail)
{
	lines->ops = ops;
	lines->reader = reader;
	lines->retired = calloc(reader->nr_buffers + 1, sizeof(struct block *));
	if (!lines->retired || !out_init(&lines->out, TEXT_SIZE))
		return fail_memory(fail);
	return ops->create(arg, reader, &lines->out, &lines->maker, fail);
}

static void slice_lines_release(struct slice_lines *lines)
{
	if (lines->maker)
		lines->ops->free(lines->maker);
	if (lines->out.start)
		out_release(&lines->out);
	free(lines->retired);
	*lines = (struct slice_lines){ .maker = NULL };
}

static void relieve(struct slice_lines *lines)
{
	if (reader_held_merged(lines->reader) <= HELD)
		return;
	reader_retired(lines->reader, lines->retired);
	reader_give_back(lines->reader, lines->retired);
}

static int slice_lines_pass(struct slice_lines *lines, struct fail *fail)
{
	struct event event;
	unsigned seen = 0;
	int r;

	while ((r = reader_step(lines->reader, &event, fail)) > 0) {
		/* Only to tell the selection of it. */
		(void)reader_keeps(lines->reader, &event);
		if (!(++seen % LOOK_EVERY))
			relieve(lines);
	}
	return r;
}

/* All that the reader has now; slice_lines_pass(): without lines. *ret_printed: the number of events. */
static int slice_lines_run(struct slice_lines *lines, const struct render_port *port, uint64_t *ret_printed,
			   struct fail *fail)
{
	const struct sliced_lines *ops = lines->ops;
	struct event event;
	unsigned seen = 0;
	int r;

	*ret_printed = 0;
	out_clear(&lines->out);
	while ((r = reader_step(lines->reader, &event, fail)) > 0) {
		if (reader_keeps(lines->reader, &event)) {
			ops->put(lines->maker, &event);
			*ret_printed += event.kind == EVENT_RECORD;
		}
		if (!(++seen % LOOK_EVERY))
			relieve(lines);
		r = out_len(&lines->out) < TEXT_FULL ? 0 : port->put(port->arg, &lines->out, fail);
		if (r < 0)
			return r;
	}
	if (!r)
		r = port->put(port->arg, &lines->out, fail);
	return r ? r : ops->check(lines->maker, fail);
}

/*
 * Text that a slice may have before its turn; then its thread waits. A text is kept in pieces of this size, of which a
 * thread keeps a few for the next slice.
 */
enum { JOIN_LINES_MAX = 8 << 20, PIECE = 128 << 10 };

/* So many slices beyond the number of threads may be begun before the oldest one is written. */
enum { SLICES_AHEAD = 1 };

/* A slice that was begun and is not yet written. */
struct piece {
	struct out *texts; /* in order; those from nr_texts on are empty */
	size_t nr_texts, nr_made;
	size_t len; /* their bytes */
	struct slice_ends ends;
	char *seam; /* of all sinks, one after the other */
	struct sink_patches patches;
	uint64_t printed;
};

struct shared {
	const struct sliced *sliced;
	size_t nr_sinks, seam_size; /* without sinks (sliced::lines) there are no seams */
	struct order order;
	struct piece *pieces; /* slice n is at n % order.window */
	/* Of the thread that has the turn: */
	struct piece before; /* what the last written slice left: its ends and its seam */
	uint64_t printed;
	/* Of the thread that stopped all first: */
	int r;
	struct fail fail;
};

/* What one thread has. */
struct slicer {
	struct pool_job job; /* first */
	struct shared *shared;
	struct slice_reader reader;
	struct sink **sinks;
	struct renderer *renderer;
	struct slice_lines lines; /* in place of sinks */
	struct piece *piece;      /* the slice it is at */
	uint64_t index;
	bool direct; /* its slice's turn has come: its text goes to the end at once */
	bool failed; /* the output did */
};

bool slices_can(struct sink *const *sinks, size_t nr, const struct render_options *options)
{
	if (options->limit != UINT64_MAX)
		return false;
	for (size_t i = 0; i < nr; i++) {
		const struct sink_seam_ops *seam = sinks[i]->ops->seam;

		if (!seam || sinks[i]->ops->end || !seam->can(sinks[i]) ||
		    (options->prefixes && seam->patches(sinks[i])))
			return false;
	}
	return true;
}

static struct piece *piece_at(const struct shared *shared, uint64_t index)
{
	return &shared->pieces[index % shared->order.window];
}

/* The memory stays for the next slice. */
static void texts_clear(struct piece *piece)
{
	for (size_t i = 0; i < piece->nr_texts; i++)
		out_clear(&piece->texts[i]);
	piece->nr_texts = piece->len = 0;
}

/* Goes over the seams of all sinks, which stand one after the other. */
static bool seam_join(const struct slicer *slicer, const char *before, char *seam, struct sink_patches *patches)
{
	for (size_t i = 0; i < slicer->shared->nr_sinks; i++) {
		const struct sink *sink = slicer->sinks[i];
		size_t size = sink->ops->seam->size(sink);

		if (!sink->ops->seam->join(before, seam, size, patches))
			return false;
		before += size;
		seam += size;
	}
	return true;
}

static void seam_save(const struct slicer *slicer, char *seam)
{
	for (size_t i = 0; i < slicer->shared->nr_sinks; i++) {
		const struct sink *sink = slicer->sinks[i];

		sink->ops->seam->save(sink, seam);
		seam += sink->ops->seam->size(sink);
	}
}

static void seam_load(const struct slicer *slicer, const char *seam)
{
	for (size_t i = 0; i < slicer->shared->nr_sinks; i++) {
		struct sink *sink = slicer->sinks[i];

		sink->ops->seam->load(sink, seam);
		seam += sink->ops->seam->size(sink);
	}
}

/* Whether the slice began where the one before ended. */
static bool meets(const struct shared *shared, const struct piece *piece, uint64_t index)
{
	return !index || slices_meet(&shared->before.ends, &piece->ends);
}

static int write_text(struct slicer *slicer, struct out *text, struct fail *fail)
{
	int r = text_end_put(slicer->shared->sliced->end, text, fail);

	slicer->failed |= r < 0;
	return r;
}

/* Adds what is missing where guesses were wrong: from behind, so that the places stay valid. */
static void mend(const struct sink_patches *patches, size_t number, struct out *text)
{
	for (size_t i = patches->nr; i-- > 0;) {
		const struct sink_patch *patch = &patches->at[i];
		char *at;

		if (patch->text != number || !patch->wrong || !patch->len)
			continue;
		out_need(text, patch->len);
		if (text->failed)
			return;
		at = text->start + patch->at;
		memmove(at + patch->len, at, out_len(text) - patch->at);
		memcpy(at, patch->missing, patch->len);
		text->at += patch->len;
	}
}

static int write_texts(struct slicer *slicer, struct piece *piece, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < piece->nr_texts; i++) {
		mend(&piece->patches, i, &piece->texts[i]);
		r = write_text(slicer, &piece->texts[i], fail);
	}
	texts_clear(piece);
	return r;
}

/* Keeps a text; `out` gets memory for the next one. */
static int keep(struct piece *piece, struct out *out, struct fail *fail)
{
	struct out kept = *out;

	if (out->failed)
		return fail_memory(fail);
	if (!out_len(out))
		return 0;
	if (piece->nr_texts == piece->nr_made) {
		struct out *made = vec_push(piece->texts, piece->nr_made);

		if (!made || !out_init(made, PIECE))
			return fail_memory(fail);
		populate(made->start, PIECE);
	}
	*out = piece->texts[piece->nr_texts];
	piece->texts[piece->nr_texts++] = kept;
	piece->len += out_len(&kept);
	piece->patches.text = piece->nr_texts;
	return 0;
}

/*
 * A slice that is not complete has its turn. What its sinks have guessed so far is checked, and then they know what was
 * before. -EINTR: a guess was wrong, so the slice has to be made again.
 */
static int go_direct(struct slicer *slicer, struct out *text, struct fail *fail)
{
	struct shared *shared = slicer->shared;
	struct piece *piece = slicer->piece;

	slicer->direct = true;
	if (!meets(shared, piece, slicer->index))
		return -EAGAIN;
	if (slicer->index) {
		seam_save(slicer, piece->seam);
		if (!seam_join(slicer, shared->before.seam, piece->seam, &piece->patches))
			return -EINTR;
		seam_load(slicer, piece->seam);
		mend(&piece->patches, piece->patches.text, text);
	}
	return write_texts(slicer, piece, fail);
}

static int put(void *arg, struct out *text, struct fail *fail)
{
	struct slicer *slicer = arg;
	int r;

	if (slice_needs_all(&slicer->reader))
		return -EAGAIN;
	if (!slicer->direct && order_take(&slicer->shared->order, slicer->index, slicer->piece->len > JOIN_LINES_MAX)) {
		r = go_direct(slicer, text, fail);
		if (r < 0) {
			/* This text is made again. */
			out_clear(text);
			return r;
		}
	}
	if (slicer->direct)
		return write_text(slicer, text, fail);
	/* It waited, and something else has failed meanwhile. */
	if (slicer->piece->len > JOIN_LINES_MAX)
		return -ECANCELED;
	return keep(slicer->piece, text, fail);
}

/* Settles the events before the slice: a sink that looks ahead from the last of them takes some of the slice. */
static int pass_before(struct slicer *slicer, struct fail *fail)
{
	struct reader *reader = slicer->reader.reader;
	struct sink_event event;
	int r = 0;

	if (slicer->shared->sliced->lines)
		return slicer->reader.is_first ? 0 : slice_lines_pass(&slicer->lines, fail);
	while (!slicer->reader.is_first && (r = reader_step(reader, &event.event, fail)) > 0) {
		struct sink *sink = slicer->sinks[event.event.buffer];

		if (reader_keeps(reader, &event.event))
			(void)sink->ops->settle(sink, reader->buffers[event.event.buffer].events, &event.event);
	}
	return r;
}

static int forget(const struct slicer *slicer, struct fail *fail)
{
	for (size_t i = 0; i < slicer->shared->nr_sinks; i++)
		if (!slicer->sinks[i]->ops->seam->forget(slicer->sinks[i]))
			return fail_memory(fail);
	return 0;
}

/* Makes the text of a slice. `known`: the slice before is written, so nothing is guessed. */
static int make(struct slicer *slicer, bool known, struct fail *fail)
{
	const struct render_port port = { .put = put, .arg = slicer };
	struct piece *piece = slicer->piece;
	int r = slice_enter(&slicer->reader, slicer->index, fail);

	sink_patches_release(&piece->patches);
	if (!r && slicer->index)
		r = forget(slicer, fail);
	if (!r)
		r = pass_before(slicer, fail);
	if (!r)
		r = slice_begin(&slicer->reader, &piece->ends, fail);
	for (size_t i = 0; !r && slicer->index && i < slicer->shared->nr_sinks; i++)
		slicer->sinks[i]->ops->seam->begin(slicer->sinks[i], &piece->patches);
	if (!r && known)
		seam_load(slicer, slicer->shared->before.seam);
	if (!r && slicer->shared->sliced->lines)
		r = slice_lines_run(&slicer->lines, &port, &piece->printed, fail);
	else if (!r)
		r = renderer_run(slicer->renderer, &port, &piece->printed, fail);
	if (!r)
		r = slice_end(&slicer->reader, &piece->ends, fail);
	if (!r)
		seam_save(slicer, piece->seam);
	return r;
}

/* Makes the slice again whose turn it is. The thread has no other slice. */
static int make_again(struct slicer *slicer, uint64_t index, struct fail *fail)
{
	struct piece *piece = piece_at(slicer->shared, index);

	texts_clear(piece);
	slicer->piece = piece;
	slicer->index = index;
	slicer->direct = true;
	return make(slicer, true, fail);
}

/* The slice whose turn it is has been made: writes what is not yet written of it. */
static int finish(struct slicer *slicer, uint64_t index, struct fail *fail)
{
	struct shared *shared = slicer->shared;
	struct piece *piece = piece_at(shared, index);
	struct piece written = shared->before;
	int r = 0;

	if (!meets(shared, piece, index))
		return -EAGAIN;
	if (index && !seam_join(slicer, shared->before.seam, piece->seam, &piece->patches))
		r = make_again(slicer, index, fail);
	if (!r)
		r = write_texts(slicer, piece, fail);
	if (r < 0)
		return r;
	shared->printed += piece->printed;
	/* What this one left is what the next one needs; it gets the memory of the one before. */
	shared->before = (struct piece){ .ends = piece->ends, .seam = piece->seam };
	piece->ends = written.ends;
	piece->seam = written.seam;
	piece->printed = 0;
	return 0;
}

static void tell_wrote(const struct shared *shared, uint64_t slices, uint64_t all)
{
	if (shared->sliced->wrote)
		shared->sliced->wrote(slices, all);
}

/* Writes the slices that are complete, in order, as long as no other thread does. */
static int write_on(struct slicer *slicer, struct fail *fail)
{
	struct shared *shared = slicer->shared;
	uint64_t due;
	int r = 0;

	order_made(&shared->order, slicer->index);
	while (!r && order_due(&shared->order, &due)) {
		r = finish(slicer, due, fail);
		if (!r) {
			tell_wrote(shared, due + 1, shared->order.nr);
			order_passed(&shared->order);
		}
	}
	return r;
}

static bool begin_next(struct slicer *slicer)
{
	if (!order_begin(&slicer->shared->order, &slicer->index))
		return false;
	slicer->piece = piece_at(slicer->shared, slicer->index);
	slicer->direct = false;
	return true;
}

static void slicer_run(struct pool_job *job)
{
	struct slicer *slicer = (struct slicer *)job;
	struct fail fail = FAIL_INIT;
	int r = 0;

	while (!r && begin_next(slicer)) {
		r = make(slicer, false, &fail);
		if (r == -EINTR)
			r = make_again(slicer, slicer->index, &fail);
		if (!r)
			r = write_on(slicer, &fail);
	}
	if (!r || r == -ECANCELED || !order_stop(&slicer->shared->order))
		return;
	/* What cannot be read in slices is read in order, which tells what can be told. */
	slicer->shared->r = slicer->failed ? r : -EAGAIN;
	slicer->shared->fail = fail;
}

static void slicer_release(struct slicer *slicer)
{
	renderer_free(slicer->renderer);
	for (size_t i = 0; slicer->sinks && i < slicer->shared->nr_sinks; i++)
		if (slicer->sinks[i])
			slicer->sinks[i]->ops->free(slicer->sinks[i]);
	free(slicer->sinks);
	slice_lines_release(&slicer->lines);
	slice_reader_release(&slicer->reader);
}

static int slicer_init(struct slicer *slicer, struct shared *shared, const struct render_options *options,
		       struct fail *fail)
{
	const struct sliced *sliced = shared->sliced;
	int r;

	slicer->job.run = slicer_run;
	slicer->shared = shared;
	slicer->sinks = calloc(shared->nr_sinks + 1, sizeof(struct sink *));
	if (!slicer->sinks)
		return fail_memory(fail);
	r = slice_reader_new(sliced->slices, &slicer->reader, fail);
	for (size_t i = 0; !r && i < shared->nr_sinks; i++)
		r = sliced->new_sink(sliced->arg, i, &slicer->sinks[i], fail);
	if (!r && sliced->lines)
		r = slice_lines_init(&slicer->lines, sliced->lines, sliced->arg, slicer->reader.reader, fail);
	else if (!r)
		r = renderer_new(slicer->reader.reader, slicer->sinks, options, &slicer->renderer, fail);
	return r;
}

static int shared_init(struct shared *shared, const struct slicer *first, struct fail *fail)
{
	for (size_t i = 0; i < shared->nr_sinks; i++)
		shared->seam_size += first->sinks[i]->ops->seam->size(first->sinks[i]);
	shared->before.seam = calloc(1, shared->seam_size + 1);
	for (size_t i = 0; i < shared->order.window; i++) {
		shared->pieces[i].seam = calloc(1, shared->seam_size + 1);
		if (!shared->pieces[i].seam)
			return fail_memory(fail);
	}
	return shared->before.seam ? 0 : fail_memory(fail);
}

static void piece_release(struct piece *piece)
{
	for (size_t i = 0; i < piece->nr_made; i++)
		out_release(&piece->texts[i]);
	free(piece->texts);
	sink_patches_release(&piece->patches);
	slice_ends_release(&piece->ends);
	free(piece->seam);
}

static int run_all(struct shared *shared, struct slicer *slicers, size_t nr, struct fail *fail)
{
	struct pool *pool = shared->sliced->options->pool;

	for (size_t i = 1; i < nr; i++)
		pool_submit_first(pool, &slicers[i].job);
	slicer_run(&slicers[0].job);
	for (size_t i = 1; i < nr; i++)
		pool_wait(pool, &slicers[i].job);
	for (size_t i = 0; !shared->r && i < nr; i++) {
		if (shared->sliced->done)
			shared->sliced->done(shared->sliced->arg, slicers[i].reader.reader);
		if (shared->sliced->lines)
			shared->sliced->lines->done(shared->sliced->arg, slicers[i].lines.maker);
	}
	if (shared->r && shared->r != -EAGAIN && shared->r != -EPIPE)
		return fail_set(fail, shared->r, "%s", shared->fail.text);
	return shared->r;
}

int slices_render(const struct sliced *sliced, struct sink *const *sinks, uint64_t *ret_printed, struct fail *fail)
{
	const struct render_port port = render_port_to(sliced->end);
	struct render_options options = *sliced->options;
	size_t nr = sliced->slices->threads;
	struct shared shared = { .sliced = sliced, .nr_sinks = sliced->lines ? 0 : sliced->slices->reader->nr_buffers };
	struct slicer *slicers = calloc(nr, sizeof(*slicers));
	int r = order_init(&shared.order, sliced->slices->nr, nr + SLICES_AHEAD);

	options.pool = NULL;
	shared.pieces = calloc(shared.order.window, sizeof(*shared.pieces));
	if (r || !slicers || !shared.pieces)
		r = fail_memory(fail);
	for (size_t i = 0; !r && i < nr; i++)
		r = slicer_init(&slicers[i], &shared, &options, fail);
	if (!r)
		r = shared_init(&shared, &slicers[0], fail);
	if (!r && !sliced->lines)
		r = render_frame(sliced->slices->reader, sinks, sliced->options, true, &port, fail);
	if (!r) {
		tell_wrote(&shared, 0, sliced->slices->nr);
		r = run_all(&shared, slicers, nr, fail);
	}
	if (r == -EAGAIN)
		tell_wrote(&shared, 0, 0);
	*ret_printed = shared.printed;
	for (size_t i = 0; slicers && i < nr; i++)
		if (slicers[i].shared)
			slicer_release(&slicers[i]);
	for (size_t i = 0; shared.pieces && i < shared.order.window; i++)
		piece_release(&shared.pieces[i]);
	piece_release(&shared.before);
	free(shared.pieces);
	free(slicers);
	order_release(&shared.order);
	return r;
}
