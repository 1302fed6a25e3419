/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACE_WRITER_H
#define WEFT_TRACE_WRITER_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * Writes a trace.dat, version 7 or 6, that trace-cmd and KernelShark read (weft-dat(5)). The order of calls is the order
 * of the file: writer_new, the metadata, then each buffer with its CPUs, then writer_finish. In between the file
 * is not readable; the recording's parts are (lib/record).
 * With a compressing writer, pages arrive as chunks that were compressed before: they are copied, not touched.
 * An output that cannot be seeked is written to an unlinked temporary file and copied out by writer_finish().
 */
struct writer;

struct writer_options {
	unsigned version;               /* 6 or 7 */
	bool compress;                  /* v7 only: sections and pages are zstd frames */
	int level;
	bool big_endian;                /* of the traced kernel, with whose words the file must agree */
	uint8_t long_size;
	uint32_t page_size;
};

struct writer_metadata {
	const char *header_page, *header_event;         /* texts; required */
	struct writer_format { const char *system; const char *text; size_t len; } *formats;
	size_t nr_formats;                              /* those of system "ftrace" go to their own section */
	const char *kallsyms, *printk, *cmdlines;       /* NULL: an empty section */
	size_t kallsyms_len, printk_len, cmdlines_len;
	/* For a compressing writer, instead of the text: { u32 length, text } in the file's byte order, kallsyms_size bytes
	 * in all, compressed before. */
	const char *kallsyms_frame;
	size_t kallsyms_frame_len, kallsyms_size;
	const char *uname, *version, *clock;            /* NULL: no such option */
	const char *const *cpustats;                    /* texts of per_cpu/cpuN/stats, headed by "CPU: N\n" */
	size_t nr_cpustats;
	uint32_t cpu_count;
	uint64_t trace_id;
	const char *latency;                            /* text of a latency tracer's trace file, or NULL */
	size_t latency_len;
	struct writer_setting { uint32_t buffer; const char *name; const char *text; size_t len; } *settings;
	size_t nr_settings;                             /* weft's private section; see trace_setting() */
	int64_t ts_offset;                              /* option OFFSET; only written when has_ts_offset */
	bool has_ts_offset, has_tsc2nsec;
	uint32_t tsc_mult, tsc_shift;
	uint64_t tsc_offset;
};

/* Owns nothing of `fd` but the right to write it. */
int must_check writer_new(int fd, const struct writer_options *options, struct writer **ret, struct fail *fail);
void writer_free(struct writer *writer);

int must_check writer_metadata(struct writer *writer, const struct writer_metadata *metadata, struct fail *fail);

/* Begins a buffer: name "" is the top one. */
int must_check writer_buffer(struct writer *writer, const char *name, const char *clock, uint32_t page_size,
			     struct fail *fail);

/*
 * The pages of one CPU, ascending. `part_fd` holds `size` bytes from `offset`: for a compressing writer chunks
 * { u32 size, u32 usize, frame }, `chunks` of them, without the count in front; otherwise whole raw pages.
 * Copied inside the kernel where that works (copy_file_range).
 */
int must_check writer_cpu(struct writer *writer, uint32_t cpu, int part_fd, uint64_t offset, uint64_t size,
			  uint32_t chunks, struct fail *fail);

/* Ends the file: patches what points forward. */
int must_check writer_finish(struct writer *writer, struct fail *fail);

/* Bytes written so far. */
uint64_t writer_size(const struct writer *writer);

#endif
