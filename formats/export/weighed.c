// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/weighed_internal.h"

#include <stdlib.h>
#include <string.h>

int weighed_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct weighed *weighed = calloc(1, sizeof(*weighed));
	int r = weighed ? stacks_new(input, &weighed->stacks, fail) : fail_memory(fail);

	if (r) {
		free(weighed);
		return r;
	}
	weighed->before = (struct weighed *)input->before;
	*ret = &weighed->export;
	return 0;
}

void weighed_free(struct export *export)
{
	struct weighed *weighed = (struct weighed *)export;

	stacks_free(weighed->stacks);
	free(weighed->was);
	free(weighed);
}

void weighed_event(struct export *export, const struct event *event)
{
	stacks_see(((struct weighed *)export)->stacks, export, event);
}

/* Adds the nodes of the other tree to this one; a node comes after its parent. */
static bool add_nodes(struct weighed *weighed, const struct stacks *other, enum weight weight)
{
	size_t nr, nr_now, len;
	const struct stack_node *nodes = stacks_nodes(other, &nr);
	cleanup_free uint32_t *here = calloc(nr, sizeof(*here));

	for (size_t i = 1; here && i < nr; i++) {
		const char *name = stacks_name(other, nodes[i].name, &len);

		here[i] = stacks_put(weighed->stacks, here[nodes[i].parent], name, len);
	}
	(void)stacks_nodes(weighed->stacks, &nr_now);
	weighed->was = here && !stacks_starved(weighed->stacks) ? calloc(nr_now, sizeof(*weighed->was)) : NULL;
	if (!weighed->was)
		return false;
	for (size_t i = 0; i < nr; i++)
		weighed->was[here[i]] += nodes[i].weights[weight];
	return true;
}

static void take_notes(struct export *export, struct buf *notes)
{
	char *rest = (char *)(uintptr_t)buf_str(notes);

	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			export_note(export, "--diff: %s", line);
}

bool weighed_end(struct weighed *weighed)
{
	struct export *export = &weighed->export;
	enum weight weight;

	stacks_end(weighed->stacks, export);
	if (!stacks_some(weighed->stacks, export))
		return false;
	if (!weighed->before) {
		stacks_close(weighed->stacks);
		return true;
	}
	stacks_end(weighed->before->stacks, &weighed->before->export);
	take_notes(export, &weighed->before->export.notes);
	if (weighed->before->export.error)
		export_failed(export, weighed->before->export.error, &weighed->before->export.failure);
	weight = stacks_weight(weighed->stacks);
	weighed->was_total = stacks_total(weighed->before->stacks, weight);
	if (!weighed->was_total)
		export_note(export, "--diff: no stacks of that file have the weight %s", weight_names[weight]);
	if (add_nodes(weighed, weighed->before->stacks, weight))
		return true;
	export_no_memory(export);
	return false;
}
