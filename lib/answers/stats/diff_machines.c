// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/stats/diff_machines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/stats/diff_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"

/* No machine has more kinds of things that happen, and none of these more buckets: a file that says so is wrong. */
enum { PARTS_MAX = 1 << 16, CELLS_MAX = 1 << 12, TEXT_LEN = 256 };

/* A row of a machine. */
struct part {
	char *name; /* of struct diff_row */
	struct cell {
		uint64_t middle, count;
	} * cells;
	size_t nr;
	uint64_t count, sum;
};

struct machine {
	uint64_t hash; /* of its name */
	char release[64];
	uint64_t ns; /* recorded */
	struct part *parts;
	size_t nr;
	struct u64_map places; /* size_t: the place of a part, from 1, by the hash of its name */
};

struct side {
	struct machine machines[DIFF_RUNS_MAX];
	size_t nr;
	struct u64_map seen; /* the hashes of all machines; without values */
};

struct diff_machines {
	struct side sides[2];
};

int diff_machines_new(struct diff_machines **ret, struct fail *fail)
{
	struct diff_machines *machines = calloc(1, sizeof(*machines));

	if (!machines)
		return fail_memory(fail);
	for (size_t i = 0; i < 2; i++)
		u64_map_init(&machines->sides[i].seen, 1);
	*ret = machines;
	return 0;
}

static void release(struct machine *machine)
{
	for (size_t i = 0; i < machine->nr; i++) {
		free(machine->parts[i].name);
		free(machine->parts[i].cells);
	}
	free(machine->parts);
	u64_map_release(&machine->places);
}

void diff_machines_free(struct diff_machines *machines)
{
	if (!machines)
		return;
	for (size_t i = 0; i < 2; i++) {
		struct side *side = &machines->sides[i];

		while (side->nr)
			release(&side->machines[--side->nr]);
		u64_map_release(&side->seen);
	}
	free(machines);
}

/*
 * Finds a machine, or makes it one of those that are compared; *ret is NULL if it is none. One that has made room for
 * another never comes back, because the largest hash only gets smaller. False: memory ran out.
 */
static bool find_machine(struct side *side, struct text_word host, struct machine **ret)
{
	uint64_t hash = xxh64(host.at, host.len);
	size_t largest = 0;

	*ret = NULL;
	for (size_t i = 0; i < side->nr && !*ret; i++) {
		if (side->machines[i].hash == hash)
			*ret = &side->machines[i];
		if (side->machines[i].hash > side->machines[largest].hash)
			largest = i;
	}
	if (*ret)
		return true;
	if (!u64_map_add(&side->seen, hash))
		return false;
	if (side->nr == DIFF_RUNS_MAX && hash > side->machines[largest].hash)
		return true;
	if (side->nr < DIFF_RUNS_MAX)
		largest = side->nr++;
	else
		release(&side->machines[largest]);
	*ret = &side->machines[largest];
	**ret = (struct machine){ .hash = hash };
	u64_map_init(&(*ret)->places, sizeof(size_t));
	return true;
}

static struct part *find_part(struct machine *machine, const char *name)
{
	uint64_t hash = xxh64(name, strlen(name));
	size_t *place = u64_map_add(&machine->places, hash);
	struct part *part;

	if (!place || *place)
		return place ? &machine->parts[*place - 1] : NULL;
	part = vec_push(machine->parts, machine->nr);
	if (!part)
		return NULL;
	*part = (struct part){ .name = strdup(name) };
	*place = machine->nr;
	return part->name ? part : NULL;
}

static int compare_cells(const void *one, const void *other)
{
	const struct cell *first = one, *second = other;

	return first->middle < second->middle ? -1 : first->middle > second->middle;
}

/* Adds up what several recordings have of one bucket. */
static void join_cells(struct part *part)
{
	size_t kept = 0;

	if (part->nr > 1)
		qsort(part->cells, part->nr, sizeof(*part->cells), compare_cells);
	for (size_t i = 1; i < part->nr; i++) {
		if (part->cells[i].middle == part->cells[kept].middle)
			part->cells[kept].count += part->cells[i].count;
		else
			part->cells[++kept] = part->cells[i];
	}
	part->nr = part->nr ? kept + 1 : 0;
}

