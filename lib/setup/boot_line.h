/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_BOOT_LINE_H
#define WEFT_SETUP_BOOT_LINE_H

#include "lib/base/cleanup.h"

struct buf;
struct fail;
struct setup;
struct tracing;

/*
 * The parameters of a kernel's command line that make it trace from boot as a setup asks (Documentation/admin-guide/kernel-parameters.txt;
 * the __setup() functions of kernel/trace/). Nothing is changed, and only a probe is looked up in this kernel: `tracing` may be NULL without.
 * -EOPNOTSUPP: something that is asked for has no such parameter, or none that the kernel would read; the text names it.
 */
int must_check boot_line(const struct setup *setup, const struct tracing *tracing, struct buf *ret, struct fail *fail);

#endif
