/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_STACK_INTERNAL_H
#define WEFT_FORMATS_KERNEL_STACK_INTERNAL_H

struct renderer;

extern const struct renderer kernel_stack_renderer;
extern const struct renderer user_stack_renderer;

#endif
