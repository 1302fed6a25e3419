/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_COUNTERS_INTERNAL_H
#define WEFT_KERNEL_RECORD_COUNTERS_INTERNAL_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct instance;
struct ledger;
struct record_cpu;
struct target;

/*
 * The kernel's counters of a buffer (per_cpu/cpuN/stats) in the ledger: as trace-cmd's files have them, and for the
 * CPUs that are online also as the kernel's files.
 */

/* Saves the counters of one CPU, for the instance of a recorder that died. */
int must_check counters_save(struct ledger *ledger, const struct instance *instance, uint32_t buffer, uint32_t cpu,
			     struct fail *fail);

/*
 * Saves the counters of the CPUs that may have a buffer, and sets target->stop to them; each file is read once. Call it
 * after tracing was turned off and before the recorders take the rest.
 */
int must_check counters_stopped(struct ledger *ledger, struct target *target, struct fail *fail);

/*
 * Corrects the saved counters of a CPU. Events that were taken from the kernel and then dropped because of a maximum
 * size are added to the overwritten events. If the buffer was cleared, the counters become those of the events in the
 * file. Otherwise nothing is changed.
 */
int must_check counters_dropped(struct ledger *ledger, const struct record_cpu *cpu, struct fail *fail);

/*
 * Corrects the saved counters of a CPU whose buffer was written to while it was read out: `events` of it are in the
 * file, and `overrun` were overwritten before the last of them.
 */
int must_check counters_taken(struct ledger *ledger, uint32_t buffer, uint32_t cpu, uint64_t events, uint64_t overrun,
			      struct fail *fail);

#endif
