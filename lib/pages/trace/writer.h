/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_WRITER_H
#define WEFT_PAGES_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/trace/writer_metadata.h"

struct fail;
struct temporaries;

/*
 * Writes a trace.dat, version 7 or 6, that trace-cmd and KernelShark read (weft-dat(5)). The order of calls is the
 * order of the file: writer_new, the metadata, then each buffer with its CPUs, then writer_finish. In between the file
 * is not readable; the recording's parts are (lib/kernel/record).
 * With a compressing writer, pages arrive as chunks that were compressed before: they are copied, not touched.
 * An output that cannot be seeked is written to an unlinked temporary file and copied out by writer_finish().
 */
struct writer;

struct writer_options {
	unsigned version; /* 6 or 7 */
	bool compress;    /* v7 only: sections and pages are zstd frames */
	int level;
	bool big_endian; /* byte order of the traced kernel; the file must have the same */
	uint8_t long_size;
	uint32_t page_size;
	const struct temporaries *temporaries; /* of a part; may be NULL */
	bool passing;                          /* the process itself reads the file, and nobody else: without sums */
};

/* Borrows `fd`, which must be open for writing. */
int must_check writer_new(int fd, const struct writer_options *options, struct writer **ret, struct fail *fail);
void writer_free(struct writer *writer);

int must_check writer_metadata(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail);

/* Begins a buffer: name "" is the top one. */
int must_check writer_buffer(struct writer *writer, const char *name, const char *clock, uint32_t page_size,
			     struct fail *fail);

/*
 * Where pages of a CPU lie: `fd` holds `size` bytes from `offset`: for a compressing writer chunks
 * { u32 size, u32 usize, frame }, `chunks` of them, without the count in front; otherwise whole raw pages.
 */
struct writer_run {
	int fd;
	uint64_t offset, size;
	uint32_t chunks;
};

/*
 * The pages of one CPU, CPUs ascending, its runs in the order of their time. Copied inside the kernel where that works
 * (copy_file_range). Raw pages that lie in one run in the file itself stay there: writer_skip().
 */
int must_check writer_cpu(struct writer *writer, uint32_t cpu, const struct writer_run *runs, size_t nr,
			  struct fail *fail);

/*
 * Goes on at an offset: the pages of CPUs that lie before it in this file are there already. -EFBIG: the file is longer
 * than that.
 */
int must_check writer_skip(struct writer *writer, uint64_t offset, struct fail *fail);

/* Ends the file: patches what points forward. */
int must_check writer_finish(struct writer *writer, struct fail *fail);

/* Bytes written so far. */
uint64_t writer_size(const struct writer *writer);

#endif
