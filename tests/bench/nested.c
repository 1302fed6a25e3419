// SPDX-License-Identifier: GPL-2.0-only
/* nested N: makes about N function calls, nested up to ten deep. It is built with -pg for uftrace. */
#include <stdlib.h>

static volatile long calls;

__attribute__((noinline)) static void leaf(void)
{
	calls++;
}

__attribute__((noinline)) static void branch(int depth)
{
	calls++;
	if (!depth) {
		leaf();
		return;
	}
	branch(depth - 1);
	branch(depth - 1);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;

	while (calls < n)
		branch(8);
	return 0;
}
