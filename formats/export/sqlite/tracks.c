// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/sqlite/tracks_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/sqlite/db_internal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/timeline/path.h"
#include "lib/meaning/timeline/timeline.h"

/* A track. Tracks become rows at the end, because rows must come in the order of their numbers. */
struct made {
	char name[64];
	int64_t utid, cpu; /* -1: none */
};

struct sqlite_tracks {
	struct db *db;
	const struct sqlite_tables *tables;
	const struct context *context;
	struct timeline *timeline;
	int64_t base; /* this buffer's numbers are greater */
	struct made *tracks;
	size_t nr_tracks;
	bool starved;
	struct u64_map utids;   /* by PID: utid + 1 */
	struct u64_map numbers; /* numbers of tracks, by their kind and owner */
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
	tables->mark = db_table(db, "mark",
				"ts INTEGER, dur INTEGER, name TEXT, kind TEXT, utid INTEGER, tgid INTEGER, "
				"track_id INTEGER, track TEXT, depth INTEGER, cookie INTEGER, end TEXT, "
				"instance TEXT");
	tables->who = db_table(db, "who",
			       "utid INTEGER, ts INTEGER, dur INTEGER, tgid INTEGER, process TEXT, program TEXT, "
			       "unit TEXT, container TEXT, pod TEXT, cgroup TEXT, user TEXT, instance TEXT");
	/* What each thread was doing, by whom it belonged to then; a state that is open ends with the recording. */
	db_view(db, "who_state",
		"SELECT max(s.ts, w.ts) AS ts, min(coalesce(s.ts + s.dur, w.ts + w.dur), "
		"w.ts + w.dur) - max(s.ts, w.ts) AS dur, s.cpu, s.utid, s.state, w.tgid, w.process, w.program, "
		"w.unit, w.container, w.pod, w.cgroup, w.user, s.instance FROM thread_state AS s JOIN who AS w "
		"ON w.utid = s.utid AND w.ts + w.dur > s.ts AND w.ts < coalesce(s.ts + s.dur, w.ts + w.dur)");
	tables->counter = db_table(db, "counter", "ts INTEGER, track_id INTEGER, value INTEGER, instance TEXT");
	tables->why = db_table(db, "why",
			       "id INTEGER PRIMARY KEY, kind TEXT, name TEXT, utid INTEGER, ts INTEGER, dur INTEGER, "
			       "unknown INTEGER");
	tables->why_link = db_table(db, "why_link",
				    "why_id INTEGER, seq INTEGER, ts INTEGER, dur INTEGER, depth INTEGER, "
				    "utid INTEGER, task TEXT, state TEXT, cause TEXT, chain TEXT");
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

static void put_slice(struct sqlite_tracks *tracks, const struct timeline_slice *slice, int64_t lasted, int64_t track,
		      const char *name, int64_t depth, const char *category)
{
	struct db *db = tracks->db;
	char text[TIMELINE_NAME];
	size_t len = name ? strlen(name) : 0;

	if (!name)
		name = timeline_name(tracks->timeline, slice, text, &len);
	db_s64(db, (int64_t)slice->start);
	put_maybe(db, lasted);
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

static void put_function(struct sqlite_tracks *tracks, const struct timeline_slice *slice)
{
	const struct track *track = slice->track;
	const struct frame *frame = &track->frames[track->nr_frames - 1];
	int64_t number;

	if (track->interrupt || !track->pid)
		number = track_of(tracks, track->key << 1 | UINT64_C(1) << 40,
				  track->interrupt ? "functions in hard interrupts" : "functions", -1, track->cpu);
	else
		number = track_of(tracks, UINT64_C(5) << 32 | (uint32_t)track->pid, "functions",
				  sqlite_tracks_utid(tracks, track->pid), -1);
	put_slice(tracks, slice, slice->exited ? (int64_t)slice->lasted : -1, number, NULL,
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

static const struct state_task *task_of(const struct sqlite_tracks *tracks, uint32_t id)
{
	return &timeline_state(tracks->timeline)->tasks[id];
}

static uint32_t note_priority(void *arg, uint32_t id)
{
	return (uint32_t)task_of(arg, id)->prio;
}

/* -1: what did not end in the file, which is NULL, so that sum() and max() leave it out. */
static int64_t lasted_of(const struct timeline_slice *slice)
{
	return slice->end == RUNS_OPEN ? -1 : (int64_t)(slice->to - slice->start);
}

static void put_run(struct sqlite_tracks *tracks, const struct timeline_slice *slice)
{
	const struct state_task *task = task_of(tracks, slice->task);
	struct db *db = tracks->db;

	db_s64(db, (int64_t)slice->start);
	put_maybe(db, lasted_of(slice));
	db_s64(db, slice->cpu);
	db_s64(db, sqlite_tracks_utid(tracks, task->pid));
	put_letter(db, slice->end != RUNS_KNOWN || slice->cut ? 0 : task->idle ? 'R' : task->letter);
	put_maybe(db, (int32_t)slice->note);
	put_instance(tracks);
	db_insert(db, tracks->tables->sched);
}

static void put_state(struct sqlite_tracks *tracks, const struct timeline_slice *slice)
{
	const struct state_task *task = task_of(tracks, slice->task);
	const struct runs_mode *mode = slice->mode;
	bool runs = mode->mode == TASK_RUNNING, woken = mode->mode == TASK_WAKING;
	struct db *db = tracks->db;

	if (task->idle || mode->mode == TASK_NEW || mode->mode == TASK_DEAD)
		return;
	db_s64(db, (int64_t)slice->start);
	put_maybe(db, lasted_of(slice));
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

static void put_call(struct sqlite_tracks *tracks, const struct timeline_slice *slice)
{
	put_slice(tracks, slice, lasted_of(slice),
		  track_of(tracks, thread_key(slice->pid), "system calls", sqlite_tracks_utid(tracks, slice->pid), -1),
		  NULL, 0, "syscall");
}

/* A track for each CPU and kind: "irq", "softirq", "cpu_idle". */
static int64_t cpu_track(struct sqlite_tracks *tracks, uint64_t what, const char *name, uint32_t cpu)
{
	uint64_t key = (uint64_t)(uint8_t)*name << 8 | (uint8_t)strlen(name);

	return track_of(tracks, key << 48 | what << 32 | cpu, name, -1, cpu);
}

static void put_interrupt(struct sqlite_tracks *tracks, const struct timeline_slice *slice)
{
	const char *kind = slice->kind == TIMELINE_IRQ ? "irq" : "softirq";
	char name[96];

	snprintf(name, sizeof(name), "%s %" PRId64, kind, slice->number);
	put_slice(tracks, slice, lasted_of(slice), cpu_track(tracks, 2, kind, slice->cpu), name, 0, "irq");
}

/* The track of what has a text for a name, and an owner: a process, a task or a CPU. */
static int64_t named_track(struct sqlite_tracks *tracks, uint64_t what, const char *name, size_t len, uint64_t owner,
			   uint64_t part, int64_t utid, int64_t cpu)
{
	uint64_t key = (owner ^ part << 32 ^ what << 60) * UINT64_C(0x9e3779b97f4a7c15) | UINT64_C(1) << 63;
	char text[sizeof(((struct made *)0)->name)];

	snprintf(text, sizeof(text), "%.*s", len < sizeof(text) ? (int)len : (int)sizeof(text) - 1, name);
	return track_of(tracks, key, text, utid, cpu);
}

static const char *const mark_kinds[] = {
	[TIMELINE_MARK] = "span", [TIMELINE_ASYNC] = "async", [TIMELINE_INSTANT] = "instant"
};

static void put_mark(struct sqlite_tracks *tracks, const struct timeline_slice *slice)
{
	const char *name = slice->of_track ? slice->of_track : slice->stem;
	size_t len = slice->of_track ? slice->of_track_len : slice->stem_len;
	bool of_process = slice->kind == TIMELINE_ASYNC || slice->of_track;
	struct db *db = tracks->db;
	int64_t process = sqlite_tracks_utid(tracks, (int32_t)slice->owner);
	int64_t track = of_process ? named_track(tracks, 1, name, len, slice->owner, slice->part, process, -1) :
				     named_track(tracks, 2, "marks", 5, (uint32_t)slice->pid, 0,
						 sqlite_tracks_utid(tracks, slice->pid), -1);

	put_slice(tracks, slice, lasted_of(slice), track, NULL, slice->depth, "mark");
	db_s64(db, (int64_t)slice->start);
	put_maybe(db, lasted_of(slice));
	db_text(db, slice->stem, slice->stem_len);
	db_text(db, mark_kinds[slice->kind], strlen(mark_kinds[slice->kind]));
	db_s64(db, sqlite_tracks_utid(tracks, slice->pid));
	db_s64(db, (int64_t)slice->owner);
	db_s64(db, track);
	if (of_process)
		db_text(db, name, len);
	else
		db_null(db);
	db_s64(db, slice->depth);
	if (slice->kind == TIMELINE_ASYNC)
		db_s64(db, slice->number);
	else
		db_null(db);
	if (slice->end != RUNS_KNOWN)
		db_text(db, slice->end == RUNS_LOST ? "lost" : "open", 4);
	else
		db_null(db);
	put_instance(tracks);
	db_insert(db, tracks->tables->mark);
}

static void put_pair(struct sqlite_tracks *tracks, const struct timeline_slice *slice)
{
	char name[64];
	int len = snprintf(name, sizeof(name), "%.24s:%.*s", slice->system,
			   slice->stem_len < 36 ? (int)slice->stem_len : 36, slice->stem);
	uint64_t part = 0;

	for (int i = 0; i < len; i++)
		part = part * 31 + (uint8_t)name[i];
	put_slice(tracks, slice, lasted_of(slice),
		  named_track(tracks, 3, name, (size_t)len, slice->of_task ? (uint32_t)slice->pid : slice->cpu,
			      part << 1 | slice->of_task, slice->of_task ? sqlite_tracks_utid(tracks, slice->pid) : -1,
			      slice->on_cpu ? (int64_t)slice->cpu : -1),
		  NULL, 0, "pair");
}

static void put_counter(struct sqlite_tracks *tracks, const struct timeline_slice *slice)
{
	char text[TIMELINE_NAME];
	size_t len;

	if (slice->counter == TIMELINE_MEMORY)
		return;
	db_s64(tracks->db, (int64_t)slice->start);
	if (slice->counter == TIMELINE_MARKED)
		db_s64(tracks->db, named_track(tracks, 4, slice->stem, slice->stem_len, slice->owner, slice->part,
					       sqlite_tracks_utid(tracks, (int32_t)slice->owner), -1));
	else
		db_s64(tracks->db,
		       cpu_track(tracks, 3, timeline_name(tracks->timeline, slice, text, &len), slice->cpu));
	db_s64(tracks->db, slice->number);
	put_instance(tracks);
	db_insert(tracks->db, tracks->tables->counter);
}

static void put(void *arg, const struct timeline_slice *slice)
{
	switch (slice->kind) {
	case TIMELINE_RUN:
		put_run(arg, slice);
		break;
	case TIMELINE_STATE:
		put_state(arg, slice);
		break;
	case TIMELINE_CALL:
		put_call(arg, slice);
		break;
	case TIMELINE_IRQ:
	case TIMELINE_SOFTIRQ:
		put_interrupt(arg, slice);
		break;
	case TIMELINE_FUNCTION:
		put_function(arg, slice);
		break;
	case TIMELINE_COUNTER:
		put_counter(arg, slice);
		break;
	case TIMELINE_MARK:
	case TIMELINE_ASYNC:
	case TIMELINE_INSTANT:
		put_mark(arg, slice);
		break;
	case TIMELINE_PAIR:
		put_pair(arg, slice);
		break;
	case TIMELINE_TASKLET:
	case TIMELINE_VECTOR:
	case TIMELINE_LOSS:
		break;
	}
}

struct sqlite_tracks *sqlite_tracks_new(struct db *db, const struct sqlite_tables *tables,
					const struct context *context, uint16_t buffer, struct selection *chosen)
{
	struct sqlite_tracks *tracks = calloc(1, sizeof(*tracks));
	const struct timeline_calls calls = {
		.arg = tracks,
		.wanted = 1 << TIMELINE_RUN | 1 << TIMELINE_STATE | 1 << TIMELINE_CALL | 1 << TIMELINE_IRQ |
			  1 << TIMELINE_SOFTIRQ | 1 << TIMELINE_FUNCTION | 1 << TIMELINE_COUNTER | 1 << TIMELINE_MARK |
			  1 << TIMELINE_ASYNC | 1 << TIMELINE_INSTANT | 1 << TIMELINE_PAIR,
		.slice = put,
		.begin = note_priority,
		.one_wait = true,
	};

	if (!tracks)
		return NULL;
	*tracks =
		(struct sqlite_tracks){ .db = db, .tables = tables, .context = context, .base = (int64_t)buffer << 32 };
	u64_map_init(&tracks->utids, sizeof(int64_t));
	u64_map_init(&tracks->numbers, sizeof(int64_t));
	tracks->timeline = timeline_new(&calls, context->preempt_rt);
	if (tracks->timeline && timeline_add(tracks->timeline, buffer, context)) {
		timeline_choose(tracks->timeline, buffer, chosen);
		return tracks;
	}
	sqlite_tracks_free(tracks);
	return NULL;
}

void sqlite_tracks_free(struct sqlite_tracks *tracks)
{
	if (!tracks)
		return;
	timeline_free(tracks->timeline);
	u64_map_release(&tracks->utids);
	u64_map_release(&tracks->numbers);
	free(tracks->tracks);
	free(tracks);
}

void sqlite_tracks_see(struct sqlite_tracks *tracks, const struct export *export, const struct event *event)
{
	(void)export_see(export, tracks->timeline, event);
}

/* A row for each time during which nothing changed. */
static void put_who(struct sqlite_tracks *tracks, int32_t pid, int64_t utid, uint64_t first, uint64_t last)
{
	struct db *db = tracks->db;
	struct export_who who;

	for (uint64_t at = first; at < last; at = who.until) {
		export_who_at(tracks->context, pid, at, last, &who);
		db_s64(db, utid);
		db_s64(db, (int64_t)at);
		db_s64(db, (int64_t)(who.until - at));
		put_maybe(db, who.tgid ? who.tgid : -1);
		for (enum who_part part = 0; part < WHO_PARTS; part++) {
			if (who.texts[part])
				db_text(db, who.texts[part], strlen(who.texts[part]));
			else
				db_null(db);
		}
		put_instance(tracks);
		db_insert(db, tracks->tables->who);
	}
}

static void put_threads(struct sqlite_tracks *tracks, uint64_t first, uint64_t last)
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
		struct task_name name = context_comm(tracks->context, pids[i], COMMS_LAST);
		int32_t tgid = who_process(tracks->context, pids[i], UINT64_MAX, NULL);

		db_null(db);
		db_s64(db, pids[i]);
		db_text(db, name.text, name.len);
		put_maybe(db, tgid ? tgid : -1);
		put_instance(tracks);
		db_insert_at(db, tracks->tables->thread, tracks->base + (int64_t)i + 1);
	}
	for (size_t i = 0; i < tracks->utids.len; i++)
		if (pids[i])
			put_who(tracks, pids[i], tracks->base + (int64_t)i + 1, first, last);
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

static void put_text(struct db *db, const char *text)
{
	db_text(db, text, strlen(text));
}

static void put_utid(struct sqlite_tracks *tracks, int32_t pid)
{
	if (pid > 0)
		db_s64(tracks->db, sqlite_tracks_utid(tracks, pid));
	else
		db_null(tracks->db);
}

/* "deploy-7 < confd-8": the second one is waited for. */
static void put_chain(struct db *db, const struct path_link *link)
{
	char text[1024];
	size_t len = 0;

	for (unsigned i = 0; i < link->nr_chain && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.32s-%" PRId32, i ? " < " : "",
					*link->chain[i].comm ? link->chain[i].comm : "<...>", link->chain[i].pid);
	db_text(db, text, len < sizeof(text) ? len : sizeof(text) - 1);
}

void sqlite_tracks_why(struct sqlite_tracks *tracks, const struct path *path, int64_t number)
{
	struct db *db = tracks->db;

	db_null(db);
	put_text(db, path->kind);
	put_text(db, path->name);
	put_utid(tracks, path->task.pid);
	db_s64(db, (int64_t)path->from);
	db_s64(db, (int64_t)(path->to - path->from));
	db_s64(db, (int64_t)path->unknown);
	db_insert_at(db, tracks->tables->why, number);
	for (size_t i = 0; i < path->nr_links; i++) {
		const struct path_link *link = &path->links[i];

		db_s64(db, number);
		db_s64(db, (int64_t)i);
		db_s64(db, (int64_t)link->from);
		db_s64(db, (int64_t)(link->to - link->from));
		db_s64(db, link->depth);
		put_utid(tracks, link->task.pid);
		put_text(db, link->task.comm);
		put_text(db, link->state);
		put_text(db, link->cause);
		put_chain(db, link);
		db_insert(db, tracks->tables->why_link);
	}
}

void sqlite_tracks_end(struct sqlite_tracks *tracks, uint64_t first, uint64_t last)
{
	timeline_end(tracks->timeline, last);
	put_tracks(tracks);
	put_threads(tracks, first, last);
}

bool sqlite_tracks_starved(const struct sqlite_tracks *tracks)
{
	return tracks->starved || tracks->utids.starved || tracks->numbers.starved ||
	       timeline_starved(tracks->timeline);
}
