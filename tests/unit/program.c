// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/schema/program.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/value_names.h"
#include "tests/unit/test.h"

/* All tests use one record with this layout. */
static const char fields[] = "name: thing\nID: 9\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:int minus;\toffset:24;\tsize:4;\tsigned:1;\n"
			     "\tfield:u32 word;\toffset:28;\tsize:4;\tsigned:0;\n"
			     "\tfield:u64 wide;\toffset:32;\tsize:8;\tsigned:0;\n"
			     "\tfield:u8 byte;\toffset:40;\tsize:1;\tsigned:0;\n"
			     "\tfield:s8 small;\toffset:41;\tsize:1;\tsigned:1;\n"
			     "\tfield:u16 half;\toffset:42;\tsize:2;\tsigned:0;\n"
			     "\tfield:__data_loc char[] str;\toffset:44;\tsize:4;\tsigned:0;\n"
			     "\tfield:__u8 addr[16];\toffset:48;\tsize:16;\tsigned:0;\n"
			     "\tfield:void * ptr;\toffset:64;\tsize:8;\tsigned:0;\n"
			     "\tfield:__data_loc u64[] nums;\toffset:72;\tsize:4;\tsigned:0;\n"
			     "\tfield:u32 list[2];\toffset:76;\tsize:8;\tsigned:0;\n"
			     "\nprint fmt: ";

static uint8_t record[128];
static size_t record_len;

static void fill(void)
{
	static const uint8_t ip6[16] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 1 };
	int32_t minus = -5;
	uint32_t word = 0xfffffffe, str = 84 | 6u << 16, nums = 96 | 16u << 16, list[2] = { 7, 9 };
	uint64_t wide = 0x123456789abcdef0, ptr = 0xffff888012345678, numbers[2] = { 1, 0xff };
	uint16_t half = 500;

	memset(record, 0, sizeof(record));
	memcpy(record + 8, "bash", 5);
	memcpy(record + 24, &minus, 4);
	memcpy(record + 28, &word, 4);
	memcpy(record + 32, &wide, 8);
	record[40] = 200;
	record[41] = 0xff;
	memcpy(record + 42, &half, 2);
	memcpy(record + 44, &str, 4);
	memcpy(record + 48, ip6, 16);
	memcpy(record + 64, &ptr, 8);
	memcpy(record + 72, &nums, 4);
	memcpy(record + 76, list, 8);
	memcpy(record + 84, "hello", 6);
	memcpy(record + 96, numbers, 16);
	record_len = 112;
}

static bool symbol(const void *arg, uint64_t address, char how, struct out *out)
{
	(void)arg;
	if (address != 0xffff888012345678)
		return false;
	out_str(out, how == 's' ? "name" : "name+0x8/0x10");
	return true;
}

static const char *string(const void *arg, uint64_t address)
{
	(void)arg;
	return address == 0xffff888012345678 ? "mapped" : NULL;
}

static char printed[8192];
/* What the last program said of its format, which is gone then. */
static char note_copy[300];

/* Compiles a print fmt and prints the record with it, whose numbers have this machine's byte order or the other one. */
static const char *print_in(const char *print_fmt, bool swap, bool hash, const char **note)
{
	struct schema_abi abi = { .long_size = 8, .big_endian = HOST_BIG_ENDIAN != swap, .swap = swap, .hz = 250 };
	struct program_env env = { .symbol = symbol, .string = string, .hash_pointers = hash };
	const struct format *format;
	struct schema *schema = NULL;
	static char text[sizeof(fields) + 8192];
	struct out out;
	int len = snprintf(text, sizeof(text), "%s%s\n", fields, print_fmt);

	*note = "no schema";
	if (schema_new(&abi, &schema, NULL) || schema_add(schema, "test", 4, text, (size_t)len, NULL))
		return "";
	format = schema_format(schema, 9, note);
	if (!format || !out_init(&out, 4096))
		return "";
	program_run(schema_program(schema, format, note), &env, record, record_len, &out);
	out_char(&out, 0);
	snprintf(printed, sizeof(printed), "%s", out.start);
	out_release(&out);
	snprintf(note_copy, sizeof(note_copy), "%s", *note ? *note : "");
	schema_free(schema);
	return printed;
}

static const char *print_with(const char *print_fmt, bool hash, const char **note)
{
	return print_in(print_fmt, false, hash, note);
}

static const char *print(const char *print_fmt)
{
	const char *note;

	fill();
	return print_with(print_fmt, false, &note);
}

TEST(program_prints_integers_by_their_conversion)
{
	CHECK_STR(print("\"%d %u %x %o|%i\", REC->minus, REC->minus, REC->minus, REC->half, REC->small"),
		  "-5 4294967291 fffffffb 764|-1");
	CHECK_STR(print("\"%lu %llx %Lx %zd %hhu %hd %hx\", REC->wide, REC->wide, REC->wide, REC->wide, REC->half, "
			"REC->word, REC->minus"),
		  "1311768467463790320 123456789abcdef0 123456789abcdef0 1311768467463790320 244 -2 fffb");
	CHECK_STR(
		print("\"[%5d|%-5d|%05d|%+d|% d|%.4d|%5.3d]\", REC->half, REC->half, REC->minus, REC->half, REC->half, "
		      "REC->half, REC->half"),
		"[  500|500  |-0005|+500| 500|0500|  500]");
	CHECK_STR(print("\"[%#x|%#o|%#x|%08lx|%-8x|%X|%016llx|%3x]\", REC->half, REC->half, 0, REC->half, REC->half, "
			"REC->half, REC->wide, REC->word"),
		  "[0x1f4|0764|0x0|000001f4|1f4     |1F4|123456789abcdef0|fffffffe]");
	CHECK_STR(print("\"[%03d|%03d|%02d|%016d|%012lld|%03u]\", REC->half, REC->small, REC->minus, REC->minus, "
			"REC->wide, REC->small"),
		  "[500|-01|-5|-000000000000005|1311768467463790320|4294967295]");
	CHECK_STR(print("\"%c%c%3c|%-3c|%%\", 'a', REC->list[0] + 60, 'z', 'y'"), "aC  z|y  |%");
	CHECK_STR(print("\"%0*llx|%*d|%-*d|%*d|\", (int)8 * 2, REC->wide >> 32, 4, 7, 4, 7, -4, 7"),
		  "0000000012345678|   7|7   |7   |");
}

