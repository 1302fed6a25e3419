/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_PROOF_PROOF_H
#define WEFT_TESTS_PROOF_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/fail.h"

/* Of Frama-C's library (share/libc/__fc_builtin.c): any number of a range, and any bytes. */
int Frama_C_interval(int min, int max);
void Frama_C_make_unknown(char *at, size_t len);

/* The text of an error is not looked at. */
int fail_set(struct fail *fail, int err, const char *format, ...)
{
	(void)fail;
	(void)format;
	return err;
}

uint32_t __builtin_bswap32(uint32_t value)
{
	return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
}

uint64_t __builtin_bswap64(uint64_t value)
{
	return (uint64_t)__builtin_bswap32((uint32_t)value) << 32 | __builtin_bswap32((uint32_t)(value >> 32));
}

#endif
