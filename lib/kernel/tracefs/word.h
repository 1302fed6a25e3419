/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_WORD_H
#define WEFT_KERNEL_TRACEFS_WORD_H

struct instance;

/*
 * The running kernel's sizeof(long), 4 or 8, from events/header_page: a program of 32 bits may run on a kernel of 64
 * bits. Where that file cannot be read, this program's own.
 */
unsigned kernel_long_size(const struct instance *top);

/* From the text of that file: its field `commit` is a local_t, of the size of a long. 0: the text does not have it. */
unsigned header_page_long_size(const char *text);

#endif
