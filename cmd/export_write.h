/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_EXPORT_WRITE_H
#define WEFT_CMD_EXPORT_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/options/decode.h"
#include "lib/ground/base/cleanup.h"

struct db;
struct export_input;
struct export_ops;
struct fail;
struct guest_host;
struct query;
struct trace;

/* What weft export writes, and what it reports about that. */
struct export_job {
	const struct query *query;
	const struct export_ops *ops;
	const char *fields;          /* the value of --fields, or NULL */
	const char *weight;          /* the value of --weight, or NULL */
	const char *const *counters; /* the values of --counter */
	size_t nr_counters;
	const struct guest_host *host; /* --host and --vcpus, or NULL */
	const char *input;             /* the file's name, for commands to paste */
	uint64_t max_size;             /* the value of --max-size, or 0 */
	struct trace *before;          /* the other file of --diff, loaded; or NULL */
	struct db *db;                 /* the database that the exporter has opened, or NULL */
	/* With plugins the right to open files is given up after loading them; `keeps_rights`: not at all. */
	struct decode decode;
	bool keeps_rights;
	int fd;
	bool terminal;                /* fd is standard output, which is a terminal */
	uint64_t events, gaps, bytes; /* set by export_write(); the events that were read */
	uint64_t left_out;            /* of these, events that the output does not have */
};

/*
 * Reads the selected events of the trace and writes them to job->fd. Returns -EBADMSG if the file is damaged: what
 * could be read of it is written, and is a valid file of the other format.
 */
int must_check export_write(struct export_job *job, struct trace *trace, struct fail *fail);

#endif
