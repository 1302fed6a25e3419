// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/causes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/scale.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/disks.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/state/state_roles.h"

enum { NAME = 48, MAJOR_SHIFT = 20, NESTING = 8, PAGE_SECTORS = 8, BIOS_MERGED = 512 };

enum frame_kind { FRAME_HARD, FRAME_SOFT, FRAME_HRTIMER, FRAME_TIMER };

struct cause_type {
	uint32_t name;
	struct place text; /* the name of the device's interrupt */
	bool sent;         /* other CPUs send it */
	/* The last name of a device, and its number: most interrupts are of the one before. */
	uint32_t last;
	uint8_t last_len;
	char last_text[NAME];
};

struct cause_function {
	uint32_t name;
	bool own;
};

struct cause_timer {
	struct cause_act by;
	uint64_t expires; /* ns by the timer's clock, or a jiffy */
	uint64_t at;      /* when it was set last */
	uint64_t now;     /* the jiffy then; of a timer that counts them */
};

struct cause_request {
	struct cause_act queued, issued;
	char rwbs[8];
};

struct cause_work {
	struct cause_act queued;
	uint64_t since;
	uint32_t number;
};

/* A thread that handles an interrupt, as all do on PREEMPT_RT. */
struct cause_handler {
	uint64_t waked;  /* when the interrupt woke it */
	uint32_t number; /* of the request that it has completed since; 0: none */
};

/* The fields of each role. */
static const struct {
	const char *id, *value, *name, *other;
} fields[STATE_ROLES] = {
	[STATE_SOFT_ENTRY] = { .id = "vec" },
	[STATE_SOFT_RAISE] = { .id = "vec" },
	[STATE_HRTIMER_START] = { .id = "hrtimer", .value = "expires" },
	[STATE_HRTIMER_ENTRY] = { .id = "hrtimer", .value = "now", .name = "function" },
	[STATE_HRTIMER_END] = { .id = "hrtimer" },
	[STATE_TIMER_START] = { .id = "timer", .value = "expires", .other = "now" },
	[STATE_TIMER_ENTRY] = { .id = "timer", .value = "now", .name = "function" },
	[STATE_TIMER_END] = { .id = "timer" },
	[STATE_BIO_QUEUE] = { .id = "sector", .other = "dev" },
	[STATE_REQUEST_ISSUE] = { .id = "sector", .value = "nr_sector", .name = "rwbs", .other = "dev" },
	[STATE_REQUEST_DONE] = { .id = "sector", .value = "nr_sector", .name = "rwbs", .other = "dev" },
	[STATE_PACKET_SEND] = { .id = "skbaddr" },
	[STATE_PACKET_RECEIVE] = { .id = "skbaddr" },
	[STATE_WORK_QUEUE] = { .id = "work" },
	[STATE_WORK_BEGIN] = { .id = "work" },
	[STATE_IPI_SEND] = { .id = "cpu" },
};

void causes_init(struct causes *causes, bool preempt_rt)
{
	*causes = (struct causes){ .cap = CAUSES_MAX, .preempt_rt = preempt_rt };
	labels_init(&causes->names);
	u64_map_init(&causes->types, sizeof(struct cause_type));
	u64_map_init(&causes->functions, sizeof(struct cause_function));
	u64_map_init(&causes->timers, sizeof(struct cause_timer));
	u64_map_init(&causes->packets, sizeof(struct cause_act));
	u64_map_init(&causes->works, sizeof(struct cause_act));
	u64_map_init(&causes->bios, sizeof(struct cause_act));
	u64_map_init(&causes->requests, sizeof(struct cause_request));
	u64_map_init(&causes->working, sizeof(struct cause_work));
	u64_map_init(&causes->handlers, sizeof(struct cause_handler));
	u64_map_init(&causes->away, sizeof(struct cause_frames));
}

void causes_release(struct causes *causes)
{
	labels_release(&causes->names);
	free(causes->kept);
	free(causes->cpus);
	free(causes->places);
	u64_map_release(&causes->types);
	u64_map_release(&causes->functions);
	u64_map_release(&causes->timers);
	u64_map_release(&causes->packets);
	u64_map_release(&causes->works);
	u64_map_release(&causes->bios);
	u64_map_release(&causes->requests);
	u64_map_release(&causes->working);
	u64_map_release(&causes->handlers);
	u64_map_release(&causes->away);
}

