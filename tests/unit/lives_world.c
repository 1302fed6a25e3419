// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/listed.h"
#include "lib/meaning/follow/lives.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* Processes that fork, start threads, execute programs, get names and end at random, and what lives.h says of them. */

enum { LIVES = 400, STEPS = 300, PIDS = 30 };

/* What ends a task. */
enum way { NOT_SAID, BY_EXIT, BY_GROUP, BY_SIGNAL };

struct one {
	struct life life;
	bool alive;
	enum way way;
	unsigned number;
	char program[32];
};

struct world {
	struct buf script;
	uint64_t seed, ts;
	/* Which events the recording has of a fork. */
	bool forks, newtasks, calls;
	struct one ones[LIVES];
	size_t nr;
	int32_t last[PIDS + 1]; /* by PID: the number of its last task + 1 */
	enum life_what said[4 * STEPS];
	int32_t about[4 * STEPS];
	size_t nr_said, nr_seen;
	struct lives *lives;
};

static uint32_t pick(struct world *world, uint32_t below)
{
	world->seed ^= world->seed << 13;
	world->seed ^= world->seed >> 7;
	world->seed ^= world->seed << 17;
	return (uint32_t)(world->seed >> 20) % below;
}

__attribute__((format(printf, 5, 6))) static void emit(struct world *world, int32_t pid, enum life_what what,
						       int32_t about, const char *format, ...)
{
	char text[256];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	world->ts += 1 + pick(world, 50);
	CHECK(buf_addf(&world->script, "%u %" PRIu64 " %d %s\n", (unsigned)pid % LOOM_CPUS, world->ts, pid, text));
	world->said[world->nr_said] = what;
	world->about[world->nr_said++] = about;
}

static void told(struct world *world, struct one *one)
{
	one->life.last = world->ts;
	one->life.known |= LIFE_TOLD;
}

static struct one *add(struct world *world, int32_t pid)
{
	struct one *one = &world->ones[world->nr];

	*one = (struct one){ .alive = true,
			     .life = { .pid = pid,
				       .parent_pid = -1,
				       .parent = LIFE_NONE,
				       .leader = (uint32_t)world->nr,
				       .before = world->last[pid] ? (uint32_t)world->last[pid] - 1 : LIFE_NONE,
				       .program = LIFE_NONE,
				       .status = LIFE_STATUS_UNKNOWN } };
	world->last[pid] = (int32_t)++world->nr;
	return one;
}

static uint32_t number_of(const struct world *world, const struct one *one)
{
	return (uint32_t)(one - world->ones);
}

static void name(struct world *world, char into[TASK_COMM_LEN])
{
	memset(into, 0, TASK_COMM_LEN);
	memcpy(into, "name_of_fifteen", 1 + pick(world, 15));
	into[0] = (char)('a' + pick(world, 20));
}

static void begin(struct world *world, struct one *parent)
{
	int32_t pid = 2 + (int32_t)pick(world, PIDS - 1);
	bool thread = pick(world, 2);
	uint64_t flags = thread ? 0x3d0f00 : pick(world, 2) ? 0x1200000 : 0x11;
	struct one *child;
	uint64_t first = 0;

	if (world->nr + 2 > LIVES || (world->last[pid] && world->ones[world->last[pid] - 1].alive))
		return;
	child = add(world, pid);
	child->life.known = LIFE_BEGAN;
	child->life.parent_pid = parent->life.pid;
	child->life.parent = number_of(world, parent);
	child->life.cpu = (uint32_t)parent->life.pid % LOOM_CPUS;
	name(world, child->life.name);
	memcpy(child->life.parent_name, parent->life.name, TASK_COMM_LEN);
	parent->life.started++;
	if (world->newtasks) {
		emit(world, parent->life.pid, LIFE_FORKED, (int32_t)number_of(world, child),
		     "task_newtask pid=%d comm=%s clone_flags=0x%" PRIx64, pid, child->life.name, flags);
		first = world->ts;
		child->life.known |= LIFE_FLAGS;
		child->life.flags = flags;
		if (thread)
			child->life.leader = parent->life.leader;
	}
	if (world->forks) {
		emit(world, parent->life.pid, first ? LIFE_NOTHING : LIFE_FORKED, (int32_t)number_of(world, child),
		     "sched_process_fork parent_comm=%s parent_pid=%d child_comm=%s child_pid=%d", parent->life.name,
		     parent->life.pid, child->life.name, pid);
		first = first ? first : world->ts;
	}
	child->life.first = child->life.began = first;
	world->ts += 5;
	child->life.last = first;
	child->life.known |= LIFE_TOLD;
}

