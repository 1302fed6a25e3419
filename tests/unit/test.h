/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_TEST_H
#define WEFT_TESTS_UNIT_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The byte order in which a test stores numbers: this machine's. */
#define HOST_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/*
 * The head of a ring buffer's record, two bit fields of one word (include/linux/ring_buffer.h: struct
 * ring_buffer_event).
 */
static inline uint32_t record_head(uint32_t type_len, uint32_t delta)
{
	return HOST_BIG_ENDIAN ? type_len << 27 | delta : delta << 5 | type_len;
}

/*
 * A unit test is a sentence about behaviour: TEST(page_rejects_a_record_that_crosses_the_end) { ... CHECK(x == y); }
 * A failed CHECK is printed and ends the test's claim to have passed; REQUIRE also leaves the test.
 */
struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};

void test_register(struct test *test);
bool test_check(bool ok, const char *file, int line, const char *what);
bool test_check_str(const char *got, const char *want, const char *file, int line);
bool test_check_mem(const void *got, size_t got_len, const void *want, size_t want_len, const char *file, int line);

#define TEST(test_name)                                                                 \
	static void test_name(void);                                                    \
	static struct test test_name##_test = { .name = #test_name, .run = test_name }; \
	__attribute__((constructor)) static void test_name##_register(void)             \
	{                                                                               \
		test_register(&test_name##_test);                                       \
	}                                                                               \
	static void test_name(void)

#define CHECK(expr) test_check((expr), __FILE__, __LINE__, #expr)
#define REQUIRE(expr)             \
	do {                      \
		if (!CHECK(expr)) \
			return;   \
	} while (0)
/* Text against text; prints both when they differ. Each argument is evaluated once. */
#define CHECK_STR(got, want) test_check_str((got), (want), __FILE__, __LINE__)
#define CHECK_MEM(got, len, want, want_len) test_check_mem((got), (len), (want), (want_len), __FILE__, __LINE__)

#endif
