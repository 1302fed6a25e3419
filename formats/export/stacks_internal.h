/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_STACKS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_STACKS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/timeline/timeline.h"

struct context;
struct export;
struct export_input;
struct event;
struct fail;
struct track;

/*
 * All call stacks of a trace as a tree, with their weights. The outermost frame is the task's name. A node's weight is
 * its own, without its subtree:
 *	self-time	the time of functions of the function graph without the functions that they called
 *	off-cpu		from a sched_switch with a stack to the next run; the top is [blocked] or [runnable]
 *	on-cpu		the ticks of CPUs (lib/meaning/follow/tick.h), each of 1/HZ s
 *	count		the number of stacks recorded with events
 * Thread states are tracked only as far as a stack needs them: from a switch to the waking, and from there to the next
 * switch to the task. Invariant: a node comes after its parent; node 0 is the root. The number of nodes is bounded: the
 * weight of further nodes is counted for the node below them, and stacks_cut() returns their number.
 */
enum weight { WEIGHT_SELF_TIME, WEIGHT_ON_CPU, WEIGHT_OFF_CPU, WEIGHT_COUNT, NR_WEIGHTS };

extern const char *const weight_names[NR_WEIGHTS];

struct stack_node {
	uint32_t parent;
	uint32_t name; /* number for stacks_name() */
	uint64_t weights[NR_WEIGHTS];
};

struct stacks;

int must_check stacks_new(const struct export_input *input, struct stacks **ret, struct fail *fail);
void stacks_free(struct stacks *stacks);

void stacks_see(struct stacks *stacks, struct export *export, const struct event *event);

/*
 * For an exporter that has a timeline of all buffers: if there is only one, the stacks borrow it, and need none of
 * their own. The exporter then gives them what its timeline tells of functions that begin, its slices of functions and
 * states, and each event after its timeline has seen it; it ends the timeline. Call it before the first event. False:
 * there are several buffers, and the stacks see each event by themselves.
 */
bool stacks_share(struct stacks *stacks, struct timeline *timeline);
void stacks_enter(struct stacks *stacks, const struct event *event, struct track *track);
void stacks_slice(struct stacks *stacks, const struct timeline_slice *slice);
void stacks_saw(struct stacks *stacks, struct export *export, const struct event *event, enum timeline_part part);

/* Ends the spans that are open at the end of the trace, and adds notes about unknown times. */
void stacks_end(struct stacks *stacks, struct export *export);

/* After stacks_end(): whether there is anything of the weight to be shown; if not, that is the exporter's error. */
bool stacks_some(const struct stacks *stacks, struct export *export);

/*
 * Keeps the stacks of each process apart, although their first frames have the same name. Call it before the first
 * event. stacks_process() is the number from 0 on of the process of a first frame, of stacks_processes();
 * STACKS_NO_PROCESS of other nodes.
 */
enum { STACKS_NO_PROCESS = -1 };
void stacks_divide(struct stacks *stacks);
struct stacks_process {
	const struct context *context;
	int32_t pid; /* of its first thread, or of the task if that is not known */
};
const struct stacks_process *stacks_processes(const struct stacks *stacks, size_t *ret_nr);
int32_t stacks_process(const struct stacks *stacks, uint32_t node);

/* Finds or makes the node of a frame on another one; returns the lower node if there is no room. */
uint32_t stacks_put(struct stacks *stacks, uint32_t parent, const char *name, size_t len);
/* Limits the number of nodes, for an exporter with other large data. Call it before the first event. */
void stacks_limit(struct stacks *stacks, size_t nodes);
/* Frees the memory needed for adding nodes; no node may be added afterwards. */
void stacks_close(struct stacks *stacks);
/* Whether memory ran out, so that nodes are missing. */
bool stacks_starved(const struct stacks *stacks);

const struct stack_node *stacks_nodes(const struct stacks *stacks, size_t *ret_nr);
const char *stacks_name(const struct stacks *stacks, uint32_t name, size_t *ret_len);
size_t stacks_names(const struct stacks *stacks);

/* The weight to show: as --weight says, or the first one that the trace has. */
enum weight stacks_weight(const struct stacks *stacks);
/* Whether --weight named it. */
bool stacks_is_chosen(const struct stacks *stacks);
uint64_t stacks_total(const struct stacks *stacks, enum weight weight);

#endif
