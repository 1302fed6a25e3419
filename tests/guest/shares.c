// SPDX-License-Identifier: GPL-2.0-only
/*
 * shares SECONDS: runs so long on a CPU, in three functions, and prints how many milliseconds of the process each had:
 * "six 1200", "three 600" and "one 200". They have frame pointers, unless BARE is defined, and are called by work(),
 * which main() calls.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOP(n) for (volatile uint64_t i = 0; i < (n); i++)
#ifdef BARE
#define APART __attribute__((noinline, noclone))
#else
#define APART __attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))
#endif

static double spent[3];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

APART void six(uint64_t n)
{
	LOOP(6 * n);
}

APART void three(uint64_t n)
{
	LOOP(3 * n);
}

APART void one(uint64_t n)
{
	LOOP(n);
}

APART void work(double seconds)
{
	static void (*const functions[])(uint64_t n) = { six, three, one };
	double from = now(), end = from + seconds;

	while (from < end)
		for (int i = 0; i < 3; i++) {
			double to;

			functions[i](100000);
			to = now();
			spent[i] += to - from;
			from = to;
		}
}

int main(int argc, char **argv)
{
	work(argc > 1 ? atof(argv[1]) : 1);
	printf("six %.0f\nthree %.0f\none %.0f\n", spent[0] * 1e3, spent[1] * 1e3, spent[2] * 1e3);
	return 0;
}
