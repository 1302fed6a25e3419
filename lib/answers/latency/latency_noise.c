// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/latency/latency_noise_internal.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"

static const char *const part_names[NOISE_PARTS] = { "nmi",    "irq",      "softirq",
						     "thread", "hardware", "the way into and out of them",
						     "unknown" };

/* The start of both tables; `since` is when the time began of which the noise was a part. */
#define PART_COLUMNS(X)                                                                \
	X("NOISE", TIME, NULL, BRIEF, table_cell_u64, noise->lasted)                   \
	X("CPU", NUMBER, NULL, BRIEF, table_cell_u64, noise->cpu)                      \
	X("FROM", NUMBER, "since", SPARE | BRIEF, table_cell_moment, since)            \
	X("UNTIL", NUMBER, "until", DATA, table_cell_moment, noise->at)                \
	X("NMI", TIME, NULL, SPARE, table_cell_u64, noise->parts[NOISE_NMI])           \
	X("IRQ", TIME, NULL, 0, table_cell_u64, noise->parts[NOISE_IRQ])               \
	X("SOFTIRQ", TIME, NULL, 0, table_cell_u64, noise->parts[NOISE_SOFTIRQ])       \
	X("THREAD", TIME, NULL, 0, table_cell_u64, noise->parts[NOISE_THREAD])         \
	X("HARDWARE", TIME, NULL, SPARE, table_cell_u64, noise->parts[NOISE_HARDWARE]) \
	X("WAY", TIME, NULL, SPARE, table_cell_u64, noise->parts[NOISE_WAY])           \
	X("UNKNOWN", TIME, NULL, SPARE, table_cell_u64, noise->parts[NOISE_UNKNOWN])

#define NOISE_COLUMNS(X)                                               \
	PART_COLUMNS(X)                                                \
	X("COUNTED", COUNT, NULL, SPARE, table_cell_u64, noise->count) \
	X("MOST OF IT", TEXT, "cause", KEEP | BRIEF, put_cause, noises, noise)

#define SAMPLE_COLUMNS(X)                                               \
	PART_COLUMNS(X)                                                 \
	X("RUNTIME", TIME, NULL, BRIEF, table_cell_u64, noise->runtime) \
	X("LARGEST", TIME, NULL, BRIEF, table_cell_u64, noise->largest) \
	X("NOISES", COUNT, NULL, SPARE, table_cell_u64, noise->count)   \
	X("MOST OF IT", TEXT, "cause", KEEP | BRIEF, put_cause, noises, noise)

#define SOURCE_COLUMNS(X)                                                       \
	X("SOURCE", TEXT, NULL, SAME | BRIEF, table_cell, name)                 \
	X("TOTAL", TIME, NULL, ADDS | BRIEF, table_cell_u64, source->total)     \
	X("COUNT", COUNT, NULL, ADDS | BRIEF, table_cell_u64, source->count)    \
	X("MAX", TIME, NULL, BRIEF, table_cell_u64, source->max)                \
	X("MAX AT", NUMBER, "max_at", BRIEF, table_cell_moment, source->max_at) \
	X("MAX CPU", NUMBER, "max_cpu", 0, table_cell_u64, source->max_cpu)

static const struct table_column noise_columns[] = COLUMNS(NOISE_COLUMNS), sample_columns[] = COLUMNS(SAMPLE_COLUMNS),
				 source_columns[] = COLUMNS(SOURCE_COLUMNS);

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
static void put_cause(struct table *table, const struct noises *noises, const struct noise *noise)
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

static uint64_t since_of(const struct noise *noise, uint64_t lasted)
{
	return noise->at > lasted ? noise->at - lasted : 0;
}

static void put_worst(struct findings *findings, const struct noise *noise, uint64_t lasted, const char *what)
{
	findings_worst(findings, &(struct worst){ .what = what,
						  .lasted = noise->lasted,
						  .from = since_of(noise, lasted),
						  .to = noise->at,
						  .cpu = noise->cpu,
						  .pid = -1 });
}

static void put_noises(const struct noises *noises, struct findings *findings)
{
	struct table *table = findings_table(findings, "noises", "the longest noises, and what ran meanwhile", "noise",
					     noise_columns);

	if (!table)
		return;
	table_attach_part(table, &noises->lasted, "noise", NULL);
	for (size_t i = 0; i < noises->longest.nr; i++) {
		const struct noise *noise = &noises->longest.items[i];

		uint64_t since = since_of(noise, noise->lasted);

		NOISE_COLUMNS(CELL)
	}
	put_worst(findings, &noises->longest.items[0], noises->longest.items[0].lasted, "noise");
}

