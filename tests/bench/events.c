// SPDX-License-Identifier: GPL-2.0-only
#include "tests/bench/synth.h"

#include <stdio.h>
#include <string.h>

/* Ids of event types: the first ones as the template's kernel has them, then those of synth_formats. */
enum {
	ID_STACK = 4,
	ID_GRAPH_EXIT = 10,
	ID_GRAPH_ENTRY = 11,
	ID_STAT_RUNTIME = 251,
	ID_SWITCH = 260,
	ID_WAKING = 263,
	ID_SYS_ENTER = 4001,
	ID_SYS_EXIT,
	ID_IRQ_ENTRY,
	ID_IRQ_EXIT,
};

#define COMMON                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

const struct synth_format synth_formats[] = {
	{ "raw_syscalls", "sys_enter",
	  "name: sys_enter\nID: 4001\nformat:\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	  "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n\n"
	  "print fmt: \"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], REC->args[1], REC->args[2], "
	  "REC->args[3], REC->args[4], REC->args[5]\n" },
	{ "raw_syscalls", "sys_exit",
	  "name: sys_exit\nID: 4002\nformat:\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	  "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\n"
	  "print fmt: \"NR %ld = %ld\", REC->id, REC->ret\n" },
	{ "irq", "irq_handler_entry",
	  "name: irq_handler_entry\nID: 4003\nformat:\n" COMMON "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n\n"
	  "print fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n" },
	{ "irq", "irq_handler_exit",
	  "name: irq_handler_exit\nID: 4004\nformat:\n" COMMON "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:int ret;\toffset:12;\tsize:4;\tsigned:1;\n\n"
	  "print fmt: \"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\"\n" },
};
const size_t synth_nr_formats = sizeof(synth_formats) / sizeof(synth_formats[0]);

/* The generator is xorshift64. */
uint32_t synth_random(struct synth *synth, uint32_t below)
{
	synth->random ^= synth->random << 13;
	synth->random ^= synth->random >> 7;
	synth->random ^= synth->random << 17;
	return (uint32_t)((synth->random >> 32) * below >> 32);
}

const char *synth_comm(int32_t pid, char into[16])
{
	static const char *const names[] = { "bash", "kworker/u8:3", "loom",        "rcu_preempt",
					     "sshd", "weaver",       "ksoftirqd/1", "cc1" };

	memset(into, 0, 16);
	if (pid)
		snprintf(into, 16, "%s", names[pid % 8]);
	else
		snprintf(into, 16, "swapper/0");
	return into;
}

static void put(uint8_t *event, size_t at, const void *value, size_t size)
{
	memcpy(event + at, value, size);
}

static void put32(uint8_t *event, size_t at, uint32_t value)
{
	put(event, at, &value, sizeof(value));
}

static void put64(uint8_t *event, size_t at, uint64_t value)
{
	put(event, at, &value, sizeof(value));
}

static void begin(const struct synth *synth, uint8_t *event, uint16_t id, uint8_t flags)
{
	put(event, 0, &id, sizeof(id));
	event[2] = flags;
	event[3] = id == ID_WAKING ? 1 : 0;
	put32(event, 4, (uint32_t)synth->pid);
}

/* The PID of a task of this CPU: no task runs on two CPUs at once, as in the file of a real kernel. */
static int32_t task_of_this_cpu(const struct synth *synth, uint32_t number)
{
	uint32_t task = number % synth_tasks_of_cpu(synth->cpus) * synth->cpus + synth->cpu;

	return task ? (int32_t)(100 + 17 * task) : 0;
}

static int32_t other_task(struct synth *synth)
{
	/* A few tasks wait for each other. Now and then another task runs. */
	uint32_t number = synth_random(synth, 8) ? 1 + synth->turn / 15 % 3 : synth_random(synth, SYNTH_TASKS);
	int32_t task = task_of_this_cpu(synth, number);

	return task == synth->pid ? task_of_this_cpu(synth, number + 1) : task;
}

static size_t switch_tasks(struct synth *synth, uint8_t *event)
{
	int32_t next = other_task(synth);
	char comm[16];

	begin(synth, event, ID_SWITCH, 0x40);
	put(event, 8, synth_comm(synth->pid, comm), 16);
	put32(event, 24, (uint32_t)synth->pid);
	put32(event, 28, synth->pid % 3 ? 120 : 98);
	put64(event, 32, synth_random(synth, 3));
	put(event, 40, synth_comm(next, comm), 16);
	put32(event, 56, (uint32_t)next);
	put32(event, 60, next % 3 ? 120 : 98);
	synth->pid = next;
	return 64;
}

static size_t wake(struct synth *synth, uint8_t *event)
{
	int32_t task = other_task(synth) + 17;
	char comm[16];

	begin(synth, event, ID_WAKING, 0x10);
	put(event, 8, synth_comm(task, comm), 16);
	put32(event, 24, (uint32_t)task);
	put32(event, 28, 120);
	put32(event, 32, synth_random(synth, synth->cpus));
	return 36;
}

static size_t run(struct synth *synth, uint8_t *event)
{
	char comm[16];

	begin(synth, event, ID_STAT_RUNTIME, 0x41);
	put(event, 8, synth_comm(synth->pid, comm), 16);
	put32(event, 24, (uint32_t)synth->pid);
	put32(event, 28, 0);
	put64(event, 32, 1000 + synth_random(synth, 1 << 14));
	return 40;
}

