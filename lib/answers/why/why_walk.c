// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/why/why_walk_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/event/tasks.h"

enum { DEPTH_MAX = 64 };

/* The links are made from the last one back, and turned round at the end. */
struct walk {
	struct why_log *log;
	struct why_path *path;
	uint64_t begin; /* of the interval */
	/* Up to when what the task runs that is explained cannot be for the one that waits for it; 0: not known */
	uint64_t earlier;
	unsigned depth;
};

/* A span that is to be divided into links. */
struct span {
	uint64_t from, to;
};

static void explain(struct walk *walk, int32_t pid, struct span span);

static struct why_task *task_of(const struct walk *walk, int32_t pid)
{
	return u64_map_find(&walk->log->tasks, (uint32_t)pid);
}

static uint32_t name_of(const struct walk *walk, int32_t pid)
{
	const struct why_task *task = task_of(walk, pid);

	return task ? task->name : 0;
}

static bool is_one(const struct why_link *link, const struct why_link *next)
{
	return link->to == next->from && link->pid == next->pid && link->name == next->name &&
	       link->cause == next->cause && link->depth == next->depth && link->cpu == next->cpu &&
	       link->state == next->state && link->reason == next->reason;
}

static void emit(struct walk *walk, struct span span, struct why_link link)
{
	struct why_path *path = walk->path;
	struct why_link *last;

	if (span.from >= span.to)
		return;
	link.from = span.from;
	link.to = span.to;
	link.depth = (uint16_t)walk->depth;
	link.name = link.name || !link.pid ? link.name : name_of(walk, link.pid);
	if (path->nr && is_one(&link, &path->links[path->nr - 1])) {
		path->links[path->nr - 1].from = span.from;
		return;
	}
	last = vec_push(path->links, path->nr);
	path->failed |= !last;
	if (last)
		*last = link;
}

static void unknown(struct walk *walk, struct span span, int32_t pid, enum why_reason reason)
{
	emit(walk, span,
	     (struct why_link){
		     .pid = pid, .name = name_of(walk, pid), .state = WHY_UNKNOWN, .reason = (uint8_t)reason });
}

/* Cuts off the part of a span that begins at `at`, which is kept within it. */
static struct span cut(struct span *span, uint64_t at)
{
	struct span tail = { at < span->from ? span->from : at > span->to ? span->to : at, span->to };

	span->to = tail.from;
	return tail;
}

/* The last record of a CPU that began before `to`. */
static const struct why_occupant *occupant_before(const struct walk *walk, struct why_cursor *cursor, uint32_t list,
						  uint64_t to)
{
	const struct why_log *log = walk->log;
	const struct why_occupant *after, *at;

	cursor = why_cursor_of(log, cursor, list);
	after = why_occupant_at(log, cursor->after);
	if (after && after->from < to)
		*cursor = (struct why_cursor){ .at = list, .walk = log->walk };
	while ((at = why_occupant_at(log, cursor->at)) && at->from >= to) {
		cursor->after = cursor->at;
		cursor->at = at->before;
	}
	return at;
}

/* A link of a time on a CPU, or of a wait for it, by who had the CPU. */
static struct why_link link_of(const struct why_occupant *occupant, int32_t pid, uint32_t name, bool waits)
{
	struct why_link link = { .pid = pid, .name = name, .state = waits ? WHY_WAITED : WHY_RAN };

	if (occupant && occupant->kind == OCCUPANT_INTERRUPT) {
		link.state = waits ? WHY_WAITED : WHY_INTERRUPTED;
		link.cause = occupant->name;
	} else if (!waits && occupant && (occupant->kind != OCCUPANT_TASK || occupant->pid != pid)) {
		link.state = WHY_UNKNOWN;
		link.reason = REASON_LOST;
	}
	return link;
}

static uint32_t behind(struct walk *walk, const struct why_occupant *occupant, int32_t pid)
{
	uint32_t name = !occupant ? 0 : occupant->name ? occupant->name : name_of(walk, occupant->pid);
	const char *comm = why_log_text(walk->log, name);
	char text[64];

	if (!occupant || occupant->kind == OCCUPANT_UNKNOWN)
		return why_log_name(walk->log, "behind ? (not recorded)");
	if (occupant->kind == OCCUPANT_IDLE)
		return why_log_name(walk->log, "an idle CPU");
	if (occupant->kind == OCCUPANT_TASK && occupant->pid == pid)
		return why_log_name(walk->log, "the end of its own switch");
	if (occupant->kind == OCCUPANT_TASK && state_is_real_time(occupant->prio))
		snprintf(text, sizeof(text), "behind %.32s (RT %d)", task_shown(comm), 99 - occupant->prio);
	else
		snprintf(text, sizeof(text), "behind %.48s", task_shown(comm));
	return why_log_name(walk->log, text);
}