/* The task executes a program; if it is a thread, not by that: it would become the first of its process. */
static void execute(struct world *world, struct one *one)
{
	struct life *life = &one->life;
	const char *slash;

	if (life->leader != number_of(world, one))
		return;
	snprintf(one->program, sizeof(one->program), "%sp%u%.*s", pick(world, 3) ? "/usr/bin/" : "", pick(world, 9),
		 (int)pick(world, 17), "rogram_of_a_user");
	slash = strrchr(one->program, '/');
	/* begin_new_exec() renames the task before, which is no rename of its own. */
	memset(life->name, 0, sizeof(life->name));
	snprintf(life->name, sizeof(life->name), "%.15s", slash ? slash + 1 : one->program);
	if (pick(world, 2))
		emit(world, life->pid, LIFE_RENAMED, (int32_t)number_of(world, one), "task_rename pid=%d newcomm=%s",
		     life->pid, life->name);
	emit(world, life->pid, LIFE_EXECED, (int32_t)number_of(world, one),
	     "sched_process_exec filename=%s pid=%d old_pid=%d", one->program, life->pid, life->pid);
	life->execs++;
	one->way = NOT_SAID;
	told(world, one);
}

static void rename_one(struct world *world, struct one *one)
{
	struct life *life = &one->life;

	memset(life->name, 0, sizeof(life->name));
	name(world, life->name);
	emit(world, life->pid, LIFE_RENAMED, (int32_t)number_of(world, one), "task_rename pid=%d newcomm=%s", life->pid,
	     life->name);
	life->renames++;
	told(world, one);
	/* Another event of it, so that an exec does not take the rename for its own. */
	memset(life->name, 0, sizeof(life->name));
	name(world, life->name);
	emit(world, life->pid == 1 ? 2 : 1, LIFE_RENAMED, (int32_t)number_of(world, one),
	     "task_rename pid=%d newcomm=%s", life->pid, life->name);
	life->renames++;
	told(world, one);
}

static void leave(struct world *world, struct one *one)
{
	struct life *life = &one->life;

	emit(world, life->pid, LIFE_EXITED, (int32_t)number_of(world, one), "sched_process_exit comm=%s pid=%d",
	     life->name, life->pid);
	told(world, one);
	life->known |= LIFE_ENDED;
	life->ended = world->ts;
	one->alive = false;
}

/* A process without other threads ends in one of the ways, or a thread by exit(2). */
static void end(struct world *world, struct one *one)
{
	struct life *life = &one->life;
	enum way way = (enum way)pick(world, 4);
	bool thread = life->leader != number_of(world, one);

	for (size_t i = 0; i < world->nr; i++)
		if (i != number_of(world, one) && world->ones[i].alive && world->ones[i].life.leader == life->leader)
			thread = true;
	if (thread)
		way = BY_EXIT;
	one->number = 1 + pick(world, way == BY_SIGNAL ? 15 : 255);
	if (way == BY_SIGNAL && one->number == 9)
		one->number = 11;
	if (way == BY_EXIT)
		emit(world, life->pid, LIFE_NOTHING, 0, "sys_enter_exit error_code=%u", one->number);
	else if (way == BY_GROUP)
		emit(world, life->pid, LIFE_NOTHING, 0, "sys_enter_exit_group error_code=%u", one->number + 256);
	else if (way == BY_SIGNAL)
		emit(world, life->pid, LIFE_NOTHING, 0, "signal_deliver sig=%u sa_handler=0", one->number);
	/* One with a handler ends nobody. */
	if (way == NOT_SAID)
		emit(world, life->pid, LIFE_NOTHING, 0, "signal_deliver sig=15 sa_handler=0x1000");
	life->status = (uint16_t)(way == BY_SIGNAL ? LIFE_BY_SIGNAL + one->number :
				  way == NOT_SAID  ? LIFE_STATUS_UNKNOWN :
						     one->number);
	leave(world, one);
}

