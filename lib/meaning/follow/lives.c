// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/lives.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/labels.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/uapi/names.h"

enum role { FORK = 1, NEWTASK, EXEC, RENAME, EXIT, EXIT_GROUP, EXIT_THREAD, SIGNAL, CALL, ROLES };

static const struct role_name names[] = {
	{ "sched", "sched_process_fork", FORK },       { "task", "task_newtask", NEWTASK },
	{ "sched", "sched_process_exec", EXEC },       { "task", "task_rename", RENAME },
	{ "sched", "sched_process_exit", EXIT },       { "syscalls", "sys_enter_exit_group", EXIT_GROUP },
	{ "syscalls", "sys_enter_exit", EXIT_THREAD }, { "signal", "signal_deliver", SIGNAL },
	{ "raw_syscalls", "sys_enter", CALL },         { NULL, NULL, 0 },
};

/* The fields of each event; NULL: it has no such field. Without a field `pid` an event is about the current task. */
static const struct {
	const char *pid, *name, *number, *parent_name;
} fields[ROLES] = {
	[FORK] = { "child_pid", "child_comm", "parent_pid", "parent_comm" },
	[NEWTASK] = { "pid", "comm", "clone_flags", NULL },
	[EXEC] = { "pid", "filename", "old_pid", NULL },
	[RENAME] = { "pid", "newcomm", NULL, NULL },
	[EXIT] = { "pid", "comm", NULL, NULL },
	[EXIT_GROUP] = { NULL, NULL, "error_code", NULL },
	[EXIT_THREAD] = { NULL, NULL, "error_code", NULL },
	[SIGNAL] = { NULL, "sa_handler", "sig", NULL },
	[CALL] = { NULL, "id", "args", NULL },
};

enum {
	SIGNAL_KILL = 9,
	/* Up to this number, the default of each signal is to end the process, on each architecture. */
	SIGNAL_FATAL = 15,
	LIVES_MAX = 1 << 26,
};

struct lives {
	struct roles roles;
	struct places {
		struct place pid, name, number, parent_name;
	} places[ROLES];
	struct life *lives;
	size_t nr_lives;
	struct u64_map pids;             /* by PID: uint32_t, the number of its last task + 1 */
	struct labels programs;          /* paths */
	int32_t exit_group, exit_thread; /* the numbers of these calls in raw_syscalls; -1: not known */
	uint32_t exiting;                /* how many tasks have life::by_number */
	bool calls;                      /* calls of exit are among the events: who ends without one is killed */
	bool failed;
};

struct lives *lives_new(void)
{
	struct lives *lives = calloc(1, sizeof(*lives));

	if (!lives)
		return NULL;
	roles_init(&lives->roles, names);
	u64_map_init(&lives->pids, sizeof(uint32_t));
	labels_init(&lives->programs);
	return lives;
}

void lives_free(struct lives *lives)
{
	if (!lives)
		return;
	labels_release(&lives->programs);
	free(lives->lives);
	u64_map_release(&lives->pids);
	roles_release(&lives->roles);
	free(lives);
}

static void bind(struct place *place, const struct event *event, const char *name)
{
	if (name)
		(void)place_find(place, event->type, name);
}

/* The first of the arguments is the status. */
static void bind_call(struct lives *lives, const struct event *event)
{
	const char *machine = event->type->context->machine;
	struct place *arguments = &lives->places[CALL].number;

	if (arguments->field && (arguments->field->elem_size == 4 || arguments->field->elem_size == 8))
		arguments->size = (uint8_t)arguments->field->elem_size;
	lives->exit_group = system_call_number(machine, "exit_group");
	lives->exit_thread = system_call_number(machine, "exit");
}