/* What the C library prints, where the kernel prints the same: not for a precision with zeros or an octal's prefix. */
TEST(program_prints_numbers_as_printf_does)
{
	static const char *const flags[] = { "", "-", "0", "+", " ", "-+", "0+", "0 ", "#", "#-", "#0" },
				 *const widths[] = { "", "1", "2", "7", "16", "17", "25" },
				 *const precisions[] = { "", ".1", ".2", ".9", ".17" },
				 *const conversions[] = { "d", "u", "x", "X", "o" };
	static const struct {
		const char *name;
		uint64_t value;
		const char *length;
	} values[] = {
		{ "minus", (uint64_t)-5, "" }, { "word", 0xfffffffe, "" }, { "wide", 0x123456789abcdef0, "ll" },
		{ "small", (uint64_t)-1, "" }, { "byte", 200, "" },        { "half", 500, "" },
	};
	char fmt[4096], args[4096], want[4096], one[32], got[64];

	for (size_t i = 0; i < array_size(flags) * array_size(values); i++) {
		const char *flag = flags[i % array_size(flags)];
		size_t value = i / array_size(flags), at = 0, end = 0, said = 0;

		for (size_t j = 0; j < array_size(widths) * array_size(precisions) * array_size(conversions); j++) {
			const char *conversion = conversions[j % array_size(conversions)],
				   *width = widths[j / array_size(conversions) % array_size(widths)],
				   *precision = precisions[j / array_size(conversions) / array_size(widths)];

			if (*precision && (strchr(flag, '0') || (strchr(flag, '#') && *conversion == 'o')))
				continue;
			snprintf(one, sizeof(one), "%%%s%s%s%s%s", flag, width, precision, values[value].length,
				 conversion);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			if (*values[value].length)
				snprintf(got, sizeof(got), one, (unsigned long long)values[value].value);
			else
				snprintf(got, sizeof(got), one, (unsigned)values[value].value);
#pragma GCC diagnostic pop
			at += (size_t)snprintf(fmt + at, sizeof(fmt) - at, "%s|", one);
			end += (size_t)snprintf(args + end, sizeof(args) - end, ", REC->%s", values[value].name);
			said += (size_t)snprintf(want + said, sizeof(want) - said, "%s|", got);
			if (end > sizeof(args) / 2 || at > sizeof(fmt) / 2 || j > 170) {
				char whole[sizeof(fmt) + sizeof(args) + 8];

				snprintf(whole, sizeof(whole), "\"%s\"%s", fmt, args);
				CHECK_STR(print(whole), want);
				at = end = said = 0;
			}
		}
	}
}

/* The compiler of this test has the same opinion of types, signs and precedence. */
TEST(program_computes_constants_as_the_compiler_does)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wtype-limits"
#define OF(expr)                                                      \
	{                                                             \
		"\"%lld\", (long long)(" #expr ")", (long long)(expr) \
	}
	static const struct {
		const char *print_fmt;
		long long want;
	} rows[] = {
		OF(0x7fffffff > -1),
		OF(0x80000000 > -1),
		OF(0xffffffff > -1),
		OF(0x100000000 > -1),
		OF(0x7fffffffffffffff > -1),
		OF(0x8000000000000000 > -1),
		OF(2147483647 > -1),
		OF(2147483648 > -1),
		OF(4294967295 > -1),
		OF(4294967296 > -1),
		OF(1u > -1),
		OF(1l > -1),
		OF(1ul > -1),
		OF(1ll > -1),
		OF(1ull > -1),
		OF(4294967295u > -1),
		OF(4294967296u > -1),
		OF(0x80000000 / -2),
		OF(-1 >> 1),
		OF(-1u >> 1),
		OF(-1ul >> 1),
		OF(~0),
		OF(~0u),
		OF(~0ul),
		OF(-2147483647 - 1),
		OF((unsigned char)300),
		OF((signed char)200),
		OF((short)0x8000),
		OF((unsigned short)0x18000),
		OF((int)0xffffffff),
		OF((unsigned int)-1),
		OF((long long)-1),
		OF(7 / -2),
		OF(-7 % 3),
		OF(7u / 2),
		OF(5 & 3 | 4 ^ 1),
		OF(1 | 2 & 4 << 1),
		OF(1 + 2 * 3 - 4),
		OF(10 - 3 - 2),
		OF(100 / 10 / 5),
		OF(1 << 2 << 3),
		OF(1 < 2 == 1),
		OF(1 == 2 != 1),
		OF(!5),
		OF(!!7),
		OF(-!0),
		OF(1 ? 2 : 3),
		OF(0 ? 2 :
		   1 ? 3 :
		       4),
		OF((1 ? -1 : 0u) > 0),
		OF(0 && 1 || 1),
		OF(1 || 0 && 0),
		OF(2 && 3),
		OF(-3 < -2),
		OF(-3 < 2u),
		OF(3 >= 3),
		OF(3 > 3),
		OF(3 <= 2),
		OF(010 + 0x10),
		OF('a' + 1),
		OF(sizeof(int)),
		OF(sizeof(long)),
		OF(0x1ffffffff & 0xffffffff),
	};
#pragma GCC diagnostic pop

	for (size_t i = 0; i < array_size(rows); i++) {
		char want[32];

		snprintf(want, sizeof(want), "%lld", rows[i].want);
		if (!CHECK(!strcmp(print(rows[i].print_fmt), want)))
			fprintf(stderr, "%s: %s, not %s\n", rows[i].print_fmt, print(rows[i].print_fmt), want);
	}
#undef OF
}

static void swap_bytes(uint8_t *at, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		uint8_t byte = at[i];

		at[i] = at[size - 1 - i];
		at[size - 1 - i] = byte;
	}
}

TEST(program_prints_the_same_of_a_record_in_the_other_byte_order)
{
	static const struct {
		uint8_t offset, size;
	} numbers[] = { { 0, 2 },  { 4, 4 },  { 24, 4 }, { 28, 4 }, { 32, 8 }, { 42, 2 }, { 44, 4 },
			{ 64, 8 }, { 72, 4 }, { 76, 4 }, { 80, 4 }, { 96, 8 }, { 104, 8 } };
	static const char *const rows[] = {
		"\"%d %u %x|%04d|%08x\", REC->minus, REC->word, REC->word, REC->minus, REC->half",
		"\"%llx %llu %lld|%016llx\", REC->wide, REC->wide, REC->wide, REC->wide",
		"\"%d %d %d %x\", REC->byte, REC->small, REC->half, REC->half",
		"\"%s|%s\", REC->comm, __get_str(str)",
		"\"%s\", __print_array(__get_dynamic_array(nums), 2, 8)",
		"\"%s\", __print_array(REC->list, 2, 4)",
		"\"%u %llu\", REC->list[1], ((u64 *)__get_dynamic_array(nums))[1]",
		"\"%s\", __print_symbolic(REC->half, { 500, \"named\" }, { 62465, \"other\" })",
		"\"%s\", __print_flags(REC->word, \"|\", { 2, \"b\" }, { 4, \"c\" }, { 0x80000000, \"z\" })",
		"\"%d\", REC->half + REC->minus * 2 - (REC->wide >> 60)",
		"\"%d\", REC->half == 500 && REC->minus < 0 && REC->word > 5",
		"\"%pS|%ps|%p\", REC->ptr, REC->ptr, REC->ptr",
		"\"%pI6c|%*phC\", REC->addr, 4, REC->addr",
		"\"%d\", __get_dynamic_array_len(nums)",
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		const char *note;
		char want[256];

		snprintf(want, sizeof(want), "%s", print(rows[i]));
		CHECK(*want);
		for (size_t j = 0; j < array_size(numbers); j++)
			swap_bytes(record + numbers[j].offset, numbers[j].size);
		CHECK_STR(print_in(rows[i], true, false, &note), want);
		CHECK(!note);
	}
}

