/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_OUTPUT_H
#define WEFT_PAGES_TRACE_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * A file that grows at its end and may be patched before it. When the given descriptor cannot do that (a pipe, a file
 * opened for appending), an unlinked temporary file is used, and output_finish() copies it.
 * Invariant: `at` is the number of bytes written; every short write is an error that names the offset.
 */
struct output {
	int fd;
	int temporary; /* -1 or the same as fd; ours to close */
	int readable;  /* the file, or -1: it cannot be read back */
	int final;     /* where output_finish() copies the temporary file to */
	uint64_t at;
	int reopened; /* -1 or the same as readable; ours to close */
};

/* Borrows `fd`. */
int must_check output_init(struct output *output, int fd, struct fail *fail);
void output_release(struct output *output);

int must_check output_add(struct output *output, const void *data, size_t size, struct fail *fail);
int must_check output_patch(struct output *output, uint64_t offset, const void *data, size_t size, struct fail *fail);

/* Appends zeros up to a multiple of `align`, a power of two. */
int must_check output_align(struct output *output, uint64_t align, struct fail *fail);

/* Appends bytes of another file; the kernel copies them if it can. A source that ends early is an error. */
int must_check output_copy(struct output *output, int from, uint64_t offset, uint64_t size, struct fail *fail);

int must_check output_finish(struct output *output, struct fail *fail);

#endif
