/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_OPTION_LINES_H
#define WEFT_GROUND_BASE_OPTION_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"

struct fail;

/*
 * The text of a file of options, one in a line:
 *	# a comment, or ; one
 *	NAME = VALUE	the value is the rest of the line without the blanks around it
 *	NAME		an option without a value; "--" before it is allowed
 *	[VALUE]		the option "instance" with this value
 * Invariant: a name has no blank and no NUL in it. Which names exist, the caller knows.
 */
enum { OPTION_LINE_NAME = 64 };

struct option_lines {
	const char *at; /* what is not read yet; borrowed */
	size_t left;
	unsigned number; /* of the line that was read last, from 1 on */
};

struct option_line {
	char name[OPTION_LINE_NAME];
	struct text_word value; /* borrows the text */
	bool has_value;
	bool is_section; /* [VALUE] */
};

/* Reads up to the next option. 1: *ret is one; 0: the end; -EINVAL: the line is neither, and the message quotes it. */
int must_check option_lines_next(struct option_lines *lines, struct option_line *ret, struct fail *fail);

#endif
