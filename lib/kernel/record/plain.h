/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_PLAIN_H
#define WEFT_KERNEL_RECORD_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct arrival;
struct fail;
struct record_result;

/*
 * Makes a recording of the plain files of a machine that has no weft: texts under the names that they have in tracefs,
 * or as settings (lib/kernel/tracefs/settings.h), and sub-buffers of each CPU. It has one buffer.
 *
 * Invariant: every byte may be hostile. A text decides about no name; sub-buffers are stored unread, compressed here,
 * as soon as they are whole. Memory is bounded by a chunk of sub-buffers and the largest text.
 */
struct plain;

struct plain_options { /* of the file */
	unsigned version;
	bool compress, all_symbols;
	int level;
};

/* The arrival is borrowed. */
int must_check plain_new(struct arrival *arrival, const struct plain_options *options, struct plain **ret,
			 struct fail *fail);
void plain_free(struct plain *plain);

/* Before any text: whether that machine is big-endian. */
void plain_order(struct plain *plain, bool big_endian);

/* -EBADMSG: there is no place for a text of that name, or it is damaged. */
int must_check plain_text(struct plain *plain, const char *name, const char *text, size_t len, struct fail *fail);

/* After the texts without which nothing can be recorded, and before any sub-buffer. *ret: the bytes of one. */
int must_check plain_begin(struct plain *plain, uint32_t *ret, struct fail *fail);

/* Some bytes of sub-buffers of the CPU, and then the end of what is together: what is no whole one is dropped. */
int must_check plain_pages(struct plain *plain, uint32_t cpu, const void *data, size_t len, struct fail *fail);
int must_check plain_pages_end(struct plain *plain, struct fail *fail);

/* Adds what the counters of each CPU say, "per_cpu/cpuN/stats". */
int must_check plain_count(const struct plain *plain, struct record_result *result, struct fail *fail);

#endif