/* What the task did on a CPU, or while it waited for one, divided by who had that CPU. */
static void on_cpu(struct walk *walk, int32_t pid, uint32_t name, uint32_t number, enum why_state state,
		   struct span span)
{
	bool waits = state == WHY_WAITED;
	struct why_cpu *cpu = number < walk->log->nr_cpus ? &walk->log->cpus[number] : NULL;
	const struct why_occupant *occupant;
	struct why_link link;

	while (span.from < span.to) {
		occupant = cpu ? occupant_before(walk, &cpu->cursor, cpu->list, span.to) : NULL;
		link = link_of(occupant, pid, name, waits);
		if (waits)
			link.cause = behind(walk, occupant, pid);
		else if (link.state == WHY_RAN)
			link.state = (uint8_t)state;
		link.cpu = link.state == WHY_UNKNOWN ? 0 : (uint16_t)number;
		emit(walk, cut(&span, occupant ? occupant->from : 0), link);
	}
}

/*
 * What was done by somebody before he did this, from the beginning of the span on: a task, or an interrupt. The
 * `sleeper` waited for that; 0: nobody did.
 */
static void before_act(struct walk *walk, const struct cause_act *act, int32_t sleeper, struct span span);

/* The last talk of a task before `to`. */
static const struct why_talk *talk_before(const struct walk *walk, struct why_task *task, uint64_t to)
{
	const struct why_log *log = walk->log;
	struct why_cursor *cursor = why_cursor_of(log, &task->talked, task->talk);
	const struct why_talk *after = why_talk_at(log, cursor->after), *at;

	if (after && after->at < to)
		*cursor = (struct why_cursor){ .at = task->talk, .walk = log->walk };
	while ((at = why_talk_at(log, cursor->at)) && at->at >= to) {
		cursor->after = cursor->at;
		cursor->at = at->before;
	}
	return at;
}

/*
 * When the waker first received something, from the sleeper's last call on that may have sent it something: before
 * that, it cannot have worked for it. 0: nothing tells.
 */
static uint64_t first_received(const struct walk *walk, int32_t sleeper, int32_t waker, struct span span)
{
	struct why_task *one = sleeper > 0 ? task_of(walk, sleeper) : NULL;
	struct why_task *other = waker > 0 && waker != sleeper ? task_of(walk, waker) : NULL;
	const struct why_talk *talk, *sent;
	uint64_t received = 0;

	if (!one || !other || !one->talk || !other->talk)
		return 0;
	sent = talk_before(walk, one, span.from + 1);
	while (sent && !sent->sends)
		sent = why_talk_at(walk->log, sent->before);
	if (!sent || other->born >= sent->at)
		return 0;
	for (talk = talk_before(walk, other, span.to); talk && talk->at >= sent->at;
	     talk = why_talk_at(walk->log, talk->before))
		received = talk->sends ? received : talk->at;
	/* What is no longer kept may have been the first. */
	return talk ? received : 0;
}

/* What `pid` did in the span, which ends with an act of it that ends the sleep of the `sleeper`, if that is not 0. */
static void deeper(struct walk *walk, int32_t pid, int32_t sleeper, struct span span)
{
	uint64_t earlier = walk->earlier;

	if (span.from >= span.to)
		return;
	walk->depth++;
	walk->earlier = first_received(walk, sleeper, pid, span);
	if (walk->depth > DEPTH_MAX)
		unknown(walk, span, pid, REASON_DEEP);
	else
		explain(walk, pid, span);
	walk->earlier = earlier;
	walk->depth--;
}

static bool is_known(const struct walk *walk, const struct cause_act *act)
{
	return act->at && (act->pid || act->cause) && act->at + walk->log->lookback >= walk->begin;
}

static void put(struct walk *walk, struct span span, enum why_state state, int32_t pid, const char *text)
{
	emit(walk, span,
	     (struct why_link){ .pid = pid,
				.name = pid ? name_of(walk, pid) : 0,
				.state = (uint8_t)state,
				.cause = why_log_name(walk->log, text) });
}

/*
 * Only the name of an interrupt or a timer is known: for all that, or because events were lost that tell for whom it
 * acted.
 */
