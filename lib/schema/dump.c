// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/out.h"
#include "lib/schema/format.h"
#include "lib/schema/text_internal.h"

enum { DUMP_NONE, DUMP_ADDRESS, DUMP_OFFSET };

struct dump {
	struct place place;
	size_t row, group;
	bool ascii;
};

/* One row in the form of hex_dump_to_buffer() of lib/hexdump.c. */
static void put_row(const struct dump *dump, size_t from, const struct run *run, struct out *out)
{
	size_t len = dump->place.len - from < dump->row ? dump->place.len - from : dump->row;
	/* A row that is not a whole number of groups is printed byte by byte. */
	size_t group = len % dump->group ? 1 : dump->group, digits = 0;
	size_t width = dump->row / dump->group * (dump->group * 2 + 1) + 1;

	for (size_t at = 0; at < len; at += group) {
		if (at) {
			out_char(out, ' ');
			digits++;
		}
		for (size_t i = 0; i < group; i++) {
			size_t byte = run->abi->big_endian ? i : group - 1 - i;
			uint8_t value = dump->place.at[from + at + byte];

			out_char(out, "0123456789abcdef"[value >> 4]);
			out_char(out, "0123456789abcdef"[value & 15]);
			digits += 2;
		}
	}
	if (!dump->ascii)
		return;
	if (width > digits)
		out_fill(out, ' ', width - digits);
	for (size_t i = 0; i < len; i++) {
		char c = (char)dump->place.at[from + i];

		out_char(out, c >= ' ' && c < 0x7f ? c : '.');
	}
}

void text_hex_dump(const struct expr *expr, const struct run *run, struct out *out)
{
	uint64_t type = expr_number(expr->args[0], run), row = expr_number(expr->args[1], run);
	uint64_t group = expr_number(expr->args[2], run), len = expr_number(expr->args[4], run);
	struct dump dump = { .place = expr_place(expr->args[3], run), .ascii = expr_number(expr->args[5], run) };

	dump.row = row == 32 ? 32 : 16;
	dump.group = group == 2 || group == 4 || group == 8 ? (size_t)group : 1;
	if (dump.place.len > len)
		dump.place.len = (size_t)len;
	out_char(out, '\n');
	for (size_t from = 0; from < dump.place.len; from += dump.row) {
		out_mem(out, expr->text, expr->text_len);
		if (type == DUMP_OFFSET) {
			out_hex_pad(out, from, 8, '0');
			out_str(out, ": ");
		} else if (type == DUMP_ADDRESS) {
			/* The kernel prints the address of its own temporary buffer, which no file holds. */
			out_hex_pad(out, from, run->abi->long_size * 2u, '0');
			out_str(out, ": ");
		}
		put_row(&dump, from, run, out);
		out_char(out, '\n');
	}
}
