/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_GUEST_PAIR_H
#define WEFT_TESTS_UNIT_GUEST_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"

struct loom;
struct trace;

/*
 * A guest with one CPU, and its host, that are made up at random, so that every ns of both is known. The thread of the
 * CPU is 500. A pair begins with zeros.
 */
enum {
	GUEST_PAIR_SPAN = 4000,
	GUEST_PAIR_TASKS = 3, /* t1 to t3, with the PIDs 1 to 3 */
	GUEST_PAIR_ERROR = 7, /* ns that both clocks may be off */
	GUEST_PAIR_AFTER = GUEST_PAIR_SPAN + 2 * GUEST_PAIR_ERROR
};

struct guest_pair {
	struct buf host, guest;          /* scripts of loom.h */
	uint8_t modes[GUEST_PAIR_AFTER]; /* enum vcpu_mode; VCPU_UNKNOWN before the first kvm_entry */
	bool unsure[GUEST_PAIR_SPAN];    /* nearer than the error to a change of the mode */
	uint8_t task[GUEST_PAIR_SPAN];   /* that had the CPU; 0: idle, or not known before the first switch */
};

/* kvm_entry and kvm_exit. */
void guest_pair_types(struct loom *loom);
/* Makes both, by rand(). */
void guest_pair_plant(struct guest_pair *pair);
/* A merged file of both: the guest is the top instance, the host the buffer "host". */
struct trace *guest_pair_trace(struct guest_pair *pair, struct loom *loom);
void guest_pair_release(struct guest_pair *pair);

#endif
