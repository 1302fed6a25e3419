// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: events of the scheduler and of interrupts in any order, on any CPU, with any PIDs, times that go back, and
 * losses anywhere. The times of each CPU and each task must still add up to the span.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/history.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/state/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* One layout for all kinds of events: each kind finds its fields in it. */
struct record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	char comm[16];
	int32_t other, third, prio, cpu;
	int64_t state;
};

static const struct {
	const char *system, *name, *pid, *other;
} kinds[] = {
	{ "sched", "sched_switch", "next_pid", "prev_pid" },
	{ "sched", "sched_waking", "pid", "x" },
	{ "sched", "sched_wakeup", "pid", "x" },
	{ "sched", "sched_wakeup_new", "pid", "x" },
	{ "sched", "sched_migrate_task", "pid", "x" },
	{ "sched", "sched_process_fork", "child_pid", "parent_pid" },
	{ "task", "task_newtask", "pid", "x" },
	{ "task", "task_rename", "pid", "x" },
	{ "irq", "irq_handler_entry", "irq", "x" },
	{ "irq", "irq_handler_exit", "irq", "x" },
	{ "irq", "softirq_entry", "vec", "x" },
	{ "irq", "softirq_exit", "vec", "x" },
	{ "signal", "signal_generate", "pid", "x" },
};

enum { KINDS = array_size(kinds), CPUS = 4, STEP = 8, TEXT = 1024 };

struct stage {
	struct context context;
	struct schema *schema;
	char texts[KINDS][TEXT];
	struct event_type types[KINDS];
};

/* Built once, because the formats are the same for every input. */
static bool build(struct stage *stage)
{
	stage->context.abi.long_size = 8;
	if (schema_new(&stage->context.abi, &stage->schema, NULL))
		return false;
	for (size_t i = 0; i < KINDS; i++) {
		int n = snprintf(stage->texts[i], TEXT,
				 "name: %s\nID: %zu\nformat:\n"
				 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				 "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
				 "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
				 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				 "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				 "\tfield:pid_t %s;\toffset:24;\tsize:4;\tsigned:1;\n"
				 "\tfield:pid_t %s;\toffset:28;\tsize:4;\tsigned:1;\n"
				 "\tfield:int prio;\toffset:32;\tsize:4;\tsigned:1;\n"
				 "\tfield:int target_cpu;\toffset:36;\tsize:4;\tsigned:1;\n"
				 "\tfield:long prev_state;\toffset:40;\tsize:8;\tsigned:1;\n\nprint fmt: \"\"\n",
				 kinds[i].name, 300 + i, kinds[i].pid, kinds[i].other);

		if (n < 0 || n >= TEXT ||
		    schema_add(stage->schema, kinds[i].system, strlen(kinds[i].system), stage->texts[i], (size_t)n,
			       NULL))
			return false;
		stage->types[i] =
			(struct event_type){ .id = (int32_t)(300 + i),
					     .index = (uint16_t)i,
					     .context = &stage->context,
					     .format = schema_format(stage->schema, (int32_t)(300 + i), NULL) };
		if (!stage->types[i].format)
			return false;
	}
	return true;
}

/* Eight bytes are an event. There are few PIDs, so that many events are of the same task. */
static void play(struct stage *stage, const uint8_t *at, uint64_t *now, struct state *state, struct history *history)
{
	static const int64_t states[] = { 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 };
	struct record record = { .flags = at[4], .comm = "task" };
	struct event event = { .kind = EVENT_RECORD };
	uint32_t kind = at[0] & 15;

	record.pid = at[1] & 7;
	record.other = at[2] & 7;
	record.third = at[3] & 128 ? at[2] >> 4 : record.pid;
	record.prio = at[5];
	record.cpu = at[6] & 7;
	record.state = states[at[3] % array_size(states)];
	*now += at[7] & 128 ? (uint64_t)at[7] << 4 : at[7];
	event.ts = at[4] == 255 && *now > 50 ? *now - 50 : *now;
	event.cpu = at[0] >> 4 & (CPUS - 1);
	if (kind >= KINDS) {
		event.kind = EVENT_LOST;
		event.lost = at[1];
	} else {
		event.data = (const uint8_t *)&record;
		event.len = at[0] & 128 ? 20 : sizeof(record); /* the missing bytes of a short record read as 0 */
		event.type = &stage->types[kind];
		event.id = (uint16_t)event.type->id;
		event.flags = record.flags;
		event.pid = record.pid;
	}
	state_see(state, &event);
	history_see(history, state, &event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct stage stage;
	struct fail fail = FAIL_INIT;
	struct state state;
	struct history history = { .cpus = NULL };
	uint64_t now = 1000;

	if (!stage.schema && !build(&stage))
		abort();
	if (!len)
		return 0;
	state_init(&state, data[0] & 1);
	for (data++, len--; len >= STEP; data += STEP, len -= STEP)
		play(&stage, data, &now, &state, &history);
	state_settle(&state);
	if (!state.failed && !state_adds_up(&state, &fail)) {
		fprintf(stderr, "%s\n", fail.text);
		abort();
	}
	history_release(&history);
	state_release(&state);
	return 0;
}
