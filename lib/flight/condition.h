/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_CONDITION_H
#define WEFT_FLIGHT_CONDITION_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;

/*
 * The text of `--when`, parsed: what makes `weft flight` write a file. It may begin with a name, "NAME=".
 *	event:SYSTEM:EVENT [if FILTER]
 *	exit:COMM [status!=N|status==N]		a process of that name calls exit() with such a status
 *	signal:NAME|N [COMM]			the kernel sends such a signal, to a task of that name
 *	latency:wakeup|softirq|irq|block|syscall|lock>TIME [streamed] [if FILTER]
 *						the kernel measures more than TIME; or weft, from the kernel's events
 *	timerlat|osnoise>TIME			the kernel's tracer of that name measures more than TIME
 *	psi:cpu|memory|io|irq|PATH some|full TIME/WINDOW
 *	kmsg:REGEX				a line of the kernel's log; or the name of a preset
 *	command:'TEXT' every TIME		the shell's TEXT fails
 * Names of events and fields are checked by the kernel when the condition is watched (watch.h).
 */
enum condition_kind {
	CONDITION_EVENT,
	CONDITION_LATENCY,
	CONDITION_NOISE,
	CONDITION_PSI,
	CONDITION_KMSG,
	CONDITION_COMMAND,
};

enum { CONDITION_NAME = 32 };

struct condition {
	enum condition_kind kind;
	char name[CONDITION_NAME];           /* letters, digits, '-' and '_'; a part of the names of files */
	char *event;                         /* CONDITION_EVENT: "SYSTEM:EVENT" */
	char *filter;                        /* of the event, or of the latency's; NULL: none */
	const struct condition_pair *pair;   /* CONDITION_LATENCY */
	const struct condition_noise *noise; /* CONDITION_NOISE */
	uint64_t longer_ns;                  /* CONDITION_LATENCY, CONDITION_NOISE: there whole microseconds */
	bool streamed;                       /* CONDITION_LATENCY: weft measures it, also where the kernel could */
	/* CONDITION_PSI: the file below /proc or a path; CONDITION_KMSG: a regular expression; CONDITION_COMMAND */
	char *text;
	bool full;         /* CONDITION_PSI */
	uint64_t stall_ns; /* CONDITION_PSI: so much within window_ns */
	uint64_t window_ns;
	uint64_t every_ns; /* CONDITION_COMMAND */
};

/*
 * Two events of which the distance is measured: lib/measure/hist.h has what the texts mean, and lib/tally/tally.h, for
 * which they are the same.
 */
struct condition_pair {
	const char *name, *first, *second, *match, *keys;
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
