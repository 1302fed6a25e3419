/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REFUSALS_PROBE_H
#define WEFT_KERNEL_REFUSALS_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;

/*
 * A dynamic event: a line of `dynamic_events` (Documentation/trace/kprobetrace.rst, uprobetracer.rst, fprobetrace.rst,
 * histogram.rst; the show functions of kernel/trace/trace_*probe.c). A value that owns its texts: probe_release().
 */
enum probe_kind {
	PROBE_KPROBE,    /* p: an instruction of the kernel */
	PROBE_KRETPROBE, /* r: the return of a function of the kernel */
	PROBE_UPROBE,    /* p: an instruction of a program */
	PROBE_URETPROBE,
	PROBE_EVENT,  /* e: another event */
	PROBE_FPROBE, /* f: a function of the kernel, through ftrace */
	PROBE_FPROBE_RETURN,
	PROBE_TRACEPOINT, /* t: a tracepoint, also one without an event */
	PROBE_SYNTHETIC,  /* s: an event made by histograms */
	PROBE_USER_EVENT, /* u: an event that a program registers */
	PROBE_KINDS,
};

enum { PROBE_NAME_SIZE = 64 }; /* MAX_EVENT_NAME_LEN */

struct probe {
	enum probe_kind kind;
	unsigned max_active;         /* for return probes; 0: the kernel's default */
	char group[PROBE_NAME_SIZE]; /* "" when the definition names none */
	char name[PROBE_NAME_SIZE];  /* "" when the definition names none */
	char *place;     /* "vfs_read+4", "/bin/sh:0x4000", "sched.sched_switch"; "" for synthetic and user events */
	char *arguments; /* "a=%di b=$stack", "u64 lat; pid_t pid"; may be "" */
	char *also;      /* further places of the same event, a line each, with their arguments; NULL: none */
	char *note;      /* what the definition asked for and the event does not have; NULL: nothing */
};

void probe_release(struct probe *probe);
const char *probe_kind_name(enum probe_kind kind);
bool probe_is_return(enum probe_kind kind);

/* Returns whether a text begins like the kernel's own syntax: "p:", "r10:", "e ", "s:"... */
bool probe_is_kernel_syntax(const char *text);

/* Parses a definition in the kernel's syntax, or a line of dynamic_events. -EINVAL: it is neither. */
int must_check probe_parse(const char *text, struct probe *ret, struct fail *fail);

/* Prints the probe in the form that is written to dynamic_events. Returns false when memory runs out. */
bool probe_print(const struct probe *probe, struct buf *buf);

#endif