uint8_t lives_look(struct lives *lives, const struct event *event)
{
	bool fresh;
	uint8_t role = roles_of(&lives->roles, event, &fresh);

	if (!fresh)
		return role;
	bind(&lives->places[role].pid, event, fields[role].pid);
	bind(&lives->places[role].name, event, fields[role].name);
	bind(&lives->places[role].number, event, fields[role].number);
	bind(&lives->places[role].parent_name, event, fields[role].parent_name);
	if (role == CALL)
		bind_call(lives, event);
	return role;
}

static bool has_text(const struct place *place, const struct event *event, const char **ret, size_t *ret_len)
{
	return place->field && place_string(place, event, ret, ret_len);
}

static void set_name(char name[TASK_COMM_LEN], const char *text, size_t len)
{
	len = len < TASK_COMM_LEN ? len : TASK_COMM_LEN - 1;
	memcpy(name, text, len);
	memset(name + len, 0, TASK_COMM_LEN - len);
}

static void take_name(const struct place *place, const struct event *event, char name[TASK_COMM_LEN])
{
	const char *text;
	size_t len;

	if (has_text(place, event, &text, &len))
		set_name(name, text, len);
}

/* The last task with this PID, which may have ended. */
static uint32_t last_of(const struct lives *lives, int32_t pid)
{
	const uint32_t *number = u64_map_find(&lives->pids, (uint32_t)pid);

	return number && *number ? *number - 1 : LIFE_NONE;
}

static uint32_t add(struct lives *lives, int32_t pid, const struct event *event)
{
	uint32_t *number = lives->nr_lives < LIVES_MAX ? u64_map_add(&lives->pids, (uint32_t)pid) : NULL;
	struct life *life = number ? vec_push(lives->lives, lives->nr_lives) : NULL;

	if (!life) {
		lives->failed = true;
		return LIFE_NONE;
	}
	*life = (struct life){
		.pid = pid,
		.parent_pid = -1,
		.parent = LIFE_NONE,
		.leader = (uint32_t)(lives->nr_lives - 1),
		.before = *number ? *number - 1 : LIFE_NONE,
		.first = event->ts,
		.last = event->ts,
		.cpu = event->cpu,
		.program = LIFE_NONE,
		.status = LIFE_STATUS_UNKNOWN,
		.reason = LIFE_STATUS_UNKNOWN,
		.group_reason = LIFE_STATUS_UNKNOWN,
	};
	*number = (uint32_t)lives->nr_lives;
	return *number - 1;
}

/* The task that has this PID now. Idle tasks share PID 0 and are not followed. */
static uint32_t living(struct lives *lives, int32_t pid, const struct event *event)
{
	uint32_t last = last_of(lives, pid);

	if (pid <= 0)
		return LIFE_NONE;
	return last != LIFE_NONE && !(lives->lives[last].known & LIFE_ENDED) ? last : add(lives, pid, event);
}

static struct life *tell(struct lives *lives, uint32_t number, const struct event *event)
{
	struct life *life = number == LIFE_NONE ? NULL : &lives->lives[number];

	if (!life)
		return NULL;
	if (!(life->known & LIFE_TOLD)) {
		life->first = event->ts;
		life->cpu = event->cpu;
	}
	life->known |= LIFE_TOLD;
	life->last = event->ts;
	life->renamed_last = false;
	return life;
}

/* sched_process_fork and task_newtask report the same fork, before the new task does anything. */
static bool is_same_fork(const struct life *life, enum role role)
{
	return life->told_by && !(life->told_by & 1 << role) && life->first == life->last &&
	       !(life->known & LIFE_ENDED) && !life->execs && !life->renames;
}

/* Returns the number of the new task, or LIFE_NONE. */
static uint32_t begin(struct lives *lives, int32_t pid, int32_t parent_pid, const struct event *event)
{
	uint32_t parent = living(lives, parent_pid, event), number, last = last_of(lives, pid);
	struct life *life;

	if (last != LIFE_NONE && !(lives->lives[last].known & LIFE_ENDED))
		lives->lives[last].known |= LIFE_REPLACED;
	number = add(lives, pid, event);
	if (number == LIFE_NONE)
		return number;
	life = &lives->lives[number];
	life->known = LIFE_BEGAN;
	life->began = event->ts;
	life->parent_pid = parent_pid;
	life->parent = parent;
	if (parent != LIFE_NONE)
		lives->lives[parent].started++;
	return number;
}

