// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/why/why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/why/why_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/uapi/names.h"

/* Finds the intervals that the user asks about, and has each explained where it ends (why_walk.c). */

static const struct analysis_want wants[] = {
	{ "sched:sched_switch", NULL, "who has a CPU" },
	{ "sched:sched_waking", "sched:sched_wakeup", "who woke a task" },
	{ "raw_syscalls:sys_enter,raw_syscalls:sys_exit", "syscalls:sys_enter_*,syscalls:sys_exit_*",
	  "which call a task was in" },
	{ "sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_migrate_task", NULL, "in which queue a task waited" },
	ANALYSIS_WANTS_TASKS,
	{ "irq:irq_handler_entry,irq:irq_handler_exit,irq:softirq_entry,irq:softirq_exit,irq:softirq_raise", NULL,
	  "for whom an interrupt woke a task" },
	{ "irq_vectors", "powerpc:timer_interrupt_*,powerpc:doorbell_*,ipi:ipi_entry,ipi:ipi_exit",
	  "the timer's interrupts and those between CPUs" },
	{ "timer:hrtimer_start,timer:hrtimer_expire_entry,timer:hrtimer_expire_exit,timer:timer_start,"
	  "timer:timer_expire_entry,timer:timer_expire_exit",
	  NULL, "who set a timer, and when it was due" },
	{ "block:block_bio_queue,block:block_rq_issue,block:block_rq_complete", NULL, "the way of a disk's request" },
	{ "workqueue:workqueue_queue_work,workqueue:workqueue_execute_start,workqueue:workqueue_execute_end", NULL,
	  "for whom a worker works" },
	{ "net:net_dev_queue,net:netif_rx,net:netif_receive_skb", NULL, "who sent a packet" },
	{ "ipi:ipi_send_cpu", "ipi:ipi_raise", "who sent an interrupt to another CPU" },
	{ NULL, NULL, NULL },
};

enum role { OTHER = 1, MARK, GONE, DONE, ENTER, EXIT, NAMED_ENTER, NAMED_EXIT };

static const struct role_name names[] = {
	{ "sched", "sched_process_exit", GONE },
	{ "block", "block_rq_complete", DONE },
	{ "raw_syscalls", "sys_enter", ENTER },
	{ "raw_syscalls", "sys_exit", EXIT },
	{ "syscalls", "sys_enter_*", NAMED_ENTER },
	{ "syscalls", "sys_exit_*", NAMED_EXIT },
	{ NULL, NULL, 0 },
};

struct why_type {
	struct place number;
	const char *name;          /* of the call; NULL: by its number */
	struct mark_source source; /* MARK */
	uint8_t talk;              /* of calls with a name: WHY_TALK_... */
};

/* Calls that wait until there is something to do: the longest of them tells that there was nothing. */
static const char *const waiting[] = {
	"epoll_wait",      "epoll_pwait",     "epoll_pwait2", "poll",   "ppoll",           "select",
	"pselect6",        "nanosleep",       "pause",        "wait4",  "clock_nanosleep", "rt_sigsuspend",
	"rt_sigtimedwait", "restart_syscall", "waitid",       "accept", "accept4",         "futex_wait",
	"io_getevents",
};

/* Calls that may send something to another task, or receive it. The same call may do both. */
static const struct {
	const char *name;
	bool sends, receives;
} talks[] = {
	{ "write", true, false },           { "writev", true, false },       { "sendto", true, false },
	{ "sendmsg", true, false },         { "sendmmsg", true, false },     { "send", true, false },
	{ "sendfile", true, false },        { "sendfile64", true, false },   { "splice", true, true },
	{ "msgsnd", true, false },          { "mq_timedsend", true, false }, { "kill", true, false },
	{ "tkill", true, false },           { "tgkill", true, false },       { "semop", true, true },
	{ "semtimedop", true, true },       { "futex", true, true },         { "futex_wake", true, false },
	{ "io_uring_enter", true, true },   { "connect", true, false },      { "read", false, true },
	{ "readv", false, true },           { "recvfrom", false, true },     { "recvmsg", false, true },
	{ "recvmmsg", false, true },        { "recv", false, true },         { "accept", false, true },
	{ "accept4", false, true },         { "epoll_wait", false, true },   { "epoll_pwait", false, true },
	{ "epoll_pwait2", false, true },    { "poll", false, true },         { "ppoll", false, true },
	{ "select", false, true },          { "pselect6", false, true },     { "msgrcv", false, true },
	{ "mq_timedreceive", false, true }, { "futex_wait", false, true },   { "io_getevents", false, true },
	{ "wait4", false, true },           { "waitid", false, true },       { "rt_sigtimedwait", false, true },
};

