/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_RESULT_H
#define WEFT_RECORD_RESULT_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fail;
struct target;

/* What a recording has come to. */
struct record_cpu {
	uint32_t buffer, cpu;
	uint64_t events; /* saved: by the kernel's count, less what was dropped; by the pages where it was cleared */
	uint64_t lost;   /* overrun + commit overrun + dropped; at least, where it was cleared */
	uint64_t overrun;
	unsigned cleared;        /* times that somebody emptied the buffer, which sets the kernel's counts to zero */
	uint64_t dropped_bytes;  /* of pages, given up for the maximal size */
	uint64_t dropped_events; /* that were in them */
};

struct record_result {
	bool has_status; /* there was a command, and this is its exit status as a shell gives it */
	int status;
	pid_t command; /* it still runs: somebody must wait for it; 0: none */
	bool ran;      /* tracing was on */
	bool finished; /* the file is whole */
	char *parts;   /* what remains when it is not; NULL: nothing */
	bool symbols_hidden;
	bool at_most;     /* a recorder failed: events counts what it took, not all of which it could save */
	uint64_t time_ns; /* of tracing */
	uint64_t events, lost, raw, packed, file_size;
	unsigned cleared;        /* of the CPU where it was most often */
	uint64_t missed;         /* hits of our probes that made no event */
	char *missed_probes;     /* setup_probes_missed(); NULL: none */
	uint64_t finish_ns;      /* from the stop to the finished file */
	struct record_cpu *cpus; /* with events, or that lost some */
	size_t nr_cpus;
};

/* Adds what the recorders of a target saved and what its buffer lost; they must have been joined. */
int must_check record_result_add(struct record_result *result, const struct target *target, struct fail *fail);

void record_result_release(struct record_result *result);

#endif
