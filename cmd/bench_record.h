/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_BENCH_RECORD_H
#define WEFT_CMD_BENCH_RECORD_H

#include "lib/analysis/bench.h"
#include "lib/base/cleanup.h"
#include "lib/record/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct timing;
struct trace;

/*
 * The recordings of the runs. Each run is recorded into a file of its own, which is opened and removed at once unless
 * it is kept. All are read when no more command runs, because reading gives up the rights that recording needs.
 */
struct bench_recording {
	const char *of;   /* names of analyses with commas, such as "sched,syscalls"; NULL: the runs are not recorded */
	const char *keep; /* the directory for the files; NULL: they are removed */
	struct record_options options;
	char *why_not; /* why the runs are not recorded although `of` was given */
	struct trace *traces[2][BENCH_RUNS_MAX];
	size_t nr[2];
	uint64_t lossy;            /* runs that lost events */
	struct bench_saved *saved; /* the old runs, instead of recordings of them; NULL: none */
	bool other_kernel;         /* they ran on another kernel */
};

/* Records for these analyses: names with commas, of the command line or of saved runs, which are borrowed. */
int must_check bench_record_for(struct bench_recording *recording, const char *names, struct fail *fail);

int must_check bench_record_start(struct bench_recording *recording, struct fail *fail);
/* 0 and recording->of NULL: this machine cannot record, and nothing ran. */
int must_check bench_record_run(struct bench_recording *recording, size_t side, char **argv, struct timing *ret,
				struct fail *fail);
/* Gives up the rights that reading does not need, and fills bench->rows, which the caller frees. */
int must_check bench_record_read(const struct bench_recording *recording, struct bench *bench, struct fail *fail);
void bench_record_release(struct bench_recording *recording);

#endif
