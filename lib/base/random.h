/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_RANDOM_H
#define WEFT_BASE_RANDOM_H

#include <stdint.h>

/* A random number for a unique name; the time when the kernel has no random bytes yet. */
uint64_t random_number(void);

#endif
