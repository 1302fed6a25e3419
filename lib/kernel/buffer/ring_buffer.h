/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_BUFFER_RING_BUFFER_H
#define WEFT_KERNEL_BUFFER_RING_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/pages/ring/page.h"

struct buf;
struct cpus;
struct fail;

/*
 * The ring buffer of an instance: its size, clock, CPUs and counters. Sizes are in bytes. Functions that take a
 * non-const instance change a setting, which is journaled (undo.h).
 */

/* Sets the size of each CPU's buffer, rounded up to whole KB. The text of -ENOMEM names the size. */
int must_check ring_buffer_resize(struct instance *instance, uint64_t bytes_per_cpu, struct fail *fail);
/* The same for these CPUs only. A CPU that this machine does not have is an error. */
int must_check ring_buffer_resize_cpus(struct instance *instance, const struct cpus *cpus, uint64_t bytes_per_cpu,
				       struct fail *fail);
/* Sets the size of a sub-buffer, rounded up to 1, 2, 4... pages (Linux 6.8 and later). Empties the buffer. */
int must_check ring_buffer_set_subbuf(struct instance *instance, uint64_t bytes, struct fail *fail);
/* The size of each CPU's buffer; 0: unknown. For a buffer that was never used, the size to which it will expand. */
uint64_t ring_buffer_size(const struct instance *instance);
/* The size that the buffers of all CPUs have; 0: unknown, or the sizes differ. */
uint64_t ring_buffer_same_size(const struct instance *instance);
/* The size of this CPU's buffer. */
uint64_t ring_buffer_cpu_size(const struct instance *instance, uint32_t cpu);

/* ring_buffer_set_clock(): -ENOENT with similar names. A change of the clock empties the buffer. */
enum { CLOCK_NAME_SIZE = 32 };
int must_check ring_buffer_set_clock(struct instance *instance, const char *clock, struct fail *fail);
int must_check ring_buffer_clock(const struct instance *instance, char ret[CLOCK_NAME_SIZE], struct fail *fail);

/*
 * Makes every event carry a whole time stamp (timestamp_mode). No kernel has a setting for it, but the kernels from
 * 4.17 to 5.10 do it while a histogram uses common_timestamp. So this sets such a histogram on an event that never
 * happens. -EOPNOTSUPP on other kernels.
 */
int must_check ring_buffer_absolute_time(struct instance *instance, struct fail *fail);

/* Sets tracing_cpumask. CPUs that do not exist are left out. -EINVAL: no CPU is left. */
int must_check ring_buffer_set_cpus(struct instance *instance, const struct cpus *cpus, struct fail *fail);

/*
 * Sets buffer_percent: how full (0-100) a buffer must be before the kernel wakes a reader. Kernels before 5.0 do not
 * have the file, which is no error.
 */
int must_check ring_buffer_set_percent(struct instance *instance, unsigned percent, struct fail *fail);

/*
 * Reads from events/header_page the shape of the sub-buffers, which are the units of trace_pipe_raw. The kernel's long
 * may have another size than weft's.
 */
int must_check ring_buffer_shape(const struct instance *instance, struct page_shape *ret, struct fail *fail);
/* Parses the text of that file. */
int must_check ring_buffer_parse_shape(const char *text, struct page_shape *ret, struct fail *fail);

/*
 * The counters in per_cpu/cpuN/stats. A counter that the kernel does not print is 0. Read them before the buffer:
 * reading the buffer changes them.
 */
struct ring_buffer_stats {
	uint64_t entries, overrun, commit_overrun, bytes, dropped, read;
	uint64_t oldest; /* time of the oldest page in ns, in whole us, of a clock that counts ns */
};
int must_check ring_buffer_stats(const struct instance *instance, uint32_t cpu, struct ring_buffer_stats *ret,
				 struct fail *fail);
/* Parses the text of that file. */
struct ring_buffer_stats ring_buffer_parse_stats(const char *text, size_t len);

#endif