/*
 * Real programs repeat the same few calls on the same few files and buffers, and recorded pages shrink to about a
 * fifth. Arguments drawn at random would measure zstd instead of the reader.
 */
static size_t enter(struct synth *synth, uint8_t *event)
{
	static const uint16_t numbers[] = { 0, 1, 0, 1, 202, 232, 0, 1, 45, 44, 35, 24, 257, 3, 5, 9 };
	static const uint32_t lengths[] = { 1, 8, 64, 512, 4096, 8192, 65536, 131072 };
	uint64_t buffer = 0x7ffd00000000 + (uint64_t)(uint32_t)synth->pid * 4096;
	uint32_t call = synth_random(synth, 8) ? ((uint32_t)(synth->turn / 5) + (uint32_t)synth->pid) % 16 :
						 synth_random(synth, 16);

	synth->number = numbers[call];
	begin(synth, event, ID_SYS_ENTER, 0);
	put64(event, 8, synth->number);
	put64(event, 16, 3 + call % 5);
	put64(event, 24, buffer + 64 * (call % 4));
	put64(event, 32, lengths[(call + (uint32_t)synth->pid) % 8]);
	put64(event, 40, call % 4 ? 0 : 0x7f0000000000 + call * 4096);
	put64(event, 48, call % 8 ? 0 : 0xffffffff);
	put64(event, 56, 0);
	return 64;
}

static size_t leave(struct synth *synth, uint8_t *event)
{
	begin(synth, event, ID_SYS_EXIT, 0);
	put64(event, 8, synth->number);
	put64(event, 16, synth_random(synth, 10) ? 1u << synth->number % 8 : (uint64_t)-11);
	return 24;
}

static size_t interrupt(struct synth *synth, uint8_t *event)
{
	static const char name[8] = "virtio0";

	begin(synth, event, ID_IRQ_ENTRY, 0x11);
	put32(event, 8, 27);
	put32(event, 12, sizeof(name) << 16 | 16);
	put(event, 16, name, sizeof(name));
	return 24;
}

static size_t interrupted(struct synth *synth, uint8_t *event)
{
	begin(synth, event, ID_IRQ_EXIT, 0x11);
	put32(event, 8, 27);
	put32(event, 12, 1);
	return 16;
}

size_t synth_event(struct synth *synth, uint8_t event[SYNTH_EVENT_MAX])
{
	/* Two of three events are system calls. */
	static size_t (*const kinds[])(struct synth *, uint8_t *) = {
		enter,        leave, enter, leave, wake,  enter,     leave,       run,
		switch_tasks, enter, leave, enter, leave, interrupt, interrupted,
	};

	synth->ts += synth->step / 2 + synth_random(synth, (uint32_t)synth->step);
	return kinds[synth->turn++ % (sizeof(kinds) / sizeof(kinds[0]))](synth, event);
}

static size_t stack(struct synth *synth, uint8_t *event)
{
	uint32_t depth = 8 + synth_random(synth, 7);

	begin(synth, event, ID_STACK, 0);
	put32(event, 8, depth);
	put32(event, 12, 0);
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t function = synth_random(synth, SYNTH_SYMBOLS);

		/* Each function has two places from which it calls others. */
		put64(event, 16 + 8 * i, synth->symbols[function] + 9 + function % 16 + 13 * synth_random(synth, 2));
	}
	return 16 + 8 * depth;
}

size_t synth_stack(struct synth *synth, uint8_t event[SYNTH_EVENT_MAX])
{
	if (synth->turn++ % 2) {
		synth->ts += 200;
		return stack(synth, event);
	}
	synth->ts += synth->step;
	switch (synth->turn % 6) {
	case 1:
		return wake(synth, event);
	case 3:
		return run(synth, event);
	}
	return switch_tasks(synth, event);
}

size_t synth_graph(struct synth *synth, uint8_t event[SYNTH_EVENT_MAX])
{
	const uint32_t deepest = sizeof(synth->calls) / sizeof(synth->calls[0]);
	bool call = !synth->depth || (synth->depth < deepest && synth_random(synth, 2));

	synth->ts += synth->step / 2 + synth_random(synth, (uint32_t)synth->step);
	if (call) {
		uint32_t function = synth_random(synth, SYNTH_SYMBOLS);

		begin(synth, event, ID_GRAPH_ENTRY, 0);
		put64(event, 8, synth->symbols[function]);
		put32(event, 16, synth->depth);
		synth->functions[synth->depth] = function;
		synth->calls[synth->depth++] = synth->ts;
		return 20;
	}
	synth->depth--;
	begin(synth, event, ID_GRAPH_EXIT, 0);
	put64(event, 8, synth->symbols[synth->functions[synth->depth]]);
	put64(event, 16, 0);
	put32(event, 24, synth->depth);
	put32(event, 28, 0);
	put64(event, 32, synth->calls[synth->depth]);
	put64(event, 40, synth->ts);
	/* Tasks are switched between two calls of the outermost functions. */
	if (!synth->depth && !synth_random(synth, 64))
		synth->pid = task_of_this_cpu(synth, synth_random(synth, SYNTH_TASKS));
	return 48;
}