bool diff_machines_bucket(struct diff_machines *machines, bool is_new, const struct diff_bucket *bucket)
{
	char name[TEXT_LEN];
	struct machine *machine;
	struct part *part;
	struct cell *cell;

	if (!find_machine(&machines->sides[is_new], bucket->host, &machine))
		return false;
	if (!machine || machine->nr >= PARTS_MAX)
		return true;
	snprintf(name, sizeof(name), "%.*s\t%.*s%s%.*s", (int)bucket->kind.len, bucket->kind.at, (int)bucket->key.len,
		 bucket->key.at, bucket->detail.len ? " " : "", (int)bucket->detail.len, bucket->detail.at);
	part = find_part(machine, name);
	if (part && part->nr == CELLS_MAX)
		join_cells(part);
	if (part && part->nr == CELLS_MAX)
		return true;
	cell = part ? vec_push(part->cells, part->nr) : NULL;
	if (!cell)
		return false;
	*cell = (struct cell){ bucket->middle, bucket->count };
	part->count += bucket->count;
	part->sum += bucket->sum;
	return true;
}

bool diff_machines_recording(struct diff_machines *machines, bool is_new, struct text_word host,
			     struct text_word kernel, uint64_t ns)
{
	struct machine *machine;

	if (!find_machine(&machines->sides[is_new], host, &machine))
		return false;
	if (!machine)
		return true;
	machine->ns += ns;
	snprintf(machine->release, sizeof(machine->release), "%.*s", (int)kernel.len, kernel.at);
	return true;
}

/* The middle of the bucket in which the value of this rank is. */
static uint64_t quantile(const struct part *part, unsigned per_mille)
{
	uint64_t rank = part->count / 1000 * per_mille + (part->count % 1000 * per_mille + 999) / 1000, upto = 0;

	for (size_t i = 0; i < part->nr; i++) {
		upto += part->cells[i].count;
		if (upto >= rank)
			return part->cells[i].middle;
	}
	return 0;
}

static int fill_run(const struct machine *machine, struct diff_run *run, struct fail *fail)
{
	run->units.nr = machine->ns ? (double)machine->ns / 1e9 : 1;
	memcpy(run->release, machine->release, sizeof(run->release));
	for (size_t i = 0; i < machine->nr; i++) {
		struct part *part = &machine->parts[i];
		struct diff_row *row = vec_push(run->rows, run->nr);

		if (!row)
			return fail_memory(fail);
		join_cells(part);
		*row = (struct diff_row){ .name = strdup(part->name),
					  .count = part->count,
					  .sum = part->sum,
					  .p50 = quantile(part, 500),
					  .p99 = quantile(part, 990) };
		if (!row->name)
			return fail_memory(fail);
	}
	return diff_run_settle(run, true, fail);
}

int diff_machines_end(const struct diff_machines *machines, struct diff **ret, struct fail *fail)
{
	const struct side *sides = machines->sides;
	struct diff *diff;
	int r;

	for (size_t i = 0; i < 2; i++)
		if (!sides[i].nr)
			return fail_set(fail, -ENODATA, "the %s lake has no rollups", i ? "new" : "old");
	r = diff_new(sides[0].nr, sides[1].nr, &diff, fail);
	if (r)
		return r;
	diff->several = true;
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; !r && k < sides[i].nr; k++)
			r = fill_run(&sides[i].machines[k], &diff->sides[i].runs[diff->sides[i].nr++], fail);
	if (r)
		diff_free(diff);
	else
		*ret = diff;
	return r;
}

void diff_machines_tell(const struct diff_machines *machines, struct findings *findings)
{
	const struct side *sides = machines->sides;

	findings_note(findings, "the unit is a machine: %zu of the old lake and %zu of the new are compared",
		      sides[0].nr, sides[1].nr);
	for (size_t i = 0; i < 2; i++)
		if (sides[i].seen.len > sides[i].nr)
			findings_note(findings,
				      "the %s lake has %zu machines; a hash of their names chooses %zu of them",
				      i ? "new" : "old", sides[i].seen.len, sides[i].nr);
}
