/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_FIREFOX_FIREFOX_INTERNAL_H
#define WEFT_FORMATS_EXPORT_FIREFOX_FIREFOX_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/export/export.h"
#include "formats/export/firefox/timed_internal.h"
#include "formats/export/held_stack_internal.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/place.h"

struct context;
struct event;
struct format;
struct schema_abi;
struct timeline;
struct timeline_slice;

/*
 * Private to firefox*.c. A thread of the profile is a task, the functions of a CPU's idle task, or the interrupts of a
 * CPU.
 */
struct firefox_thread {
	uint32_t name;     /* a label that is unique among the threads */
	int32_t pid, tgid; /* pid 0: the thread of a CPU */
	uint64_t first, last;
};

enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_FUNCTION,
	FIREFOX_CALL,
	FIREFOX_INTERRUPT,
	FIREFOX_RUNNING,
	FIREFOX_EVENT,
	FIREFOX_MARK,
	FIREFOX_CATEGORIES
};

struct firefox_marker {
	uint64_t start, end;
	size_t text; /* in firefox::texts */
	uint32_t len;
	uint32_t thread, name;
	uint16_t cpu;
	uint8_t category; /* enum firefox_category */
	bool instant;
	bool lost; /* a loss, which is never left out */
};

enum firefox_weight { FIREFOX_SELF_TIME, FIREFOX_ON_CPU, FIREFOX_COUNT, FIREFOX_OFF_CPU, FIREFOX_WEIGHTS };

struct firefox_counter {
	uint32_t name; /* label */
	uint8_t what;  /* enum timeline_counter */
	struct firefox_count {
		uint64_t ts;
		int64_t value;
	} * counts;
	size_t nr_counts;
	uint64_t seen; /* values, kept or not */
};

/* The functions of a program, the innermost first. */
struct firefox_user_frames {
	uint64_t at[HELD_ADDRESSES];
	size_t nr;
	int32_t tgid;
	bool cut; /* there are more */
};

struct firefox_buffer {
	struct firefox *firefox;
	const struct context *context;
	struct timeline *timeline;
	struct u64_map threads;   /* by thread_key(): index + 1 */
	struct u64_map functions; /* by address: label + 1 */
	struct u64_map counters;  /* by the counted quantity: index */
	struct u64_map offs;      /* by index of state::tasks: the node of the stack with which it left its CPU + 1 */
	struct u64_map left;      /* by CPU: the task that its last event switched out + 1; 0: none */
	uint32_t left_before;     /* the value in `left` before the current event */
	struct held_stacks held;
	struct user_stacks *unwound;          /* of programs, from record --stacks user */
	struct firefox_user_frames *programs; /* by CPU: that of its held stack, where held_stack::program says so */
	size_t nr_programs;
	uint64_t tick_ns;                /* it has the ticks of CPUs, which stand for so long; 0: another one */
	struct firefox_buffer *of_tasks; /* the buffer whose threads it shares: of ticks the first one, else itself */
};

struct firefox {
	struct export export; /* first */
	struct kinds kinds;
	struct firefox_buffer *buffers;
	size_t nr_buffers;
	struct labels labels;
	struct timed samples[FIREFOX_WEIGHTS];
	struct firefox_thread *threads;
	size_t nr_threads;
	struct firefox_marker *markers;
	size_t nr_markers;
	struct firefox_counter *counters;
	size_t nr_counters;
	uint64_t counts_left_out;
	uint64_t count_step; /* a power of two: each such value of a counter is kept */
	struct out texts;
	uint64_t bytes, limit; /* size of the markers and of the values of counters as JSON */
	uint64_t left_out;     /* markers */
	uint64_t markers_seen; /* without losses */
	uint64_t step;         /* a power of two: each such marker is kept */
	uint64_t first, last;
	bool some;  /* an event was seen */
	int chosen; /* enum firefox_weight; -1: the first weight with samples */
};

/*
 * firefox_threads.c: the number of a text, of a thread, and of a function's name; 0 without memory, which sets the
 * error.
 */
enum thread_kind { THREAD_TASK, THREAD_IDLE, THREAD_INTERRUPTS };
uint32_t firefox_label(struct firefox *firefox, const char *text, size_t len);
uint32_t firefox_thread_of(struct firefox_buffer *buffer, enum thread_kind kind, int32_t pid, uint16_t cpu);
uint32_t firefox_task_thread(struct firefox_buffer *buffer, int32_t pid, uint16_t cpu);
uint32_t firefox_function_of(struct firefox_buffer *buffer, uint64_t address);
/* The root node of a thread. */
uint32_t firefox_root_of(struct firefox *firefox, enum firefox_weight weight, uint32_t thread);
/* The root node of a task. firefox_task_since(): the task's thread exists at the latest from `ts` on. */
uint32_t firefox_task_root(struct firefox_buffer *buffer, enum firefox_weight weight, int32_t pid);
void firefox_task_since(struct firefox_buffer *buffer, int32_t pid, uint64_t ts);

/* firefox_off.c: gets each event before the other functions; the stack with which a task left its CPU; each state. */
void firefox_off_see(struct firefox_buffer *buffer, const struct event *event);
void firefox_off_stack(struct firefox_buffer *buffer, uint32_t left, uint32_t node);
void firefox_off_state(struct firefox_buffer *buffer, const struct timeline_slice *slice);

/* firefox_stacks.c: the places of the addresses in a stack's record, which is one of the kernel or of a program. */
struct firefox_callers {
	enum { FIREFOX_NO_STACK, FIREFOX_KERNEL_STACK, FIREFOX_USER_STACK } of;
	struct place caller, tgid;
};
void firefox_stack_bind(struct firefox_callers *callers, const struct format *format, const struct schema_abi *abi);
void firefox_stack_see(struct firefox_buffer *buffer, const struct firefox_callers *callers, const struct event *event);
/*
 * An event that is no stack: none follows behind the one before it on its CPU. If the stack of the program was copied
 * for it, it has that.
 */
void firefox_stack_begin(struct firefox_buffer *buffer, const struct event *event);
/* An event of a buffer of ticks; its stacks follow. */
void firefox_stack_tick(struct firefox_buffer *buffer, const struct event *event);
/* No more stack follows behind the last event of the CPU. */
void firefox_stack_end(struct firefox_buffer *buffer, uint16_t cpu);

/* Writes the whole profile. False without memory. */
bool firefox_write(struct firefox *firefox, struct out *out);

#endif
