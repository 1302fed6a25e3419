// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/latency/latency_spread_internal.h"

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/table.h"

static const char *const part_names[PARTS] = {
	"the way to its queue", "the idle CPU",
	"interrupts",           "softirqs",
	"the task before it",   "the task before it, which was to go",
	"tasks that ran first", "itself",
	"what is not known",    "NMIs",
};

const char *latency_part_name(enum part part)
{
	return part_names[part];
}

void spreads_init(struct spreads *spreads, struct pass *pass)
{
	spreads->pass = pass;
	u64_map_init(&spreads->by_key, sizeof(struct spread));
}

void spreads_release(struct spreads *spreads)
{
	struct spread *spread;
	uint64_t key;

	for (size_t at = 0; (spread = u64_map_next(&spreads->by_key, &at, &key));) {
		samples_release(&spread->whole);
		for (size_t i = 0; i < PARTS; i++)
			samples_release(&spread->parts[i]);
	}
	u64_map_release(&spreads->by_key);
}

void spreads_add(struct spreads *spreads, uint64_t key, const struct late *late)
{
	struct spread *spread;

	if (!pass_compares(spreads->pass))
		return;
	spread = u64_map_add(&spreads->by_key, key);
	if (!spread) {
		spreads->pass->failed = true;
		return;
	}
	samples_add(&spread->whole, &spreads->pass->budget, late->lasted);
	for (size_t i = 0; i < PARTS; i++)
		if (late->parts[i])
			samples_add(&spread->parts[i], &spreads->pass->budget, late->parts[i]);
}

void spreads_put(const struct spreads *spreads, const char *name, const char *(*call)(const void *arg, uint64_t key),
		 const void *arg, struct findings *findings)
{
	static const struct table_column columns[] = { { "PART", TABLE_TEXT, NULL, 0 }, { NULL, TABLE_TEXT, NULL, 0 } };
	struct table *table =
		spreads->by_key.len ? findings_table(findings, name, "delays and their parts", NULL, columns) : NULL;
	const struct spread *spread;
	uint64_t key;

	for (size_t at = 0; table && (spread = u64_map_next(&spreads->by_key, &at, &key));) {
		table_attach_part(table, &spread->whole, call(arg, key), "delay");
		for (enum part i = 0; i < PARTS; i++)
			table_attach_part(table, &spread->parts[i], call(arg, key), part_names[i]);
	}
}
