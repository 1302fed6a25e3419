/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PARQUET_WRITER_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PARQUET_WRITER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"

struct frame_writer;

/*
 * Shared by the files of one export: the compression context and memory for writing a row group. The first failure is
 * kept in `error`.
 */
enum { PARQUET_PAGE_ROWS = 1 << 16, PARQUET_SORTED_PAGE_ROWS = 1 << 13 };

struct parquet_writer {
	struct frame_writer *frames;
	struct out page;  /* a page before compression */
	struct out group; /* the pages of a row group */
	size_t page_rows; /* at most PARQUET_PAGE_ROWS */
	uint32_t levels[PARQUET_PAGE_ROWS];
	int error;
	struct fail failure;
};

enum parquet_page { PARQUET_PAGE_DATA = 0, PARQUET_PAGE_DICTIONARY = 2 };
enum parquet_encoding { PARQUET_PLAIN = 0, PARQUET_RLE = 3, PARQUET_RLE_DICTIONARY = 8 };

int must_check parquet_writer_new(struct parquet_writer **ret, struct fail *fail);
void parquet_writer_free(struct parquet_writer *writer);

/*
 * Compresses writer->page and appends it with its header to writer->group; returns the size of the header plus that of
 * the page before compression.
 */
size_t parquet_writer_page(struct parquet_writer *writer, enum parquet_page what, enum parquet_encoding encoding,
			   size_t nr);

/*
 * Appends numbers of at most `width` bits, 1 to 32, to writer->page, in Parquet's encoding of runs and bit-packed
 * groups of eight.
 */
void parquet_writer_numbers(struct parquet_writer *writer, const uint32_t *numbers, size_t nr, unsigned width);

#endif
