// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/ground/base/siphash.h"
#include "lib/meaning/schema/expr_internal.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/program.h"
#include "lib/meaning/schema/spec_internal.h"
#include "lib/meaning/schema/text_internal.h"
#include "tests/unit/test.h"

/*
 * What the kernel prints for %p and what follows it: Documentation/core-api/printk-formats.rst,
 * lib/tests/printf_kunit.c, and where it is the same, inet_ntop(3).
 */

static char printed[512];

struct as {
	uint8_t long_size;
	bool big_endian; /* the traced machine's order */
	struct program_env env;
};

static const struct as plain = { .long_size = 8, .big_endian = HOST_BIG_ENDIAN };

static struct schema_abi abi_of(const struct as *as)
{
	return (struct schema_abi){ .long_size = as->long_size,
				    .big_endian = as->big_endian,
				    .swap = as->big_endian != HOST_BIG_ENDIAN };
}

static const char *finish(struct out *out)
{
	out_char(out, 0);
	snprintf(printed, sizeof(printed), "%s", out->start);
	out_release(out);
	return printed;
}

/* `text` is what follows '%'. */
static struct spec spec_of(const char *text, uint8_t long_size)
{
	size_t len = strcspn(text, "?");
	const char *at = text;
	struct spec spec;

	spec_read(&spec, &at, text + len, long_size);
	CHECK(spec.kind == SPEC_POINTER && at == text + len);
	/* What the program makes of a pointer whose target is not known. */
	if (text[len])
		spec.how[0] = '?';
	return spec;
}

static const char *place_as(const struct as *as, const char *text, const void *bytes, size_t len)
{
	struct schema_abi abi = abi_of(as);
	struct run run = { .data = bytes, .len = len, .env = &as->env, .abi = &abi };
	struct spec spec = spec_of(text, as->long_size);
	struct out out;

	if (!CHECK(out_init(&out, 1024)))
		return "";
	spec_place(&spec, (struct place){ bytes, len }, &run, &out);
	return finish(&out);
}

static const char *value_as(const struct as *as, const char *text, uint64_t value)
{
	struct schema_abi abi = abi_of(as);
	struct run run = { .data = NULL, .env = &as->env, .abi = &abi };
	struct spec spec = spec_of(text, as->long_size);
	struct out out;

	if (!CHECK(out_init(&out, 1024)))
		return "";
	spec_pointer(&spec, value, &run, &out);
	return finish(&out);
}

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 8;
}

TEST(pointer_to_an_address_of_ipv6_is_printed_as_inet_ntop_does)
{
	uint64_t seed = 0x9e3779b97f4a7c15u;

	for (unsigned i = 0; i < 4000; i++) {
		uint8_t bytes[16] = { 0 };
		char want[64], whole[64];

		for (size_t at = 0; at < 16; at += 2) {
			if (next(&seed) % 2)
				continue;
			bytes[at] = (uint8_t)(next(&seed) % 3 ? next(&seed) : 0);
			bytes[at + 1] = (uint8_t)next(&seed);
		}
		if (i % 8 == 0) {
			memset(bytes, 0, 12);
			memset(bytes + 10, 0xff, 2);
		}
		/* Only glibc takes ::1.2.3.4 for an address of IPv4. */
		if (i % 8 && !memcmp(bytes, "\0\0\0\0\0\0\0\0\0\0\0\0", 12))
			continue;
		REQUIRE(inet_ntop(AF_INET6, bytes, want, sizeof(want)));
		CHECK_STR(place_as(&plain, "pI6c", bytes, 16), want);
		for (size_t at = 0; at < 8; at++)
			snprintf(whole + 5 * at, sizeof(whole) - 5 * at, "%02x%02x%s", bytes[2 * at], bytes[2 * at + 1],
				 at < 7 ? ":" : "");
		CHECK_STR(place_as(&plain, "pI6", bytes, 16), whole);
		REQUIRE(inet_ntop(AF_INET, bytes, want, sizeof(want)));
		CHECK_STR(place_as(&plain, "pI4", bytes, 16), want);
		CHECK_STR(place_as(&plain, "pI4b", bytes, 16), want);
		CHECK_STR(place_as(&plain, "pI4n", bytes, 16), want);
	}
}

