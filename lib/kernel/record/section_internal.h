/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_SECTION_INTERNAL_H
#define WEFT_KERNEL_RECORD_SECTION_INTERNAL_H

#include "lib/ground/base/cleanup.h"

struct fail;
struct parts;
struct recorder_options;
struct spool_options;
struct target;

/*
 * The events of a max-latency tracer's longest section. They are in the snapshot, and the kernel gives its pages to
 * nobody while such a tracer is set; any other tracer frees the snapshot. But tracing_set_tracer() of
 * kernel/trace/trace.c removes the old tracer before it starts the new one, and keeps the snapshot if the new one is
 * also such a tracer. If that one cannot start, the tracer is nop, and the snapshot is as it was. It cannot start while
 * another instance has it: wakeup, wakeup_rt and wakeup_dl exclude each other; so do irqsoff, preemptoff and
 * preemptirqsoff. So a private instance gets a tracer of the family that is not the target's, and the target asks for
 * the same one.
 */

/*
 * Takes the pages of the longest section, and adds what the pages do not have ("weft/section", "weft/entries"). Call it
 * when tracing is off and all other facts are saved: the tracer is gone afterwards. Without an error nothing is taken
 * if the target keeps no section, or if the kernel gives no pages: then the text is all there is (facts_of_buffers()).
 */
int must_check section_take(struct target *target, struct parts *parts, const struct spool_options *spool,
			    const struct recorder_options *options, struct fail *fail);

#endif
