/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_RESULT_H
#define WEFT_KERNEL_RECORD_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/record/workload.h"

struct fail;
struct target;

/* The outcome of a recording. Times are in ns, sizes in bytes. */
struct record_cpu {
	uint32_t buffer, cpu;
	/*
	 * saved events: by the kernel's counters, less dropped events; counted from the pages if the buffer was cleared
	 */
	uint64_t events;
	/* overrun + commit overrun + dropped; a lower bound if the buffer was cleared */
	uint64_t lost;
	uint64_t overrun;
	/* how often another program cleared the buffer, which sets the kernel's counters to zero */
	unsigned cleared;
	uint64_t dropped_bytes;  /* bytes of pages dropped because of the maximum size */
	uint64_t dropped_events; /* number of events in these pages */
};

enum record_spent { RECORD_SPENT_NOTHING, RECORD_SPENT_EVENTS, RECORD_SPENT_CPU };
/* Why a sample (sampling.h) has nothing to record now. */
enum record_skip { RECORD_SKIP_NOT, RECORD_SKIP_HOUR, RECORD_SKIP_PRESSURE };

struct record_result {
	bool has_status; /* there was a command, and `status` is its exit status as a shell gives it */
	int status;
	pid_t command;               /* the command that still runs and must be waited for; 0: none */
	bool interrupted;            /* struct wake */
	struct workload_times times; /* of a command that has ended */
	bool ran;                    /* tracing was on */
	bool finished;               /* the file is complete */
	enum record_spent spent;     /* which budget has ended it */
	enum record_skip skipped;    /* then it has not begun */
	char *parts;                 /* the parts that remain if the file is not complete; NULL: none */
	bool symbols_hidden;
	/* what programs wrote to the trace_marker of the top instance meanwhile, which the file does not have */
	uint64_t marks_elsewhere;
	/* how many bytes of what programs write the file may have, for each call; 0: none */
	uint64_t user_data;
	/* a recorder failed: `events` is what it took, not all of which could be saved */
	bool at_most;
	uint64_t time_ns; /* duration of tracing */
	uint64_t events, lost, raw, packed, file_size;
	unsigned cleared;        /* the largest number of any CPU */
	uint64_t missed;         /* hits of weft's probes for which the kernel wrote no event */
	char *missed_probes;     /* text of setup_probes_missed(); NULL: none */
	uint64_t finish_ns;      /* time from the stop to the complete file */
	struct record_cpu *cpus; /* only CPUs with events or lost events */
	size_t nr_cpus;
};

/* Adds the saved and lost events of a target. Its recorders must have been joined. */
int must_check record_result_add(struct record_result *result, const struct target *target, struct fail *fail);

/* Adds those of one CPU. */
int must_check record_result_put(struct record_result *result, const struct record_cpu *cpu, struct fail *fail);

void record_result_release(struct record_result *result);

#endif
