/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_SLICED_EXPORT_H
#define WEFT_TESTS_UNIT_SLICED_EXPORT_H

#include "lib/ground/base/buf.h"

struct fail;
struct pool;
struct slices;
struct text_end;
struct trace;

/* What an exporter makes of the first buffer of a trace, or of its events that are selected, and then its notes. */
int sliced_export_order(struct trace *trace, const char *to, const char *events, struct buf *ret, struct fail *fail);

/* The same, of the slices' reader, in slices. -EAGAIN: not all can be exported in slices. */
int sliced_export(const struct slices *slices, const char *to, struct pool *pool, struct text_end *end,
		  struct fail *fail);

#endif