TEST(program_prints_strings_up_to_their_end)
{
	CHECK_STR(print("\"%s %s %s\", REC->comm, __get_str(str), \"lit\" \"eral\""), "bash hello literal");
	CHECK_STR(
		print("\"[%8s|%-8s|%.2s|%6.3s|%.*s]\", REC->comm, __get_str(str), REC->comm, REC->comm, 3, REC->comm"),
		"[    bash|hello   |ba|   bas|bas]");
	CHECK_STR(print("\"[%.*s|%.*s]\", REC->minus, REC->comm, 0, REC->comm"), "[bash|]");
	CHECK_STR(print("\"%s\", (char *)((void *)REC + (REC->__data_loc_str & 0xffff))"), "hello");
	CHECK_STR(print("\"%s%s\", __get_str(str)[0] ? \"yes\" : \"no\", REC->byte == 200 ? \"\" : \"no\""), "yes");
	CHECK_STR(print("\"%s\", REC->ptr"), "mapped");
	CHECK_STR(print("\"%s %s|%s|%s|\", REC->half ? \"some\" : \"none\", REC->list[0] & 8 ? \"8\" : \"\", "
			"REC->half & 0x100 ? \"+\" : \"\", REC->half & 0x200 ? \"+\" : \"-\""),
		  "some |+|-|");
	CHECK_STR(print("\"%s %s %s\", REC->small & 0x100 ? \"sign\" : \"none\", REC->byte & 0x100 ? \"sign\" : "
			"\"none\", REC->half & 4 ? \"longer than sixteen characters\" : \"x\""),
		  "sign none longer than sixteen characters");
	CHECK_STR(print("\"%s and a literal of more than sixteen characters %s\", REC->byte ? \"sixteen letters.\" : "
			"\"\", REC->comm"),
		  "sixteen letters. and a literal of more than sixteen characters bash");
}

TEST(program_computes_as_c_does)
{
	CHECK_STR(print("\"%d\", REC->word > REC->minus"), "1");
	CHECK_STR(print("\"%d\", REC->small < REC->byte"), "1");
	CHECK_STR(print("\"%d %d %lld\", 7 / 2, -7 / 2, -7 % 3"), "3 -3 -1");
	CHECK_STR(print("\"%u\", (unsigned)REC->minus / 2"), "2147483645");
	CHECK_STR(print("\"%d,%d\", ((unsigned int) ((REC->word) >> 20)), ((unsigned int) "
			"((REC->word) & ((1U << 20) - 1)))"),
		  "4095,1048574");
	CHECK_STR(print("\"%lx %x %lx\", ~0UL, ~0, (unsigned long)~0"), "ffffffffffffffff ffffffff ffffffffffffffff");
	CHECK_STR(print("\"%lx\", ((u64)(REC)->half << 32) | (REC)->word"), "1f4fffffffe");
	CHECK_STR(print("\"%d\", ({ int a = (REC->half); int b = (128); ((a) < (b) ? (a) : (b)); })"), "128");
	CHECK_STR(print("\"%zu %zu %zu\", sizeof(u64), sizeof(REC->addr), sizeof(unsigned int)"), "8 16 4");
	CHECK_STR(print("\"%d %d %d\", 1 / 0, REC->half % (REC->byte - 200), !REC->byte"), "0 0 0");
	CHECK_STR(print("\"%u\", jiffies_to_msecs(REC->half)"), "2000");
	CHECK_STR(print("\"%d\", REC->list[1] + REC->list[5]"), "9");
	CHECK_STR(print("\"%d %d\", (u8)300, (s8)200"), "44 -56");
	CHECK_STR(print("\"%llu.%09u\", __print_ns_to_secs(3000000007ULL), __print_ns_without_secs(3000000007ULL)"),
		  "3.000000007");
}

TEST(program_names_flags_and_symbols_as_the_kernel_does)
{
	CHECK_STR(print("\"%s\", __print_flags(REC->half, \"|\", { 4, \"A\" }, { 0x10, \"B\" }, { 8, \"C\" })"),
		  "A|B|0x1e0");
	CHECK_STR(print("\"[%s]\", __print_flags(0, \"|\", { 0, \"none\" }, { 1, \"A\" })"), "[]");
	CHECK_STR(print("\"%s\", __print_flags(3, \"\", { 1, \"a\" }, { 2, \"b\" })"), "ab");
	CHECK_STR(print("\"%s %s\", __print_symbolic(REC->byte, { 1, \"one\" }, { 200, "
			"\"two\" }), __print_symbolic(5, { 1, \"x\" })"),
		  "two 0x5");
	CHECK_STR(print("\"%6s|\", __print_symbolic(REC->small, { -1, \"neg\" })"), "   neg|");
	CHECK_STR(print("\"%s\", __print_symbolic(7, { 0, \"a\" }, { 1, \"b\" }, { 2, \"c\" }, { 3, \"d\" }, { 7, "
			"\"h\" }, { 7, \"i\" }, { 900, \"j\" })"),
		  "h");
	CHECK_STR(print("\"%s\", __print_symbolic(0, { 0, \"\" })"), "0x0");
}

/* The name that a print fmt gives to this value of a field; "-": it gives none. */
static const char *named(const char *print_fmt, const char *field, uint64_t value)
{
	struct schema_abi abi = { .long_size = 8, .big_endian = HOST_BIG_ENDIAN, .hz = 250 };
	struct program_env env = { .symbol = symbol };
	const struct format *format;
	struct value_names *names = NULL;
	struct schema *schema = NULL;
	static char text[sizeof(fields) + 8192];
	const char *name;
	size_t name_len;
	int len = snprintf(text, sizeof(text), "%s%s\n", fields, print_fmt);

	snprintf(printed, sizeof(printed), "-");
	if (CHECK(!schema_new(&abi, &schema, NULL) && !schema_add(schema, "test", 4, text, (size_t)len, NULL))) {
		format = schema_format(schema, 9, NULL);
		CHECK(!value_names_new(&abi, &env, format, format_field(format, field), &names, NULL));
		if (names && value_names_find(names, value, &name, &name_len))
			snprintf(printed, sizeof(printed), "%.*s", (int)name_len, name);
	}
	value_names_free(names);
	schema_free(schema);
	return printed;
}

TEST(program_gives_names_to_the_values_of_one_field)
{
	static const char reasons[] =
		"\"at=%p reason: %s\", REC->ptr, __print_symbolic(REC->word, { 2, \"NOT, (SPECIFIED\" }, "
		"{ 3, \"NO_SOCKET\" })";
	static const char state[] =
		"\"%s%s of %s\", (REC->half & 0xff) ? __print_flags(REC->half & 0xff, \"|\", { 1, \"S\" }, "
		"{ 2, \"D\" }) : \"R\", REC->half & 0x100 ? \"+\" : \"\", REC->comm";
	static const char two[] = "\"%s\", __print_symbolic(REC->byte + REC->small, { 2, \"two\" })";

	CHECK_STR(named(reasons, "word", 2), "NOT, (SPECIFIED");
	CHECK_STR(named(reasons, "word", 3), "NO_SOCKET");
	CHECK_STR(named(reasons, "word", 4), "-");
	CHECK_STR(named(reasons, "ptr", 2), "-");
	CHECK_STR(named(reasons, "comm", 2), "-");
	CHECK_STR(named(state, "half", 0x100), "R+");
	CHECK_STR(named(state, "half", 3), "S|D");
	CHECK_STR(named(state, "half", 4), "-");
	CHECK_STR(named(two, "byte", 2), "-");
}

