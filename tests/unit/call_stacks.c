// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/calls.h"
#include "lib/meaning/follow/marks.h"
#include "lib/meaning/follow/repeats.h"
#include "tests/unit/test.h"

/*
 * Tasks that call functions and return from them at random, on CPUs that they change, and interrupts in between. The
 * test has the stack of each task; calls.h has the events.
 */

enum { TASKS = 6, CPUS = 4, DEPTH = 14, STEPS = 4000, FUNCS = 5 };

static const struct field fields[] = {
	{ .name = "func", .type = "unsigned long", .offset = 8, .size = 8 },
	{ .name = "depth", .type = "int", .offset = 16, .size = 4, .flags = FIELD_SIGNED },
	{ .name = "calltime", .type = "unsigned long long", .offset = 24, .size = 8 },
	{ .name = "rettime", .type = "unsigned long long", .offset = 32, .size = 8 },
};
static const struct format formats[] = {
	{ .system = "ftrace", .name = "funcgraph_entry", .nr_fields = 2, .fields = fields },
	{ .system = "ftrace", .name = "funcgraph_exit", .nr_fields = 2, .fields = fields },
	{ .system = "ftrace", .name = "funcgraph_exit", .nr_fields = 4, .fields = fields },
};
static const struct context context = { .abi = { .long_size = 8 } };
static struct event_type types[] = { { .index = 0, .format = &formats[0], .context = &context },
				     { .index = 1, .format = &formats[1], .context = &context },
				     { .index = 2, .format = &formats[2], .context = &context } };

struct frame {
	uint64_t func, start, nested, interrupted, mark, word;
	uint8_t within;
};

struct task {
	int32_t pid;
	uint16_t cpu;
	struct frame stack[DEPTH];
	size_t nr;
	bool hidden, escaped;
};

struct machine {
	uint64_t seed, ts, mark, words, gone, entered, ended;
	bool lossy, timed;
	struct task tasks[TASKS];
	unsigned dropping[CPUS];
	bool missing[CPUS];
	struct calls *calls;
};

static uint64_t pick(uint64_t *seed, uint64_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (*seed >> 8) % below;
}

static bool drops(struct machine *machine, struct task *task)
{
	uint16_t cpu = task->cpu;
	struct call call;

	if (machine->lossy && !machine->dropping[cpu] && pick(&machine->seed, 50) == 0)
		machine->dropping[cpu] = 1 + (unsigned)pick(&machine->seed, 8);
	if (machine->dropping[cpu]) {
		machine->dropping[cpu]--;
		machine->missing[cpu] = true;
		task->hidden = true;
		return true;
	}
	if (machine->missing[cpu]) {
		CHECK(!calls_see(machine->calls, &(struct event){ .kind = EVENT_LOST, .cpu = cpu, .ts = machine->ts },
				 &call));
		for (size_t i = 0; i < TASKS; i++)
			if (machine->tasks[i].cpu == cpu)
				machine->tasks[i].hidden = false;
	}
	machine->missing[cpu] = false;
	return false;
}

static bool see(struct machine *machine, const struct task *task, unsigned type, const struct frame *frame,
		struct call *call)
{
	uint8_t data[40] = { 0 };
	const struct event event = { .ts = machine->ts,
				     .type = &types[type],
				     .pid = task->pid,
				     .cpu = task->cpu,
				     .flags = frame->within ? frame->within | EVENT_IRQS_OFF : 0,
				     .data = data,
				     .len = sizeof(data) };
	int32_t depth = (int32_t)(frame - task->stack);
	bool ended;

	memcpy(data + 8, &frame->func, 8);
	memcpy(data + 16, &depth, 4);
	memcpy(data + 24, &frame->start, 8);
	memcpy(data + 32, &machine->ts, 8);
	ended = calls_see(machine->calls, &event, call);
	for (size_t back = 0; !machine->lossy && back <= task->nr; back++) {
		const struct frame *open = &task->stack[back < task->nr ? task->nr - 1 - back : 0];
		struct calls_frame found;

		if (!CHECK(calls_frame(machine->calls, &event, back, &found) == (back < task->nr)) || back == task->nr)
			break;
		CHECK(found.func == open->func && found.depth == open - task->stack && found.within == open->within);
		if (!*found.word)
			*found.word = open->word;
		CHECK(*found.word == open->word);
	}
	return ended;
}

