/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_LABELS_H
#define WEFT_GROUND_BASE_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"

/* A set of texts, numbered from 0 on: each text is stored once. */
struct labels {
	struct label {
		char *text; /* followed by a NUL */
		size_t len;
	} * at;
	size_t nr;
	struct u64_map places; /* by the hash of the text, or the next free key after it: number + 1 */
};

enum { LABEL_NONE = UINT32_MAX };

void labels_init(struct labels *labels);
void labels_release(struct labels *labels);

/* The number of a text, which is added if it is new (*ret_new); LABEL_NONE without memory. */
uint32_t labels_add(struct labels *labels, const void *text, size_t len, bool *ret_new);

#endif
