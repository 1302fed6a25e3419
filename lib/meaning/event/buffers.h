/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_BUFFERS_H
#define WEFT_MEANING_EVENT_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;

/* What a file says of its buffers, for consumers that know a context and no file. */

/* CPUs of the recorded machine; 0 when unknown. */
uint32_t buffers_cpu_count(const struct context *context);
/* The CPUs of the context's own buffer: every event::cpu_index is smaller. */
size_t buffers_own_cpus(const struct context *context);
/* Whether the context's own buffer is the first one that has events. */
bool buffers_own_is_first(const struct context *context);
/* The number of buffers, and the length of the longest name of one. */
size_t buffers_count(const struct context *context, size_t *ret_width);

#endif
