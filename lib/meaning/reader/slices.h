/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_SLICES_H
#define WEFT_MEANING_READER_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct cursor_place;
struct fail;
struct reader;
struct selection;

/*
 * The events of a reader in slices of time, which threads read apart from each other: what reading in order costs,
 * reading, decompressing and merging, is then done by all threads. A slice has the events from its time on until the
 * time of the next slice. These times are those of a CPU's pages, the one with most bytes, at equal distances in the
 * file.
 *
 * Where the time of a CPU goes back, or a page is damaged, an event may belong to no slice or to two. So nothing is
 * believed: a slice knows on which record of each CPU it began and ended, and slices_meet() tells whether the next one
 * began where this one ended. If each met the one before, all of them together are exactly what one reader reads in
 * order. If not, the caller reads everything in order.
 *
 * If the reader shows a window of time, the slices are those of the window, which is the same for all buffers.
 */
struct slices {
	const struct reader *reader;
	uint64_t *times;          /* of all slices but the first; 0: not yet looked for */
	uint64_t nr;              /* at least 2 */
	uint64_t first, parts;    /* of so many equal parts of the file, the first slice is this one */
	uint64_t since;           /* of the window; 0: it begins where the file does */
	unsigned threads;         /* so many share them, at least 2 */
	size_t buffer, cpu_index; /* of the CPU with most bytes */
	/* The owner sets it after slices_plan(): makes what the reader selects of a buffer, for another reader. */
	int (*select)(void *arg, size_t buffer, struct selection **ret, struct fail *fail);
	void *arg;
};

/*
 * For at most this many threads, and no more than have something to share. False: this reader cannot be read in slices,
 * or there is too little for two threads. The reader has not been started, and outlives the slices.
 */
bool slices_plan(const struct reader *reader, unsigned threads, struct slices *ret);
/*
 * Makes fewer and larger ones, each of several, for parts that have no text that waits: what a part needs at its start
 * and at its join costs as much in a small one. Call it before the slices are read.
 */
void slices_unite(struct slices *slices);
void slices_release(struct slices *slices);

/* Where the CPUs of all buffers stood at the start and at the end of a slice. */
struct slice_ends {
	struct cursor_place *start, *end;
	size_t nr;
};

void slice_ends_release(struct slice_ends *ends);
bool slices_meet(const struct slice_ends *before, const struct slice_ends *after);

/*
 * A thread's reader of slices. Use: slice_enter(); read until there is nothing more, which are events before the slice;
 * slice_begin(); read until there is nothing more; slice_end().
 */
struct slice_reader {
	const struct slices *slices;
	struct reader *reader;
	uint64_t until; /* the time of the next slice; 0: there is none */
	bool is_first;
};

int must_check slice_reader_new(const struct slices *slices, struct slice_reader *ret, struct fail *fail);
void slice_reader_release(struct slice_reader *reader);

/*
 * The events before the slice that are then read are at least the last one of each CPU that has one, in order: a reader
 * that looks ahead from one of them takes events of the slice, as the slice before will have taken them.
 */
int must_check slice_enter(struct slice_reader *reader, uint64_t index, struct fail *fail);
int must_check slice_begin(struct slice_reader *reader, struct slice_ends *ret, struct fail *fail);
/* Whether what was read since slice_enter() can only be told by reading everything in order. */
bool slice_needs_all(const struct slice_reader *reader);
/* -EAGAIN: what the slice has can only be told by reading everything in order. */
int must_check slice_end(struct slice_reader *reader, struct slice_ends *ret, struct fail *fail);

#endif