static uint32_t name_of(struct causes *causes, const char *before, const char *text, size_t len)
{
	char name[NAME];
	int n = snprintf(name, sizeof(name), "%s%.*s", before, (int)(len < NAME ? len : NAME), text);
	bool fresh;
	uint32_t label = labels_add(&causes->names, name, n < NAME ? (size_t)n : NAME - 1, &fresh);

	causes->failed |= label == LABEL_NONE;
	return label == LABEL_NONE ? 0 : label + 1;
}

const char *causes_name(const struct causes *causes, uint32_t name)
{
	return name && name <= causes->names.nr ? causes->names.at[name - 1].text : "";
}

const struct cause *causes_get(const struct causes *causes, uint32_t number)
{
	if (!number || number > causes->nr || causes->nr - number >= causes->room)
		return NULL;
	return &causes->kept[(number - 1) % causes->cap];
}

static uint32_t keep(struct causes *causes, const struct cause *cause)
{
	if (causes->nr == UINT32_MAX)
		return 0;
	if (causes->room < causes->cap && !vec_push(causes->kept, causes->room)) {
		causes->failed = true;
		return 0;
	}
	causes->kept[causes->nr % causes->cap] = *cause;
	return ++causes->nr;
}

uint32_t causes_where(const struct causes *causes, uint32_t cpu, uint32_t *ret_name)
{
	const struct cause_frames *frames = cpu < causes->nr_cpus ? &causes->cpus[cpu].frames : NULL;
	uint32_t nr = 0;

	for (unsigned i = 0; frames && i < frames->nr; i++) {
		/* On PREEMPT_RT a softirq is what its task does. */
		if (frames->at[i].kind > FRAME_SOFT || (frames->at[i].kind == FRAME_SOFT && causes->preempt_rt))
			continue;
		nr++;
		*ret_name = frames->at[i].name;
	}
	return nr;
}

static struct causes_cpu *cpu_of(struct causes *causes, uint32_t number)
{
	while (causes->nr_cpus <= number)
		if (!vec_push(causes->cpus, causes->nr_cpus)) {
			causes->failed = true;
			return NULL;
		}
	return &causes->cpus[number];
}

/* What is open, by a key. What never ends must not fill memory. */
static void *open_of(struct causes *causes, struct u64_map *map, uint64_t key)
{
	void *value;

	if (map->len >= CAUSES_OPEN_MAX && !u64_map_find(map, key)) {
		causes->forgotten += map->len;
		u64_map_clear(map);
	}
	value = u64_map_add(map, key);
	causes->failed |= !value;
	return value;
}

/*
 * The frame in which an event happens; NULL: none. If the flags of the event say that the CPU has left an interrupt,
 * the event of its exit is missing.
 */
static struct cause_frame *frame_at(struct causes_cpu *cpu, const struct event *event)
{
	struct cause_frames *frames = &cpu->frames;
	bool hard = event->flags & (EVENT_HARDIRQ | EVENT_NMI), soft = event->flags & EVENT_SOFTIRQ;

	for (unsigned i = 0; !hard && i < frames->nr; i++)
		if (frames->at[i].hard || !soft)
			frames->nr = i;
	/* A hard interrupt of which no event tells hit the softirq: that one is not the cause. */
	if (hard && frames->nr && !frames->at[frames->nr - 1].hard)
		return NULL;
	return frames->nr ? &frames->at[frames->nr - 1] : NULL;
}

static uint32_t cause_of_frame(struct causes *causes, struct causes_cpu *cpu, struct cause_frame *frame,
			       const struct event *event, int32_t thread)
{
	if (frame->number && causes_get(causes, frame->number))
		return frame->number;
	if (thread && !(event->flags & (EVENT_HARDIRQ | EVENT_NMI))) {
		frame->cause.thread = thread;
		for (unsigned i = cpu->frames.nr; i-- > 0 && !frame->cause.raised;)
			if (cpu->frames.at[i].kind == FRAME_SOFT)
				frame->cause.raised = cpu->frames.at[i].cause.raised;
	}
	frame->number = keep(causes, &frame->cause);
	return frame->number;
}

