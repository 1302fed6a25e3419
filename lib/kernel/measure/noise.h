/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_MEASURE_NOISE_H
#define WEFT_KERNEL_MEASURE_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What disturbs a measurement on this machine: how long its CPUs were busy, and how long the hypervisor let them wait,
 * since boot; and what governs their frequencies. The kernel counts the first two in ticks of mostly 10 ms.
 */
struct noise {
	uint64_t busy_ns, stolen_ns;
};

/* Reads /proc/stat. False: it cannot be read. */
bool noise_read(struct noise *ret);

/* The same from the file's text, with so many ticks a second. */
bool noise_parse(const char *text, uint64_t ticks, struct noise *ret);

/* The first governor of a CPU's frequency that is not "performance"; false: there is none. */
enum { NOISE_GOVERNOR = 32 };
bool noise_governor(char ret[NOISE_GOVERNOR]);

#endif
