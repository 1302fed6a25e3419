// SPDX-License-Identifier: GPL-2.0-only
#include "lib/event/lives.h"

#include "lib/base/u64_map.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"
#include "lib/event/place.h"

#include <stdlib.h>
#include <string.h>

enum { PID, NAME, OTHER, NR_PLACES };

/* An event about tasks, and its fields. */
struct teller {
	const char *system, *event;
	enum life_what what;
	const char *fields[NR_PLACES]; /* NULL: the event has no such field */
};

static const struct teller tellers[] = {
	{ "sched", "sched_process_fork", LIFE_FORKED, { "child_pid", "child_comm", "parent_pid" } },
	{ "task", "task_newtask", LIFE_FORKED, { "pid", "comm", NULL } },
	{ "sched", "sched_process_exec", LIFE_EXECED, { "pid", "filename", "old_pid" } },
	{ "task", "task_rename", LIFE_RENAMED, { "pid", "newcomm", "oldcomm" } },
	{ "sched", "sched_process_exit", LIFE_EXITED, { "pid", "comm", NULL } },
};

struct type {
	const struct teller *teller;
	struct place places[NR_PLACES];
};

struct life {
	struct life_step *steps;
	size_t nr_steps;
};

enum { TYPE_UNKNOWN, TYPE_TELLS, TYPE_SILENT };

struct lives {
	const struct schema_abi *abi;
	uint8_t known[EVENT_TYPES_MAX]; /* by event_type::index: TYPE_* */
	struct u64_map types;           /* by event_type::index: struct type, for events about tasks */
	struct u64_map tasks;           /* by PID: struct life */
	bool failed;
};

struct lives *lives_new(const struct schema_abi *abi)
{
	struct lives *lives = calloc(1, sizeof(*lives));

	if (!lives)
		return NULL;
	lives->abi = abi;
	u64_map_init(&lives->types, sizeof(struct type));
	u64_map_init(&lives->tasks, sizeof(struct life));
	return lives;
}

void lives_free(struct lives *lives)
{
	struct life *life;
	uint64_t pid;
	size_t at = 0;

	if (!lives)
		return;
	while ((life = u64_map_next(&lives->tasks, &at, &pid)))
		free(life->steps);
	u64_map_release(&lives->types);
	u64_map_release(&lives->tasks);
	free(lives);
}

static bool type_bind(struct lives *lives, const struct event_type *event_type)
{
	const struct format *format = event_type->format;
	const struct teller *teller = NULL;
	struct type *type;

	for (size_t i = 0; format && i < array_size(tellers); i++)
		if (!strcmp(format->name, tellers[i].event) && !strcmp(format->system, tellers[i].system))
			teller = &tellers[i];
	if (!teller)
		return false;
	type = u64_map_add(&lives->types, event_type->index);
	if (!type) {
		lives->failed = true;
		return false;
	}
	type->teller = teller;
	for (size_t i = 0; i < NR_PLACES; i++)
		if (teller->fields[i])
			(void)place_bind(&type->places[i], format, lives->abi, teller->fields[i]);
	return type->places[PID].size;
}

static void take_name(const struct place *place, const struct event *event, char name[LIFE_NAME])
{
	const char *text, *slash;
	size_t len;

	if (!place_string(place, event, &text, &len))
		return;
	/*
	 * The last part of a path, like begin_new_exec(); the kernel treats a '/' in other names as a normal character.
	 */
	slash = place->field->flags & FIELD_DYNAMIC ? memrchr(text, '/', len) : NULL;
	if (slash) {
		len -= (size_t)(slash + 1 - text);
		text = slash + 1;
	}
	if (len > LIFE_NAME - 1)
		len = LIFE_NAME - 1;
	memcpy(name, text, len);
	name[len] = '\0';
}

static struct life_step *step_add(struct lives *lives, int32_t pid)
{
	struct life *life = u64_map_add(&lives->tasks, (uint32_t)pid);
	struct life_step *step = life ? vec_push(life->steps, life->nr_steps) : NULL;

	lives->failed |= !step;
	return step;
}

/* sched_process_fork and task_newtask report the same fork; if both are recorded, the second one is ignored. */
static bool is_told(const struct lives *lives, int32_t pid, enum life_what what)
{
	const struct life *life = u64_map_find(&lives->tasks, (uint32_t)pid);

	return what == LIFE_FORKED && life && life->nr_steps && life->steps[life->nr_steps - 1].what == LIFE_FORKED;
}

/* The thread that calls exec takes over its group's PID, and its own ends. */
static void end_thread(struct lives *lives, const struct type *type, const struct event *event, int32_t pid)
{
	int32_t old = type->places[OTHER].size ? (int32_t)place_u64(&type->places[OTHER], event) : pid;
	struct life_step *step = old != pid ? step_add(lives, old) : NULL;

	if (step)
		*step = (struct life_step){ .ts = event->ts, .what = LIFE_EXITED };
}

static void tell(struct lives *lives, const struct type *type, const struct event *event)
{
	int32_t pid = (int32_t)place_u64(&type->places[PID], event);
	enum life_what what = type->teller->what;
	struct life_step *step = is_told(lives, pid, what) ? NULL : step_add(lives, pid);

	if (!step)
		return;
	*step = (struct life_step){ .ts = event->ts, .what = (uint8_t)what };
	take_name(&type->places[NAME], event, step->name);
	if (what == LIFE_RENAMED)
		take_name(&type->places[OTHER], event, step->before);
	else if (what == LIFE_FORKED)
		step->other = type->places[OTHER].size ? (int32_t)place_u64(&type->places[OTHER], event) : event->pid;
	else if (what == LIFE_EXECED)
		end_thread(lives, type, event, pid);
}

void lives_see(struct lives *lives, const struct event *event)
{
	uint8_t *known;

	if (event->kind != EVENT_RECORD)
		return;
	known = &lives->known[event->type->index];
	if (*known == TYPE_UNKNOWN)
		*known = type_bind(lives, event->type) ? TYPE_TELLS : TYPE_SILENT;
	if (*known == TYPE_TELLS)
		tell(lives, u64_map_find(&lives->types, event->type->index), event);
}

const struct life_step *lives_step(const struct lives *lives, int32_t pid, size_t index)
{
	const struct life *life = u64_map_find(&lives->tasks, (uint32_t)pid);

	return life && index < life->nr_steps ? &life->steps[index] : NULL;
}

/* The name before a step, from that step itself. */
static const char *name_before(const struct life_step *step)
{
	if (step->what == LIFE_RENAMED)
		return *step->before ? step->before : NULL;
	return step->what == LIFE_EXITED && *step->name ? step->name : NULL;
}

const char *lives_name(const struct lives *lives, int32_t pid, uint64_t ts)
{
	const struct life *life = u64_map_find(&lives->tasks, (uint32_t)pid);
	const struct life_step *last;
	size_t after = 0;

	while (life && after < life->nr_steps && life->steps[after].ts <= ts)
		after++;
	if (!after)
		return life && life->nr_steps ? name_before(&life->steps[0]) : NULL;
	last = &life->steps[after - 1];
	if (!*last->name || (last->what == LIFE_EXITED && last->ts < ts))
		return NULL;
	return last->name;
}

bool lives_failed(const struct lives *lives)
{
	return lives->failed;
}
