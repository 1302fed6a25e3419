/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_UNDO_CLAIMS_INTERNAL_H
#define WEFT_UNDO_CLAIMS_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct claim_manner;
struct fail;

/* The claims (claim.h) that the process of one journal holds, at most one for each instance. Zero is the empty set. */
struct claims {
	struct claims_item {
		char *instance; /* "" for the top instance */
		int fd;
	} * items;
	size_t nr;
};

bool claims_has(const struct claims *claims, const char *instance);
/* Takes a claim that this process does not hold yet. */
int must_check claims_take(struct claims *claims, const char *dir, const char *instance,
			   const struct claim_manner *manner, struct fail *fail);
void claims_release(struct claims *claims, const char *dir);

#endif
