// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/random.h"

#include "lib/base/now.h"

#include <sys/random.h>
#include <sys/types.h>

uint64_t random_number(void)
{
	uint64_t number;

	return getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number) ? number : now_ns();
}
