/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_PREFIX_INTERNAL_H
#define WEFT_IMPORT_PREFIX_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What mails, consoles and logs put in front of a line of the kernel's text: marks of a quotation ("> > "), the name of
 * a host and a program, times, levels, the task or CPU that printed ("[   12.345678][  T123] "). Text of the kernel
 * itself begins with a blank or has none of these forms. The bytes may come from anywhere: nothing outside the line is
 * read.
 */
struct prefix {
	size_t len;      /* how many bytes of the line it has */
	unsigned quotes; /* how many of them are marks of a quotation */
	bool is_log;     /* printk or a log wrote the line */
};

struct prefix prefix_read(const char *line, size_t len);

#endif