static void enter(struct machine *machine, struct task *task)
{
	const struct frame *caller = task->nr ? &task->stack[task->nr - 1] : NULL;
	struct frame *frame = &task->stack[task->nr++];
	struct call call = { .func = 0 };

	*frame = (struct frame){ .func = 1 + pick(&machine->seed, FUNCS),
				 .start = machine->ts,
				 .mark = machine->mark,
				 .word = ++machine->words,
				 .within = caller ? caller->within : 0 };
	if (pick(&machine->seed, 6) == 0)
		frame->within |= pick(&machine->seed, 2) ? EVENT_HARDIRQ : EVENT_SOFTIRQ;
	if (task->nr == 1)
		task->escaped = task->hidden = false;
	if (drops(machine, task))
		return;
	CHECK(!see(machine, task, 0, frame, &call) && call.func == frame->func);
}

static bool is_open(const struct task *task, uint64_t func)
{
	for (size_t i = 0; i < task->nr; i++)
		if (task->stack[i].func == func)
			return true;
	return false;
}

static void leave(struct machine *machine, struct task *task)
{
	struct frame *frame = &task->stack[--task->nr], *caller = task->nr ? frame - 1 : NULL;
	uint64_t lasted = machine->ts - frame->start;
	bool interrupts = caller && frame->within & (uint8_t)~caller->within, known;
	struct call call = { .func = 0 };

	if (caller) {
		caller->nested += lasted;
		caller->interrupted += interrupts ? lasted : frame->interrupted;
	}
	if (drops(machine, task) || !CHECK(see(machine, task, machine->timed ? 2 : 1, frame, &call)))
		return;
	machine->ended++;
	CHECK(call.func == frame->func && call.depth == frame - task->stack);
	if (!machine->lossy)
		CHECK(call.entered && call.again == is_open(task, frame->func) && call.interrupts == interrupts &&
		      call.nested == frame->nested && call.interrupted == frame->interrupted &&
		      call.word == frame->word);
	known = call.entered && !task->escaped && !task->hidden;
	machine->entered += known;
	if (known)
		CHECK(call.timed && call.start == frame->start && call.lasted == lasted && call.mark == frame->mark &&
		      call.nested <= frame->nested);
	if (machine->timed)
		CHECK(call.timed && call.start == frame->start && call.lasted == lasted);
	CHECK(!call.repeats.inside.calls && (machine->lossy || !call.repeats.outside.calls));
}

static void step(struct machine *machine)
{
	struct task *task = &machine->tasks[pick(&machine->seed, TASKS)];
	uint16_t cpu = task->cpu;

	machine->ts += 1 + pick(&machine->seed, 100);
	if (pick(&machine->seed, 8) == 0)
		calls_mark(machine->calls, machine->mark = pick(&machine->seed, 1000));
	if (task->pid && pick(&machine->seed, 5) == 0 && (!task->nr || !task->stack[task->nr - 1].within))
		task->cpu = (uint16_t)pick(&machine->seed, CPUS);
	/* What a CPU has lost is not yet known, and the task goes on elsewhere. */
	task->escaped |= task->cpu != cpu && task->hidden;
	if (!task->nr || (task->nr < DEPTH && pick(&machine->seed, 2)))
		enter(machine, task);
	else
		leave(machine, task);
}

static void run(struct machine *machine, uint64_t seed, bool lossy)
{
	struct calls_left left;
	size_t open = 0;

	*machine = (struct machine){
		.seed = seed * 0x9e3779b97f4a7c15u, .ts = 1000, .timed = seed & 1, .lossy = lossy, .calls = calls_new()
	};
	REQUIRE(machine->calls);
	for (size_t i = 0; i < TASKS; i++) {
		machine->tasks[i].pid = i < 2 ? 0 : (int32_t)(100 * i);
		machine->tasks[i].cpu = (uint16_t)(i % CPUS);
	}
	for (unsigned i = 0; i < STEPS; i++)
		step(machine);
	for (size_t i = 0; i < TASKS; i++)
		open += machine->tasks[i].nr;
	left = calls_left(machine->calls);
	if (!lossy)
		CHECK(left.open == open && !left.lost && !left.dropped);
	else
		CHECK(left.lost > 0);
	CHECK(!calls_starved(machine->calls) && machine->entered > STEPS / 10);
	calls_free(machine->calls);
}

