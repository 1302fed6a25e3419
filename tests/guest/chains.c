// SPDX-License-Identifier: GPL-2.0-only
/*
 * chains N: sleeps N times, at the ends of chains of calls without frame pointers, through qsort() of the C library;
 * then prints a line "TIMES FUNCTION..." for each chain, the innermost function first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 32, CHAINS = 4096, LINE = 256 };

typedef void function(unsigned choice, unsigned depth);

static const char *chain[DEPTH];
static unsigned nr;
static struct {
	char text[LINE];
	unsigned times;
} seen[CHAINS];
static unsigned nr_seen;
static function alpha, beta, gamma3, delta;
static unsigned sorted_choice, sorted_depth, sorts;

static void note(void)
{
	char text[LINE] = "";
	size_t len = 0;
	unsigned i;

	for (i = nr; i--;)
		len += (size_t)snprintf(text + len, sizeof(text) - len, " %s", chain[i]);
	for (i = 0; i < nr_seen && strcmp(seen[i].text, text); i++)
		;
	if (i == CHAINS)
		exit(3);
	if (i == nr_seen)
		memcpy(seen[nr_seen++].text, text, sizeof(text));
	seen[i].times++;
}

__attribute__((noinline)) static void leaf(void)
{
	struct timespec time = { .tv_nsec = 2000000 };

	chain[nr++] = "leaf";
	note();
	nanosleep(&time, NULL);
	nr--;
}

__attribute__((noinline)) static void next(unsigned choice, unsigned depth)
{
	static function *const all[] = { alpha, beta, gamma3, delta };

	chain[nr++] = "next";
	if (depth)
		all[choice & 3](choice >> 2, depth - 1);
	else
		leaf();
	nr--;
}

static int order(const void *a, const void *b)
{
	chain[nr++] = "order";
	next(sorted_choice, sorted_depth);
	nr--;
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void alpha(unsigned choice, unsigned depth)
{
	chain[nr++] = "alpha";
	next(choice, depth);
	nr--;
}

/* With registers to keep, and more of the stack. */
__attribute__((noinline)) static void beta(unsigned choice, unsigned depth)
{
	volatile char room[56];
	unsigned before = nr;

	chain[nr++] = "beta";
	next(choice, depth);
	room[5] = (char)choice;
	nr = before + (room[5] != (char)choice);
}

/* Of a size that only rbp can tell. */
__attribute__((noinline)) static void gamma3(unsigned choice, unsigned depth)
{
	volatile char *room = __builtin_alloca(16 + (choice & 31));

	chain[nr++] = "gamma3";
	room[0] = 1;
	next(choice, depth);
	room[1] = 2;
	nr--;
}

/* Through code of another file that knows nothing of this one. */
__attribute__((noinline)) static void delta(unsigned choice, unsigned depth)
{
	int numbers[] = { 2, 1 };

	chain[nr++] = "delta";
	if (depth > 2 || sorts) {
		alpha(choice, depth);
	} else {
		sorts = 1;
		sorted_choice = choice;
		sorted_depth = depth;
		qsort(numbers, 2, sizeof(*numbers), order);
		sorts = 0;
	}
	nr--;
}

int main(int argc, char **argv)
{
	unsigned times = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100, state = 1;

	chain[nr++] = "main";
	for (unsigned i = 0; i < times; i++) {
		state = state * 1103515245 + 12345;
		next(state >> 8 & 0xffff, (state >> 28) % 5);
	}
	for (unsigned i = 0; i < nr_seen; i++)
		printf("%u%s\n", seen[i].times, seen[i].text);
	return 0;
}
