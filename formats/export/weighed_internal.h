/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_WEIGHED_INTERNAL_H
#define WEFT_FORMATS_EXPORT_WEIGHED_INTERNAL_H

#include "formats/export/export.h"
#include "formats/export/stacks_internal.h"

/* Shared by the exporters that show stacks by their weight: they collect first, and write at the end. */
struct weighed {
	struct export export; /* first */
	struct stacks *stacks;
	struct weighed *before; /* for --diff, else NULL; borrowed */
	uint64_t *was;          /* for each node its own weight in the other file; NULL without --diff */
	uint64_t was_total;
};

int must_check weighed_new(const struct export_input *input, struct export **ret, struct fail *fail);
void weighed_free(struct export *export);
void weighed_event(struct export *export, const struct event *event);

/*
 * Call it after all events: writes the notes; with --diff it adds the nodes that only the other file has. False: no
 * memory, or no stacks; the error is set.
 */
bool weighed_end(struct weighed *weighed);

#endif
