// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/setup_user_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/meaning/event/own_formats.h"
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

/*
 * A kernel thread has no registers of a program there; the filter leaves it out, and tasks of 32 bits. It would leave
 * out all if the stacks of this kernel had another size.
 */
static bool add_probe(struct setup_instance *wanted, struct setup_user_stacks *stacks, const char *function,
		      unsigned argument)
{
	unsigned stack = stack_member();
	unsigned top = THREAD_SIZE - (function_exists(NULL, "asm_fred_entrypoint_user") == 1 ? FRED : 0);
	unsigned registers = top - PT_REGS * WORD;
	cleanup_buf struct buf text = BUF_INIT;
	struct setup_event *event;
	bool ok = buf_addf(&text, "p %s cs=+%u(+%u($arg%u)):u16 r=+%u(+%u($arg%u)):x64[%u]", function,
			   registers + CS * WORD, stack, argument, registers, stack, argument, PT_REGS);

	for (unsigned at = 0, nr; ok && at < stacks->words; at += nr) {
		nr = stacks->words - at < ARRAY_MAX ? stacks->words - at : ARRAY_MAX;
		ok = buf_addf(&text, " w%u=+%u(+%u(+%u($arg%u))):x64[%u]", at / ARRAY_MAX, at * WORD,
			      registers + SP * WORD, stack, argument, nr);
	}
	event = ok ? setup_add_event(wanted, NULL) : NULL;
	stacks->probes[stacks->nr_probes] = event ? buf_take(&text, NULL) : NULL;
	if (!stacks->probes[stacks->nr_probes])
		return false;
	event->probe = stacks->probes[stacks->nr_probes++];
	event->filter = stacks->filter;
	return true;
}

static int add_switches(struct setup_instance *wanted, struct setup_user_stacks *stacks, struct fail *fail)
{
	/* It is called for every switch, but only where pressure is accounted; the other one for the fair class. */
	cleanup_buf struct buf pressure = BUF_INIT;
	bool psi = function_exists(NULL, "psi_task_switch") == 1 &&
		   !tracing_read_path("/proc/pressure/cpu", &pressure, NULL);
	const char *function = psi ? "psi_task_switch" : "pick_next_task_fair";

	if (function_exists(NULL, function) != 1)
		return fail_set(fail, -EOPNOTSUPP,
				"--stacks user: this kernel has no function for a probe where a task leaves its CPU "
				"(neither psi_task_switch nor pick_next_task_fair)");
	return add_probe(wanted, stacks, function, psi ? 1 : 2) ? 0 : fail_memory(fail);
}

static int choose(const struct instance *top, struct setup *setup, struct setup_user_stacks *stacks, struct fail *fail)
{
	struct setup_instance *wanted;
	struct utsname name;
	int err = 0;

	if (uname(&name) || strcmp(name.machine, "x86_64") != 0)
		return fail_set(fail, -EOPNOTSUPP, "--stacks user: only the stacks of x86_64 are known so far");
	if (!instance_has(top, "kprobe_events"))
		return fail_set(fail, -EOPNOTSUPP,
				"--stacks user: this kernel has no probes of its functions (CONFIG_KPROBE_EVENTS); "
				"-O userstacktrace has stacks of programs with frame pointers");
	wanted = setup_add_instance(setup, OWN_BUFFER_STACKS);
	if (!wanted || asprintf(&stacks->filter, "cs == %u", USER_CS) < 0)
		return fail_memory(fail);
	wanted->own = true;
	wanted->clock = setup->instances[0].clock;
	wanted->size = setup->instances[0].size;
	if (stacks->switches)
		err = add_switches(wanted, stacks, fail);
	if (!err && stacks->ticks && function_exists(NULL, "task_tick_fair") != 1)
		err = fail_set(fail, -EOPNOTSUPP,
			       "--stacks user: this kernel has no function task_tick_fair for a probe of its ticks");
	if (!err && stacks->ticks && !add_probe(wanted, stacks, "task_tick_fair", 2))
		err = fail_memory(fail);
	return err;
}

int setup_user_stacks_add(struct setup *setup, struct setup_user_stacks *stacks, struct fail *fail)
{
	struct tracing tracing = { .dir = NULL };
	struct instance top;
	int err = tracing_find(&tracing, fail);

	if (!err) {
		top = instance_top(&tracing);
		err = choose(&top, setup, stacks, fail);
	}
	tracing_release(&tracing);
	return err;
}

void setup_user_stacks_release(struct setup_user_stacks *stacks)
{
	for (size_t i = 0; i < stacks->nr_probes; i++)
		free(stacks->probes[i]);
	free(stacks->filter);
	*stacks = (struct setup_user_stacks){ .nr_probes = 0 };
}
