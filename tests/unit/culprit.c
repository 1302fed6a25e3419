// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "lib/answers/explain/culprit_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/reader/query.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

TEST(culprit_is_the_task_that_ran_first)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct query query = QUERY_INIT;
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct loom loom;
	struct culprit_asked asked = { &query, .at = 9000000 };

	REQUIRE(culprit_of_text("a-1 [000] 1.0: weft_latency_8: lat=8000000 next_comm=late next_prio=120", &asked));
	CHECK(asked.lasted == 8000000);
	CHECK(!culprit_of_text("softirq: lat=8000000 what=1", &asked));
	loom_init(&loom);
	loom_play(&loom, "0 1000000 8 sched_waking comm=late pid=7 prio=120 target_cpu=0\n"
			 "0 1000000 8 sched_wakeup comm=late pid=7 prio=120 target_cpu=0\n"
			 "0 1100000 8 sched_switch prev_comm=eight prev_pid=8 prev_state=1 next_comm=fifo next_pid=9\n"
			 "0 9000000 9 sched_switch prev_comm=fifo prev_pid=9 prev_state=1 next_comm=late next_pid=7\n");
	trace = loom_trace(&loom);
	CHECK(culprit_find(trace, &asked, &line, &fail) == 0);
	CHECK_STR(buf_str(&line),
		  "late-7 waited 8.0 ms for CPU 0: tasks that ran first: fifo-9 (RT 99); 100.0 us the task "
		  "before ran on; 7.9 ms other tasks ran first");
	buf_clear(&line);
	CHECK(culprit_why(trace, &asked, &line, &fail) == 0);
	CHECK_STR(buf_str(&line), "100 % of the 8.0 ms: late-7 waited for a CPU behind fifo (RT 99) 99 %, 1 other");
	asked.lasted = 3000000;
	CHECK(culprit_find(trace, &asked, &line, &fail) == -ENODATA);
	trace_free(trace);
	loom_release(&loom);
}

