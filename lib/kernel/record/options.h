/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_OPTIONS_H
#define WEFT_KERNEL_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cpus.h"
#include "lib/kernel/setup/setup.h"

struct progress;

/* The options of a recording. The caller owns them; the session borrows them and does not change them. */
struct record_options {
	struct setup setup;    /* each of its instances becomes a buffer of the file */
	const char *output;    /* "-": standard output */
	bool stdout_to_stderr; /* what the command prints on standard output goes to standard error; of "-" always */
	/*
	 * Not 0: no file is made. The parts stay in temp_dir, where another process empties (forward.h) and removes
	 * them, and each CPU's spool has at most about so many bytes. That process, forward_reader, is the parent of
	 * this one. If it has ended, nothing is finished, and the parts are removed.
	 */
	uint64_t forward_room;
	pid_t forward_reader;
	int ping_fd; /* a socket of that process, which asks for the trace clock (clock_sampler_answer()); 0: none */
	const char *temp_dir; /* directory of the parts; NULL: the output's, or /var/tmp */
	mode_t mode;          /* of the file */
	unsigned version;     /* 6 or 7 */
	bool compress;
	int level;
	bool all_symbols;  /* save all symbols, not only those to which the pages can refer */
	uint64_t max_size; /* maximum number of bytes of pages kept of each CPU, uncompressed; 0: none */
	char **argv;       /* the command; NULL: record until told to stop */
	const char *user;
	bool mute;        /* see struct workload_options */
	const char *path; /* see struct workload_options */
	bool all_formats;
	uint64_t duration_ns; /* 0: no limit */
	/*
	 * The recording ends when about so many events have happened, or when the threads of this process have run for
	 * so long, in ns, since it began; 0: no limit.
	 */
	uint64_t max_events, max_cpu_ns;
	uint32_t sample_of; /* the recording stands for so many (sampling.h); 0: only for itself */
	uint64_t sync_ns;   /* data older than this, in ns, is on the disk; 0: the kernel decides */
	bool has_recorder_cpus;
	struct cpus recorder_cpus; /* CPUs on which the recorders may run */
	int priority;              /* SCHED_FIFO priority of the recorders; 0: ordinary threads */
	unsigned texts;            /* texts to save: enum texts of lib/kernel/tracefs/texts.h */
	/*
	 * Called every look_ms during the recording, on the thread of the session, to show its progress. NULL: not
	 * called.
	 */
	void (*look)(const struct progress *progress);
	unsigned look_ms;
};

#endif
