/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_SUMS_INTERNAL_H
#define WEFT_PAGES_TRACE_SUMS_INTERNAL_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct trace;
struct writer;

/*
 * A file that weft wrote ends with a section of sums (weft-dat(5)), with which `weft check` detects every changed bit:
 * u32 version, u32 size of a block, u64 bytes covered, u64 bytes and u64 sum of the data after the section (the
 * settings of version 6), for each block of the covered bytes u64 sum, and at its end u64 size of the whole section and
 * u64 sum of all section bytes before that sum. A sum is the 64-bit xxHash. The setting "weft/sums" says that the
 * section must be there. Only `weft check` reads the sums, so they cost other readers nothing.
 */
enum {
	SUMS_VERSION = 1,
	SUMS_BLOCK = 64 << 10,
	SUMS_HEAD = 32, /* of the body */
	SUMS_TAIL = 16,
	SUMS_SECTION_MAX = 1 << 20, /* a file of 1 GiB needs a quarter of this */
};

#define SUMS_SETTING "weft/sums"
/* The largest number of bytes covered: summing more would delay the end of a recording. */
#define SUMS_COVERED_MAX (UINT64_C(1) << 30)

/* For the writer: the size of the section; 0 when the file gets none. */
uint64_t sums_size(const struct writer *writer);

/* Appends the section of sums for everything written so far and for `tail`, the bytes that will follow (NULL: none). */
int must_check sums_write(struct writer *writer, const struct buf *tail, struct fail *fail);

/* For the reader: notes damage when the section should exist and does not. Call it after the settings were loaded. */
int must_check sums_find(struct trace *trace, struct fail *fail);

/* Compares each block with its sum; `found` as in trace_check(). */
int must_check sums_check(struct trace *trace, void (*found)(void *arg, uint64_t offset, const char *text), void *arg,
			  struct fail *fail);

#endif
