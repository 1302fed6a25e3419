// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/setup_user_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/probe/probe_define.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/follow/user_stacks.h"
#include "lib/memory/image/layout.h"

enum {
	THREAD_SIZE = 16384, /* arch/x86/include/asm/page_64_types.h */
	PT_REGS = 21,        /* words of struct pt_regs, arch/x86/include/asm/ptrace.h */
	SP = 19,             /* which of them this is */
	CS = 17,
	FRED = 16,      /* TOP_OF_KERNEL_STACK_PADDING of arch/x86/include/asm/thread_info.h */
	STACK = 32,     /* task_struct::stack, behind the struct thread_info and two states: Linux 5.16 and later */
	ARRAY_MAX = 64, /* MAX_ARRAY_LEN of kernel/trace/trace_probe.h */
	WORD = 8,
	USER_CS = 0x33, /* __USER_CS: a program of 64 bits */
};

/* Where the pointer to the kernel stack of a task is. */
static unsigned stack_member(void)
{
	cleanup_buf struct buf data = BUF_INIT;
	struct layout_member member = { .found = false };
	struct btf btf = { .nr = 0 };
	struct btf_type task;

	if (tracing_read_path("/sys/kernel/btf/vmlinux", &data, NULL))
		return STACK;
	if (!btf_open(&btf, data.data, data.len, NULL) && layout_structure(&btf, "task_struct", &task))
		member = layout_find(&btf, &task, "stack");
	btf_release(&btf);
	return member.found ? member.offset : STACK;
}

/* `text`: the place and the registers; `stack`: the argument that is the stack pointer. */
static bool add_probe(struct setup_instance *wanted, struct setup_user_stacks *stacks, struct buf *text,
		      const char *stack)
{
	char **probe = vec_push(stacks->probes, stacks->nr_probes);
	struct setup_event *event;
	bool ok = probe;

	for (unsigned at = 0, nr; ok && at < stacks->words; at += nr) {
		nr = stacks->words - at < ARRAY_MAX ? stacks->words - at : ARRAY_MAX;
		ok = buf_addf(text, " w%u=+%u(%s):x64[%u]", at / ARRAY_MAX, at * WORD, stack, nr);
	}
	event = ok ? setup_add_event(wanted, NULL) : NULL;
	if (probe)
		*probe = event ? buf_take(text, NULL) : NULL;
	if (!event || !*probe)
		return false;
	event->probe = *probe;
	event->filter = stacks->filter;
	return true;
}

/*
 * A kernel thread has no registers of a program there; the filter leaves it out, and tasks of 32 bits. It would leave
 * out all if the stacks of this kernel had another size.
 */
static bool add_of_task(struct setup_instance *wanted, struct setup_user_stacks *stacks, struct functions *functions,
			const char *function, unsigned argument)
{
	unsigned stack = stack_member();
	unsigned top = THREAD_SIZE - (function_exists(functions, NULL, "asm_fred_entrypoint_user") == 1 ? FRED : 0);
	unsigned registers = top - PT_REGS * WORD;
	cleanup_buf struct buf text = BUF_INIT;
	char pointer[64];

	snprintf(pointer, sizeof(pointer), "+%u(+%u($arg%u))", registers + SP * WORD, stack, argument);
	return buf_addf(&text, "p %s cs=+%u(+%u($arg%u)):u16 r=+%u(+%u($arg%u)):x64[%u]", function,
			registers + CS * WORD, stack, argument, registers, stack, argument, PT_REGS) &&
	       add_probe(wanted, stacks, &text, pointer);
}

/* `place`: "p FUNCTION" of one system call, or "t sys_enter". Their first argument is where the registers are. */
static bool add_of_call(struct setup_instance *wanted, struct setup_user_stacks *stacks, const char *place)
{
	cleanup_buf struct buf text = BUF_INIT;
	char pointer[32];

	snprintf(pointer, sizeof(pointer), "+%u($arg1)", SP * WORD);
	return buf_addf(&text, "%s cs=+%u($arg1):u16 r=+0($arg1):x64[%u]", place, CS * WORD, PT_REGS) &&
	       add_probe(wanted, stacks, &text, pointer);
}

/* The names of the registers for a probe of a program, in the order of their numbers. */
static bool add_of_program(struct setup_instance *wanted, struct setup_user_stacks *stacks, const char *place)
{
	static const char *const names[] = { USER_STACKS_REGISTERS };
	cleanup_buf struct buf text = BUF_INIT;
	bool ok = buf_addf(&text, "p %s cs=%%cs:u16", place);

	for (size_t i = 0; ok && i < array_size(names); i++)
		ok = buf_addf(&text, " %s=%%%s:x64", names[i], names[i]);
	return ok && add_probe(wanted, stacks, &text, "%sp");
}

