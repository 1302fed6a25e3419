/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_WITHHELD_H
#define WEFT_MEANING_FOLLOW_WITHHELD_H

#include <stdbool.h>
#include <stdint.h>

struct context;

/*
 * CPU time that runnable tasks could not have although a CPU was free: because their control group, or one above it,
 * had used up its quota (cpu.max), or because the hypervisor ran others meanwhile (steal).
 * When a group was stopped on a CPU is in the buffer weft/quota (own_formats.h), which has what the kernel calls for
 * each group of a subtree that it stops and releases. How much was withheld in the whole recording is in the lists at
 * its start and end (weft/withheld), also without that buffer. A stolen time has no exact place: the kernel
 * counts it, at the latest with the next tick, and the buffer has each count.
 */
struct withheld;

/* Reads all of it. NULL without memory. */
struct withheld *withheld_new(const struct context *context);
void withheld_free(struct withheld *withheld);

/* Whether the file can say when groups were stopped. */
bool withheld_has_times(const struct withheld *withheld);
/* How often events that may tell it were lost. */
uint64_t withheld_losses(const struct withheld *withheld);

/*
 * Whether a group (who_group()) was stopped on a CPU at a time, and up to when the answer is the same. A group of 0 is
 * unknown, and never stopped.
 */
bool withheld_stops(const struct withheld *withheld, uint64_t group, uint32_t cpu, uint64_t ts, uint64_t *ret_until);

/*
 * How often all groups were stopped during the recording, and for how long, added up over CPUs, by the kernel's counts.
 * False: they were not recorded.
 */
bool withheld_counted(const struct withheld *withheld, uint64_t *ret_times, uint64_t *ret_ns);
/*
 * How much of a CPU's time the hypervisor took, at most: during the recording, and between two times. Without the
 * events of the buffer the second one is not more than the first, nor than the time. 0: nothing, or unknown.
 */
uint64_t withheld_stolen(const struct withheld *withheld, uint32_t cpu);
uint64_t withheld_stolen_within(const struct withheld *withheld, uint32_t cpu, uint64_t from, uint64_t to);

#endif
