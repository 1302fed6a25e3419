// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/weighed.h"

#include <stdlib.h>

int weighed_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct weighed *weighed = calloc(1, sizeof(*weighed));
	int r = weighed ? stacks_new(input, &weighed->stacks, fail) : fail_memory(fail);

	if (r)
		free(weighed);
	else
		*ret = &weighed->export;
	return r;
}

void weighed_free(struct export *export)
{
	struct weighed *weighed = (struct weighed *)export;

	stacks_free(weighed->stacks);
	free(weighed);
}

void weighed_event(struct export *export, const struct event *event)
{
	stacks_see(((struct weighed *)export)->stacks, export, event);
}
