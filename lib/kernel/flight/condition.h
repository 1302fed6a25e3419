/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_CONDITION_H
#define WEFT_KERNEL_FLIGHT_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/follow/who.h"

struct fail;

/*
 * The text of `--when`, parsed: what makes `weft flight` write a file. It may begin with a name, "NAME=".
 *	event:SYSTEM:EVENT [OF] [if FILTER]
 *	exit:COMM [status!=N|status==N] [OF]	a process of that name calls exit() with such a status
 *	signal:NAME|N [COMM] [OF]		the kernel sends such a signal, to a task of that name
 *	latency:wakeup|softirq|irq|block|syscall|lock>TIME [streamed] [OF] [if FILTER]
 *						the kernel measures more than TIME; or weft, from the kernel's events
 *	mark:GLOB>TIME [OF]			a span that a program marks (lib/meaning/event/mark.h) lasts longer
 *	timerlat|osnoise>TIME			the kernel's tracer of that name measures more than TIME
 *	psi:cpu|memory|io|irq|PATH some|full TIME/WINDOW
 *	kmsg:REGEX				a line of the kernel's log; or the name of a preset
 *	command:'TEXT' every TIME		the shell's TEXT fails
 * OF is "of process|unit|container|pod|cgroup:NAME": whom the task belongs to.
 * Names of events and fields are checked by the kernel when the condition is watched (watch.h).
 */
enum condition_kind {
	CONDITION_EVENT,
	CONDITION_LATENCY,
	CONDITION_NOISE,
	CONDITION_PSI,
	CONDITION_KMSG,
	CONDITION_COMMAND,
	CONDITION_MARK,
};

enum { CONDITION_NAME = 32 };

struct condition {
	enum condition_kind kind;
	char name[CONDITION_NAME]; /* letters, digits, '-' and '_'; a part of the names of files */
	char *event;               /* CONDITION_EVENT: "SYSTEM:EVENT" */
	char *filter;              /* of the event, or of the latency's; NULL: none */
	/* CONDITION_LATENCY: the pair, and the keys of lib/kernel/measure/hist.h and lib/answers/tally/tally.h */
	const struct pair_kind *pair;
	const char *keys;
	const struct condition_noise *noise; /* CONDITION_NOISE */
	uint64_t longer_ns;                  /* CONDITION_LATENCY, _MARK, _NOISE: there whole microseconds */
	bool streamed;                       /* CONDITION_LATENCY: weft measures it, also where the kernel could */
	/* CONDITION_PSI: the file below /proc or a path; _KMSG: a regular expression; _COMMAND; _MARK: a glob */
	char *text;
	bool full;         /* CONDITION_PSI */
	uint64_t stall_ns; /* CONDITION_PSI: so much within window_ns */
	uint64_t window_ns;
	uint64_t every_ns; /* CONDITION_COMMAND */
	/*
	 * Only tasks that belong to it; a word of NULL: all. The task is the one that runs, or that a field of the
	 * event, or of the second one of a latency, names. weft itself looks at each event.
	 */
	struct who_want of; /* owns its word */
	const char *of_field;
};

/*
 * A tracer that stops by itself when it measures too much. The kernel has the bounds of both tracers once, in files of
 * its top instance. `measured` is the word before the number of ns in the tracer's lines, and `of` one that such a line
 * has; `event` (NULL: none) makes these lines if the tracer does not. `cost` says what the tracer does to the machine.
 */
struct condition_noise {
	const char *tracer, *bound, *other_bound, *event, *of, *measured, *cost;
	uint64_t least_ns;
};

/*
 * -EINVAL: the message says what is wrong, with the text and a caret under the place in the lines after it. The caller
 * releases *ret.
 */
int must_check condition_parse(const char *text, struct condition *ret, struct fail *fail);
void condition_release(struct condition *condition);

/* NULL: the tracer is not one of those that a condition can have. */
const struct condition_noise *condition_noise_of(const char *tracer);

#endif