static void type_free(void *type)
{
	free(type);
}

static void end_span(void *arg, const struct marks_span *span);
static uint64_t unknown_of(const void *arg, int32_t pid, const struct event *event);

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct why_analysis *why = arg;
	const struct marks_calls calls = { .arg = why, .end = end_span, .unknown = unknown_of };

	why->pass = pass;
	why->compares = pass_compares(pass);
	why->brief = !options && !why->compares;
	/* Intervals of a stream show figures, not sentences. */
	why->off = why->brief && pass->divides;
	if (options)
		why->options = *(const struct why_options *)options;
	why->options.all |= why->compares;
	if (!why->options.slowest)
		why->options.slowest = 1;
	why->usual = (why->options.of == WHY_CALL || why->options.of == WHY_LONGEST) && !why_adds(&why->options);
	why_log_init(&why->log, &pass->state, why->brief ? WHY_RECORDS_FEW : WHY_RECORDS_MAX);
	why->log.lookback = WHY_LOOKBACK;
	why_many_init(&why->many);
	why_lengths_init(&why->lengths);
	labels_init(&why->forms.stacks);
	marks_init(&why->marks, &calls);
	return !kinds_init(&why->types, pass->reader->nr_buffers, type_free) && out_init(&why->scratch, 256);
}

static void release(void *arg)
{
	struct why_analysis *why = arg;

	for (size_t list = 0; list < array_size(why->found); list++) {
		for (size_t i = 0; i < why->nr[list]; i++)
			free(why->found[list][i].path.links);
		free(why->found[list]);
	}
	why_log_release(&why->log);
	why_many_release(&why->many);
	why_lengths_release(&why->lengths);
	why_forms_release(&why->forms);
	samples_release(&why->lasted);
	marks_release(&why->marks);
	if (why->scratch.start)
		out_release(&why->scratch);
	kinds_release(&why->types);
	free(why->open);
}

static enum role role_of(const struct format *format)
{
	for (const struct role_name *name = names; format && name->name; name++) {
		size_t len = strlen(name->name);
		bool glob = name->name[len - 1] == '*';

		if (!strcmp(format->system, name->system) &&
		    (glob ? !strncmp(format->name, name->name, len - 1) : !strcmp(format->name, name->name)))
			return (enum role)name->role;
	}
	return OTHER;
}

static void bind_raw(struct why_analysis *why, struct why_type *type, const struct event *event, bool exits)
{
	uint32_t whole;

	(void)place_find(&type->number, event->type, "id");
	whole = place_whole_long(&type->number);
	if (why->raw_whole[exits] && (why->raw_whole[exits] != whole || why->raw_at[exits] != type->number.offset))
		whole = UINT32_MAX;
	why->raw_at[exits] = type->number.offset;
	why->raw_whole[exits] = whole;
}

