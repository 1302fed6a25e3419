// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

#include "lib/ground/base/out.h"
#include "lib/ground/base/siphash.h"
#include "lib/meaning/schema/expr_internal.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/program.h"
#include "lib/meaning/schema/spec_internal.h"
#include "lib/meaning/schema/text_internal.h"
#include "lib/meaning/uapi/names.h"

/* include/linux/err.h: the last page of addresses holds errors. */
static bool is_error(uint64_t value, uint8_t long_size)
{
	return value >= (long_size == 8 ? (uint64_t)-ERRNO_MAX : (uint32_t)-ERRNO_MAX);
}

/* pointer_string() of lib/vsprintf.c: zero-padded to the width of a pointer, unless a width was given. */
static void put_raw(const struct spec *spec, uint64_t value, uint8_t long_size, struct out *out)
{
	struct spec number = *spec;

	number.base = 16;
	number.flags |= SPEC_SMALL;
	if (number.width < 0) {
		number.width = long_size * 2;
		number.flags |= SPEC_ZEROS;
	}
	spec_number(&number, value, out);
}

/* glibc's %p */
static size_t pointer_libc(uint64_t value, char text[24])
{
	return (size_t)(value ? snprintf(text, 24, "0x%" PRIx64, value) : snprintf(text, 24, "(nil)"));
}

/* ptr_to_id() of lib/vsprintf.c hashes with a secret, which only a dump of the kernel's memory can contain. */
static void put_hashed(const struct spec *spec, uint64_t value, const struct run *run, struct out *out)
{
	struct spec wide = *spec;
	char text[24];
	uint8_t long_size = run->abi->long_size;

	if (run->env->libc_pointers) {
		wide.flags = (uint16_t)(wide.flags & ~(unsigned)SPEC_ZEROS);
		spec_string(&wide, text, pointer_libc(value, text), out);
		return;
	}
	if (!value && run->env->null_text) {
		wide.width = spec->width < 0 ? long_size * 2 : spec->width;
		spec_string(&wide, "(null)", 6, out);
		return;
	}
	if (!run->env->hash_pointers || !value || is_error(value, long_size)) {
		put_raw(spec, value, long_size, out);
		return;
	}
	if (run->env->hash_key) {
		put_raw(spec, (uint32_t)siphash_u64(run->env->hash_key, value), long_size, out);
		return;
	}
	wide.width = long_size * 2;
	wide.precision = -1;
	if (long_size == 8)
		spec_string(&wide, "(____ptrval____)", 16, out);
	else
		spec_string(&wide, "(ptrval)", 8, out);
}

static void put_symbol(const struct spec *spec, uint64_t value, const struct run *run, struct out *out)
{
	char how = *spec->how == 'f' ? 's' : *spec->how == 'F' ? 'S' : *spec->how;
	size_t start = out_len(out);

	if (!run->env->symbol || !run->env->symbol(run->env->arg, value, how, out)) {
		out_str(out, "0x");
		out_hex(out, value);
	}
	spec_widen(spec, start, out);
}

/* err_ptr() of lib/vsprintf.c: "-ENOENT"; a number if lib/errname.c has no name. */
static void put_error(const struct spec *spec, uint64_t value, const struct run *run, struct out *out)
{
	uint64_t number = 0 - value;
	struct spec decimal = *spec;
	const char *name;
	char text[32];

	if (!is_error(value, run->abi->long_size)) {
		put_hashed(spec, value, run, out);
		return;
	}
	if (run->abi->long_size == 4)
		number = (uint32_t)number;
	name = error_name(run->env->machine ? run->env->machine : "", (int64_t)number);
	if (name) {
		spec_string(spec, text, (size_t)snprintf(text, sizeof(text), "-%s", name), out);
		return;
	}
	decimal.base = 10;
	decimal.flags |= SPEC_SIGNED;
	spec_number(&decimal, 0 - number, out);
}

void spec_pointer(const struct spec *spec, uint64_t value, const struct run *run, struct out *out)
{
	switch (*spec->how) {
	case 's':
	case 'S':
	case 'B':
	case 'f':
	case 'F':
		put_symbol(spec, value, run, out);
		return;
	case 'x':
		put_raw(spec, value, run->abi->long_size, out);
		return;
	case 'K':
		/* restricted_pointer() with kptr_restrict = 0 is the hash; with 1 or 2 it is zeros. */
		put_hashed(spec, value, run, out);
		return;
	case 'e':
		put_error(spec, value, run, out);
		return;
	case 0:
		put_hashed(spec, value, run, out);
		return;
	case '?':
		/* The address of a pointer's target is unknown; it is only known not to be NULL. */
		if (run->env->hash_pointers || !value)
			put_hashed(spec, value, run, out);
		else
			spec_string(spec, "?", 1, out);
		return;
	}
	/* The other extensions follow the pointer to memory that was not recorded. */
	if (!value)
		spec_string(spec, "(null)", 6, out);
	else
		put_raw(spec, value, run->abi->long_size, out);
}