static void put_samples(const struct noises *noises, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "osnoise", "the noisiest samples of osnoise, and what their noises were",
			       "noise", sample_columns);

	if (!table)
		return;
	for (size_t i = 0; i < noises->samples.nr; i++) {
		const struct noise *noise = &noises->samples.items[i];
		uint64_t since = since_of(noise, noise->runtime);

		SAMPLE_COLUMNS(CELL)
	}
}

static void put_sources(struct noises *noises, struct findings *findings)
{
	struct table *table = findings_table(findings, "sources", "what the noises were", "total", source_columns);
	char name[64], called[48];

	if (!table)
		return;
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
		SOURCE_COLUMNS(CELL)
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
	findings_note(findings, "looked at: %s noise%s and %s sample%s of osnoise",
		      text_count((char[TEXT_HUMAN]){ 0 }, noises->nr_noises), text_plural(noises->nr_noises),
		      text_count((char[TEXT_HUMAN]){ 0 }, noises->nr_samples), text_plural(noises->nr_samples));
	if (!noises->nr_noises) {
		findings_note(findings,
			      "no event shows what the noise of osnoise was: record with -p osnoise -e osnoise");
		return;
	}
	if (noises->unexplained)
		findings_note(findings,
			      "no event shows what ran in %s noise%s of osnoise, though the kernel has "
			      "counted some: record with -p osnoise -e osnoise",
			      text_count((char[TEXT_HUMAN]){ 0 }, noises->unexplained),
			      text_plural(noises->unexplained));
	for (size_t i = 0; i < noises->nr_cpus; i++)
		under_way += noises->nr_samples && noises->cpus[i].period.count;
	findings_cut(findings, noises->cut + under_way, "samples of osnoise");
	findings_broken(findings, noises->broken, "samples of osnoise");
}

enum role { NMI = 1, IRQ, SOFTIRQ, THREAD, NOISE, SAMPLE, ROLES };

static const struct role_name names[] = {
	{ "osnoise", "nmi_noise", NMI },
	{ "osnoise", "irq_noise", IRQ },
	{ "osnoise", "softirq_noise", SOFTIRQ },
	{ "osnoise", "thread_noise", THREAD },
	{ "osnoise", "sample_threshold", NOISE },
	{ "ftrace", "osnoise", SAMPLE },
	{ NULL, NULL, 0 },
};

/*
 * PIECES is more than most noises contain; in a noise that contains more, the oldest are unknown. Samples have their
 * times in microseconds.
 */
enum { PIECES = 1024 };

bool noises_init(struct noises *noises, struct pass *pass, size_t worst)
{
	*noises = (struct noises){ .pass = pass, .worst = worst, .places = calloc(ROLES, sizeof(*noises->places)) };
	roles_init(&noises->roles, names);
	u64_map_init(&noises->by_key, sizeof(uint32_t));
	return noises->places;
}

void noises_release(struct noises *noises)
{
	for (size_t i = 0; i < noises->nr_cpus; i++)
		free(noises->cpus[i].pieces);
	free(noises->cpus);
	for (size_t i = 0; i < noises->nr_sources; i++)
		samples_release(&noises->sources[i].lasted);
	samples_release(&noises->lasted);
	free(noises->sources);
	free(noises->places);
	free(noises->longest.items);
	free(noises->samples.items);
	u64_map_release(&noises->by_key);
	roles_release(&noises->roles);
}

static void bind(const struct event *event, struct noise_places *places)
{
	const struct {
		const char *name;
		struct place *place;
	} wanted[] = {
		{ "start", &places->start },
		{ "duration", &places->duration },
		{ "interference", &places->interference },
		{ "noise", &places->noise },
		{ "runtime", &places->runtime },
		{ "max_sample", &places->largest },
	};

	for (size_t i = 0; i < array_size(wanted); i++)
		(void)place_find(wanted[i].place, event->type, wanted[i].name);
	if (!place_find(&places->number, event->type, "vector"))
		(void)place_find(&places->number, event->type, "pid");
	if (!place_find(&places->name, event->type, "desc"))
		(void)place_find(&places->name, event->type, "comm");
}

static struct noise_cpu *cpu_of(struct noises *noises, uint32_t number)
{
	struct noise_cpu *cpu;

	while (noises->nr_cpus <= number) {
		cpu = vec_push(noises->cpus, noises->nr_cpus);
		if (!cpu) {
			noises->failed = true;
			return NULL;
		}
		cpu->period.source = NOISE_NO_SOURCE;
	}
	return &noises->cpus[number];
}

