/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_HTML_BANDS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_HTML_BANDS_INTERNAL_H

#include "formats/export/html/band_internal.h"
#include "lib/base/u64_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
