// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/user_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/follow/stack.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

#define REGISTERS                                                                                                     \
	"u64 ax; u64 dx; u64 cx; u64 bx; u64 si; u64 di; u64 bp; u64 sp; u64 r8; u64 r9; u64 r10; u64 r11; u64 r12; " \
	"u64 r13; u64 r14; u64 r15; u64 ip"

static void add_types(struct loom *loom)
{
	loom_init(loom);
	loom->other = "weft/stacks";
	loom_type(loom, "weft", "probe_one", REGISTERS "; char w0[8]", "\"\"");
	loom_type(loom, "weft", "probe_less", "u64 ax; u64 ip", "\"\"");
	loom_type(loom, "uprobes", "hit", "u64 __probe_ip", "\"\"");
	loom_type(loom, "uprobes", "other", "u64 ip", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_read", "int __syscall_nr", "\"\"");
}

/* "TIME:PID ADDRESS" of each event of the script that has a stack. `+` in front of a line: it is of the copies. */
static void check_stacks(const char *script, const char *want)
{
	const struct events_options options = { .until = UINT64_MAX };
	struct user_stacks *stacks = NULL;
	struct context *context = NULL;
	struct events *events = NULL;
	struct trace *trace;
	struct event event;
	struct loom loom;
	char got[512] = "";
	unsigned found = 0;

	add_types(&loom);
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	REQUIRE(trace && !context_new(trace, 0, &context, NULL) && (stacks = user_stacks_new(context)));
	REQUIRE(!events_open(context, &options, &events, NULL));
	while (events_next(events, &event, NULL) > 0) {
		struct stack of = { .size = 0 }, beside = { .size = 0 };
		int32_t tgid = 0, other = 0;
		uint64_t address = 0;
		bool has = event.kind == EVENT_RECORD && user_stacks_of(stacks, &event, &of, &tgid);

		if (event.kind != EVENT_RECORD)
			continue;
		CHECK(user_stacks_beside(stacks, &event, &beside, &other) == has && other == tgid);
		if (!has)
			continue;
		found += 2;
		CHECK(of.user && of.unwound && of.cut && stack_next(&of, &address));
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%" PRIu64 ":%" PRId32 " %" PRIx64 "\n",
			 event.ts, tgid, address);
		CHECK(!stack_next(&of, &address));
	}
	CHECK_STR(got, want);
	/* No rule leads to a caller: the recording has none. */
	CHECK(user_stacks_counts(stacks).found == found && user_stacks_counts(stacks).unknown == found &&
	      !user_stacks_counts(stacks).cut);
	events_free(events);
	user_stacks_free(stacks);
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

TEST(user_stacks_of_a_probe_are_those_that_were_copied_last_before_it)
{
	check_stacks("+0 100 7 probe_one ip=0x5000 sp=0x100\n"
		     "0 90 7 hit __probe_ip=0x5000\n"
		     "0 110 7 hit __probe_ip=0x5000\n"
		     "0 115 7 other ip=0x5000\n"
		     "0 120 8 hit __probe_ip=0x5000\n"
		     "0 130 7 hit __probe_ip=0x5001\n"
		     "0 135 7 sched_switch prev_comm=a prev_pid=7 next_comm=b next_pid=8\n"
		     "0 136 7 sys_enter_read __syscall_nr=0\n"
		     "+0 140 8 probe_one ip=0x8000 sp=0x100\n"
		     "+0 150 7 probe_one ip=0x6000 sp=0x100\n"
		     "0 160 7 hit __probe_ip=0x6000\n"
		     "0 170 7 hit __probe_ip=0x5000\n"
		     "0 180 8 hit __probe_ip=0x8000\n"
		     "0 190 9 hit __probe_ip=0x8000\n"
		     "+0 200 7 probe_one ip=0x7000 sp=0x100\n"
		     "0 200 7 hit __probe_ip=0x7000\n",
		     "110:7 5000\n160:7 6000\n180:8 8000\n200:7 7000\n");
}

/* The copy of the second event may be among those that were lost. */
TEST(user_stacks_are_not_those_of_another_event_whose_copy_was_lost)
{
	check_stacks("+0 100 7 probe_one ip=0x5000 sp=0x100\n"
		     "0 110 7 hit __probe_ip=0x5000\n"
		     "+0 lost 2\n"
		     "+0 150 9 probe_one ip=0x5000 sp=0x100\n"
		     "0 140 7 hit __probe_ip=0x5000\n"
		     "0 160 7 hit __probe_ip=0x5000\n"
		     "0 170 9 hit __probe_ip=0x5000\n",
		     "110:7 5000\n140:7 5000\n170:9 5000\n");
	/* One that lacks registers is none. */
	check_stacks("+0 100 7 probe_less ip=0x5000\n0 110 7 hit __probe_ip=0x5000\n", "");
	check_stacks("0 110 7 hit __probe_ip=0x5000\n", "");
}

