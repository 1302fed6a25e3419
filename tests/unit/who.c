// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/who.h"

#include <stdio.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/*
 * Before the recording: process 7 (sh, in a.service) with the thread 9, and process 3 (sleep) in b.service, whose PID
 * is used again while events are lost. What happens is in the script, so that all answers are known without weft.
 */
static const char tasks[] = "7 7 1 50 0 7 20\tsh\t/usr/bin/sh\n"
			    "9 7 1 51 0 9 20\tworker\t\n"
			    "3 3 1 60 0 3 30\tsleep\t/usr/bin/sleep\n"
			    "1 1 0 1 0 1 1\tsystemd\t/lib/systemd/systemd\n"
			    "2 2 0 1 0 2 1\tkthreadd\t(kernel)\n";
static const char tasks_end[] = "7 7 1 50 0 7 30\tsh\t/usr/bin/sh\n"
				"9 7 1 51 0 9 30\tworker\t\n"
				"3 3 1 99 0 3 30\tls\t/usr/bin/ls\n"
				"1 1 0 1 0 1 1\tsystemd\t/lib/systemd/systemd\n"
				"2 2 0 1 0 2 1\tkthreadd\t(kernel)\n"
				"40 40 1 2 1000 40 20\told\t/opt/a\\x09b\n";
static const char groups[] = "0 1 /\n0 20 /system.slice/a.service\n0 30 /system.slice/b.service\n";
static const char on[] = "sched:sched_process_exec\nsched:sched_process_exit\ntask:task_newtask\n"
			 "cgroup:cgroup_attach_task\n";
static const char script[] =
	"0 1000 9 task_newtask pid=10 comm=worker clone_flags=0x3d0f00\n"
	"0 2000 7 task_newtask pid=11 comm=sh clone_flags=0x1200000\n"
	"0 3000 11 sched_process_exec filename=/usr/bin/ls pid=11 old_pid=11\n"
	"0 4000 1 cgroup_attach_task dst_root=0 dst_level=2 dst_id=30 pid=7 dst_path=/system.slice/b.service comm=sh\n"
	"0 4500 1 cgroup_attach_task dst_root=1 dst_level=2 dst_id=20 pid=7 dst_path=/other comm=sh\n"
	"0 5000 7 task_newtask pid=12 comm=sh clone_flags=0x200000000\n"
	"0 6000 1 cgroup_attach_task dst_root=0 dst_level=2 dst_id=44 pid=12 dst_path=/docker/x comm=sh\n"
	"0 7000 11 sched_process_exit comm=ls pid=11\n"
	"0 8000 7 task_newtask pid=11 comm=sh clone_flags=0x1200000\n"
	"0 lost 5\n"
	"0 9000 7 task_newtask pid=13 comm=sh clone_flags=0x3d0f00\n";

static struct trace *make(struct loom *loom, const char *what)
{
	loom_init(loom);
	loom_type(loom, "sched", "sched_process_exec", "__data_loc char[] filename; pid_t pid; pid_t old_pid",
		  "\"%d\", REC->pid");
	loom_type(loom, "sched", "sched_process_exit", "char comm[16]; pid_t pid", "\"%d\", REC->pid");
	loom_type(loom, "task", "task_newtask", "pid_t pid; char comm[16]; u64 clone_flags", "\"%d\", REC->pid");
	loom_type(
		loom, "cgroup", "cgroup_attach_task",
		"int dst_root; int dst_level; u64 dst_id; int pid; __data_loc char[] dst_path; __data_loc char[] comm",
		"\"%d\", REC->pid");
	loom_setting(loom, "weft/mode", "record");
	loom_setting(loom, "weft/tasks", tasks);
	loom_setting(loom, "weft/tasks_end", tasks_end);
	loom_setting(loom, "weft/cgroups", groups);
	loom_setting(loom, "set_event", on);
	loom_play(loom, what);
	return loom_trace(loom);
}

