/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BUFFER_RING_BUFFER_H
#define WEFT_BUFFER_RING_BUFFER_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct cpus;
struct fail;

/* The ring buffer of an instance: its size, clock, CPUs, and what it counts. */

/* Per CPU; rounded up to whole KB. -ENOMEM comes with the size in the text. */
int must_check ring_buffer_resize(struct instance *instance, uint64_t bytes_per_cpu, struct fail *fail);
/* Only of these CPUs; one that this machine does not have is an error. */
int must_check ring_buffer_resize_cpus(struct instance *instance, const struct cpus *cpus, uint64_t bytes_per_cpu,
				       struct fail *fail);
/* A sub-buffer, rounded up to pages, 1, 2, 4... of them (6.8). Empties the buffer. */
int must_check ring_buffer_set_subbuf(struct instance *instance, uint64_t bytes, struct fail *fail);
/* Of each CPU; 0 when unknown. A buffer never used is counted with the size that it will expand to. */
uint64_t ring_buffer_size(const struct instance *instance);
/* Of this one, as it is: sizes may differ. */
uint64_t ring_buffer_cpu_size(const struct instance *instance, uint32_t cpu);

/* -ENOENT with near names. Setting another clock empties the buffer. */
enum { CLOCK_NAME_SIZE = 32 };
int must_check ring_buffer_set_clock(struct instance *instance, const char *clock, struct fail *fail);
int must_check ring_buffer_clock(const struct instance *instance, char ret[CLOCK_NAME_SIZE], struct fail *fail);

/*
 * Whole time stamps in every event (timestamp_mode). No kernel has a switch for it: those from 4.17 to 5.10 change to it while a
 * histogram uses common_timestamp, which is set on an event that no longer happens. -EOPNOTSUPP on others.
 */
int must_check ring_buffer_absolute_time(struct instance *instance, struct fail *fail);

/* tracing_cpumask. CPUs that are not there are left out; -EINVAL when none is left. */
int must_check ring_buffer_set_cpus(struct instance *instance, const struct cpus *cpus, struct fail *fail);

/* How full (0-100) a buffer must be before a sleeping reader is woken; kernels before 5.0 have no such file: no error. */
int must_check ring_buffer_set_percent(struct instance *instance, unsigned percent, struct fail *fail);

/* Bytes of a sub-buffer with its header: the unit of trace_pipe_raw. From events/header_page. */
int must_check ring_buffer_page_size(const struct instance *instance, uint32_t *ret, struct fail *fail);

/* per_cpu/cpuN/stats; what a kernel does not print is 0. Read it before the buffer is read: reading changes it. */
struct ring_buffer_stats {
	uint64_t entries, overrun, commit_overrun, bytes, dropped, read;
};
int must_check ring_buffer_stats(const struct instance *instance, uint32_t cpu, struct ring_buffer_stats *ret,
				 struct fail *fail);
/* The same from its text. */
struct ring_buffer_stats ring_buffer_parse_stats(const char *text, size_t len);

#endif