static void see(void *arg, const struct event *event)
{
	struct world *world = arg;
	uint8_t role = lives_look(world->lives, event);
	uint32_t number = LIFE_NONE;
	enum life_what what;

	if (role == ROLE_NONE)
		return;
	what = lives_see(world->lives, event, role, &number);
	CHECK(world->nr_seen < world->nr_said && what == world->said[world->nr_seen]);
	CHECK(what == LIFE_NOTHING || number == (uint32_t)world->about[world->nr_seen]);
	world->nr_seen++;
}

static void check_one(const struct world *world, uint32_t number)
{
	const struct one *one = &world->ones[number];
	const struct life *got = lives_at(world->lives, number), *want = &one->life;

	CHECK(got->pid == want->pid && got->parent_pid == want->parent_pid && got->parent == want->parent);
	CHECK(got->leader == want->leader && got->before == want->before);
	CHECK(got->began == want->began && got->ended == want->ended && got->last == want->last);
	CHECK(got->first == want->first && got->cpu == want->cpu);
	CHECK(got->flags == want->flags && got->known == want->known);
	CHECK(got->execs == want->execs && got->renames == want->renames && got->started == want->started);
	CHECK(got->status == want->status);
	CHECK_STR(got->name, want->name);
	CHECK_STR(got->parent_name, want->parent_name);
	CHECK((got->program != LIFE_NONE) == (want->execs > 0));
	if (want->execs)
		CHECK_STR(lives_program(world->lives, got->program, NULL), one->program);
	CHECK(life_is_whole(got) == (want->began && want->ended));
}

static void play(struct world *world)
{
	struct fail fail = FAIL_INIT;
	struct reader reader;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	/* Some of them are of the other byte order. */
	loom.swap = world->nr & 1;
	loom_type(&loom, "task", "task_newtask", "pid_t pid; char comm[16]; u64 clone_flags", "\"\"");
	loom_type(&loom, "task", "task_rename", "pid_t pid; char oldcomm[16]; char newcomm[16]", "\"\"");
	loom_type(&loom, "sched", "sched_process_exec", "__data_loc char[] filename; pid_t pid; pid_t old_pid", "\"\"");
	loom_type(&loom, "sched", "sched_process_exit", "char comm[16]; pid_t pid; int prio", "\"\"");
	loom_type(&loom, "syscalls", "sys_enter_exit", "int nr; u64 error_code", "\"\"");
	loom_type(&loom, "syscalls", "sys_enter_exit_group", "int nr; u64 error_code", "\"\"");
	loom_type(&loom, "signal", "signal_deliver", "int sig; u64 sa_handler", "\"\"");
	loom_play(&loom, buf_str(&world->script));
	trace = loom_trace(&loom);
	reader_init(&reader);
	CHECK(trace && !reader_add_trace(&reader, trace, &fail) &&
	      !reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail) &&
	      !reader_run(&reader, &(struct reader_consumer){ see, world }, 1, &fail));
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
}

