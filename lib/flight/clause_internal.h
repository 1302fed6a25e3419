/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_CLAUSE_INTERNAL_H
#define WEFT_FLIGHT_CLAUSE_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct condition;
struct fail;

/* How the words of a condition are taken one after the other. What is wrong is shown with a caret under its place. */
struct clause {
	const char *text; /* the whole text */
	const char *at;   /* what is not parsed yet */
	struct condition *ret;
	struct fail *fail;
};

/* Sets the message, with the text and a caret under `at`. Returns -EINVAL. */
__attribute__((format(printf, 3, 4))) int clause_wrong(const struct clause *clause, const char *at, const char *format,
						       ...);

void clause_skip(struct clause *clause);
/* Takes a word up to a blank or one of `ends`. False: there is none. */
bool must_check clause_word(struct clause *clause, const char *ends, struct text_word *ret);
bool must_check clause_letter(struct clause *clause, char letter);
/* Nothing may be left but blanks. */
int must_check clause_end(struct clause *clause);

/* What a word says. The caller frees the copy. */
int must_check clause_copy(const struct clause *clause, struct text_word word, char **ret);
int must_check clause_number(struct clause *clause, struct text_word word, uint64_t max, uint64_t *ret);
int must_check clause_time(struct clause *clause, struct text_word word, uint64_t min, uint64_t max, uint64_t *ret);

#endif
