/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_ANALYSIS_LIST_H
#define WEFT_ANSWERS_FRAME_ANALYSIS_LIST_H

/*
 * All analyses, in the order of `weft help`, of the tables of `weft summary`, and of the rows of `weft diff`. From this
 * list come the externs NAME_analysis and NAME_command, the values of --for, --summary and --of, and analysis_at(). A
 * new analysis has one line here. Whoever builds weft with analyses of their own defines ANALYSES_MORE as such lines
 * before, as tests/examples does.
 */
#ifndef ANALYSES_MORE
#define ANALYSES_MORE(X)
#endif

/* clang-format off */
#define ANALYSES(X) \
	X(summary) \
	X(sched) \
	X(syscalls) \
	X(irq) \
	X(latency) \
	X(graph) \
	X(block) \
	X(locks) \
	X(why) \
	X(marks) \
	X(stacks) \
	X(memory) \
	X(power) \
	X(tasks) \
	ANALYSES_MORE(X)
/* clang-format on */

/* The names as an option shows its values: "|summary|sched..." without the first character. */
#define ANALYSES_VALUE(name) "|" #name
#define ANALYSES_VALUES (&(ANALYSES(ANALYSES_VALUE))[1])

#endif
