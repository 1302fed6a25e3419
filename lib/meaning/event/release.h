/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_RELEASE_H
#define WEFT_MEANING_EVENT_RELEASE_H

#include <stdbool.h>

struct context;
struct trace_text;

/*
 * Reads facts from the traced kernel's `uname -a`: its release, and its preemption model, which the head of
 * latency-format shows. uname may be NULL.
 */
void release_read(struct context *context, const char *uname);

/*
 * Sets the machine: the last word of uname, or the word before it if the last one is the name of the operating system.
 */
void release_read_machine(struct context *context, struct trace_text uname);

/* Sets before_4_15 by the formats of a file that does not name its release. */
void release_guess(struct context *context);

/* The model as kernels before 6.15 name it: a static text. */
const char *release_model(const struct context *context, const char *uname);

/*
 * The model as kernels 6.15 and later name it; NULL when only the kernel's configuration could decide. The caller frees
 * it.
 */
char *release_new_model(const struct context *context);

/*
 * Whether this kernel takes some bytes behind a short record for the event's (struct record): all do before
 * "ring-buffer: Fix event length with forced 8-byte alignment", which is in 7.2 and in some stable releases. False when
 * the release is unknown.
 */
bool release_prints_more(const struct context *context);

/*
 * Whether the kernel shifts 1 by all bits of an unsigned long for the step of .log2 that a 0 or a number below 0 is in:
 * all do before "tracing: Fix the shift out of bounds in the log2 histogram modifier", which is in 7.3 and in some
 * stable releases. What comes out depends on the machine. False when the release is unknown.
 */
bool release_shifts_log2(const struct context *context);

#endif
