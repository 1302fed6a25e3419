/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_WEIGHED_H
#define WEFT_FORMATS_EXPORT_WEIGHED_H

#include "formats/export/export.h"
#include "formats/export/stacks.h"

/* What the exporters share that show stacks by their weight: they gather first, and write at the end. */
struct weighed {
	struct export export; /* first */
	struct stacks *stacks;
};

int must_check weighed_new(const struct export_input *input, struct export **ret, struct fail *fail);
void weighed_free(struct export *export);
void weighed_event(struct export *export, const struct event *event);

#endif
