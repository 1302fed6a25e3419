/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_FUNCTION_H
#define WEFT_FORMATS_FUNCTION_H

struct renderer;

/* Entries of the function tracer. */
extern const struct renderer function_renderer;

#endif
