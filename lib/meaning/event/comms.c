// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/comms.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/place.h"
#include "lib/pages/trace/trace.h"

enum { BATCH = 256, TOLD_MAX = 1 << 24, PAIRS = 2, NAMES_BLOCK = 1 << 14, NAMES_MAX = 1 << 30, NAMES_LIVE = 32 << 20 };

/* Where an event has a PID and the name that this task has from then on. */
struct naming_pair {
	const char *pid, *comm;
	bool begins; /* another task had this PID before, or the task another name */
};

/* An event without a field for the PID is about the current task. */
static const struct naming {
	const char *system, *name; /* name NULL: the other events of the system */
	struct naming_pair pairs[PAIRS];
	bool beside; /* lib/meaning/state does not read it */
} namings[] = {
	{ "sched", "sched_switch", { { "prev_pid", "prev_comm", false }, { "next_pid", "next_comm", false } }, false },
	{ "sched",
	  "sched_process_fork",
	  { { "parent_pid", "parent_comm", false }, { "child_pid", "child_comm", true } },
	  false },
	{ "sched", "sched_process_exec", { { "pid", "filename", true } }, false },
	{ "sched", "sched_waking", { { "pid", "comm", false } }, false },
	{ "sched", "sched_wakeup", { { "pid", "comm", false } }, false },
	{ "sched", "sched_wakeup_new", { { "pid", "comm", false } }, false },
	{ "sched", "sched_migrate_task", { { "pid", "comm", false } }, false },
	{ "sched", NULL, { { "pid", "comm", false } }, true },
	{ "task", "task_newtask", { { "pid", "comm", true } }, false },
	{ "task", "task_rename", { { "pid", "oldcomm", false }, { "pid", "newcomm", true } }, false },
	{ "signal", "signal_generate", { { "pid", "comm", false } }, true },
};

/* A text that is stored once, so that its address is the name. */
struct name {
	const char *text; /* NULL: none */
	uint32_t len;
};

/* A task has this name from a time on. */
struct told {
	uint64_t ts;
	struct name name;
	int32_t pid;
	uint32_t order; /* among those of one time */
	bool begins, beside;
};

/* The places of a pair in a type of event. */
struct bound {
	bool looked, some, beside;
	struct bound_pair {
		struct place pid, comm;
		bool path, begins;
	} pairs[PAIRS];
};

struct comms {
	const struct context *context;
	pthread_mutex_t lock;
	atomic_bool loaded;
	struct told *told;
	size_t nr_told;
	/* By PID: struct name, the one that was told last; empty once loaded. last_then: not by an event beside. */
	struct u64_map last, last_then;
	struct u64_map hashes;  /* of a name: struct name */
	struct u64_map renamed; /* the PIDs that the file tells several names of: nothing, or true */
	/* The names: each follows TASK_NAME_PAD blanks and ends with a NUL. They stay where they are. */
	char **blocks;
	size_t nr_blocks, block_left;
	bool starved;
	/* The events come one after the other and are not there to be read again: comms_learn(). */
	bool live;
	struct bound *bounds;
	size_t nr_bounds;
};

/* Reads a number and the blank behind it. */
static bool take_number(const char **at, uint64_t max, uint64_t *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*ret = strtoull(*at, &end, 10);
	*at = end + 1;
	return *end == ' ' && *ret <= max;
}

/* What a line "TIME PID LENGTH NAME" of weft/told_names has. */
struct told_line {
	uint64_t ts, pid, len;
	const char *name;
};

/* Takes the next line that can be read; *at is NULL before the first. */
static bool next_told(const struct context *context, const char **at, struct told_line *ret)
{
	struct trace_text text = trace_setting(context->trace, context->buffer, SETTING_TOLD_NAMES);
	const char *end = text.text ? text.text + text.len : NULL;

	*at = *at ? *at : text.text;
	if (!end || *at >= end || !take_number(at, UINT64_MAX, &ret->ts) || !take_number(at, INT32_MAX, &ret->pid) ||
	    !take_number(at, TASK_COMM_LEN - 1, &ret->len) || *at >= end || ret->len >= (size_t)(end - *at) ||
	    (*at)[ret->len] != '\n')
		return false;
	ret->name = *at;
	*at += ret->len + 1;
	return true;
}

