/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_FORWARD_H
#define WEFT_KERNEL_RECORD_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * The parts (parts.h) of a recording that another process of this user makes, read while they grow, and emptied behind
 * what was read: `weft serve` sends them to another machine. The recorders wait while too much of a spool was not read
 * (recorder_options.room).
 *
 * Invariant: only whole items of the metadata and whole chunks or pages are read, in their order.
 */
struct forward;

/* `dir`: where the parts will be; `recorder`: the process that will make them. */
int must_check forward_new(const char *dir, pid_t recorder, struct forward **ret, struct fail *fail);
void forward_free(struct forward *forward);

/* Looks what has come since. */
int must_check forward_look(struct forward *forward, struct fail *fail);

/* Reads the next bytes of the metadata. *ret_len 0: there are none now. */
int must_check forward_meta(struct forward *forward, void *into, size_t size, size_t *ret_len, struct fail *fail);

/* The spools that are there, in the order in which they came: their number only grows. */
struct forward_spool {
	uint32_t buffer, cpu;
};
size_t forward_spools(const struct forward *forward);
struct forward_spool forward_spool(const struct forward *forward, size_t index);

/* Reads the next bytes of a spool. *ret_len 0: there are none now. */
int must_check forward_pages(struct forward *forward, size_t index, void *into, size_t size, size_t *ret_len,
			     struct fail *fail);

/* Gives up all that was not read, so that no recorder waits. */
void forward_give_up(struct forward *forward);

/* Removes the parts, after their recorder has ended. */
int must_check forward_remove(struct forward *forward, struct fail *fail);

#endif
