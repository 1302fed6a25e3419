// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/random.h"

#include <sys/random.h>
#include <sys/types.h>

#include "lib/ground/base/now.h"

uint64_t random_number(void)
{
	uint64_t number;

	return getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number) ? number : now_ns();
}

uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}