/* Finds the tasks of which saved_cmdlines has only the last of several names. False without memory. */
static bool find_renamed(struct comms *comms)
{
	struct told_line line;
	struct u64_map first;
	const char *at = NULL;
	bool ok = true;

	u64_map_init(&first, sizeof(uint64_t));
	while (ok && next_told(comms->context, &at, &line)) {
		uint64_t hash = xxh64(line.name, line.len) | 1, *before = u64_map_add(&first, line.pid);

		if (!line.pid || !line.len)
			continue;
		ok = before && (!*before || *before == hash || u64_map_add(&comms->renamed, line.pid));
		if (ok && !*before)
			*before = hash;
	}
	u64_map_release(&first);
	return ok;
}

struct comms *comms_new(const struct context *context)
{
	struct comms *comms = calloc(1, sizeof(*comms));

	if (!comms)
		return NULL;
	comms->context = context;
	pthread_mutex_init(&comms->lock, NULL);
	u64_map_init(&comms->last, sizeof(struct name));
	u64_map_init(&comms->last_then, sizeof(struct name));
	u64_map_init(&comms->hashes, sizeof(struct name));
	u64_map_init(&comms->renamed, sizeof(bool));
	if (!find_renamed(comms)) {
		comms_free(comms);
		return NULL;
	}
	return comms;
}

const struct u64_map *comms_renamed(const struct comms *comms)
{
	return comms->renamed.len ? &comms->renamed : NULL;
}

void comms_free(struct comms *comms)
{
	if (!comms)
		return;
	pthread_mutex_destroy(&comms->lock);
	u64_map_release(&comms->last);
	u64_map_release(&comms->last_then);
	u64_map_release(&comms->hashes);
	u64_map_release(&comms->renamed);
	for (size_t i = 0; i < comms->nr_blocks; i++)
		free(comms->blocks[i]);
	free(comms->blocks);
	free(comms->bounds);
	free(comms->told);
	free(comms);
}

static char *room_for(struct comms *comms, size_t size)
{
	size_t max = (comms->live ? NAMES_LIVE : NAMES_MAX) / NAMES_BLOCK;
	char **block;

	if (comms->block_left < size) {
		block = comms->nr_blocks < max ? vec_push(comms->blocks, comms->nr_blocks) : NULL;
		if (!block)
			return NULL;
		*block = malloc(NAMES_BLOCK);
		comms->block_left = *block ? NAMES_BLOCK : 0;
		if (!*block)
			return NULL;
	}
	comms->block_left -= size;
	return comms->blocks[comms->nr_blocks - 1] + comms->block_left;
}

/* The name of this text; without a text when there is no room for more. */
static struct name name_of(struct comms *comms, const char *text, size_t len)
{
	struct name *known = u64_map_add(&comms->hashes, xxh64(text, len));
	char *room;

	if (known && !known->text && (room = room_for(comms, TASK_NAME_PAD + len + 1))) {
		memset(room, ' ', TASK_NAME_PAD);
		memcpy(room + TASK_NAME_PAD, text, len);
		room[TASK_NAME_PAD + len] = '\0';
		*known = (struct name){ .text = room + TASK_NAME_PAD, .len = (uint32_t)len };
	}
	comms->starved |= !known || !known->text;
	return known ? *known : (struct name){ .text = NULL };
}

static void tell(struct comms *comms, int32_t pid, const char *text, size_t len, uint64_t ts, bool begins, bool beside)
{
	struct name name = name_of(comms, text, len),
		    *last = name.text ? u64_map_add(&comms->last, (uint32_t)pid) : NULL,
		    *then = last && !beside && !comms->live ? u64_map_add(&comms->last_then, (uint32_t)pid) : last;
	struct told *told;

	if (last && then && last->text == name.text && then->text == name.text)
		return;
	if (last && comms->live) {
		*last = name;
		return;
	}
	told = last && then && comms->nr_told < TOLD_MAX ? vec_push(comms->told, comms->nr_told) : NULL;
	if (!told) {
		comms->starved = true;
		return;
	}
	*told = (struct told){ .ts = ts,
			       .pid = pid,
			       .name = name,
			       .order = (uint32_t)comms->nr_told,
			       .begins = begins,
			       .beside = beside };
	*last = *then = name;
}

