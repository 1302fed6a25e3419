/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_SORTER_INTERNAL_H
#define WEFT_FILES_IMPORT_SORTER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct temporaries;

/*
 * Sorts items by their CPU, and those of a CPU by their time; items of the same time stay in the order in which they
 * came. Memory is up to 16 MiB, and 132 KiB for each 16 MiB of items; the rest waits in a temporary file.
 */
struct sorter;

struct sorter_item {
	uint64_t time;
	uint32_t cpu;
	uint32_t len;  /* of `data`, at most SORTER_ITEM_MAX */
	uint64_t what; /* the caller's */
	uint8_t data[];
};

enum { SORTER_ITEM_MAX = 1 << 17 };

int must_check sorter_new(const struct temporaries *temporaries, struct sorter **ret, struct fail *fail);
void sorter_free(struct sorter *sorter);

/* Returns room for the data of a new item, which the caller fills before the next call; NULL: see `fail`. */
uint8_t *sorter_add(struct sorter *sorter, uint64_t time, uint32_t cpu, uint64_t what, uint32_t len, struct fail *fail);

/* Shows all items in their order; no item can be added afterwards. Ends with the error of `see`. */
int must_check sorter_each(struct sorter *sorter,
			   int (*see)(void *arg, const struct sorter_item *item, struct fail *fail), void *arg,
			   struct fail *fail);

#endif
