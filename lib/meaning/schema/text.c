// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/text_internal.h"

#include "lib/ground/base/digits.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/schema/env.h"
#include "lib/meaning/schema/expr_internal.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/helper_internal.h"
#include "lib/meaning/schema/spec_internal.h"

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

/* trace_print_hex_dump_seq() of kernel/trace/trace_output.c, with seq_buf_hex_dump() of lib/seq_buf.c. */
static void text_hex_dump(const struct expr *expr, const struct run *run, struct out *out)
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

static void put_hex(struct out *out, uint64_t value)
{
	out_need(out, DIGITS_MAX);
	*out->at++ = '0';
	*out->at++ = 'x';
	out->at = digits_put_hex(out->at, value);
}

/* trace_print_flags_seq() */
static void put_flags(const struct expr *expr, const struct run *run, struct out *out)
{
	const struct expr_table *table = expr->table;
	uint64_t flags = expr_number(expr->a, run) & table->mask;
	bool first = true;

	for (uint32_t i = 0; flags && i < table->nr; i++) {
		const struct expr_entry *entry = &table->entries[i];

		if ((flags & entry->value) != entry->value)
			continue;
		flags &= ~entry->value;
		if (!first)
			out_mem(out, expr->text, expr->text_len);
		first = false;
		out_mem(out, entry->name, entry->len);
	}
	if (!flags)
		return;
	if (!first)
		out_mem(out, expr->text, expr->text_len);
	put_hex(out, flags);
}

static const struct expr_entry *find_name(const struct expr_table *table, uint64_t value)
{
	if (table->direct && value < EXPR_DIRECT_MAX)
		return table->direct[value] ? &table->entries[table->direct[value] - 1] : NULL;
	for (uint32_t i = 0; i < table->nr; i++)
		if (table->entries[i].value == value)
			return &table->entries[i];
	return NULL;
}

/* trace_print_symbols_seq(): it treats an empty name as no name. */
static void put_symbolic(const struct expr *expr, const struct run *run, struct out *out)
{
	uint64_t value = expr_number(expr->a, run) & expr->table->mask;
	const struct expr_entry *entry = find_name(expr->table, value);

	if (entry && entry->len)
		out_mem(out, entry->name, entry->len);
	else
		put_hex(out, value);
}

static void put_named(const struct expr *expr, const struct run *run, struct out *out)
{
	const struct expr_entry *entry = find_name(expr->table, expr_number(expr->a, run));

	if (entry)
		out_mem(out, entry->name, entry->len);
	else
		out_mem(out, expr->text, expr->text_len);
}

/* trace_print_hex_seq() */
static void put_hex_bytes(const struct expr *expr, const struct run *run, struct out *out)
{
	struct place place = expr_place(expr->a, run);
	int32_t len = (int32_t)expr_number(expr->b, run);

	for (int32_t i = 0; i < len && (size_t)i < place.len; i++) {
		out_need(out, 3);
		if (i && !expr->size)
			*out->at++ = ' ';
		*out->at++ = "0123456789abcdef"[place.at[i] >> 4];
		*out->at++ = "0123456789abcdef"[place.at[i] & 15];
	}
}

/* trace_print_array_seq() */
static void put_array(const struct expr *expr, const struct run *run, struct out *out)
{
	struct place place = expr_place(expr->a, run);
	int32_t count = (int32_t)expr_number(expr->b, run);
	uint64_t size = expr_number(expr->c, run);
	uint8_t how = (uint8_t)((size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0) | (expr->swap ? LOAD_SWAP : 0));

	out_char(out, '{');
	if (size != 1 && size != 2 && size != 4 && size != 8)
		size = 1;
	for (int32_t i = 0; i < count && (uint64_t)i < place.len / size; i++) {
		if (i)
			out_char(out, ',');
		put_hex(out, expr_load(place.at + (uint64_t)i * size, how));
	}
	out_char(out, '}');
}

static bool bit_is_set(struct place place, size_t bit, const struct schema_abi *abi)
{
	size_t byte = bit / 8;

	/* A bitmap is an array of long: on a big-endian kernel the bytes of each are in reverse order. */
	if (abi->big_endian)
		byte = byte / abi->long_size * abi->long_size + (abi->long_size - 1u - byte % abi->long_size);
	return byte < place.len && place.at[byte] >> bit % 8 & 1;
}