TEST(call_stacks_of_any_tasks_are_those_that_they_had)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct machine machine;

		run(&machine, seed, false);
		CHECK(machine.entered == machine.ended);
	}
}

TEST(call_stacks_of_which_events_are_lost_pair_no_exit_with_another_entry)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct machine machine;

		run(&machine, seed, true);
	}
}

static uint64_t half(void *arg, int32_t pid)
{
	*(int32_t *)arg |= 1 << pid;
	return 5;
}

static bool see_one(struct calls *calls, unsigned type, int32_t pid, uint64_t func, uint64_t ts, struct call *call)
{
	struct machine machine = { .ts = ts, .calls = calls, .lossy = true };
	struct task task = { .pid = pid, .stack[0] = { .func = func }, .nr = 1 };

	return see(&machine, &task, type, task.stack, call);
}

TEST(call_stacks_go_on_in_the_next_interval_and_ended_ones_are_forgotten)
{
	struct calls *calls = calls_new();
	struct call call = { .func = 0 };
	int32_t asked = 0;

	REQUIRE(calls);
	calls_mark(calls, 100);
	see_one(calls, 0, 1, 7, 10, &call);
	see_one(calls, 0, 2, 8, 10, &call);
	see_one(calls, 0, 3, 9, 10, &call);
	CHECK(see_one(calls, 1, 2, 8, 20, &call) && call.mark == 100);
	calls_rebase(calls, half, &asked);
	CHECK(asked == (1 << 1 | 1 << 3));
	CHECK(calls_trim(calls, 10) && calls_left(calls).open == 2);
	CHECK(see_one(calls, 1, 1, 7, 30, &call) && call.entered && call.mark == 95 && call.lasted == 20);
	see_one(calls, 0, 1, 7, 40, &call);
	/* Of two tasks with open calls one is kept. */
	CHECK(calls_trim(calls, 1) && calls_left(calls).open == 1);
	CHECK(!calls_trim(calls, 0) && !calls_left(calls).open && !calls_left(calls).lost);
	calls_free(calls);
}

/* Calls of a function, and where they are looked for once more. */
TEST(call_stacks_look_once_more_at_calls_that_an_interrupt_made)
{
	struct repeats repeats = { .starved = false };
	struct repeats_found found;

	/* Three calls in an interrupt, of which the second is of another function and the third came too early. */
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 100, .lasted = 5, .interrupted = 2 });
	repeats_add(&repeats, &(struct repeat){ .func = 2, .start = 110, .lasted = 5 });
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 80, .lasted = 5, .interrupted = 1 });
	CHECK(!repeats_begin(&repeats, 1, 3) && !repeats.log.nr);
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 100, .lasted = 5, .interrupted = 2 });
	repeats_add(&repeats, &(struct repeat){ .func = 2, .start = 110, .lasted = 5 });
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 80, .lasted = 5, .interrupted = 1 });
	CHECK(repeats_begin(&repeats, 1, 1));
	/* A call of it by the function at place 2, and one inside it. */
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 120, .lasted = 5, .place = 2 });
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 130, .lasted = 7, .place = 1 });
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 200, .lasted = 9, .interrupted = 4, .place = 1 });
	found = repeats_end(&repeats, 1, &(struct repeat){ .func = 1, .start = 100, .lasted = 100 });
	CHECK(found.inside.calls == 1 && found.inside.lasted == 5 && found.inside.interrupted == 2);
	CHECK(found.outside.calls == 1 && found.outside.lasted == 9 && found.outside.interrupted == 4);
	/* Those at place 2 still wait, and what has ended is forgotten. */
	found = repeats_end(&repeats, 1, &(struct repeat){ .func = 1, .start = 0, .lasted = 1000 });
	CHECK(!found.inside.calls && !found.outside.calls);
	found = repeats_end(&repeats, 2, &(struct repeat){ .func = 1, .start = 0, .lasted = 120 });
	CHECK(!found.inside.calls && found.outside.calls == 1 && found.outside.lasted == 5);
	/* One whose end came after the records of an interrupt at its depth. */
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 100, .lasted = 5 });
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 200, .lasted = 5 });
	repeats_add(&repeats, &(struct repeat){ .func = 2, .start = 150, .lasted = 5 });
	found = repeats_end(&repeats, 0, &(struct repeat){ .func = 1, .start = 100, .lasted = 100 });
	CHECK(found.inside.calls == 1 && !found.outside.calls);
	/* A call contains those that it made. */
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 300, .lasted = 5, .place = 3 });
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 310, .lasted = 6, .place = 3 });
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = 305, .lasted = 30, .place = 3 });
	found = repeats_end(&repeats, 3, &(struct repeat){ .func = 1, .start = 400, .lasted = 1 });
	CHECK(found.outside.calls == 2 && found.outside.lasted == 35);
	repeats_release(&repeats);
	CHECK(!repeats.open.items && !repeats.log.items);
}

