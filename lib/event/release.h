/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_RELEASE_H
#define WEFT_EVENT_RELEASE_H

struct context;
struct trace_text;

/*
 * What the traced kernel's `uname -a` tells of it: its release, and how it is preempted, which latency-format's head shows.
 * uname may be NULL.
 */
void release_read(struct context *context, const char *uname);

/* The machine: the last word of uname, or the one before where the last is the operating system's name. */
void release_read_machine(struct context *context, struct trace_text uname);

/* The model as kernels before 6.15 name it: a text that lives forever. */
const char *release_model(const struct context *context, const char *uname);

/* As 6.15 and later do; NULL where their configuration would have to tell. To be freed. */
char *release_new_model(const struct context *context);

#endif
