/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_SAMPLING_H
#define WEFT_KERNEL_RECORD_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Recordings of one hour of `of` on each machine: each stands for `of` of them, which is its weight
 * (SETTING_SAMPLE). A hash of the machine's name and the hour chooses, so who tries twice in an hour gets the same
 * answer, and not all machines record in the same hours. The hours of a multiple of `of` are among those of `of`.
 */
enum { SAMPLING_OF_MAX = 1000000 };
bool sampling_takes(const char *host, int64_t unix_s, uint32_t of);

/*
 * In percent: a machine on which some tasks waited for a resource for more of the last ten seconds has no time to
 * spare.
 */
enum { SAMPLING_PRESSURE_MAX = 40 };

/* In percent, of the text of a file of /proc/pressure; -1: it is none. */
int sampling_pressure_of(const char *text);

/*
 * For which resource (cpu, memory, io) some tasks waited for most of the last ten seconds, and for how many percent.
 * False: this kernel does not measure that.
 */
bool sampling_pressure(const char **ret_resource, int *ret_percent);

#endif
