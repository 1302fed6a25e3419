/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_PREFIX_H
#define WEFT_FORMATS_KERNEL_PREFIX_H

struct out;

/* Moves a buffer's text to `out`, with the name of its instance before each line. */
void prefix_put(const char *prefix, struct out *text, struct out *out);

/*
 * " NAME: ", aligned right in `width` columns; blanks for the top instance, whose name is "". NULL without memory;
 * free() releases it.
 */
char *prefix_of(const char *instance, int width);

#endif