static const struct naming *naming_of(const struct format *format)
{
	for (size_t i = 0; format && i < array_size(namings); i++)
		if (!strcmp(namings[i].system, format->system) &&
		    (!namings[i].name || !strcmp(namings[i].name, format->name)))
			return &namings[i];
	return NULL;
}

static void bind(struct bound *bound, const struct event_type *type)
{
	const struct naming *naming = naming_of(type->format);

	bound->looked = true;
	bound->beside = naming && naming->beside;
	for (size_t i = 0; naming && i < PAIRS; i++) {
		const struct naming_pair *pair = &naming->pairs[i];
		struct bound_pair *to = &bound->pairs[i];

		if (!pair->comm || !place_find(&to->comm, type, pair->comm))
			continue;
		(void)place_find(&to->pid, type, pair->pid);
		to->path = !strcmp(pair->comm, "filename");
		to->begins = pair->begins;
		bound->some = true;
	}
}

static void see_pair(struct comms *comms, const struct bound_pair *pair, bool beside, const struct event *event)
{
	int32_t pid = pair->pid.size ? (int32_t)place_u64(&pair->pid, event) : event->pid;
	const char *text, *slash;
	size_t len;

	/* A task may take an empty name. */
	if (pid <= 0 || !place_string(&pair->comm, event, &text, &len) || (!len && !pair->begins))
		return;
	slash = pair->path ? memrchr(text, '/', len) : NULL;
	if (slash) {
		len -= (size_t)(slash + 1 - text);
		text = slash + 1;
	}
	/* __set_task_comm() cuts a longer one. */
	tell(comms, pid, text, len < TASK_COMM_LEN ? len : TASK_COMM_LEN - 1, event->ts, pair->begins, beside);
}

static bool see(struct comms *comms, struct bound **bounds, size_t *nr, const struct event *event)
{
	struct bound *bound;

	if (event->kind != EVENT_RECORD)
		return true;
	while (*nr <= event->type->index) {
		bound = vec_push(*bounds, *nr);
		if (!bound)
			return false;
		*bound = (struct bound){ .looked = false };
	}
	bound = &(*bounds)[event->type->index];
	if (!bound->looked)
		bind(bound, event->type);
	for (size_t i = 0; bound->some && i < PAIRS; i++)
		if (bound->pairs[i].comm.field)
			see_pair(comms, &bound->pairs[i], bound->beside, event);
	return true;
}

/* Whether a recording can have such events: its settings name all that it has. */
static bool may_tell(const struct context *context)
{
	const char *on = context->recorded ? context->switched_on : NULL;
	bool tells = !on;

	for (size_t i = 0; on && i < array_size(namings); i++)
		tells |= strstr(on, namings[i].system) != NULL;
	return tells;
}

/* What cannot be read is missing here as in the text, which says so. */
static void read_buffer(struct comms *comms, const struct context *context)
{
	struct events_options options = { .until = UINT64_MAX };
	struct event *batch = may_tell(context) ? calloc(BATCH, sizeof(*batch)) : NULL;
	struct bound *bounds = NULL;
	struct events *events = NULL;
	size_t nr = 0;
	int r = batch ? events_open(context, &options, &events, NULL) : -1;

	comms->starved |= !batch && may_tell(context);
	while (r >= 0 && (r = events_batch(events, batch, BATCH, NULL)) > 0)
		for (int i = 0; i < r; i++)
			comms->starved |= !see(comms, &bounds, &nr, &batch[i]);
	events_free(events);
	free(bounds);
	free(batch);
}

