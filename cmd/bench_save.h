/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_BENCH_SAVE_H
#define WEFT_CMD_BENCH_SAVE_H

#include "lib/base/cleanup.h"
#include "lib/base/destination.h"

#include <sys/utsname.h>

struct bench;
struct bench_saved;
struct fail;

/*
 * The file of --save. It is made before the first run, written by the process that has read the recordings and may open
 * nothing, and named by the process that still may.
 */
struct bench_saving {
	const char *path; /* NULL: there is none */
	struct destination to;
	struct draft draft;
	struct utsname machine;
};

#define BENCH_SAVING_INIT                                      \
	{                                                      \
		.to = DESTINATION_INIT, .draft = { .fd = -1 }, \
	}

int must_check bench_saving_open(struct bench_saving *saving, struct fail *fail);
int must_check bench_saving_write(const struct bench_saving *saving, const struct bench *bench, const char *of,
				  struct fail *fail);
int must_check bench_saving_name(struct bench_saving *saving, struct fail *fail);
void bench_saving_release(struct bench_saving *saving);

/* Reads the file of --against. */
int must_check bench_saved_read(const char *path, struct bench_saved **ret, struct fail *fail);

#endif
