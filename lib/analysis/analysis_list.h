/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_ANALYSIS_LIST_H
#define WEFT_ANALYSIS_ANALYSIS_LIST_H

/*
 * All analyses, in the order of `weft help`. From this list come the externs NAME_analysis and NAME_command, the values
 * of --for and --summary, and analysis_at(). A new analysis has one line here.
 */
/* clang-format off */
#define ANALYSES(X) \
	X(summary) \
	X(sched) \
	X(syscalls) \
	X(latency) \
	X(graph) \
	X(irq) \
	X(block) \
	X(locks) \
	X(stacks) \
	X(memory) \
	X(power) \
	X(tasks)
/* clang-format on */

#endif