/* The softirq that was raised first of those that wait on this CPU. */
static uint32_t cause_of_raised(struct causes *causes, const struct causes_cpu *cpu)
{
	unsigned first = SOFTIRQS;

	for (unsigned i = 0; i < SOFTIRQS; i++)
		if (cpu->raised[i].at && (first == SOFTIRQS || cpu->raised[i].at < cpu->raised[first].at))
			first = i;
	if (first == SOFTIRQS)
		return 0;
	return keep(causes, &(struct cause){ .kind = CAUSE_SOFTIRQ, .vec = (uint8_t)first, .by = cpu->raised[first] });
}

uint32_t causes_of_thread(struct causes *causes, const struct event *event)
{
	return event->cpu < causes->nr_cpus ? cause_of_raised(causes, &causes->cpus[event->cpu]) : 0;
}

static uint32_t cause_of_work(struct causes *causes, int32_t pid)
{
	const struct cause_handler *handler =
		causes->handlers.len ? u64_map_find(&causes->handlers, (uint32_t)pid) : NULL;
	struct cause_work *work = causes->working.len ? u64_map_find(&causes->working, (uint32_t)pid) : NULL;

	if (handler && handler->number && causes_get(causes, handler->number))
		return handler->number;
	if (!work)
		return 0;
	if (!work->number || !causes_get(causes, work->number))
		work->number = keep(causes, &(struct cause){ .kind = CAUSE_WORK,
							     .vec = UINT8_MAX,
							     .by = work->queued,
							     .then = { .at = work->since, .pid = pid } });
	return work->number;
}

uint32_t causes_now(struct causes *causes, const struct event *event, int32_t thread)
{
	struct causes_cpu *cpu = event->cpu < causes->nr_cpus ? &causes->cpus[event->cpu] : NULL;
	struct cause_frame *frame;

	if (!(event->flags & EVENT_INTERRUPTS) && event->pid)
		return cause_of_work(causes, event->pid);
	if (!cpu)
		return 0;
	/* The idle task does what an interrupt has left to it. */
	if (!(event->flags & EVENT_INTERRUPTS))
		return cause_of_raised(causes, cpu);
	frame = frame_at(cpu, event);
	return frame ? cause_of_frame(causes, cpu, frame, event, thread) : 0;
}

static struct cause_act act_of(struct causes *causes, const struct event *event, int32_t thread)
{
	if (!(event->flags & EVENT_INTERRUPTS) && event->pid)
		return (struct cause_act){ .at = event->ts, .pid = event->pid };
	return (struct cause_act){ .at = event->ts, .cause = causes_now(causes, event, thread) };
}

static struct cause_frame *push(struct causes_cpu *cpu, enum frame_kind kind, const struct event *event, uint64_t key,
				const struct cause *cause)
{
	struct cause_frames *frames = &cpu->frames;
	struct cause_frame *frame;

	/* Ends those whose exit is missing. */
	(void)frame_at(cpu, event);
	frame = &frames->at[frames->nr < CAUSES_NESTED ? frames->nr++ : CAUSES_NESTED - 1];
	/* One by one: gcc would clear all of it first, by `rep stos`. */
	frame->key = key;
	frame->name = cause->name;
	frame->number = 0;
	frame->kind = (uint8_t)kind;
	frame->hard = kind == FRAME_HARD || event->flags & (EVENT_HARDIRQ | EVENT_NMI);
	frame->cause = *cause;
	return frame;
}

/* Ends the innermost frame of a kind, and with it all inside: their exits are missing. */
static void pop(struct causes_cpu *cpu, enum frame_kind kind)
{
	for (unsigned i = cpu->frames.nr; i-- > 0;)
		if (cpu->frames.at[i].kind == kind) {
			cpu->frames.nr = i;
			return;
		}
}

static uint64_t type_key(const struct event *event)
{
	return (uint64_t)event->buffer << 32 | event->type->index;
}

