/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_TIMER_INTERNAL_H
#define WEFT_KERNEL_FLIGHT_TIMER_INTERNAL_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/* A descriptor that becomes readable once a period: a read of 8 bytes tells how many have passed, and never waits. */
int must_check timer_new(int *ret, struct fail *fail);
int must_check timer_start(int fd, uint64_t period_ns, struct fail *fail);

#endif