/* The events of system calls and of programs for which the setup asks. */
struct asked {
	struct event_set calls;
	size_t nr_calls;
	bool raw, switches;
	char **places; /* of programs */
	size_t nr_places;
};

static void asked_release(struct asked *asked)
{
	event_set_release(&asked->calls);
	for (size_t i = 0; i < asked->nr_places; i++)
		free(asked->places[i]);
	free(asked->places);
}

/* Where a program is probed, as the kernel writes it. What cannot be made is told when it is made. */
static bool ask_program(struct asked *asked, const struct instance *top, const char *text)
{
	struct fail fail = FAIL_INIT;
	struct probe probe;
	char **place;
	bool ok = true;

	if (probe_define(top, text, false, &probe, &fail))
		return true;
	if (probe.kind == PROBE_UPROBE) {
		place = vec_push(asked->places, asked->nr_places);
		if (place)
			*place = take(probe.place);
		ok = place;
	}
	probe_release(&probe);
	return ok;
}

static bool ask_event(struct asked *asked, const struct catalog *catalog, const struct setup_event *event)
{
	const char *const lists[] = { event->pattern, event->instead };
	bool ok = true;

	for (size_t i = 0; ok && i < array_size(lists); i++) {
		struct event_set set = { .catalog = NULL };
		struct fail fail = FAIL_INIT;

		/* A pattern that names nothing is told when it is set. */
		if (lists[i] && !event_set_add(&set, catalog, lists[i], &fail)) {
			if (event->off)
				event_set_subtract(&asked->calls, &set);
			else
				ok = !event_set_union(&asked->calls, &set, &fail);
		}
		event_set_release(&set);
	}
	return ok;
}

static const char *call_of(const struct asked *asked, size_t index)
{
	const struct catalog_event *event = &asked->calls.catalog->events[index];

	return event_set_has(&asked->calls, index) && !strcmp(event->system, "syscalls") &&
			       !strncmp(event->name, "sys_enter_", 10) ?
		       event->name + 10 :
		       NULL;
}

static void count_asked(struct asked *asked)
{
	for (size_t i = 0; i < asked->calls.catalog->nr; i++) {
		const struct catalog_event *event = &asked->calls.catalog->events[i];

		asked->nr_calls += call_of(asked, i) != NULL;
		asked->raw |= event_set_has(&asked->calls, i) && !strcmp(event->system, "raw_syscalls") &&
			      !strcmp(event->name, "sys_enter");
		asked->switches |= event_set_has(&asked->calls, i) && !strcmp(event->name, "sched_switch");
	}
}

static bool has_tracepoint_probes(const struct instance *top)
{
	cleanup_buf struct buf readme = BUF_INIT;

	return !instance_read(top, "README", &readme, NULL) && strstr(buf_str(&readme), "t[:[<group>/][<event>]]");
}

/* Says that the calls will have no stacks: they are too many for a probe each, and cannot share one. */
static void warn_of_calls(const struct asked *asked, const struct setup *setup)
{
	struct fail fail = FAIL_INIT;

	if (asked->raw)
		(void)fail_set(&fail, 0,
			       "--stacks user: this kernel has no probes of tracepoints (Linux 6.5), so the events of "
			       "raw_syscalls have no stacks: name up to %d calls, such as -e syscalls:sys_enter_read",
			       SETUP_USER_STACKS_CALLS);
	else
		(void)fail_set(
			&fail, 0,
			"--stacks user: this kernel has no probes of tracepoints (Linux 6.5), so %zu system calls "
			"are too many, and have no stacks: name up to %d",
			asked->nr_calls, SETUP_USER_STACKS_CALLS);
	setup_warn(setup, &fail);
}

static int add_asked(const struct asked *asked, const struct instance *top, struct setup *setup,
		     struct setup_instance *wanted, struct setup_user_stacks *stacks, struct fail *fail)
{
	bool all = asked->raw || asked->nr_calls > SETUP_USER_STACKS_CALLS, ok = true;
	char place[128];

	if (all && has_tracepoint_probes(top))
		ok = add_of_call(wanted, stacks, "t sys_enter");
	else if (all)
		warn_of_calls(asked, setup);
	for (size_t i = 0; ok && !all && i < asked->calls.catalog->nr; i++) {
		const char *call = call_of(asked, i);

		snprintf(place, sizeof(place), "p __x64_sys_%s", call ? call : "");
		if (call && function_exists(&setup->functions, NULL, place + 2) == 1)
			ok = add_of_call(wanted, stacks, place);
	}
	for (size_t i = 0; ok && i < asked->nr_places; i++)
		ok = add_of_program(wanted, stacks, asked->places[i]);
	return ok ? 0 : fail_memory(fail);
}