TEST(pointer_to_bytes_is_printed_as_the_kernel_does)
{
	/* clang-format off */
	static const struct {
		const char *how, *bytes, *want;
		size_t len;
	} rows[] = {
		/* ipv6_addr_is_isatap(), and what is nearly one. */
		{ "pI6c", "\xfe\x80\0\0\0\0\0\0\0\0\x5e\xfe\x01\x02\x03\x04", "fe80::5efe:1.2.3.4", 16 },
		{ "pI6c", "\xfe\x80\0\0\0\0\0\0\x02\0\x5e\xfe\x01\x02\x03\x04", "fe80::200:5efe:1.2.3.4", 16 },
		{ "pI6c", "\xfe\x80\0\0\0\0\0\0\x04\0\x5e\xfe\x01\x02\x03\x04", "fe80::400:5efe:102:304", 16 },
		{ "pI6c", "\xfe\x80\0\0\0\0\0\0\x02\0\x5e\xff\x01\x02\x03\x04", "fe80::200:5eff:102:304", 16 },
		{ "pI6c", "\0\1\0\2\0\3\0\4\0\5\xff\xff\x01\x02\x03\x04", "1:2:3:4:5:ffff:102:304", 16 },
		{ "pI6c", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "::", 16 },
		{ "pI6c", "\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "1::", 16 },
		{ "pI6c", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", "::1", 16 },
		{ "pi6", "\0\1\0\2\0\3\0\4\0\5\xff\xff\x01\x02\x03\x04", "0001000200030004" "0005ffff01020304", 16 },
		{ "pi4", "\x7f\0\0\x01", "127.000.000.001", 4 },
		{ "pI4l", "\x7f\0\0\x01", "1.0.0.127", 4 },
		{ "pi4l", "\x7f\0\0\x01", "001.000.000.127", 4 },
		{ "pI5", "\x7f\0\0\x01", "(%pI?)", 4 },
		{ "pi5", "\x7f\0\0\x01", "(%pi?)", 4 },
		/* What is not there is 0. */
		{ "pI4", "\x7f\x01", "127.1.0.0", 2 },
		{ "pM", "\x2d\x48\xd6\xfc\x7a\x05", "2d:48:d6:fc:7a:05", 6 },
		{ "pMR", "\x2d\x48\xd6\xfc\x7a\x05", "05:7a:fc:d6:48:2d", 6 },
		{ "pMF", "\x2d\x48\xd6\xfc\x7a\x05", "2d-48-d6-fc-7a-05", 6 },
		{ "pm", "\x2d\x48\xd6\xfc\x7a\x05", "2d48d6fc7a05", 6 },
		{ "pmR", "\x2d\x48\xd6\xfc\x7a\x05", "057afcd6482d", 6 },
		{ "14pm", "\x2d\x48\xd6\xfc\x7a\x05", "  2d48d6fc7a05", 6 },
		{ "-14pm", "\x2d\x48\xd6\xfc\x7a\x05", "2d48d6fc7a05  ", 6 },
		{ "3ph", "\xc0\xff\xee\x01", "c0 ff ee", 4 },
		{ "3phC", "\xc0\xff\xee\x01", "c0:ff:ee", 4 },
		{ "3phD", "\xc0\xff\xee\x01", "c0-ff-ee", 4 },
		{ "3phN", "\xc0\xff\xee\x01", "c0ffee", 4 },
		{ "ph", "\xc0\xff\xee\x01", "c0", 4 },
		{ "0ph", "\xc0\xff\xee\x01", "c0", 4 },
		{ "6ph", "\xc0\xff\xee\x01", "c0 ff ee 01 00 00", 4 },
		{ "pUb", "\x7b\x1e\xd2\x34\x55\x34\x45\x45\x93\x4b\x46\xc9\x3b\x9a\xd2\x11",
		  "7b1ed234-5534-4545-934b-46c93b9ad211", 16 },
		{ "pUB", "\x7b\x1e\xd2\x34\x55\x34\x45\x45\x93\x4b\x46\xc9\x3b\x9a\xd2\x11",
		  "7B1ED234-5534-4545-934B-46C93B9AD211", 16 },
		{ "pUl", "\x7b\x1e\xd2\x34\x55\x34\x45\x45\x93\x4b\x46\xc9\x3b\x9a\xd2\x11",
		  "34d21e7b-3455-4545-934b-46c93b9ad211", 16 },
		{ "pUL", "\x7b\x1e\xd2\x34\x55\x34\x45\x45\x93\x4b\x46\xc9\x3b\x9a\xd2\x11",
		  "34D21E7B-3455-4545-934B-46C93B9AD211", 16 },
		/* struct sockaddr_in and sockaddr_in6 after their family, which is set below. */
		{ "pIS", "\2\0\x30\x39\x7f\0\0\x01", "127.0.0.1", 8 },
		{ "piS", "\2\0\x30\x39\x7f\0\0\x01", "127.000.000.001", 8 },
		{ "pISp", "\2\0\x30\x39\x7f\0\0\x01", "127.0.0.1:12345", 8 },
		{ "pISpc", "\2\0\x30\x39\x7f\0\0\x01", "127.0.0.1:12345", 8 },
		{ "pISl", "\2\0\x30\x39\x7f\0\0\x01", "1.0.0.127", 8 },
		{ "pISpl", "\2\0\x30\x39\x7f\0\0\x01", "1.0.0.127:12345", 8 },
		{ "pISsc", "\2\0\x30\x39\x7f\0\0\x01", "127.0.0.1", 8 },
		{ "pIS", "\7\0\x30\x39\x7f\0\0\x01", "(einval)", 8 },
		{ "pISc", "\x0a\0\x30\x39\0\0\0\0" "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x0f\0\0\0\0", "fe80::f", 28 },
		{ "piSc", "\x0a\0\x30\x39\0\0\0\0" "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x0f\0\0\0\0",
		  "fe80000000000000" "000000000000000f", 28 },
		{ "pISpfsc", "\x0a\0\x30\x39\x0f\x0b\xb1\xed" "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x0f\x0c\0\0\0",
		  "[fe80::f]:12345/766445%12", 28 },
		{ "pISfc", "\x0a\0\x30\x39\x0f\x0b\xb1\xed" "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x0f\x0c\0\0\0",
		  "[fe80::f]/766445", 28 },
		{ "pISsc", "\x0a\0\x30\x39\x0f\x0b\xb1\xed" "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x0f\x0c\0\0\0",
		  "[fe80::f]%12", 28 },
		/* The scope is cut off. */
		{ "pISsc", "\x0a\0\x30\x39\x0f\x0b\xb1\xed" "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x0f\x0c\0\0",
		  "[fe80::f]%0", 27 },
		{ "p4cc", "\x42\x47\x31\x32", "BG12 little-endian (0x32314742)", 4 },
		{ "p4cc", "\x42\x47\x31\xb2", "BG12 big-endian (0xb2314742)", 4 },
		{ "p4cc", "\x1f\x20\x7e\x7f", ". ~. little-endian (0x7f7e201f)", 4 },
		{ "p4cc", "\x42\x47\x31", ".... little-endian (0x00000000)", 3 },
		{ "pa", "\1\2\3\4\5\6\7\x08", "0x0807060504030201", 8 },
		{ "pa", "\1\2\3\4\5\6\7", "0x0000000000000000", 7 },
		{ "5pE", "a\\\x1f\x7f~", "a\\x5c\\x1f\\x7f~", 5 },
		{ "7pE", "a b", "a b", 3 },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int big = 0; big < 2; big++) {
			const struct as as = { .long_size = 8, .big_endian = big };
			uint8_t bytes[32];

			memcpy(bytes, rows[i].bytes, rows[i].len);
			/* These have the order of the machine. */
			if (big && rows[i].how[1] && rows[i].how[2] == 'S' && rows[i].len >= 4) {
				bytes[1] = bytes[0];
				bytes[0] = 0;
			}
			if (big && rows[i].len == 28)
				memcpy(bytes + 24, "\0\0\0\x0c", 4);
			if (big && (!strncmp(rows[i].how, "p4", 2) || !strcmp(rows[i].how, "pa")))
				for (size_t j = 0; j < rows[i].len; j++)
					bytes[j] = (uint8_t)rows[i].bytes[rows[i].len - 1 - j];
			if (big && rows[i].len == 28 && !strchr(rows[i].how, 's'))
				memcpy(bytes + 24, "\0\0\0\0", 4);
			CHECK_STR(place_as(&as, rows[i].how, bytes, rows[i].len), rows[i].want);
		}
}

/* ip4_string(): %pI4h has the order of the machine. */
TEST(pointer_to_an_address_has_the_order_that_it_asks_for)
{
	const struct as big = { .long_size = 8, .big_endian = true }, small = { .long_size = 8, .big_endian = false };

	CHECK_STR(place_as(&big, "pI4h", "\x01\x02\x03\x04", 4), "1.2.3.4");
	CHECK_STR(place_as(&small, "pI4h", "\x01\x02\x03\x04", 4), "4.3.2.1");
	CHECK_STR(place_as(&big, "pISh", "\0\x02\x03\x04\x01\x02\x03\x04", 8), "1.2.3.4");
	CHECK_STR(place_as(&small, "pISh", "\x02\0\x03\x04\x01\x02\x03\x04", 8), "4.3.2.1");
}

static bool symbol(const void *arg, uint64_t address, char how, struct out *out)
{
	const uint64_t *known = arg;

	if (address != *known)
		return false;
	out_f(out, "%c_of", how);
	return true;
}

TEST(pointer_as_a_value_is_printed_as_the_kernel_does)
{
	static const struct siphash_key key = { { 1, 2 } };
	static const uint64_t known = 0x1234;
	char hash[32];
	/* clang-format off */
	const struct {
		const char *how, *want, *want_32;
		uint64_t value;
	} rows[] = {
		{ "p", "0000000000001235", "00001235", 0x1235 },
		{ "px", "0000000000001235", "00001235", 0x1235 },
		{ "pK", "0000000000001235", "00001235", 0x1235 },
		{ "3p", "1235", "1235", 0x1235 },
		{ "9px", "     1235", "     1235", 0x1235 },
		{ "-9px", "1235     ", "1235     ", 0x1235 },
		{ "ps", "s_of", "s_of", 0x1234 },
		{ "pS", "S_of", "S_of", 0x1234 },
		{ "pB", "B_of", "B_of", 0x1234 },
		{ "pf", "s_of", "s_of", 0x1234 },
		{ "pF", "S_of", "S_of", 0x1234 },
		{ "9ps", "     s_of", "     s_of", 0x1234 },
		{ "-9ps", "s_of     ", "s_of     ", 0x1234 },
		{ "ps", "0x1235", "0x1235", 0x1235 },
		{ "pe", "0000000000001235", "00001235", 0x1235 },
		{ "p?", "?", "?", 0x1235 },
		{ "p?", "0000000000000000", "00000000", 0 },
		{ "pM", "(null)", "(null)", 0 },
		{ "pM", "0000000000001235", "00001235", 0x1235 },
	};
	/* clang-format on */
	struct as as = { .long_size = 8, .env = { .symbol = symbol, .arg = &known } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		as.long_size = 8;
		CHECK_STR(value_as(&as, rows[i].how, rows[i].value), rows[i].want);
		as.long_size = 4;
		CHECK_STR(value_as(&as, rows[i].how, rows[i].value), rows[i].want_32);
	}
	/* is_err_or_null(): -4095 is the last error; what no name is known of is its number. */
	as.long_size = 4;
	CHECK_STR(value_as(&as, "pe", 0xfffffffe), "-ENOENT");
	CHECK_STR(value_as(&as, "pe", 0xfffff001), "-4095");
	CHECK_STR(value_as(&as, "pe", 0xfffff000), "fffff000");
	as.long_size = 8;
	CHECK_STR(value_as(&as, "pe", (uint64_t)-4095), "-4095");
	CHECK_STR(value_as(&as, "pe", (uint64_t)-4096), "fffffffffffff000");
	as.env.hash_pointers = true;
	CHECK_STR(value_as(&as, "p", 0x1235), "(____ptrval____)");
	CHECK_STR(value_as(&as, "2p", 0x1235), "(____ptrval____)");
	CHECK_STR(value_as(&as, "px", 0x1235), "0000000000001235");
	CHECK_STR(value_as(&as, "p", (uint64_t)-5), "fffffffffffffffb");
	CHECK_STR(value_as(&as, "p?", 0x1235), "(____ptrval____)");
	as.long_size = 4;
	CHECK_STR(value_as(&as, "p", 0x1235), "(ptrval)");
	as.long_size = 8;
	as.env.hash_key = &key;
	snprintf(hash, sizeof(hash), "%016x", (unsigned)siphash_u64(&key, 0x1235));
	CHECK_STR(value_as(&as, "p", 0x1235), hash);
	/* Kernels that print null pointers as text do so in the room of a pointer. */
	as.env.null_text = true;
	CHECK_STR(value_as(&as, "p", 0), "          (null)");
	CHECK_STR(value_as(&as, "7p", 0), " (null)");
	CHECK_STR(value_as(&as, "0p", 0), "          (null)");
	as.env.libc_pointers = true;
	CHECK_STR(value_as(&as, "p", 0), "(nil)");
	CHECK_STR(value_as(&as, "p", 0x1235), "0x1235");
	CHECK_STR(value_as(&as, "8p", 0x1235), "  0x1235");
}

/* Bit lists of any words: beside a walk over the bits. */
TEST(pointer_to_bits_is_printed_as_a_list_and_as_words)
{
	uint64_t seed = 0x9e3779b97f4a7c15u;

	for (unsigned i = 0; i < 600; i++) {
		struct as as = { .long_size = i & 1 ? 8 : 4, .big_endian = i & 2 };
		unsigned bits = 1 + (unsigned)next(&seed) % 128, size = as.long_size;
		char want[600] = "", how[16], part[32];
		bool set[128] = { false };
		uint8_t bytes[16] = { 0 };
		size_t len = 0;

		for (unsigned bit = 0; bit < 128; bit++) {
			unsigned word = bit / (8 * size), in = bit % (8 * size);

			set[bit] = next(&seed) % 3 == 0 || (bit && set[bit - 1] && next(&seed) % 2);
			if (set[bit])
				bytes[word * size + (as.big_endian ? size - 1 - in / 8 : in / 8)] |=
					(uint8_t)(1 << in % 8);
		}
		for (unsigned bit = 0; bit < bits; bit++) {
			unsigned last = bit;

			if (!set[bit])
				continue;
			while (last + 1 < bits && set[last + 1])
				last++;
			if (last > bit)
				snprintf(part, sizeof(part), "%s%u-%u", *want ? "," : "", bit, last);
			else
				snprintf(part, sizeof(part), "%s%u", *want ? "," : "", bit);
			len += (size_t)snprintf(want + len, sizeof(want) - len, "%s", part);
			bit = last;
		}
		snprintf(how, sizeof(how), "%upbl", bits);
		CHECK_STR(place_as(&as, how, bytes, sizeof(bytes)), want);
		/* %*pb: 32 bits in a group, the highest one first, which has as many digits as it needs. */
		*want = '\0';
		len = 0;
		for (unsigned group = (bits + 31) / 32; group-- > 0;) {
			unsigned in = bits - 32 * group < 32 ? bits - 32 * group : 32, value = 0;

			for (unsigned bit = 0; bit < in; bit++)
				value |= (unsigned)set[32 * group + bit] << bit;
			snprintf(part, sizeof(part), "%0*x%s", (int)(in + 3) / 4, value, group ? "," : "");
			len += (size_t)snprintf(want + len, sizeof(want) - len, "%s", part);
		}
		snprintf(how, sizeof(how), "%upb", bits);
		CHECK_STR(place_as(&as, how, bytes, sizeof(bytes)), want);
	}
}
