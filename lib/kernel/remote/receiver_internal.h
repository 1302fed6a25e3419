/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_RECEIVER_INTERNAL_H
#define WEFT_KERNEL_REMOTE_RECEIVER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"

struct arrival;
struct buf;
struct fail;
struct record_result;

/*
 * What the near side does with the bytes that come, and what it answers. It knows no process and no descriptor. The
 * bytes may be hostile.
 */
struct receiver_clock {
	uint64_t id, before, after, far;
	char clock[16];
};

struct receiver {
	/* of the caller, borrowed */
	/* called with what was printed there */
	int (*print)(void *arg, bool on_stderr, const void *text, size_t len);
	/* called with what came of WIRE_CLOCK */
	int (*clock)(void *arg, const struct receiver_clock *clock, struct fail *fail);
	void *arg;
	struct arrival *arrival; /* NULL: no recording was asked for, and none is taken */
	struct record_result *result;
	struct buf *answers; /* frames for the far side */
	/* its own */
	bool greeted, told, ended; /* told: the outcome has come */
	uint8_t status;            /* of the end */
	uint32_t *stored;          /* bytes of each stream since credit was given */
	size_t nr_stored;
};

/* `receiver` has what the caller lends, and zeros. */
int must_check receiver_init(struct receiver *receiver, struct fail *fail);
void receiver_release(struct receiver *receiver);

/* Takes all that is whole; the rest is left in `in`. After an error the connection is of no use any more. */
int must_check receiver_take(struct receiver *receiver, struct bytes *in, struct fail *fail);

#endif