static enum life_what see_fork(struct lives *lives, const struct event *event, enum role role, uint32_t *ret)
{
	const struct places *places = &lives->places[role];
	int32_t pid = (int32_t)place_u64(&places->pid, event),
		parent_pid = role == FORK ? (int32_t)place_u64(&places->number, event) : event->pid;
	uint32_t number = last_of(lives, pid);
	bool again = number != LIFE_NONE && is_same_fork(&lives->lives[number], role);
	struct life *life, *parent;

	if (pid <= 0 || !places->pid.size)
		return LIFE_NOTHING;
	if (!again)
		number = begin(lives, pid, parent_pid, event);
	if (number == LIFE_NONE)
		return LIFE_NOTHING;
	life = &lives->lives[number];
	parent = life->parent == LIFE_NONE ? NULL : &lives->lives[life->parent];
	if (!again)
		(void)tell(lives, number, event);
	life->told_by |= (uint8_t)(1 << role);
	take_name(&places->name, event, life->name);
	take_name(&places->parent_name, event, life->parent_name);
	if (parent && *life->parent_name)
		memcpy(parent->name, life->parent_name, TASK_COMM_LEN);
	else if (parent && !*life->parent_name)
		memcpy(life->parent_name, parent->name, TASK_COMM_LEN);
	if (role == NEWTASK && places->number.size) {
		life->known |= LIFE_FLAGS;
		life->flags = place_u64(&places->number, event);
		if (parent && life_is_thread(life))
			life->leader = parent->leader;
	}
	*ret = number;
	return again ? LIFE_NOTHING : LIFE_FORKED;
}

/* The number of the program with this file; LIFE_NONE without memory. */
static uint32_t program_of(struct lives *lives, const char *path, size_t len)
{
	bool is_new;
	uint32_t number = labels_add(&lives->programs, path, len, &is_new);

	lives->failed |= number == LABEL_NONE;
	return number == LABEL_NONE ? (uint32_t)LIFE_NONE : number;
}

/*
 * begin_new_exec() renames the task after it took over the PID of the ended first thread, and before the exec is told:
 * what see_rename() had to take for a new task is the first thread, which lives on.
 */
static uint32_t undo_rename(struct lives *lives, uint32_t number)
{
	struct life *life = &lives->lives[number];
	uint32_t before = life->before, *last;

	if (before == LIFE_NONE || life->known != LIFE_TOLD || !life->renamed_last || life->first != life->last)
		return number;
	last = u64_map_find(&lives->pids, (uint32_t)life->pid);
	if (last)
		*last = before + 1;
	memcpy(lives->lives[before].name, life->name, TASK_COMM_LEN);
	lives->lives[before].renamed_last = true;
	lives->lives[before].renames++;
	life->known = 0;
	return before;
}

/*
 * The thread that calls exec takes over the PID of its process, whose first thread has ended (de_thread() of
 * fs/exec.c), and its own PID is free. Returns the task that lives on: the first thread.
 */
static uint32_t take_over(struct lives *lives, int32_t pid, int32_t old_pid, const struct event *event)
{
	uint32_t old = last_of(lives, old_pid), first = last_of(lives, pid);

	if (old != LIFE_NONE && !(lives->lives[old].known & LIFE_ENDED)) {
		struct life *life = tell(lives, old, event);

		life->known |= LIFE_ENDED;
		life->ended = event->ts;
	}
	if (first == LIFE_NONE)
		return living(lives, pid, event);
	first = undo_rename(lives, first);
	lives->lives[first].known &= (uint8_t)~LIFE_ENDED;
	lives->lives[first].status = LIFE_STATUS_UNKNOWN;
	return first;
}

