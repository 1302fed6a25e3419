/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_OPTIONS_H
#define WEFT_RECORD_OPTIONS_H

#include "lib/base/cpus.h"
#include "lib/setup/setup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What a recording is asked to do; built by its user, borrowed by the session, which changes nothing of it.
 */
struct record_options {
	struct setup setup;   /* its instances are the buffers of the file */
	const char *output;   /* "-": standard output */
	const char *temp_dir; /* NULL: beside the output */
	mode_t mode;          /* of the file */
	unsigned version;     /* 6 or 7 */
	bool compress;
	int level;
	uint64_t max_size; /* bytes kept of each CPU; 0: all */
	char **argv;       /* NULL: until told to stop */
	const char *user;
	bool all_formats;
	uint64_t duration_ns; /* 0: none */
	uint64_t sync_ns;     /* what is older is on the disk; 0: when the kernel likes to */
	bool has_recorder_cpus;
	struct cpus recorder_cpus; /* that the recorders may run on; any without */
	int priority;              /* SCHED_FIFO priority of the recorders; 0: none */
	unsigned texts;            /* to save besides: enum texts of lib/tracefs/texts.h */
};

#endif
