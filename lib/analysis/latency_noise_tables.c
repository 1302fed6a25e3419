// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/findings.h"
#include "lib/analysis/latency_noise_internal.h"
#include "lib/base/table.h"
#include "lib/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const part_names[NOISE_PARTS] = { "nmi",    "irq",      "softirq",
						     "thread", "hardware", "the way into and out of them",
						     "unknown" };

enum {
	PARTS_AT = 4,
	/* Where a terminal is narrow; what most of a noise was stays. */
	SPARE_PARTS = 1 << (PARTS_AT + NOISE_NMI) | 1 << (PARTS_AT + NOISE_HARDWARE) | 1 << (PARTS_AT + NOISE_WAY) |
		      1 << (PARTS_AT + NOISE_UNKNOWN)
};

#define PART_COLUMNS                                                                                           \
	{ "NMI", TABLE_TIME, NULL }, { "IRQ", TABLE_TIME, NULL }, { "SOFTIRQ", TABLE_TIME, NULL },             \
		{ "THREAD", TABLE_TIME, NULL }, { "HARDWARE", TABLE_TIME, NULL }, { "WAY", TABLE_TIME, NULL }, \
	{                                                                                                      \
		"UNKNOWN", TABLE_TIME, NULL                                                                    \
	}

static const struct table_column noise_columns[] = {
	{ "NOISE", TABLE_TIME, NULL },
	{ "CPU", TABLE_NUMBER, NULL },
	{ "FROM", TABLE_NUMBER, "since" },
	{ "UNTIL", TABLE_NUMBER, "until" },
	PART_COLUMNS,
	{ "COUNTED", TABLE_COUNT, NULL },
	{ "MOST OF IT", TABLE_TEXT, "cause" },
};

static const struct table_column sample_columns[] = {
	{ "NOISE", TABLE_TIME, NULL },
	{ "CPU", TABLE_NUMBER, NULL },
	{ "FROM", TABLE_NUMBER, "since" },
	{ "UNTIL", TABLE_NUMBER, "until" },
	PART_COLUMNS,
	{ "RUNTIME", TABLE_TIME, NULL },
	{ "LARGEST", TABLE_TIME, NULL },
	{ "NOISES", TABLE_COUNT, NULL },
	{ "MOST OF IT", TABLE_TEXT, "cause" },
};

static const struct table_column source_columns[] = {
	{ "SOURCE", TABLE_TEXT, NULL }, { "TOTAL", TABLE_TIME, NULL },        { "COUNT", TABLE_COUNT, NULL },
	{ "MAX", TABLE_TIME, NULL },    { "MAX AT", TABLE_NUMBER, "max_at" }, { "MAX CPU", TABLE_NUMBER, "max_cpu" },
};

/* Writes the name of a source: "irq local_timer:236", "thread ksoftirqd/1:29", "softirq 7" or "nmi". */
static void name_source(const struct noises *noises, uint32_t index, char *ret, size_t size)
{
	const struct noise_source *source = &noises->sources[index];

	if (source->part == NOISE_NMI || source->part >= NOISE_HARDWARE)
		snprintf(ret, size, "%s", part_names[source->part]);
	else
		snprintf(ret, size, "%s %s%s%" PRId32, part_names[source->part], source->name, *source->name ? ":" : "",
			 source->number);
}

/* Adds a cell with the largest part; if one source took most of that part, with that source. */
static void put_cause(const struct noises *noises, struct table *table, const struct noise *noise)
{
	char name[64];
	enum noise_part most = 0;

	for (enum noise_part i = 0; i < NOISE_PARTS; i++)
		if (noise->parts[i] > noise->parts[most])
			most = i;
	if (noise->source == NOISE_NO_SOURCE || noises->sources[noise->source].part != most) {
		table_cell(table, part_names[most]);
		return;
	}
	name_source(noises, noise->source, name, sizeof(name));
	table_cell(table, name);
}

static void put_times(struct table *table, const struct noise *noise, uint64_t lasted)
{
	uint64_t from = noise->at > lasted ? noise->at - lasted : 0;

	table_cell_u64(table, noise->lasted);
	table_cell_u64(table, noise->cpu);
	table_cell_decimal(table, (int64_t)from, 9);
	table_cell_decimal(table, (int64_t)noise->at, 9);
	for (size_t i = 0; i < NOISE_PARTS; i++)
		table_cell_u64(table, noise->parts[i]);
}

