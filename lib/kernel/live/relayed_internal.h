/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_LIVE_RELAYED_INTERNAL_H
#define WEFT_KERNEL_LIVE_RELAYED_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct out;
struct page_shape;
struct tap;
struct trace;

/* What a stream tells a process that reads its pages, besides them: frames of lib/pages/stream/relay.h. */
struct relayed {
	struct buf names, tgids; /* as they were told last */
};

/* The types of events of a buffer whose pages were told. */
struct relayed_types {
	uint64_t bits[(1 << 16) / 64];
};

static inline bool relayed_is_new(struct relayed_types *types, uint16_t id)
{
	uint64_t *word = &types->bits[id / 64], bit = UINT64_C(1) << id % 64;
	bool is_new = !(*word & bit);

	*word |= bit;
	return is_new;
}

void relayed_release(struct relayed *relayed);

int must_check relayed_facts(struct out *out, const struct trace *trace, struct fail *fail);
void relayed_buffer(struct out *out, size_t buffer, const struct page_shape *shape, const uint32_t *cpus,
		    size_t nr_cpus);
/* The symbols, and RELAY_READY. */
int must_check relayed_symbols(struct out *out, const struct tap *tap, struct fail *fail);

/* Those of the texts that changed. */
void relayed_tasks(struct relayed *relayed, struct out *out, const struct buf *names, const struct buf *tgids);
void relayed_format(struct out *out, size_t buffer, const struct buf *system, const struct buf *format);

#endif