static uint32_t source_of(struct noises *noises, enum noise_part part, int32_t number, const char *name, size_t len)
{
	uint32_t *id = u64_map_add(&noises->by_key, (uint64_t)part << 32 | (uint32_t)number);
	struct noise_source *source;

	if (id && *id)
		return *id - 1;
	source = id ? vec_push(noises->sources, noises->nr_sources) : NULL;
	if (!source) {
		noises->failed = true;
		return NOISE_NO_SOURCE;
	}
	*id = (uint32_t)noises->nr_sources;
	source->part = (uint8_t)part;
	source->number = number;
	memcpy(source->name, name, len < sizeof(source->name) ? len : sizeof(source->name) - 1);
	return *id - 1;
}

/* Keeps the time, if rows are compared with rows of other files. */
static void compare(struct noises *noises, struct samples *samples, uint64_t lasted)
{
	if (pass_compares(noises->pass))
		samples_add(samples, &noises->pass->budget, lasted);
}

static void count(struct noises *noises, uint32_t index, const struct noise *noise, uint64_t lasted)
{
	struct noise_source *source = index == NOISE_NO_SOURCE ? NULL : &noises->sources[index];

	if (!source)
		return;
	source->count++;
	source->total += lasted;
	compare(noises, &source->lasted, lasted);
	if (source->max && source->max >= lasted)
		return;
	source->max = lasted;
	source->max_at = noise->at;
	source->max_cpu = noise->cpu;
}

static void see_piece(struct noises *noises, struct noise_cpu *cpu, enum noise_part part, const struct event *event)
{
	const struct noise_places *places = &noises->places[part + NMI];
	int32_t number = (int32_t)place_u64(&places->number, event);
	struct noise_piece *piece;
	const char *name = "";
	size_t len = 0;

	if (!cpu->pieces)
		cpu->pieces = calloc(PIECES, sizeof(*cpu->pieces));
	if (!cpu->pieces) {
		noises->failed = true;
		return;
	}
	(void)place_string(&places->name, event, &name, &len);
	piece = &cpu->pieces[cpu->nr++ % PIECES];
	piece->start = place_u64(&places->start, event);
	piece->duration = place_u64(&places->duration, event);
	piece->at = noises->pass->state.now;
	piece->part = (uint8_t)part;
	piece->source = source_of(noises, part, number, name, len);
}

static void keep(struct noises *noises, struct noise_list *list, const struct noise *noise)
{
	size_t index;

	if (list->nr >= noises->worst && (!list->nr || list->items[list->nr - 1].lasted >= noise->lasted))
		return;
	if (list->nr < noises->worst && !vec_push(list->items, list->nr)) {
		noises->failed = true;
		return;
	}
	for (index = list->nr - 1; index && list->items[index - 1].lasted < noise->lasted; index--)
		list->items[index] = list->items[index - 1];
	list->items[index] = *noise;
}

static uint64_t sum_of(const struct noise *noise)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < NOISE_PARTS; i++)
		sum += noise->parts[i];
	return sum;
}

/* Splits a noise into the pieces that began in it. The remaining time is also a source if sources are counted. */
static void split(struct noises *noises, const struct noise_cpu *cpu, uint64_t start, bool counted, struct noise *noise)
{
	uint64_t found = 0, left = noise->lasted;
	enum noise_part rest;

	for (size_t i = 0; i < cpu->nr && i < PIECES; i++) {
		const struct noise_piece *piece = &cpu->pieces[(cpu->nr - 1 - i) % PIECES];

		if (piece->start < start || piece->start - start >= noise->lasted || piece->duration > left)
			continue;
		found++;
		left -= piece->duration;
		noise->parts[piece->part] += piece->duration;
		if (counted)
			count(noises, piece->source, noise, piece->duration);
		if (piece->duration > noise->most) {
			noise->most = piece->duration;
			noise->source = piece->source;
		}
	}
	rest = !noise->count ? NOISE_HARDWARE : found >= noise->count ? NOISE_WAY : NOISE_UNKNOWN;
	noise->parts[rest] += left;
	if (counted && left)
		count(noises, source_of(noises, rest, 0, "", 0), noise, left);
}

