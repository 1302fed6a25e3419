// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_output.c: trace_ctxwake_print() and its _raw(), _hex(), _bin(). */
#include "formats/kernel/renderers_internal.h"

#include "formats/kernel/ftrace.h"
#include "formats/kernel/raw_internal.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/tasks.h"

enum { PREV_PID, PREV_PRIO, PREV_STATE, NEXT_CPU, NEXT_PID, NEXT_PRIO, NEXT_STATE, NR_PLACES };

static const char *const fields[] = {
	"prev_pid", "prev_prio", "prev_state", "next_cpu", "next_pid", "next_prio", "next_state", NULL,
};

/* task_index_to_char(), include/linux/sched.h */
static char state_char(uint64_t index)
{
	static const char chars[] = "RSDTtXZPI";

	return index < sizeof(chars) - 1 ? chars[index] : '?';
}

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   const char *arrow, struct out *out)
{
	const struct place *places = binding->places;
	int32_t next = (int32_t)place_u64(&places[NEXT_PID], event);
	struct task_name name = task_name(ftrace->context->tasks, next);

	out_char(out, ' ');
	out_s64_pad(out, (int32_t)place_u64(&places[PREV_PID], event), ftrace->columns.pid_width, ' ');
	out_char(out, ':');
	out_s64_pad(out, (int32_t)place_u64(&places[PREV_PRIO], event), 3, ' ');
	out_char(out, ':');
	out_char(out, state_char(place_u64(&places[PREV_STATE], event)));
	out_str(out, arrow);
	out_s64_pad(out, (int32_t)place_u64(&places[NEXT_CPU], event), 3, '0');
	out_mem(out, "] ", 2);
	out_s64_pad(out, next, ftrace->columns.pid_width, ' ');
	out_char(out, ':');
	out_s64_pad(out, (int32_t)place_u64(&places[NEXT_PRIO], event), 3, ' ');
	out_char(out, ':');
	out_char(out, state_char(place_u64(&places[NEXT_STATE], event)));
	out_char(out, ' ');
	out_mem(out, name.text, name.len);
	out_char(out, '\n');
}

static void format_switch(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			  struct out *out)
{
	format(ftrace, binding, event, " ==> [", out);
}

static void format_wakeup(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			  struct out *out)
{
	format(ftrace, binding, event, "   + [", out);
}

static char previous_char(const struct binding *binding, const struct event *event)
{
	if (binding->renderer == &wakeup_renderer)
		return '+';
	return state_char(place_u64(&binding->places[PREV_STATE], event));
}

static void raw(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	const struct place *places = binding->places;

	(void)ftrace;
	out_f(out, "%d %d %c %d %d %d %c\n", (int)place_u64(&places[PREV_PID], event),
	      (int)place_u64(&places[PREV_PRIO], event), previous_char(binding, event),
	      (int)place_u64(&places[NEXT_CPU], event), (int)place_u64(&places[NEXT_PID], event),
	      (int)place_u64(&places[NEXT_PRIO], event), state_char(place_u64(&places[NEXT_STATE], event)));
}

/* States are printed as the codes of their letters: the first as a char, the second as an int. */
static void hex(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	enum { INT_SIZE = 4 };

	for (unsigned i = PREV_PID; i <= NEXT_STATE; i++) {
		const struct place *place = &binding->places[i];
		uint64_t value = place_u64(place, event);

		if (i == PREV_STATE)
			put_hex(ftrace, (uint64_t)previous_char(binding, event), 1, out);
		else if (i == NEXT_STATE)
			put_hex(ftrace, (uint64_t)state_char(value), INT_SIZE, out);
		else
			put_hex(ftrace, value, place->size, out);
	}
}

static void bin(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	put_bin_places(ftrace, binding, event, NR_PLACES, out);
}

const struct renderer context_switch_renderer = {
	.format_name = "context_switch",
	.fields = fields,
	.format = format_switch,
	.raw = raw,
	.hex = hex,
	.bin = bin,
};

const struct renderer wakeup_renderer = {
	.format_name = "wakeup",
	.fields = fields,
	.format = format_wakeup,
	.raw = raw,
	.hex = hex,
	.bin = bin,
};
