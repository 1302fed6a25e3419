/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_SEAM_INTERNAL_H
#define WEFT_FORMATS_KERNEL_SEAM_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct ftrace;
struct sink_seam_ops;

/*
 * What the lines of a slice need of the lines before it: whether each CPU has started, and the function graph's state.
 */
extern const struct sink_seam_ops ftrace_seam;

/* Guesses whether a CPU had started before the slice, at its first line there. */
bool ftrace_seam_started(struct ftrace *ftrace, uint16_t cpu_index);

#endif
