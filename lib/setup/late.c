// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/setup/late.h"

#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/tracefs/instance.h"
#include "lib/undo/change.h"

#include <stdio.h>
#include <string.h>

bool late_is_counted(const char *text)
{
	size_t len = strcspn(text, " "), digits = 0;

	if (!strncmp(text, "hist:", strlen("hist:")))
		return false;
	while (digits < len && text[len - digits - 1] >= '0' && text[len - digits - 1] <= '9')
		digits++;
	return digits && digits < len && text[len - digits - 1] == ':';
}

bool late_is_untried(const struct late *late, const struct instance *instance, const char *text)
{
	return late && instance->tracing->plan && late_is_counted(text);
}

int late_add(struct late *late, struct instance *instance, const char *file, const char *text, struct fail *fail)
{
	bool untried = late_is_untried(late, instance, text);
	cleanup_free char *removal = NULL;
	struct late_item *item;
	int err;

	if (asprintf(&removal, "!%s", text) < 0) {
		removal = NULL;
		return fail_memory(fail);
	}
	err = untried ? 0 : instance_append(instance, file, removal, fail);
	if (err)
		return err;
	item = vec_push(late->items, late->nr);
	if (!item)
		return fail_memory(fail);
	*item = (struct late_item){ .instance = instance, .file = strdup(file), .text = strdup(text) };
	if (!item->file || !item->text)
		return fail_memory(fail);
	/* A "traceon" may have acted already. */
	return untried ? 0 : instance_write(instance, "tracing_on", "0", fail);
}

void late_release(struct late *late)
{
	for (size_t i = 0; i < late->nr; i++) {
		free(late->items[i].file);
		free(late->items[i].text);
	}
	free(late->items);
	*late = (struct late){ .nr = 0 };
}
