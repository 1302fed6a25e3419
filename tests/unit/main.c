// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

static struct test *tests;
static bool current_failed;
static unsigned current_checks;

void test_register(struct test *test)
{
	struct test **at = &tests;

	while (*at && strcmp((*at)->name, test->name) < 0)
		at = &(*at)->next;
	test->next = *at;
	*at = test;
}

bool test_check(bool ok, const char *file, int line, const char *what)
{
	current_checks++;
	if (ok)
		return true;
	current_failed = true;
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
	return false;
}

bool test_check_mem(const void *got, size_t got_len, const void *want, size_t want_len, const char *file, int line)
{
	current_checks++;
	if (got_len == want_len && (!want_len || !memcmp(got, want, want_len)))
		return true;
	current_failed = true;
	fprintf(stderr, "%s:%d:\n got: %.*s\nwant: %.*s\n", file, line, (int)got_len, (const char *)got, (int)want_len,
		(const char *)want);
	return false;
}

bool test_check_str(const char *got, const char *want, const char *file, int line)
{
	return test_check_mem(got, strlen(got), want, strlen(want), file, line);
}

/* WORD...: a test whose name has each of them runs; -WORD: none whose name has it. */
static bool is_wanted(const struct test *test, char **words)
{
	for (; *words; words++)
		if (**words == '-' ? !!strstr(test->name, *words + 1) : !strstr(test->name, *words))
			return false;
	return true;
}

/* tests/mutants/switch.c has one, which notes the places that a test has reached that passed. */
void test_ended(const char *name) __attribute__((weak));

static bool run_test(const struct test *test)
{
	current_failed = false;
	current_checks = 0;
	test->run();
	/* A test that checks nothing cannot fail. */
	test_check(current_checks > 0, test->name, 0, "it checks something");
	if (current_failed)
		fprintf(stderr, "FAILED %s\n", test->name);
	else if (test_ended)
		test_ended(test->name);
	return !current_failed;
}

/* "=NAME"...: these tests, in this order, as far as the first that fails, whose name is the last that is printed. */
static int run_named(char **names)
{
	for (; *names; names++)
		for (const struct test *test = tests; test; test = test->next)
			if (!strcmp(test->name, *names + 1)) {
				printf("%s\n", test->name);
				fflush(stdout);
				if (!run_test(test))
					return 1;
			}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned passed = 0, failed = 0;

	if (argc > 1 && *argv[1] == '=')
		return run_named(argv + 1);
	for (struct test *test = tests; test; test = test->next) {
		if (argc > 1 && !is_wanted(test, argv + 1))
			continue;
		if (run_test(test))
			passed++;
		else
			failed++;
	}
	printf("unit: %u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
