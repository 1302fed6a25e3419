// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/state/state.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/gaps.h"
#include "lib/meaning/state/letters.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* The state after a script. */
struct played {
	struct loom loom;
	struct trace *trace;
	struct reader reader;
	struct state state;
	uint8_t kinds[16];   /* kinds of the steps other than STEP_NONE */
	uint64_t delays[16]; /* delays of the wakeups that ended */
	size_t nr_kinds, nr_delays;
};

static void see(void *arg, const struct event *event)
{
	struct played *played = arg;
	const struct state_step *step = &played->state.step;

	state_see(&played->state, event);
	if (step->kind && played->nr_kinds < array_size(played->kinds))
		played->kinds[played->nr_kinds++] = step->kind;
	if (step->kind == STEP_SWITCH && step->intact && step->waking && played->nr_delays < array_size(played->delays))
		played->delays[played->nr_delays++] = played->state.now - step->waking;
}

/* `settings`: texts of tracefs files until one without a name, or NULL. */
static bool play_with(struct played *played, const struct loom_setting *settings, const char *script)
{
	struct fail fail = FAIL_INIT;
	bool ok;

	*played = (struct played){ .trace = NULL };
	loom_init(&played->loom);
	for (; settings && settings->name; settings++)
		loom_setting(&played->loom, settings->name, settings->text);
	loom_type(&played->loom, "sched", "sched_wakeup_new", "char comm[16]; pid_t pid; int prio; int target_cpu",
		  "\"\"");
	loom_type(&played->loom, "sched", "sched_migrate_task",
		  "char comm[16]; pid_t pid; int prio; int orig_cpu; int dest_cpu", "\"\"");
	loom_type(&played->loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(&played->loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(&played->loom, "ftrace", "kernel_stack", "int size; u64 caller", "\"\"");
	loom_type(&played->loom, "tlb", "tlb_flush", "int reason; long pages", "\"\"");
	loom_play(&played->loom, script);
	played->trace = loom_trace(&played->loom);
	reader_init(&played->reader);
	ok = played->trace && !reader_add_trace(&played->reader, played->trace, &fail) &&
	     !reader_start(&played->reader, &(struct reader_options){ .pool = NULL }, &fail);
	if (!ok)
		return CHECK(ok);
	state_init(&played->state, false);
	state_restrict(&played->state, played->reader.buffers[0].context);
	ok = !reader_run(&played->reader, &(struct reader_consumer){ see, played }, 1, &fail);
	state_settle(&played->state);
	return CHECK(ok) && CHECK(state_adds_up(&played->state, &fail));
}

static bool play(struct played *played, const char *script)
{
	return play_with(played, NULL, script);
}

static void end(struct played *played)
{
	state_release(&played->state);
	reader_release(&played->reader);
	trace_free(played->trace);
	loom_release(&played->loom);
}

/* The newest task with this PID. */
static const struct state_task *task(const struct played *played, int32_t pid)
{
	static const struct state_task none;
	const struct state_task *found = &none;

	for (size_t i = 0; i < played->state.nr_tasks; i++)
		if (played->state.tasks[i].pid == pid)
			found = &played->state.tasks[i];
	CHECK(found != &none);
	return found;
}

TEST(state_knows_how_long_a_task_ran_slept_and_waited)
{
	struct played played;

	/*
	 * 7 runs 1000 and sleeps 3000 until it is woken. It is queued 500 later, runs 700 after that, and runs for 800.
	 */
	REQUIRE(play(&played,
		     "0 10000 7 sched_waking pid=9 target_cpu=1\n"
		     "0 11000 7 sched_switch prev_comm=seven prev_pid=7 prev_state=1 next_comm=swapper next_pid=0\n"
		     "0 14000 0 sched_waking comm=seven pid=7 target_cpu=0\n"
		     "0 14500 0 sched_wakeup comm=seven pid=7 target_cpu=0\n"
		     "0 15200 0 sched_switch prev_pid=0 next_comm=seven next_pid=7\n"
		     "0 16000 7 sched_switch prev_comm=seven prev_pid=7 prev_state=2 next_pid=0\n"
		     "0 16400 0 sched_waking pid=9 target_cpu=1\n"));
	CHECK(task(&played, 7)->spent[TASK_RUNNING] == 1800);
	CHECK(task(&played, 7)->spent[TASK_SLEEPING] == 3000);
	CHECK(task(&played, 7)->spent[TASK_WAKING] == 500);
	CHECK(task(&played, 7)->spent[TASK_QUEUED] == 700);
	CHECK(task(&played, 7)->spent[TASK_BLOCKED] == 400);
	CHECK(task(&played, 7)->spent[TASK_UNKNOWN] == 0);
	CHECK_STR(task(&played, 7)->comm, "seven");
	CHECK(played.nr_delays == 1 && played.delays[0] == 1200);
	/* The interval that is still open counts, too: the last event is 400 after the switch. */
	CHECK(state_spent(&played.state, state_task_of(&played.state, 7), TASK_BLOCKED) == 400);
	CHECK(played.state.cpus[0].spent[CPU_TASK] == 1800);
	CHECK(played.state.cpus[0].spent[CPU_IDLE] == 4600);
	end(&played);
}

TEST(state_knows_of_a_task_what_the_wakeup_says_that_it_waits_for)
{
	struct played played;

	REQUIRE(play(&played, "0 100 7 sched_waking comm=fifteen_letters pid=9 prio=49 target_cpu=1\n"
			      "0 200 7 sched_wakeup comm=renamed pid=9 prio=30 target_cpu=1\n"
			      "0 300 7 sched_wakeup_new comm=young pid=10 prio=120 target_cpu=0\n"
			      "0 400 7 sched_waking comm=fifteen_letters pid=11 prio=120 target_cpu=1\n"));
	CHECK_STR(task(&played, 9)->comm, "renamed");
	CHECK_STR(task(&played, 10)->comm, "young");
	CHECK_STR(task(&played, 11)->comm, "fifteen_letters");
	CHECK(task(&played, 9)->prio == 30 && task(&played, 11)->prio == 120);
	CHECK(task(&played, 9)->mode == TASK_QUEUED && task(&played, 10)->mode == TASK_QUEUED &&
	      task(&played, 11)->mode == TASK_WAKING);
	CHECK(task(&played, 9)->cpu == 1 && task(&played, 10)->cpu == 0);
	CHECK(state_spent(&played.state, state_task_of(&played.state, 9), TASK_QUEUED) == 200);
	CHECK(state_spent(&played.state, state_task_of(&played.state, 9), TASK_WAKING) == 100);
	end(&played);
}

TEST(state_loses_what_a_gap_hides_and_nothing_else)
{
	struct played played;

	/*
	 * CPU 0 loses events between 12000 and 20000. 8 runs on CPU 1 all the time; 9 waits; 7 runs before and after
	 * the gap.
	 */
	REQUIRE(play(&played, "0 10000 7 sched_waking pid=9 target_cpu=0\n"
			      "1 10500 8 sched_waking pid=6 target_cpu=1\n"
			      "0 11000 7 sched_wakeup pid=9 target_cpu=0\n"
			      "0 12000 7 irq_handler_entry irq=1\n"
			      "0 lost 3\n"
			      "0 20000 7 sched_waking pid=5 target_cpu=0\n"
			      "0 21000 7 sched_switch prev_pid=7 prev_state=0 next_pid=9\n"
			      "1 22000 8 sched_switch prev_pid=8 prev_state=1 next_pid=0\n"
			      "0 23000 9 sched_waking pid=4 target_cpu=0\n"));
	CHECK(played.state.losses == 1);
	CHECK(task(&played, 7)->spent[TASK_RUNNING] == 2000 + 1000);
	CHECK(task(&played, 7)->spent[TASK_UNKNOWN] == 8000);
	CHECK(task(&played, 8)->spent[TASK_RUNNING] == 11500);
	CHECK(task(&played, 8)->spent[TASK_UNKNOWN] == 0);
	/* The state of 9 during the gap and after it is unknown. */
	CHECK(task(&played, 9)->spent[TASK_WAKING] == 1000);
	CHECK(task(&played, 9)->spent[TASK_QUEUED] == 1000);
	CHECK(task(&played, 9)->spent[TASK_UNKNOWN] == 9000);
	CHECK(played.nr_delays == 0);
	/* It is unknown whether the interrupt has ended: the state of its CPU is reset. */
	CHECK(played.state.cpus[0].spent[CPU_UNKNOWN] == 8000);
	CHECK(played.state.cpus[0].spent[CPU_HARDIRQ] == 0);
	CHECK(played.state.cpus[1].spent[CPU_UNKNOWN] == 500);
	end(&played);
}

TEST(state_tells_tasks_of_one_pid_apart_and_idle_tasks_of_each_cpu)
{
	struct played played;

	REQUIRE(play(&played, "0 1000 7 sched_process_fork parent_pid=7 child_comm=old child_pid=30\n"
			      "0 1100 7 sched_wakeup_new comm=old pid=30 target_cpu=0\n"
			      "0 1200 7 sched_switch prev_pid=7 prev_state=1 next_comm=old next_pid=30\n"
			      "0 1500 30 sched_switch prev_comm=old prev_pid=30 prev_state=32 next_pid=0\n"
			      "1 1600 7 sched_process_fork parent_pid=7 child_comm=new child_pid=30\n"
			      "1 1700 7 sched_wakeup_new comm=new pid=30 target_cpu=1\n"
			      "1 1800 7 sched_switch prev_pid=7 prev_state=1 next_comm=new next_pid=30\n"
			      "1 2800 30 sched_switch prev_comm=new prev_pid=30 prev_state=1 next_pid=0\n"
			      "1 2900 0 sched_waking pid=7 target_cpu=1\n"));
	CHECK_STR(task(&played, 30)->comm, "new");
	CHECK(task(&played, 30)->generation == 1);
	CHECK(task(&played, 30)->spent[TASK_RUNNING] == 1000);
	CHECK(task(&played, 30)->spent[TASK_NEW] == 100);
	CHECK(played.state.cpus[0].idle_task != played.state.cpus[1].idle_task);
	CHECK(played.state.cpus[0].spent[CPU_IDLE] == 1400);
	CHECK(played.state.cpus[1].spent[CPU_IDLE] == 100);
	end(&played);
}

TEST(state_counts_interrupts_apart_and_ignores_wakeups_of_those_that_run)
{
	struct played played;

	REQUIRE(play(&played, "0 1000 7 softirq_entry vec=1\n"
			      "0 1100 7 irq_handler_entry irq=3\n"
			      "0 1400 7 irq_handler_exit irq=3\n"
			      "0 1500 7 softirq_exit vec=1\n"
			      "0 1600 7 sched_waking pid=7 target_cpu=0\n"
			      "0 1700 7 sched_switch prev_pid=7 prev_state=0 next_pid=8\n"
			      "0 1800 8 sched_waking pid=7 target_cpu=0\n"
			      "0 2000 8 sched_switch prev_pid=8 prev_state=1 next_pid=7\n"));
	CHECK(played.state.cpus[0].spent[CPU_SOFTIRQ] == 200);
	CHECK(played.state.cpus[0].spent[CPU_HARDIRQ] == 300);
	CHECK(played.state.cpus[0].spent[CPU_TASK] == 500);
	CHECK(task(&played, 7)->spent[TASK_PREEMPTED] == 300);
	CHECK(played.nr_delays == 0);
	end(&played);
}

TEST(state_says_how_long_a_task_waited_while_another_cpu_idled)
{
	struct played played;

	/*
	 * 9 waits for CPU 0 from 1000 to 5000; CPU 1 is idle from 2000 to 4500. The idle time of CPU 0 itself does not
	 * count.
	 */
	REQUIRE(play(&played, "0 900 7 irq_handler_entry irq=1\n"
			      "0 950 7 irq_handler_exit irq=1\n"
			      "1 960 8 irq_handler_entry irq=1\n"
			      "1 970 8 irq_handler_exit irq=1\n"
			      "0 1000 7 sched_waking pid=9 target_cpu=0\n"
			      "1 2000 8 sched_switch prev_pid=8 prev_state=1 next_pid=0\n"
			      "0 4000 7 sched_switch prev_pid=7 prev_state=1 next_pid=0\n"
			      "1 4500 0 sched_switch prev_pid=0 next_pid=8\n"
			      "0 5000 0 sched_switch prev_pid=0 next_pid=9\n"));
	CHECK(task(&played, 9)->beside_idle == 2500);
	CHECK(task(&played, 9)->spent[TASK_WAKING] == 4000);
	end(&played);
}

TEST(state_knows_for_which_cpu_a_task_waits_that_is_moved_while_it_is_woken)
{
	struct played played;

	/*
	 * 9 ran on CPU 0, which idles and is named by sched_waking; the kernel puts it on the queue of CPU 1. CPU 0
	 * idles to the end, CPU 1 never does: the whole wait of 4000 is one beside an idle CPU, with and without an
	 * event of the move. The other way round it waits for the only CPU that idles, and none of it is.
	 */
	static const char *const moves[] = { "", "1 1001 8 sched_migrate_task pid=9 orig_cpu=0 dest_cpu=1\n" };

	for (size_t i = 0; i < array_size(moves); i++) {
		cleanup_buf struct buf script = BUF_INIT;

		REQUIRE(buf_addf(&script,
				 "0 500 7 sched_switch prev_pid=7 prev_state=1 next_pid=0\n"
				 "1 600 8 sched_waking pid=6 target_cpu=1\n"
				 "1 1000 8 sched_waking pid=9 target_cpu=0\n"
				 "%s"
				 "1 1002 8 sched_wakeup pid=9 target_cpu=1\n"
				 "1 5000 8 sched_switch prev_pid=8 prev_state=1 next_pid=9\n",
				 moves[i]));
		REQUIRE(play(&played, buf_str(&script)));
		CHECK(task(&played, 9)->beside_idle == 4000);
		end(&played);
	}
	REQUIRE(play(&played, "0 500 7 sched_switch prev_pid=7 prev_state=1 next_pid=0\n"
			      "1 600 8 sched_waking pid=6 target_cpu=1\n"
			      "1 1000 8 sched_waking pid=9 target_cpu=1\n"
			      "1 1002 8 sched_wakeup pid=9 target_cpu=0\n"
			      "0 5000 0 sched_switch prev_pid=0 next_pid=9\n"));
	CHECK(task(&played, 9)->beside_idle == 0);
	end(&played);
	/* A task that is moved from one queue to another waits for each in turn: for CPU 1 beside an idle one. */
	REQUIRE(play(&played, "0 500 7 sched_switch prev_pid=7 prev_state=1 next_pid=0\n"
			      "1 1000 8 sched_waking pid=9 target_cpu=1\n"
			      "1 1002 8 sched_wakeup pid=9 target_cpu=1\n"
			      "0 4000 0 sched_migrate_task pid=9 orig_cpu=1 dest_cpu=0\n"
			      "0 5000 0 sched_switch prev_pid=0 next_pid=9\n"));
	CHECK(task(&played, 9)->beside_idle == 3000);
	end(&played);
}

/* The state begins with buffers of both byte orders; the switches are in the second. */
TEST(state_reads_a_switch_in_the_byte_order_of_its_own_buffer)
{
	static const struct context ours = { .abi = { .long_size = 8 } },
				    theirs = { .abi = { .swap = true, .long_size = 8 } };
	static struct field fields[] = {
		{ .name = "prev_pid", .offset = 8, .size = 4, .flags = FIELD_SIGNED },
		{ .name = "next_pid", .offset = 12, .size = 4, .flags = FIELD_SIGNED },
	};
	static const struct format mark = { .system = "ftrace", .name = "print" }, swap = {
		.system = "sched", .name = "sched_switch", .print_fmt = "", .nr_fields = 2, .fields = fields
	};
	struct event_type types[] = { { .format = &mark, .context = &ours }, { .format = &swap, .context = &theirs } };
	const uint32_t record[] = { 0, 0, __builtin_bswap32(7), __builtin_bswap32(8) };
	struct event event = {
		.ts = 10, .pid = 7, .type = &types[0], .data = (const uint8_t *)record, .len = sizeof(record)
	};
	struct state state;

	state_init(&state, false);
	state_see(&state, &event);
	event.buffer = 1;
	event.type = &types[1];
	event.ts = 20;
	state_see(&state, &event);
	CHECK(state.step.kind == STEP_SWITCH && state.tasks[state_running(&state, 0)].pid == 8);
	CHECK(!state.breaks);
	state_release(&state);
}

TEST(letters_come_from_the_print_fmt)
{
	static const char before_4_14[] =
		"\"prev_state=%s%s\", REC->prev_state & (2048-1) ? __print_flags(REC->prev_state & (2048-1), \"|\", "
		"{ 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, "
		"{ 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }) : \"R\", "
		"REC->prev_state & 2048 ? \"+\" : \"\"";
	static const char now[] =
		"\"prev_state=%s%s\", (REC->prev_state & ((((0x00000000 | 0x00000001) + 1) << 1) - 1)) "
		"? __print_flags(REC->prev_state & ((((0x00000000 | 0x00000001) + 1) << 1) - 1), \"|\", { 0x00000001, "
		"\"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, "
		"{ 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", "
		"REC->prev_state & 0x100 ? \"+\" : \"\"";
	/* weft import has the letters of both. */
	static const char both[] = "\"prev_state=%s%s\", (REC->prev_state & 0xeff) ? __print_flags(REC->prev_state & "
				   "0xeff, \"|\", { 0x20, \"Z\" }, { 0x200, \"x\" }) : \"R\", "
				   "REC->prev_state & 0x100 ? \"+\" : \"\"";
	struct letters letters;

	letters_init(&letters, before_4_14);
	CHECK(letters_of(&letters, 0) == 'R' && letters_of(&letters, 64) == 'x' && letters_of(&letters, 512) == 'P');
	CHECK(letters_of(&letters, 2048 | 1) == '+' && letters_of(&letters, 2 | 128) == 'D');
	letters_init(&letters, now);
	CHECK(letters_of(&letters, 0) == 'R' && letters_of(&letters, 64) == 'P' && letters_of(&letters, 128) == 'I');
	CHECK(letters_of(&letters, 256) == '+' && letters_of(&letters, 32) == 'Z');
	letters_init(&letters, both);
	CHECK(letters_of(&letters, 0x100) == '+' && letters_of(&letters, 0x200) == 'x');
	letters_init(&letters, "");
	CHECK(letters_of(&letters, 1) == 'S' && letters_of(&letters, 2) == 'D' && letters_of(&letters, 256) == 'R');
}

static uint32_t pick(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

/*
 * Impossible events: tasks that run on two CPUs, wake while they run, or continue after their end; exits without
 * entries; gaps.
 */
static void make_nonsense(uint64_t seed, struct buf *script)
{
	static const char *const events[] = {
		"sched_switch prev_comm=a prev_pid=%u prev_state=%u next_comm=b next_pid=%u",
		"sched_switch prev_comm=a prev_pid=%u prev_state=%u next_comm=b next_pid=%u",
		"sched_waking pid=%u target_cpu=%u prio=%u",
		"sched_wakeup pid=%u target_cpu=%u prio=%u",
		"sched_wakeup_new pid=%u target_cpu=%u prio=%u",
		"sched_process_fork child_pid=%u parent_pid=%u child_comm=c%u",
		"irq_handler_entry irq=%u",
		"irq_handler_exit irq=%u",
		"softirq_entry vec=%u",
		"softirq_exit vec=%u",
	};
	static const uint32_t states[] = { 0, 1, 2, 4, 16, 32, 128, 256 };
	uint64_t times[3] = { 1000, 1000, 1000 };

	for (int i = 0; i < 400; i++) {
		uint32_t cpu = pick(&seed, 3), pid = pick(&seed, 6), other = pick(&seed, 6),
			 which = pick(&seed, array_size(events) + 1);
		char event[128];

		if (which == array_size(events)) {
			CHECK(buf_addf(script, "%u lost %u\n", cpu, 1 + pick(&seed, 9)));
			continue;
		}
		times[cpu] += pick(&seed, 200);
		/* The events of an array. Each event takes the first of three numbers. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(event, sizeof(event), events[which], pid,
			 which < 2 ? states[pick(&seed, array_size(states))] : other, other);
#pragma GCC diagnostic pop
		CHECK(buf_addf(script, "%u %u %u %s\n", cpu, (unsigned)times[cpu], pick(&seed, 4) ? pid : other,
			       event));
	}
}

TEST(state_adds_up_whatever_it_is_told)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		cleanup_buf struct buf script = BUF_INIT;
		struct played played;

		make_nonsense(seed, &script);
		REQUIRE(play(&played, buf_str(&script)));
		end(&played);
	}
}

/* weft record -T: the stack of a sched_switch is an event of the task that lost the CPU. */
TEST(state_takes_the_stack_behind_a_switch_for_no_task_that_runs)
{
	struct played played;

	REQUIRE(play(&played, "0 1000 7 sched_switch prev_pid=7 prev_state=1 next_pid=9\n"
			      "0 1010 7 kernel_stack size=1 caller=5\n"
			      "0 1500 9 sched_waking pid=7 target_cpu=1\n"
			      "0 1510 9 kernel_stack size=1 caller=5\n"
			      "0 2000 9 sched_switch prev_pid=9 prev_state=1 next_pid=7\n"
			      "0 2600 7 sched_waking pid=9 target_cpu=1\n"));
	CHECK(played.state.breaks == 0);
	CHECK(task(&played, 7)->spent[TASK_RUNNING] == 600);
	CHECK(task(&played, 9)->spent[TASK_RUNNING] == 1000);
	end(&played);
}

TEST(state_takes_what_context_switch_does_for_a_part_of_the_switch)
{
	struct played played;

	/* Two events of the task that has lost the CPU, as x86_fpu_regs_deactivated is, with interrupts off. */
	REQUIRE(play(&played, "0 1000 7 sched_waking common_flags=1 pid=9 target_cpu=0\n"
			      "0 2000 7 sched_switch common_flags=1 prev_pid=7 prev_state=1 next_pid=8\n"
			      "0 2001 7 tlb_flush common_flags=1 reason=0\n"
			      "0 2002 7 tlb_flush common_flags=1 reason=0\n"
			      "0 2500 8 tlb_flush reason=1\n"
			      "0 3000 8 sched_switch common_flags=1 prev_pid=8 prev_state=1 next_pid=7\n"
			      "0 3001 8 tlb_flush common_flags=1 reason=0\n"
			      "0 3500 7 sched_switch common_flags=1 prev_pid=7 prev_state=1 next_pid=0\n"));
	CHECK(played.state.breaks == 0);
	CHECK(task(&played, 7)->spent[TASK_RUNNING] == 1000 + 500);
	CHECK(task(&played, 7)->spent[TASK_SLEEPING] == 1000);
	CHECK(task(&played, 8)->spent[TASK_RUNNING] == 1000);
	CHECK(task(&played, 8)->spent[TASK_UNKNOWN] == 0);
	end(&played);
}

/* The kernel records nothing on a CPU that is offline: the switch back to its idle task is missing. */
TEST(state_takes_the_return_of_a_cpu_for_no_tail_of_its_last_switch)
{
	struct played played;

	REQUIRE(play(&played, "0 1000 0 sched_waking common_flags=1 pid=9 target_cpu=0\n"
			      "0 2000 0 sched_switch common_flags=1 prev_pid=0 prev_state=0 next_pid=9\n"
			      "0 8000 0 tlb_flush common_flags=1 reason=0\n"
			      "0 8100 0 sched_waking common_flags=1 pid=9 target_cpu=0\n"
			      "0 8400 0 sched_switch common_flags=1 prev_pid=0 prev_state=0 next_pid=9\n"
			      "0 8600 9 sched_switch common_flags=1 prev_pid=9 prev_state=1 next_pid=0\n"));
	CHECK(played.state.breaks == 1);
	CHECK(task(&played, 9)->spent[TASK_RUNNING] == 200);
	CHECK(task(&played, 9)->spent[TASK_UNKNOWN] == 6100);
	CHECK(played.nr_delays == 2 && played.delays[1] == 300);
	end(&played);
}

TEST(state_sees_that_a_switch_is_missing_although_the_task_is_the_one_before)
{
	struct played played;

	/* 7 is back without a switch: interrupts are on, or in progress, or another task was seen in between. */
	REQUIRE(play(&played, "0 1000 7 sched_waking common_flags=1 pid=9 target_cpu=0\n"
			      "0 2000 7 sched_switch common_flags=1 prev_pid=7 prev_state=1 next_pid=8\n"
			      "0 2500 7 tlb_flush reason=1\n"
			      "0 3000 7 sched_switch common_flags=1 prev_pid=7 prev_state=1 next_pid=8\n"
			      "0 3100 8 tlb_flush common_flags=1 reason=1\n"
			      "0 3500 7 tlb_flush common_flags=1 reason=1\n"
			      "0 3600 7 sched_switch common_flags=1 prev_pid=7 prev_state=1 next_pid=8\n"
			      "0 3600 7 tlb_flush common_flags=9 reason=1\n"));
	CHECK(played.state.breaks == 3);
	CHECK(task(&played, 8)->spent[TASK_RUNNING] == 100);
	CHECK(task(&played, 8)->spent[TASK_UNKNOWN] == 1000 + 500);
	end(&played);
}

TEST(state_does_not_know_when_a_task_got_its_cpu_without_a_switch)
{
	struct played played;

	/* 7 and 9 are back after the last event there, and not from the time on at which they began to wait. */
	REQUIRE(play(&played, "0 1000 7 sched_switch prev_pid=7 prev_state=0 next_pid=8\n"
			      "1 1500 6 sched_waking pid=9 target_cpu=0\n"
			      "0 2000 8 sched_waking pid=5 target_cpu=1\n"
			      "0 6000 7 sched_waking pid=4 target_cpu=1\n"
			      "0 6500 7 sched_switch prev_pid=7 prev_state=1 next_pid=8\n"
			      "0 7000 9 sched_switch prev_pid=9 prev_state=1 next_pid=7\n"));
	CHECK(played.state.breaks == 2);
	CHECK(task(&played, 7)->spent[TASK_PREEMPTED] == 1000);
	CHECK(task(&played, 7)->spent[TASK_UNKNOWN] == 4000);
	CHECK(task(&played, 7)->spent[TASK_RUNNING] == 500);
	CHECK(task(&played, 9)->spent[TASK_WAKING] == 5000);
	CHECK(task(&played, 9)->spent[TASK_UNKNOWN] == 500);
	end(&played);
}

/* 7 forks 8. Of 20, 21 and the idle task, only what borders on the two is recorded. */
static const char filtered_script[] =
	"0 1000 7 sched_waking pid=20 target_cpu=1\n"
	"0 1100 7 sched_process_fork parent_pid=7 child_comm=eight child_pid=8\n"
	"0 2000 7 sched_switch prev_comm=seven prev_pid=7 prev_state=1 next_comm=twenty next_pid=20\n"
	"0 9000 21 sched_switch prev_comm=other prev_pid=21 prev_state=0 next_comm=seven next_pid=7\n"
	"0 9500 7 sched_switch prev_comm=seven prev_pid=7 prev_state=1 next_pid=0\n"
	"0 12000 0 sched_waking comm=eight pid=8 target_cpu=0\n"
	"0 12300 0 sched_switch prev_pid=0 next_comm=eight next_pid=8\n"
	"0 13000 8 sched_switch prev_comm=eight prev_pid=8 prev_state=1 next_comm=twenty next_pid=20\n"
	"0 14000 20 sched_switch prev_comm=twenty prev_pid=20 prev_state=0 next_comm=seven next_pid=7\n"
	"0 14100 7 sched_waking pid=9 target_cpu=0\n";

TEST(state_knows_with_a_pid_filter_only_what_its_tasks_did)
{
	static const struct loom_setting settings[] = { { "set_event", "sched:sched_waking\nsched:sched_switch\n" },
							{ "set_event_pid", "7\n" },
							{ NULL, NULL } };
	struct played played;

	REQUIRE(play_with(&played, settings, filtered_script));
	CHECK(played.state.breaks == 0);
	CHECK(task(&played, 7)->spent[TASK_RUNNING] == 1000 + 500 + 100);
	CHECK(task(&played, 7)->spent[TASK_SLEEPING] == 7000 + 4500);
	CHECK(task(&played, 20)->spent[TASK_UNKNOWN] == 13100);
	CHECK(task(&played, 21)->spent[TASK_RUNNING] == 0);
	/* 8 followed the idle task, and no event about two tasks that are not on the list is recorded: so 8 is. */
	CHECK(listed_has(&played.state.listed, 8) && !listed_has(&played.state.listed, 20));
	CHECK(task(&played, 8)->spent[TASK_RUNNING] == 700);
	CHECK(task(&played, 8)->spent[TASK_WAKING] == 300);
	CHECK(played.nr_delays == 1 && played.delays[0] == 300);
	CHECK(played.state.cpus[0].spent[CPU_TASK] == 1600 + 700);
	CHECK(played.state.cpus[0].spent[CPU_IDLE] == 0);
	CHECK(played.state.cpus[0].spent[CPU_UNKNOWN] == 7000 + 2800 + 1000);
	end(&played);
}

TEST(state_lists_what_a_listed_task_forks_if_the_recorder_did)
{
	static const struct loom_setting settings[] = { { "set_event", "sched:sched_switch\n" },
							{ "trace_options", "noirq-info\nevent-fork\n" },
							{ "weft/event_pids", "6\n7\n" },
							{ NULL, NULL } };
	struct played played;

	/* The list is empty at the end, because all of its tasks have ended. */
	REQUIRE(play_with(&played, settings,
			  "0 1000 7 sched_process_fork parent_pid=7 child_comm=eight child_pid=8\n"
			  "0 2000 7 sched_switch prev_pid=7 prev_state=1 next_comm=eight next_pid=8\n"
			  "0 3000 8 sched_switch prev_comm=eight prev_pid=8 prev_state=1 next_pid=20\n"
			  "0 5000 20 sched_switch prev_pid=20 prev_state=0 next_comm=eight next_pid=8\n"
			  "0 5100 8 sched_waking pid=9 target_cpu=0\n"));
	CHECK(task(&played, 8)->spent[TASK_RUNNING] == 1000 + 100);
	CHECK(task(&played, 8)->spent[TASK_SLEEPING] == 2000);
	CHECK(task(&played, 20)->spent[TASK_RUNNING] == 0);
	end(&played);
}

TEST(state_knows_all_tasks_without_a_list)
{
	static const struct loom_setting settings[] = { { "set_event", "sched:sched_switch\n" },
							{ "set_event_pid", "" },
							{ NULL, NULL } };
	struct played played;

	REQUIRE(play_with(&played, settings, filtered_script));
	CHECK(task(&played, 20)->spent[TASK_RUNNING] == 1000);
	CHECK(!played.state.listed.filtered);
	end(&played);
}

/* The start of the earliest gap after so many, found the slow way; 0: none. */
static uint64_t earliest(const uint64_t *from, size_t nr, size_t number)
{
	uint64_t found = 0;

	for (size_t i = number; i < nr; i++)
		found = !found || from[i] < found ? from[i] : found;
	return found;
}

TEST(gaps_tell_when_the_earliest_since_any_of_them_began)
{
	static const uint64_t from[] = { 100, 300, 200, 200, 500, 400, 900, 50, 1000, 1000, 1100 };
	struct gaps gaps = { .items = NULL };
	uint64_t got;

	CHECK(!gaps_find(&gaps, 0, &got));
	for (size_t nr = 1; nr <= array_size(from); nr++) {
		CHECK(gaps_add(&gaps, from[nr - 1]) && gaps.number == nr);
		for (size_t number = 0; number < nr; number++)
			CHECK(gaps_find(&gaps, number, &got) && got == earliest(from, nr, number));
		CHECK(!gaps_find(&gaps, nr, &got));
	}
	gaps_release(&gaps);
	CHECK(!gaps.items && !gaps.nr);
}

/* A full list joins neighbours: what it says of a gap is then at most one gap too early, and the number stays. */
TEST(gaps_of_a_long_recording_are_joined)
{
	enum { ROOM = 1 << 16 };
	struct gaps gaps = { .items = NULL };
	uint64_t got;

	for (uint64_t i = 1; i <= ROOM; i++)
		CHECK(gaps_add(&gaps, i * 10));
	CHECK(gaps.nr == ROOM && gaps_find(&gaps, 7, &got) && got == 80);
	CHECK(gaps_add(&gaps, (ROOM + 1) * 10));
	CHECK(gaps.nr == ROOM / 2 + 1 && gaps.number == ROOM + 1);
	for (uint64_t number = 0; number <= 9; number++)
		CHECK(gaps_find(&gaps, number, &got) && got == (number / 2 * 2 + 1) * 10);
	CHECK(gaps_find(&gaps, ROOM, &got) && got == (ROOM + 1) * 10);
	CHECK(!gaps_find(&gaps, ROOM + 1, &got));
	gaps_release(&gaps);
}
