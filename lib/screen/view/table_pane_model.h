/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_TABLE_PANE_MODEL_H
#define WEFT_SCREEN_VIEW_TABLE_PANE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct key;
struct out;

/*
 * The model of `weft top`: the tables of an analysis for the last interval, one of them at a time, in an order and with
 * a filter that keys choose; and for each row how its value in the column of the order went in the intervals before.
 * It knows no terminal. Not thread-safe: the owner has a lock.
 */
struct table_pane_model;

struct table_pane_model_options {
	const char *name; /* of the analysis */
	bool color, ascii;
};

int must_check table_pane_model_new(const struct table_pane_model_options *options, struct table_pane_model **ret,
				    struct fail *fail);
void table_pane_model_free(struct table_pane_model *model);

/*
 * Takes the findings of an interval, which are empty afterwards. While the board is paused they are only counted.
 * `when`: what the first line says of the end of the interval; copied.
 */
void table_pane_model_take(struct table_pane_model *model, struct findings *findings, const struct findings_span *span,
			   const char *when);

/* What weft itself costs: time of CPUs in ns since the last call, and the time that went by. */
void table_pane_model_cost(struct table_pane_model *model, uint64_t cpu_ns, uint64_t wall_ns);

/*
 * Appends at most `height` lines, each ended with a newline. Control characters are escaped, except colours. The
 * second half of what it returns: the row that is chosen, SIZE_MAX: none.
 */
void table_pane_model_draw(struct table_pane_model *model, unsigned width, unsigned height, struct out *out);

/* Does what a key means. The user wants to leave, or that the last events are kept as a file. */
enum table_pane_wish { TABLE_PANE_NOTHING, TABLE_PANE_QUIT, TABLE_PANE_KEEP };
enum table_pane_wish table_pane_model_key(struct table_pane_model *model, const struct key *key);

/* A message in place of the first line, until the next key. */
void table_pane_model_say(struct table_pane_model *model, const char *text);

#endif