TEST(who_a_task_belongs_to_is_scanned_followed_or_unknown)
{
	static const struct {
		int32_t pid;
		uint64_t ts;
		int32_t process;
		const char *program, *unit;
		enum who_how how; /* of the process */
	} want[] = {
		{ 7, 500, 7, "sh", "a.service", WHO_SCANNED },
		{ 9, 500, 7, "sh", "a.service", WHO_SCANNED },
		{ 10, 1000, 7, "sh", "a.service", WHO_FOLLOWED },
		{ 11, 2999, 11, "sh", "a.service", WHO_FOLLOWED },
		{ 11, 3000, 11, "ls", "a.service", WHO_FOLLOWED },
		/* The event names the first thread; the others came with it. 11 is another process. */
		{ 7, 4600, 7, "sh", "b.service", WHO_SCANNED },
		{ 9, 4000, 7, "sh", "b.service", WHO_SCANNED },
		{ 10, 4000, 7, "sh", "b.service", WHO_FOLLOWED },
		{ 11, 4000, 11, "ls", "a.service", WHO_FOLLOWED },
		/* Born in a group of which no event speaks. */
		{ 12, 5500, 12, "sh", "(unknown)", WHO_FOLLOWED },
		{ 12, 6500, 12, "sh", "", WHO_FOLLOWED },
		{ 11, 7500, 11, "ls", "a.service", WHO_FOLLOWED },
		{ 11, 8000, 11, "sh", "b.service", WHO_FOLLOWED },
		/* Behind the loss: what the list at the end says as well had not changed. */
		{ 7, 9000, 7, "sh", "b.service", WHO_SCANNED },
		{ 9, 9000, 7, "sh", "b.service", WHO_SCANNED },
		{ 10, 9000, 0, "(unknown)", "(unknown)", WHO_UNKNOWN },
		{ 3, 8000, 3, "sleep", "b.service", WHO_SCANNED },
		{ 3, 9000, 0, "(unknown)", "(unknown)", WHO_UNKNOWN },
		{ 13, 9000, 7, "sh", "b.service", WHO_FOLLOWED },
		/* Of the list at the end alone: it is older than the events, as none tells its birth. */
		{ 40, 9000, 40, "a\tb", "a.service", WHO_SCANNED },
		{ 40, 500, 40, "a\tb", "a.service", WHO_GUESSED },
		{ 2, 9000, 2, "(kernel)", "", WHO_SCANNED },
		{ 1, 500, 1, "systemd", "", WHO_SCANNED },
		{ 99, 500, 0, "(unknown)", "(unknown)", WHO_UNKNOWN },
		{ 0, 500, 0, "(unknown)", "(unknown)", WHO_UNKNOWN },
	};
	struct loom loom;
	struct trace *trace = make(&loom, script);
	struct context *context;

	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		enum who_how how = WHO_UNKNOWN;
		int32_t pid = want[i].pid;
		uint64_t ts = want[i].ts;

		char got[32], right[32];

		snprintf(got, sizeof(got), "%d@%d: %d", pid, (int)ts, who_process(context, pid, ts, &how));
		snprintf(right, sizeof(right), "%d@%d: %d", pid, (int)ts, want[i].process);
		CHECK_STR(got, right);
		snprintf(got, sizeof(got), "%d@%d: how %d", pid, (int)ts, (int)how);
		snprintf(right, sizeof(right), "%d@%d: how %d", pid, (int)ts, (int)want[i].how);
		CHECK_STR(got, right);
		CHECK_STR(who_text(context, WHO_PROGRAM, who_is(context, WHO_PROGRAM, pid, ts, NULL)), want[i].program);
		CHECK_STR(who_text(context, WHO_UNIT, who_is(context, WHO_UNIT, pid, ts, NULL)), want[i].unit);
	}
	CHECK_STR(who_program(context, 11, 3000, NULL), "/usr/bin/ls");
	/* Both lists say so; a child has the user of its parent, as far as events tell. */
	CHECK_STR(who_text(context, WHO_USER, who_is(context, WHO_USER, 7, 500, NULL)), "root");
	CHECK_STR(who_text(context, WHO_USER, who_is(context, WHO_USER, 11, 3000, NULL)), "root");
	CHECK_STR(who_text(context, WHO_USER, who_is(context, WHO_USER, 40, 500, NULL)), "1000");
	CHECK_STR(who_text(context, WHO_USER, who_is(context, WHO_USER, 3, 9000, NULL)), "(unknown)");
	CHECK_STR(who_text(context, WHO_CGROUP, who_is(context, WHO_CGROUP, 12, 6500, NULL)), "/docker/x");
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

static bool wants(const struct context *context, enum who_part part, const char *word, int32_t pid, uint64_t ts)
{
	const struct who_want want = { part, word };
	uint64_t until = 0;
	bool wanted = who_wants(context, &want, 1, pid, ts, &until);

	CHECK(until > ts);
	/* The same up to that time, and an answer of its own there. */
	CHECK(wanted == who_wants(context, &want, 1, pid, until - 1, NULL));
	return wanted;
}