/* Two calls take the same time; the text tells whose it is. */
TEST(culprit_of_a_call_is_who_woke_its_task)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct query query = QUERY_INIT;
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct loom loom;
	struct culprit_asked asked = { &query, .at = 9000000 };

	REQUIRE(culprit_of_text("  slow-7     [000] .....  1.0: weft_latency_2: lat=8000000 id=0", &asked));
	CHECK(asked.has_same && asked.same == 7);
	loom_init(&loom);
	loom_type(&loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(&loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_play(&loom, "1 1000000 6 sys_enter id=0\n"
			 "0 1000000 7 sys_enter id=0\n"
			 "0 1100000 7 sched_switch prev_comm=slow prev_pid=7 prev_state=1 next_comm=hog next_pid=9\n"
			 "0 8000000 9 sched_waking comm=slow pid=7 prio=120 target_cpu=0\n"
			 "0 8000000 9 sched_wakeup comm=slow pid=7 prio=120 target_cpu=0\n"
			 "0 8500000 9 sched_switch prev_comm=hog prev_pid=9 prev_state=0 next_comm=slow next_pid=7\n"
			 "1 9000000 6 sys_exit id=0 ret=1\n"
			 "0 9000000 7 sys_exit id=0 ret=1\n");
	trace = loom_trace(&loom);
	CHECK(culprit_find(trace, &asked, &line, &fail) == 0);
	CHECK_STR(buf_str(&line), "slow-7 was 8.0 ms in syscall_0; 6.9 ms blocked; 500.0 us ready, without a CPU; "
				  "600.0 us on a CPU; woken by hog-9");
	buf_clear(&line);
	CHECK(culprit_why(trace, &asked, &line, &fail) == 0);
	CHECK_STR(buf_str(&line), "86 % of the 8.0 ms: hog-9 ran");
	trace_free(trace);
	loom_release(&loom);
}

/* What a text says of the events of a script; NULL: there is no culprit. */
struct said {
	struct loom loom;
	struct trace *trace;
	struct buf line;
	struct fail fail;
	int r;
};

static void say(struct said *said, void (*types)(struct loom *loom), const char *script, const char *text)
{
	struct query query = QUERY_INIT;
	struct culprit_asked asked = { &query, .at = 9000000 };

	*said = (struct said){ .line = BUF_INIT, .fail = FAIL_INIT };
	loom_init(&said->loom);
	types(&said->loom);
	loom_play(&said->loom, script);
	said->trace = loom_trace(&said->loom);
	said->r = culprit_of_text(text, &asked) ? culprit_find(said->trace, &asked, &said->line, &said->fail) : -EINVAL;
}

static void unsay(struct said *said)
{
	buf_release(&said->line);
	trace_free(said->trace);
	loom_release(&said->loom);
}

static void runs(struct loom *loom)
{
	loom_type(loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(loom, "timer", "timer_expire_entry", "long timer; long function", "\"\"");
	loom_type(loom, "timer", "timer_expire_exit", "long timer", "\"\"");
}

/* Softirqs of two CPUs take the same time; the text tells whose it is. */
static const char runs_script[] =
	"0 900000 5 sched_switch prev_comm=x prev_pid=5 prev_state=1 next_comm=hit next_pid=7\n"
	"0 1000000 7 softirq_entry vec=1\n"
	"0 1500000 7 timer_expire_entry timer=16 function=0xf00\n"
	"1 900000 5 sched_switch prev_comm=x prev_pid=5 prev_state=1 next_comm=other next_pid=8\n"
	"1 1000000 8 softirq_entry vec=3\n"
	"1 2000000 8 sched_waking comm=waits pid=9 prio=120 target_cpu=0\n"
	"1 2000000 8 sched_wakeup comm=waits pid=9 prio=120 target_cpu=0\n"
	"0 8500000 7 timer_expire_exit timer=16\n"
	"1 9000000 8 softirq_exit vec=3\n"
	"0 9000000 7 softirq_exit vec=1\n"
	"0 9100000 7 irq_handler_entry irq=4 name=ttyS0\n"
	"0 9300000 7 irq_handler_exit irq=4 ret=1\n";

TEST(culprit_of_a_softirq_is_what_ran_in_it_whom_it_hit_and_who_waited)
{
	struct said said;

	say(&said, runs, runs_script, " hit-7 [000] ..s.. 1.0: weft_latency_3: lat=8000000 vec=1");
	CHECK(said.r == 0);
	CHECK_STR(buf_str(&said.line), "softirq TIMER ran 8.0 ms on CPU 0; 1.0 ms itself; 7.0 ms in timer 0xf00; "
				       "it interrupted hit-7; meanwhile waits-9 waited 7.0 ms for the CPU");
	unsay(&said);
	say(&said, runs, runs_script, " other-8 [001] ..s.. 1.0: weft_latency_3: lat=8000000 vec=3");
	CHECK_STR(buf_str(&said.line), "softirq NET_RX ran 8.0 ms on CPU 1; it interrupted other-8");
	unsay(&said);
	say(&said, runs, runs_script, " other-8 [002] ..s.. 1.0: weft_latency_3: lat=8000000 vec=3");
	CHECK(said.r == -ENODATA && strstr(said.fail.text, "record with --for irq"));
	unsay(&said);
}

TEST(culprit_of_an_interrupt_is_its_handler)
{
	struct said said;

	say(&said, runs, runs_script, " hit-7 [000] d.h.. 1.0: weft_latency_3: lat=200000 irq=4");
	CHECK_STR(buf_str(&said.line), "irq 4 ttyS0 ran 200.0 us on CPU 0; it interrupted hit-7; "
				       "meanwhile waits-9 waited 200.0 us for the CPU");
	unsay(&said);
}

TEST(culprit_in_ksoftirqd_is_its_softirq_or_an_interrupt_that_hit_it)
{
	static const char script[] =
		"0 900000 5 sched_switch prev_comm=x prev_pid=5 prev_state=1 next_comm=ksoftirqd/0 next_pid=16\n"
		"0 1000000 16 softirq_entry vec=3\n"
		"0 9000000 16 softirq_exit vec=3\n"
		"0 9100000 16 irq_handler_entry irq=4 name=ttyS0\n"
		"0 9300000 16 irq_handler_exit irq=4 ret=1\n";
	struct said said;

	say(&said, runs, script, " ksoftirqd/0-16 [000] ..s.. 1.0: weft_latency_3: lat=8000000 vec=3");
	CHECK_STR(buf_str(&said.line), "softirq NET_RX ran 8.0 ms on CPU 0; it ran in ksoftirqd/0-16");
	unsay(&said);
	say(&said, runs, script, " ksoftirqd/0-16 [000] d.h.. 1.0: weft_latency_3: lat=200000 irq=4");
	CHECK_STR(buf_str(&said.line), "irq 4 ttyS0 ran 200.0 us on CPU 0; it interrupted ksoftirqd/0-16");
	unsay(&said);
}

#define BIO "u32 dev; u64 sector; u32 nr_sector; char rwbs[8]"

static void requests(struct loom *loom)
{
	loom_type(loom, "block", "block_bio_queue", BIO, "\"\"");
	loom_type(loom, "block", "block_rq_issue", BIO, "\"\"");
	loom_type(loom, "block", "block_rq_complete", "u32 dev; u64 sector; u32 nr_sector; int error; char rwbs[8]",
		  "\"\"");
	loom_task(loom, 7, "dd");
	loom_task(loom, 8, "cp");
}

TEST(culprit_of_a_request_is_the_device_the_task_and_the_queue)
{
	static const char script[] =
		"0 1000000 7 block_bio_queue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
		"1 1500000 8 block_bio_queue dev=0x800000 sector=96 nr_sector=16 rwbs=W\n"
		"1 1600000 8 block_rq_issue dev=0x800000 sector=96 nr_sector=16 rwbs=W\n"
		"0 2000000 7 block_rq_issue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
		"1 8600000 0 block_rq_complete dev=0x800000 sector=96 nr_sector=16 rwbs=W error=-5\n"
		"0 9000000 0 block_rq_complete dev=0x800000 sector=8 nr_sector=8 rwbs=R\n";
	struct said said;

	say(&said, requests, script, " <idle>-0 [000] d.h.. 1.0: weft_latency_3: lat=7000000 dev=8388608 sector=8");
	CHECK_STR(buf_str(&said.line), "device 8:0 took 7.0 ms for a read of 4.0 KiB at sector 8; it was for dd-7; "
				       "it was queued 1.0 ms before; the device had 1 other before it");
	unsay(&said);
	say(&said, requests, script, " <idle>-0 [001] d.h.. 1.0: weft_latency_3: lat=7000000 dev=8388608 sector=96");
	CHECK_STR(buf_str(&said.line), "device 8:0 took 7.0 ms for a write of 8.0 KiB at sector 96, which failed; "
				       "it was for cp-8; it was queued 100.0 us before");
	unsay(&said);
}

static void locks(struct loom *loom)
{
	loom_type(loom, "lock", "contention_begin", "u64 lock_addr; u32 flags", "\"\"");
	loom_type(loom, "lock", "contention_end", "u64 lock_addr; int ret", "\"\"");
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller", "\"\"");
	loom_task(loom, 6, "spins");
	loom_task(loom, 7, "sleeps");
}

TEST(culprit_of_a_wait_for_a_lock_is_who_released_it)
{
	static const char script[] =
		"1 900000 6 contention_begin lock_addr=0xffff888002 flags=1\n"
		"0 1000000 7 contention_begin lock_addr=0xffff888001 flags=4\n"
		"0 1000001 7 kernel_stack size=1 caller=0x77\n"
		"0 1100000 7 sched_switch prev_comm=sleeps prev_pid=7 prev_state=2 next_comm=holds next_pid=9\n"
		"0 8000000 9 sched_waking comm=sleeps pid=7 prio=120 target_cpu=0\n"
		"0 8000000 9 sched_wakeup comm=sleeps pid=7 prio=120 target_cpu=0\n"
		"0 8500000 9 sched_switch prev_comm=holds prev_pid=9 prev_state=1 next_comm=sleeps next_pid=7\n"
		"1 8900000 6 contention_end lock_addr=0xffff888002\n"
		"0 9000000 7 contention_end lock_addr=0xffff888001\n";
	struct said said;

	say(&said, locks, script, " sleeps-7 [000] ..... 1.0: weft_latency_3: lat=8000000 lock_addr=18446612684400");
	CHECK_STR(buf_str(&said.line), "sleeps-7 waited 8.0 ms for rwsem:W 0xffff888001 in 0x77; 600.0 us spinning; "
				       "6.9 ms asleep; 500.0 us ready, without a CPU; released by holds-9");
	unsay(&said);
	say(&said, locks, script, " spins-6 [001] ..... 1.0: weft_latency_3: lat=8000000 lock_addr=18446612684401");
	CHECK_STR(buf_str(&said.line), "spins-6 waited 8.0 ms for spinlock 0xffff888002; 8.0 ms spinning");
	unsay(&said);
}

static void calls(struct loom *loom)
{
	loom_type(loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_task(loom, 6, "other");
	loom_task(loom, 7, "slow");
}

/* A call of another task takes about as long, and nothing was lost on its CPU. */
TEST(culprit_is_a_loss_where_events_of_another_cpu_broke_the_call)
{
	static const char script[] = "1 900000 6 sys_enter id=202\n"
				     "0 1000000 7 sys_enter id=0\n"
				     "2 1000000 5 sys_enter id=1\n"
				     "2 lost 12\n"
				     "2 3000000 5 sys_exit id=1 ret=1\n"
				     "1 8950000 6 sys_exit id=202 ret=1\n"
				     "0 9000000 7 sys_exit id=0 ret=1\n"
				     "2 9500000 5 sys_enter id=1\n"
				     "1 9100000 6 sys_enter id=9\n"
				     "1 lost 99\n"
				     "1 9600000 6 sys_enter id=1\n";
	struct said said;

	say(&said, calls, script, " slow-7 [000] ..... 1.0: weft_latency_3: lat=8000000 id=0");
	CHECK(said.r == 0);
	CHECK_STR(buf_str(&said.line),
		  "the system call of slow-7 took 8.0 ms; what it was due to is not known, because "
		  "the kernel lost 12 events of CPU 2 in that time");
	unsay(&said);
}