TEST(call_stacks_look_at_the_last_of_more_calls_than_there_is_room_for)
{
	enum { ROOM = 1 << 10 };
	struct repeats repeats = { .starved = false };
	struct repeats_found found;

	for (uint64_t i = 0; i < ROOM; i++)
		repeats_add(&repeats, &(struct repeat){ .func = 1, .start = i, .lasted = 1 });
	found = repeats_end(&repeats, 0, &(struct repeat){ .func = 1, .start = 0, .lasted = ROOM });
	CHECK(found.inside.calls == ROOM);
	repeats_add(&repeats, &(struct repeat){ .func = 1, .start = ROOM, .lasted = 1 });
	found = repeats_end(&repeats, 0, &(struct repeat){ .func = 1, .start = 0, .lasted = ROOM + 1 });
	CHECK(found.inside.calls == ROOM / 2 + 1);
	found = repeats_end(&repeats, 0, &(struct repeat){ .func = 1, .start = ROOM / 2, .lasted = ROOM });
	CHECK(found.inside.calls == ROOM / 2 + 1);
	repeats_release(&repeats);
}

/* Marks of threads and processes at random, beside lists of what is open. */

struct open {
	uint64_t start;
	unsigned name, cookie, tgid, track;
	bool lost;
	uint64_t lost_at;
};

struct marked {
	struct marks marks;
	struct open threads[3][64], asyncs[512];
	size_t nr[3], nr_asyncs;
	uint64_t unbegun, again, told;
	/* What is to be told by the next call; ended.start 0: nothing. */
	struct open ended;
	enum marks_end how;
	uint64_t to;
	bool async;
};

static const char *const words[] = { "a", "b", "draw", "aa" };

static void see_mark(void *arg, const struct marks_span *span)
{
	struct marked *marked = arg;
	const struct open *ended = &marked->ended;

	marked->told++;
	CHECK(ended->start && span->start == ended->start && span->to == marked->to && span->end == marked->how);
	CHECK(span->async == marked->async);
	CHECK_MEM(span->name, span->name_len, words[ended->name], strlen(words[ended->name]));
	CHECK(!span->track == !ended->track);
	if (span->track)
		CHECK_MEM(span->track, span->track_len, words[ended->track], strlen(words[ended->track]));
	if (span->async)
		CHECK(span->cookie == (int64_t)ended->cookie && span->tgid == (int32_t)ended->tgid);
	marked->ended.start = 0;
}

static void expect(struct marked *marked, const struct open *open, bool async, uint64_t ts)
{
	marked->ended = *open;
	marked->async = async;
	marked->how = open->lost ? MARKS_LOST : MARKS_KNOWN;
	marked->to = open->lost ? open->lost_at : ts;
}

static struct open *find_async(struct marked *marked, const struct open *wanted)
{
	for (size_t i = 0; i < marked->nr_asyncs; i++) {
		struct open *open = &marked->asyncs[i];

		if (open->cookie == wanted->cookie && open->tgid == wanted->tgid && open->track == wanted->track &&
		    (wanted->track || open->name == wanted->name))
			return open;
	}
	return NULL;
}