static uint8_t look(void *arg, const struct event *event)
{
	struct why_analysis *why = arg;
	const struct format *format = event->type->format;
	enum role role = role_of(format);
	struct why_type *type;
	struct mark_source source;

	if (why->off)
		return ROLE_NONE;
	if (why->options.of == WHY_MARK && mark_source_find(&source, event->type))
		role = MARK;
	if ((role == GONE && why->options.of != WHY_RUN) || (role == DONE && why->options.of != WHY_REQUEST))
		role = OTHER;
	if (role == OTHER) {
		uint8_t of = state_look(&why->pass->state, event);

		return of && of < STATE_SOFT_RAISE ? OTHER : ROLE_NONE;
	}
	if (role == GONE || role == DONE)
		return (uint8_t)role;
	type = calloc(1, sizeof(*type));
	if (!type || !kinds_set(&why->types, event, type)) {
		why->failed = true;
		return OTHER;
	}
	if (role == MARK) {
		type->source = source;
		return MARK;
	}
	why->raw |= role <= EXIT;
	if (role > EXIT)
		type->name = format->name + strlen(role == NAMED_ENTER ? "sys_enter_" : "sys_exit_");
	if (role <= EXIT)
		bind_raw(why, type, event, role == EXIT);
	else if (!place_find(&type->number, event->type, "__syscall_nr"))
		(void)place_find(&type->number, event->type, "nr");
	return (uint8_t)role;
}

/* The place of the shortest that is kept; of a list that is not full, where another one can be added. */
static size_t shortest(const struct why_analysis *why, size_t list)
{
	size_t least = 0;

	if (why->nr[list] < why->options.slowest)
		return why->nr[list];
	for (size_t i = 1; i < why->nr[list]; i++)
		if (why->found[list][i].to - why->found[list][i].from <
		    why->found[list][least].to - why->found[list][least].from)
			least = i;
	return least;
}

/* Whether an interval is among the longest so far. */
static bool is_long(const struct why_analysis *why, size_t list, uint64_t lasted)
{
	return lasted > why->least[list];
}

/* One of the longest has been found. */
static void note_least(struct why_analysis *why, size_t list)
{
	size_t least = shortest(why, list);

	if (least < why->nr[list])
		why->least[list] = why->found[list][least].to - why->found[list][least].from;
}

static struct why_found *room(struct why_analysis *why, size_t list, uint64_t lasted)
{
	size_t least = shortest(why, list);
	struct why_found *found;

	if (!is_long(why, list, lasted))
		return NULL;
	if (least < why->nr[list])
		return &why->found[list][least];
	found = vec_push(why->found[list], why->nr[list]);
	why->failed |= !found;
	return found;
}

/* Whether an interval is among the longest so far, or all count. */
static bool counts(const struct why_analysis *why, size_t list, uint64_t lasted)
{
	return lasted && ((!list && why_adds(&why->options)) || is_long(why, list, lasted));
}

/* Names whom the task of each link belonged to then. */
static void name_groups(struct why_analysis *why, const struct why_path *path)
{
	const struct context *context = why->pass->reader->buffers[0].context;
	enum who_part part = (enum who_part)(why->options.by - 1);

	for (size_t i = 0; i < path->nr; i++) {
		struct why_link *link = &path->links[i];
		uint32_t who = link->pid > 0 ? who_is(context, part, link->pid, link->from, NULL) : WHO_NOBODY;

		if (link->pid <= 0)
			continue;
		link->name = why_log_name(&why->log, pass_group_text(why->pass, part, who));
		if (part == WHO_PROCESS && who != WHO_NOBODY)
			link->pid = (int32_t)who;
	}
}

/* `request`: what is explained, which is the task's; NULL: what the task did. */
static void keep_of(struct why_analysis *why, size_t list, const struct state_task *task, const struct cause *request,
		    uint64_t from, uint64_t to, const char *what)
{
	struct why_path path;
	struct why_found *found;

	if (to <= from)
		return;
	if (request)
		why->failed |= !why_walk_request(&why->log, request, to, &path);
	else
		why->failed |= !why_walk(&why->log, task->pid, from, to, &path);
	why->wrong += !why_path_adds_up(&path, from, to);
	if (why->options.by)
		name_groups(why, &path);
	if (!list && why->compares) {
		why_lengths_add(why, &path, "calls");
		free(path.links);
		return;
	}
	if (!list && why_adds(&why->options)) {
		why_many_add(&why->many, &path, to - from);
		if (why->options.form == WHY_FOLDED)
			why_forms_add(why, &path);
		samples_add(&why->lasted, &why->pass->budget, to - from);
	}
	found = room(why, list, to - from);
	if (!found) {
		free(path.links);
		return;
	}
	free(found->path.links);
	*found = (struct why_found){ .from = from, .to = to, .pid = task->pid, .cpu = task->cpu, .path = path };
	snprintf(found->what, sizeof(found->what), "%s", what);
	note_least(why, list);
	found->name = why_log_name(&why->log, pass_comm(why->pass, task));
}

