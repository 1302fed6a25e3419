// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/state_internal.h"

#include <string.h>

/*
 * The events that the state reads, by name. x86 has a pair NAME_entry and NAME_exit for each interrupt vector, powerpc
 * for interrupts of the timer and of other CPUs. (Its irq_entry and irq_exit are around irq_handler_entry.)
 */
const struct role_name state_names[] = {
	{ "sched", "sched_switch", STATE_SWITCH },
	{ "sched", "sched_waking", STATE_WAKING },
	{ "sched", "sched_wakeup", STATE_WAKEUP },
	{ "sched", "sched_wakeup_new", STATE_WAKEUP_NEW },
	{ "ftrace", "context_switch", STATE_SWITCH },
	{ "ftrace", "wakeup", STATE_WAKEUP },
	{ "sched", "sched_migrate_task", STATE_MIGRATE },
	{ "sched", "sched_process_fork", STATE_FORK },
	{ "task", "task_newtask", STATE_NEWTASK },
	{ "task", "task_rename", STATE_RENAME },
	{ "sched", "sched_process_exec", STATE_EXEC },
	{ "irq", "irq_handler_entry", STATE_HARD_ENTRY },
	{ "irq", "irq_handler_exit", STATE_HARD_EXIT },
	{ "ipi", "ipi_entry", STATE_HARD_ENTRY },
	{ "ipi", "ipi_exit", STATE_HARD_EXIT },
	{ "irq_vectors", "*_entry", STATE_HARD_ENTRY },
	{ "irq_vectors", "*_exit", STATE_HARD_EXIT },
	{ "irq", "softirq_entry", STATE_SOFT_ENTRY },
	{ "irq", "softirq_exit", STATE_SOFT_EXIT },
	{ "powerpc", "timer_interrupt_entry", STATE_HARD_ENTRY },
	{ "powerpc", "timer_interrupt_exit", STATE_HARD_EXIT },
	{ "powerpc", "doorbell_entry", STATE_HARD_ENTRY },
	{ "powerpc", "doorbell_exit", STATE_HARD_EXIT },
	{ "irq", "softirq_raise", STATE_SOFT_RAISE },
	{ "timer", "hrtimer_start", STATE_HRTIMER_START },
	{ "timer", "hrtimer_expire_entry", STATE_HRTIMER_ENTRY },
	{ "timer", "hrtimer_expire_exit", STATE_HRTIMER_END },
	{ "timer", "hrtimer_cancel", STATE_HRTIMER_END },
	{ "timer", "timer_start", STATE_TIMER_START },
	{ "timer", "timer_expire_entry", STATE_TIMER_ENTRY },
	{ "timer", "timer_expire_exit", STATE_TIMER_END },
	{ "timer", "timer_cancel", STATE_TIMER_END },
	{ "block", "block_bio_queue", STATE_BIO_QUEUE },
	{ "block", "block_getrq", STATE_BIO_QUEUE },
	{ "block", "block_rq_issue", STATE_REQUEST_ISSUE },
	{ "block", "block_rq_complete", STATE_REQUEST_DONE },
	{ "net", "net_dev_queue", STATE_PACKET_SEND },
	{ "net", "netif_rx", STATE_PACKET_SEND },
	{ "net", "netif_receive_skb", STATE_PACKET_RECEIVE },
	{ "workqueue", "workqueue_queue_work", STATE_WORK_QUEUE },
	{ "workqueue", "workqueue_execute_start", STATE_WORK_BEGIN },
	{ "workqueue", "workqueue_execute_end", STATE_WORK_END },
	{ "ipi", "ipi_send_cpu", STATE_IPI_SEND },
	{ NULL, NULL, 0 },
};

/* The names of the fields of each role; NULL: the event has no such field. */
static const struct role_fields {
	const char *pid, *other, *state, *prio, *other_prio, *cpu, *comm, *other_comm;
} fields[STATE_ROLES] = {
	[STATE_SWITCH] = { "next_pid", "prev_pid", "prev_state", "next_prio", "prev_prio", NULL, "next_comm",
			   "prev_comm" },
	[STATE_WAKING] = { "pid", NULL, NULL, "prio", NULL, "target_cpu", "comm", NULL },
	[STATE_WAKEUP] = { "pid", NULL, NULL, "prio", NULL, "target_cpu", "comm", NULL },
	[STATE_WAKEUP_NEW] = { "pid", NULL, NULL, "prio", NULL, "target_cpu", "comm", NULL },
	[STATE_MIGRATE] = { "pid", NULL, NULL, "prio", NULL, "dest_cpu", "comm", NULL },
	[STATE_FORK] = { "child_pid", "parent_pid", NULL, NULL, NULL, NULL, "child_comm", "parent_comm" },
	[STATE_NEWTASK] = { "pid", NULL, NULL, NULL, NULL, NULL, "comm", NULL },
	[STATE_EXEC] = { "pid", NULL, NULL, NULL, NULL, NULL, "filename", NULL },
	[STATE_RENAME] = { "pid", NULL, NULL, NULL, NULL, NULL, "newcomm", "oldcomm" },
};

