/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_EXPORTS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_EXPORTS_INTERNAL_H

#include "formats/export/export.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/timeline/timeline.h"

/* jsonl and csv are in lines.c, the others in files of their names. */
#define EXPORT_EXTERN(name) extern const struct export_ops name##_export;
EXPORTS(EXPORT_EXTERN)
#undef EXPORT_EXTERN

/* Tells a timeline which tasks the user chose, behind timeline_add(). */
static inline void export_choose(struct timeline *timeline, uint16_t buffer, const struct reader *reader)
{
	timeline_choose(timeline, buffer, reader->buffers[buffer].shown);
}

/* Shows it an event, chosen or not. */
static inline enum timeline_part export_see(const struct export *export, struct timeline *timeline,
					    const struct event *event)
{
	return timeline_take(timeline, event, export->shows);
}

#endif