static void bind_interrupt(struct causes *causes, const struct event *event)
{
	static const char *const sent[] = { "reschedule_entry", "call_function_entry", "call_function_single_entry",
					    "irq_work_entry",   "ipi_entry",           "doorbell_entry" };
	struct cause_type *type = u64_map_add(&causes->types, type_key(event));
	const char *name = event->type->format->name;
	size_t len = strlen(name);

	if (!type) {
		causes->failed = true;
		return;
	}
	if (!strcmp(name, "irq_handler_entry"))
		(void)place_find(&type->text, event->type, "name");
	for (size_t i = 0; i < array_size(sent); i++)
		type->sent |= !strcmp(name, sent[i]);
	type->name = name_of(causes, "irq:", name, len - strlen("_entry"));
}

void causes_bind(struct causes *causes, const struct event *event, uint8_t role)
{
	struct cause_places *places;

	if (!causes->places)
		causes->places = calloc(STATE_ROLES, sizeof(*causes->places));
	if (!causes->places) {
		causes->failed = true;
		return;
	}
	if (role == STATE_HARD_ENTRY)
		bind_interrupt(causes, event);
	places = &causes->places[role];
	if (fields[role].id)
		(void)place_find(&places->id, event->type, fields[role].id);
	if (fields[role].value)
		(void)place_find(&places->value, event->type, fields[role].value);
	if (fields[role].name)
		(void)place_find(&places->name, event->type, fields[role].name);
	if (fields[role].other)
		(void)place_find(&places->other, event->type, fields[role].other);
}

static uint32_t name_of_device(struct causes *causes, struct cause_type *type, const char *text, size_t len)
{
	if (len >= NAME)
		return name_of(causes, "irq:", text, len);
	if (!type->last || type->last_len != len || memcmp(type->last_text, text, len) != 0) {
		type->last = name_of(causes, "irq:", text, len);
		type->last_len = (uint8_t)len;
		memcpy(type->last_text, text, len);
	}
	return type->last;
}

static void see_hard(struct causes *causes, struct causes_cpu *cpu, const struct event *event)
{
	struct cause_type *type = u64_map_find(&causes->types, type_key(event));
	struct cause cause = { .kind = CAUSE_INTERRUPT, .vec = UINT8_MAX };
	const char *text;
	size_t len;

	if (!type)
		return;
	cause.name = type->text.field && place_string(&type->text, event, &text, &len) ?
			     name_of_device(causes, type, text, len) :
			     type->name;
	if (type->sent && cpu->sent.at) {
		cause.kind = CAUSE_IPI;
		cause.by = cpu->sent;
		cpu->sent.at = 0;
	}
	(void)push(cpu, FRAME_HARD, event, 0, &cause);
}

static void see_soft(struct causes *causes, struct causes_cpu *cpu, const struct event *event)
{
	uint64_t vec = place_u64(&causes->places[STATE_SOFT_ENTRY].id, event);
	struct cause cause = { .kind = CAUSE_INTERRUPT, .vec = UINT8_MAX };
	const char *name = softirq_name(vec);

	if (name) {
		cause.vec = (uint8_t)vec;
		if (!causes->softirqs[vec])
			causes->softirqs[vec] = name_of(causes, "softirq:", name, strlen(name));
		cause.name = causes->softirqs[vec];
		cause.by = cpu->raised[vec];
		cause.raised = cause.by.at;
		cause.kind = cause.by.pid || cause.by.cause ? CAUSE_SOFTIRQ : CAUSE_INTERRUPT;
		cpu->raised[vec] = (struct cause_act){ .at = 0 };
	}
	(void)push(cpu, FRAME_SOFT, event, vec, &cause);
}

static const struct cause_function *function_of(struct causes *causes, const struct event *event, uint64_t address)
{
	const struct context *context = event->type->context;
	struct cause_function *function = u64_map_get(&causes->functions, address ^ (uint64_t)event->buffer << 56);
	struct symbol symbol;

	if (!function || function->name)
		return function;
	if (context->symbols && symbols_find(context->symbols, address, &symbol)) {
		function->name = name_of(causes, "timer:", symbol.name, symbol.name_len);
		function->own = !strcmp(causes_name(causes, function->name), "timer:hrtimer_wakeup") ||
				!strcmp(causes_name(causes, function->name), "timer:process_timeout");
	} else {
		function->name = name_of(causes, "a timer", "", 0);
	}
	return function;
}