static enum life_what see_exec(struct lives *lives, const struct event *event, uint32_t *ret)
{
	const struct places *places = &lives->places[EXEC];
	int32_t pid = places->pid.size ? (int32_t)place_u64(&places->pid, event) : event->pid,
		old_pid = places->number.size ? (int32_t)place_u64(&places->number, event) : pid;
	uint32_t number = pid > 0 && old_pid > 0 && pid != old_pid ? take_over(lives, pid, old_pid, event) :
								     living(lives, pid, event);
	bool renamed = number != LIFE_NONE && lives->lives[number].renamed_last;
	struct life *life = tell(lives, number, event);
	const char *path, *slash;
	size_t len;

	if (!life)
		return LIFE_NOTHING;
	/* begin_new_exec() renames the task before exec_binprm() writes the event. */
	life->renames -= renamed;
	life->execs++;
	life->reason = LIFE_STATUS_UNKNOWN;
	life->group_reason = LIFE_STATUS_UNKNOWN;
	if (!has_text(&places->name, event, &path, &len))
		len = 0;
	slash = len ? memrchr(path, '/', len) : NULL;
	if (len && !renamed)
		set_name(life->name, slash ? slash + 1 : path, slash ? (size_t)(path + len - slash - 1) : len);
	life->program = len ? program_of(lives, path, len) : LIFE_NONE;
	*ret = number;
	return LIFE_EXECED;
}

static enum life_what see_rename(struct lives *lives, const struct event *event, uint32_t *ret)
{
	const struct places *places = &lives->places[RENAME];
	int32_t pid = places->pid.size ? (int32_t)place_u64(&places->pid, event) : event->pid;
	struct life *life;

	*ret = living(lives, pid, event);
	life = tell(lives, *ret, event);
	if (!life)
		return LIFE_NOTHING;
	take_name(&places->name, event, life->name);
	life->renames++;
	life->renamed_last = pid == event->pid;
	return LIFE_RENAMED;
}

/* A signal whose default may be to ignore it ends a task only if the task never calls exit. */
static bool ends(const struct lives *lives, uint16_t reason)
{
	return reason < LIFE_BY_SIGNAL + SIGNAL_FATAL + 1 || (reason != LIFE_STATUS_UNKNOWN && lives->calls);
}

/*
 * When a process ends, its other threads are killed: these end as the process does. If it is older than the events, it
 * may have threads that are not known to be its own, and SIGKILL says nothing about them.
 */
static uint16_t status_of(const struct lives *lives, const struct life *life)
{
	const struct life *leader = &lives->lives[life->leader];
	uint16_t status = ends(lives, life->reason) ? life->reason : LIFE_STATUS_UNKNOWN;

	if (status == LIFE_STATUS_UNKNOWN || status == LIFE_BY_SIGNAL + SIGNAL_KILL)
		status = leader->group_reason;
	return status == LIFE_BY_SIGNAL + SIGNAL_KILL && !(leader->known & LIFE_FLAGS) ? LIFE_STATUS_UNKNOWN : status;
}

static enum life_what see_exit(struct lives *lives, const struct event *event, uint32_t *ret)
{
	const struct places *places = &lives->places[EXIT];
	int32_t pid = places->pid.size ? (int32_t)place_u64(&places->pid, event) : event->pid;
	struct life *life;

	*ret = living(lives, pid, event);
	life = tell(lives, *ret, event);
	if (!life)
		return LIFE_NOTHING;
	take_name(&places->name, event, life->name);
	life->known |= LIFE_ENDED;
	life->ended = event->ts;
	life->status = status_of(lives, life);
	lives->exiting -= life->by_number;
	life->by_number = false;
	return LIFE_EXITED;
}

