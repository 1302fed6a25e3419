// SPDX-License-Identifier: GPL-2.0-only
#include "lib/undo/claims.h"

#include "lib/base/fail.h"
#include "lib/undo/claim.h"

#include <stdlib.h>
#include <string.h>

bool claims_has(const struct claims *claims, const char *instance)
{
	for (size_t i = 0; i < claims->nr; i++)
		if (!strcmp(claims->items[i].instance, instance))
			return true;
	return false;
}

int claims_take(struct claims *claims, const char *dir, const char *instance, const struct claim_manner *manner,
		struct fail *fail)
{
	struct claims_item *grown = reallocarray(claims->items, claims->nr + 1, sizeof(*grown));
	cleanup_free char *name = strdup(instance);
	int err;

	if (grown)
		claims->items = grown;
	if (!grown || !name)
		return fail_memory(fail);
	grown[claims->nr].fd = -1;
	err = claim_take(dir, instance, manner, &grown[claims->nr].fd, fail);
	if (err)
		return err;
	grown[claims->nr++].instance = take(name);
	return 0;
}

void claims_release(struct claims *claims, const char *dir)
{
	while (claims->nr) {
		struct claims_item *item = &claims->items[--claims->nr];

		claim_release(dir, item->instance, &item->fd);
		free(item->instance);
	}
	free(take(claims->items));
}
