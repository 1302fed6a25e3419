/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_WAITING_INTERNAL_H
#define WEFT_IMPORT_WAITING_INTERNAL_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binder;
struct fail;
struct record;

/*
 * Records of CPUs whose task is not known yet: the function graph names a task only where another one follows. As soon
 * as it is known, the records go into the binder in their order.
 */
struct waiting {
	struct buf bytes; /* each struct waiter is followed by its record */
	uint64_t guesses; /* how many of them have a PID that is not known yet */
};

/* WAITING_MAX bounds the records that wait. */
enum { WAITING_MAX = 2 << 20, WAITING_ALL = -1 };

/*
 * `lost` as in binder_add(); `guess`: the record gets the PID that turns out later. Returns false when memory runs out.
 */
bool waiting_add(struct waiting *waiting, uint32_t cpu, const struct record *record, int64_t lost, bool guess);

/* Ends the wait of one CPU, or of all with WAITING_ALL: then the PID of each CPU is `pid` plus the CPU's number. */
int must_check waiting_end(struct waiting *waiting, int64_t cpu, int32_t pid, struct binder *binder, struct fail *fail);

#endif
