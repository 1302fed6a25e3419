/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_CUT_INTERNAL_H
#define WEFT_FORMATS_CUT_INTERNAL_H

struct out;

/*
 * Appends the lines of a text, each cut to `width` columns: a line that is too long ends with '>' in the last column.
 * Colour sequences count as no column, a UTF-8 character counts as one. A cut line does not leave a colour switched on.
 */
void cut_lines(const struct out *text, unsigned width, struct out *out);

#endif
