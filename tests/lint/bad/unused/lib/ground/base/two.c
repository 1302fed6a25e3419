// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/one.h"

int main(void)
{
	return one_twice(1);
}
