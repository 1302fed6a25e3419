// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/types.h"
#include "lib/memory/image/types.h"

static char printed[256];

static const char *print(const char *text, const char *function, unsigned registers, bool enumerators)
{
	struct call_args args = { .values = { 0xff11, (uint64_t)-2, 7, 1, 2, 3 },
				  .nr = registers,
				  .long_size = 8,
				  .enumerators = enumerators };
	struct types *types;
	struct out out;

	if (types_of_text(text, strlen(text), &types, NULL) || !out_init(&out, 64))
		return "no memory";
	types_print_args(types, function, strlen(function), &args, &out);
	snprintf(printed, sizeof(printed), "%.*s", (int)out_len(&out), out.start);
	out_release(&out);
	types_free(types);
	return printed;
}

static const char *call(const char *text, const char *function, unsigned registers)
{
	return print(text, function, registers, true);
}

/* The texts of print_function_args() of kernel/trace/trace_output.c. */
TEST(types_print_arguments_as_the_kernel_does)
{
	static const char text[] =
		"f open *path iflags e5:mode\nf b ufirst ?second\nf big s16:STRUCT:pair *last\nf none\n"
		"f seven *a *b *c *d *e *f *g\nf tail *a s32:UNION:u *z\ne 5 OFF=0 ON=7\n";

	CHECK_STR(call(text, "open", 6), "(path=0xff11, flags=-2, mode=7 [ON])");
	CHECK_STR(print(text, "open", 6, false), "(path=0xff11, flags=-2, mode=7)");
	CHECK_STR(call(text, "b", 6), "(first=0xff11, second=?0xfffffffffffffffe)");
	CHECK_STR(call(text, "big", 6), "(pair=(STRUCT)[0xff11:0xfffffffffffffffe], last=0x7)");
	CHECK_STR(call(text, "none", 6), "()");
	CHECK_STR(call(text, "ope", 6), "()");
	CHECK_STR(call(text, "seven", 6), "(a=0xff11, b=0xfffffffffffffffe, c=0x7, d=0x1, e=0x2, f=0x3, ...)");
	CHECK_STR(call(text, "tail", 3), "(a=0xff11, u=(UNION)[0xfffffffffffffffe:0x7:...])");
}

TEST(types_know_the_values_of_enumerators)
{
	static const char text[] = "v I_NEW 1\nv LAST -5\nv BROKEN x\nv I_NEWER 2\n"
				   "v MOST 18446744073709551615\nv LONG 000000000000000000001\nv SIGN -\n";
	struct types *types;
	uint64_t value;

	REQUIRE(!types_of_text(text, sizeof(text) - 1, &types, NULL));
	CHECK(types_value(types, "I_NEW", 5, &value) && value == 1);
	CHECK(types_value(types, "LAST", 4, &value) && value == (uint64_t)-5);
	CHECK(!types_value(types, "BROKEN", 6, &value));
	CHECK(!types_value(types, "I_NE", 4, &value));
	CHECK(types_value(types, "MOST", 4, &value) && value == UINT64_MAX);
	CHECK(!types_value(types, "LONG", 4, &value) && !types_value(types, "SIGN", 4, &value));
	types_free(types);
}

/*
 * An int, a pointer to it, an enum, a structure of 16 bytes; vfs_open(int *path, int flags, enum mode mode, struct pair
 * pair).
 */
static const uint8_t information[] = {
	0x9f, 0xeb, 0x01, 0x00, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7c, 0x00, 0x00, 0x00, 0x7c, 0x00,
	0x00, 0x00, 0x2a, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x04, 0x00, 0x00, 0x00,
	0x20, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x01, 0x00, 0x00, 0x00, 0x19, 0x00,
	0x00, 0x00, 0x02, 0x00, 0x00, 0x06, 0x04, 0x00, 0x00, 0x00, 0x1e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x22, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x25, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x10, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x0e, 0x00, 0x00, 0x00,
	0x02, 0x00, 0x00, 0x00, 0x13, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x19, 0x00, 0x00, 0x00, 0x03, 0x00,
	0x00, 0x00, 0x25, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c,
	0x05, 0x00, 0x00, 0x00, 0x00, 0x69, 0x6e, 0x74, 0x00, 0x76, 0x66, 0x73, 0x5f, 0x6f, 0x70, 0x65, 0x6e, 0x00,
	0x70, 0x61, 0x74, 0x68, 0x00, 0x66, 0x6c, 0x61, 0x67, 0x73, 0x00, 0x6d, 0x6f, 0x64, 0x65, 0x00, 0x4f, 0x46,
	0x46, 0x00, 0x4f, 0x4e, 0x00, 0x70, 0x61, 0x69, 0x72, 0x00,
};