static void keep(struct why_analysis *why, size_t list, const struct state_task *task, uint64_t from, uint64_t to,
		 const char *what)
{
	keep_of(why, list, task, NULL, from, to, what);
}

bool why_waits_for_work(const char *name)
{
	for (size_t i = 0; i < array_size(waiting); i++)
		if (!strcmp(waiting[i], name))
			return true;
	return false;
}

static inline struct why_open *open_of(struct why_analysis *why, uint32_t id)
{
	while (why->nr_open <= id)
		if (!vec_push(why->open, why->nr_open)) {
			why->failed = true;
			return NULL;
		}
	return &why->open[id];
}

/* `number`: of the call that the task `id` begins or ends. */
static void see_call(struct why_analysis *why, const struct event *event, enum role role, const struct why_type *type,
		     int64_t number, uint32_t id)
{
	const struct state_task *task = &why->pass->state.tasks[id];
	struct why_open *open;
	const char *name;
	uint64_t since;
	char text[WHY_NAME];

	if (role == ENTER || role == NAMED_ENTER) {
		open = open_of(why, id);
		if (open)
			*open = (struct why_open){ .since = event->ts, .number = number };
		return;
	}
	open = id < why->nr_open ? &why->open[id] : NULL;
	since = open ? open->since : 0;
	if (!since)
		return;
	open->since = 0;
	if (open->number != number)
		why->broken += why->pass->state.losses > 0;
	if (open->number != number || !counts(why, 0, event->ts - since))
		return;
	name = type->name ? type->name : system_call_name(why->pass->machine, number);
	if (!name) {
		snprintf(text, sizeof(text), "syscall_%" PRId64, number);
		name = text;
	}
	if (why->options.name ? strcmp(name, why->options.name) != 0 : why_waits_for_work(name))
		why->waits++;
	else if (pass_wants_since(why->pass, task, since) && pass_wants_cpu(why->pass, event->cpu))
		keep(why, 0, task, since, event->ts, name);
}

static uint8_t talk_of(const char *name)
{
	for (size_t i = 0; name && i < array_size(talks); i++)
		if (!strcmp(talks[i].name, name))
			return (uint8_t)(WHY_TALK_KNOWN | (talks[i].sends ? WHY_TALK_SENDS : 0) |
					 (talks[i].receives ? WHY_TALK_RECEIVES : 0));
	return WHY_TALK_KNOWN;
}

bool why_may_wait(const char *name)
{
	return why_waits_for_work(name) || talk_of(name) & WHY_TALK_RECEIVES;
}

/* What a call may do, by its name, or else by its number: each is looked up once. */
static uint8_t talk_of_call(struct why_analysis *why, struct why_type *type, int64_t number)
{
	uint8_t *kept = type->name ? &type->talk : number >= 0 && number < WHY_TALKS ? &why->talks[number] : NULL;

	if (!kept)
		return 0;
	if (!*kept)
		*kept = talk_of(type->name ? type->name : system_call_name(why->pass->machine, number));
	return *kept;
}

