// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/undo/claims_internal.h"

#include "lib/base/fail.h"
#include "lib/base/vec.h"
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
	cleanup_free char *name = strdup(instance);
	struct claims_item *item = name ? vec_push(claims->items, claims->nr) : NULL;
	int err;

	if (!item)
		return fail_memory(fail);
	item->fd = -1;
	err = claim_take(dir, instance, manner, &item->fd, fail);
	if (err) {
		claims->nr--;
		return err;
	}
	item->instance = take(name);
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
