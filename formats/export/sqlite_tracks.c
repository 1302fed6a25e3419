// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/sqlite_tracks.h"

#include "formats/export/call_name.h"
#include "formats/export/db.h"
#include "formats/export/frames.h"
#include "lib/base/cleanup.h"
#include "lib/base/u64_map.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/listed.h"
#include "lib/event/place.h"
#include "lib/event/symbols.h"
#include "lib/event/tasks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum role {
	PART_UNKNOWN,
	PART_NONE,
	PART_SWITCH,
	PART_WAKING,
	PART_ENTER,
	PART_EXIT,
	PART_BEGIN,
	PART_END,
	PART_COUNTER
};
enum { NR_PLACES = 6 };
enum { PREV_PID, PREV_STATE, PREV_PRIO, NEXT_PID, NEXT_PRIO };

struct type {
	struct place places[NR_PLACES];
	char name[64]; /* name of its slices or counters */
	uint64_t key;  /* key of the pair that it begins or ends */
};

struct on_cpu {
	int64_t utid;
	int32_t pid;
	int64_t prio;
	uint64_t since; /* 0: not known */
};

struct off_cpu {
	uint64_t since; /* 0: not known, or on a CPU */
	int64_t waker;  /* utid; -1: none */
	char text[8];
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
	int64_t base; /* this buffer's numbers are greater */
	struct made *tracks;
	size_t nr_tracks;
	bool starved;
	struct u64_map types;   /* by event_type::index: struct type */
	struct u64_map utids;   /* by PID: utid + 1 */
	struct u64_map cpus;    /* struct on_cpu */
	struct u64_map states;  /* by PID: struct off_cpu */
	struct u64_map calls;   /* by PID: when the system call began */
	struct u64_map pairs;   /* by pair and CPU: when it began */
	struct listed listed;   /* of the PID filter: of other tasks no state is known */
	struct u64_map numbers; /* numbers of tracks, by their kind and owner */
	uint8_t roles[EVENT_TYPES_MAX];
};

void sqlite_tables_make(struct sqlite_tables *tables, struct db *db)
{
	tables->thread = db_table(db, "thread", "utid INTEGER PRIMARY KEY, tid INTEGER, name TEXT, tgid INTEGER");
	tables->sched =
		db_table(db, "sched",
			 "ts INTEGER, dur INTEGER, cpu INTEGER, utid INTEGER, end_state TEXT, priority INTEGER");
	tables->state = db_table(db, "thread_state",
				 "ts INTEGER, dur INTEGER, cpu INTEGER, utid INTEGER, state TEXT, waker_utid INTEGER");
	tables->track = db_table(db, "track", "id INTEGER PRIMARY KEY, name TEXT, utid INTEGER, cpu INTEGER");
	tables->slice = db_table(db, "slice",
				 "ts INTEGER, dur INTEGER, track_id INTEGER, name TEXT, depth INTEGER, category TEXT");
	tables->counter = db_table(db, "counter", "ts INTEGER, track_id INTEGER, value INTEGER");
}

/* Writes a number, or NULL for -1. */
static void put_maybe(struct db *db, int64_t number)
{
	if (number >= 0)
		db_s64(db, number);
	else
		db_null(db);
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
		  (int64_t)track->nr_frames - 1, "function");
}

