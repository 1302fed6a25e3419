/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_HTML_BANDS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_HTML_BANDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/u64_map.h"

/*
 * A band is an ordered list of slices that do not overlap, packed as varints. A band that is folded to 2^k ns merges
 * all slices that lie wholly in the same 2^k ns into one slice, with their number, their total time and the name of the
 * longest. So each folding halves the resolution in time, longer slices stay exact, and the sums never change. What is
 * added to a folded band is merged at once where it can be. A slice in bytes: the time since the end of the previous
 * slice, its length, name * 2 + (1 for a merged slice), then count and busy time of a merged slice; the bits of a value
 * in a band of values; the length of a text and the text in a band of texts, unless the slice is merged.
 */
struct slice {
	uint64_t start, lasted;
	uint64_t count, busy; /* 1 and `lasted`, except for a merged slice */
	uint64_t value;       /* in a band of values; a merged slice has the largest */
	uint32_t name;
	const char *text; /* in a band of texts; NULL: none */
	size_t text_len;
};

enum { BAND_FOLD_MAX = 63 };

struct band {
	struct buf bytes;
	/* Of a folded band. */
	struct band_last {
		struct slice slice; /* the last one; its text is not kept */
		uint64_t longest;   /* of what was merged into it, the length that gave it its name */
		uint64_t end;       /* of the slice before it */
		size_t at;          /* its place in `bytes` */
	} last;
	uint64_t end;    /* end of the last slice */
	uint64_t slices; /* number of slices in `bytes` */
	uint64_t added;
	uint8_t fold; /* k; 0: not folded */
	bool values, texts;
};

void band_release(struct band *band);

/* Adds a slice; its start is moved to the end of the last slice if it is earlier. False without memory. */
bool must_check band_add(struct band *band, const struct slice *slice);

/* Whether a moment at `start` will be merged into the last slice. Then its text is of no use. */
bool band_merges(const struct band *band, uint64_t start);

/* Whether a moment at `start` and the next one will be merged with one another. */
bool band_joins(const struct band *band, uint64_t start, uint64_t next);

/* The power below which folding leaves surely more than so many bytes. */
unsigned band_fold_for(const struct band *band, size_t bytes);

/* Folds to 2^k ns; k must not be smaller than before. False without memory: nothing has changed. */
bool must_check band_fold(struct band *band, unsigned k);

/* Writes the slices, folded to 2^k ns and without texts, to an empty band. False without memory: it stays empty. */
bool must_check band_overview(const struct band *band, unsigned k, struct band *ret);

/* Walks the slices: all zero at first. */
struct band_walk {
	const struct band *band;
	size_t at;
	uint64_t end;
};

bool band_next(struct band_walk *walk, struct slice *ret);

/* The kinds of bands. The script in the HTML file uses the same numbers. */
enum band_kind {
	BAND_CPU = 1,    /* the tasks on a CPU */
	BAND_IRQ,        /* interrupts of a CPU */
	BAND_EVENTS,     /* of a CPU */
	BAND_LOST,       /* the same */
	BAND_COUNTER,    /* of a CPU */
	BAND_STATE,      /* of a task */
	BAND_CALL,       /* system calls of a task */
	BAND_GRAPH,      /* functions of a task */
	BAND_GRAPH_IDLE, /* functions of a CPU's idle task */
	BAND_GRAPH_IRQ,  /* functions of a CPU's interrupts */
	BAND_MARK,       /* spans that a task marked */
	BAND_ASYNC,      /* spans that a process marked */
	BAND_PAIR,       /* what two other events of a task begin and end */
	BAND_PAIR_CPU,   /* the same, of a CPU */
	BAND_VALUE,      /* a counter of a process */
	BAND_WHY,        /* what a call or a wakeup of a task waited for */
	BAND_VCPU,       /* what the thread of the host did that is a CPU of a guest */
};

enum { BANDS_NEAR = 256 };

/* All bands of a file. When they exceed the limit of bytes, the largest are folded. */
struct bands {
	struct bands_item {
		struct band band;
		uint8_t kind; /* enum band_kind */
		uint8_t row;  /* bands of the same kind and id are drawn in rows, one below the other */
		uint16_t buffer;
		uint32_t id;   /* a CPU or a PID */
		uint32_t name; /* the label of a counter */
	} * items;
	size_t nr;
	struct u64_map places; /* uint32_t: index + 1 */
	/*
	 * By kind << 32 | name: uint64_t, the slices of this name that were added to all bands of the kind. Folding
	 * leaves to each merged slice one name only.
	 */
	struct u64_map totals;
	struct bands_total {
		uint64_t key, count;
	} near[BANDS_NEAR]; /* to be added to the totals */
	uint64_t bytes;     /* of all bands */
	uint64_t limit;
	bool failed; /* no memory */
};

enum { BANDS_ROWS = 64 };

void bands_init(struct bands *bands, uint64_t limit);
void bands_release(struct bands *bands);

/* A band, which is made if it is new; `row` is below BANDS_ROWS. NULL without memory. It stays until one is made. */
struct bands_item *bands_item(struct bands *bands, enum band_kind kind, uint16_t buffer, uint32_t id, unsigned row);

/* Adds a slice to a band. */
void bands_put(struct bands *bands, struct bands_item *item, const struct slice *slice);

static inline void bands_add(struct bands *bands, enum band_kind kind, uint16_t buffer, uint32_t id, unsigned row,
			     const struct slice *slice)
{
	struct bands_item *item = bands_item(bands, kind, buffer, id, row);

	if (item)
		bands_put(bands, item, slice);
}

/* The totals, by their keys. */
const struct u64_map *bands_totals(struct bands *bands);

/* Folds bands until all together have at most this many bytes. False: they cannot be folded further. */
bool bands_fit(struct bands *bands, uint64_t bytes);

#endif