static void see_start(struct causes *causes, const struct event *event, uint8_t role, int32_t thread)
{
	const struct cause_places *places = &causes->places[role];
	struct cause_timer *timer = open_of(causes, &causes->timers, place_u64(&places->id, event));
	struct cause_act act = act_of(causes, event, thread);

	if (!timer)
		return;
	/* An interrupt of which nothing is known moves a timer that a task has set: he is still the cause. */
	if (!timer->by.pid || act.pid || act.cause)
		timer->by = act;
	timer->expires = place_u64(&places->value, event);
	timer->now = place_u64(&places->other, event);
	timer->at = event->ts;
}

/*
 * When a timer was due that expires now. One that counts jiffies was set at one of them and expires at another, so that
 * the time of those between follows without the length of a jiffy. 0: it is not known.
 */
static uint64_t due_of(const struct cause_timer *timer, const struct event *event, bool hrtimer, uint64_t now)
{
	uint32_t left = (uint32_t)timer->expires - (uint32_t)timer->now, passed = (uint32_t)now - (uint32_t)timer->now;

	if (hrtimer)
		return timer->expires && now >= timer->expires && now - timer->expires < event->ts ?
			       event->ts - (now - timer->expires) :
			       0;
	return passed && left <= passed && passed <= INT32_MAX && event->ts >= timer->at && timer->now ?
		       timer->at + scale_mul_div(event->ts - timer->at, left, passed) :
		       0;
}

static void see_expire(struct causes *causes, struct causes_cpu *cpu, const struct event *event, uint8_t role)
{
	const struct cause_places *places = &causes->places[role];
	uint64_t address = place_u64(&places->id, event), now = place_u64(&places->value, event);
	const struct cause_function *function = function_of(causes, event, place_u64(&places->name, event));
	const struct cause_timer *timer = u64_map_find(&causes->timers, address);
	struct cause cause = { .kind = CAUSE_TIMER, .vec = UINT8_MAX };

	if (function) {
		cause.name = function->name;
		cause.own = function->own;
	}
	if (timer) {
		cause.by = timer->by;
		cause.due = due_of(timer, event, role == STATE_HRTIMER_ENTRY, now);
		u64_map_remove(&causes->timers, address);
	}
	(void)push(cpu, role == STATE_HRTIMER_ENTRY ? FRAME_HRTIMER : FRAME_TIMER, event, address, &cause);
}

/* A timer's function has ended, or the timer was cancelled. */
static void see_timer_end(struct causes *causes, struct causes_cpu *cpu, const struct event *event, uint8_t role)
{
	uint64_t address = place_u64(&causes->places[role].id, event);
	unsigned i = cpu->frames.nr;

	while (i > 0 && (cpu->frames.at[i - 1].kind < FRAME_HRTIMER || cpu->frames.at[i - 1].key != address))
		i--;
	if (i && !strcmp(event->type->format->name + strlen(event->type->format->name) - 5, "_exit"))
		cpu->frames.nr = i - 1;
	else
		u64_map_remove(&causes->timers, address);
}

/* Bios name the partition, requests the disk, with sectors of the whole disk. */
static uint64_t bio_key(uint64_t device, uint64_t sector)
{
	return device >> MAJOR_SHIFT << 48 ^ sector;
}

static uint64_t request_key(const struct cause_places *places, const struct event *event)
{
	uint64_t sector = place_u64(&places->value, event) ? place_u64(&places->id, event) : UINT64_MAX;

	return place_u64(&places->other, event) << 40 ^ sector;
}

static void set_rwbs(char into[8], const struct place *place, const struct event *event)
{
	const char *text;
	size_t len;

	memset(into, 0, 8);
	if (place_string(place, event, &text, &len))
		memcpy(into, text, len < 7 ? len : 7);
}

