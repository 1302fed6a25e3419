/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_TARGET_H
#define WEFT_RECORD_TARGET_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/buffer/ring_buffer.h"
#include "lib/record/recorder.h"
#include "lib/setup/setup.h"
#include "lib/tracefs/event_select.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assembly_options;
struct fail;
struct parts;

/*
 * A ring buffer that is recorded: the instance, set up as asked, and a recorder for each of its CPUs.
 * Invariant: tracing is off in it until its owner turns it on (switches.h); nothing of an instance that is not
 * ours is changed without being journaled (instance_set).
 */
struct target {
	const struct setup_instance *wanted;
	uint32_t index; /* of the buffer in the file */
	struct instance *instance;
	struct event_set events;           /* that we switched on */
	struct buf enabled;                /* set_event once we were done: what is more in the end has come meanwhile */
	const struct setup_probes *probes; /* that were made for `wanted`; may be NULL */
	uint32_t page_size;
	char clock[CLOCK_NAME_SIZE];
	struct ring_buffer_stats *start; /* by CPU: what an instance that was there before had counted */
	struct ring_buffer_stats *stop;  /* by CPU: when tracing had stopped */
	bool keeps_worst;       /* its tracer is one whose `trace` is the worst case it met: nothing else is recorded */
	struct buf max_latency; /* tracing_max_latency before target_keep_worst(); empty under other tracers */
	struct buf thresh;      /* tracing_thresh, likewise; empty where it was 0, too */
	uint64_t worst_entries; /* of that worst case */
	uint32_t nr_cpus;       /* of both */
	struct recorder **recorders;
	size_t nr_recorders;
};

/* Sets the instance up, tracing off (lib/setup/setup.h). */
int must_check target_open(struct target *target, const struct setup_context *context, struct fail *fail);

/*
 * The instance as it is, for `wanted` that asks for nothing; it becomes the target's, which is closed by its owner all the
 * same. Only facts can be asked of such a target, and recorders added.
 */
int must_check target_take(struct target *target, struct instance *instance, struct fail *fail);

/* A recorder for a CPU, without pipe, thread and pages: *ret stays the target's. */
int must_check target_add_recorder(struct target *target, struct parts *parts, uint32_t cpu,
				   const struct spool_options *spool, const struct recorder_options *options,
				   struct recorder **ret, struct fail *fail);

/*
 * Starts the recorders; `cpus`: those that are online. None where the worst case is kept: what a reader of the buffer does
 * with interrupts off would be that worst case, and what it takes is not in it.
 */
int must_check target_record(struct target *target, struct parts *parts, const struct cpus *cpus,
			     const struct spool_options *spool, const struct recorder_options *options,
			     struct fail *fail);

/* Recorders for CPUs that came online since: once the stopped buffers were counted. */
int must_check target_record_rest(struct target *target, struct parts *parts, const struct spool_options *spool,
				  const struct recorder_options *options, struct fail *fail);

/* Whether its tracer is one whose `trace` is the worst case it met (tracer_is_max_latency()). */
bool target_is_max_latency(const struct target *target);

/*
 * Raises tracing_max_latency, and tracing_thresh where it is not 0, so that a max-latency tracer keeps the worst case that it has (switches.h). Nothing under other
 * tracers, and when it was done before.
 */
int must_check target_keep_worst(struct target *target, struct fail *fail);

/* What the buffer counted; once tracing is off, before the recorders take the rest. */
int must_check target_count(struct target *target, struct ring_buffer_stats *into, struct fail *fail);

/* Switches the events of a private instance off, so that less is left to do when it goes; once everything was asked of it. */
int must_check target_quiet(struct target *target, struct fail *fail);

/* Closes what the recorders hold of the kernel's, so that the instance can go; parts stay open. */
void target_close_pipes(struct target *target);

/* The file of all that was recorded: assembly_write(). */
int must_check targets_assemble(const struct target *targets, size_t nr, struct parts *parts,
				const struct assembly_options *options, uint64_t *ret_size, struct fail *fail);

/* Everything but the instance, which is closed by its owner once settings were put back. */
void target_release(struct target *target);

#endif