/* Inner is called by outer, at 0x402110; nothing has called outer; the caller of lost is too far away. */
static const char maps[] = "00400000-00500000 r-xp 00000000 00:02 60      /bin/app\n"
			   "00600000-00700000 r--p 00000000 00:02 61      /bin/data\n";
static const char functions[] = "f 60 0 /bin/app\n1000 100 inner\n2000 200 outer\n4000 100 lost\n";
static const char rules[] = "f 60 0 /bin/app\n1000 100 0 7+8\n2000 200 0 7+8 e\n4000 100 0 7+64\n";

/* The names of a stack's frames, innermost first. */
static void put_names(const struct context *context, int32_t tgid, struct stack *stack, char *into, size_t size)
{
	uint64_t address;

	for (bool inner = true; stack_next(stack, &address); inner = false) {
		char name[64];

		stack_user_name(context, tgid, stack_user_frame(context, tgid, address, inner), name, sizeof(name));
		snprintf(into + strlen(into), size - strlen(into), "%s%s", inner ? "" : "<", name);
	}
}

TEST(user_stacks_are_unwound_by_the_rules_of_the_program)
{
	/* The bytes of the copy are those of a little-endian return address: 0x402110, 0x402200, 0x612110. */
	static const char script[] =
		"+0 100 7 probe_one ip=0x401010 sp=0x1000 w0=\x10!@\n0 110 7 hit __probe_ip=0x401010\n"
		"+0 200 7 probe_one ip=0x402110 sp=0x1000 w0=\x10!@\n0 210 7 hit __probe_ip=0x402110\n"
		"+0 300 7 probe_one ip=0x401010 sp=0x1000 w0=\x10!a\n0 310 7 hit __probe_ip=0x401010\n"
		"+0 400 7 probe_one ip=0x404010 sp=0x1000 w0=\x10!@\n0 410 7 hit __probe_ip=0x404010\n"
		"+0 500 7 probe_one ip=0x403010 sp=0x1000 w0=\x10!@\n0 510 7 hit __probe_ip=0x403010\n"
		"+0 600 8 probe_one ip=0x401010 sp=0x1000 w0=\x10!@\n0 610 8 hit __probe_ip=0x401010\n";
	const struct events_options options = { .until = UINT64_MAX };
	struct user_stacks_counts counts;
	struct user_stacks *stacks = NULL;
	struct context *context = NULL;
	struct events *events = NULL;
	char got[512] = "", name[8];
	struct trace *trace;
	struct event event;
	struct loom loom;

	if (HOST_BIG_ENDIAN)
		return;
	add_types(&loom);
	loom_setting(&loom, "proc/7/maps", maps);
	loom_setting(&loom, "weft/functions", functions);
	loom_setting(&loom, "weft/unwind", rules);
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	REQUIRE(trace && !context_new(trace, 0, &context, NULL) && (stacks = user_stacks_new(context)));
	REQUIRE(!events_open(context, &options, &events, NULL));
	while (events_next(events, &event, NULL) > 0) {
		struct stack stack;
		int32_t tgid;

		if (!CHECK(user_stacks_of(stacks, &event, &stack, &tgid)))
			continue;
		put_names(context, tgid, &stack, got, sizeof(got));
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s\n", stack.cut ? "..." : "");
	}
	CHECK_STR(got, "inner<outer\nouter\ninner...\nlost...\napp+0x3010...\n0x401010...\n");
	counts = user_stacks_counts(stacks);
	CHECK(counts.found == 6 && counts.cut == 1 && counts.unknown == 3);
	/* A name that is longer than its room is cut. */
	CHECK(stack_user_name(context, 7, 0x403010, name, sizeof(name)) == 7);
	CHECK_STR(name, "app+0x3");
	CHECK(stack_user_is_code(context, 7, 0x401000) && !stack_user_is_code(context, 7, 0x600000) &&
	      !stack_user_is_code(context, 7, 0x500000) && !stack_user_is_code(context, 8, 0x401000));
	events_free(events);
	user_stacks_free(stacks);
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}
