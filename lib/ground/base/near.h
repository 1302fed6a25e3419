/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_NEAR_H
#define WEFT_GROUND_BASE_NEAR_H

#include <stddef.h>

struct fail;

/*
 * The names most like a word that was not found, by edit distance (a swap of neighbours counts once), for "did you
 * mean". Offer every name that exists; names are copied. A name that differs in more than a third of its letters is
 * dropped.
 *	struct near near = near_to(word);
 *	while (...) near_offer(&near, name);
 *	return near_fail(&near, fail, -ENOENT, "no clock '%s'", word);
 */
enum { NEAR_NAMES = 3, NEAR_NAME_SIZE = 128 };

struct near {
	const char *word; /* borrowed */
	unsigned found;   /* number of names[], the nearest first */
	struct {
		unsigned distance;
		char name[NEAR_NAME_SIZE];
	} names[NEAR_NAMES];
};

struct near near_to(const char *word);
void near_offer(struct near *near, const char *name);

/* Offers `name`, but compares only `part`: the bare event name for "system:event". */
void near_offer_as(struct near *near, const char *part, const char *name);

/* "did you mean 'a', 'b' or 'c'?", or "" when no name was near; cut where it does not fit. */
void near_hint(const struct near *near, char *into, size_t size);

/* fail_set() with "; did you mean 'a' or 'b'?" appended when a name was near. Returns err. */
__attribute__((format(printf, 4, 5))) int near_fail(const struct near *near, struct fail *fail, int err,
						    const char *format, ...);

#endif