static void before_named(struct walk *walk, enum why_state state, const char *name, int32_t sleeper, struct span span)
{
	uint64_t lost;

	if (why_log_gap(walk->log, span.from, &lost) && lost < span.to)
		unknown(walk, span, sleeper, REASON_LOST);
	else
		put(walk, span, state, sleeper, name);
}

static void before_request(struct walk *walk, const struct cause *cause, const char *name, struct span span)
{
	char text[96];

	snprintf(text, sizeof(text), "%.64s %.8s", name, cause->rwbs);
	if (cause->thread)
		deeper(walk, cause->thread, 0, cut(&span, cause->due));
	else
		put(walk, cut(&span, cause->due), WHY_DONE, 0, text);
	put(walk, cut(&span, is_known(walk, &cause->then) ? cause->then.at : 0), WHY_DISK, 0, text);
	/* Until it was issued, what its issuer did; and until it was queued, what that one did. */
	before_act(walk, &cause->then, 0, cut(&span, is_known(walk, &cause->by) ? cause->by.at : 0));
	before_act(walk, &cause->by, 0, span);
}

/*
 * Whether a timer may have expired, and been set again, while events were lost. One that a task sets for its own sleep
 * does not expire before it is due.
 */
static bool may_be_another(const struct walk *walk, const struct cause *cause, bool own, uint64_t expired)
{
	struct why_gap lost;

	return cause->by.at && why_log_lost(walk->log, WHY_ANY_CPU, own ? cause->due : cause->by.at, expired, &lost);
}

static void before_timer(struct walk *walk, const struct cause *cause, const char *name, int32_t sleeper,
			 struct span span)
{
	bool own = sleeper > 0 && (cause->own || cause->by.pid == sleeper);
	bool another = may_be_another(walk, cause, own, span.to);
	struct span late = { span.to, span.to };
	char text[128];

	if (another && !own) {
		unknown(walk, span, sleeper, REASON_LOST);
		return;
	}
	if (cause->due)
		late = cut(&span, cause->due);
	if (another) {
		unknown(walk, late, sleeper, REASON_LOST);
	} else if (cause->thread) {
		deeper(walk, cause->thread, 0, cut(&late, cause->raised ? cause->raised : late.from));
		put(walk, late, WHY_LATE, sleeper, "its timer");
	} else {
		put(walk, late, WHY_LATE, sleeper, own ? "its timer" : name);
	}
	if (own) {
		put(walk, span, WHY_SLEPT, sleeper, "its own timer");
		return;
	}
	if (!is_known(walk, &cause->by)) {
		before_named(walk, WHY_TIMER, name, sleeper, span);
		return;
	}
	snprintf(text, sizeof(text), "%.64s%s%.32s", name, cause->by.pid ? " set by " : "",
		 cause->by.pid ? why_log_text(walk->log, name_of(walk, cause->by.pid)) : "");
	put(walk, cut(&span, cause->by.at), WHY_TIMER, sleeper, text);
	before_act(walk, &cause->by, 0, span);
}

/* What was done in a softirq or interrupt since `by` raised or sent it. */
static void before_raised(struct walk *walk, const struct cause *cause, enum why_state state, const char *name,
			  int32_t sleeper, struct span span)
{
	const struct cause *inner = cause->by.pid ? NULL : causes_get(&walk->log->state->causes, cause->by.cause);

	if (cause->thread)
		deeper(walk, cause->thread, 0, cut(&span, cause->raised ? cause->raised : cause->by.at));
	/* Raised by an interrupt for nobody: there the sleep began, for all that is known. */
	if (!is_known(walk, &cause->by) || (!cause->by.pid && (!inner || inner->kind == CAUSE_INTERRUPT))) {
		before_named(walk, WHY_INTERRUPT, name, sleeper, span);
		return;
	}
	put(walk, cut(&span, cause->by.at), state, sleeper, name);
	before_act(walk, &cause->by, sleeper, span);
}