/* Remembers why the current task may end soon. */
static void see_reason(struct lives *lives, const struct event *event, enum role role, const struct place *place)
{
	uint64_t number = place_u64(place, event);
	bool by_signal = role == SIGNAL;
	uint32_t current;
	struct life *life;

	if (!place->size || (by_signal && (place_u64(&lives->places[SIGNAL].name, event) || number > UINT8_MAX)))
		return;
	current = living(lives, event->pid, event);
	if (current == LIFE_NONE)
		return;
	life = &lives->lives[current];
	lives->calls |= !by_signal;
	life->reason = (uint16_t)(by_signal ? LIFE_BY_SIGNAL + number : number & 0xff);
	if ((role == EXIT_GROUP || (by_signal && number <= SIGNAL_FATAL)) &&
	    lives->lives[life->leader].group_reason == LIFE_STATUS_UNKNOWN)
		lives->lives[life->leader].group_reason = life->reason;
}

/*
 * Who makes another call has not ended: it uses the 32-bit table of calls, in which the number stands for another one.
 */
static void take_back(struct lives *lives, int32_t pid)
{
	uint32_t last = last_of(lives, pid);
	struct life *life = last == LIFE_NONE ? NULL : &lives->lives[last], *leader;

	if (!life || !life->by_number)
		return;
	leader = &lives->lives[life->leader];
	if (leader->group_reason == life->reason)
		leader->group_reason = LIFE_STATUS_UNKNOWN;
	life->reason = LIFE_STATUS_UNKNOWN;
	life->by_number = false;
	lives->exiting--;
}

/* A call of raw_syscalls, which is a reason if it is exit_group or exit. */
static void see_call(struct lives *lives, const struct event *event)
{
	const struct places *places = &lives->places[CALL];
	int64_t number = (int64_t)place_u64(&places->name, event);
	uint32_t last;

	if (lives->exiting)
		take_back(lives, event->pid);
	if (!places->name.size || number < 0 || (number != lives->exit_group && number != lives->exit_thread))
		return;
	see_reason(lives, event, number == lives->exit_group ? EXIT_GROUP : EXIT_THREAD, &places->number);
	last = last_of(lives, event->pid);
	if (last == LIFE_NONE)
		return;
	lives->lives[last].by_number = true;
	lives->exiting++;
}

bool lives_is_reason(uint8_t role)
{
	return role == EXIT_GROUP || role == EXIT_THREAD || role == SIGNAL || role == CALL;
}

enum life_what lives_see(struct lives *lives, const struct event *event, uint8_t role, uint32_t *ret)
{
	switch ((enum role)role) {
	case FORK:
	case NEWTASK:
		return see_fork(lives, event, (enum role)role, ret);
	case EXEC:
		return see_exec(lives, event, ret);
	case RENAME:
		return see_rename(lives, event, ret);
	case EXIT:
		return see_exit(lives, event, ret);
	case EXIT_GROUP:
	case EXIT_THREAD:
	case SIGNAL:
		see_reason(lives, event, (enum role)role, &lives->places[role].number);
		break;
	case CALL:
		see_call(lives, event);
		break;
	case ROLES:
		break;
	}
	return LIFE_NOTHING;
}

void lives_end(struct lives *lives, uint32_t number, uint64_t at)
{
	struct life *life = &lives->lives[number];

	life->known |= LIFE_ENDED;
	life->ended = at;
	life->status = status_of(lives, life);
}

size_t lives_count(const struct lives *lives)
{
	return lives->nr_lives;
}

const struct life *lives_at(const struct lives *lives, uint32_t number)
{
	return &lives->lives[number];
}

const char *lives_program(const struct lives *lives, uint32_t program, size_t *ret_len)
{
	if (ret_len)
		*ret_len = lives->programs.at[program].len;
	return lives->programs.at[program].text;
}

bool lives_failed(const struct lives *lives)
{
	return lives->failed || lives->roles.failed;
}
