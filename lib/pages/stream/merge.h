/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_STREAM_MERGE_H
#define WEFT_PAGES_STREAM_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/stream/cursor.h"
#include "lib/pages/stream/source.h"

/*
 * A cursor and the time stamp of its head, side by side: with many CPUs, a comparison of times then does not load a
 * cursor from memory for each.
 */
struct merge_slot {
	uint64_t ts; /* out of date while the cursor is the merge's top and top_moved is set */
	struct cursor *cursor;
};

/*
 * The records of all CPUs of a source in time order: by (ts, cpu), stable within a CPU, as the kernel's
 * __find_next_entry() picks them. Lost events are in merge_top()->lost; the owner reports them. A CPU whose data is
 * damaged ends, and the others go on. For a live source merge_top() returns only records that no older record can
 * follow (source_ops::bound), so that the order also holds there; NULL then means "none now", and merge_resume() may
 * change that.
 */
struct merge {
	struct merge_slot *heap; /* the cursors that are live; [0] is next in time unless top_moved */
	size_t len;
	/* time of the cursor that comes after heap[0]; UINT64_MAX when heap[0] is alone */
	uint64_t next_ts;
	uint64_t horizon; /* live source: every record older than this has arrived; else UINT64_MAX */
	bool plain;       /* not a live source: all records are there */
	int64_t only;     /* merge_only() */
	bool started;
	bool top_moved; /* heap[0] has advanced and may be out of its place */
	struct source *source;
	struct cursor *cursors;
	size_t nr_cursors;
	struct chain retired;
	struct fail start_fail;
};

/* `mask` has a bit for each CPU number to read; NULL: all CPUs. Takes the source. */
int must_check merge_new(struct source *source, const uint64_t *mask, size_t mask_words, struct merge **ret,
			 struct fail *fail);
/* Whether a CPU is not one of the mask; without a mask all are. */
bool merge_masked(const uint64_t *mask, size_t words, uint32_t cpu);
void merge_free(struct merge *merge);

/* Starts reading at the pages that may hold raw time ts. Only before the first merge_top(). */
int must_check merge_seek(struct merge *merge, uint64_t ts, struct fail *fail);

/*
 * Starts again at the pages that may hold raw time ts; 0: at the first ones. All blocks that the owner took must have
 * been released. Only with a source that can restart.
 */
int must_check merge_restart(struct merge *merge, uint64_t ts, struct fail *fail);

/* From the next merge_restart() on, only this CPU is read; -1: all again. */
void merge_only(struct merge *merge, int64_t cpu);

/* Whether a record was read whose text depends on all records of its CPU before it (lib/pages/ring/remains.h). */
bool merge_has_remains(const struct merge *merge);

/* Records of equal time come in the order of their CPUs. */
static inline bool merge_before(struct merge_slot a, struct merge_slot b)
{
	return a.ts < b.ts || (a.ts == b.ts && a.cursor < b.cursor);
}

/* merge_settle() of any number of CPUs. */
struct cursor *merge_settle_many(struct merge *merge);

/*
 * merge_top() of a source that is not live, after merge_advance() has moved to a record: half of the time, the next one
 * is on the other of two CPUs. A slot is read as it was written, member by member: as a whole it would have to wait.
 */
static inline struct cursor *merge_settle(struct merge *merge)
{
	struct merge_slot *heap = merge->heap;
	struct cursor *moved = heap[0].cursor, *other = heap[1].cursor;
	uint64_t moved_ts = moved->head.ts, other_ts = heap[1].ts;

	if (merge->len != 2)
		return merge_settle_many(merge);
	merge->top_moved = false;
	if (merge_before((struct merge_slot){ other_ts, other }, (struct merge_slot){ moved_ts, moved })) {
		heap[0].ts = other_ts;
		heap[0].cursor = other;
		heap[1].ts = moved_ts;
		heap[1].cursor = moved;
		merge->next_ts = moved_ts;
		return other;
	}
	heap[0].ts = moved_ts;
	merge->next_ts = other_ts;
	return moved;
}

/* The cursor whose head is next in time, or NULL at the end. */
struct cursor *merge_top_slowly(struct merge *merge);

static inline struct cursor *merge_top(struct merge *merge)
{
	/* One CPU often has several events before another CPU has one. */
	if (merge->top_moved && merge->heap[0].cursor->live && merge->heap[0].cursor->head.ts < merge->next_ts) {
		merge->top_moved = false;
		return merge->heap[0].cursor;
	}
	return merge_top_slowly(merge);
}

/*
 * Whether merge_top() returns a record now. *ret is its time; without a record, a time such that no older record can
 * come (UINT64_MAX when none can come at all).
 */
bool merge_due(struct merge *merge, uint64_t *ret);

/* Asks a live source again for the CPUs that had no record. */
void merge_resume(struct merge *merge);

/*
 * Moves the cursor that merge_top() returned to its next record without sorting it in: until the next merge_top(), its
 * head is the record that follows on that CPU, when it is live. 1, 0 at the end of that CPU, -errno when it ends in
 * damage.
 */
static inline int must_check merge_advance(struct merge *merge, struct fail *fail)
{
	merge->top_moved = true;
	if (!merge->heap[0].cursor->live)
		return 0;
	return cursor_next(merge->heap[0].cursor, fail);
}

/* The cursor that merge_advance() moved since the last merge_top(); NULL when none was. */
static inline struct cursor *merge_moved(const struct merge *merge)
{
	return merge->top_moved ? merge->heap[0].cursor : NULL;
}

/*
 * Damage found before the first record of a CPU, or before a record of new live data, could be handed out; NULL when
 * there was none.
 */
const char *merge_start_damage(const struct merge *merge);

/* The chain of blocks that the cursors have left; the caller owns them from then on. */
struct block *merge_retired(struct merge *merge);
void merge_release(struct merge *merge, struct block *chain);

#endif
