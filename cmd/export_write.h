/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_EXPORT_WRITE_H
#define WEFT_CMD_EXPORT_WRITE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct choice;
struct db;
struct export_input;
struct export_ops;
struct fail;
struct trace;

/* What weft export writes, and what it tells about it. */
struct export_job {
	const struct choice *choice;
	const struct export_ops *ops;
	const char *fields;   /* of --fields; NULL */
	const char *weight;   /* of --weight; NULL */
	const char *input;    /* the file, for lines to paste */
	uint64_t max_size;    /* of --max-size; 0 */
	struct trace *before; /* of --diff: the other file, loaded; NULL */
	struct db *db;        /* what the exporter has opened; NULL */
	int fd;
	bool terminal;                /* fd is standard output, and that is a terminal */
	uint64_t events, gaps, bytes; /* set by export_write() */
};

/*
 * Reads the chosen events of the trace and writes them to job->fd. -EBADMSG: the file is damaged, and what could be
 * read of it is written, whole in the other format.
 */
int must_check export_write(struct export_job *job, struct trace *trace, struct fail *fail);

#endif