static void mark_async(struct marked *marked, uint64_t *seed, uint64_t ts)
{
	struct open one = { .start = ts,
			    .name = (unsigned)pick(seed, 4),
			    .cookie = (unsigned)pick(seed, 3),
			    .tgid = (unsigned)pick(seed, 3),
			    .track = (unsigned)pick(seed, 3) };
	struct mark mark = { .kind = pick(seed, 2) ? MARK_ASYNC_BEGIN : MARK_ASYNC_END,
			     .tgid = (int32_t)one.tgid,
			     .name = words[one.name],
			     .name_len = strlen(words[one.name]),
			     .track = one.track ? words[one.track] : NULL,
			     .track_len = one.track ? strlen(words[one.track]) : 0,
			     .number = one.cookie };
	const struct event event = { .ts = ts, .pid = (int32_t)pick(seed, 3) + 1 };
	struct open *found = find_async(marked, &one);

	if (mark.kind == MARK_ASYNC_BEGIN) {
		if (found && found->lost)
			expect(marked, found, true, ts);
		else
			marked->again += found != NULL;
		if (!found)
			found = &marked->asyncs[marked->nr_asyncs++];
		else if (!found->lost)
			one = *found;
		*found = one;
	} else if (found) {
		expect(marked, found, true, ts);
		*found = marked->asyncs[--marked->nr_asyncs];
	} else {
		marked->unbegun++;
	}
	marks_see(&marked->marks, &mark, &event);
	CHECK(!marked->ended.start);
}

static void mark_thread(struct marked *marked, uint64_t *seed, uint64_t ts)
{
	size_t thread = (size_t)pick(seed, 3), *nr = &marked->nr[thread];
	struct open one = { .start = ts, .name = (unsigned)pick(seed, 4) };
	bool begins = *nr < 60 && pick(seed, 2);
	struct mark mark = { .kind = begins ? MARK_BEGIN : MARK_END,
			     .name = words[one.name],
			     .name_len = strlen(words[one.name]) };
	const struct event event = { .ts = ts, .pid = (int32_t)thread + 1 };

	if (begins) {
		marked->threads[thread][(*nr)++] = one;
	} else if (*nr) {
		expect(marked, &marked->threads[thread][--*nr], false, ts);
	} else {
		marked->unbegun++;
	}
	marks_see(&marked->marks, &mark, &event);
	CHECK(!marked->ended.start);
}

/* All spans of threads end at the loss, with the next mark of the thread: here only those of processes are open. */
static void lose(struct marked *marked, uint64_t ts)
{
	marks_lose(&marked->marks, ts);
	for (size_t i = 0; i < marked->nr_asyncs; i++) {
		if (!marked->asyncs[i].lost)
			marked->asyncs[i].lost_at = ts;
		marked->asyncs[i].lost = true;
	}
}

static uint64_t all_known(const void *arg, int32_t pid, const struct event *event)
{
	(void)arg;
	(void)event;
	return (uint64_t)pid;
}

TEST(call_stacks_of_marks_are_those_of_lists_that_are_searched)
{
	for (uint64_t start = 1; start <= 6; start++) {
		uint64_t seed = start * 0x9e3779b97f4a7c15u, ts = 1000;
		struct marked marked = { .told = 0 };

		marks_init(&marked.marks,
			   &(struct marks_calls){ .arg = &marked, .end = see_mark, .unknown = all_known });
		for (unsigned i = 0; i < 3000; i++) {
			ts += 1 + pick(&seed, 9);
			if (pick(&seed, 100) == 0)
				lose(&marked, ts);
			else if (pick(&seed, 2))
				mark_async(&marked, &seed, ts);
			else
				mark_thread(&marked, &seed, ts);
			CHECK(marked.marks.nr_open == marked.nr[0] + marked.nr[1] + marked.nr[2] + marked.nr_asyncs);
		}
		CHECK(marked.marks.unbegun == marked.unbegun && marked.marks.again == marked.again);
		CHECK(!marked.marks.dropped && !marks_starved(&marked.marks) && marked.told > 1000);
		marked.marks.calls.end = NULL;
		marks_release(&marked.marks);
	}
}