struct sqlite_tracks *sqlite_tracks_new(struct db *db, const struct sqlite_tables *tables,
					const struct context *context, int64_t base)
{
	struct sqlite_tracks *tracks = calloc(1, sizeof(*tracks));
	const struct frames_calls calls = { .enter = enter, .leave = leave, .arg = tracks };

	if (!tracks)
		return NULL;
	*tracks = (struct sqlite_tracks){ .db = db, .tables = tables, .context = context, .base = base };
	u64_map_init(&tracks->types, sizeof(struct type));
	u64_map_init(&tracks->utids, sizeof(int64_t));
	u64_map_init(&tracks->cpus, sizeof(struct on_cpu));
	u64_map_init(&tracks->states, sizeof(struct off_cpu));
	u64_map_init(&tracks->calls, sizeof(uint64_t));
	u64_map_init(&tracks->pairs, sizeof(uint64_t));
	u64_map_init(&tracks->numbers, sizeof(int64_t));
	listed_init(&tracks->listed, &context->abi);
	listed_add(&tracks->listed, context);
	tracks->frames = frames_new(&context->abi, &calls);
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
	u64_map_release(&tracks->types);
	u64_map_release(&tracks->utids);
	u64_map_release(&tracks->cpus);
	u64_map_release(&tracks->states);
	u64_map_release(&tracks->calls);
	u64_map_release(&tracks->pairs);
	u64_map_release(&tracks->numbers);
	listed_release(&tracks->listed);
	free(tracks->tracks);
	free(tracks);
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

/* The letters of the kernel's print fmt (include/trace/events/sched.h), of 4.14 and later; the lowest state counts. */
static void state_text(uint64_t state, char ret[8])
{
	static const char letters[] = "SDTtXZPI";
	char *at = ret;

	if (!(state & 0xff))
		*at++ = 'R';
	for (unsigned i = 0; i < 8; i++)
		if (state >> i & 1) {
			*at++ = letters[i];
			break;
		}
	if (state & 0x100)
		*at++ = '+';
	*at = '\0';
}

static void put_state(struct sqlite_tracks *tracks, uint64_t start, int64_t lasted, int64_t cpu, int64_t utid,
		      const char *state, int64_t waker)
{
	struct db *db = tracks->db;

	db_s64(db, (int64_t)start);
	db_s64(db, lasted);
	put_maybe(db, cpu);
	db_s64(db, utid);
	db_text(db, state, strlen(state));
	put_maybe(db, waker);
	db_insert(db, tracks->tables->state);
}

static void put_turn(struct sqlite_tracks *tracks, const struct on_cpu *turn, uint16_t cpu, int64_t lasted,
		     const char *end)
{
	struct db *db = tracks->db;

	db_s64(db, (int64_t)turn->since);
	db_s64(db, lasted);
	db_s64(db, cpu);
	db_s64(db, turn->utid);
	if (end)
		db_text(db, end, strlen(end));
	else
		db_null(db);
	db_s64(db, turn->prio);
	db_insert(db, tracks->tables->sched);
	if (turn->utid != sqlite_tracks_utid(tracks, 0))
		put_state(tracks, turn->since, lasted, cpu, turn->utid, "Running", -1);
}

static void see_switch(struct sqlite_tracks *tracks, const struct type *type, const struct event *event)
{
	int32_t prev = (int32_t)place_u64(&type->places[PREV_PID], event),
		next = (int32_t)place_u64(&type->places[NEXT_PID], event);
	struct on_cpu *turn = u64_map_add(&tracks->cpus, event->cpu);
	struct off_cpu *state;
	char end[8];

	state_text(place_u64(&type->places[PREV_STATE], event), end);
	if (turn && turn->since && turn->utid == sqlite_tracks_utid(tracks, prev) && listed_has(&tracks->listed, prev))
		put_turn(tracks, turn, event->cpu, (int64_t)(event->ts - turn->since), end);
	if (turn)
		*turn = (struct on_cpu){ .utid = sqlite_tracks_utid(tracks, next),
					 .pid = next,
					 .prio = place_s64(&type->places[NEXT_PRIO], event),
					 .since = event->ts };
	state = next ? u64_map_find(&tracks->states, (uint32_t)next) : NULL;
	if (state && state->since) {
		put_state(tracks, state->since, (int64_t)(event->ts - state->since), -1,
			  sqlite_tracks_utid(tracks, next), state->text, state->waker);
		state->since = 0;
	}
	state = prev && listed_has(&tracks->listed, prev) ? u64_map_add(&tracks->states, (uint32_t)prev) : NULL;
	if (state) {
		*state = (struct off_cpu){ .since = event->ts, .waker = -1 };
		memcpy(state->text, end, sizeof(end));
	}
}

/* A task that slept is runnable from its waking on. */
static void see_waking(struct sqlite_tracks *tracks, const struct type *type, const struct event *event)
{
	int32_t pid = (int32_t)place_u64(&type->places[0], event);
	struct off_cpu *state = u64_map_find(&tracks->states, (uint32_t)pid);

	if (!state || !state->since || *state->text == 'R')
		return;
	put_state(tracks, state->since, (int64_t)(event->ts - state->since), -1, sqlite_tracks_utid(tracks, pid),
		  state->text, -1);
	*state = (struct off_cpu){ .since = event->ts, .waker = sqlite_tracks_utid(tracks, event->pid), .text = "R" };
}

static void see_exit(struct sqlite_tracks *tracks, const struct type *type, const struct event *event)
{
	uint64_t *start = u64_map_find(&tracks->calls, (uint32_t)event->pid);
	char text[CALL_NAME];
	const char *name;

	if (!start || !*start)
		return;
	name = call_name(tracks->context, &type->places[0], event, text);
	put_slice(tracks, *start, (int64_t)(event->ts - *start),
		  track_of(tracks, thread_key(event->pid), "system calls", sqlite_tracks_utid(tracks, event->pid), -1),
		  name, strlen(name), 0, "syscall");
	*start = 0;
}

static void see_end(struct sqlite_tracks *tracks, const struct type *type, const struct event *event)
{
	uint64_t *start = u64_map_find(&tracks->pairs, type->key << 16 | event->cpu);
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
	db_insert(tracks->db, tracks->tables->counter);
}

/* Events that these tables are made of. */
static const struct known {
	const char *system, *name;
	enum role role;
	const char *slice;
	const char *fields[NR_PLACES];
} known[] = {
	{ "sched",
	  "sched_switch",
	  PART_SWITCH,
	  "",
	  { "prev_pid", "prev_state", "prev_prio", "next_pid", "next_prio" } },
	{ "sched", "sched_waking", PART_WAKING, "", { "pid" } },
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
		return known[i].role;
	}
	if (strcmp(format->system, "syscalls") ||
	    (strncmp(format->name, "sys_enter_", 10) && strncmp(format->name, "sys_exit_", 9)))
		return PART_NONE;
	if (!u64_map_add(&tracks->types, event_type->index))
		return PART_NONE;
	return format->name[5] == 'n' ? PART_ENTER : PART_EXIT;
}

