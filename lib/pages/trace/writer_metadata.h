/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_WRITER_METADATA_H
#define WEFT_PAGES_TRACE_WRITER_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything in a file besides its pages; all pointers are borrowed. */
struct writer_metadata {
	const char *header_page, *header_event; /* texts; required */
	struct writer_format {
		const char *system;
		const char *text;
		size_t len;
	} * formats;
	size_t nr_formats;                        /* formats of system "ftrace" go to their own section */
	const char *kallsyms, *printk, *cmdlines; /* NULL: an empty section */
	size_t kallsyms_len, printk_len, cmdlines_len;
	/*
	 * For a compressing writer, instead of the text: { u32 length, text } in the file's byte order, kallsyms_size
	 * bytes in all, compressed before.
	 */
	const char *kallsyms_frame;
	size_t kallsyms_frame_len, kallsyms_size;
	const char *uname, *version, *clock; /* NULL: no such option */
	const char *const *cpustats;         /* texts of per_cpu/cpuN/stats, headed by "CPU: N\n" */
	size_t nr_cpustats;
	uint32_t cpu_count;
	uint64_t trace_id;
	const char *latency; /* text of a latency tracer's trace file, or NULL */
	size_t latency_len;
	struct writer_setting {
		uint32_t buffer;
		const char *name;
		const char *text;
		size_t len;
	} * settings;
	size_t nr_settings;     /* weft's private section; see trace_setting() */
	int64_t ts_offset;      /* option OFFSET; only written when has_ts_offset */
	int64_t date_offset_ns; /* option DATE, whole microseconds; only written when has_date */
	bool has_ts_offset, has_date, has_tsc2nsec;
	uint32_t tsc_mult, tsc_shift;
	uint64_t tsc_offset;
};

#endif
