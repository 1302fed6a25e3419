/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_GRAPH_CALL_SUMS_H
#define WEFT_ANSWERS_GRAPH_CALL_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/graph/call_tree.h"

struct analysis_ops;
struct context;

/*
 * All calls of a time as one tree: which function of the kernel called which, below the system call that a task was in.
 * Memory grows with the number of chains of callers, up to a limit; what lies beyond it is counted. The analysis makes
 * no tables: its result is a struct call_sums of its owner, which is complete when pass_finish() has returned.
 */
struct call_sums {
	struct call_tree tree;         /* node 0 stands for all tasks and has no call of its own */
	const struct context *context; /* of the functions; NULL: there are none */
	const char *machine;           /* as pass::machine */
	size_t nodes_max;              /* set by the owner; 0: no limit */
	uint64_t left_out;        /* calls in chains that were beyond the limit: their time is their caller's own */
	uint64_t unpaired;        /* calls whose entry was not seen: they are not in the tree */
	uint64_t open;            /* calls that were not seen to end: only what they called is in the tree */
	bool functions, syscalls; /* which of them there are */
};

/* Its options are the struct call_sums, all zero but for nodes_max. */
extern const struct analysis_ops call_sums_analysis;

void call_sums_release(struct call_sums *sums);

/* The name of a node: "vfs_read", "openat()" of a system call, or what is known instead. */
enum { CALL_SUMS_NAME = 160 };
void call_sums_name(const struct call_sums *sums, uint64_t func, char name[CALL_SUMS_NAME]);
bool call_sums_is_syscall(uint64_t func);

#endif
