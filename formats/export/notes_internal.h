/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_NOTES_INTERNAL_H
#define WEFT_FORMATS_EXPORT_NOTES_INTERNAL_H

struct export;
struct frames_left;

/* Notes which calls of the function graph have no own time. */
void left_note(const struct frames_left *left, struct export *export);

#endif