static void before_cause(struct walk *walk, uint32_t number, int32_t sleeper, struct span span)
{
	struct causes *causes = (struct causes *)(uintptr_t)&walk->log->state->causes;
	const struct cause *kept = causes_get(causes, number);
	struct cause cause;
	char name[64];

	if (span.from >= span.to)
		return;
	if (!kept) {
		unknown(walk, span, sleeper, number ? REASON_OLD : REASON_INTERRUPT);
		return;
	}
	cause = *kept;
	snprintf(name, sizeof(name), "%s", causes_name(causes, causes_name_of(causes, &cause)));
	switch ((enum cause_kind)cause.kind) {
	case CAUSE_WORK:
		deeper(walk, cause.then.pid, 0, cut(&span, is_known(walk, &cause.by) ? cause.by.at : 0));
		before_act(walk, &cause.by, 0, span);
		return;
	case CAUSE_REQUEST:
		before_request(walk, &cause, name, span);
		return;
	case CAUSE_TIMER:
		before_timer(walk, &cause, name, sleeper, span);
		return;
	case CAUSE_PACKET:
		before_raised(walk, &cause, WHY_NETWORK, name, sleeper, span);
		return;
	case CAUSE_SOFTIRQ:
		before_raised(walk, &cause, WHY_SOFTIRQ, name, sleeper, span);
		return;
	case CAUSE_IPI:
		before_raised(walk, &cause, WHY_IPI, name, sleeper, span);
		return;
	case CAUSE_INTERRUPT:
		if (cause.thread)
			deeper(walk, cause.thread, 0, cut(&span, cause.raised ? cause.raised : span.to));
		before_named(walk, WHY_INTERRUPT, name, sleeper, span);
		return;
	case CAUSE_UNKNOWN:
		break;
	}
	unknown(walk, span, sleeper, REASON_INTERRUPT);
}

static void before_act(struct walk *walk, const struct cause_act *act, int32_t sleeper, struct span span)
{
	if (span.from >= span.to)
		return;
	if (act->pid) {
		deeper(walk, act->pid, sleeper, span);
		return;
	}
	walk->depth++;
	if (walk->depth > DEPTH_MAX)
		unknown(walk, span, 0, REASON_DEEP);
	else
		before_cause(walk, act->cause, 0, span);
	walk->depth--;
}

/* A sleep; `next` is the record that ended it, or NULL. */
static void asleep(struct walk *walk, int32_t pid, const struct why_moment *next, struct span span)
{
	bool woken = next && (next->mode == MODE_WAY || next->mode == MODE_WAIT);

	if (!next) {
		unknown(walk, span, pid, REASON_ASLEEP);
	} else if (woken && next->early) {
		/* He who woke it did so before the sleep. */
		put(walk, span, WHY_WAITED, pid, "the end of its own switch");
	} else if (!woken || next->waker < 0) {
		unknown(walk, span, pid, next->mode == MODE_UNKNOWN ? (enum why_reason)next->reason : REASON_WAKING);
	} else if (next->waker > 0 && !next->cause) {
		deeper(walk, next->waker, pid, span);
	} else {
		before_cause(walk, next->cause, pid, span);
	}
}

/*
 * A task that waited for a CPU of which events were lost may have had it then, and all that followed from that. A sleep
 * is believed: few tasks are woken, run and sleep again without an event of another CPU that tells.
 */
static void doubt(struct walk *walk, int32_t pid, const struct why_moment *at, const struct why_moment *next,
		  struct span *span)
{
	uint32_t cpu = at->mode == MODE_WAY ? WHY_ANY_CPU : at->cpu;
	struct why_gap lost;

	if ((at->mode == MODE_WAIT || at->mode == MODE_WAY) &&
	    why_log_lost(walk->log, cpu, at->from, next ? next->from : UINT64_MAX, &lost))
		unknown(walk, cut(span, lost.from), pid, REASON_LOST);
}

/* A part of what a task did: one mode. `next` is the record after it, or NULL. */
static void piece(struct walk *walk, int32_t pid, const struct why_moment *at, const struct why_moment *next,
		  struct span span)
{
	doubt(walk, pid, at, next, &span);
	switch ((enum why_mode)at->mode) {
	case MODE_RUN:
		if (walk->earlier > span.from) {
			on_cpu(walk, pid, at->name, at->cpu, WHY_RAN, cut(&span, walk->earlier));
			on_cpu(walk, pid, at->name, at->cpu, WHY_EARLIER, span);
			return;
		}
		on_cpu(walk, pid, at->name, at->cpu, WHY_RAN, span);
		return;
	case MODE_WAY:
		if (next && next->mode == MODE_WAIT)
			emit(walk, span,
			     (struct why_link){ .pid = pid,
						.name = at->name,
						.state = WHY_WAITED,
						.cause = why_log_name(walk->log, "the queue of a CPU") });
		else
			on_cpu(walk, pid, at->name, next && next->mode == MODE_RUN ? next->cpu : at->cpu, WHY_WAITED,
			       span);
		return;
	case MODE_WAIT:
		on_cpu(walk, pid, at->name, at->cpu, WHY_WAITED, span);
		return;
	case MODE_BLOCKED:
		asleep(walk, pid, next, span);
		return;
	case MODE_NEW:
		deeper(walk, at->waker, 0, span);
		return;
	case MODE_DEAD:
		/* The PID belongs to a new task from the next record on: its parent had yet to make it. */
		if (next && next->mode == MODE_NEW)
			deeper(walk, next->waker, 0, span);
		else
			unknown(walk, span, pid, REASON_ENDED);
		return;
	case MODE_UNKNOWN:
		unknown(walk, span, pid, (enum why_reason)at->reason);
		return;
	}
}

