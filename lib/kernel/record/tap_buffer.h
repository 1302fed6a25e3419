/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_TAP_BUFFER_H
#define WEFT_KERNEL_RECORD_TAP_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/ring/page.h"

struct buf;
struct cpu_pipe;
struct fail;
struct target;

/*
 * One ring buffer of a tap (lib/kernel/record/tap.h): the pipes of all its CPUs and its counters. The tap owns it; it
 * borrows its target. The pipe of a CPU that the machine does not have yet is opened when the CPU is there.
 */
struct tap_buffer {
	struct target *target;
	uint32_t *cpus; /* the kernel's CPU numbers, ascending */
	struct cpu_pipe *pipes;
	struct ring_watch *watches;
	size_t nr_cpus;
	uint64_t look_ns; /* when to look for new CPUs again */
};

/* Opens the pipes of the CPUs that are there. An offline CPU may come online, or may have left events. */
int must_check tap_buffer_open(struct tap_buffer *buffer, struct target *target, struct fail *fail);
void tap_buffer_close(struct tap_buffer *buffer);
void tap_buffer_release(struct tap_buffer *buffer);

/* The name of its instance; NULL: the main instance. */
const char *tap_buffer_name(const struct tap_buffer *buffer);
/* The shape of its sub-buffers, as the kernel describes it. */
struct page_shape tap_buffer_shape(const struct tap_buffer *buffer);

/* The next two functions are those of a struct live_feed (lib/pages/stream/live_source.h) whose `arg` is the buffer. */
int tap_buffer_read(void *buffer, size_t cpu_index, void *into, struct fail *fail);
int tap_buffer_overrun(void *buffer, size_t cpu_index, uint64_t taken, uint64_t *ret, struct fail *fail);

/*
 * Reads the counters of a CPU. `taken`: the number of events taken from it so far. Call it often enough to notice that
 * another program clears the buffer, and once more after the tap was stopped, before the rest is taken. The functions
 * below use the counters of the last call.
 */
void tap_buffer_look(struct tap_buffer *buffer, size_t cpu_index, uint64_t taken);

/*
 * Whether the kernel keeps the oldest events of a full buffer (option nooverwrite): it then drops the newest events,
 * and the pages do not say so. tap_buffer_dropped() is their number since the tap started.
 */
bool tap_buffer_keeps_oldest(const struct tap_buffer *buffer);
uint64_t tap_buffer_dropped(const struct tap_buffer *buffer, size_t cpu_index);

/*
 * Counts of that CPU since the tap was opened: events taken or still in the buffer; lost events; clears (ring_watch.h).
 */
uint64_t tap_buffer_events(const struct tap_buffer *buffer, size_t cpu_index);
uint64_t tap_buffer_lost(const struct tap_buffer *buffer, size_t cpu_index);
unsigned tap_buffer_cleared(const struct tap_buffer *buffer, size_t cpu_index);
/* Whether the tracer is one that empties the buffer by itself (tracer_is_max_latency()). */
bool tap_buffer_clears_itself(const struct tap_buffer *buffer);

/*
 * Finds the format of an event that was added after the tap was opened: its system, and the text. 1: found; 0: no
 * enabled event of this instance has that id; -errno. Reads a file for each enabled event.
 */
int must_check tap_buffer_format(const struct tap_buffer *buffer, uint16_t id, struct buf *system, struct buf *text,
				 struct fail *fail);

#endif
