/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_BOOT_LINE_H
#define WEFT_KERNEL_SETUP_BOOT_LINE_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct setup;
struct tracing;

/*
 * Makes the kernel command line with which a kernel traces from boot on as the setup asks
 * (Documentation/admin-guide/kernel-parameters.txt; the __setup() functions of kernel/trace/). Nothing is changed. The
 * running kernel is read only for probes: without probes `tracing` may be NULL. The
 * setup asks for nothing that has no boot parameter, besides files. -EOPNOTSUPP: it asks for such a file, or for
 * something that the kernel would not accept; the text names it.
 */
int must_check boot_line(const struct setup *setup, const struct tracing *tracing, struct buf *ret, struct fail *fail);

/*
 * Appends the parameter that starts the stack tracer at boot (enable_stacktrace() of kernel/trace/trace_stack.c).
 * `functions` is "", or a list of names and globs with commas between them: the stack is looked at only there.
 */
int must_check boot_line_stack_tracer(const char *functions, struct buf *ret, struct fail *fail);

/*
 * Whether a kernel never finishes its boot with the events of this setup: PREEMPT_RT of Linux 7.0 to 7.3 with
 * trace_event=. event_trace_enable_again() of trace_events.c switches these events off and on again, and the second
 * tracepoint_add_func() waits for a grace period of SRCU. That begins in an irq_work, whose thread does not exist yet:
 * kernel/irq_work.c is linked, and thus called, after kernel/trace. A trigger keeps the event's tracepoint on, and the
 * events of instances are switched on later. Seen on Debian's 7.0.13, 7.1.13, 7.2.13 and 7.3.4. release and version are
 * those of uname().
 */
bool boot_line_hangs(const struct setup *setup, const char *release, const char *version);

#endif
