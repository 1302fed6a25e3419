/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_STARVE_H
#define WEFT_TESTS_UNIT_STARVE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes one allocation of weft fail: the linker replaces malloc() and similar functions by these (Makefile:
 * unit_wrapped). Allocations inside the C library and zstd do not count. Threads share the count.
 */

/* From this call on, the `at`-th allocation fails; none for 0. */
void starve_begin(uint64_t at);

/* Stops counting, for code that imitates the kernel and allocates, too. Returns the argument for starve_resume(). */
bool starve_pause(void);
void starve_resume(bool counted);

/* Ends the counting; returns the number of allocations, the failed one included. */
uint64_t starve_end(void);

#endif
