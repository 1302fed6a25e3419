/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_TARGET_H
#define WEFT_KERNEL_RECORD_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/cpus.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/record/recorder.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/pages/ring/page.h"

struct assembly_options;
struct fail;
struct parts;

/*
 * A ring buffer that is recorded: the instance, set up as asked, and a recorder for each of its CPUs. Invariant:
 * tracing is off in the instance until its owner turns it on (switches.h). Every change of an instance that is not
 * private is journaled (instance_set()).
 */
struct target {
	const struct setup_instance *wanted;
	uint32_t index; /* the number of the buffer in the file */
	struct instance *instance;
	struct event_set events; /* the events that weft has enabled */
	/* the text of set_event after the setup; lines that appear after these are of events enabled meanwhile */
	struct buf enabled;
	const struct setup_probes *probes; /* the probes made for `wanted`; NULL: none */
	struct page_shape shape;           /* of the buffer's sub-buffers */
	char clock[CLOCK_NAME_SIZE];
	struct ring_buffer_stats *start; /* by CPU: the counters of an existing instance before the recording */
	struct ring_buffer_stats *stop;  /* by CPU: the counters after tracing was turned off */
	/*
	 * its tracer is a max-latency tracer, whose `trace` has the longest latency: that text is saved, and the pages
	 * of its events (section_internal.h)
	 */
	bool keeps_worst;
	/* tracing_max_latency before target_keep_worst() raised it; empty under other tracers */
	struct buf max_latency;
	/* tracing_thresh before target_keep_worst() raised it; empty also if it was 0 */
	struct buf thresh;
	/* number of entries of the longest latency that are in the buffer, and of all that were written */
	uint64_t worst_entries, worst_written;
	uint32_t nr_cpus; /* length of `start` and of `stop` */
	/*
	 * The CPUs that may have a buffer with events. Few of a machine's possible CPUs may be there: the others have
	 * files, but no buffer, so their counters stay 0.
	 */
	struct cpus cpus;
	uint64_t uevents; /* tracing_uevents() when `cpus` was found */
	struct recorder **recorders;
	size_t nr_recorders;
};

/* Sets the instance up, with tracing off (lib/kernel/setup/setup.h). */
int must_check target_open(struct target *target, const struct setup_context *context, struct fail *fail);

/*
 * Uses an instance as it is; `wanted` must ask for nothing. The owner of the instance closes it. Such a target can only
 * be asked for facts, and get recorders.
 */
int must_check target_take(struct target *target, struct instance *instance, struct fail *fail);

/*
 * Adds a recorder for a CPU, without pipe, thread and pages. The target owns *ret. `parts` NULL: the spool lies in the
 * memory of this process.
 */
int must_check target_add_recorder(struct target *target, struct parts *parts, uint32_t cpu,
				   const struct spool_options *spool, const struct recorder_options *options,
				   struct recorder **ret, struct fail *fail);

/*
 * Starts the recorders of those online CPUs (`cpus`) that have none. It starts none for a max-latency tracer: a reader
 * of the buffer disables interrupts, which would become the longest latency, and the events that it takes would be
 * missing there.
 */
int must_check target_record(struct target *target, struct parts *parts, const struct cpus *cpus,
			     const struct spool_options *spool, const struct recorder_options *options,
			     struct fail *fail);

/* Adds recorders for CPUs that came online meanwhile. Call it after facts_of_buffers(). */
int must_check target_record_rest(struct target *target, struct parts *parts, const struct spool_options *spool,
				  const struct recorder_options *options, struct fail *fail);

/* Whether its tracer keeps the longest latency as its `trace` (tracer_is_max_latency()). */
bool target_is_max_latency(const struct target *target);

/*
 * Raises tracing_max_latency, and tracing_thresh if it is not 0, so that a max-latency tracer keeps its present longest
 * latency (switches.h). Does nothing under other tracers, or the second time.
 */
int must_check target_keep_worst(struct target *target, struct fail *fail);

/*
 * Adds to `cpus` those that the machine got or lost meanwhile. Call it after tracing was turned off and before the
 * counters are read (facts_of_buffers()).
 */
int must_check target_find_cpus(struct target *target, struct fail *fail);

/* Adds to `cpus` those that came meanwhile: for who reads while tracing is on. */
void target_add_cpus(struct target *target);

/* Reads the counters of the buffer. */
int must_check target_count(struct target *target, struct ring_buffer_stats *into, struct fail *fail);

/*
 * Disables the events of a private instance, so that the kernel removes it faster. Call it after everything was read
 * from it.
 */
int must_check target_quiet(struct target *target, struct fail *fail);

/* Closes the recorders' files of tracefs, so that the instance can be removed. The spools stay open. */
void target_close_pipes(struct target *target);

/* Makes the file of the whole recording: see assembly_write(). */
int must_check targets_assemble(const struct target *targets, size_t nr, struct parts *parts,
				const struct assembly_options *options, uint64_t *ret_size, struct fail *fail);

/* Releases everything except the instance, which its owner closes after the settings were restored. */
void target_release(struct target *target);

#endif