TEST(lives_world_is_what_its_processes_did)
{
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct world *world = calloc(1, sizeof(*world));
		struct one *init;

		REQUIRE(world);
		world->seed = seed * 0x9e3779b97f4a7c15u;
		world->ts = 1000;
		world->newtasks = seed % 3 != 0;
		world->forks = seed % 3 != 1;
		world->lives = lives_new();
		/* The first one is only known by its events. */
		init = add(world, 1);
		memcpy(init->life.name, "init", 5);
		emit(world, 1, LIFE_RENAMED, 0, "task_rename pid=1 newcomm=init");
		init->life.renames = 1;
		init->life.first = world->ts;
		init->life.cpu = 1;
		told(world, init);
		rename_one(world, init);
		while (world->nr_said < STEPS) {
			struct one *one = &world->ones[pick(world, (uint32_t)world->nr)];

			if (!one->alive)
				continue;
			switch (pick(world, 6)) {
			case 0:
				execute(world, one);
				break;
			case 1:
				rename_one(world, one);
				break;
			case 2:
				if (one != init)
					end(world, one);
				break;
			default:
				begin(world, one);
			}
		}
		play(world);
		CHECK(world->nr_seen == world->nr_said && lives_count(world->lives) == world->nr);
		CHECK(!lives_failed(world->lives));
		for (uint32_t i = 0; i < world->nr && i < lives_count(world->lives); i++)
			check_one(world, i);
		lives_free(world->lives);
		buf_release(&world->script);
		free(world);
	}
}

/* --- lib/meaning/follow/listed --- */

/* Which events of a kernel with a PID filter say that a task is on the list, and of whom. */
static const struct {
	const char *script, *on, *pids;
	bool fork;
	int32_t has[4], has_not[4];
} lists[] = {
	/* Nothing but the list. */
	{ "0 1 5 sched_process_fork child_pid=9\n",
	  "sched:sched_switch\n",
	  "5\n7 x -3\n",
	  false,
	  { 5, 7, -3 },
	  { 9, 8 } },
	/* event-fork: a child of a listed task is listed; one of another is not, though its PID was. */
	{ "0 1 5 sched_process_fork child_pid=9\n0 2 6 task_newtask pid=7\n",
	  "sched:sched_switch\n",
	  "5\n7\n",
	  true,
	  { 5, 9 },
	  { 7, 6 } },
	/* Of the idle task and another one, it is the other that is listed. */
	{ "0 1 0 sched_switch prev_pid=0 next_pid=8\n0 2 9 sched_switch prev_pid=9 next_pid=0\n"
	  "0 3 20 sched_switch prev_pid=20 next_pid=21\n",
	  "sched:sched_switch\n",
	  "5\n",
	  false,
	  { 5, 8, 9 },
	  { 20, 21 } },
	/* The idle task itself is. */
	{ "0 1 0 sched_switch prev_pid=0 next_pid=8\n", "sched:sched_switch\n", "0\n", false, { 0 }, { 8 } },
	{ "0 1 0 sched_waking pid=8\n0 2 11 sched_wakeup pid=12\n0 3 0 sched_wakeup_new pid=14\n",
	  "sched:sched_switch\n",
	  "5\n",
	  false,
	  { 8, 14 },
	  { 11, 12 } },
	/* Who makes any other event is listed, but in the tail of a switch, when interrupts are off. */
	{ "0 1 31 tlb_flush\n0 2 32 tlb_flush common_flags=1\n0 3 33 tlb_flush common_flags=9\n"
	  "0 4 34 tlb_flush common_flags=17\n0 5 35 print\n",
	  "sched:sched_switch\n",
	  "5\n",
	  false,
	  { 31, 33, 34 },
	  { 32, 35 } },
};

struct seen {
	struct listed listed;
};

static void see_listed(void *arg, const struct event *event)
{
	struct seen *seen = arg;

	listed_see(&seen->listed, event);
}

