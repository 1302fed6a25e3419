/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_EVENT_SECTION_INTERNAL_H
#define WEFT_EVENT_SECTION_INTERNAL_H

#include "lib/base/cleanup.h"

struct context;
struct fail;

/*
 * The pages of a recorded latency tracer (the setting "weft/section") are from its snapshot. They end with the events
 * of the longest section. The events before these are older, and the kernel does not print them: its text tells how
 * many it prints ("weft/entries").
 */

/* Sets section_since of the context. Does nothing for other buffers. */
int must_check section_find(struct context *context, struct fail *fail);

#endif
