/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_HTML_TOTALS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_HTML_TOTALS_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bands;
struct out;

/*
 * How often each name occurs in the bands of a kind, for the kinds of which bands are folded: the page's search counts
 * with these numbers. Where they would take too much of the file, the rarest are left out.
 */
struct html_totals {
	struct html_total {
		uint64_t count;
		uint32_t name;
		uint8_t kind; /* enum band_kind */
	} * items;            /* the most frequent first */
	size_t nr, left;
};

/* False without memory. */
bool must_check html_totals_choose(struct bands *bands, uint64_t bytes, struct html_totals *ret);
void html_totals_release(struct html_totals *totals);
void html_totals_put(const struct html_totals *totals, struct out *out);

#endif
