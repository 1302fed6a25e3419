// SPDX-License-Identifier: LGPL-2.1-or-later
/* The texts of libtraceevent's plugin sched_switch: "comm:pid [prio] state ==> comm:pid [prio]". */
#include "formats/tracecmd/tracecmd_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/event/tasks.h"

enum { PREV_COMM, PREV_PID, PREV_PRIO, PREV_STATE, NEXT_COMM, NEXT_PID, NEXT_PRIO };
enum { COMM, PID, PRIO, SUCCESS, TARGET_CPU };
enum { NAMES_MAX = 1 << 20 };

static const char *const switch_fields[] = { "prev_comm", "prev_pid", "prev_prio", "prev_state",
					     "next_comm", "next_pid", "next_prio", NULL };
static const char *const wakeup_fields[] = { "comm", "pid", "prio", "success", "target_cpu", NULL };

/* Remembers the name of a task that the file does not name: the lines after this event show it. */
static void learn_name(struct tracecmd *tracecmd, int32_t pid, const char *name, size_t len)
{
	char **known;

	if (!pid || task_known(tracecmd->context->tasks, pid) || tracecmd->comms.len >= NAMES_MAX)
		return;
	known = u64_map_get(&tracecmd->comms, (uint32_t)pid);
	if (!known)
		context_lacks_memory(tracecmd->context);
	else if (!*known)
		*known = strndup(name, len);
}

/*
 * The letters of the states stand in the print format, as { 0x00000001, "S" }: their bits differ between kernels. The
 * first gap ends them.
 */
void tracecmd_states(struct tracecmd_binding *binding)
{
	const char *at = strstr(binding->format->print_fmt, "__print_flags(");
	char *end;

	memcpy(binding->states, "SDTtXZPI", sizeof("SDTtXZPI"));
	if (!at)
		return;
	memset(binding->states, 0, sizeof(binding->states));
	for (at = strchr(at, '{'); at; at = strchr(at, '{')) {
		unsigned long mask = strtoul(at + 1, &end, 0);

		at = end;
		while (*end == ' ' || *end == ',')
			end++;
		if (*end == '"' && mask && (unsigned)__builtin_ctzl(mask) < sizeof(binding->states) - 1)
			binding->states[__builtin_ctzl(mask)] = end[1];
	}
}

static void learn(struct tracecmd *tracecmd, const struct tracecmd_binding *binding, const struct event *event,
		  unsigned comm, unsigned pid)
{
	const char *name;
	size_t len;

	if (place_string(&binding->places[comm], event, &name, &len))
		learn_name(tracecmd, (int32_t)place_u64(&binding->places[pid], event), name, len);
}

static bool settle_switch(struct tracecmd *tracecmd, const struct tracecmd_binding *binding, struct events *events,
			  struct event *event)
{
	(void)events;
	learn(tracecmd, binding, event, PREV_COMM, PREV_PID);
	learn(tracecmd, binding, event, NEXT_COMM, NEXT_PID);
	return true;
}

static bool settle_wakeup(struct tracecmd *tracecmd, const struct tracecmd_binding *binding, struct events *events,
			  struct event *event)
{
	(void)events;
	learn(tracecmd, binding, event, COMM, PID);
	return true;
}

static void put_task(const struct tracecmd_binding *binding, const struct event *event, unsigned comm, unsigned pid,
		     struct out *out)
{
	const char *name;
	size_t len;

	if (place_string(&binding->places[comm], event, &name, &len)) {
		out_mem(out, name, len);
		out_char(out, ':');
	}
	out_s64(out, place_s64(&binding->places[pid], event));
}

static void put_prio(const struct tracecmd_binding *binding, const struct event *event, unsigned prio, struct out *out)
{
	if (!binding->places[prio].field)
		return;
	out_mem(out, " [", 2);
	out_s64(out, place_s64(&binding->places[prio], event));
	out_char(out, ']');
}

static void put_states(const struct tracecmd_binding *binding, uint64_t state, struct out *out)
{
	bool found = false;

	for (unsigned i = 0; binding->states[i]; i++) {
		if (!(state >> i & 1))
			continue;
		if (found)
			out_char(out, '|');
		found = true;
		out_char(out, binding->states[i]);
	}
	if (!found)
		out_char(out, 'R');
}

static bool text_switch(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
			const struct event *event, struct out *out)
{
	(void)tracecmd;
	put_task(binding, event, PREV_COMM, PREV_PID, out);
	put_prio(binding, event, PREV_PRIO, out);
	out_char(out, ' ');
	put_states(binding, place_u64(&binding->places[PREV_STATE], event), out);
	out_mem(out, " ==> ", 5);
	put_task(binding, event, NEXT_COMM, NEXT_PID, out);
	put_prio(binding, event, NEXT_PRIO, out);
	return true;
}

static bool text_wakeup(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
			const struct event *event, struct out *out)
{
	(void)tracecmd;
	put_task(binding, event, COMM, PID, out);
	put_prio(binding, event, PRIO, out);
	if (binding->places[SUCCESS].field) {
		out_str(out, " success=");
		out_s64(out, place_s64(&binding->places[SUCCESS], event));
	}
	if (binding->places[TARGET_CPU].field) {
		out_str(out, " CPU:");
		out_u64_pad(out, place_u64(&binding->places[TARGET_CPU], event), 3, '0');
	}
	return true;
}

/* clang-format off */
const struct tracecmd_text tracecmd_sched_texts[] = {
	{ "sched", "sched_switch", .fields = switch_fields, .text = text_switch, .settle = settle_switch },
	{ "sched", "sched_wakeup", .fields = wakeup_fields, .text = text_wakeup, .settle = settle_wakeup },
	{ "sched", "sched_wakeup_new", .fields = wakeup_fields, .text = text_wakeup, .settle = settle_wakeup },
	{ 0 },
};
/* clang-format on */
