/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_VCPU_TIMES_H
#define WEFT_ANSWERS_FRAME_VCPU_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/columns.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/state/vcpus.h"

struct findings;
struct pass;

/*
 * Of a guest whose host is known (pass_filter::vcpus): what the CPUs did in the time in which the guest's kernel says
 * that a task had one. The parts of a task add up to its running time, to the ns.
 */
struct vcpu_times {
	struct pass *pass;
	struct vcpu_task {
		struct vcpu_time time;
		uint64_t until; /* up to here it is in `time` */
	} * tasks;              /* by the task's index in the state */
	size_t nr;
	struct u64_map exits; /* by task and reason: uint64_t */
	uint64_t reasons[VCPU_REASONS + 1];
};

/* Follows the tasks of the pass, as pass_follow_groups(), which no other analysis of it may then. */
void vcpu_times_follow(struct vcpu_times *times, struct pass *pass);
void vcpu_times_release(struct vcpu_times *times);

/* The parts of a task's running time up to this moment of the pass. */
struct vcpu_time vcpu_times_now(struct vcpu_times *times, uint32_t task);
/* "EPT_VIOLATION": the reason of most time in exits of a task; "" if there was none. */
const char *vcpu_times_most(const struct vcpu_times *times, uint32_t task);

/* The columns of a part, and how exact it is. `vcpus` is pass_filter::vcpus. */
#define VCPU_COLUMNS(X, time)                                                                  \
	X("GUEST RAN", TIME, "vcpu_ran_ns", 0, table_cell_u64, (time)->in[VCPU_RAN])           \
	X("HOST WAIT", TIME, "vcpu_waited_ns", 0, table_cell_u64, (time)->in[VCPU_WAITED])     \
	X("EXIT", TIME, "vcpu_exit_ns", 0, table_cell_u64, (time)->in[VCPU_EXIT])              \
	X("HALTED", TIME, "vcpu_halted_ns", 0, table_cell_u64, (time)->in[VCPU_HALTED])        \
	X("UNKNOWN", TIME, "vcpu_unknown_ns", SPARE, table_cell_u64, (time)->in[VCPU_UNKNOWN]) \
	X("UNSURE", TIME, "vcpu_unsure_ns", SPARE, table_cell_known, vcpu_is_exact(vcpus), (time)->unsure)

bool vcpu_is_exact(const struct vcpus *vcpus);
/* Adds the vCPUs' threads, the exits by reason of what `times` has seen (NULL: none), and how exact all of it is. */
void vcpu_times_put(const struct pass *pass, const struct vcpu_times *times, struct findings *findings);

#endif
