// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/sqlite_tracks_internal.h"

#include "formats/export/db_internal.h"
#include "lib/base/cleanup.h"
#include "lib/base/u64_map.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/place.h"
#include "lib/event/tasks.h"
#include "lib/names/symbols.h"
#include "lib/state/state.h"
#include "lib/timeline/call_name.h"
#include "lib/timeline/frames.h"
#include "lib/timeline/open_calls.h"
#include "lib/timeline/turns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum role { PART_UNKNOWN, PART_NONE, PART_ENTER, PART_EXIT, PART_BEGIN, PART_END, PART_COUNTER };
enum { NR_PLACES = 2 };

struct type {
	struct place places[NR_PLACES];
	char name[64]; /* name of its slices or counters */
	uint64_t key;  /* key of the pair that it begins or ends */
	struct open_calls_type call;
};

/* A track. Tracks become rows at the end, because rows must come in the order of their numbers. */
struct made {
	char name[64];
	int64_t utid, cpu; /* -1: none */
};

struct sqlite_tracks {
	struct db *db;
	const struct sqlite_tables *tables;
	const struct context *context;
	struct frames *frames;
	struct state state;
	struct turns turns;
	struct open_calls calls;
	int64_t base; /* this buffer's numbers are greater */
	struct made *tracks;
	size_t nr_tracks;
	bool starved;
	struct u64_map types;   /* by event_type::index: struct type */
	struct u64_map utids;   /* by PID: utid + 1 */
	struct u64_map pairs;   /* by CPU and pair: when it began; 0: not known */
	struct u64_map numbers; /* numbers of tracks, by their kind and owner */
	uint8_t roles[EVENT_TYPES_MAX];
};

void sqlite_tables_make(struct sqlite_tables *tables, struct db *db)
{
	tables->thread =
		db_table(db, "thread", "utid INTEGER PRIMARY KEY, tid INTEGER, name TEXT, tgid INTEGER, instance TEXT");
	tables->sched =
		db_table(db, "sched",
			 "ts INTEGER, dur INTEGER, cpu INTEGER, utid INTEGER, end_state TEXT, priority INTEGER, "
			 "instance TEXT");
	tables->state = db_table(db, "thread_state",
				 "ts INTEGER, dur INTEGER, cpu INTEGER, utid INTEGER, state TEXT, waker_utid INTEGER, "
				 "instance TEXT");
	tables->track =
		db_table(db, "track", "id INTEGER PRIMARY KEY, name TEXT, utid INTEGER, cpu INTEGER, instance TEXT");
	tables->slice = db_table(db, "slice",
				 "ts INTEGER, dur INTEGER, track_id INTEGER, name TEXT, depth INTEGER, "
				 "category TEXT, "
				 "instance TEXT");
	tables->counter = db_table(db, "counter", "ts INTEGER, track_id INTEGER, value INTEGER, instance TEXT");
}

/* Writes a number, or NULL for -1. */
static void put_maybe(struct db *db, int64_t number)
{
	if (number >= 0)
		db_s64(db, number);
	else
		db_null(db);
}

static void put_instance(struct sqlite_tracks *tracks)
{
	db_text(tracks->db, tracks->context->instance, strlen(tracks->context->instance));
}

/* The track with this key; a new track is described. */
static int64_t track_of(struct sqlite_tracks *tracks, uint64_t key, const char *name, int64_t utid, int64_t cpu)
{
	int64_t *number = u64_map_add(&tracks->numbers, key);
	struct made *made;

	if (!number)
		return -1;
	if (*number)
		return *number;
	made = vec_push(tracks->tracks, tracks->nr_tracks);
	if (!made) {
		tracks->starved = true;
		return -1;
	}
	*made = (struct made){ .utid = utid, .cpu = cpu };
	snprintf(made->name, sizeof(made->name), "%s", name);
	*number = tracks->base + (int64_t)tracks->nr_tracks;
	return *number;
}

static void put_slice(struct sqlite_tracks *tracks, uint64_t start, int64_t lasted, int64_t track, const char *name,
		      size_t len, int64_t depth, const char *category)
{
	struct db *db = tracks->db;

	db_s64(db, (int64_t)start);
	db_s64(db, lasted);
	db_s64(db, track);
	db_text(db, name, len);
	db_s64(db, depth);
	db_text(db, category, strlen(category));
	put_instance(tracks);
	db_insert(db, tracks->tables->slice);
}

static uint64_t thread_key(int32_t pid)
{
	return UINT64_C(1) << 32 | (uint32_t)pid;
}

static void enter(void *arg, const struct event *event, struct track *track)
{
	(void)arg;
	(void)event;
	(void)track;
}

