// SPDX-License-Identifier: LGPL-2.1-or-later
/* The stacks that were stored with events: samples of the task, and where it left its CPU. */
#include <string.h>

#include "formats/export/firefox/firefox_internal.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/frame_sort.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/follow/tick.h"
#include "lib/meaning/follow/user_stacks.h"
#include "lib/meaning/schema/format.h"

void firefox_stack_bind(struct firefox_callers *callers, const struct format *format, const struct schema_abi *abi)
{
	callers->of = FIREFOX_NO_STACK;
	if (strcmp(format->system, "ftrace") || !place_bind(&callers->caller, format, abi, "caller"))
		return;
	if (!strcmp(format->name, "kernel_stack"))
		callers->of = FIREFOX_KERNEL_STACK;
	else if (!strcmp(format->name, "user_stack") && place_bind(&callers->tgid, format, abi, "tgid"))
		callers->of = FIREFOX_USER_STACK;
}

/* The functions of the program below those of the kernel; `program` may be NULL. */
static uint32_t put_frames(struct firefox_buffer *buffer, enum firefox_weight weight, uint32_t node,
			   const struct firefox_user_frames *program, const struct held_stack *held)
{
	struct timed *samples = &buffer->firefox->samples[weight];
	char text[STACK_USER_NAME];

	if (program && program->cut)
		node = timed_on(samples, node, firefox_label(buffer->firefox, "...", 3));
	for (size_t i = program ? program->nr : 0; i;) {
		size_t len = stack_user_name(buffer->context, program->tgid, program->at[--i], text, sizeof(text));

		node = timed_on(samples, node, firefox_label(buffer->firefox, text, len));
	}
	for (size_t i = held->nr; i;)
		node = timed_on(samples, node, firefox_function_of(buffer, held->addresses[--i]));
	return node;
}

/* What was unwound for the event of the held stack is the whole one; else that which the kernel stored is taken. */
static const struct firefox_user_frames *program_of(const struct firefox_buffer *buffer, uint16_t cpu,
						    const struct firefox_user_frames *stored)
{
	return cpu < buffer->nr_programs && buffer->held.at[cpu].program ? &buffer->programs[cpu] : stored;
}

static void leave(struct firefox_buffer *buffer, const struct firefox_user_frames *program,
		  const struct held_stack *held)
{
	if (held->left)
		firefox_off_stack(buffer, held->left,
				  put_frames(buffer, FIREFOX_OFF_CPU,
					     firefox_task_root(buffer, FIREFOX_OFF_CPU, held->pid), program, held));
}

static void count(struct firefox_buffer *buffer, uint16_t cpu, const struct firefox_user_frames *program,
		  struct held_stack *held)
{
	enum firefox_weight weight = buffer->tick_ns ? FIREFOX_ON_CPU : FIREFOX_COUNT;
	uint32_t node = firefox_root_of(buffer->firefox, weight, firefox_task_thread(buffer, held->pid, cpu));

	program = program_of(buffer, cpu, program);
	if (!buffer->tick_ns || held->ticked)
		timed_add(&buffer->firefox->samples[weight], put_frames(buffer, weight, node, program, held), held->ts,
			  buffer->tick_ns ? buffer->tick_ns : 1);
	held->ticked = false;
	held->counts = false;
	held->program = 0;
	held->nr = 0;
	held->left = 0;
}

void firefox_stack_end(struct firefox_buffer *buffer, uint16_t cpu)
{
	if (cpu >= buffer->held.nr)
		return;
	if (buffer->held.at[cpu].nr || buffer->held.at[cpu].ticked || buffer->held.at[cpu].counts)
		count(buffer, cpu, NULL, &buffer->held.at[cpu]);
	buffer->held.at[cpu].left = 0;
	buffer->held.at[cpu].program = 0;
}

static void see_user(struct firefox_buffer *buffer, const struct firefox_callers *callers, const struct event *event,
		     struct held_stack *held)
{
	struct firefox_user_frames program = { .tgid = (int32_t)place_u64(&callers->tgid, event) };

	program.nr = stack_user_frames(&callers->caller, program.tgid, event, program.at);
	if (!held->nr)
		held->left = buffer->left_before;
	held->pid = event->pid;
	held->ts = event->ts;
	leave(buffer, program_of(buffer, event->cpu, &program), held);
	count(buffer, event->cpu, &program, held);
}

void firefox_stack_begin(struct firefox_buffer *buffer, const struct event *event)
{
	struct held_stack *held;
	struct firefox_user_frames *frames;
	const uint32_t *left;
	struct stack stack;
	int32_t tgid;

	firefox_stack_end(buffer, event->cpu);
	if (!user_stacks_beside(buffer->unwound, event, &stack, &tgid))
		return;
	held = held_stacks_of(&buffer->held, event->cpu);
	while (held && buffer->nr_programs <= event->cpu)
		if (!vec_push(buffer->programs, buffer->nr_programs))
			held = NULL;
	if (!held) {
		export_no_memory(&buffer->firefox->export);
		return;
	}
	frames = &buffer->programs[event->cpu];
	frames->nr = 0;
	frames->tgid = tgid;
	while (frames->nr < HELD_ADDRESSES && stack_next(&stack, &frames->at[frames->nr])) {
		frames->at[frames->nr] = stack_user_frame(buffer->context, tgid, frames->at[frames->nr], !frames->nr);
		frames->nr++;
	}
	frames->cut = stack.cut || frames->nr == HELD_ADDRESSES;
	held->program = 1;
	held->pid = event->pid;
	held->ts = event->ts;
	held->nr = 0;
	left = u64_map_find(&buffer->left, event->cpu);
	held->left = left ? *left : 0;
	/* Where a task leaves its CPU or a tick is, no other stack need follow. */
	held->counts = !held->left && !buffer->tick_ns;
	leave(buffer, frames, held);
}

void firefox_stack_tick(struct firefox_buffer *buffer, const struct event *event)
{
	struct held_stack *held = held_stacks_of(&buffer->held, event->cpu);

	if (!held) {
		export_no_memory(&buffer->firefox->export);
		return;
	}
	held->ticked = !tick_is_idle(event);
	held->pid = event->pid;
	held->ts = event->ts;
}

void firefox_stack_see(struct firefox_buffer *buffer, const struct firefox_callers *callers, const struct event *event)
{
	struct held_stack *held = held_stacks_of(&buffer->held, event->cpu);

	if (!held) {
		export_no_memory(&buffer->firefox->export);
		return;
	}
	if (callers->of == FIREFOX_USER_STACK) {
		see_user(buffer, callers, event, held);
		return;
	}
	if (!held->ticked && (held->nr || !held->program))
		firefox_stack_end(buffer, event->cpu);
	held_stack_fill(held, &callers->caller, event);
	if (buffer->tick_ns)
		held_stack_drop(held, frames_of_timer(buffer->context->symbols, held->addresses, held->nr));
	held->left = buffer->left_before;
	/* The next event of the CPU may be the switch back: then there is no stack of the program. */
	leave(buffer, program_of(buffer, event->cpu, NULL), held);
}
