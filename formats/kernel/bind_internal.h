/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_BIND_INTERNAL_H
#define WEFT_FORMATS_KERNEL_BIND_INTERNAL_H

#include "lib/base/cleanup.h"

struct ftrace;

/*
 * Makes the array of bindings, and the binding of unknown types; -ENOMEM. ftrace_bind_first() of
 * formats/kernel/ftrace.h adds bindings.
 */
int must_check bind_init(struct ftrace *ftrace);
void bind_release(struct ftrace *ftrace);

#endif
