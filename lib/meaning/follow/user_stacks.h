/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_USER_STACKS_H
#define WEFT_MEANING_FOLLOW_USER_STACKS_H

#include <stdbool.h>
#include <stdint.h>

struct context;
struct stack;

struct event;

/*
 * The stacks of programs from copies of their registers and of the innermost words of their stacks, which record
 * --stacks user takes when a task leaves its CPU or a tick interrupts it, and at system calls and probes of programs:
 * the buffer weft/stacks (own_formats.h). They
 * are unwound by the rules of the programs' own files (lib/meaning/names/unwind.h), so that no program has to have
 * frame pointers; a frame is never guessed.
 */
struct user_stacks;

enum user_stacks_at { USER_STACKS_SWITCH, USER_STACKS_TICK };

/* The fields of a probe of a program that are registers, by the numbers of the psABI. */
#define USER_STACKS_REGISTERS \
	"ax", "dx", "cx", "bx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ip"

/* Reads all of them. NULL without memory. */
struct user_stacks *user_stacks_new(const struct context *context);
void user_stacks_free(struct user_stacks *stacks);

/*
 * The stack that was taken of a task within these times: the last one at a switch, the first one at a tick. The result
 * borrows it.
 */
bool user_stacks_find(struct user_stacks *stacks, enum user_stacks_at at, int32_t pid, uint64_t from, uint64_t to,
		      struct stack *ret, int32_t *ret_tgid);

/* The stack that was taken for this event, which begins a system call or is of a probe of a program. */
bool user_stacks_of(struct user_stacks *stacks, const struct event *event, struct stack *ret, int32_t *ret_tgid);

/* The same, and for a sched_switch, with which the task leaves its CPU, and a tick of the buffer of a profile. */
bool user_stacks_beside(struct user_stacks *stacks, const struct event *event, struct stack *ret, int32_t *ret_tgid);

/* Whether there can be such an event. */
bool user_stacks_of_events(const struct user_stacks *stacks);

/* How many were found so far, and how many of these end because no more was copied, or no rule leads to the caller. */
struct user_stacks_counts {
	uint64_t found, cut, unknown;
};
struct user_stacks_counts user_stacks_counts(const struct user_stacks *stacks);

#endif
