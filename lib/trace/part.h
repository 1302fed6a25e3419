/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_TRACE_PART_H
#define WEFT_TRACE_PART_H

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct fail;
struct trace_pages;
struct writer;
struct writer_options;

/*
 * The pages of one CPU before they go to a writer: collected in an unlinked temporary file, in chunks when the writer
 * compresses. For pages that exist already (pack, conversion); recordings write their parts themselves (lib/record).
 */
struct part;

int must_check part_new(const struct writer_options *options, struct part **ret, struct fail *fail);
void part_free(struct part *part);

/* Adds whole pages of `page_size` bytes. */
int must_check part_add(struct part *part, const void *pages, size_t size, uint32_t page_size, struct fail *fail);

/*
 * Adds all pages that are left. A page that was cut short is filled with zeros; damaged records are copied, and
 * trace_damage() says so.
 */
int must_check part_add_pages(struct part *part, struct trace_pages *pages, struct fail *fail);

/* Adds all pages of a file of raw pages. A last page that is cut short is an error. */
int must_check part_add_file(struct part *part, int fd, uint32_t page_size, struct fail *fail);

/* Bytes of pages since the last part_write(). */
uint64_t part_pages_size(const struct part *part);

/* Passes the pages to the writer. Afterwards the part is empty and can be used again. */
int must_check part_write(struct part *part, struct writer *writer, uint32_t cpu, struct fail *fail);

#endif
