/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_OPTION_VALUE_H
#define WEFT_CMD_OPTIONS_OPTION_VALUE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * Reads values of options while the command line is parsed. An invalid value ends the program with a usage error that
 * names the option.
 */
/* The values of an option that may be given several times. */
enum { OPTION_WORDS_MAX = 256 };

struct option_words {
	const char *at[OPTION_WORDS_MAX];
	size_t len;
};

void option_add_word(struct option_words *words, const char *word, struct argp_state *state);

/* A value that may be given once: `ret` is NULL before. */
void option_once(const char *what, const char **ret, const char *arg, struct argp_state *state);

/* For a value that a function of lib/ has read: ends the program if its result `r` is an error. */
void option_taken(const char *option, int r, const struct fail *fail, struct argp_state *state);

/* A time that is more than 0, in ns: "2ms"; a bare number counts seconds. The message says where in a file it stood. */
uint64_t option_time(const char *option, const char *arg, struct argp_state *state);

/* Reads a whole number that may be negative. */
int64_t option_signed(const char *option, const char *arg, struct argp_state *state);

/*
 * Ends the program; option_need() only where `ok` is false. Also while argp begins, when it has no name for a message
 * yet.
 */
void option_no_memory(struct argp_state *state);
void option_need(bool ok, struct argp_state *state);

#endif