static void see_noise(struct noises *noises, struct noise_cpu *cpu, const struct event *event)
{
	const struct noise_places *places = &noises->places[NOISE];
	struct noise noise = { .lasted = place_u64(&places->duration, event),
			       .at = event->ts,
			       .cpu = event->cpu,
			       .source = NOISE_NO_SOURCE,
			       .count = place_u64(&places->interference, event) };
	uint64_t start = place_u64(&places->start, event);
	struct noise *period = &cpu->period;
	bool wanted = pass_wants_cpu(noises->pass, event->cpu);

	noises->nr_noises++;
	noises->unexplained += noise.count && !cpu->nr;
	split(noises, cpu, start, wanted, &noise);
	noises->wrong += sum_of(&noise) != noise.lasted;
	period->lasted += noise.lasted;
	period->count++;
	for (size_t i = 0; i < NOISE_PARTS; i++)
		period->parts[i] += noise.parts[i];
	if (noise.most > period->most) {
		period->most = noise.most;
		period->source = noise.source;
	}
	if (!wanted)
		return;
	compare(noises, &noises->lasted, noise.lasted);
	keep(noises, &noises->longest, &noise);
}

/*
 * The kernel truncates the sum of the noises to microseconds. The noises belong to the sample if their truncated sum is
 * the sample's figure.
 */
static void see_sample(struct noises *noises, struct noise_cpu *cpu, const struct event *event)
{
	const struct noise_places *places = &noises->places[SAMPLE];
	uint64_t us = place_u64(&places->noise, event);
	struct noise sample = cpu->period;
	bool first = !cpu->sampled, lost = cpu->lost;

	cpu->period = (struct noise){ .source = NOISE_NO_SOURCE };
	cpu->sampled = true;
	cpu->lost = false;
	sample.at = event->ts;
	sample.cpu = event->cpu;
	sample.runtime = place_u64(&places->runtime, event) * NS_PER_US;
	sample.largest = place_u64(&places->largest, event) * NS_PER_US;
	noises->nr_samples++;
	if (us > UINT64_MAX / NS_PER_US || !pass_wants_cpu(noises->pass, event->cpu))
		return;
	if (sample.lasted / NS_PER_US != us) {
		bool partial = sample.lasted / NS_PER_US < us;

		if (!partial) {
			memset(sample.parts, 0, sizeof(sample.parts));
			sample.source = NOISE_NO_SOURCE;
			sample.lasted = 0;
		}
		sample.parts[NOISE_UNKNOWN] += us * NS_PER_US - sample.lasted;
		sample.lasted = us * NS_PER_US;
		/* The noises of a CPU's first period may lie before the file: cut. Later ones were lost: broken. */
		noises->cut += first && !lost;
		noises->broken += !first || lost;
	}
	noises->wrong += sum_of(&sample) != sample.lasted;
	keep(noises, &noises->samples, &sample);
}

uint8_t noises_look(struct noises *noises, const struct event *event)
{
	bool fresh;
	uint8_t role = roles_of(&noises->roles, event, &fresh);

	if (fresh)
		bind(event, &noises->places[role]);
	return role;
}

void noises_see(struct noises *noises, const struct event *event, uint8_t role)
{
	struct noise_cpu *cpu;

	if (event->kind != EVENT_RECORD) {
		if (event->cpu < noises->nr_cpus)
			noises->cpus[event->cpu].lost = true;
		return;
	}
	if (!role)
		return;
	cpu = cpu_of(noises, event->cpu);
	if (!cpu)
		return;
	switch ((enum role)role) {
	case NOISE:
		see_noise(noises, cpu, event);
		return;
	case SAMPLE:
		see_sample(noises, cpu, event);
		return;
	case NMI:
	case IRQ:
	case SOFTIRQ:
	case THREAD:
		see_piece(noises, cpu, (enum noise_part)(role - NMI), event);
		return;
	case ROLES:
		return;
	}
}

bool noises_back(const struct noises *noises, uint32_t cpu, size_t index, struct noise_piece *ret)
{
	const struct noise_cpu *of = cpu < noises->nr_cpus ? &noises->cpus[cpu] : NULL;

	if (!of || index >= of->nr || index >= PIECES)
		return false;
	*ret = of->pieces[(of->nr - 1 - index) % PIECES];
	return true;
}

const char *noises_thread(const struct noises *noises, int32_t pid)
{
	const uint32_t *id = u64_map_find(&noises->by_key, (uint64_t)NOISE_THREAD << 32 | (uint32_t)pid);
	const char *name = id && *id ? noises->sources[*id - 1].name : NULL;

	return name && *name ? name : NULL;
}

bool noises_any(const struct noises *noises)
{
	return noises->nr_noises || noises->nr_samples;
}
