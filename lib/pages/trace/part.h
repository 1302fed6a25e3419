/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_PART_H
#define WEFT_PAGES_TRACE_PART_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct trace_pages;
struct writer;
struct writer_options;
struct writer_run;

/*
 * The pages of one CPU before they go to a writer: collected in an unlinked temporary file, in chunks when the writer
 * compresses. For pages that exist already (pack, conversion); recordings write their parts themselves
 * (lib/kernel/record).
 */
struct part;

int must_check part_new(const struct writer_options *options, struct part **ret, struct fail *fail);
void part_free(struct part *part);

/* Adds whole pages of `page_size` bytes. */
int must_check part_add(struct part *part, const void *pages, size_t size, uint32_t page_size, struct fail *fail);

/*
 * The same, for pages of several CPUs in turn: *ret says where these are, until part_free(). Do not mix it with
 * part_write().
 */
int must_check part_add_run(struct part *part, const void *pages, size_t size, uint32_t page_size,
			    struct writer_run *ret, struct fail *fail);

/* Reads pages of part_add_run() back, which were `size` bytes and one chunk. */
int must_check part_read_run(struct part *part, const struct writer_run *run, void *into, size_t size,
			     struct fail *fail);

/*
 * Adds all pages that are left. A page that was cut short is filled with zeros; damaged records are copied, and
 * trace_damage() says so.
 */
int must_check part_add_pages(struct part *part, struct trace_pages *pages, struct fail *fail);

/*
 * The same, with other bytes in place of the pages: `data` has `size` bytes of pages, and zeros up to `padded`, whole
 * pages, which *ret has, too; it stays valid until the next call. `change` may be NULL.
 */
typedef int part_change(void *arg, const void *data, size_t size, size_t padded, const void **ret, struct fail *fail);
int must_check part_add_changed(struct part *part, struct trace_pages *pages, part_change *change, void *arg,
				struct fail *fail);

/* Adds all pages of a file of raw pages. A last page that is cut short is an error. */
int must_check part_add_file(struct part *part, int fd, uint32_t page_size, struct fail *fail);

/* Bytes of pages since the last part_write(). */
uint64_t part_pages_size(const struct part *part);

/* Passes the pages to the writer. Afterwards the part is empty and can be used again. */
int must_check part_write(struct part *part, struct writer *writer, uint32_t cpu, struct fail *fail);

#endif
