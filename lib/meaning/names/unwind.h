/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_NAMES_UNWIND_H
#define WEFT_MEANING_NAMES_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How to find the caller of a function on x86-64, from the registers of the function and a copy of the innermost words
 * of its stack. The rules are a line of the setting weft/unwind, whose files and places are as in weft/functions
 * (functions.h): rows with ';' between them, each "PLACE CFA WHERE...", ascending. PLACE is hexadecimal, from the start
 * of the line's code. CFA, the stack pointer of the caller, is R+N, *R+N (what is stored there), pN (that of the .plt,
 * whose code pushes a word with its N-th byte of 16), or ?. WHERE says where values of the caller are: R-N, at the CFA
 * and N bytes less; R=S+N, where register S and N point to; R?, nowhere; e, there is no caller; s, a signal was
 * handled, so the caller has called nothing. The return address is R 16, and stands before the CFA if nothing is said.
 * Registers have the numbers of the psABI.
 */
#define SETTING_UNWIND "weft/unwind"

enum { UNWIND_REGISTERS = 17, UNWIND_STACK = 7, UNWIND_PLACE = 16 };

struct unwind {
	uint64_t registers[UNWIND_REGISTERS];
	uint32_t known; /* a bit for each register whose value is known */
	const uint8_t *stack;
	size_t stack_len;
	uint64_t stack_at; /* the address of the copy */
	bool swap;
	bool called; /* the place is behind a call */
};

enum unwind_end {
	UNWIND_GOES_ON,
	UNWIND_WHOLE,   /* it was the outermost function */
	UNWIND_CUT,     /* the caller's place is not in the copy of the stack */
	UNWIND_UNKNOWN, /* the rules cannot be followed */
};

/*
 * Makes the caller the function; `offset` is that of its place in the code of the line. On an end nothing has changed.
 */
enum unwind_end unwind_step(struct unwind *unwind, const char *rules, size_t len, uint64_t offset);

#endif
