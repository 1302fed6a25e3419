// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/syscalls/syscalls_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/files.h"
#include "lib/meaning/reader/reader.h"

/*
 * System calls: pairs the entry and the exit in each task, and counts by call. lib/answers/syscalls/syscalls_lines.c
 * prints them one by one, lib/answers/syscalls/syscalls_tables.c makes the tables.
 */

static const struct analysis_want wants[] = {
	{ "raw_syscalls:sys_enter", "syscalls:sys_enter_*", "when a call begins" },
	{ "raw_syscalls:sys_exit", "syscalls:sys_exit_*", "when it ends, and what it returns" },
	{ "sched:sched_switch", NULL, "on a CPU, blocked or waiting" },
	ANALYSIS_WANTS_WAKING,
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

enum role { RAW_ENTER = 1, RAW_EXIT, ENTER, EXIT, NEW_TASK, SWITCH, STACK };

static const struct role_name names[] = {
	{ "raw_syscalls", "sys_enter", RAW_ENTER },
	{ "raw_syscalls", "sys_exit", RAW_EXIT },
	{ "syscalls", "sys_enter_*", ENTER },
	{ "syscalls", "sys_exit_*", EXIT },
	{ NULL, NULL, 0 },
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct syscalls_analysis *syscalls = arg;

	syscalls->pass = pass;
	if (options)
		syscalls->options = *(const struct syscalls_options *)options;
	syscalls->of_files = syscalls->options.rows.by == SYSCALLS_BY_FILE;
	roles_init(&syscalls->roles, names);
	u64_map_init(&syscalls->kinds, sizeof(struct call_kind));
	u64_map_init(&syscalls->rows, sizeof(struct call_row));
	syscalls->twice = pass_has(pass, "raw_syscalls:sys_enter") && pass_has(pass, "raw_syscalls:sys_exit");
	slowest_init_rows(&syscalls->slowest, sizeof(struct slow_call), &syscalls->options.rows);
	if (pass_is_guest(pass))
		syscalls->host = syscalls_host_new(pass);
	if (pass_is_guest(pass) && !syscalls->host)
		return false;
	return syscalls_trace_init(&syscalls->trace, pass, syscalls->options.failures || pass->files) &&
	       !kinds_init(&syscalls->types, pass->reader->nr_buffers, free) &&
	       (!syscalls->options.rows.slowest || last_switch_out_init(&syscalls->last_outs, pass));
}

static void release(void *arg)
{
	struct syscalls_analysis *syscalls = arg;
	struct call_row *row;
	size_t at = 0;
	uint64_t key;

	while ((row = u64_map_next(&syscalls->rows, &at, &key)))
		samples_release(&row->lasted);
	syscalls_host_free(syscalls->host);
	u64_map_release(&syscalls->rows);
	u64_map_release(&syscalls->kinds);
	kinds_release(&syscalls->types);
	roles_release(&syscalls->roles);
	syscalls_trace_release(&syscalls->trace);
	if (syscalls->options.rows.slowest)
		last_switch_out_release(&syscalls->last_outs);
	free(syscalls->blocks);
	free(syscalls->left);
	free(syscalls->calls);
	free(syscalls->paid);
	slowest_release(&syscalls->slowest);
}

/* Returns the call of the task that has the event's CPU; NULL if it is unknown. */
static inline struct open_call *call_of(struct syscalls_analysis *syscalls, const struct event *event,
					uint32_t *ret_task)
{
	const struct state *state = &syscalls->pass->state;
	uint32_t task = state_acting(state, event);

	if (task == STATE_NO_TASK)
		return NULL;
	*ret_task = task;
	return syscalls_call(syscalls, task);
}

static bool restores(struct syscalls_analysis *syscalls, int64_t number)
{
	const struct call_kind *kind = syscalls_kind(syscalls, number, NULL);

	return kind && kind->restores;
}

/* What is behind the descriptor that the call has as its first argument. */
__attribute__((noinline)) static uint32_t file_of_enter(struct syscalls_analysis *syscalls, const struct event *event,
							int64_t number, const char *name)
{
	const struct call_kind *kind = syscalls_kind(syscalls, number, name);
	const struct call_type *type = name ? kinds_find(&syscalls->types, event) : NULL;
	uint64_t fd = UINT64_MAX;

	if (!kind || !kind->takes)
		return SYSCALLS_NO_FILE;
	if (type)
		fd = place_u64(&type->first, event);
	else if (!place_element(&syscalls->raw_args, event, 0, &fd))
		return FILES_UNKNOWN;
	return files_is(event->type->context, event->pid, (int32_t)fd, event->ts);
}

/* Or what is behind the one that it returned. */
__attribute__((noinline)) static uint32_t file_of_exit(const struct event *event, const struct call_kind *kind,
						       uint32_t file, int64_t returned)
{
	if (kind->takes || !kind->returns)
		return file;
	return returned < 0 ? SYSCALLS_NO_FILE :
			      files_is(event->type->context, event->pid, (int32_t)returned, event->ts);
}

/* Inline: it is the work of each entry, and so is see_exit(). */
__attribute__((always_inline)) static inline void see_enter(struct syscalls_analysis *syscalls,
							    const struct event *event, int64_t number, const char *name,
							    struct open_call *call, uint32_t task)
{
	const struct state *state = &syscalls->pass->state;

	syscalls->entered = true;
	/*
	 * The exit of the open call was not seen. A sigreturn is not counted: among the events of the system syscalls,
	 * x86 has no exit of it, because it leaves no number.
	 */
	syscalls->broken += call->open && !restores(syscalls, call->number) &&
			    syscalls_wants(syscalls, call, &state->tasks[task], call->since);
	/* What is of the task stays: wanted, table32, proves. */
	call->since = state->now;
	call->number = number;
	call->open = true;
	call->seen = true;
	call->losses = state->losses;
	call->blocked = state_blocked(&state->tasks[task]);
	call->waiting = state_waited(&state->tasks[task]);
	call->unknown = state->tasks[task].spent[TASK_UNKNOWN];
	call->slept = state->tasks[task].spent[TASK_SLEEPING];
	call->file = 0;
	call->paid = false;
	if (__builtin_expect(state->naming.wants != NULL, 0))
		call->away = pass_away(syscalls->pass, &state->tasks[task]);
	if (__builtin_expect(syscalls->host != NULL, 0))
		syscalls_host_enter(syscalls, task);
	if (__builtin_expect(syscalls->of_files, 0))
		call->file = file_of_enter(syscalls, event, number, name);
	if (syscalls->options.trace)
		syscalls_line_enter(syscalls, event, number, name, call, task);
}

/*
 * What is known of a call that ends. The functions with one are inline, so that it stays in registers: it is written as
 * a struct slow_call only where somebody wants that.
 */
struct ended {
	int64_t number, returned;
	struct call_time time;
	uint64_t bytes;
	uint32_t task, cpu, file;
	bool failed, moves, paid;
};

#define ENDED_INLINE __attribute__((always_inline)) static inline

ENDED_INLINE struct slow_call slow_of(const struct syscalls_analysis *syscalls, const struct ended *ended)
{
	return (struct slow_call){ .time = ended->time,
				   .at = syscalls->pass->state.now,
				   .number = ended->number,
				   .returned = ended->returned,
				   .cpu = ended->cpu,
				   .task = ended->task,
				   .file = ended->file,
				   .bytes = ended->bytes };
}

ENDED_INLINE void see_worst(struct syscalls_analysis *syscalls, struct call_row *row, const struct ended *ended)
{
	uint64_t at = syscalls->pass->state.now, held = syscalls_held(&ended->time, ended->moves);

	if (!row->worst.at || ended->time.wall > row->worst.lasted) {
		row->worst.lasted = ended->time.wall;
		row->worst.at = at;
		row->worst.cpu = ended->cpu;
		row->worst.task = ended->task;
		pass_note_comm(syscalls->pass, ended->task, row->worst_comm);
	}
	if (held > row->held.lasted) {
		row->held.lasted = held;
		row->held.at = at;
		row->held.from = at - ended->time.wall;
		row->held.task = ended->task;
	}
}

/* `named`: what of its time counts. */
ENDED_INLINE void count(struct syscalls_analysis *syscalls, const struct ended *ended, const struct call_time *named)
{
	static const struct call_time nothing = { .wall = 0 };
	struct call_row *row = syscalls_row(syscalls, ended->number, ended->failed ? -ended->returned : 0, ended->task,
					    ended->cpu, ended->file);

	if (!row)
		return;
	row->calls++;
	row->errors += ended->failed;
	row->bytes += ended->bytes;
	if (__builtin_expect(ended->paid, 0))
		syscalls_add_time(row, named, &syscalls->paid[ended->task]);
	else
		syscalls_add_time(row, named, &nothing);
	samples_add(&row->lasted, &syscalls->pass->budget_apart, ended->time.wall);
	see_worst(syscalls, row, ended);
	if (slowest_wants(&syscalls->slowest, ended->time.wall)) {
		struct slow_call slow = slow_of(syscalls, ended);

		syscalls_slow_keep(syscalls, &slow);
	}
}

/*
 * seccomp and ptrace may refuse a call. Then syscall_trace_enter() of kernel/entry/common.c returns before it records
 * the entry; the exit has the error. How long it took is unknown.
 */
static void count_refused(struct syscalls_analysis *syscalls, const struct event *event, int64_t number,
			  int64_t returned, struct open_call *call, uint32_t task)
{
	struct call_row *row;

	if (!pass_wants_cpu(syscalls->pass, event->cpu) ||
	    !syscalls_wants(syscalls, call, &syscalls->pass->state.tasks[task], UINT64_MAX))
		return;
	row = syscalls_row(syscalls, number, -returned, task, event->cpu, SYSCALLS_NO_FILE);
	if (!row)
		return;
	row->calls++;
	row->errors++;
	syscalls->refused++;
}

/* Counts an exit whose entry was not seen, or whose task lost events since then. */
static void see_lone_exit(struct syscalls_analysis *syscalls, const struct event *event, int64_t number,
			  int64_t returned, struct open_call *call, uint32_t task)
{
	const struct state *state = &syscalls->pass->state;
	bool wanted = syscalls_wants(syscalls, call, &state->tasks[task], UINT64_MAX);

	if (syscalls->entered && call->seen && !call->open && call->losses == state->losses && number >= 0 &&
	    returned_failure(returned))
		count_refused(syscalls, event, number, returned, call, task);
	else if (call->seen)
		syscalls->broken += wanted;
	else if (!state->tasks[task].forked) /* A new task returns from a clone that its parent entered. */
		syscalls->began_before += wanted;
}

__attribute__((always_inline)) static inline void see_exit(struct syscalls_analysis *syscalls,
							   const struct event *event, int64_t number, int64_t returned,
							   const char *name, struct open_call *call, uint32_t id)
{
	const struct state *state = &syscalls->pass->state;
	const struct state_task *task = &state->tasks[id];
	const struct call_kind *kind;
	struct call_time named;
	struct ended ended;

	syscalls->exited = true;
	/*
	 * A sigreturn ends with the number that it restores: none (-1) on x86 and arm64, a call's number elsewhere. The
	 * machine whose numbers tell a sigreturn may be unknown; no other call ends as -1.
	 */
	if (__builtin_expect(call->number != number && call->open && (number == -1 || restores(syscalls, call->number)),
			     0))
		number = call->number;
	if (!call->open || call->number != number || syscalls_is_broken(state, call, task)) {
		see_lone_exit(syscalls, event, number, returned, call, id);
		call->open = false;
		call->seen = true;
		if (syscalls->options.trace)
			syscalls_line_exit(syscalls, event, number, returned, name, call, id, NULL);
		return;
	}
	call->open = false;
	kind = syscalls_kind(syscalls, number, name);
	if (!kind)
		return;
	ended = (struct ended){ .number = number,
				.returned = returned,
				.time = syscalls_time(task, call, state->now),
				.bytes = kind->moves && returned > 0 ? (uint64_t)returned : 0,
				.task = id,
				.cpu = event->cpu,
				.failed = returned_failure(returned) && !kind->restores,
				.moves = kind->moves,
				.paid = call->paid };
	if (__builtin_expect(syscalls->of_files, 0))
		ended.file = file_of_exit(event, kind, call->file, returned);
	if (syscalls->options.trace) {
		struct slow_call line = slow_of(syscalls, &ended);

		syscalls_line_exit(syscalls, event, number, returned, name, call, id, &line);
	}
	if (!ended.failed && (syscalls->options.failures || syscalls->options.rows.by == SYSCALLS_BY_ERROR))
		return;
	if (!pass_wants_cpu(syscalls->pass, event->cpu) || !syscalls_wants(syscalls, call, task, call->since))
		return;
	if (__builtin_expect(syscalls->host != NULL, 0)) {
		struct slow_call hosted = slow_of(syscalls, &ended);

		syscalls_host_exit(syscalls, &hosted);
	}
	named = syscalls_named_time(syscalls, call, task, ended.time);
	count(syscalls, &ended, &named);
}

/* The first field after the common ones is the call's number, whatever its name. */
static struct call_type *new_type(struct syscalls_analysis *syscalls, const struct event *event)
{
	const struct schema_abi *abi = &event->type->context->abi;
	const struct format *format = event->type->format;
	struct call_type *type = calloc(1, sizeof(*type));

	if (!type || !kinds_set(&syscalls->types, event, type)) {
		syscalls->pass->failed = true;
		return NULL;
	}
	syscalls->named = true;
	type->name = strchr(format->name + strlen("sys_e"), '_') + 1;
	if (format->nr_common < format->nr_fields)
		type->number = place_of(&format->fields[format->nr_common], abi);
	if (format->nr_common + 1 < format->nr_fields)
		type->first = place_of(&format->fields[format->nr_common + 1], abi);
	(void)place_bind(&type->returned, format, abi, "ret");
	return type;
}

static inline const struct call_type *type_of(struct syscalls_analysis *syscalls, const struct event *event)
{
	const struct call_type *type = kinds_find(&syscalls->types, event);

	return __builtin_expect(type != NULL, 1) ? type : new_type(syscalls, event);
}

static void bind_raw(struct syscalls_analysis *syscalls, const struct event_type *type, uint8_t role)
{
	(void)place_find(&syscalls->raw_number[role == RAW_EXIT], type, "id");
	syscalls->raw_whole[role == RAW_EXIT] = place_whole_long(&syscalls->raw_number[role == RAW_EXIT]);
	if (role == RAW_ENTER) {
		(void)place_find(&syscalls->raw_args, type, "args");
		return;
	}
	(void)place_find(&syscalls->raw_return, type, "ret");
	if (place_whole_long(&syscalls->raw_return) > syscalls->raw_whole[1])
		syscalls->raw_whole[1] = place_whole_long(&syscalls->raw_return);
}

__attribute__((noinline)) static void see_named(struct syscalls_analysis *syscalls, const struct event *event,
						uint8_t role)
{
	const struct call_type *type = syscalls->raw || syscalls->twice ? NULL : type_of(syscalls, event);
	uint32_t task;
	struct open_call *call = type ? call_of(syscalls, event, &task) : NULL;
	int64_t number;

	if (!call)
		return;
	number = (int64_t)place_u64(&type->number, event);
	if (role == ENTER) {
		/* exit_group has no exit that could name it. */
		(void)syscalls_kind(syscalls, number, type->name);
		see_enter(syscalls, event, number, type->name, call, task);
	} else {
		see_exit(syscalls, event, number, place_s64(&type->returned, event), type->name, call, task);
	}
}

/* Not inline, so that see() has nothing to save before it calls them. */
__attribute__((noinline)) static void see_raw_enter(struct syscalls_analysis *syscalls, const struct event *event)
{
	const struct place *place = &syscalls->raw_number[0];
	int64_t number = event->len >= syscalls->raw_whole[0] ? (int64_t)load_u64(event->data + place->offset, false) :
								place_s64(place, event);
	uint32_t task;
	struct open_call *call = call_of(syscalls, event, &task);

	if (call)
		see_enter(syscalls, event, syscalls_table32_enter(syscalls, event, call, number), NULL, call, task);
}

__attribute__((noinline)) static void see_raw_exit(struct syscalls_analysis *syscalls, const struct event *event)
{
	const struct place *place = &syscalls->raw_number[1], *ret = &syscalls->raw_return;
	bool whole = event->len >= syscalls->raw_whole[1];
	int64_t number = whole ? (int64_t)load_u64(event->data + place->offset, false) : place_s64(place, event);
	int64_t returned = whole ? (int64_t)load_u64(event->data + ret->offset, false) : place_s64(ret, event);
	uint32_t task;
	struct open_call *call = call_of(syscalls, event, &task);

	if (call)
		see_exit(syscalls, event, syscalls_table32_exit(syscalls, call, number, returned), returned, NULL, call,
			 task);
}

static uint8_t look(void *arg, const struct event *event)
{
	struct syscalls_analysis *syscalls = arg;
	uint8_t role, of_state = state_look(&syscalls->pass->state, event);
	bool fresh;

	if (of_state == STATE_FORK || of_state == STATE_NEWTASK)
		return NEW_TASK;
	if (syscalls->options.rows.slowest && of_state == STATE_SWITCH)
		return SWITCH;
	if (syscalls->options.rows.slowest && last_switch_out_look(&syscalls->last_outs, event))
		return STACK;
	role = roles_of(&syscalls->roles, event, &fresh);
	if (fresh && role <= RAW_EXIT) {
		bind_raw(syscalls, event->type, role);
		syscalls->raw = true;
	}
	return role;
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct syscalls_analysis *syscalls = arg;

	switch (role) {
	case RAW_ENTER:
		see_raw_enter(syscalls, event);
		return;
	case RAW_EXIT:
		see_raw_exit(syscalls, event);
		return;
	case ENTER:
	case EXIT:
		see_named(syscalls, event, role);
		return;
	case NEW_TASK:
		if (syscalls->pass->state.step.kind == STEP_FORK)
			syscalls_table32_fork(syscalls);
		return;
	case SWITCH:
		syscalls_slow_switch(syscalls, event);
		return;
	case STACK:
		(void)last_switch_out_see(&syscalls->last_outs, event);
		return;
	default:
		syscalls_line_loss(syscalls, event);
	}
}

static const char *const by[] = { [SYSCALLS_BY_CALL] = "syscall",
				  [SYSCALLS_BY_TASK] = "task",
				  [SYSCALLS_BY_PROCESS] = "process",
				  [SYSCALLS_BY_ERROR] = "errno",
				  [SYSCALLS_BY_CPU] = "cpu",
				  [SYSCALLS_BY_PROGRAM] = "program",
				  [SYSCALLS_BY_UNIT] = "unit",
				  [SYSCALLS_BY_CONTAINER] = "container",
				  [SYSCALLS_BY_POD] = "pod",
				  [SYSCALLS_BY_CGROUP] = "cgroup",
				  [SYSCALLS_BY_USER] = "user",
				  [SYSCALLS_BY_FILE] = "file",
				  NULL };

const struct analysis_ops syscalls_analysis = {
	.name = "syscalls",
	.summary = "show how long system calls took, and which failed",
	.columns = syscalls_columns,
	.by = by,
	.compared_by = by,
	.options_size = sizeof(struct syscalls_options),
	.slow = syscalls_slow,
	.of_tasks = true,
	.wants = wants,
	.nothing = "there are no system calls among the events",
	.recorded_by = "-e raw_syscalls",
	.essential = 2,
	.option = "record-tgid",
	.in_summary = true,
	.apart = true,
	.no_causes = true,
	.size = sizeof(struct syscalls_analysis),
	.init = init,
	.look = look,
	.see = see,
	.divide = syscalls_divide,
	.carry = syscalls_carry,
	.finish = syscalls_finish,
	.release = release,
};

/* The events of each single call name its arguments. A 32-bit task has no such events. */
static const struct analysis_want named_wants[] = {
	{ "syscalls", "raw_syscalls", "calls and their arguments" },
	{ "sched:sched_switch", NULL, "on a CPU, blocked or waiting" },
	ANALYSIS_WANTS_WAKING,
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

const struct analysis_ops syscalls_named_analysis = {
	.name = "syscalls",
	.summary = "show how long system calls took, and which failed",
	.columns = syscalls_columns,
	.wants = named_wants,
	.nothing = "there are no system calls among the events",
	.recorded_by = "-e raw_syscalls",
	.essential = 1,
	.option = "record-tgid",
	.apart = true,
	.no_causes = true,
	.size = sizeof(struct syscalls_analysis),
	.init = init,
	.look = look,
	.see = see,
	.divide = syscalls_divide,
	.carry = syscalls_carry,
	.finish = syscalls_finish,
	.release = release,
};
