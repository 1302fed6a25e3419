// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The JSON of speedscope (www.speedscope.app/file-format-schema.json): a sampled profile for each weight that the trace
 * has, or only for the weight of --weight. Stacks are merged, so that memory does not grow with the events; the order
 * in time is lost.
 */
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/weighed_internal.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"

enum { DEPTH_MAX = 4096 };

static void put_frames(struct json *json, const struct stacks *stacks)
{
	json_key(json, "shared");
	json_object(json);
	json_key(json, "frames");
	json_array(json);
	for (uint32_t i = 0; i < stacks_names(stacks); i++) {
		size_t len;
		const char *name = stacks_name(stacks, i, &len);

		json_object(json);
		json_key(json, "name");
		json_put_bytes(json, name, len);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static void put_sample(struct json *json, const struct stack_node *nodes, uint32_t node)
{
	uint32_t path[DEPTH_MAX];
	size_t depth = 0;

	for (; node && depth < DEPTH_MAX; node = nodes[node].parent)
		path[depth++] = nodes[node].name;
	json_array(json);
	while (depth)
		json_put_u64(json, path[--depth]);
	json_end(json);
}

static void put_profile(struct json *json, const struct stacks *stacks, enum weight weight)
{
	size_t nr;
	const struct stack_node *nodes = stacks_nodes(stacks, &nr);

	json_object(json);
	json_key(json, "type");
	json_put_text(json, "sampled");
	json_key(json, "name");
	json_put_text(json, weight_names[weight]);
	json_key(json, "unit");
	json_put_text(json, weight == WEIGHT_COUNT ? "none" : "nanoseconds");
	json_key(json, "startValue");
	json_put_u64(json, 0);
	json_key(json, "endValue");
	json_put_u64(json, stacks_total(stacks, weight));
	json_key(json, "samples");
	json_array(json);
	for (uint32_t i = 1; i < nr; i++)
		if (nodes[i].weights[weight])
			put_sample(json, nodes, i);
	json_end(json);
	json_key(json, "weights");
	json_array(json);
	for (uint32_t i = 1; i < nr; i++)
		if (nodes[i].weights[weight])
			json_put_u64(json, nodes[i].weights[weight]);
	json_end(json);
	json_end(json);
}

static void speedscope_end(struct export *export)
{
	struct stacks *stacks = ((struct weighed *)export)->stacks;
	enum weight chosen;
	struct json json;

	stacks_end(stacks, export);
	if (!stacks_some(stacks, export))
		return;
	stacks_close(stacks);
	chosen = stacks_weight(stacks);
	json_init(&json, export->out);
	json_object(&json);
	json_key(&json, "$schema");
	json_put_text(&json, "https://www.speedscope.app/file-format-schema.json");
	json_key(&json, "exporter");
	json_put_text(&json, "weft");
	put_frames(&json, stacks);
	json_key(&json, "profiles");
	json_array(&json);
	put_profile(&json, stacks, chosen);
	for (enum weight i = 0; i < NR_WEIGHTS; i++)
		if (!stacks_is_chosen(stacks) && i != chosen && stacks_total(stacks, i))
			put_profile(&json, stacks, i);
	json_end(&json);
	json_end(&json);
	json_line(&json);
}

const struct export_ops speedscope_export = {
	.name = "speedscope",
	.summary = "stacks by weight as the JSON of www.speedscope.app",
	.takes_weight = true,
	.needs_all = true,
	.of_tasks = true,
	.create = weighed_new,
	.free = weighed_free,
	.event = weighed_event,
	.end = speedscope_end,
};