static void see_bio(struct causes *causes, const struct event *event, int32_t thread)
{
	const struct cause_places *places = &causes->places[STATE_BIO_QUEUE];
	struct cause_act *bio = open_of(causes, &causes->bios,
					bio_key(place_u64(&places->other, event), place_u64(&places->id, event)));

	/* block_bio_queue and block_getrq, which comes later, tell of the same bio: the first one counts. */
	if (bio && (!bio->at || !strcmp(event->type->format->name, "block_bio_queue")))
		*bio = act_of(causes, event, thread);
}

static void see_issue(struct causes *causes, const struct event *event, int32_t thread)
{
	const struct cause_places *places = &causes->places[STATE_REQUEST_ISSUE];
	struct cause_request *request = open_of(causes, &causes->requests, request_key(places, event));
	uint64_t device = place_u64(&places->other, event), sector = place_u64(&places->id, event);
	uint64_t sectors = place_u64(&places->value, event);
	const struct cause_act *queued = u64_map_find(&causes->bios, bio_key(device, sector));

	if (!request)
		return;
	/* Issued again after it was put back: it was queued when it was queued first. */
	if (queued || !request->queued.at)
		request->queued = queued ? *queued : act_of(causes, event, thread);
	request->issued = act_of(causes, event, thread);
	set_rwbs(request->rwbs, &places->name, event);
	/* With the bios that were merged into it, of whole pages: later ones have the same places. */
	for (uint64_t i = 0; i == 0 || (i < sectors && i < BIOS_MERGED * PAGE_SECTORS); i += PAGE_SECTORS)
		u64_map_remove(&causes->bios, bio_key(device, sector + i));
}

void causes_wake_handler(struct causes *causes, const struct event *event, int32_t pid)
{
	struct cause_handler *handler = open_of(causes, &causes->handlers, (uint32_t)pid);

	if (handler)
		*handler = (struct cause_handler){ .waked = event->ts };
}

/* A thread completes the request: the device was done when its interrupt woke that one. */
static void done_by(struct causes *causes, struct cause *cause, const struct event *event)
{
	struct cause_handler *handler =
		causes->handlers.len ? u64_map_find(&causes->handlers, (uint32_t)event->pid) : NULL;

	if (!handler)
		return;
	cause->thread = event->pid;
	if (handler->waked > cause->then.at)
		cause->due = handler->waked;
	handler->number = keep(causes, cause);
}

/*
 * When the flush of a disk is completed, the kernel completes at once those requests that asked for one, which have no
 * sectors and were never issued themselves: who issued the flush issued them.
 */
static bool ends_with_flush(const struct causes *causes, const struct cause_frame *frame, const struct event *event,
			    const struct cause *cause)
{
	const struct cause *last = &causes->done;

	if (!last->flush || last->device != cause->device)
		return false;
	if (event->flags & EVENT_INTERRUPTS)
		return frame && frame->cause.kind == CAUSE_REQUEST && frame->cause.flush;
	return last->thread == event->pid;
}

/* "disk vda (254:0)" */
static uint32_t name_of_disk(struct causes *causes, const struct context *context, uint32_t device)
{
	struct cause_disk *last = &causes->disk;
	char text[DISK_TEXT];

	if (!last->name || last->context != context || last->device != device)
		*last = (struct cause_disk){ context, device,
					     name_of(causes, "disk ", disk_text(context, device, text), DISK_TEXT) };
	return last->name;
}

static void see_done(struct causes *causes, struct causes_cpu *cpu, const struct event *event)
{
	const struct cause_places *places = &causes->places[STATE_REQUEST_DONE];
	struct cause_frame *frame = frame_at(cpu, event), *soft = NULL;
	uint64_t key = request_key(places, event);
	const struct cause_request *request = u64_map_find(&causes->requests, key);
	struct cause cause = { .kind = CAUSE_REQUEST, .vec = UINT8_MAX, .due = event->ts };

	cause.device = (uint32_t)place_u64(&places->other, event);
	cause.name = name_of_disk(causes, event->type->context, cause.device);
	set_rwbs(cause.rwbs, &places->name, event);
	if (request) {
		cause.by = request->queued;
		cause.then = request->issued;
		cause.flush = !place_u64(&places->value, event);
	} else if (!place_u64(&places->value, event) && ends_with_flush(causes, frame, event, &cause)) {
		cause.by = causes->done.by;
		cause.then = causes->done.then;
		cause.due = causes->done.due;
		cause.flush = true;
	}
	for (unsigned i = cpu->frames.nr; i-- > 0 && !soft;)
		if (cpu->frames.at[i].kind == FRAME_SOFT)
			soft = &cpu->frames.at[i];
	/* The device's interrupt has raised the softirq that completes the request. */
	if (soft && soft == frame && soft->cause.raised > cause.then.at)
		cause.due = soft->cause.raised;
	u64_map_remove(&causes->requests, key);
	if (!(event->flags & EVENT_INTERRUPTS))
		done_by(causes, &cause, event);
	causes->done = cause;
	if (!frame || !(event->flags & EVENT_INTERRUPTS))
		return;
	cause.raised = frame->cause.raised;
	frame->cause = cause;
	frame->number = 0;
}