/* A precision that cuts nothing keeps a text from being made for each value beforehand. */
TEST(program_names_every_value_of_a_field_as_it_names_one)
{
	static const char *const texts[] = {
		"__print_flags(REC->half, \"|\", { 1, \"A\" }, { 2, \"B\" }, { 0x300, \"CD\" })",
		"__print_symbolic(REC->half, { 0, \"none\" }, { 7, \"a name longer than most\" }, { 255, \"last\" }, "
		"{ 300, \"more\" })",
		"(REC->half & 0xff) ? __print_flags(REC->half & 0xff, \"|\", { 1, \"S\" }, { 2, \"D\" }, "
		"{ 64, \"P\" }) : \"R\"",
		"REC->half & 0x100 ? \"+\" : \"\"",
		"__print_symbolic(REC->half >> 4, { 1, \"one\" }, { 2, \"two\" }, { 31, \"31\" })",
		"REC->half > 200 ? REC->half > 300 ? \"large\" : \"larger\" : REC->byte ? \"small\" : \"none\"",
		"__print_symbolic(REC->small, { -1, \"neg\" }, { 5, \"five\" }, { -128, \"least\" })",
		"REC->small < 0 ? \"negative\" : \"not\"",
	};
	char quick[200], slow[200], want[64];
	const char *note;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		snprintf(quick, sizeof(quick), "\"<%%s>\", %s", texts[i]);
		snprintf(slow, sizeof(slow), "\"<%%.99s>\", %s", texts[i]);
		for (uint16_t half = 0; half < 600; half = (uint16_t)(half + (half < 20 ? 1 : 5))) {
			fill();
			memcpy(record + 42, &half, 2);
			record[41] = (uint8_t)half;
			snprintf(want, sizeof(want), "%s", print_with(slow, false, &note));
			CHECK_STR(print_with(quick, false, &note), want);
		}
	}
}

TEST(program_prints_text_between_fields_at_every_length)
{
	char print_fmt[400], want[400], text[101] = "";

	for (int len = 0; len < 100; len++) {
		snprintf(print_fmt, sizeof(print_fmt), "\"%s%%d%s%%s%s\", REC->half, REC->comm", text, text, text);
		snprintf(want, sizeof(want), "%s500%sbash%s", text, text, text);
		CHECK_STR(print(print_fmt), want);
		snprintf(print_fmt, sizeof(print_fmt), "\"%s\"", text);
		CHECK_STR(print(print_fmt), text);
		text[len] = (char)('a' + len % 26);
	}
}

TEST(program_prints_a_dynamic_string_of_every_length)
{
	const char *note;

	/* A text in the middle of the record, and one that ends with it. */
	for (uint32_t len = 0; len <= 24; len++) {
		for (uint32_t more = 0; more <= 24; more += 4) {
			uint32_t where = 80 | len << 16;
			char want[64] = "";

			fill();
			memset(record + 80, 'x', sizeof(record) - 80);
			memset(want, 'x', len);
			memcpy(record + 44, &where, 4);
			record_len = 80 + len + more < 84 ? 84 : 80 + len + more;
			CHECK_STR(print_with("\"%s\", __get_str(str)", false, &note), want);
			if (len < 3)
				continue;
			record[82] = 0;
			CHECK_STR(print_with("\"%s|%d\", __get_str(str), REC->half", false, &note), "xx|500");
		}
	}
}

TEST(program_prints_arrays_and_bytes)
{
	CHECK_STR(print("\"%s\", __print_array(__get_dynamic_array(nums), "
			"__get_dynamic_array_len(nums) / sizeof(u64), sizeof(u64))"),
		  "{0x1,0xff}");
	CHECK_STR(print("\"%s %s\", __print_hex(REC->addr, 4), __print_hex_str(REC->addr, 4)"), "fe 80 00 00 fe800000");
	CHECK_STR(print("\"%*ph|%*phC|%*phN\", 3, REC->addr, 2, REC->addr, 2, REC->addr"), "fe 80 00|fe:80|fe80");
	CHECK_STR(print("\"%s\", __get_bitmask(nums)"), "00000000,000000ff,00000000,00000001");
	CHECK_STR(print("\"%*pbl|%*pb\", 64, REC->list, 36, REC->list"),
		  HOST_BIG_ENDIAN ? "0,3,32-34|7,00000009" : "0-2,32,35|9,00000007");
	CHECK_STR(print("\"%s\", __print_dynamic_array(nums, sizeof(u64))"), "{0x1,0xff}");
}

/* Documentation/core-api/printk-formats.rst, and the names that a kernel's image holds: "-ENOENT". */
TEST(program_prints_error_pointers_as_errname_names_them)
{
	const char *note;

	CHECK_STR(print("\"%pe|%10pe|%-9pe|\", (void *)-2, (void *)-2, (void *)-5"), "-ENOENT|   -ENOENT|-EIO     |");
	CHECK_STR(print("\"%pe %pe %pe\", (void *)-110, (void *)-517, (void *)-1000"),
		  "-ETIMEDOUT -EPROBE_DEFER -1000");
	CHECK_STR(print_with("\"%pe\", REC->ptr", true, &note), "(____ptrval____)");
}

TEST(program_prints_pointers_as_their_extension_says)
{
	const char *note;

	CHECK_STR(print("\"%p %px %ps %pS %pK\", REC->ptr, REC->ptr, REC->ptr, REC->ptr, (void *)0"),
		  "ffff888012345678 ffff888012345678 name name+0x8/0x10 0000000000000000");
	CHECK_STR(print("\"%ps\", (void *)REC->wide"), "0x123456789abcdef0");
	CHECK_STR(print("\"%pI4 %pI6 %pI6c %pM\", REC->addr, REC->addr, REC->addr, REC->addr"),
		  "254.128.0.0 fe80:0000:0000:0000:0200:00ff:fe00:0001 fe80::200:ff:fe00:1 fe:80:00:00:00:00");
	CHECK_STR(print("\"%pU %pUl %pUB\", REC->addr, REC->addr, REC->addr"),
		  "fe800000-0000-0000-0200-00fffe000001 000080fe-0000-0000-0200-00fffe000001 "
		  "FE800000-0000-0000-0200-00FFFE000001");
	fill();
	CHECK_STR(print_with("\"%p %p\", REC->ptr, (void *)0", true, &note), "(____ptrval____) 0000000000000000");
}

TEST(program_takes_what_a_short_record_lacks_as_zero)
{
	const char *note;

	fill();
	record_len = 26;
	CHECK_STR(print_with("\"%s %u %s|\", REC->comm, REC->half, __get_str(str)", false, &note), "bash 0 |");
	record_len = 0;
	CHECK_STR(print_with("\"%s %u\", REC->comm, REC->half", false, &note), " 0");
}

TEST(program_prints_a_dynamic_field_outside_the_record_as_empty)
{
	const char *note;

	fill();
	record_len = 88;
	CHECK_STR(print_with("\"[%s] %s\", __get_str(str), __print_array(__get_dynamic_array(nums), 2, 8)", false,
			     &note),
		  "[] {}");
}

TEST(program_reads_a_format_whose_text_has_quotes_and_newlines)
{
	CHECK_STR(print("\"say \"%s\", %d\n\", REC->comm, REC->half"), "say \"bash\", 500\n");
	CHECK_STR(print("\"a\\tb\" \"c %d\", 1"), "a\tbc 1");
}

TEST(program_prints_a_question_mark_for_what_depended_on_the_time_of_printing)
{
	CHECK_STR(print("\"age=%lu %d\", (jiffies - REC->wide) / 250, 5"), "age=? 5");
}