TEST(lives_world_lists_the_tasks_of_a_filter_as_the_kernel_does)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct fail fail = FAIL_INIT;
		struct reader reader;
		struct trace *trace;
		struct seen seen;
		struct loom loom;

		loom_init(&loom);
		loom_type(&loom, "task", "task_newtask", "pid_t pid", "\"\"");
		loom_type(&loom, "sched", "sched_wakeup_new", "pid_t pid", "\"\"");
		loom_type(&loom, "tlb", "tlb_flush", "int reason", "\"\"");
		loom_type(&loom, "ftrace", "print", "int ip", "\"\"");
		loom_setting(&loom, "set_event", lists[i].on);
		loom_setting(&loom, "set_event_pid", lists[i].pids);
		loom_setting(&loom, "trace_options", lists[i].fork ? "event-fork\n" : "noevent-fork\n");
		loom_play(&loom, lists[i].script);
		trace = loom_trace(&loom);
		reader_init(&reader);
		listed_init(&seen.listed);
		REQUIRE(trace && !reader_add_trace(&reader, trace, &fail) &&
			!reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail));
		listed_add(&seen.listed, reader.buffers[0].context);
		CHECK(!reader_run(&reader, &(struct reader_consumer){ see_listed, &seen }, 1, &fail));
		CHECK(seen.listed.filtered && !seen.listed.failed && seen.listed.alone == !lists[i].fork);
		for (size_t j = 0; j < 4; j++) {
			CHECK((j && !lists[i].has[j]) || listed_has(&seen.listed, lists[i].has[j]));
			CHECK(!lists[i].has_not[j] || !listed_has(&seen.listed, lists[i].has_not[j]));
		}
		listed_release(&seen.listed);
		reader_release(&reader);
		trace_free(trace);
		loom_release(&loom);
	}
}

/* A buffer without a filter has events of any task; one without switches tells nothing of who is listed. */
TEST(lives_world_has_no_list_where_a_buffer_has_no_filter)
{
	const struct context plain = { .switched_on = "sched:sched_switch\n" },
			     other = { .switched_on = "sched:sched_waking\nsched:sched_switching\n" },
			     filtered = { .switched_on = "irq:x\nsched:sched_switch\n",
					  .event_pids = "5\n",
					  .event_fork = true };
	struct listed listed;

	listed_init(&listed);
	listed_add(&listed, &other);
	CHECK(!listed.filtered && listed.mixed && !listed.unfiltered);
	listed_add(&listed, &filtered);
	CHECK(listed.filtered && listed_has(&listed, 5) && !listed_has(&listed, 6) && !listed.alone);
	listed_add(&listed, &plain);
	CHECK(!listed.filtered && listed_has(&listed, 6) && listed.alone);
	listed_add(&listed, &filtered);
	CHECK(!listed.filtered);
	listed_release(&listed);
}

/* Two buffers that have the same events tell each of them twice: the first one counts. */
TEST(lives_world_takes_each_event_from_one_buffer)
{
	static const struct role_name wanted[] = { { "sched", "sched_waking", 1 },
						   { "sched", "sched_switch", 2 },
						   { "ftrace", "print", 3 },
						   { NULL, NULL, 0 } };
	static const struct format formats[] = { { .system = "sched", .name = "sched_waking" },
						 { .system = "sched", .name = "sched_switch" },
						 { .system = "other", .name = "sched_switch" },
						 { .system = "ftrace", .name = "print" } };
	static const uint8_t roles_wanted[] = { 1, 2, ROLE_NONE, 3 };
	struct event_type types[2][4];
	struct roles roles;
	bool fresh;

	roles_init(&roles, wanted);
	/* The second buffer has the switches first, and the first one all others. */
	for (int turn = 0; turn < 3; turn++)
		for (uint16_t i = 0; i < 4; i++)
			for (uint16_t at = 0; at < 2; at++) {
				uint16_t buffer = i == 1 ? 1 - at : at;
				struct event event = { .buffer = buffer, .type = &types[buffer][i] };

				types[buffer][i] = (struct event_type){ .index = i, .format = &formats[i] };
				CHECK(roles_of(&roles, &event, &fresh) == (at ? ROLE_NONE : roles_wanted[i]));
				CHECK(fresh == (!turn && !at && roles_wanted[i] != ROLE_NONE) || turn || at ||
				      roles_wanted[i] == ROLE_NONE);
			}
	CHECK(!roles.failed);
	roles_release(&roles);
}
