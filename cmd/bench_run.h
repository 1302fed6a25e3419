/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_BENCH_RUN_H
#define WEFT_CMD_BENCH_RUN_H

#include "lib/base/cleanup.h"
#include "lib/measure/noise.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench;
struct bench_recording;
struct fail;
struct findings;

/* The commands of a benchmark, and how they are run. */
struct bench_running {
	struct bench_command {
		char **argv; /* ended by NULL */
		char *shell[4];
		char *text; /* as the user wrote it; to be freed */
		char *line; /* for the shell, if it is not that; to be freed */
	} commands[2];
	/* Those from `first` to before `end` run. The old one does not if its runs were saved. */
	size_t first, end;
	uint64_t runs, warmups, seed;
	const char *prepare; /* a command of the shell that runs before each run; NULL: none */
	bool ignore_failure;
	struct bench_recording *recording; /* of the runs that are measured */
};

/* What disturbed the runs. */
struct bench_noise {
	uint64_t time_ns, others_ns, stolen_ns;
	char governor[NOISE_GOVERNOR]; /* "": none, or a good one */
};

/*
 * Runs each command so often, in random order: of each pair of runs, one of each. A command that fails ends it, unless
 * that is to be ignored.
 */
int must_check bench_run_all(const struct bench_running *running, struct bench *bench, struct bench_noise *noise,
			     struct fail *fail);

/* Adds notes of the commands, of their recordings, and of what disturbed the runs. */
void bench_tell(const struct bench_running *running, const struct bench *bench, const struct bench_noise *noise,
		struct findings *findings);

#endif