TEST(program_prints_fields_when_nothing_else_can)
{
	const char *note;

	fill();
	CHECK(strstr(print_with("\"%s\", no_such_helper(REC->comm)", false, &note),
		     " comm=bash minus=0xfffffffb (-5)"));
	CHECK(note);
}

/* Each reason is told, and the fields are printed instead of the text. */
TEST(program_that_cannot_be_made_says_why)
{
	static const struct {
		const char *print_fmt, *why;
	} rows[] = {
		{ "REC->word", "it does not begin with a text" },
		{ "", "it does not begin with a text" },
		{ "\"%d", "its text does not end" },
		{ "\"%d\\\"", "its text does not end" },
		{ "\"%d\"", "it has fewer arguments than its format asks for" },
		{ "\"%d\", ", "it ends too early" },
		{ "\"%d\", )", "')' is not expected" },
		{ "\"%d\", REC->word REC->half", "'REC' is not expected" },
		{ "\"%d\", REC->nothing", "there is no field 'nothing'" },
		{ "\"%d\", REC->", "it ends too early" },
		{ "\"%s\", no_such(REC->comm)", "the function 'no_such' is not known" },
		{ "\"%d\", NO_SUCH", "the value of 'NO_SUCH' is unknown" },
		{ "\"%d\", sizeof(struct nothing)", "it asks for the size of an unknown type" },
		{ "\"%d\", __get_dynamic_array_len(word)", "field 'word' is not dynamic" },
		{ "\"%s\", __get_str(nothing)", "there is no field 'nothing'" },
		{ "\"%s\", __get_str(comm)", "field 'comm' is not dynamic" },
		{ "\"%d\", *(u64 *)REC->wide", "it reads memory outside the record" },
		{ "\"%d\", \"text\"", "it prints a text as a number" },
		{ "\"%d\", REC->word + \"a\"", "it computes with a value that is not a number" },
		{ "\"%d\", -\"a\"", "it computes with a value that is not a number" },
		{ "\"%s\", __print_symbolic(REC->comm, { 1, \"a\" })", "it looks up a value that is not a number" },
		{ "\"%s\", __print_symbolic(REC->word, { REC->half, \"a\" })", "a table entry is not constant" },
		{ "\"%s\", __print_flags(REC->word, REC->comm, { 1, \"a\" })", "a delimiter is not constant" },
		{ "\"%d\", REC->word ? 1", "it ends too early" },
		{ "\"%d\", (REC->word", "it ends too early" },
		{ "\"%d\", REC->list[", "it ends too early" },
		{ "\"%*d\", REC->word", "it has fewer arguments than its format asks for" },
		{ "\"%d\", REC->word @ 2", "'@' is not expected" },
	};

	fill();
	for (size_t i = 0; i < array_size(rows); i++) {
		const char *note, *text = print_with(rows[i].print_fmt, false, &note);
		char want[200];

		snprintf(want, sizeof(want), "its print fmt cannot be compiled: %s", rows[i].why);
		if (CHECK(note)) {
			CHECK_STR(note_copy, want);
			CHECK(!strncmp(text, " comm=bash minus=", 17));
		} else {
			fprintf(stderr, "%s: %s\n", rows[i].print_fmt, text);
		}
	}
}

/* A nesting of 160 operators is the most; so a hostile format cannot use up the stack. */
TEST(program_is_nested_to_a_limit)
{
	static char print_fmt[4096];
	const char *note;

	fill();
	for (unsigned depth = 1; depth < 1000; depth = depth * 3 / 2 + 1) {
		size_t len = (size_t)snprintf(print_fmt, sizeof(print_fmt), "\"%%d\", ");

		for (unsigned i = 0; i < depth; i++)
			print_fmt[len++] = '~';
		print_fmt[len++] = '5';
		print_fmt[len] = '\0';
		if (depth < 150) {
			CHECK_STR(print_with(print_fmt, false, &note), depth % 2 ? "-6" : "5");
			CHECK(!note);
		} else if (depth > 170) {
			CHECK(!strncmp(print_with(print_fmt, false, &note), " comm=bash", 10));
			CHECK_STR(note_copy, "its print fmt cannot be compiled: it is nested too deeply");
		}
	}
}

/* The bytes of numbers, and two adjacent numbers read as one. */
#if HOST_BIG_ENDIAN
#define NUMS_AND_LIST " nums=00,00,00,00,00,00,00,01,00,00,00,00,00,00,00,ff list=0x700000009 (30064771081)"
#else
#define NUMS_AND_LIST " nums=01,00,00,00,00,00,00,00,ff,00,00,00,00,00,00,00 list=0x900000007 (38654705671)"
#endif

TEST(program_prints_fields_as_the_fields_option_does)
{
	struct schema_abi abi = { .long_size = 8, .big_endian = HOST_BIG_ENDIAN };
	struct program_env env = { .symbol = symbol };
	struct schema *schema = NULL;
	struct out out;

	fill();
	REQUIRE(!schema_new(&abi, &schema, NULL) && !schema_add(schema, "t", 1, fields, strlen(fields), NULL));
	REQUIRE(out_init(&out, 4096));
	program_fields(schema_abi(schema), schema_format(schema, 9, NULL), &env, record, record_len, &out);
	out_char(&out, 0);
	CHECK_STR(out.start,
		  " comm=bash minus=0xfffffffb (-5) word=0xfffffffe (-2) wide=0x123456789abcdef0 (1311768467463790320)"
		  " byte='\xc8'(200) small='\xff'(255) half=0x1f4 (500) str=hello addr=<INVALID-SIZE>"
		  " ptr=0xffff888012345678 (-131391334099336)" NUMS_AND_LIST);
	out_release(&out);
	schema_free(schema);
}

/*
 * print_fields() of 6.16 prints a value as large as a pointer by its symbol; that of 6.19 prints the bytes of a string
 * that is not printable.
 */
TEST(program_prints_fields_as_later_kernels_do)
{
	struct schema_abi abi = { .long_size = 8 };
	struct program_env env = { .symbol = symbol, .fields_symbols = true, .fields_printable = true };
	struct schema *schema = NULL;
	struct out out;

	fill();
	record[85] = 9;
	REQUIRE(!schema_new(&abi, &schema, NULL) && !schema_add(schema, "t", 1, fields, strlen(fields), NULL));
	REQUIRE(out_init(&out, 4096));
	program_fields(schema_abi(schema), schema_format(schema, 9, NULL), &env, record, record_len, &out);
	out_char(&out, 0);
	CHECK(strstr(out.start, " word=0xfffffffe (-2) wide=0x123456789abcdef0 (1311768467463790320)"));
	CHECK(strstr(out.start, " ptr=name+0x8/0x10 (-131391334099336)"));
	CHECK(strstr(out.start, " str=h.llo. (68:09:6c:6c:6f:00)"));
	out_release(&out);
	schema_free(schema);
}

