/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_VIEW_BOARD_H
#define WEFT_VIEW_BOARD_H

#include "lib/analysis/findings.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct key;
struct out;

/*
 * The model of `weft top`: the tables of an analysis for the last interval, one of them at a time, in an order and with
 * a filter that keys choose; and for each row how its value in the column of the order went in the intervals before.
 * It knows no terminal. Not thread-safe: the owner has a lock.
 */
struct board;

struct board_options {
	const char *name; /* of the analysis */
	bool color, ascii;
};

int must_check board_new(const struct board_options *options, struct board **ret, struct fail *fail);
void board_free(struct board *board);

/* Takes the findings of an interval, which are empty afterwards. While the board is paused they are only counted. */
void board_take(struct board *board, struct findings *findings, const struct findings_span *span);

/* What weft itself costs: time of CPUs in ns since the last call, and the time that went by. */
void board_cost(struct board *board, uint64_t cpu_ns, uint64_t wall_ns);

/*
 * Appends at most `height` lines, each ended with a newline. Control characters are escaped, except colours. The
 * second half of what it returns: the row that is chosen, SIZE_MAX: none.
 */
void board_draw(struct board *board, unsigned width, unsigned height, struct out *out);

/* Does what a key means. *ret_quit: the user leaves. */
void board_key(struct board *board, const struct key *key, bool *ret_quit);

#endif
