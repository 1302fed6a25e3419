/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_FAIL_H
#define WEFT_GROUND_BASE_FAIL_H

#include <stdarg.h>
#include <stdbool.h>

/*
 * Why something failed, in words for the user. The function that knows the reason sets the text, its callers put in
 * front where it happened, cmd/ prints it once. A text that does not fit is cut. `fail` may be NULL: the caller needs
 * no text.
 */
struct fail {
	char text[1024];
	bool usage; /* the command line is wrong, such as a value that no file would take: fail_usage() */
	int err;    /* the negative errno of fail_set() */
};

#define FAIL_INIT          \
	{                  \
		.text = "" \
	}

/* Sets the text and returns `err`, a negative errno, so that a function can end with "return fail_set(...)". */
__attribute__((format(printf, 3, 4))) int fail_set(struct fail *fail, int err, const char *format, ...);

/* Puts "CONTEXT: " in front of the text and returns `err`. */
__attribute__((format(printf, 3, 4))) int fail_in(struct fail *fail, int err, const char *format, ...);

/* Appends a hint to the text and returns `err`. */
int fail_hint(struct fail *fail, int err, const char *hint);

/*
 * Keeps the first error, which the user reads: `first` if it is set, else `err` with the text of `later`.
 * Returns that error.
 */
int fail_first(int first, int err, struct fail *fail, const struct fail *later);

/* Says that the text is about the command line: the exit status is for a usage error. Returns `err`. */
int fail_usage(struct fail *fail, int err);

/* Names the file in a text of a failed write, which begins with FAIL_WRITE. Returns `err`. */
#define FAIL_WRITE "cannot write: "
/* Of the output itself, which has no name. */
#define FAIL_WRITE_OUT "cannot write to standard output: "
int fail_writing(struct fail *fail, int err, const char *path);

/*
 * Sets the text for what needs a library that weft was built without, and returns -ENOTSUP. `who` needs it; `instead`
 * says what the user can do.
 */
int fail_without(struct fail *fail, const char *library, const char *who, const char *instead);

/* Sets the text for a lack of memory and returns -ENOMEM. */
int fail_memory(struct fail *fail);

#endif