/* A "char *" field holds where the kernel's string lies; that of another type is a number. */
TEST(program_prints_what_a_field_of_the_kernel_points_to)
{
	static const struct {
		const char *type, *text;
	} rows[] = {
		{ "char *", " it=(0xffff888012345678:mapped)" },
		{ "const char *", " it=(0xffff888012345678:mapped)" },
		{ "unsigned char *", " it=0xffff888012345678 (-131391334099336)" },
		{ "void *", " it=0xffff888012345678 (-131391334099336)" },
	};
	struct schema_abi abi = { .long_size = 8, .big_endian = HOST_BIG_ENDIAN };
	struct program_env env = { .string = string };
	uint64_t address = 0xffff888012345678;
	char text[160];

	for (size_t i = 0; i < array_size(rows); i++) {
		struct schema *schema = NULL;
		struct out out;

		snprintf(text, sizeof(text), "name: x\nID: 9\nformat:\n\tfield:%s it;\toffset:0;\tsize:8;\tsigned:0;\n",
			 rows[i].type);
		REQUIRE(!schema_new(&abi, &schema, NULL) && !schema_add(schema, "t", 1, text, strlen(text), NULL));
		REQUIRE(out_init(&out, 4096));
		program_fields(schema_abi(schema), schema_format(schema, 9, NULL), &env, (const uint8_t *)&address, 8,
			       &out);
		out_char(&out, 0);
		CHECK_STR(out.start, rows[i].text);
		out_release(&out);
		schema_free(schema);
	}
}

TEST(program_hashes_where_a_struct_page_lies_and_else_does_not_know_it)
{
	static const char *const bases[] = {
		"(((struct page *)vmemmap_base) + (REC->half))",
		"(vmemmap + (REC->half))",
		"(mem_map + ((REC->half) - (__pv_phys_pfn_offset)))",
		"((((struct page *)(-(1UL << 33))) - (memstart_addr >> 12)) + (REC->half))",
		"(((struct page *)((-1UL) << 38)) + ((REC->half) - (kernel_map.phys_addr >> 12)))",
		/* riscv64: VMEMMAP_START by the number of levels that the machine has, and two names of its start */
		"((((struct page *)((((-((((1UL))) << ((pgtable_l5_enabled ? 57 : (pgtable_l4_enabled ? 48 : 39)) - "
		"1))) - ((((1UL))) << 30))) - ((((1UL))) << 33))) - (phys_ram_base >> 12)) + (REC->half))",
		"(((struct page *)(((-(1UL << (satp_mode - 1))) - (1UL << 33))) - vmemmap_start_pfn) + (REC->half))",
		/* arm64: order_base_2(sizeof(struct page)) */
		"((((struct page *)(-((1UL)) << (vabits_actual - (12 - ( __builtin_constant_p(sizeof(struct page)) ? "
		"((sizeof(struct page)) < 2 ? 0 : 63 - __builtin_clzll(sizeof(struct page))) : __ilog2_u64(64)))))) - "
		"((s64)memstart_addr >> 12)) + (REC->half))",
	};
	static const char *const broken[] = {
		"\"page=%p\", (unheard_of(REC->half",
		"\"page=%d\", unheard_of",
		"\"page=%pS\", unheard_of",
		"\"%p %s\", REC->half, unheard_of",
	};
	char print_fmt[512];
	const char *note;

	fill();
	for (size_t i = 0; i < array_size(bases); i++) {
		snprintf(print_fmt, sizeof(print_fmt), "\"page=%%p %%d\", REC->half != -1UL ? %s : ((void *)0), 5",
			 bases[i]);
		CHECK_STR(print_with(print_fmt, true, &note), "page=(____ptrval____) 5");
		CHECK_STR(print_with(print_fmt, false, &note), "page=? 5");
		CHECK(!note);
		/* The kernel prints NULL as it is. */
		snprintf(print_fmt, sizeof(print_fmt), "\"page=%%p\", REC->half == -1UL ? %s : ((void *)0)", bases[i]);
		CHECK_STR(print_with(print_fmt, true, &note), "page=0000000000000000");
	}
	for (size_t i = 0; i < array_size(broken); i++) {
		(void)print_with(broken[i], true, &note);
		CHECK(note);
	}
}

TEST(program_unpacks_bprintf_words_by_their_alignment)
{
	struct schema_abi abi = { .long_size = 8, .swap = HOST_BIG_ENDIAN };
	struct program_env env = { .symbol = symbol };
	struct schema *schema = NULL;
	/*
	 * The arguments of "%c %d %s %lx %*d %pS %hd|%d": a byte, an int, a string, and so on. Each is aligned to its
	 * size, but 8 bytes to 4.
	 */
	static const uint8_t words[] = {
		'x', 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 'a',  'b',  0,    0,    0x34, 0x12, 0,    0,    0, 0, 0, 0, 5, 0,
		0,   0, 7, 0, 0,    0,    0x78, 0x56, 0x34, 0x12, 0x80, 0x88, 0xff, 0xff, 0xff, 0xff, 0, 0, 9, 0, 0, 0,
	};
	struct out out;

	REQUIRE(!schema_new(&abi, &schema, NULL) && out_init(&out, 4096));
	program_bprintf(schema, &env, "%c %d %s %lx %*d %pS %hd|%d%%%d\n", words, sizeof(words), &out);
	out_char(&out, 0);
	CHECK_STR(out.start, "x -2 ab 1234     7 name+0x8/0x10 -1|9%0\n");
	out_release(&out);
	schema_free(schema);
}

/* Documentation/core-api/printk-formats.rst of the kernel. */
TEST(program_prints_addresses_and_bytes_in_each_of_their_forms)
{
	CHECK_STR(print("\"%pMF %pMR %pm %pmR\", REC->addr, REC->addr, REC->addr, REC->addr"),
		  "fe-80-00-00-00-00 00:00:00:00:80:fe fe8000000000 0000000080fe");
	CHECK_STR(print("\"%pi4 %pI4l %pi6\", REC->addr, REC->addr, REC->addr"),
		  "254.128.000.000 0.0.128.254 fe80000000000000020000fffe000001");
	CHECK_STR(print("\"%*ph|%*phC|%*phD|%*phN\", 4, REC->addr, 4, REC->addr, 4, REC->addr, 4, REC->addr"),
		  "fe 80 00 00|fe:80:00:00|fe-80-00-00|fe800000");
	CHECK_STR(print("\"%pUL\", REC->addr"), "000080FE-0000-0000-0200-00FFFE000001");
	CHECK_STR(print("\"%*pE\", 5, REC->comm"), "bash\\x00");
}

/* A socket's address in place of the array: its family has this machine's byte order, its port the network's. */
static const char *print_socket(const char *print_fmt, uint16_t family, const char *rest)
{
	const char *note;

	fill();
	memcpy(record + 48, &family, 2);
	memcpy(record + 50, rest, 14);
	return print_with(print_fmt, false, &note);
}

TEST(program_prints_the_address_and_port_of_a_socket)
{
	static const char ip4[14] = "\x1f\x90\xc0\xa8\x00\x01", ip6[14] = "\x01\xbb\0\0\0\x07\x20\x01\x0d\xb8";

	CHECK_STR(print_socket("\"%pISp %piS\", REC->addr, REC->addr", 2, ip4), "192.168.0.1:8080 192.168.000.001");
	CHECK_STR(print_socket("\"%pISpc\", REC->addr", 10, ip6), "[2001:db8::]:443");
	CHECK_STR(print_socket("\"%pISf\", REC->addr", 10, ip6), "[2001:0db8:0000:0000:0000:0000:0000:0000]/7");
	CHECK_STR(print_socket("\"%pIS\", REC->addr", 1, ip4), "(einval)");
}

