/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PLUGIN_DECODED_ROW_H
#define WEFT_PLUGIN_DECODED_ROW_H

#include "lib/base/cleanup.h"
#include "lib/base/out.h"
#include "lib/plugin/decoded.h"

/*
 * The fields that a plugin decoded from one event, in its order, kept until the next event: those that the plugin
 * lists, each once. `at` and the texts belong to the row.
 */
enum { DECODED_ROW_MAX = 16 };

struct decoded_row {
	const struct decoder *decoder;
	struct decoded at[DECODED_ROW_MAX];
	size_t starts[DECODED_ROW_MAX]; /* of the texts, while they grow */
	size_t nr;
	struct out text;
};

/* False without memory: the row is then empty. `decoder` NULL: no plugin is for the event. */
bool decoded_row_fill(struct decoded_row *row, const struct decoder *decoder, const uint8_t *data, size_t len);
void decoded_row_release(struct decoded_row *row);

/* NULL: the event has no such field. */
const struct decoded *decoded_row_find(const struct decoded_row *row, const char *name);

#endif
