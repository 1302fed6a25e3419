/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before each file that tests/mutants/run changes. All mutants of a build are in one program, and the variable
 * WEFT_MUTANT of the environment says which one acts: none is compiled for itself.
 */
#ifndef WEFT_TESTS_MUTANTS_SWITCH_H
#define WEFT_TESTS_MUTANTS_SWITCH_H

extern int mutant_acting;           /* -1: none */
extern unsigned char *mutants_seen; /* a byte for each mutant whose place was reached; NULL: nobody asks */

static inline int mutant(int number)
{
	if (__builtin_expect(!!mutants_seen, 0))
		mutants_seen[number] = 1;
	return __builtin_expect(number == mutant_acting, 0) != 0;
}

#endif