static uint8_t byte_at(struct place place, size_t at)
{
	return at < place.len ? place.at[at] : 0;
}

static void put_byte(struct out *out, uint8_t value, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	out_char(out, digits[value >> 4]);
	out_char(out, digits[value & 15]);
}

/* hex_string(): %*ph and its separators */
static void put_bytes(const struct spec *spec, struct place place, struct out *out)
{
	char separator = spec->how[1] == 'C' ? ':' : spec->how[1] == 'D' ? '-' : spec->how[1] == 'N' ? 0 : ' ';
	int32_t len = spec->width > 0 ? spec->width < 64 ? spec->width : 64 : spec->width == 0 ? 0 : 1;

	for (int32_t i = 0; i < len; i++) {
		if (i && separator)
			out_char(out, separator);
		put_byte(out, byte_at(place, (size_t)i), false);
	}
}

/* mac_address_string(): %pM, %pMR, %pMF, %pm, %pmR */
static void put_mac(const struct spec *spec, struct place place, struct out *out)
{
	for (size_t i = 0; i < 6; i++) {
		if (i && *spec->how == 'M')
			out_char(out, spec->how[1] == 'F' ? '-' : ':');
		put_byte(out, byte_at(place, spec->how[1] == 'R' ? 5 - i : i), false);
	}
}

/* ip4_string() */
static void put_ip4(struct place place, size_t from, bool zeros, char order, bool big_endian, struct out *out)
{
	bool backwards = order == 'l' || (order == 'h' && !big_endian);

	for (size_t i = 0; i < 4; i++) {
		uint8_t value = byte_at(place, from + (backwards ? 3 - i : i));

		if (i)
			out_char(out, '.');
		if (zeros)
			out_u64_pad(out, value, 3, '0');
		else
			out_u64(out, value);
	}
}

static unsigned ip6_word(struct place place, size_t from, size_t i)
{
	return (unsigned)byte_at(place, from + i * 2) << 8 | byte_at(place, from + i * 2 + 1);
}

/* ipv6_addr_v4mapped() and ipv6_addr_is_isatap() */
static bool ip6_has_ip4(struct place place, size_t from)
{
	bool mapped = ip6_word(place, from, 5) == 0xffff;

	for (size_t i = 0; i < 5; i++)
		mapped = mapped && !ip6_word(place, from, i);
	return mapped || ((ip6_word(place, from, 4) | 0x0200) == 0x0200 && ip6_word(place, from, 5) == 0x5efe);
}

/* ip6_compressed_string() */
static void put_ip6_short(struct place place, size_t from, struct out *out)
{
	bool ip4 = ip6_has_ip4(place, from), colon = false;
	size_t range = ip4 ? 6 : 8, best = range, longest = 1;

	for (size_t i = 0; i < range; i++) {
		size_t end = i;

		while (end < range && !ip6_word(place, from, end))
			end++;
		if (end - i > longest) {
			longest = end - i;
			best = i;
		}
	}
	for (size_t i = 0; i < range; i++) {
		if (i == best) {
			if (colon || !i)
				out_char(out, ':');
			out_char(out, ':');
			colon = false;
			i += longest - 1;
			continue;
		}
		if (colon)
			out_char(out, ':');
		out_hex(out, ip6_word(place, from, i));
		colon = true;
	}
	if (!ip4)
		return;
	if (colon)
		out_char(out, ':');
	put_ip4(place, from + 12, false, 0, false, out);
}

static void put_ip6(struct place place, size_t from, bool colons, bool shorten, struct out *out)
{
	if (colons && shorten) {
		put_ip6_short(place, from, out);
		return;
	}
	for (size_t i = 0; i < 8; i++) {
		if (i && colons)
			out_char(out, ':');
		out_hex_pad(out, ip6_word(place, from, i), 4, '0');
	}
}

static bool has_letter(const struct spec *spec, char letter)
{
	return strchr(spec->how + 2, letter);
}