/* What the task did before its first record. */
static void before_first(struct walk *walk, int32_t pid, const struct why_task *task, const struct why_moment *next,
			 struct span span)
{
	struct why_moment at = { .mode = task->was, .name = task->name, .waker = -1, .reason = REASON_FIRST };
	struct why_gap lost;

	if (walk->log->nr_gaps && task->was == MODE_UNKNOWN)
		at.reason = REASON_LOST;

	if (next && task->was == MODE_NEW)
		at.waker = next->waker;
	at.cpu = next ? next->cpu : 0;
	at.name = next ? next->name : task->name;
	if (next && task->was == MODE_NEW && next->mode != MODE_NEW)
		at.mode = MODE_UNKNOWN;
	/* An earlier event of it may be lost. */
	if (!next || task->was == MODE_NEW || !why_log_lost(walk->log, WHY_ANY_CPU, 0, next->from, &lost))
		lost.to = 0;
	piece(walk, pid, &at, next, cut(&span, lost.to));
	unknown(walk, span, pid, REASON_LOST);
}

static void explain(struct walk *walk, int32_t pid, struct span span)
{
	const struct why_log *log = walk->log;
	struct why_task *task = task_of(walk, pid);
	const struct why_moment *at, *next;
	struct why_cursor cursor;

	if (!task || !task->last) {
		unknown(walk, span, pid, REASON_FIRST);
		return;
	}
	cursor = *why_cursor_of(log, &task->cursor, task->last);
	next = why_moment_at(log, cursor.after);
	if (next && next->from < span.to)
		cursor = (struct why_cursor){ .at = task->last, .walk = log->walk };
	while (span.from < span.to) {
		at = why_moment_at(log, cursor.at);
		next = why_moment_at(log, cursor.after);
		if (!at)
			break;
		if (at->from < span.to)
			piece(walk, pid, at, next, cut(&span, at->from));
		if (span.from >= span.to)
			break;
		cursor.after = cursor.at;
		cursor.at = at->before;
	}
	if (span.from < span.to && cursor.after == task->first)
		before_first(walk, pid, task, why_moment_at(log, cursor.after), span);
	else
		unknown(walk, span, pid, REASON_OLD);
	task->cursor = cursor;
}

static bool turn(const struct why_log *log, struct why_path *path)
{
	for (size_t i = 0; i < path->nr / 2; i++) {
		struct why_link link = path->links[i];

		path->links[i] = path->links[path->nr - 1 - i];
		path->links[path->nr - 1 - i] = link;
	}
	return !path->failed && !log->failed;
}

bool why_walk(struct why_log *log, int32_t pid, uint64_t from, uint64_t to, struct why_path *ret)
{
	struct walk walk = { .log = log, .path = ret, .begin = from };

	*ret = (struct why_path){ .links = NULL };
	log->walk++;
	explain(&walk, pid, (struct span){ from, to });
	return turn(log, ret);
}

bool why_walk_request(struct why_log *log, const struct cause *request, uint64_t to, struct why_path *ret)
{
	struct causes *causes = (struct causes *)(uintptr_t)&log->state->causes;
	struct walk walk = { .log = log, .path = ret, .begin = request->by.at };
	char name[64];

	*ret = (struct why_path){ .links = NULL };
	log->walk++;
	snprintf(name, sizeof(name), "%s", causes_name(causes, causes_name_of(causes, request)));
	before_request(&walk, request, name, (struct span){ request->by.at, to });
	return turn(log, ret);
}

bool why_path_adds_up(const struct why_path *path, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < path->nr; i++) {
		if (path->links[i].from != from || path->links[i].to <= from)
			return false;
		from = path->links[i].to;
	}
	return from == to;
}