static void see_packet(struct causes *causes, struct causes_cpu *cpu, const struct event *event)
{
	uint64_t address = place_u64(&causes->places[STATE_PACKET_RECEIVE].id, event);
	const struct cause_act *sent = u64_map_find(&causes->packets, address);
	struct cause_frame *frame = event->flags & EVENT_INTERRUPTS ? frame_at(cpu, event) : NULL;
	uint32_t number = frame ? frame->number : 0;

	if (frame && sent && (sent->pid || (sent->cause && sent->cause != number))) {
		frame->cause.kind = CAUSE_PACKET;
		frame->cause.by = *sent;
		frame->number = 0;
	}
	u64_map_remove(&causes->packets, address);
}

static void see_work(struct causes *causes, const struct event *event, uint8_t role, int32_t thread)
{
	uint64_t address = place_u64(&causes->places[role].id, event);
	struct cause_act *queued;
	struct cause_work *work;

	if (role == STATE_WORK_END) {
		u64_map_remove(&causes->working, (uint32_t)event->pid);
		return;
	}
	if (role == STATE_WORK_QUEUE) {
		queued = open_of(causes, &causes->works, address);
		if (queued)
			*queued = act_of(causes, event, thread);
		return;
	}
	work = event->flags & EVENT_INTERRUPTS ? NULL : open_of(causes, &causes->working, (uint32_t)event->pid);
	queued = u64_map_find(&causes->works, address);
	if (work)
		*work = (struct cause_work){ .since = event->ts, .queued = queued ? *queued : (struct cause_act){ 0 } };
	u64_map_remove(&causes->works, address);
}

static void see_raise(struct causes *causes, struct causes_cpu *cpu, const struct event *event, int32_t thread)
{
	uint64_t vec = place_u64(&causes->places[STATE_SOFT_RAISE].id, event);

	if (vec < SOFTIRQS && !cpu->raised[vec].at)
		cpu->raised[vec] = act_of(causes, event, thread);
}

static void see_sent(struct causes *causes, const struct event *event, int32_t thread)
{
	const struct place *place = &causes->places[STATE_IPI_SEND].id;
	struct cause_act act = act_of(causes, event, thread);
	uint64_t number = place_u64(place, event);
	struct causes_cpu *cpu = place->field && number < UINT16_MAX ? cpu_of(causes, (uint32_t)number) : NULL;

	if (cpu)
		cpu->sent = act;
}

