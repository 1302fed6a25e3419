// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/comms.h"

#include <string.h>

#include "lib/meaning/event/events.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* What happened, so that the names are known: 7 forks 8, which becomes `ls`, ends, and its PID is used again. */
static const char script[] = "0 1000 8 sys_enter id=1\n"
			     "0 2000 7 sched_process_fork parent_comm=sh parent_pid=7 child_comm=sh child_pid=8\n"
			     "0 3000 8 sys_enter id=1\n"
			     "0 4000 8 sched_process_exec filename=/usr/bin/ls pid=8\n"
			     "0 5000 8 sys_enter id=1\n"
			     "0 6000 8 task_rename oldcomm=ls newcomm=ls-2\n"
			     "0 7000 8 sched_switch prev_comm=ls-2 prev_pid=8 next_comm=worker next_pid=9\n"
			     "0 8000 7 sched_process_fork parent_comm=sh parent_pid=7 child_comm=sh child_pid=8\n"
			     "0 9000 9 task_rename oldcomm=worker newcomm=late\n"
			     "0 9500 5 sched_waking comm=swapper pid=0 prio=120 target_cpu=0\n"
			     "0 9600 5 other comm=liar pid=11\n";

static struct trace *make(struct loom *loom)
{
	loom_init(loom);
	loom_type(loom, "raw_syscalls", "sys_enter", "long id", "\"NR %ld\", REC->id");
	loom_type(loom, "sched", "sched_process_exec", "__data_loc char[] filename; pid_t pid", "\"%d\", REC->pid");
	loom_type(loom, "task", "task_rename", "char oldcomm[16]; char newcomm[16]", "\"%s\", REC->oldcomm");
	loom_type(loom, "mine", "other", "char comm[16]; pid_t pid", "\"%s\", REC->comm");
	loom_task(loom, 5, "saved");
	loom_play(loom, script);
	return loom_trace(loom);
}

TEST(comms_are_those_that_events_said_until_then)
{
	static const struct {
		int32_t pid;
		uint64_t ts;
		const char *name;
	} want[] = {
		{ 8, 1000, "<...>" }, /* of the task that had this PID before */
		{ 8, 2000, "sh" },     { 8, 3999, "sh" },   { 8, 4000, "ls" },       { 8, 5000, "ls" },
		{ 8, 6000, "ls-2" },   { 8, 7999, "ls-2" }, { 8, COMMS_LAST, "sh" }, { 9, 0, "worker" },
		{ 9, 8999, "worker" }, { 9, 9000, "late" }, { 7, 0, "sh" },          { 10, 5000, "<...>" },
		{ 5, 0, "saved" },     { 0, 0, "<idle>" },  { 11, 9700, "<...>" },
	};
	struct loom loom;
	struct trace *trace = make(&loom);
	struct context *context;

	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct task_name name = context_comm(context, want[i].pid, want[i].ts);

		CHECK_STR(name.text, want[i].name);
		CHECK(name.len == strlen(want[i].name));
	}
	CHECK(context_names(context, 8) && !context_names(context, 10) && context_names(context, 5));
	/* The kernel's text stays: saved_cmdlines does not have them. */
	CHECK_STR(task_name(context->tasks, 8).text, "<...>");
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

TEST(comms_of_running_buffers_are_those_that_came_last)
{
	static const struct {
		int32_t pid;
		const char *name;
	} want[] = { { 8, "<...>" },  { 8, "sh" }, { 8, "sh" },   { 8, "ls" },     { 8, "ls" },    { 8, "ls-2" },
		     { 9, "worker" }, { 8, "sh" }, { 9, "late" }, { 0, "<idle>" }, { 11, "<...>" } };
	struct events_options options = { .until = UINT64_MAX, .see = comms_learn };
	struct context *context;
	struct events *events;
	struct event event;
	struct loom loom;
	struct trace *trace = make(&loom);
	size_t nr = 0;

	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	options.see_arg = context->comms;
	REQUIRE(!events_open(context, &options, &events, NULL));
	for (; nr < sizeof(want) / sizeof(*want) && events_next(events, &event, NULL) > 0; nr++)
		CHECK_STR(context_comm(context, want[nr].pid, event.ts).text, want[nr].name);
	CHECK(nr == sizeof(want) / sizeof(*want));
	events_free(events);
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}
