/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_VALUES_H
#define WEFT_TESTS_UNIT_VALUES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks for a number in the report of an imported text that the text does not have, in whatever form it came. Numbers
 * are compared without leading zeros and without "0x". What a report derives is allowed: times with six decimals of
 * times with more of them and of microseconds; in the form of the option verbose the number of the line and the time
 * until the next one; names of tasks cut to the width of their column; the columns of flags, headers, and the PIDs that
 * stand for unknown tasks. Returns false if there is none, or writes the line and the number to `told`.
 */
bool values_find_strange(const char *text, size_t len, const char *report, size_t report_len, char *told, size_t size);

#endif