void causes_see(struct causes *causes, const struct event *event, uint8_t role, int32_t thread)
{
	struct causes_cpu *cpu = cpu_of(causes, event->cpu);

	if (!cpu || !causes->places)
		return;
	switch ((enum state_role)role) {
	case STATE_HARD_ENTRY:
		see_hard(causes, cpu, event);
		return;
	case STATE_HARD_EXIT:
		pop(cpu, FRAME_HARD);
		return;
	case STATE_SOFT_ENTRY:
		see_soft(causes, cpu, event);
		return;
	case STATE_SOFT_EXIT:
		pop(cpu, FRAME_SOFT);
		return;
	case STATE_SOFT_RAISE:
		see_raise(causes, cpu, event, thread);
		return;
	case STATE_HRTIMER_START:
	case STATE_TIMER_START:
		see_start(causes, event, role, thread);
		return;
	case STATE_HRTIMER_ENTRY:
	case STATE_TIMER_ENTRY:
		see_expire(causes, cpu, event, role);
		return;
	case STATE_HRTIMER_END:
	case STATE_TIMER_END:
		see_timer_end(causes, cpu, event, role);
		return;
	case STATE_BIO_QUEUE:
		see_bio(causes, event, thread);
		return;
	case STATE_REQUEST_ISSUE:
		see_issue(causes, event, thread);
		return;
	case STATE_REQUEST_DONE:
		see_done(causes, cpu, event);
		return;
	case STATE_PACKET_SEND: {
		struct cause_act act = act_of(causes, event, thread), *sent;

		sent = open_of(causes, &causes->packets, place_u64(&causes->places[role].id, event));
		if (sent)
			*sent = act;
		return;
	}
	case STATE_PACKET_RECEIVE:
		see_packet(causes, cpu, event);
		return;
	case STATE_WORK_QUEUE:
	case STATE_WORK_BEGIN:
	case STATE_WORK_END:
		see_work(causes, event, role, thread);
		return;
	case STATE_IPI_SEND:
		see_sent(causes, event, thread);
		return;
	default:
		return;
	}
}

uint32_t causes_name_of(struct causes *causes, const struct cause *cause)
{
	const struct cause *inner = cause->by.pid ? NULL : causes_get(causes, cause->by.cause);

	/* What raised these is only the tick, and tells less than the softirq itself. */
	if (cause->kind == CAUSE_SOFTIRQ && inner && inner->kind == CAUSE_INTERRUPT &&
	    !strcmp(causes_name(causes, inner->name), "irq:local_timer"))
		return cause->name;
	if ((cause->kind == CAUSE_SOFTIRQ || cause->kind == CAUSE_PACKET) && inner && inner->kind == CAUSE_INTERRUPT)
		return inner->name;
	return cause->name;
}

/* `woken`: the task that the cause woke, or 0. */
static struct waker actor_of(struct causes *causes, const struct cause *cause, int32_t woken)
{
	const struct cause *inner;
	unsigned depth = 0;

	for (; cause && depth < NESTING; depth++, cause = inner) {
		if (woken && cause->kind == CAUSE_TIMER && (cause->own || cause->by.pid == woken))
			return (struct waker){ .name = name_of(causes, "its own timer", "", 0) };
		if (cause->kind == CAUSE_REQUEST || cause->kind == CAUSE_INTERRUPT)
			break;
		if (cause->by.pid)
			return (struct waker){ .pid = cause->by.pid };
		inner = causes_get(causes, cause->by.cause);
		if (!inner || inner == cause || inner->kind == CAUSE_INTERRUPT)
			break;
	}
	return (struct waker){ .name = cause ? causes_name_of(causes, cause) : 0 };
}

struct waker causes_actor(struct causes *causes, const struct cause *cause)
{
	return actor_of(causes, cause, 0);
}

struct waker causes_waker(struct causes *causes, const struct event *event, uint32_t number, int32_t pid)
{
	if (!(event->flags & EVENT_INTERRUPTS) && event->pid)
		return (struct waker){ .pid = event->pid };
	return actor_of(causes, causes_get(causes, number), pid);
}

void causes_switch(struct causes *causes, const struct event *event, int32_t prev, int32_t next)
{
	struct causes_cpu *cpu = event->cpu < causes->nr_cpus ? &causes->cpus[event->cpu] : NULL;
	struct cause_frames *away;

	if (!cpu)
		return;
	if (__builtin_expect(causes->preempt_rt && cpu->frames.nr && prev, 0)) {
		away = open_of(causes, &causes->away, (uint32_t)prev);
		if (away)
			*away = cpu->frames;
	}
	cpu->frames.nr = 0;
	away = causes->away.len && next ? u64_map_find(&causes->away, (uint32_t)next) : NULL;
	if (away) {
		cpu->frames = *away;
		u64_map_remove(&causes->away, (uint32_t)next);
	}
}

void causes_lose(struct causes *causes, uint32_t cpu)
{
	if (cpu < causes->nr_cpus)
		causes->cpus[cpu] = (struct causes_cpu){ .frames.nr = 0 };
}
