/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_ORDER_H
#define WEFT_GROUND_BASE_ORDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

/*
 * Items that several threads make at the same time, and that are finished in their order, one at a time: by whoever
 * makes the item that was missing, so no thread waits for its turn unless it asks to.
 * What must stay true: a thread that has a turn gives it back with order_passed(), or stops all. What only the thread
 * that has the turn touches needs no other lock.
 * Memory: at most `window` items are begun and not finished; item n may keep what it has at n % window.
 */
struct order {
	uint64_t nr;
	size_t window;
	bool *made; /* item n at n % window */
	pthread_mutex_t lock;
	pthread_cond_t moved; /* a turn ended, or all must stop */
	uint64_t next;        /* the next item to begin */
	uint64_t turn;        /* the item that is finished next */
	bool busy;            /* a thread has the turn */
	bool stopped;
};

/* -ENOMEM, and order_release() is valid. */
int must_check order_init(struct order *order, uint64_t nr, size_t window);
void order_release(struct order *order);

/* Begins the next item, as soon as there is room for it. False: all are begun, or all stop. */
bool order_begin(struct order *order, uint64_t *ret);

/*
 * Takes the turn of an item that is not complete. Without `wait` only if the turn has come and nobody has it; else when
 * it comes. False: not now, or all stop.
 */
bool order_take(struct order *order, uint64_t item, bool wait);

/* The item is complete. If its turn was taken, it is given back without an end: order_due() gives it again. */
void order_made(struct order *order, uint64_t item);

/* Takes the turn of the item that is finished next, if it is complete and nobody has the turn. */
bool order_due(struct order *order, uint64_t *ret);

/* The item that had the turn is finished, and its place is free. */
void order_passed(struct order *order);

/* Nothing is begun, taken or due any more. True for the first who says so. */
bool order_stop(struct order *order);

#endif
