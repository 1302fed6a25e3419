/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_PERF_H
#define WEFT_FILES_IMPORT_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/files/rewrite/recast.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct input;
struct perf_facts;
struct trace;

/*
 * Makes a trace.dat of the tracepoints of a perf.data (lib/pages/perf/perf_data.h): the events as the kernel wrote
 * them, with their flags; lost events where the file says that they were; kernel and user stacks (-g) as the kernel's
 * own stack events behind each; names, process ids, the machine and the clock.
 * The events of a CPU are sorted by time, because a file has them in the order of buffers, and a clock may go back.
 * With a kernel that can be preempted, perf counts its own disabling of preemption, which ftrace subtracts: if no event
 * of the file has a count of 0, 1 is subtracted.
 * Not in such a file: addresses of kernel functions; formats of ftrace's own events. Names are the last ones of tasks.
 * Samples that are no tracepoints, such as cycles, are counted only; perf_import_samples() makes events perf:NAME of
 * them, with the fields ip and period, and their callers as stacks.
 */
struct perf_import;

struct perf_import_counts {
	uint64_t events, stacks;
	uint64_t lost;        /* events that the kernel could not store, before another event of their CPU */
	uint64_t lost_later;  /* the same, after the last event of their CPU, or without a place */
	uint64_t others;      /* samples that are no tracepoints: of `other`; they are among the events if asked for */
	const char *other;    /* the name of the first such event; NULL: unknown */
	uint64_t twice;       /* events that two events of one tracepoint recorded: one of them was left out */
	uint64_t repeated;    /* events that perf wrote once more, later in the file: left out there */
	uint64_t refused;     /* samples of another event than they say, or without a time or a CPU */
	uint64_t without_cpu; /* samples that are no tracepoints and have no CPU: they are on CPU 0 */
	uint64_t unnamed;     /* stacks of the kernel, where perf_import_symbols() has given no names for them */
	uint64_t cut_stacks;  /* user stacks of which the outer callers were left out */
	uint64_t throttled;   /* times that the kernel stopped an event for a while, because it came too often */
	uint64_t unknown;     /* events whose format the file does not have: left out */
	bool preempt;         /* 1 was subtracted from the preempt counts */
	uint64_t sampled;     /* only one of so many of some tracepoint were recorded; 1: a frequency; 0: all */
	const char *sampled_name;
	bool of_tasks; /* only what some tasks did was recorded, and not what others did to them */
	bool filtered; /* the command line has --filter */
};

/* `formats` is a file of the same kernel, for a recording that was killed; or NULL. The inputs are borrowed. */
int must_check perf_import_new(const struct input *inputs, size_t nr, struct trace *formats,
			       const struct recast_options *form, struct perf_import **ret, struct fail *fail);
/* Gives it the text of a kallsyms, which is borrowed: perf.data has no names of the kernel's functions. */
void perf_import_symbols(struct perf_import *import, const char *kallsyms, size_t len);
/* Makes events of samples that are no tracepoints. Call it before perf_import_read(). */
void perf_import_samples(struct perf_import *import);
/*
 * Tells it which file perf_import_write() will be given, empty and for nobody else: its pages go there while the events
 * are read. Call it before perf_import_read(); the form has to be `passing`, and not compressed.
 */
void perf_import_into(struct perf_import *import, int fd);
void perf_import_free(struct perf_import *import);

/*
 * Reads all records. *ret_damage gets a text where the file is damaged: what is before that place is imported. Without
 * an event of a tracepoint it fails; -ENODATA: it has some, but neither it nor `formats` has their formats.
 */
int must_check perf_import_read(struct perf_import *import, struct fail *ret_damage, struct fail *fail);

/* Writes the file. Call it once. */
int must_check perf_import_write(struct perf_import *import, int fd, uint64_t *ret_size, struct fail *fail);

/* Complete after perf_import_write(). */
const struct perf_import_counts *perf_import_counts(const struct perf_import *import);
const struct perf_facts *perf_import_facts(const struct perf_import *import);

#endif