TEST(who_is_wanted_by_the_words_of_users)
{
	static const struct who_want both[] = { { WHO_UNIT, "a" }, { WHO_UNIT, "b" }, { WHO_PROCESS, "ls" } };
	uint64_t until;

	struct loom loom;
	struct trace *trace = make(&loom, script);
	struct context *context;

	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	CHECK(wants(context, WHO_PROCESS, "7", 9, 500));
	CHECK(!wants(context, WHO_PROCESS, "9", 9, 500));
	CHECK(wants(context, WHO_PROCESS, "s?", 10, 1000));
	CHECK(!wants(context, WHO_PROCESS, "*", 99, 1000));
	CHECK(wants(context, WHO_UNIT, "a", 7, 500) && wants(context, WHO_UNIT, "a.service", 7, 500));
	CHECK(!wants(context, WHO_UNIT, "a", 7, 4000) && !wants(context, WHO_UNIT, "*", 2, 0));
	CHECK(wants(context, WHO_CGROUP, "/system.slice", 7, 500));
	CHECK(!wants(context, WHO_CGROUP, "/system", 7, 500));
	CHECK(who_wants(context, both, 3, 11, 3000, NULL) && !who_wants(context, both, 3, 11, 2999, NULL));
	CHECK(who_wants(context, both, 3, 11, 4000, NULL) && !who_wants(context, both, 3, 7, 4000, NULL));
	(void)who_wants(context, both, 1, 7, 500, &until);
	CHECK(until == 4000);
	CHECK(who_text_matches(WHO_CONTAINER, "0123", "0123456789abcdef"));
	CHECK(!who_text_matches(WHO_CONTAINER, "012", "0123456789abcdef"));
	CHECK(who_text_matches(WHO_CONTAINER, "web*", "web-1"));
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

/* A part of a recording: events between its lists and its own are not in it. */
TEST(who_in_a_part_is_what_both_lists_or_its_events_say)
{
	struct loom loom;
	struct trace *trace;
	struct context *context;
	enum who_how how;

	loom_init(&loom);
	loom_type(&loom, "task", "task_newtask", "pid_t pid; char comm[16]; u64 clone_flags", "\"%d\", REC->pid");
	loom_setting(&loom, "weft/mode", "record");
	loom_setting(&loom, "weft/tasks_before", tasks);
	loom_setting(&loom, "weft/tasks_after", tasks_end);
	loom_setting(&loom, "set_event", "task:task_newtask\n");
	loom_play(&loom, "0 1000 7 task_newtask pid=10 comm=sh clone_flags=0\n"
			 "0 2000 7 task_newtask pid=11 comm=sh clone_flags=0\n");
	trace = loom_trace(&loom);
	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	CHECK(who_process(context, 9, 1500, &how) == 7 && how == WHO_SCANNED);
	CHECK(!who_process(context, 3, 1500, &how)); /* another process before the part, or after it */
	CHECK(who_process(context, 10, 1500, &how) == 10 && how == WHO_FOLLOWED);
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

/* The list at the start and at the end are all there is: without events of forks, what both say is known. */
TEST(who_without_events_is_what_both_lists_say)
{
	struct loom loom;
	struct trace *trace;
	struct context *context;
	enum who_how how;

	loom_init(&loom);
	loom_setting(&loom, "weft/mode", "record");
	loom_setting(&loom, "weft/tasks", tasks);
	loom_setting(&loom, "weft/tasks_end", tasks_end);
	loom_setting(&loom, "weft/cgroups", groups);
	loom_setting(&loom, "set_event", "sched:sched_switch\n");
	loom_play(&loom, "0 1000 7 sched_switch prev_comm=sh prev_pid=7 next_comm=ls next_pid=8\n");
	trace = loom_trace(&loom);
	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	CHECK(who_process(context, 9, 1000, &how) == 7 && how == WHO_SCANNED);
	CHECK(!who_process(context, 3, 1000, &how) || how == WHO_GUESSED);
	CHECK(!who_is(context, WHO_UNIT, 7, 1000, &how) && how == WHO_UNKNOWN); /* it moved, and nothing says when */
	CHECK_STR(who_text(context, WHO_PROGRAM, who_is(context, WHO_PROGRAM, 9, 1000, &how)), "sh");
	CHECK(how == WHO_SCANNED);
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

#define DOCKER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "1f3c0d52-6a3e-4d7c-9a57-0c2b7f1f9a11"

static void check_called(const char *names, const char *container, const char *pod)
{
	struct context *context = NULL;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	loom_setting(&loom, "weft/mode", "record");
	loom_setting(&loom, "weft/tasks", "7 7 1 50 0 7 20\tsh\t/bin/sh\n8 8 1 50 0 8 30\tsh\t/bin/sh\n");
	loom_setting(&loom, "weft/cgroups",
		     "0 20 /docker/" DOCKER "\n0 30 /kubepods/burstable/pod" POD "/" DOCKER "\n");
	loom_setting(&loom, "set_event", on);
	if (names)
		loom_setting(&loom, "weft/containers", names);
	loom_play(&loom, "0 1000 7 sched_waking comm=ls pid=8\n");
	trace = loom_trace(&loom);
	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	CHECK_STR(who_text(context, WHO_CONTAINER, who_is(context, WHO_CONTAINER, 7, 1000, NULL)), container);
	CHECK_STR(who_text(context, WHO_CONTAINER, who_is(context, WHO_CONTAINER, 8, 1000, NULL)), container);
	CHECK_STR(who_text(context, WHO_POD, who_is(context, WHO_POD, 8, 1000, NULL)), pod);
	CHECK_STR(who_text(context, WHO_POD, who_is(context, WHO_POD, 7, 1000, NULL)), "");
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

TEST(who_containers_and_pods_are_called_as_people_call_them)
{
	check_called(NULL, DOCKER, POD);
	check_called("container " DOCKER "\tweb\npod " POD "\tshop/cart\nvolume x\ty\n\n", "web", "shop/cart");
	check_called("container " DOCKER "\npod\tx\ncontainer \tnobody\n", DOCKER, POD);
}

/* A reader of running buffers asks about the present: what events have said so far. */
TEST(who_follows_running_buffers)
{
	const struct events_options options = { .until = UINT64_MAX };
	struct events *events = NULL;
	struct context *context;
	struct event event;
	struct loom loom;
	struct trace *trace = make(&loom, script);

	REQUIRE(trace && !context_new(trace, 0, &context, NULL) && !events_open(context, &options, &events, NULL));
	while (events_next(events, &event, NULL) > 0) {
		who_follow(context, &event);
		if (event.kind != EVENT_RECORD)
			continue;
		if (event.ts >= 1000 && event.ts < 9000)
			CHECK(who_process(context, 10, event.ts, NULL) == 7);
		if (event.ts == 3000)
			CHECK_STR(who_text(context, WHO_PROGRAM, who_is(context, WHO_PROGRAM, 11, 3000, NULL)), "ls");
		if (event.ts == 3000)
			CHECK_STR(who_text(context, WHO_UNIT, who_is(context, WHO_UNIT, 7, 3000, NULL)), "a.service");
		if (event.ts == 4500)
			CHECK_STR(who_text(context, WHO_UNIT, who_is(context, WHO_UNIT, 7, 4500, NULL)), "b.service");
	}
	events_free(events);
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

struct names {
	char text[512];
	size_t len;
};

static void add_name(const char *text, void *arg)
{
	struct names *names = arg;

	if (names->len < sizeof(names->text))
		names->len += (size_t)snprintf(names->text + names->len, sizeof(names->text) - names->len, "%s ", text);
}

/* What can be asked for: all that the lists before and behind the recording have, and the events. */
TEST(who_has_the_names_of_each_part_that_the_lists_have)
{
	static const struct {
		enum who_part part;
		const char *want;
	} parts[] = {
		{ WHO_PROGRAM, "sh sleep systemd (kernel) ls a\tb " },
		{ WHO_PROCESS, "sh sleep systemd (kernel) ls a\tb " },
		{ WHO_USER, "root 1000 " },
		{ WHO_UNIT, "a.service b.service " },
		{ WHO_CONTAINER, "" },
		{ WHO_CGROUP, "/ /system.slice/a.service /system.slice/b.service /docker/x " },
	};
	struct context *context = NULL;
	struct trace *trace;
	struct loom loom;

	trace = make(&loom, script);
	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct names names = { .len = 0 };

		who_each(context, parts[i].part, add_name, &names);
		CHECK_STR(names.text, parts[i].want);
	}
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}