TEST(types_keep_what_the_kernel_tells_of_functions_and_enumerators)
{
	static const char format[] = "name: x\nprint fmt: \"OFF %s\", __print_symbolic(REC->flags, { ON, \"OFF\" })\n";
	struct names *functions, *enumerators;
	struct buf lines = BUF_INIT;

	REQUIRE(!names_new(&functions, NULL) && !names_new(&enumerators, NULL));
	REQUIRE(!names_add(functions, "vfs_open", 8, NULL) &&
		!names_add_format(enumerators, format, sizeof(format) - 1, NULL));
	CHECK(!types_lines(information, sizeof(information), NULL, functions, enumerators, &lines, NULL));
	CHECK_STR(buf_str(&lines), "f vfs_open *path iflags e3:mode s16:STRUCT:pair\ne 3 OFF=0 ON=7\nv ON 7\n");
	buf_clear(&lines);
	/* Unknown functions; then no type information at all. */
	CHECK(!types_lines(information, sizeof(information), NULL, enumerators, enumerators, &lines, NULL));
	CHECK(types_lines(format, sizeof(format), NULL, NULL, enumerators, &lines, NULL) == -EBADMSG);
	names_free(functions);
	names_free(enumerators);
	buf_release(&lines);
}

enum { KERNEL_STRINGS = 0x2a, MODULES = 3 };

/*
 * The information of a module, whose ids and strings follow those of the kernel: an enum of id 7,
 * mod_open(int *path, enum mood) of id 9, and another vfs_open().
 */
static size_t make_module(const char *name, uint8_t *into)
{
	const uint32_t types[] = { 0,
				   6u << 24 | 1,
				   4,
				   KERNEL_STRINGS + 15,
				   2,
				   0,
				   13u << 24 | 2,
				   1,
				   14,
				   2,
				   KERNEL_STRINGS + 10,
				   7,
				   KERNEL_STRINGS + 1,
				   12u << 24,
				   8,
				   5,
				   12u << 24,
				   8 };
	const uint32_t head[] = { 0x1eb9f, 24, 0, sizeof(types), sizeof(types), 19 };
	char strings[19] = "\0________\0mood\0SAD";

	memcpy(strings + 1, name, strlen(name));
	memcpy(into, head, sizeof(head));
	memcpy(into + sizeof(head), types, sizeof(types));
	memcpy(into + sizeof(head) + sizeof(types), strings, sizeof(strings));
	return sizeof(head) + sizeof(types) + sizeof(strings);
}

static bool next_module(void *arg, struct buf *buf)
{
	unsigned *at = arg;
	uint8_t data[256];
	size_t len = make_module(*at == 2 ? "mod_read" : "mod_open", data);

	buf_clear(buf);
	/* The first one is cut short. */
	return (*at)++ < MODULES && buf_add(buf, data, *at == 1 ? 20 : len);
}

TEST(types_of_a_module_follow_those_of_the_kernel)
{
	struct names *functions, *enumerators;
	struct buf lines = BUF_INIT;
	unsigned at = 0;
	const struct types_modules modules = { next_module, &at };

	REQUIRE(!names_new(&functions, NULL) && !names_new(&enumerators, NULL));
	REQUIRE(!names_add(functions, "vfs_open", 8, NULL) && !names_add(functions, "mod_open", 8, NULL) &&
		!names_add(functions, "mod_read", 8, NULL));
	CHECK(!types_lines(information, sizeof(information), &modules, functions, enumerators, &lines, NULL));
	CHECK_STR(buf_str(&lines), "f vfs_open *path iflags e3:mode s16:STRUCT:pair\ne 3 OFF=0 ON=7\n"
				   "f mod_open *path e7:mood\ne 7 SAD=2\nf mod_read *path e11:mood\ne 11 SAD=2\n");
	/* What the kernel has is not looked for in modules. */
	buf_clear(&lines);
	at = 0;
	names_free(functions);
	REQUIRE(!names_new(&functions, NULL) && !names_add(functions, "vfs_open", 8, NULL));
	CHECK(!types_lines(information, sizeof(information), &modules, functions, enumerators, &lines, NULL) && !at);
	names_free(functions);
	names_free(enumerators);
	buf_release(&lines);
}
