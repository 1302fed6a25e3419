// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/sched/sched_map_internal.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/pass.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"

enum { TASKS = 3, FIRST_NS = 1024, LETTERS = 52 };

/*
 * One piece of time: the tasks that had the CPU longest, and the CPU's other modes. The time of interrupts belongs to
 * no task.
 */
struct piece {
	uint64_t ns[TASKS], idle, irq, unknown;
	uint32_t task[TASKS];
};

struct lane {
	struct piece *pieces;
	uint64_t from, last; /* when its mode began; time of its last event */
	uint32_t task;
	uint8_t mode;
	bool begun;
};

struct sched_map {
	struct pass *pass;
	struct lane *lanes;           /* by CPU */
	size_t nr_lanes, columns, nr; /* nr: number of pieces, twice the columns */
	uint64_t width;               /* of a piece, in ns */
	uint64_t breaks;
};

struct sched_map *sched_map_new(struct pass *pass, size_t columns)
{
	struct sched_map *map = calloc(1, sizeof(*map));

	if (!map)
		return NULL;
	map->pass = pass;
	map->columns = columns < SCHED_MAP_COLUMNS_MIN ? SCHED_MAP_COLUMNS_MIN :
		       columns > SCHED_MAP_COLUMNS_MAX ? SCHED_MAP_COLUMNS_MAX :
							 columns;
	map->nr = 2 * map->columns;
	map->width = FIRST_NS;
	return map;
}

void sched_map_free(struct sched_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->nr_lanes; i++)
		free(map->lanes[i].pieces);
	free(map->lanes);
	free(map);
}

static struct lane *lane_of(struct sched_map *map, uint32_t cpu)
{
	struct lane *lane;

	while (map->nr_lanes <= cpu) {
		if (!vec_push(map->lanes, map->nr_lanes)) {
			map->pass->failed = true;
			return NULL;
		}
	}
	lane = &map->lanes[cpu];
	if (!lane->pieces)
		lane->pieces = calloc(map->nr, sizeof(*lane->pieces));
	map->pass->failed |= !lane->pieces;
	return lane->pieces ? lane : NULL;
}

/*
 * Adds time to a task of the piece. If there is no room for another task, the new one replaces the one with the least
 * time, if it has more.
 */
static void add_task(struct piece *piece, uint32_t task, uint64_t ns)
{
	size_t least = 0;

	for (size_t i = 0; i < TASKS; i++) {
		if (piece->ns[i] && piece->task[i] == task) {
			piece->ns[i] += ns;
			return;
		}
		if (piece->ns[i] < piece->ns[least])
			least = i;
	}
	if (ns <= piece->ns[least])
		return;
	piece->task[least] = task;
	piece->ns[least] = ns;
}

static void merge(struct piece *into, const struct piece *piece)
{
	for (size_t i = 0; i < TASKS; i++)
		if (piece->ns[i])
			add_task(into, piece->task[i], piece->ns[i]);
	into->idle += piece->idle;
	into->irq += piece->irq;
	into->unknown += piece->unknown;
}

static void widen(struct sched_map *map)
{
	for (size_t i = 0; i < map->nr_lanes; i++) {
		struct piece *pieces = map->lanes[i].pieces;

		for (size_t j = 0; pieces && j < map->nr / 2; j++) {
			struct piece both = pieces[2 * j];

			merge(&both, &pieces[2 * j + 1]);
			pieces[j] = both;
		}
		if (pieces)
			memset(pieces + map->nr / 2, 0, (map->nr - map->nr / 2) * sizeof(*pieces));
	}
	map->width *= 2;
}

static void add(struct piece *piece, const struct lane *lane, uint64_t ns)
{
	switch ((enum cpu_mode)lane->mode) {
	case CPU_TASK:
		add_task(piece, lane->task, ns);
		return;
	case CPU_IDLE:
		piece->idle += ns;
		return;
	case CPU_SOFTIRQ:
	case CPU_HARDIRQ:
		piece->irq += ns;
		return;
	case CPU_UNKNOWN:
	case CPU_MODES:
		piece->unknown += ns;
		return;
	}
}

/* Adds the time of a lane's mode until `to`. Times count from the start of the trace. */
static void fill(struct sched_map *map, struct lane *lane, uint64_t to)
{
	uint64_t from = lane->from;

	/* The quotient is compared, because the product of width and number may wrap. */
	while (to && (to - 1) / map->width >= map->nr)
		widen(map);
	while (from < to) {
		size_t index = (size_t)(from / map->width);
		uint64_t left = map->width - from % map->width, end = left < to - from ? from + left : to;

		add(&lane->pieces[index], lane, end - from);
		from = end;
	}
	lane->from = to;
}