static void leave(void *arg, uint16_t buffer, struct track *track, uint64_t ts, uint64_t lasted, bool exited)
{
	const struct frame *frame = &track->frames[track->nr_frames - 1];
	struct sqlite_tracks *tracks = arg;
	bool on_cpu = track->interrupt || !track->pid;
	struct symbol symbol;
	char name[32];
	int64_t number;

	(void)buffer;
	(void)ts;
	if (!symbols_find(tracks->context->symbols, frame->func, &symbol)) {
		snprintf(name, sizeof(name), "0x%" PRIx64, frame->func);
		symbol = (struct symbol){ .name = name, .name_len = (uint32_t)strlen(name) };
	}
	if (on_cpu)
		number = track_of(tracks, track->key << 1 | UINT64_C(1) << 40,
				  track->interrupt ? "functions in hard interrupts" : "functions", -1, track->cpu);
	else
		number = track_of(tracks, UINT64_C(5) << 32 | (uint32_t)track->pid, "functions",
				  sqlite_tracks_utid(tracks, track->pid), -1);
	put_slice(tracks, frame->start, exited ? (int64_t)lasted : -1, number, symbol.name, symbol.name_len,
		  frame->depth - (track->interrupt ? track->frames[0].depth : 0), "function");
}

int64_t sqlite_tracks_utid(struct sqlite_tracks *tracks, int32_t pid)
{
	int64_t *utid = u64_map_add(&tracks->utids, (uint32_t)pid);

	if (!utid)
		return -1;
	if (!*utid)
		*utid = tracks->base + (int64_t)tracks->utids.len;
	return *utid;
}

/* The state of a task that has left its CPU, as the kernel prints it: R, R+, S, D... */
static void put_letter(struct db *db, char letter)
{
	const char text[] = { letter == '+' ? 'R' : letter, '+' };

	if (letter)
		db_text(db, text, letter == '+' ? 2 : 1);
	else
		db_null(db);
}

static uint32_t turn_begins(void *arg, uint32_t id)
{
	const struct sqlite_tracks *tracks = arg;

	return (uint32_t)tracks->state.tasks[id].prio;
}

static void put_turn(void *arg, uint32_t cpu, const struct turns_turn *turn, uint64_t to, enum turns_end end)
{
	struct sqlite_tracks *tracks = arg;
	const struct state_task *task = &tracks->state.tasks[turn->task];
	struct db *db = tracks->db;

	db_s64(db, (int64_t)turn->since);
	db_s64(db, end == TURNS_OPEN ? -1 : (int64_t)(to - turn->since));
	db_s64(db, cpu);
	db_s64(db, sqlite_tracks_utid(tracks, task->pid));
	put_letter(db, end != TURNS_KNOWN ? 0 : task->idle ? 'R' : task->letter);
	put_maybe(db, (int32_t)turn->note);
	put_instance(tracks);
	db_insert(db, tracks->tables->sched);
}

static void put_mode(void *arg, const struct turns_mode *mode, uint64_t to, enum turns_end end)
{
	struct sqlite_tracks *tracks = arg;
	const struct state_task *task = &tracks->state.tasks[mode->task];
	bool runs = mode->mode == TASK_RUNNING, woken = mode->mode == TASK_WAKING;
	struct db *db = tracks->db;

	if (task->idle || mode->mode == TASK_NEW || mode->mode == TASK_DEAD)
		return;
	db_s64(db, (int64_t)mode->since);
	db_s64(db, end == TURNS_OPEN ? -1 : (int64_t)(to - mode->since));
	put_maybe(db, runs ? (int64_t)mode->cpu : -1);
	db_s64(db, sqlite_tracks_utid(tracks, task->pid));
	if (runs)
		db_text(db, "Running", 7);
	else
		put_letter(db, woken ? 'R' : mode->letter);
	put_maybe(db, woken && mode->waker > 0 ? sqlite_tracks_utid(tracks, mode->waker) : -1);
	put_instance(tracks);
	db_insert(db, tracks->tables->state);
}

static const struct turns_calls turns_calls = {
	.begin = turn_begins, .turn = put_turn, .mode = put_mode, .one_wait = true
};

