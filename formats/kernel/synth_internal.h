/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_SYNTH_INTERNAL_H
#define WEFT_FORMATS_KERNEL_SYNTH_INTERNAL_H

struct format;
struct renderer;

/*
 * Synthetic events: their print fmt has commas where the kernel prints none. print_synth_event() of
 * kernel/trace/trace_events_synth.c.
 * Not supported: fields of gfp_t; such an event is left to its print fmt.
 */

/* The renderer of such a format; NULL for other formats. */
const struct renderer *synth_renderer(const struct format *format);

#endif