/* The same for the events that the tracers wakeup, wakeup_rt and wakeup_dl write themselves. */
static const struct role_fields of_tracers[STATE_ROLES] = {
	[STATE_SWITCH] = { "next_pid", "prev_pid", "prev_state", "next_prio", "prev_prio", NULL, NULL, NULL },
	[STATE_WAKEUP] = { "next_pid", NULL, NULL, "next_prio", NULL, "next_cpu", NULL, NULL },
};

static void bind_place(const struct event_type *type, const char *name, struct place *place)
{
	if (name)
		(void)place_find(place, type, name);
}

/*
 * Returns the length that a record needs to hold this number, if the number is stored as on most kernels (signed, 4
 * bytes, our byte order); otherwise UINT32_MAX.
 */
static uint32_t whole_number(const struct place *place)
{
	return place->size == 4 && place->is_signed && !place->swap && place->offset < UINT16_MAX ? place->offset + 4 :
												    UINT32_MAX;
}

static uint32_t whole_comm(const struct place *place)
{
	const struct field *field = place->field;

	return field->size == TASK_COMM_LEN && !(field->flags & FIELD_DYNAMIC) && place->offset < UINT16_MAX ?
		       place->offset + TASK_COMM_LEN :
		       UINT32_MAX;
}

/* Sets how long a record is that has all these fields where most kernels have them. */
static void bind_whole(struct state_places *places, const struct role_fields *of)
{
	const struct {
		const char *name;
		const struct place *place;
		bool comm;
	} all[] = {
		{ of->pid, &places->pid, false },
		{ of->other, &places->other, false },
		{ of->prio, &places->prio, false },
		{ of->other_prio, &places->other_prio, false },
		{ of->cpu, &places->cpu, false },
		{ of->comm, &places->comm, true },
		{ of->other_comm, &places->other_comm, true },
	};

	places->whole = 0;
	for (size_t i = 0; i < array_size(all); i++) {
		uint32_t end = !all[i].name         ? 0 :
			       !all[i].place->field ? UINT32_MAX :
			       all[i].comm          ? whole_comm(all[i].place) :
						      whole_number(all[i].place);

		places->whole = end > places->whole ? end : places->whole;
	}
}

/* A tracer's event stands in for the scheduler's. Returns whether it comes too late for that. */
static bool stand_in(struct state *state, const struct event *event, uint8_t role, bool tracer)
{
	struct state_stand_in *stand_in = &state->stand_ins[role];
	bool bound = state->places[role].pid.field && !stand_in->is;

	if (!tracer && stand_in->is) {
		stand_in->is = false;
		stand_in->ended = true;
		state->places[role] = (struct state_places){ .whole = 0 };
	}
	if (!tracer)
		return false;
	*stand_in = (struct state_stand_in){
		.is = !bound, .ended = bound, .buffer = event->buffer, .index = event->type->index
	};
	state->stood_in = true;
	return bound;
}

uint8_t state_role_of(const struct event *event, int32_t *ret_pid)
{
	const struct format *format = event->type->format;
	uint8_t role = role_named(state_names, format);
	const struct role_fields *of = !strcmp(format->system, "ftrace") ? &of_tracers[role] : &fields[role];
	struct place place;

	*ret_pid = event->pid;
	if (role < STATE_SOFT_RAISE && of->pid && place_find(&place, event->type, of->pid))
		*ret_pid = (int32_t)place_u64(&place, event);
	return role;
}

void state_bind(struct state *state, const struct event *event, uint8_t role)
{
	const struct event_type *type = event->type;
	bool tracer = !strcmp(type->format->system, "ftrace");
	const struct role_fields *of = tracer ? &of_tracers[role] : &fields[role];
	struct state_places *places = &state->places[role];

	causes_bind(&state->causes, event, role);
	if (role >= STATE_SOFT_RAISE || stand_in(state, event, role, tracer))
		return;
	bind_place(type, of->pid, &places->pid);
	bind_place(type, of->other, &places->other);
	bind_place(type, of->state, &places->state);
	bind_place(type, of->prio, &places->prio);
	bind_place(type, of->other_prio, &places->other_prio);
	bind_place(type, of->cpu, &places->cpu);
	bind_place(type, of->comm, &places->comm);
	bind_place(type, of->other_comm, &places->other_comm);
	bind_whole(places, of);
	if (role == STATE_SWITCH && tracer)
		letters_init_numbers(&state->letters);
	else if (role == STATE_SWITCH)
		letters_init(&state->letters, type->format->print_fmt);
}

bool state_has_ended(const struct state *state, const struct event *event, uint8_t role)
{
	const struct state_stand_in *stand_in = &state->stand_ins[role];

	return stand_in->ended && stand_in->buffer == event->buffer && stand_in->index == event->type->index;
}
