// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/locks/locks_internal.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/reader/reader.h"

/* Waits for locks of the kernel (contention_begin and _end, or those of lockdep) and for futexes (the system call). */

static const struct analysis_want wants[] = {
	{ "lock:contention_begin", "lock:lock_contended", "when a task begins to wait for a lock of the kernel" },
	{ "lock:contention_end", "lock:lock_acquired", "when it has it" },
	{ "sched:sched_switch", NULL, "spinning or asleep" },
	{ "sched:sched_waking", NULL, "who ended the wait" },
	{ "syscalls:sys_enter_futex,syscalls:sys_exit_futex", "raw_syscalls", "waits for futexes" },
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

enum role {
	BEGIN = 1,
	END,
	CONTENDED,
	ACQUIRED,
	ACQUIRE,
	RELEASE,
	FUTEX_ENTER,
	FUTEX_EXIT,
	RAW_ENTER,
	RAW_EXIT,
	STACK
};
_Static_assert(STACK + 1 <= LOCKS_ROLES, "as many as there is room for");

static const struct role_name names[] = {
	{ "lock", "contention_begin", BEGIN },
	{ "lock", "contention_end", END },
	{ "lock", "lock_contended", CONTENDED },
	{ "lock", "lock_acquired", ACQUIRED },
	{ "lock", "lock_acquire", ACQUIRE },
	{ "lock", "lock_release", RELEASE },
	{ "syscalls", "sys_enter_futex", FUTEX_ENTER },
	{ "syscalls", "sys_exit_futex", FUTEX_EXIT },
	/* Kernels of 32 bits: a time with 32 bits. */
	{ "syscalls", "sys_enter_futex_time32", FUTEX_ENTER },
	{ "syscalls", "sys_exit_futex_time32", FUTEX_EXIT },
	{ "raw_syscalls", "sys_enter", RAW_ENTER },
	{ "raw_syscalls", "sys_exit", RAW_EXIT },
	{ "ftrace", "kernel_stack", STACK },
	{ NULL, NULL, 0 },
};

/* The fields of each event: the lock, a value and a name. */
static const struct {
	const char *address, *value, *name;
} fields[] = {
	[BEGIN] = { "lock_addr", "flags", NULL },
	[END] = { "lock_addr", "ret", NULL },
	[CONTENDED] = { "lockdep_addr", NULL, "name" },
	[ACQUIRED] = { "lockdep_addr", NULL, "name" },
	[ACQUIRE] = { "lockdep_addr", NULL, "name" },
	[RELEASE] = { "lockdep_addr", NULL, "name" },
	[FUTEX_ENTER] = { "uaddr", "op", "val" },
	[FUTEX_EXIT] = { NULL, "ret", NULL },
	[RAW_ENTER] = { "id", NULL, "args" },
	[RAW_EXIT] = { "id", "ret", NULL },
	[STACK] = { "caller", NULL, NULL },
};

enum { UNDER_WAY_MAX = 1 << 20, FRAMES_MAX = 32 };

/*
 * Functions that take locks, wait for them or trace that. The caller is the first function of a stack that is none of
 * these.
 */
static const char *const own_functions[] = {
	"*lock_slowpath*", "*_lock_slow*",  "*mutex_lock*",    "*mutex_slow*",
	"*mutex_trylock*", "*rtmutex*",     "*rt_mutex*",      "rt_spin_*",
	"rtlock_*",        "*rwbase_*",     "rt_read_*",       "rt_write_*",
	"rwsem_*",         "down_*",        "__down*",         "down",
	"up_read*",        "up_write*",     "_raw_*",          "__raw_*",
	"do_raw_*",        "queued_*",      "native_queued_*", "__pv_queued_*",
	"kvm_*",           "percpu_down_*", "__percpu_*",      "percpu_rwsem_*",
	"osq_*",           "ww_mutex_*",    "__ww_*",          "schedule*",
	"__schedule*",     "preempt_*",     "__traceiter_*",   "trace_contention_*",
	"trace_event_*",   "__trace*",      "ftrace_*",        "task_blocks_on_*",
	"spin_lock*",      "read_lock*",    "write_lock*",
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	const struct row_options *rows = options;
	struct locks_analysis *locks = arg;

	locks->pass = pass;
	locks->by = !rows ? LOCKS_BY_LOCK : rows->by < LOCKS_BY_WHO ? (enum locks_by)rows->by : LOCKS_BY_WHO;
	locks->part = locks->by == LOCKS_BY_WHO ? (enum who_part)(rows->by - LOCKS_BY_WHO) : WHO_PROCESS;
	slowest_init_rows(&locks->slowest, sizeof(struct lock_slow), rows);
	roles_init(&locks->roles, names);
	u64_map_init(&locks->waits, sizeof(struct lock_wait));
	u64_map_init(&locks->calls, sizeof(uint64_t));
	u64_map_init(&locks->held, sizeof(struct lock_wait));
	u64_map_init(&locks->names, LOCKS_NAME);
	u64_map_init(&locks->last, sizeof(struct lock_last));
	u64_map_init(&locks->callers, sizeof(uint8_t));
	u64_map_init(&locks->rows, sizeof(struct lock_row));
	return true;
}

static void release(void *arg)
{
	struct locks_analysis *locks = arg;
	struct lock_row *row;
	size_t at = 0;
	uint64_t key;

	while ((row = u64_map_next(&locks->rows, &at, &key))) {
		samples_release(&row->waits);
		samples_release(&row->held);
	}
	u64_map_release(&locks->rows);
	slowest_release(&locks->slowest);
	u64_map_release(&locks->callers);
	u64_map_release(&locks->last);
	u64_map_release(&locks->names);
	u64_map_release(&locks->held);
	u64_map_release(&locks->calls);
	u64_map_release(&locks->waits);
	roles_release(&locks->roles);
}

/* As in enum lock_contention_flags of include/trace/events/lock.h. A mutex that spins first counts as a mutex. */
static enum lock_type type_of(uint64_t flags)
{
	enum { SPIN = 1, READ = 2, WRITE = 4, RT = 8, PERCPU = 16, MUTEX = 32 };

	if (flags & MUTEX)
		return LOCK_MUTEX;
	if (flags & PERCPU)
		return LOCK_PERCPU;
	if (flags & RT)
		return flags & READ ? LOCK_RT_READ : flags & WRITE ? LOCK_RT_WRITE : LOCK_RT;
	if (flags & SPIN)
		return flags & READ ? LOCK_READ_LOCK : flags & WRITE ? LOCK_WRITE_LOCK : LOCK_SPIN;
	return flags & READ ? LOCK_RWSEM_READ : flags & WRITE ? LOCK_RWSEM_WRITE : LOCK_SEMAPHORE;
}

static void begin(struct locks_analysis *locks, struct u64_map *map, enum lock_type type, uint64_t address,
		  const struct event *event)
{
	const struct state *state = &locks->pass->state;
	uint32_t task = state_acting(state, event);
	struct lock_last *last;
	struct lock_wait *wait;

	if (task == STATE_NO_TASK)
		return;
	if (map->len >= UNDER_WAY_MAX) {
		locks->broken += map->len;
		u64_map_clear(map);
	}
	wait = u64_map_add(map, locks_wait_key(address, task));
	last = u64_map_add(&locks->last, event->cpu);
	if (!wait || !last) {
		locks->pass->failed = true;
		return;
	}
	/* The stack of a system call's entry does not show the caller in the program. */
	*last = (struct lock_last){ .begun = map == &locks->waits && type != LOCK_FUTEX,
				    .key = locks_wait_key(address, task),
				    .events = state->cpus[event->cpu].events };
	/* A mutex that first spins and then sleeps has two contention_begin. */
	if (wait->since && wait->losses == state->losses && wait->address == address && wait->task == task)
		return;
	locks->broken += wait->since && wait->losses != state->losses;
	*wait = (struct lock_wait){
		.address = address,
		.since = event->ts,
		.losses = state->losses,
		.task = task,
		.cpu = event->cpu,
		.type = (uint8_t)type,
		.blocked = state_blocked(&state->tasks[task]),
		.waiting = state_waited(&state->tasks[task]),
		.unknown = state->tasks[task].spent[TASK_UNKNOWN],
	};
}

/* Takes the wait that ends out of the map. Returns false if its begin was not seen, or if events were lost since. */
static bool end(struct locks_analysis *locks, struct u64_map *map, uint64_t address, const struct event *event,
		struct lock_wait *ret)
{
	const struct state *state = &locks->pass->state;
	uint32_t task = state_acting(state, event);
	struct lock_wait *wait = task == STATE_NO_TASK ? NULL : u64_map_find(map, locks_wait_key(address, task));

	if (!wait)
		return false;
	*ret = *wait;
	u64_map_remove(map, locks_wait_key(address, task));
	return ret->losses == state->losses && ret->address == address && ret->task == task;
}

static void keep_slow(struct locks_analysis *locks, const struct lock_wait *wait, const struct lock_slow *slow)
{
	struct lock_slow *kept = slowest_add(&locks->slowest, slow->lasted, &locks->pass->failed);

	if (!kept)
		return;
	*kept = *slow;
	kept->address = wait->address;
	kept->caller = wait->caller;
	kept->task = wait->task;
	pass_note_comm(locks->pass, wait->task, kept->comm);
	kept->type = wait->type;
}

static void count(struct locks_analysis *locks, const struct lock_wait *wait, const struct event *event, bool given_up)
{
	const struct state_task *task = &locks->pass->state.tasks[wait->task];
	struct lock_time time = locks_time(locks, wait, event->ts);
	struct extreme whole = {
		.lasted = time.all, .from = wait->since, .to = event->ts, .cpu = event->cpu, .task = wait->task
	};
	static const struct waker none = WAKER_NONE;
	struct waker waker = time.slept && locks->pass->state.events[STATE_WAKING] ? task->waker : none;
	struct lock_row *row;

	if (!pass_wants_cpu(locks->pass, event->cpu) || !pass_wants_since(locks->pass, task, wait->since))
		return;
	row = locks_row(locks, wait, waker);
	if (!row)
		return;
	samples_add(&row->waits, &locks->pass->budget, time.all);
	locks_add_time(&row->waited, &time, &wait->paid);
	row->given_up += given_up;
	row->mutexes += wait->mutex;
	memcpy(whole.comm, task->comm, sizeof(whole.comm));
	if (!row->longest.to || whole.lasted > row->longest.lasted) {
		row->waker = waker;
		row->caller = wait->caller;
	}
	extreme_see(&row->longest, &whole);
	if (slowest_wants(&locks->slowest, whole.lasted))
		keep_slow(locks, wait,
			  &(struct lock_slow){ .lasted = whole.lasted,
					       .at = event->ts,
					       .blocked = time.slept,
					       .queued = time.queued,
					       .spun = time.spun,
					       .cpu = event->cpu,
					       .waker = waker,
					       .given_up = given_up });
}

static void see_end(struct locks_analysis *locks, uint64_t address, const struct event *event, bool given_up)
{
	struct lock_wait wait;

	if (end(locks, &locks->waits, address, event, &wait))
		count(locks, &wait, event, given_up);
	else if (!locks->pass->state.losses)
		locks->cut++;
	else
		locks->broken++;
}

/* Handles the events of lockdep, which report the names of locks and how long they are held. */
static void see_lockdep(struct locks_analysis *locks, const struct event *event, enum role role)
{
	const struct lock_places *places = &locks->places[role];
	uint64_t address = place_u64(&places->address, event);
	struct lock_wait wait;
	struct lock_row *row;
	const char *text;
	size_t len;
	char *name;

	if (role == ACQUIRE || role == CONTENDED) {
		name = u64_map_add(&locks->names, address);
		locks->pass->failed |= !name;
		if (name && !*name && place_string(&places->name, event, &text, &len))
			memcpy(name, text, len < LOCKS_NAME ? len : LOCKS_NAME - 1);
	}
	if (role == CONTENDED && !locks->contention)
		begin(locks, &locks->waits, LOCK_NAMED, address, event);
	if (role == ACQUIRED && end(locks, &locks->waits, address, event, &wait))
		count(locks, &wait, event, false);
	if (role == ACQUIRED)
		(void)end(locks, &locks->held, address, event, &wait);
	if (role == ACQUIRED || role == ACQUIRE)
		begin(locks, &locks->held, LOCK_NAMED, address, event);
	if (role != RELEASE || !end(locks, &locks->held, address, event, &wait))
		return;
	row = locks->by != LOCKS_BY_WAKER &&
			      pass_wants_since(locks->pass, &locks->pass->state.tasks[wait.task], wait.since) ?
		      locks_row(locks, &wait, (struct waker)WAKER_NONE) :
		      NULL;
	if (!row)
		return;
	samples_add(&row->held, &locks->pass->budget, event->ts - wait.since);
	row->held_all += event->ts - wait.since - wait.paid.all;
}

static void enter_futex(struct locks_analysis *locks, uint64_t address, uint64_t operation, uint64_t value,
			const struct event *event)
{
	uint32_t task = state_acting(&locks->pass->state, event);
	struct lock_wait *wait;
	uint64_t *call;

	if (task == STATE_NO_TASK || !locks_futex_waits(operation))
		return;
	if (locks_futex_joins(locks, task, operation, (uint32_t)value)) {
		locks->joins += pass_wants(locks->pass, &locks->pass->state.tasks[task]);
		return;
	}
	call = u64_map_add(&locks->calls, task);
	locks->pass->failed |= !call;
	if (!call)
		return;
	*call = address;
	begin(locks, &locks->waits, LOCK_FUTEX, address, event);
	wait = u64_map_find(&locks->waits, locks_wait_key(address, task));
	if (wait)
		wait->mutex = locks_futex_is_mutex(operation);
}

/* -EAGAIN: the futex's value had changed, so the task did not wait. */
static void leave_futex(struct locks_analysis *locks, int64_t returned, const struct event *event)
{
	uint32_t task = state_acting(&locks->pass->state, event);
	uint64_t *call = task == STATE_NO_TASK ? NULL : u64_map_find(&locks->calls, task), address;
	struct lock_wait wait;

	if (!call)
		return;
	address = *call;
	u64_map_remove(&locks->calls, task);
	if (!end(locks, &locks->waits, address, event, &wait))
		locks->broken++;
	else if (returned != -11)
		count(locks, &wait, event, returned < 0);
}

static inline bool is_futex(const struct locks_analysis *locks, int64_t number)
{
	for (size_t i = 0; i < locks->nr_futex; i++)
		if (locks->futex[i] == number)
			return true;
	return false;
}

static inline bool is_of_futex(const struct locks_analysis *locks, const struct event *event, enum role role)
{
	const struct place *place = &locks->places[role].address;
	bool whole = event->len >= locks->raw_whole[role == RAW_EXIT];

	return is_futex(locks, whole ? (int64_t)load_u64(event->data + place->offset, false) : place_s64(place, event));
}

static void see_call(struct locks_analysis *locks, const struct event *event, enum role role)
{
	const struct lock_places *places = &locks->places[role];
	uint64_t address, operation, value;

	if (role == FUTEX_ENTER && !locks->raw)
		enter_futex(locks, place_u64(&places->address, event), place_u64(&places->value, event),
			    place_u64(&places->name, event), event);
	else if (role == FUTEX_EXIT && !locks->raw)
		leave_futex(locks, place_s64(&places->value, event), event);
	else if (role < RAW_ENTER)
		return;
	else if (role == RAW_EXIT)
		leave_futex(locks, place_s64(&places->value, event), event);
	else if (place_element(&places->name, event, 0, &address) &&
		 place_element(&places->name, event, 1, &operation) && place_element(&places->name, event, 2, &value))
		enter_futex(locks, address, operation, value, event);
}

static bool is_own(struct locks_analysis *locks, const struct symbol *symbol)
{
	uint8_t *known = u64_map_add(&locks->callers, symbol->address);
	char name[128];

	if (!known)
		locks->pass->failed = true;
	if (!known || *known)
		return known && *known == 2;
	snprintf(name, sizeof(name), "%.*s", (int)symbol->name_len, symbol->name);
	*known = 1;
	for (size_t i = 0; i < array_size(own_functions) && *known == 1; i++)
		*known = text_glob(own_functions[i], name) ? 2 : 1;
	return *known == 2;
}

/* Stores the caller of the wait that began with the CPU's last event. */
static void see_stack(struct locks_analysis *locks, const struct event *event)
{
	const struct context *context = event->type->context;
	const struct lock_last *last = u64_map_find(&locks->last, event->cpu);
	bool follows = last && last->begun && last->events + 1 == locks->pass->state.cpus[event->cpu].events;
	struct lock_wait *wait = follows ? u64_map_find(&locks->waits, last->key) : NULL;
	struct symbol symbol;
	struct stack stack;
	uint64_t address;

	if (!wait || wait->caller)
		return;
	stack_of_kernel(&locks->places[STACK].address, event, &stack);
	for (int i = 0; i < FRAMES_MAX && stack_next(&stack, &address); i++) {
		if (!stack_symbol(context->symbols, address, &symbol)) {
			wait->caller = address;
			break;
		}
		wait->caller = symbol.address;
		if (!is_own(locks, &symbol))
			break;
	}
	locks->stacks |= wait->caller != 0;
}

static void bind(struct locks_analysis *locks, const struct event *event, enum role role)
{
	struct lock_places *places = &locks->places[role];

	(void)(fields[role].address && place_find(&places->address, event->type, fields[role].address));
	(void)(fields[role].value && place_find(&places->value, event->type, fields[role].value));
	(void)(fields[role].name && place_find(&places->name, event->type, fields[role].name));
	locks->contention |= role == BEGIN;
	locks->raw |= role == RAW_ENTER;
	if (role >= RAW_ENTER && role <= RAW_EXIT)
		locks->raw_whole[role == RAW_EXIT] = place_whole_long(&places->address);
	if (role == RAW_ENTER && !locks->nr_futex)
		locks_find_futex(locks);
}

static uint8_t look(void *arg, const struct event *event)
{
	struct locks_analysis *locks = arg;
	bool fresh;
	uint8_t role = roles_of(&locks->roles, event, &fresh);

	if (fresh)
		bind(locks, event, (enum role)role);
	return role;
}

/* Not inline, so that see() has nothing to save: most events are of other calls. */
__attribute__((noinline)) static void see_role(struct locks_analysis *locks, const struct event *event, enum role role)
{
	/* Lost events need no handling here: each wait is checked for them when it ends. */
	if (event->kind != EVENT_RECORD)
		return;
	if (role == STACK) {
		see_stack(locks, event);
		return;
	}
	locks->seen += role < RAW_ENTER;
	locks->of_kernel |= role <= RELEASE;
	if (role == BEGIN)
		begin(locks, &locks->waits, type_of(place_u64(&locks->places[BEGIN].value, event)),
		      place_u64(&locks->places[BEGIN].address, event), event);
	else if (role == END)
		see_end(locks, place_u64(&locks->places[END].address, event), event,
			place_u64(&locks->places[END].value, event) != 0);
	else if (role <= RELEASE)
		see_lockdep(locks, event, role);
	else
		see_call(locks, event, role);
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	if (role < RAW_ENTER || role > RAW_EXIT || __builtin_expect(is_of_futex(arg, event, (enum role)role), 0))
		see_role(arg, event, (enum role)role);
}

static const char *const by[] = { [LOCKS_BY_LOCK] = "lock",   [LOCKS_BY_CALLER] = "caller", [LOCKS_BY_TASK] = "task",
				  [LOCKS_BY_WAKER] = "waker", [LOCKS_BY_WHO] = WHO_WORDS,   NULL };

const struct analysis_ops locks_analysis = {
	.name = "locks",
	.summary = "show how long tasks waited for locks and futexes",
	.columns = locks_columns,
	.by = by,
	.compared_by = by,
	.slow = locks_slow,
	.of_tasks = true,
	.wants = wants,
	.nothing = "there are no waits for locks among the events",
	.recorded_by = "-e lock -e sched",
	.stacks = "lock:contention_begin",
	.stacks_instead = "lock:lock_contended",
	.option = "record-tgid",
	.in_summary = true,
	.size = sizeof(struct locks_analysis),
	.init = init,
	.look = look,
	.see = see,
	.divide = locks_divide,
	.carry = locks_carry,
	.finish = locks_finish,
	.release = release,
};
