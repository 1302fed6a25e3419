/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_BODY_INTERNAL_H
#define WEFT_PAGES_TRACE_BODY_INTERNAL_H

#include "lib/ground/base/buf.h"
#include "lib/pages/trace/writer_metadata.h"

/* Builds the bodies of metadata sections, which both versions share, in memory and in the file's byte order. */

/* Append numbers; `swap`: in the other byte order than this machine's. False when there is no memory. */
bool put_u16(struct buf *buf, uint16_t value, bool swap);
bool put_u32(struct buf *buf, uint32_t value, bool swap);
bool put_u64(struct buf *buf, uint64_t value, bool swap);

bool body_headers(struct buf *buf, const struct writer_metadata *metadata, bool swap);
bool body_ftrace(struct buf *buf, const struct writer_metadata *metadata, bool swap);
bool body_events(struct buf *buf, const struct writer_metadata *metadata, bool swap);
bool body_kallsyms(struct buf *buf, const struct writer_metadata *metadata, bool swap);
bool body_printk(struct buf *buf, const struct writer_metadata *metadata, bool swap);
bool body_cmdlines(struct buf *buf, const struct writer_metadata *metadata, bool swap);
/* `latency`: the latency text is also written as a setting. */
bool body_settings(struct buf *buf, const struct writer_metadata *metadata, bool latency, bool swap);

/*
 * Options that hold their value themselves: those before and those after the option that points to the command lines.
 */
bool options_first(struct buf *buf, const struct writer_metadata *metadata, bool swap);
bool options_last(struct buf *buf, const struct writer_metadata *metadata, bool swap);
bool put_option(struct buf *buf, uint16_t id, const void *data, size_t size, bool swap);
bool put_option_u64(struct buf *buf, uint16_t id, uint64_t value, bool swap);

#endif