/* A call begins or ends: notes when tasks may have sent or received something, and which calls were long. */
__attribute__((noinline)) static void see_calls(struct why_analysis *why, const struct event *event, enum role role)
{
	struct why_type *type = kinds_find(&why->types, event);
	uint32_t id = state_acting(&why->pass->state, event);
	bool enters = role == ENTER || role == NAMED_ENTER;
	int64_t number;

	/* It may be the first event that shows which task has the CPU. */
	if (why_log_differs(&why->log, event->cpu))
		why_log_see(&why->log, event);
	if ((why->raw && role > EXIT) || id == STATE_NO_TASK || why->pass->state.tasks[id].idle)
		return;
	number = place_s64(&type->number, event);
	if (talk_of_call(why, type, number) & (enters ? WHY_TALK_SENDS : WHY_TALK_RECEIVES))
		why_log_talk(&why->log, &why->pass->state.tasks[id], enters);
	if (why->options.of == WHY_CALL || why->options.of == WHY_LONGEST)
		see_call(why, event, role, type, number, id);
}

/*
 * The short way of nearly all calls: a task that is known to have the CPU begins one or ends one that is not among the
 * longest. False: nothing was done, see_calls() knows all.
 */
static inline bool see_usual(struct why_analysis *why, const struct event *event, bool exits)
{
	const struct state *state = why->log.state;
	const struct state_cpu *cpu = &state->cpus[event->cpu];
	struct why_open *open;
	int64_t number;
	uint8_t talk;

	if (event->cpu >= state->nr_cpus || event->cpu >= why->log.nr_cpus || cpu->tail == cpu->events || !cpu->pid ||
	    cpu->task != why->log.cpus[event->cpu].task || cpu->task >= why->nr_open ||
	    event->len < why->raw_whole[exits])
		return false;
	number = (int64_t)load_u64(event->data + why->raw_at[exits], false);
	talk = (uint64_t)number < WHY_TALKS ? why->talks[number] : 0;
	open = &why->open[cpu->task];
	if (!talk || (exits && open->since && (open->number != number || event->ts - open->since > why->least[0])))
		return false;
	if (talk & (exits ? WHY_TALK_RECEIVES : WHY_TALK_SENDS))
		why_log_talk(&why->log, &state->tasks[cpu->task], !exits);
	open->since = exits ? 0 : event->ts;
	if (exits)
		return true;
	/* One by one: gcc clears such a structure by `rep stos`, which takes longer than all the rest. */
	open->number = number;
	open->gone = 0;
	return true;
}

static void see_run(struct why_analysis *why, const struct event *event)
{
	const struct state_step *step = &why->pass->state.step;
	const struct state_task *task = &why->pass->state.tasks[step->task];
	uint64_t since = step->waking ? step->waking : step->woken;

	if (task->idle || !since || !step->intact || !counts(why, why->options.of == WHY_LONGEST, event->ts - since) ||
	    (step->was != TASK_WAKING && step->was != TASK_QUEUED) || !pass_wants_since(why->pass, task, since) ||
	    !pass_wants_cpu(why->pass, event->cpu))
		return;
	keep(why, why->options.of == WHY_LONGEST, task, since, event->ts,
	     step->first ? "wakeup as a new task" : "wakeup");
}

static bool is_named(const struct why_analysis *why, const char *name)
{
	return !why->options.name || text_glob(why->options.name, name);
}

/* A task has ended. */
static void see_end(struct why_analysis *why, uint32_t id)
{
	const struct state_task *task = &why->pass->state.tasks[id];

	if (why->compares) {
		if (task->mode == TASK_DEAD && task->born > why->pass->state.start &&
		    pass_wants_since(why->pass, task, task->born) &&
		    why->pass->state.now - task->born > why->life.to - why->life.from)
			why->life = (struct why_life){ task->born, why->pass->state.now, task->pid };
		return;
	}
	if (task->mode == TASK_DEAD && is_named(why, pass_comm(why->pass, task)) &&
	    pass_wants_since(why->pass, task, task->born))
		keep(why, 0, task, task->born, why->pass->state.now, "life");
}

/* A task has exited. It still has its CPU, and the recording may end before it loses that. */
static void see_gone(struct why_analysis *why, const struct event *event)
{
	uint32_t id = state_acting(&why->pass->state, event);
	struct why_open *open = id == STATE_NO_TASK ? NULL : open_of(why, id);

	if (open)
		open->gone = event->ts;
}