/* bitmap_string() of lib/vsprintf.c: %*pb */
void text_bitmap(struct place place, size_t bits, const struct schema_abi *abi, struct out *out)
{
	size_t digits = (bits + 3) / 4;

	for (size_t digit = digits; digit-- > 0;) {
		unsigned value = 0;

		for (size_t bit = 4; bit-- > 0;)
			value = value << 1 | (digit * 4 + bit < bits && bit_is_set(place, digit * 4 + bit, abi));
		out_char(out, "0123456789abcdef"[value]);
		if (digit && digit % 8 == 0)
			out_char(out, ',');
	}
}

/* bitmap_list_string() of lib/vsprintf.c: %*pbl */
void text_bit_list(struct place place, size_t bits, const struct schema_abi *abi, struct out *out)
{
	bool first = true;

	for (size_t bit = 0; bit < bits; bit++) {
		size_t end = bit;

		while (end < bits && bit_is_set(place, end, abi))
			end++;
		if (end == bit)
			continue;
		if (!first)
			out_char(out, ',');
		first = false;
		out_u64(out, bit);
		if (end > bit + 1) {
			out_char(out, '-');
			out_u64(out, end - 1);
		}
		bit = end;
	}
}

static void text_cstring(struct place place, struct out *out)
{
	out_mem(out, place.at, strnlen((const char *)place.at, place.len));
}

/* A string after a kernel pointer: known only if printk_formats has it. */
static void put_kernel_string(const struct expr *expr, const struct run *run, struct out *out)
{
	uint64_t address = expr_number(expr, run);
	const char *text = run->env->string ? run->env->string(run->env->arg, address) : NULL;

	if (text)
		out_str(out, text);
	else if (!address)
		out_str(out, "(null)");
	else
		put_hex(out, address);
}

void expr_text(const struct expr *expr, const struct run *run, struct out *out)
{
	switch ((enum expr_kind)expr->kind) {
	case EXPR_CHOOSE:
		if (!expr_is_text(expr) && !expr_is_place(expr))
			put_kernel_string(expr, run, out);
		else
			expr_text(expr_number(expr->a, run) ? expr->b : expr->c, run, out);
		return;
	case EXPR_PLACE:
	case EXPR_DYN_PLACE:
	case EXPR_MOVE:
		text_cstring(expr_place(expr, run), out);
		return;
	case EXPR_TEXT:
		out_mem(out, expr->text, expr->text_len);
		return;
	case EXPR_FLAGS:
		put_flags(expr, run, out);
		return;
	case EXPR_SYMBOLIC:
		put_symbolic(expr, run, out);
		return;
	case EXPR_HEX:
		put_hex_bytes(expr, run, out);
		return;
	case EXPR_ARRAY:
		put_array(expr, run, out);
		return;
	case EXPR_BITMASK: {
		struct place place = expr_place(expr->a, run);

		if (run->env->bitmask_list)
			text_bit_list(place, place.len * 8, run->abi, out);
		else
			text_bitmap(place, place.len * 8, run->abi, out);
		return;
	}
	case EXPR_HEX_DUMP:
		text_hex_dump(expr, run, out);
		return;
	case EXPR_NAMED:
		put_named(expr, run, out);
		return;
	case EXPR_HELPER:
		expr->helper->text(expr, run, out);
		return;
	case EXPR_LAYERS:
		text_layers(expr, run, out);
		return;
	case EXPR_CONST:
	case EXPR_LOAD:
	case EXPR_LOAD_MASK:
	case EXPR_DYN_LEN:
	case EXPR_CAST:
	case EXPR_NEGATE:
	case EXPR_INVERT:
	case EXPR_NOT:
	case EXPR_BINARY:
	case EXPR_INDEX:
	case EXPR_SCALE:
	case EXPR_MODULO:
	case EXPR_SWAP:
	case EXPR_SYMBOL_ADDRESS:
		put_kernel_string(expr, run, out);
		return;
	}
}