/* Other instances of the recording may have the scheduler's events. */
static void read_beside(struct comms *comms, size_t buffer)
{
	const struct context *of = comms->context;
	struct context *beside;

	if (context_new(of->trace, buffer, &beside, NULL))
		return;
	if (context_shares_times(of, beside))
		read_buffer(comms, beside);
	context_free(beside);
}

/* The names that the recording had of which this one was made. */
static void read_told(struct comms *comms)
{
	uint64_t by = trace_ts_offset(comms->context->trace);
	struct told_line line;
	const char *at = NULL;

	while (next_told(comms->context, &at, &line))
		if (line.pid && line.len)
			tell(comms, (int32_t)line.pid, line.name, line.len, line.ts + by, false, true);
}

static int compare(const void *a, const void *b)
{
	const struct told *one = a, *other = b;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	if (one->ts != other->ts)
		return one->ts < other->ts ? -1 : 1;
	return one->order < other->order ? -1 : one->order > other->order;
}

static void load(struct comms *comms)
{
	const struct context *context = comms->context;

	read_told(comms);
	read_buffer(comms, context);
	for (size_t i = 0; i < trace_buffers(context->trace); i++)
		if (i != context->buffer)
			read_beside(comms, i);
	if (comms->starved)
		trace_lacks_memory(context->trace);
	if (comms->nr_told)
		qsort(comms->told, comms->nr_told, sizeof(*comms->told), compare);
	u64_map_clear(&comms->last);
	u64_map_clear(&comms->last_then);
}

/* The number of names before this PID at this time, and of lower PIDs. */
static size_t names_until(const struct comms *comms, int32_t pid, uint64_t ts)
{
	return vec_count(comms->nr_told, i,
			 comms->told[i].pid != pid ? comms->told[i].pid < pid : comms->told[i].ts <= ts);
}

void comms_learn(void *arg, const struct event *event)
{
	struct comms *comms = arg;

	comms->live = true;
	comms->starved |= !see(comms, &comms->bounds, &comms->nr_bounds, event);
}

static void load_once(struct comms *comms)
{
	if (atomic_load_explicit(&comms->loaded, memory_order_acquire))
		return;
	pthread_mutex_lock(&comms->lock);
	if (!atomic_load_explicit(&comms->loaded, memory_order_relaxed)) {
		load(comms);
		atomic_store_explicit(&comms->loaded, true, memory_order_release);
	}
	pthread_mutex_unlock(&comms->lock);
}

static struct task_name text_of(const struct name *name)
{
	return name && name->text ? (struct task_name){ .text = name->text, .len = name->len } :
				    (struct task_name){ .text = task_no_name, .len = 5 };
}

/* The names are told by events that lib/meaning/state reads, or by any; NULL: the task has none. */
static const struct name *find(const struct comms *comms, int32_t pid, uint64_t ts, bool any)
{
	size_t next = names_until(comms, pid, ts), before = next;

	while (before && comms->told[before - 1].pid == pid && comms->told[before - 1].beside && !any)
		before--;
	if (before && comms->told[before - 1].pid == pid)
		return &comms->told[before - 1].name;
	while (next < comms->nr_told && comms->told[next].pid == pid && comms->told[next].beside && !any)
		next++;
	return next < comms->nr_told && comms->told[next].pid == pid && !comms->told[next].begins ?
		       &comms->told[next].name :
		       NULL;
}

struct task_name comms_told(struct comms *comms, int32_t pid, uint64_t ts)
{
	if (comms->live)
		return text_of(u64_map_find(&comms->last, (uint32_t)pid));
	load_once(comms);
	return text_of(find(comms, pid, ts, true));
}

struct task_name comms_then(struct comms *comms, int32_t pid, uint64_t ts)
{
	if (comms->live)
		return comms_told(comms, pid, ts);
	load_once(comms);
	return text_of(find(comms, pid, ts, false));
}

uint64_t comms_until(struct comms *comms, int32_t pid, uint64_t ts)
{
	size_t next;

	if (comms->live)
		return UINT64_MAX;
	load_once(comms);
	next = names_until(comms, pid, ts);
	return next < comms->nr_told && comms->told[next].pid == pid ? comms->told[next].ts : UINT64_MAX;
}