/* The lives of tasks that exited, and for which no switch tells that they had ended. */
static void keep_gone(struct why_analysis *why)
{
	for (uint32_t id = 0; id < why->nr_open && id < why->pass->state.nr_tasks; id++) {
		const struct state_task *task = &why->pass->state.tasks[id];
		uint64_t gone = why->open[id].gone;

		if (gone && task->mode != TASK_DEAD && !task->died && is_named(why, pass_comm(why->pass, task)) &&
		    counts(why, 0, gone - task->born) && pass_wants_since(why->pass, task, task->born))
			keep(why, 0, task, task->born, gone, "life");
	}
}

/* A disk's request was completed. */
static void see_request(struct why_analysis *why, const struct event *event)
{
	const struct state *state = &why->pass->state;
	const struct cause *done = &state->causes.done;
	int32_t pid = done->by.pid ? done->by.pid : done->then.pid;
	uint32_t id = pid > 0 ? state_task_once(state, pid) : STATE_NO_TASK;
	struct causes *causes = &why->pass->state.causes;
	char what[WHY_NAME];

	if (!done->by.at || done->due > event->ts || id == STATE_NO_TASK || !counts(why, 0, event->ts - done->by.at) ||
	    !pass_wants_since(why->pass, &state->tasks[id], done->by.at) || !pass_wants_cpu(why->pass, event->cpu))
		return;
	snprintf(what, sizeof(what), "%s %.8s", causes_name(causes, causes_name_of(causes, done)), done->rwbs);
	keep_of(why, 0, &state->tasks[id], done, done->by.at, event->ts, what);
}

/* A span has ended, of a thread or of a process: of this one it is the thread that ends it. */
static void end_span(void *arg, const struct marks_span *span)
{
	struct why_analysis *why = arg;
	const struct state *state = &why->pass->state;
	int32_t pid = span->async && why->marked ? why->marked->pid : span->pid;
	uint32_t id = pid > 0 && why->marked ? state_task_once(state, pid) : STATE_NO_TASK;
	char name[WHY_NAME];

	snprintf(name, sizeof(name), "%.*s", (int)(span->name_len < WHY_NAME ? span->name_len : WHY_NAME), span->name);
	if (span->end != MARKS_KNOWN || id == STATE_NO_TASK || !is_named(why, name) ||
	    !counts(why, 0, span->to - span->start))
		return;
	if (pass_wants_since(why->pass, &state->tasks[id], span->start) && pass_wants_cpu(why->pass, why->marked->cpu))
		keep(why, 0, &state->tasks[id], span->start, span->to, name);
}

static uint64_t unknown_of(const void *arg, int32_t pid, const struct event *event)
{
	const struct why_analysis *why = arg;

	return state_unknown(&why->pass->state, pid, event);
}

static void see_mark(struct why_analysis *why, const struct event *event, uint8_t role)
{
	const struct state *state = &why->pass->state;
	const struct why_type *type;
	struct mark mark;

	if (event->kind != EVENT_RECORD) {
		marks_lose(&why->marks, state->gaps.nr ? state->gaps.items[state->gaps.nr - 1].from : event->ts);
		return;
	}
	if (state->step.kind == STEP_FORK && role == OTHER)
		marks_renew(&why->marks, state->tasks[state->step.task].pid, event->ts);
	type = role == MARK ? kinds_find(&why->types, event) : NULL;
	if (!type || !mark_source_read(&type->source, event, &why->scratch, &mark))
		return;
	why->marked = event;
	marks_see(&why->marks, &mark, event);
	why->marked = NULL;
}

