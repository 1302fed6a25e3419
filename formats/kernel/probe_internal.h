/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_PROBE_INTERNAL_H
#define WEFT_FORMATS_KERNEL_PROBE_INTERNAL_H

struct format;
struct renderer;

/*
 * Events defined by users, which the kernel does not print by their print fmt: probes of functions and their returns
 * (trace_kprobe.c, trace_uprobe.c, trace_fprobe.c: the address as a symbol, "(fault)" for a string that could not be
 * read), and user_events (trace_events_user.c: by their fields).
 */

/* The renderer of such a format; NULL for other formats. */
const struct renderer *probe_renderer(const struct format *format);

#endif
