/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_RECORD_EDGE_INTERNAL_H
#define WEFT_RECORD_EDGE_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/record/assembly_piece_internal.h"

#include <stddef.h>
#include <stdint.h>

struct fail;
struct held_piece;
struct page_shape;

/*
 * An edge is the first or the last chunk of a part of what is held, without the events before or after the time of
 * the part. Its pages are trimmed, compressed again, and lie in memory; the chunks between the edges stay where they
 * are. `edges` owns the memory of all edges of one file.
 */
struct edges;

int must_check edges_new(struct edges **ret, struct fail *fail);
void edges_free(struct edges *edges);

/*
 * Divides a piece into places of a file, *ret_nr of them, that have only events of the time from `from` to `to`. The
 * sizes and times of the piece become those of what is left. `shape`: of its pages.
 */
int must_check edges_divide(struct edges *edges, struct held_piece *piece, const struct page_shape *shape,
			    uint64_t from, uint64_t to, struct assembly_piece ret[ASSEMBLY_RUNS], size_t *ret_nr,
			    struct fail *fail);

#endif