/* ip4_addr_string_sa() and ip6_addr_string_sa() */
static void put_sockaddr(const struct spec *spec, struct place place, const struct run *run, struct out *out)
{
	bool swap = run->abi->swap, colons = *spec->how == 'I';
	const uint8_t low = byte_at(place, 0), high = byte_at(place, 1);
	unsigned family = run->abi->big_endian ? (unsigned)low << 8 | high : (unsigned)high << 8 | low;
	unsigned port = (unsigned)byte_at(place, 2) << 8 | byte_at(place, 3);
	bool bracket = has_letter(spec, 'p') || has_letter(spec, 'f') || has_letter(spec, 's');

	if (family == AF_INET) {
		char order = has_letter(spec, 'h') ? 'h' : has_letter(spec, 'l') ? 'l' : 0;

		put_ip4(place, 4, !colons, order, run->abi->big_endian, out);
		if (has_letter(spec, 'p'))
			out_f(out, ":%u", port);
		return;
	}
	if (family != AF_INET6) {
		out_str(out, "(einval)");
		return;
	}
	if (bracket)
		out_char(out, '[');
	put_ip6(place, 8, colons, has_letter(spec, 'c'), out);
	if (bracket)
		out_char(out, ']');
	if (has_letter(spec, 'p'))
		out_f(out, ":%u", port);
	if (has_letter(spec, 'f'))
		out_f(out, "/%u",
		      (byte_at(place, 5) & 15u) << 16 | (unsigned)byte_at(place, 6) << 8 | byte_at(place, 7));
	if (has_letter(spec, 's'))
		out_f(out, "%%%u", place.len >= 28 ? load_u32(place.at + 24, swap) : 0);
}

/* ip_addr_string() */
static void put_address(const struct spec *spec, struct place place, const struct run *run, struct out *out)
{
	switch (spec->how[1]) {
	case '4':
		put_ip4(place, 0, *spec->how == 'i', spec->how[2], run->abi->big_endian, out);
		return;
	case '6':
		put_ip6(place, 0, *spec->how == 'I', spec->how[2] == 'c', out);
		return;
	case 'S':
		put_sockaddr(spec, place, run, out);
		return;
	}
	out_str(out, *spec->how == 'i' ? "(%pi?)" : "(%pI?)");
}

/* uuid_string() */
static void put_uuid(const struct spec *spec, struct place place, struct out *out)
{
	static const uint8_t guid[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	bool little = spec->how[1] == 'l' || spec->how[1] == 'L', upper = spec->how[1] == 'L' || spec->how[1] == 'B';

	for (size_t i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out_char(out, '-');
		put_byte(out, byte_at(place, little ? guid[i] : i), upper);
	}
}

/* address_val() and netdev_bits(): the value that the pointer points to, in the width of its type. */
static void put_referred(struct place place, const struct run *run, struct out *out)
{
	out_str(out, "0x");
	out_hex_pad(out, place.len >= 8 ? load_u64(place.at, run->abi->swap) : 0, 16, '0');
}

/* fourcc_string() */
static void put_fourcc(struct place place, const struct run *run, struct out *out)
{
	uint32_t value = place.len >= 4 ? load_u32(place.at, run->abi->swap) : 0;

	for (unsigned i = 0; i < 4; i++) {
		char c = (char)((value & 0x7fffffff) >> i * 8);

		out_char(out, c >= ' ' && c < 0x7f ? c : '.');
	}
	out_f(out, " %s-endian (0x%08x)", value >> 31 ? "big" : "little", value);
}

/* Whether a conversion's width is the length of its data. */
static bool width_is_length(char how)
{
	return how == 'h' || how == 'b' || how == 'E';
}

void spec_place(const struct spec *spec, struct place place, const struct run *run, struct out *out)
{
	size_t start = out_len(out), bits = spec->width > 0 ? (size_t)spec->width : 0;

	switch (*spec->how) {
	case 'h':
		put_bytes(spec, place, out);
		break;
	case 'b':
		if (spec->how[1] == 'l')
			text_bit_list(place, bits, run->abi, out);
		else
			text_bitmap(place, bits, run->abi, out);
		break;
	case 'M':
	case 'm':
		put_mac(spec, place, out);
		break;
	case 'I':
	case 'i':
		put_address(spec, place, run, out);
		break;
	case 'U':
		put_uuid(spec, place, out);
		break;
	case 'a':
	case 'N':
		put_referred(place, run, out);
		break;
	case '4':
		put_fourcc(place, run, out);
		break;
	case 'E':
		for (size_t i = 0; i < bits && i < place.len; i++)
			if (place.at[i] >= ' ' && place.at[i] < 0x7f && place.at[i] != '\\')
				out_char(out, (char)place.at[i]);
			else
				out_f(out, "\\x%02x", place.at[i]);
		break;
	default:
		/*
		 * The address of the record in the kernel's buffer is unknown: its offset in the record stands for it.
		 */
		put_hashed(spec, (uint64_t)(place.at - run->data), run, out);
		return;
	}
	if (!width_is_length(*spec->how))
		spec_widen(spec, start, out);
}