static void begin(struct u64_map *map, uint64_t key, uint64_t ts)
{
	uint64_t *start = u64_map_add(map, key);

	if (start)
		*start = ts;
}

void sqlite_tracks_see(struct sqlite_tracks *tracks, const struct event *event)
{
	const struct type *type;
	uint8_t *role;

	if (frames_see(tracks->frames, event))
		return;
	if (event->kind == EVENT_LOST) {
		u64_map_clear(&tracks->cpus);
		u64_map_clear(&tracks->states);
		u64_map_clear(&tracks->calls);
		u64_map_clear(&tracks->pairs);
		return;
	}
	if (tracks->listed.filtered)
		listed_see(&tracks->listed, event);
	role = &tracks->roles[event->type->index];
	if (*role == PART_UNKNOWN)
		*role = (uint8_t)role_of(tracks, event->type);
	if (*role == PART_NONE)
		return;
	type = u64_map_find(&tracks->types, event->type->index);
	if (*role == PART_SWITCH)
		see_switch(tracks, type, event);
	else if (*role == PART_WAKING)
		see_waking(tracks, type, event);
	else if (*role == PART_ENTER)
		begin(&tracks->calls, (uint32_t)event->pid, event->ts);
	else if (*role == PART_EXIT)
		see_exit(tracks, type, event);
	else if (*role == PART_BEGIN)
		begin(&tracks->pairs, type->key << 16 | event->cpu, event->ts);
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
		db_insert_at(db, tracks->tables->track, tracks->base + (int64_t)i + 1);
	}
}

void sqlite_tracks_end(struct sqlite_tracks *tracks, uint64_t ts)
{
	struct on_cpu *turn;
	struct off_cpu *state;
	uint64_t key;

	frames_end(tracks->frames, 0, ts);
	for (size_t at = 0; (turn = u64_map_next(&tracks->cpus, &at, &key));)
		if (turn->since && listed_has(&tracks->listed, turn->pid))
			put_turn(tracks, turn, (uint16_t)key, -1, NULL);
	for (size_t at = 0; (state = u64_map_next(&tracks->states, &at, &key));)
		if (state->since)
			put_state(tracks, state->since, -1, -1, sqlite_tracks_utid(tracks, (int32_t)key), state->text,
				  state->waker);
	put_tracks(tracks);
	put_threads(tracks);
}

bool sqlite_tracks_starved(const struct sqlite_tracks *tracks)
{
	const struct u64_map *const maps[] = { &tracks->types, &tracks->utids, &tracks->cpus,   &tracks->states,
					       &tracks->calls, &tracks->pairs, &tracks->numbers };

	for (size_t i = 0; i < array_size(maps); i++)
		if (maps[i]->starved)
			return true;
	return tracks->starved || tracks->listed.failed || frames_starved(tracks->frames);
}