struct sqlite_tracks *sqlite_tracks_new(struct db *db, const struct sqlite_tables *tables,
					const struct context *context, int64_t base)
{
	struct sqlite_tracks *tracks = calloc(1, sizeof(*tracks));
	const struct frames_calls calls = { .enter = enter, .leave = leave, .arg = tracks, .late = true };

	if (!tracks)
		return NULL;
	*tracks = (struct sqlite_tracks){ .db = db, .tables = tables, .context = context, .base = base };
	u64_map_init(&tracks->types, sizeof(struct type));
	u64_map_init(&tracks->utids, sizeof(int64_t));
	u64_map_init(&tracks->pairs, sizeof(uint64_t));
	u64_map_init(&tracks->numbers, sizeof(int64_t));
	state_init(&tracks->state, context->preempt_rt);
	state_restrict(&tracks->state, context);
	tracks->turns = (struct turns){ .state = &tracks->state, .calls = turns_calls };
	tracks->turns.calls.arg = tracks;
	open_calls_init(&tracks->calls, context, &tracks->state);
	tracks->frames = frames_new(&calls);
	if (tracks->frames)
		return tracks;
	sqlite_tracks_free(tracks);
	return NULL;
}

void sqlite_tracks_free(struct sqlite_tracks *tracks)
{
	if (!tracks)
		return;
	frames_free(tracks->frames);
	state_release(&tracks->state);
	turns_release(&tracks->turns);
	open_calls_release(&tracks->calls);
	u64_map_release(&tracks->types);
	u64_map_release(&tracks->utids);
	u64_map_release(&tracks->pairs);
	u64_map_release(&tracks->numbers);
	free(tracks->tracks);
	free(tracks);
}

static void see_exit(struct sqlite_tracks *tracks, const struct type *type, const struct event *event)
{
	char text[CALL_NAME];
	const char *name;
	uint64_t start;

	if (!open_calls_exit(&tracks->calls, &type->call, event, &start))
		return;
	name = call_name(tracks->context, &type->places[0], event, text);
	put_slice(tracks, start, (int64_t)(event->ts - start),
		  track_of(tracks, thread_key(event->pid), "system calls", sqlite_tracks_utid(tracks, event->pid), -1),
		  name, strlen(name), 0, "syscall");
}

static uint64_t pair_key(const struct type *type, const struct event *event)
{
	return (uint64_t)event->cpu << 16 | type->key;
}

static void see_end(struct sqlite_tracks *tracks, const struct type *type, const struct event *event)
{
	uint64_t *start = u64_map_find(&tracks->pairs, pair_key(type, event));
	char name[96];

	if (!start || !*start)
		return;
	snprintf(name, sizeof(name), "%s %" PRId64, type->name, place_s64(&type->places[0], event));
	put_slice(tracks, *start, (int64_t)(event->ts - *start),
		  track_of(tracks, type->key << 48 | UINT64_C(2) << 32 | event->cpu, type->name, -1, event->cpu), name,
		  strlen(name), 0, "irq");
	*start = 0;
}

static void see_counter(struct sqlite_tracks *tracks, const struct type *type, const struct event *event)
{
	uint64_t cpu = place_u64(&type->places[1], event);

	db_s64(tracks->db, (int64_t)event->ts);
	db_s64(tracks->db,
	       track_of(tracks, type->key << 48 | UINT64_C(3) << 32 | (uint32_t)cpu, type->name, -1, (int64_t)cpu));
	db_s64(tracks->db, place_s64(&type->places[0], event));
	put_instance(tracks);
	db_insert(tracks->db, tracks->tables->counter);
}

/* Events that these tables are made of. */
static const struct known {
	const char *system, *name;
	enum role role;
	const char *slice;
	const char *fields[NR_PLACES];
} known[] = {
	{ "raw_syscalls", "sys_enter", PART_ENTER, "", { "id" } },
	{ "raw_syscalls", "sys_exit", PART_EXIT, "", { "id" } },
	{ "irq", "irq_handler_entry", PART_BEGIN, "irq", { "irq" } },
	{ "irq", "irq_handler_exit", PART_END, "irq", { "irq" } },
	{ "irq", "softirq_entry", PART_BEGIN, "softirq", { "vec" } },
	{ "irq", "softirq_exit", PART_END, "softirq", { "vec" } },
	{ "power", "cpu_frequency", PART_COUNTER, "cpu_frequency", { "state", "cpu_id" } },
	{ "power", "cpu_idle", PART_COUNTER, "cpu_idle", { "state", "cpu_id" } },
};

static void bind_known(struct sqlite_tracks *tracks, const struct known *entry, const struct format *format,
		       struct type *type)
{
	snprintf(type->name, sizeof(type->name), "%s", entry->slice);
	type->key = (uint64_t)(uint8_t)*entry->slice << 8 | (uint8_t)strlen(entry->slice);
	for (size_t i = 0; i < NR_PLACES && entry->fields[i]; i++)
		(void)place_bind(&type->places[i], format, &tracks->context->abi, entry->fields[i]);
}

static enum role role_of(struct sqlite_tracks *tracks, const struct event_type *event_type)
{
	const struct format *format = event_type->format;
	struct type *type;