static void put_worst(struct findings *findings, const struct noise *noise, uint64_t lasted, const char *what)
{
	findings_worst(findings, &(struct worst){ .what = what,
						  .lasted = noise->lasted,
						  .from = noise->at > lasted ? noise->at - lasted : 0,
						  .to = noise->at,
						  .cpu = noise->cpu,
						  .pid = -1 });
}

static void put_noises(const struct noises *noises, struct findings *findings)
{
	struct table *table = findings_table(findings, "noises", "the longest noises, and what ran meanwhile", "noise",
					     noise_columns, array_size(noise_columns));

	if (!table)
		return;
	table->data_only = 1 << (PARTS_AT - 1);
	table->spare = SPARE_PARTS | 1 << (PARTS_AT - 2) | 1 << (PARTS_AT + NOISE_PARTS);
	table_attach_part(table, &noises->lasted, "noise", NULL);
	for (size_t i = 0; i < noises->longest.nr; i++) {
		const struct noise *noise = &noises->longest.items[i];

		put_times(table, noise, noise->lasted);
		table_cell_u64(table, noise->count);
		put_cause(noises, table, noise);
	}
	put_worst(findings, &noises->longest.items[0], noises->longest.items[0].lasted, "noise");
}

static void put_samples(const struct noises *noises, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "osnoise", "the noisiest samples of osnoise, and what their noises were",
			       "noise", sample_columns, array_size(sample_columns));

	if (!table)
		return;
	table->data_only = 1 << (PARTS_AT - 1);
	table->spare = SPARE_PARTS | 1 << (PARTS_AT - 2) | 1 << (PARTS_AT + NOISE_PARTS + 2);
	for (size_t i = 0; i < noises->samples.nr; i++) {
		const struct noise *sample = &noises->samples.items[i];

		put_times(table, sample, sample->runtime);
		table_cell_u64(table, sample->runtime);
		table_cell_u64(table, sample->largest);
		table_cell_u64(table, sample->count);
		put_cause(noises, table, sample);
	}
}

static void put_sources(struct noises *noises, struct findings *findings)
{
	struct table *table = findings_table(findings, "sources", "what the noises were", "total", source_columns,
					     array_size(source_columns));
	char name[64], called[48];

	if (!table)
		return;
	findings_course(findings, 1 << 0, 1 << 1 | 1 << 2);
	for (uint32_t i = 0; i < noises->nr_sources; i++) {
		const struct noise_source *source = &noises->sources[i];

		/* A source that took no time from a noise has no row. */
		if (!source->count)
			continue;
		name_source(noises, i, name, sizeof(name));
		/* PIDs differ between recordings. */
		if (source->part == NOISE_THREAD && *source->name)
			snprintf(called, sizeof(called), "%s %s", part_names[source->part], source->name);
		else
			snprintf(called, sizeof(called), "%.40s", name);
		table_attach_part(table, &source->lasted, called, NULL);
		table_cell(table, name);
		table_cell_u64(table, source->total);
		table_cell_u64(table, source->count);
		table_cell_u64(table, source->max);
		table_cell_decimal(table, (int64_t)source->max_at, 9);
		table_cell_u64(table, source->max_cpu);
	}
}

void noises_put(struct noises *noises, struct findings *findings)
{
	uint64_t under_way = 0;

	if (noises->samples.nr)
		put_samples(noises, findings);
	if (noises->longest.nr)
		put_noises(noises, findings);
	if (noises->longest.nr)
		put_sources(noises, findings);
	findings_note(findings, "looked at: %" PRIu64 " noise%s and %" PRIu64 " sample%s of osnoise", noises->nr_noises,
		      text_plural(noises->nr_noises), noises->nr_samples, text_plural(noises->nr_samples));
	if (!noises->nr_noises) {
		findings_note(findings,
			      "no event shows what the noise of osnoise was: record with -p osnoise -e osnoise");
		return;
	}
	if (noises->unexplained)
		findings_note(
			findings,
			"no event shows what ran in %" PRIu64
			" noise%s of osnoise, though the kernel has counted some: record with -p osnoise -e osnoise",
			noises->unexplained, text_plural(noises->unexplained));
	for (size_t i = 0; i < noises->nr_cpus; i++)
		under_way += noises->nr_samples && noises->cpus[i].period.count;
	findings_cut(findings, noises->cut + under_way, "samples of osnoise");
	findings_broken(findings, noises->broken, "samples of osnoise");
}