__attribute__((noinline)) static void see_other(struct why_analysis *why, const struct event *event, uint8_t role)
{
	const struct state_step *step = &why->pass->state.step;

	if (why->options.of == WHY_MARK)
		see_mark(why, event, role);
	if (role == MARK)
		return;
	if (role == GONE || role == DONE) {
		if (role == GONE)
			see_gone(why, event);
		else
			see_request(why, event);
		return;
	}
	if (role >= ENTER) {
		see_calls(why, event, (enum role)role);
		return;
	}
	why_log_see(&why->log, event);
	if (step->kind != STEP_SWITCH)
		return;
	if (why->options.of == WHY_WAKEUP || why->options.of == WHY_LONGEST)
		see_run(why, event);
	if ((why->options.of == WHY_RUN || why->compares) && step->other != STATE_NO_TASK)
		see_end(why, step->other);
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct why_analysis *why = arg;

	if (why->off)
		return;
	if (role < ENTER || why->options.of == WHY_MARK)
		see_other(why, event, role);
	else if (role > EXIT || !why->usual || !see_usual(why, event, role == EXIT))
		see_calls(why, event, (enum role)role);
}

/* The one task that the user named. */
static int find_task(struct why_analysis *why, uint32_t *ret, struct fail *fail)
{
	const struct state *state = &why->pass->state;
	const char *at = why->options.name;
	uint32_t found = STATE_NO_TASK, nr = 0;
	int32_t pid;

	if (!number_s32(&at, &pid) || *at || pid <= 0)
		pid = 0;
	for (uint32_t i = 0; i < state->nr_tasks; i++) {
		const struct state_task *task = &state->tasks[i];

		if (task->idle || (pid ? task->pid != pid : !text_glob(why->options.name, pass_comm(why->pass, task))))
			continue;
		nr += found == STATE_NO_TASK || state->tasks[found].pid != task->pid;
		found = i;
	}
	*ret = found;
	if (found == STATE_NO_TASK)
		return fail_set(fail, -ENODATA, "the events name no task '%s'; 'weft list tasks' lists those they name",
				why->options.name);
	if (nr > 1)
		return fail_set(fail, -EINVAL, "%" PRIu32 " tasks are called '%s'; say --task PID", nr,
				why->options.name);
	return 0;
}

static int explain_task(struct why_analysis *why, struct fail *fail)
{
	const struct state *state = &why->pass->state;
	uint64_t from = why->options.from, to = why->options.to;
	const struct state_task *task;
	uint32_t id;
	int r = find_task(why, &id, fail);

	if (r)
		return r;
	from = from ? from : state->start;
	to = to && to < UINT64_MAX ? to : state->now;
	if (from >= to)
		return fail_set(fail, -EINVAL, "--since is not before --until, or not in the file");
	task = &state->tasks[id];
	/* What went on before its fork and after its end is no time of the task. */
	if (task->forked && task->born > from)
		from = task->born;
	if (task->died && task->died < to)
		to = task->died;
	if (from >= to)
		return fail_set(fail, -ENODATA, "task %" PRId32 " did not live at that time", task->pid);
	keep(why, 0, task, from, to, "time");
	return 0;
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct why_analysis *why = arg;
	int r = why->options.of == WHY_TASK ? explain_task(why, fail) : 0;

	if (why->options.of == WHY_RUN)
		keep_gone(why);
	if (!r && why->compares)
		return why_lengths_finish(why, findings, fail);
	return r ? r : why_finish(why, findings, fail);
}

/*
 * It has no shares: who a task waited for is looked up in what all tasks did before (why_log.c), and in the state, on
 * which lost events and the sleep of a task that began long ago leave their mark. A slice that begins a second earlier
 * would find the same causes, but not the same state (lib/answers/frame/pass.c), so that its bytes might be others.
 */
const struct analysis_ops why_analysis = {
	.name = "why",
	.summary = "show where the time of a call, a wakeup or a task went, through all that it waited for",
	.columns = why_columns,
	.wants = wants,
	.nothing = "no task was woken and then ran",
	.recorded_by = "-e sched",
	.essential = 2,
	.in_summary = true,
	.apart = true,
	.size = sizeof(struct why_analysis),
	.init = init,
	.look = look,
	.across = true,
	.see = see,
	.finish = finish,
	.release = release,
};
