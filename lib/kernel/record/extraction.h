/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_EXTRACTION_H
#define WEFT_KERNEL_RECORD_EXTRACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Makes a file from the content of the kernel's buffers, whoever filled them. Tracing is neither started nor stopped.
 * Pages that were read leave the buffer. A buffer that is still being written is read up to its size, so the file may
 * contain events of that time. Invariant: all settings are the same afterwards; only the option latency-format, and
 * tracing_max_latency under a latency tracer, are changed for a moment, and journaled (lib/kernel/undo/undo.h). SIGINT,
 * SIGTERM, SIGHUP, SIGQUIT and SIGPIPE are delayed until the end.
 */
struct extraction_options {
	const char *const *instances; /* "" is the top instance; without names, only the top instance */
	size_t nr_instances;
	bool all;             /* the top instance and all named instances */
	bool snapshot;        /* read the snapshot buffers instead */
	bool alone;           /* claims the instances (lib/kernel/undo/claim.h); -EBUSY: somebody traces there */
	const char *output;   /* "-": standard output */
	const char *temp_dir; /* directory of the parts; NULL: the output's, or /var/tmp */
	mode_t mode;          /* of the file */
	unsigned version;     /* 6 or 7 */
	bool compress;
	int level;
	bool all_symbols; /* save all symbols, not only those to which the pages can refer */
	unsigned texts;   /* texts to save: enum texts of lib/kernel/tracefs/texts.h */
};

/* A compressed file of version 7, and nobody else may use the instance meanwhile. */
struct extraction_options extraction_alone(const char *const *instance, const char *output, mode_t mode);

struct extraction {
	uint64_t events;      /* number of events in the file */
	uint64_t overwritten; /* events overwritten before they were read, by the kernel's count */
	uint64_t dropped; /* events that the kernel did not store: a full buffer that keeps the oldest (nooverwrite) */
	uint64_t left;    /* events that stay in the kernel, since a latency tracer's worst case is in the file */
	uint64_t raw, file_size;
	unsigned cpus; /* number of CPUs with pages */
	bool went_on;  /* a buffer was written to while it was read */
	bool symbols_hidden;
	char *parts; /* the parts that remain if the file could not be finished; NULL: none */
};

/*
 * -ENOSPC: the disk may be too small; nothing was taken. -ENODATA: there is nothing to extract; no file was made. `ret`
 * is filled in any case, for extraction_release(). Pages that were taken but are not in a finished file stay in the
 * parts, for `weft recover`.
 */
int must_check extraction_run(const struct extraction_options *options, struct extraction *ret, struct fail *fail);
void extraction_release(struct extraction *extraction);

#endif
