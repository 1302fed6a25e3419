/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_RANDOM_H
#define WEFT_GROUND_BASE_RANDOM_H

#include <stdint.h>

/* A random number for a unique name; the time when the kernel has no random bytes yet. */
uint64_t random_number(void);

/* The next of a sequence that depends on the first value of *state alone (splitmix64): not for secrets. */
uint64_t random_next(uint64_t *state);

#endif
