// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/record/section_swap_internal.h"

#include "lib/record/target.h"
#include "lib/setup/tracer.h"
#include "lib/undo/change.h"

#include <sched.h>
#include <string.h>
#include <time.h>

/* How often a wakeup is tried, and how long this thread sleeps for one. */
enum { TRIES = 50, NAP_NS = 1000000 };

static const char max[] = "tracing_max_latency";

/* A tracer that measures when a task with a real-time priority wakes up. */
static const char *next_tracer(const char *tracer)
{
	return strcmp(tracer, "wakeup_rt") ? "wakeup_rt" : "wakeup";
}

bool section_swap_can(const struct target *target, const char *tracer)
{
	struct instance top = instance_top(target->instance->tracing);
	char thresh[32], on[8], own[8];

	/* The top instance would trace if tracing were turned on there. */
	if (target->instance->kind == INSTANCE_TOP || strncmp(tracer, "wakeup", strlen("wakeup")) ||
	    !tracer_offered(target->instance, next_tracer(tracer)))
		return false;
	return !instance_read_word(&top, "tracing_thresh", thresh, sizeof(thresh), NULL) && !strcmp(thresh, "0") &&
	       !instance_read_word(&top, "tracing_on", on, sizeof(on), NULL) && *on == '1' &&
	       !instance_read_word(target->instance, "tracing_on", own, sizeof(own), NULL) && *own == '0';
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	(void)nanosleep(&time, NULL);
}

static int is_live(struct target *target, bool *ret, struct fail *fail)
{
	int err = target_count(target, target->stop, fail);

	*ret = false;
	for (uint32_t cpu = 0; !err && cpu < target->nr_cpus; cpu++)
		*ret |= target->stop[cpu].entries != 0;
	return err;
}

/* One more longest wakeup swaps the buffers, a second one swaps them back. */
static int wake_up(struct target *target, bool *ret_there, struct fail *fail)
{
	int err = 0;

	for (unsigned i = 0; !err && !*ret_there && i < TRIES; i++) {
		err = instance_set(target->instance, max, "0", fail);
		if (!err)
			nap();
		if (!err)
			err = instance_set(target->instance, max, "9223372036854775", fail);
		/* What was just being measured comes to its end. */
		if (!err)
			nap();
		if (!err)
			err = is_live(target, ret_there, fail);
	}
	return err;
}

int section_swap(struct target *target, const char *tracer, bool *ret_there, struct fail *fail)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct sched_param old_param;
	int old = sched_getscheduler(0), err = 0;

	/* Functions are of no use, and the kernel would change the code of all of them. */
	if (option_get(target->instance, "function-trace") == 1)
		err = option_set(target->instance, "nofunction-trace", fail);
	if (!err)
		err = instance_write(target->instance, "current_tracer", next_tracer(tracer), fail);
	if (err)
		return err;
	/* Without this right the loop ends in vain, or other tasks with such a priority wake up. */
	if (old < 0 || sched_getparam(0, &old_param) || sched_setscheduler(0, SCHED_FIFO, &first))
		old = -1;
	err = wake_up(target, ret_there, fail);
	if (old >= 0)
		(void)!sched_setscheduler(0, old, &old_param);
	return err;
}