TEST(program_prints_the_letters_of_a_pixel_format)
{
	const uint32_t code = 0x32314742;
	const char *note;

	fill();
	memcpy(record + 28, &code, 4);
	CHECK_STR(print_with("\"%p4cc\", &REC->word", false, &note), "BG12 little-endian (0x32314742)");
}

/* An expression of C, its value, and how tightly its outermost operator binds. */
struct grown {
	char text[400];
	uint64_t value;
	bool is_signed, is_int; /* is_int: of a comparison, 32 bits */
	unsigned binds;
};

enum { BINDS_CHOICE = 0, BINDS_UNARY = 11, BINDS_ALONE = 12 };

static uint32_t dice(uint32_t *seed, uint32_t sides)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % sides;
}

static struct grown leaf(uint32_t *seed)
{
	static const struct grown leaves[] = {
		{ "REC->wide", 0x123456789abcdef0, false, false, BINDS_ALONE },
		{ "(s64)REC->minus", (uint64_t)-5, true, false, BINDS_UNARY },
		{ "(s64)REC->small", (uint64_t)-1, true, false, BINDS_UNARY },
		{ "(u64)REC->word", 0xfffffffe, false, false, BINDS_UNARY },
		{ "(s64)REC->byte", 200, true, false, BINDS_UNARY },
		{ "(u64)REC->half", 500, false, false, BINDS_UNARY },
		{ "REC->list[1]", 9, true, true, BINDS_ALONE }, /* u32: it is cast where that matters */
		{ "0ULL", 0, false, false, BINDS_ALONE },
		{ "1LL", 1, true, false, BINDS_ALONE },
		{ "0x7fLL", 127, true, false, BINDS_ALONE },
		{ "1000ULL", 1000, false, false, BINDS_ALONE },
	};

	return leaves[dice(seed, sizeof(leaves) / sizeof(leaves[0]))];
}

/* The text of a part, in brackets if it binds less than it has to; `wide`: with 64 bits. */
static const char *part_of(const struct grown *part, unsigned binds, bool wide, char *text, size_t size)
{
	if (wide && part->is_int)
		snprintf(text, size, "(s64)(%s)", part->text);
	else
		snprintf(text, size, part->binds < binds ? "(%s)" : "%s", part->text);
	return text;
}

static const struct {
	const char *sign;
	unsigned binds;
} binaries[] = {
	{ "*", 10 }, { "/", 10 }, { "%", 10 }, { "+", 9 }, { "-", 9 },  { "<<", 8 },
	{ ">>", 8 }, { "<", 7 },  { "<=", 7 }, { ">", 7 }, { ">=", 7 }, { "==", 6 },
	{ "!=", 6 }, { "&", 5 },  { "^", 4 },  { "|", 3 }, { "&&", 2 }, { "||", 1 },
};

/* The value as the compiler of the kernel has it: overflows wrap. False: C does not say. */
static bool compute(const char *sign, uint64_t a, uint64_t b, bool left_signed, bool is_signed, uint64_t *ret)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	if ((*sign == '/' || *sign == '%') && (!b || (is_signed && y == -1)))
		return false;
	if (!strcmp(sign, "<<") || !strcmp(sign, ">>")) {
		if (b > 63)
			return false;
		*ret = *sign == '<' ? a << b : left_signed ? (uint64_t)(x >> b) : a >> b;
		return true;
	}
	switch (*sign) {
	case '*':
		*ret = a * b;
		break;
	case '/':
		*ret = is_signed ? (uint64_t)(x / y) : a / b;
		break;
	case '%':
		*ret = is_signed ? (uint64_t)(x % y) : a % b;
		break;
	case '+':
		*ret = a + b;
		break;
	case '-':
		*ret = a - b;
		break;
	case '<':
		*ret = sign[1] ? (is_signed ? x <= y : a <= b) : is_signed ? x < y : a < b;
		break;
	case '>':
		*ret = sign[1] ? (is_signed ? x >= y : a >= b) : is_signed ? x > y : a > b;
		break;
	case '=':
		*ret = a == b;
		break;
	case '!':
		*ret = a != b;
		break;
	case '&':
		*ret = sign[1] ? a && b : a & b;
		break;
	case '|':
		*ret = sign[1] ? a || b : a | b;
		break;
	default:
		*ret = a ^ b;
	}
	return true;
}

static struct grown grow(uint32_t *seed, unsigned depth);

static struct grown grow_binary(uint32_t *seed, unsigned depth)
{
	struct grown a = grow(seed, depth - 1), b = grow(seed, depth - 1), made = a;
	size_t which = dice(seed, sizeof(binaries) / sizeof(binaries[0]));
	const char *sign = binaries[which].sign;
	unsigned binds = binaries[which].binds;
	bool logical = !strcmp(sign, "&&") || !strcmp(sign, "||"), is_signed = a.is_signed && b.is_signed;
	char left[450], right[450];

	if (!compute(sign, a.value, b.value, a.is_signed, is_signed, &made.value))
		return a;
	part_of(&a, binds, !logical, left, sizeof(left));
	part_of(&b, binds + 1, !logical, right, sizeof(right));
	if (snprintf(made.text, sizeof(made.text), "%s %s %s", left, sign, right) >= (int)sizeof(made.text))
		return a;
	made.is_int = logical || binds == 6 || binds == 7;
	made.is_signed = binds == 8 ? a.is_signed : made.is_int || is_signed;
	made.binds = binds;
	return made;
}

static struct grown grow_other(uint32_t *seed, unsigned depth)
{
	static const char signs[] = "-~!";
	struct grown a = grow(seed, depth - 1), b, c, made = a;
	char one[450], two[450], three[450];

	if (dice(seed, 2)) {
		char sign = signs[dice(seed, 3)];

		if (snprintf(made.text, sizeof(made.text), "%c%s", sign,
			     part_of(&a, BINDS_ALONE, sign != '!', one, sizeof(one))) >= (int)sizeof(made.text))
			return a;
		made.value = sign == '-' ? 0 - a.value : sign == '~' ? ~a.value : !a.value;
		made.is_int = sign == '!';
		made.is_signed = made.is_int || a.is_signed;
		made.binds = BINDS_UNARY;
		return made;
	}
	b = grow(seed, depth - 1);
	c = grow(seed, depth - 1);
	if (snprintf(made.text, sizeof(made.text), "%s ? %s : %s",
		     part_of(&a, BINDS_CHOICE + 1, false, one, sizeof(one)),
		     part_of(&b, BINDS_CHOICE, true, two, sizeof(two)),
		     part_of(&c, BINDS_CHOICE, true, three, sizeof(three))) >= (int)sizeof(made.text))
		return a;
	made.value = a.value ? b.value : c.value;
	made.is_signed = b.is_signed && c.is_signed;
	made.is_int = false;
	made.binds = BINDS_CHOICE;
	return made;
}

static struct grown grow(uint32_t *seed, unsigned depth)
{
	if (!depth || !dice(seed, 5))
		return leaf(seed);
	return dice(seed, 4) ? grow_binary(seed, depth) : grow_other(seed, depth);
}

