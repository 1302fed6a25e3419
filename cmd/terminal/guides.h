/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_GUIDES_H
#define WEFT_CMD_TERMINAL_GUIDES_H

#include <stdbool.h>

/* The guides of weft-recipes(7), which is part of the program: each leads from a complaint to its cause. */
struct guide {
	char name[16]; /* "service" */
	char title[64];
	const char *text; /* the lines of the page behind its title */
};

/* Reads the next guide. *at is NULL before the first one. False: there are no more. */
bool guides_next(const char **at, struct guide *guide);
/* The guide with this name. False: there is none. */
bool guides_find(const char *name, struct guide *ret);

/* Prints the names and titles of all. */
void guides_list(void);
/* Prints what the guide says, and its command lines. */
void guide_print(const struct guide *guide);

#endif
