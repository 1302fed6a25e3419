/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_IMPORT_WAITING_H
#define WEFT_IMPORT_WAITING_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binder;
struct fail;
struct record;

/*
 * Records of CPUs whose task is not known yet: the function graph names it only where another one follows. They go into
 * the binder, in their order, when it is.
 */
struct waiting {
	struct buf bytes; /* struct waiter and its record, one after the other */
	uint64_t guesses; /* of them, those whose PID is to turn out */
};

/* More of them do not wait. */
enum { WAITING_MAX = 2 << 20, WAITING_ALL = -1 };

/* `lost` as in binder_add(); `guess`: the record's PID is to be the one that turns out. False without memory. */
bool waiting_add(struct waiting *waiting, uint32_t cpu, const struct record *record, int64_t lost, bool guess);

/* Those of one CPU, or WAITING_ALL. Of all, each CPU has `pid` and its own number as its PID. */
int must_check waiting_end(struct waiting *waiting, int64_t cpu, int32_t pid, struct binder *binder, struct fail *fail);

#endif