	if (!format)
		return PART_NONE;
	for (size_t i = 0; i < array_size(known); i++) {
		if (strcmp(known[i].name, format->name) || strcmp(known[i].system, format->system))
			continue;
		type = u64_map_add(&tracks->types, event_type->index);
		if (!type)
			return PART_NONE;
		bind_known(tracks, &known[i], format, type);
		open_calls_bind(&tracks->calls, format, &type->call);
		return known[i].role;
	}
	if (strcmp(format->system, "syscalls") ||
	    (strncmp(format->name, "sys_enter_", 10) && strncmp(format->name, "sys_exit_", 9)))
		return PART_NONE;
	type = u64_map_add(&tracks->types, event_type->index);
	if (!type)
		return PART_NONE;
	open_calls_bind(&tracks->calls, format, &type->call);
	return format->name[5] == 'n' ? PART_ENTER : PART_EXIT;
}

static void begin(struct u64_map *map, uint64_t key, uint64_t ts)
{
	uint64_t *start = u64_map_add(map, key);

	if (start)
		*start = ts;
}

static void forget_pairs(struct sqlite_tracks *tracks, uint16_t cpu)
{
	uint64_t *start, key;

	for (size_t at = 0; (start = u64_map_next(&tracks->pairs, &at, &key));)
		if (key >> 16 == cpu)
			*start = 0;
}

void sqlite_tracks_see(struct sqlite_tracks *tracks, const struct event *event)
{
	const struct type *type;
	uint8_t *role;

	state_see(&tracks->state, event);
	turns_see(&tracks->turns, event);
	if (frames_see(tracks->frames, event))
		return;
	if (event->kind == EVENT_LOST) {
		forget_pairs(tracks, event->cpu);
		return;
	}
	role = &tracks->roles[event->type->index];
	if (*role == PART_UNKNOWN)
		*role = (uint8_t)role_of(tracks, event->type);
	if (*role == PART_NONE)
		return;
	type = u64_map_find(&tracks->types, event->type->index);
	if (*role == PART_ENTER)
		open_calls_enter(&tracks->calls, &type->call, event);
	else if (*role == PART_EXIT)
		see_exit(tracks, type, event);
	else if (*role == PART_BEGIN)
		begin(&tracks->pairs, pair_key(type, event), event->ts);
	else if (*role == PART_END)
		see_end(tracks, type, event);
	else
		see_counter(tracks, type, event);
}

static void put_threads(struct sqlite_tracks *tracks)
{
	cleanup_free int32_t *pids = calloc(tracks->utids.len + 1, sizeof(*pids));
	struct db *db = tracks->db;
	const int64_t *utid;
	uint64_t pid;

	if (!pids) {
		tracks->starved = true;
		return;
	}
	for (size_t at = 0; (utid = u64_map_next(&tracks->utids, &at, &pid));)
		pids[*utid - tracks->base - 1] = (int32_t)pid;
	for (size_t i = 0; i < tracks->utids.len; i++) {
		struct task_name name = task_name(tracks->context->tasks, pids[i]);
		int32_t tgid = task_tgid(tracks->context->tasks, pids[i]);

		db_null(db);
		db_s64(db, pids[i]);
		db_text(db, name.text, name.len);
		put_maybe(db, tgid ? tgid : -1);
		put_instance(tracks);
		db_insert_at(db, tracks->tables->thread, tracks->base + (int64_t)i + 1);
	}
}

static void put_tracks(struct sqlite_tracks *tracks)
{
	struct db *db = tracks->db;

	for (size_t i = 0; i < tracks->nr_tracks; i++) {
		const struct made *made = &tracks->tracks[i];

		db_null(db);
		db_text(db, made->name, strlen(made->name));
		put_maybe(db, made->utid);
		put_maybe(db, made->cpu);
		put_instance(tracks);
		db_insert_at(db, tracks->tables->track, tracks->base + (int64_t)i + 1);
	}
}

void sqlite_tracks_end(struct sqlite_tracks *tracks, uint64_t ts)
{
	frames_end(tracks->frames, 0, ts);
	turns_end(&tracks->turns);
	put_tracks(tracks);
	put_threads(tracks);
}

bool sqlite_tracks_starved(const struct sqlite_tracks *tracks)
{
	const struct u64_map *const maps[] = { &tracks->types, &tracks->utids, &tracks->pairs, &tracks->numbers,
					       &tracks->calls.calls };

	for (size_t i = 0; i < array_size(maps); i++)
		if (maps[i]->starved)
			return true;
	return tracks->starved || tracks->state.failed || tracks->turns.failed || frames_starved(tracks->frames);
}
