/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_EXTRACTION_H
#define WEFT_RECORD_EXTRACTION_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fail;

/*
 * A file of what buffers of the kernel hold already, whoever filled them. Tracing is neither started nor stopped; what is read is
 * gone from the buffer. Of a buffer that goes on, as much is read as it can hold: what comes meanwhile may be in the file.
 * Invariant: no setting is different afterwards; the option latency-format, and tracing_max_latency under a latency
 * tracer, are changed for a moment and journaled (lib/undo/undo.h). SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE wait until it is done.
 */
struct extraction_options {
	const char *const *instances; /* "" is the top one; none: only that one */
	size_t nr_instances;
	bool all;             /* the top one and every instance */
	bool snapshot;        /* of the snapshot buffers instead */
	const char *output;   /* "-": standard output */
	const char *temp_dir; /* NULL: beside the output */
	mode_t mode;          /* of the file */
	unsigned version;     /* 6 or 7 */
	bool compress;
	int level;
	unsigned texts; /* enum texts of lib/tracefs/texts.h */
};

struct extraction {
	uint64_t events;      /* in the file */
	uint64_t overwritten; /* by the kernel's count, before they could be read */
	uint64_t raw, file_size;
	unsigned cpus; /* with pages */
	bool went_on;  /* a buffer was being written to */
	bool symbols_hidden;
	char *parts; /* what remains when the file could not be finished; NULL: nothing */
};

/*
 * -ENOSPC before anything was taken: the disk may not hold it. -ENODATA: there is nothing to extract, and no file was made. `ret` is filled in any case, for extraction_release(). What was
 * taken out of the kernel but could not be made a file stays in the parts, for `weft recover`.
 */
int must_check extraction_run(const struct extraction_options *options, struct extraction *ret, struct fail *fail);
void extraction_release(struct extraction *extraction);

#endif
