/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_KERNEL_STACK_INTERNAL_H
#define WEFT_FORMATS_KERNEL_STACK_INTERNAL_H

struct renderer;

extern const struct renderer kernel_stack_renderer;
extern const struct renderer user_stack_renderer;

#endif
