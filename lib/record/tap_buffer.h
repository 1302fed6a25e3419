/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_TAP_BUFFER_H
#define WEFT_RECORD_TAP_BUFFER_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct cpu_pipe;
struct fail;
struct target;

/*
 * One ring buffer of a tap (lib/record/tap.h): the pipes of all its CPUs, and what it counts.
 * The tap owns it; it borrows its target.
 */
struct tap_buffer {
	struct target *target;
	uint32_t *cpus; /* their numbers, ascending */
	struct cpu_pipe *pipes;
	struct ring_watch *watches;
	size_t nr_cpus;
};

/* Opens the pipes of the target: of as many CPUs as the buffer has; those that are offline may come online, or have left something. */
int must_check tap_buffer_open(struct tap_buffer *buffer, struct target *target, struct fail *fail);
void tap_buffer_close(struct tap_buffer *buffer);
void tap_buffer_release(struct tap_buffer *buffer);

/* Of its instance, as asked for: NULL is the main one. */
const char *tap_buffer_name(const struct tap_buffer *buffer);
uint32_t tap_buffer_page_size(const struct tap_buffer *buffer);

/* These two fit lib/stream/live_source.h: struct live_feed; its arg is the buffer. */
int tap_buffer_read(void *buffer, size_t cpu_index, void *into, struct fail *fail);
int tap_buffer_overrun(void *buffer, size_t cpu_index, uint64_t taken, uint64_t *ret, struct fail *fail);

/*
 * Looks at the counts of a CPU, of which `taken` events were taken by now: as often as it shall be noticed that somebody clears the
 * buffer, and once more when the tap was stopped, before the rest is taken. What follows tells of the last look.
 */
void tap_buffer_look(struct tap_buffer *buffer, size_t cpu_index, uint64_t taken);

/*
 * Whether the kernel keeps the oldest events of a full buffer (option nooverwrite): no page then tells of the newest, which it drops.
 * tap_buffer_dropped(): how many, since the tap started.
 */
bool tap_buffer_keeps_oldest(const struct tap_buffer *buffer);
uint64_t tap_buffer_dropped(const struct tap_buffer *buffer, size_t cpu_index);

/* On that CPU since the tap was opened: events that were taken and that are there to be taken; lost ones; and clears (ring_watch.h). */
uint64_t tap_buffer_events(const struct tap_buffer *buffer, size_t cpu_index);
uint64_t tap_buffer_lost(const struct tap_buffer *buffer, size_t cpu_index);
unsigned tap_buffer_cleared(const struct tap_buffer *buffer, size_t cpu_index);

/*
 * The format of an event that came into being since the tap was opened: its system, and the text. 1; 0: none of the events that
 * are on in this instance now has that id; -errno. Reads a file for each of them.
 */
int must_check tap_buffer_format(const struct tap_buffer *buffer, uint16_t id, struct buf *system, struct buf *text,
				 struct fail *fail);

#endif