void sched_map_see(struct sched_map *map, const struct event *event)
{
	const struct state *state = &map->pass->state;
	const struct state_cpu *cpu = event->cpu < state->nr_cpus ? &state->cpus[event->cpu] : NULL;
	struct lane *lane = cpu ? lane_of(map, event->cpu) : NULL;
	uint64_t now = state->now - state->start;

	if (!lane)
		return;
	/* The CPU's mode is unknown before its first event, and from its last event before a loss. */
	if (state->step.kind == STEP_LOST || state->breaks != map->breaks || !lane->begun) {
		if (lane->begun)
			fill(map, lane, lane->last);
		lane->mode = CPU_UNKNOWN;
		fill(map, lane, now);
	} else if (lane->mode != cpu->mode || lane->task != cpu->task) {
		fill(map, lane, now);
	}
	map->breaks = state->breaks;
	lane->begun = true;
	lane->mode = cpu->mode;
	lane->task = cpu->task;
	lane->last = now;
}

struct legend {
	uint32_t task;
	uint64_t ns;
	bool shown;
};

static int by_time(const void *a, const void *b)
{
	const struct legend *left = a, *right = b;

	return left->ns < right->ns ? 1 : left->ns > right->ns ? -1 : left->task < right->task ? -1 : 1;
}

/* Chooses the tasks that ran longest: each gets a letter. */
static size_t choose(const struct sched_map *map, struct legend legend[LETTERS])
{
	const struct state *state = &map->pass->state;
	struct legend *all = calloc(state->nr_tasks + 1, sizeof(*all));
	size_t nr = 0;

	if (!all) {
		map->pass->failed = true;
		return 0;
	}
	for (uint32_t i = 0; i < state->nr_tasks; i++)
		if (!state->tasks[i].idle && pass_wants(map->pass, &state->tasks[i]) &&
		    pass_spent(map->pass, &state->tasks[i], TASK_RUNNING))
			all[nr++] = (struct legend){ .task = i,
						     .ns = pass_spent(map->pass, &state->tasks[i], TASK_RUNNING) };
	qsort(all, nr, sizeof(*all), by_time);
	nr = nr < LETTERS ? nr : LETTERS;
	memcpy(legend, all, nr * sizeof(*all));
	free(all);
	return nr;
}

static char letter(size_t index)
{
	return (char)(index < 26 ? 'A' + index : 'a' + index - 26);
}

/* Returns the sign of whatever took the longest part of the piece. */
static char sign_of(const struct piece *piece, struct legend *legend, size_t nr)
{
	uint64_t most = piece->unknown;
	char sign = most ? '?' : ' ';
	size_t who = nr;

	if (piece->idle > most) {
		most = piece->idle;
		sign = '.';
	}
	if (piece->irq > most) {
		most = piece->irq;
		sign = '!';
	}
	for (size_t i = 0; i < TASKS; i++) {
		if (piece->ns[i] <= most)
			continue;
		most = piece->ns[i];
		sign = '*';
		for (who = 0; who < nr && legend[who].task != piece->task[i];)
			who++;
	}
	if (sign != '*' || who == nr)
		return sign;
	legend[who].shown = true;
	return letter(who);
}

static void print_lane(const struct sched_map *map, const struct lane *lane, uint64_t span, struct legend *legend,
		       size_t nr, struct out *out)
{
	for (size_t i = 0; i < map->nr && span && i <= (span - 1) / map->width; i++)
		out_char(out, sign_of(&lane->pieces[i], legend, nr));
	out_char(out, '\n');
}

void sched_map_print(struct sched_map *map, struct out *out)
{
	const struct state *state = &map->pass->state;
	uint64_t span = state->now - state->start;
	struct legend legend[LETTERS];
	size_t nr = choose(map, legend);
	char text[TEXT_HUMAN];

	for (size_t i = 0; i < map->nr_lanes; i++)
		if (map->lanes[i].pieces)
			fill(map, &map->lanes[i], span);
	while (span && (span - 1) / map->width >= map->columns)
		widen(map);
	out_f(out,
	      "# a column is %s: the task that ran longest in it;\n"
	      "#    . idle, ! interrupts, * another task, ? unknown\n",
	      text_time(text, map->width));
	for (size_t i = 0; i < map->nr_lanes; i++) {
		if (!map->lanes[i].pieces || !pass_wants_cpu(map->pass, (uint32_t)i))
			continue;
		out_f(out, "CPU %3zu ", i);
		print_lane(map, &map->lanes[i], span, legend, nr, out);
	}
	for (size_t i = 0; i < nr; i++)
		if (legend[i].shown)
			out_f(out, "%c %s-%" PRId32 " %s\n", letter(i),
			      pass_comm(map->pass, &state->tasks[legend[i].task]), state->tasks[legend[i].task].pid,
			      text_time(text, legend[i].ns));
	out_char(out, '\n');
}
