/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_PERF_FILE_H
#define WEFT_CMD_OPTIONS_PERF_FILE_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct perf_import;
struct trace;

/* A perf.data in the place of a recording, as weft import makes one of it, and what both say of it. */

/* The notes about what the file cannot say, and what figures of it therefore mean. `with_samples`: as --samples. */
void perf_file_tell(const struct perf_import *import, bool with_samples);

/* Temporary files for one that is read where a recording is expected: nothing can be opened once it is read. */
struct perf_file {
	int spares[4];
	unsigned nr_spares;
};

/* Before the rights are given up, for a trace that is not loaded: whether it is one, and there are such files. */
bool perf_file_open(const struct trace *trace, struct perf_file *ret);
void perf_file_release(struct perf_file *file);

/* Makes a recording of it, which is the file of the trace from now on. */
int must_check perf_file_load(struct perf_file *file, struct trace *trace, struct fail *fail);

#endif
