/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_READING_H
#define WEFT_CMD_OPTIONS_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/options/option_rows.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct pool;
struct reader;
struct parallel_sum_ops;
struct trace;

/*
 * What the commands that read a recording share. The options that say how are a child table; its input is a struct
 * reading.
 */
struct reading {
	bool no_sandbox, trust_size;
	bool opens_more; /* set by a command that opens files after reading_open() and then gives up rights itself */
};

extern const struct options reading_options;

/*
 * Opens the file. Unless the reading says otherwise, it then gives up all rights that reading does not need: nothing
 * can be opened afterwards.
 */
int must_check reading_open(const char *input, const struct reading *reading, struct trace **ret, struct fail *fail);

/* A recording without any event or setting, of which --format schema is made when no file is named. */
int must_check reading_open_nothing(struct trace **ret, struct fail *fail);

/* The second half of reading_open(), for a trace that is open but not read. After an error the trace is freed. */
int must_check reading_load(struct trace *trace, const struct reading *reading, struct trace **ret, struct fail *fail);

/* For several traces that are open but not read: gives up the rights and reads the beginning of each. */
int must_check reading_load_all(struct trace *const *traces, size_t nr, const struct reading *reading,
				struct fail *fail);

/* How many threads may read: one for each CPU that this process may use, and no more than this. */
enum { READING_THREADS = 32 };
unsigned reading_threads(void);

/*
 * Starts a reader of one trace with as many threads as pay. `in_batches`: only struct batches reads, as in pass_run().
 * The caller frees the pool after the reader; it is NULL where there is none.
 */
int must_check reading_start(struct reader *reader, struct trace *trace, bool in_batches, struct pool **ret_pool,
			     struct fail *fail);

/*
 * Makes a result in slices of time (lib/meaning/reader/parallel_sum.h), with as many threads as pay, of a reader that
 * has not been started and selects nothing. -EAGAIN: all has to be read in order.
 */
int must_check reading_share(const struct reader *reader, const struct parallel_sum_ops *ops, void *arg);

/* A killed recording of this very name may hold what the reader is looking for: a note. */
void reading_tell_left_behind(const char *input);

#endif
