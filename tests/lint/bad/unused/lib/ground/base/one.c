// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/one.h"

int one_add(int number)
{
	return number + 1;
}

int one_twice(int number)
{
	return one_add(one_add(number));
}

int one_forgotten(int number)
{
	return number - 1;
}