static int ask(struct asked *asked, const struct instance *top, const struct catalog *catalog,
	       const struct setup *setup, struct fail *fail)
{
	bool ok = true;

	asked->calls.catalog = catalog;
	for (size_t i = 0; ok && i < setup->nr_instances; i++)
		for (size_t j = 0; ok && j < setup->instances[i].nr_events; j++) {
			const struct setup_event *event = &setup->instances[i].events[j];

			if (setup->instances[i].own)
				continue;
			ok = event->probe ? ask_program(asked, top, event->probe) : ask_event(asked, catalog, event);
		}
	count_asked(asked);
	return ok ? 0 : fail_memory(fail);
}

static int add_switches(struct setup_instance *wanted, struct setup_user_stacks *stacks, struct functions *functions,
			struct fail *fail)
{
	/* It is called for every switch, but only where pressure is accounted; the other one for the fair class. */
	cleanup_buf struct buf pressure = BUF_INIT;
	bool psi = function_exists(functions, NULL, "psi_task_switch") == 1 &&
		   !tracing_read_path("/proc/pressure/cpu", &pressure, NULL);
	const char *function = psi ? "psi_task_switch" : "pick_next_task_fair";

	if (function_exists(functions, NULL, function) != 1)
		return fail_set(fail, -EOPNOTSUPP,
				"--stacks user: this kernel has no function for a probe where a task leaves its CPU "
				"(neither psi_task_switch nor pick_next_task_fair): leave out --stacks user");
	return add_of_task(wanted, stacks, functions, function, psi ? 1 : 2) ? 0 : fail_memory(fail);
}

/* These need no probes of functions of the kernel. */
static bool only_programs(const struct asked *asked, const struct setup_user_stacks *stacks)
{
	return asked->nr_places && !asked->nr_calls && !asked->raw && !asked->switches && !stacks->ticks;
}

static int choose(const struct instance *top, const struct asked *asked, struct setup *setup,
		  struct setup_user_stacks *stacks, struct fail *fail)
{
	struct functions *functions = &setup->functions;
	struct setup_instance *wanted;
	struct utsname name;
	int err = 0;

	if (uname(&name) || strcmp(name.machine, "x86_64") != 0)
		return fail_set(fail, -EOPNOTSUPP,
				"--stacks user: only the stacks of x86_64 are known so far: leave it out");
	if (!only_programs(asked, stacks) && !instance_has(top, "kprobe_events"))
		return fail_set(
			fail, -EOPNOTSUPP,
			"--stacks user: this kernel has no probes of its functions (CONFIG_KPROBE_EVENTS): leave it "
			"out, or take -O userstacktrace, for programs with frame pointers");
	wanted = setup_add_instance(setup, OWN_BUFFER_STACKS);
	if (!wanted || asprintf(&stacks->filter, "cs == %u", USER_CS) < 0)
		return fail_memory(fail);
	wanted->own = true;
	wanted->clock = setup->instances[0].clock;
	wanted->size = setup->instances[0].size;
	err = add_asked(asked, top, setup, wanted, stacks, fail);
	if (!err && stacks->switches && (asked->switches || !stacks->nr_probes))
		err = add_switches(wanted, stacks, functions, fail);
	if (!err && stacks->ticks && function_exists(functions, NULL, "task_tick_fair") != 1)
		err = fail_set(fail, -EOPNOTSUPP,
			       "--stacks user: this kernel has no function task_tick_fair for a probe of its ticks: "
			       "leave out --stacks user");
	if (!err && stacks->ticks && !add_of_task(wanted, stacks, functions, "task_tick_fair", 2))
		err = fail_memory(fail);
	return err;
}

int setup_user_stacks_add(struct setup *setup, struct setup_user_stacks *stacks, struct fail *fail)
{
	struct tracing tracing = { .dir = NULL };
	struct asked asked = { .nr_calls = 0 };
	struct catalog *catalog = NULL;
	struct instance top;
	int err = tracing_find(&tracing, fail);

	if (!err)
		err = catalog_new(&tracing, &catalog, fail);
	if (!err) {
		top = instance_top(&tracing);
		err = ask(&asked, &top, catalog, setup, fail);
	}
	if (!err)
		err = choose(&top, &asked, setup, stacks, fail);
	asked_release(&asked);
	catalog_free(catalog);
	tracing_release(&tracing);
	return err;
}

void setup_user_stacks_release(struct setup_user_stacks *stacks)
{
	for (size_t i = 0; i < stacks->nr_probes; i++)
		free(stacks->probes[i]);
	free(stacks->probes);
	free(stacks->filter);
	*stacks = (struct setup_user_stacks){ .nr_probes = 0 };
}
