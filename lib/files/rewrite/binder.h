/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_REWRITE_BINDER_H
#define WEFT_FILES_REWRITE_BINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct page_shape;
struct part;
struct record;
struct temporaries;
struct writer;
struct writer_options;

/*
 * A binder packs the records of one ring buffer into pages, separately for each CPU, and passes the pages to a writer
 * when all records were added. Complete pages wait in an unlinked temporary file, so memory is one page for each CPU
 * and 8 bytes for each page. CPUs may come in any order; the records of one CPU come in their own order.
 */
struct binder;

/* `temporaries` as in input_temporary_from(). */
int must_check binder_new(const struct page_shape *shape, const struct temporaries *temporaries, struct binder **ret,
			  struct fail *fail);
void binder_free(struct binder *binder);

/*
 * From now on complete pages are compressed as they come, in the form of the file that they are for, so each is written
 * once. Memory is up to eight pages for each CPU then. Call it before the first record; binder_show() and binder_size()
 * do not know such pages.
 */
int must_check binder_pack(struct binder *binder, const struct writer_options *options, struct fail *fail);

/*
 * The same without compression, for the file `fd`, which the writer will write: complete pages go to their place in it
 * at once. A CPU has `span` bytes there, the first one from `base` on, which is behind all that the writer writes
 * before pages. What has no place there is copied by binder_write().
 */
int must_check binder_place(struct binder *binder, int fd, uint64_t base, uint64_t span,
			    const struct writer_options *options, struct fail *fail);

/*
 * `lost`: the number of events of this CPU lost just before the record, or PAGE_LOST_*. -EFBIG: the record is larger
 * than a page.
 */
int must_check binder_add(struct binder *binder, uint32_t cpu, const struct record *record, int64_t lost,
			  struct fail *fail);

/*
 * The same for a record that is earlier than the last one of its CPU, without lost events before it: it comes behind
 * those that are not later. -EAGAIN, and no change: it belongs in front of the page that is open.
 */
int must_check binder_insert(struct binder *binder, uint32_t cpu, const struct record *record, struct fail *fail);

/*
 * Whether the CPU has this record already, with the same time and bytes; after binder_pack() or binder_place(). Records
 * that are asked for in the order of time are found fast.
 */
int must_check binder_has(struct binder *binder, uint32_t cpu, const struct record *record, bool *ret,
			  struct fail *fail);

/* Bytes of pages so far, incomplete pages included. */
uint64_t binder_size(const struct binder *binder);

/*
 * The number of records of a CPU, and the known number of events lost before them; false when no record of this CPU was
 * added.
 */
bool binder_count(const struct binder *binder, uint32_t cpu, uint64_t *ret_records, uint64_t *ret_lost);

/* A number that is higher than every CPU with records. */
uint32_t binder_cpus(const struct binder *binder);

/* Shows all pages, one after the other; no record can be added after this call. */
typedef void binder_look(void *arg, const struct page_shape *shape, const uint8_t *page);
int must_check binder_show(struct binder *binder, binder_look *look, void *arg, struct fail *fail);

/*
 * Writes the pages of all CPUs; call it after writer_buffer(). After this call the binder can only be freed. `part` may
 * be NULL after binder_pack().
 */
int must_check binder_write(struct binder *binder, struct part *part, struct writer *writer, struct fail *fail);

#endif