TEST(program_computes_any_expression_as_the_compiler_does)
{
	uint32_t seed = 1;

	for (unsigned i = 0; i < 4000; i++) {
		struct grown grown = grow(&seed, 1 + i % 4);
		char asked[500], want[32];

		snprintf(asked, sizeof(asked), grown.is_signed ? "\"%%lld\", (s64)(%s)" : "\"%%llu\", (u64)(%s)",
			 grown.text);
		snprintf(want, sizeof(want), grown.is_signed ? "%lld" : "%llu", (long long)grown.value);
		if (!test_check_str(print(asked), want, __FILE__, __LINE__)) {
			fprintf(stderr, "%s\n", asked);
			break;
		}
	}
}

/* lib/hexdump.c: hex_dump_to_buffer(), in the lines of seq_buf_hex_dump(). */
TEST(program_prints_a_dump_as_the_kernel_does)
{
	CHECK_STR(print("\"%s\", __print_hex_dump(\"p \", DUMP_PREFIX_NONE, 16, 1, REC->comm, 5, false)"),
		  "\np 62 61 73 68 00\n");
	CHECK_STR(print("\"%s\", __print_hex_dump(\"\", DUMP_PREFIX_OFFSET, 16, 1, REC->comm, 5, true)"),
		  "\n00000000: 62 61 73 68 00                                   bash.\n");
	CHECK_STR(print("\"%s\", __print_hex_dump(\"\", DUMP_PREFIX_OFFSET, 16, 1, REC->addr, 16, 1)"),
		  "\n00000000: fe 80 00 00 00 00 00 00 02 00 00 ff fe 00 00 01  ................\n");
	/* 6 bytes are no whole number of fours. */
	CHECK_STR(print("\"%s\", __print_hex_dump(\"\", DUMP_PREFIX_NONE, 16, 4, __get_dynamic_array(str), 6, true)"),
		  "\n68 65 6c 6c 6f 00                    hello.\n");
	CHECK_STR(
		print("\"%s\", __print_hex_dump(\"\", DUMP_PREFIX_NONE, 32, 32, __get_dynamic_array(nums), 99, false)"),
		HOST_BIG_ENDIAN ? "\n00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 ff\n" :
				  "\n01 00 00 00 00 00 00 00 ff 00 00 00 00 00 00 00\n");
	CHECK_STR(print("\"%s\", __print_hex_dump(\"\", "
			"DUMP_PREFIX_ADDRESS, 16, 8, __get_dynamic_array(nums), 16, false)"),
		  "\n0000000000000000: 0000000000000001 00000000000000ff\n");
	CHECK_STR(print("\"%s\", __print_hex_dump(\"\", DUMP_PREFIX_OFFSET, 16, 2, REC->list, 8, false)"),
		  HOST_BIG_ENDIAN ? "\n00000000: 0000 0007 0000 0009\n" : "\n00000000: 0007 0000 0009 0000\n");
}

TEST(program_calls_what_print_formats_call)
{
	CHECK_STR(print("\"%x %x %llx\", __builtin_bswap16(REC->half), __builtin_bswap32(REC->word), "
			"__builtin_bswap64(REC->wide)"),
		  "f401 feffffff f0debc9a78563412");
	CHECK_STR(print("\"%s %s %s %s %s\", mc_event_error_type(0), mc_event_error_type(1), mc_event_error_type(2), "
			"mc_event_error_type(3), mc_event_error_type(4)"),
		  "Corrected Uncorrected Deferred Fatal Info");
	CHECK_STR(print("\"%d %d\", __builtin_choose_expr(1, 5, 6), __builtin_choose_expr(0, REC->half, REC->minus)"),
		  "5 -5");
	CHECK_STR(print("\"%d %d %d\", __builtin_constant_p(7), __builtin_constant_p(REC->half), "
			"__builtin_expect(REC->half, 1)"),
		  "1 0 500");
	CHECK_STR(print("\"%lld %lld %lld\", ktime_to_ns(-2000001), ktime_to_us(-2000001), ktime_to_ms(-2000001)"),
		  "-2000001 -2000 -2");
	CHECK_STR(print("\"%llu.%09u\", __print_ns_to_secs(5000000042), __print_ns_without_secs(5000000042)"),
		  "5.000000042");
	CHECK_STR(print("\"%s\", \"\\x41\\101\\q\\\\\\\"\\x414\""), "AAq\\\"A4");
	CHECK_STR(print("\"%d %d %d %d\", '\\n', '\\0', '\\x7f', 'a'"), "10 0 127 97");
}

TEST(program_prints_a_text_that_fills_its_field)
{
	const char *note;

	fill();
	for (size_t len = 14; len <= 16; len++) {
		memset(record + 8, 'x', len);
		CHECK_STR(print_with("\"%s|\", REC->comm", false, &note), len == 14 ? "xxxxxxxxxxxxxx|" :
									  len == 15 ? "xxxxxxxxxxxxxxx|" :
										      "xxxxxxxxxxxxxxxx|");
	}
}

/* What a compiler says of a division by 0 is not known; the kernel never prints one. */
TEST(program_divides_by_what_a_record_has)
{
	fill();
	CHECK_STR(print("\"%d %d %d %d\", REC->minus / 2, REC->minus % 2, REC->minus / REC->small, "
			"REC->minus % REC->small"),
		  "-2 -1 5 0");
	CHECK_STR(print("\"%u %u %llu %llu\", REC->word / 2, REC->word % 10, REC->wide / 16, REC->wide % 256"),
		  "2147483647 4 81985529216486895 240");
	CHECK_STR(print("\"%d %d %u %u\", REC->minus / (REC->byte - 200), REC->minus % (REC->byte - 200), "
			"REC->word / (REC->word + 2), REC->word % (REC->word + 2)"),
		  "0 0 0 0");
	CHECK_STR(print("\"%lld %lld\", (long long)REC->minus / -1, (long long)REC->minus % -1"), "5 0");
}

TEST(program_takes_characters_as_c_does)
{
	CHECK_STR(print("\"100%% %c%c%d|%d|%d\", 'a', '\\101', '\\7', '\\n', '\\x41'"), "100% aA7|10|65");
	CHECK_STR(print("\"%5s|%-5s|%.2s|%c\", REC->comm, REC->comm, REC->comm, REC->byte - 100"), " bash|bash |ba|d");
}

/* Kernels before 5.2 print a null pointer as text. */
TEST(program_prints_a_null_pointer_as_the_kernel_of_its_time_does)
{
	static const char *const texts[] = { "\"%p|\", (void *)0", "\"%p|\", REC->nothing" };
	struct schema_abi abi = { .long_size = 8, .big_endian = HOST_BIG_ENDIAN };

	for (unsigned old = 0; old < 2; old++)
		for (unsigned hash = 0; hash < 2; hash++) {
			struct program_env env = { .symbol = symbol, .null_text = old, .hash_pointers = hash };
			char text[sizeof(fields) + 64];
			struct schema *schema = NULL;
			const struct format *format;
			const char *note = NULL;
			struct out out;
			int len = snprintf(text, sizeof(text), "%s%s\n", fields, texts[0]);

			REQUIRE(!schema_new(&abi, &schema, NULL) &&
				!schema_add(schema, "test", 4, text, (size_t)len, NULL) && out_init(&out, 64));
			format = schema_format(schema, 9, &note);
			REQUIRE(format);
			fill();
			program_run(schema_program(schema, format, &note), &env, record, record_len, &out);
			out_char(&out, 0);
			CHECK_STR(out.start, old ? "          (null)|" : "0000000000000000|");
			out_release(&out);
			schema_free(schema);
		}
}
