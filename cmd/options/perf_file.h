/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_PERF_FILE_H
#define WEFT_CMD_OPTIONS_PERF_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct perf_import;
struct trace;

/* A perf.data in the place of a recording, as weft import makes one of it, and what both say of it. */

/* The notes about what the file cannot say, and what figures of it therefore mean. `with_samples`: as --samples. */
void perf_file_tell(const struct perf_import *import, bool with_samples);

/*
 * Temporary files for those that are read where a recording is expected: nothing can be opened once rights are given
 * up, and not a byte of a file is looked at before. Where there are none, as in a full /tmp, a perf.data is refused.
 */
struct perf_spares {
	int fds[20];
	unsigned nr;
};

/* For these files; beyond 16 the others are refused if they are a perf.data, too. */
void perf_spares_open(struct perf_spares *spares, struct trace *const *traces, size_t files);
void perf_spares_release(struct perf_spares *spares);

/*
 * If the file of a trace that is not loaded is a perf.data: makes a recording of it, which is its file from now on; its
 * own size is trace_info::replaced_size.
 */
int must_check perf_file_load(struct perf_spares *spares, struct trace *trace, struct fail *fail);

#endif
