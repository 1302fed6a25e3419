/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_BOOT_LINE_H
#define WEFT_SETUP_BOOT_LINE_H

#include "lib/base/cleanup.h"

struct buf;
struct fail;
struct setup;
struct tracing;

/*
 * Makes the kernel command line with which a kernel traces from boot on as the setup asks
 * (Documentation/admin-guide/kernel-parameters.txt; the __setup() functions of kernel/trace/). Nothing is changed. The
 * running kernel is read only for probes: without probes `tracing` may be NULL. -EOPNOTSUPP: the setup asks for
 * something that has no boot parameter, or that the kernel would not accept; the text names it.
 */
int must_check boot_line(const struct setup *setup, const struct tracing *tracing, struct buf *ret, struct fail *fail);

#endif
