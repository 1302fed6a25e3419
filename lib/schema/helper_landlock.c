// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/out.h"
#include "lib/schema/helper_internal.h"

/*
 * include/trace/events/landlock.h of 7.3. The bytes that the kernel's buffer of two 4 KiB pages leaves for an untrusted
 * text.
 */
enum { UNTRUSTED_MAX = 6117 };

/* lib/string_helpers.c: string_escape_mem(), one byte with the flags that landlock gives it. */
static size_t escape(uint8_t c, char text[4])
{
	static const char plain[] = "\n\r\t\v\f\\\a\033\"", letters[] = "nrtvf\\ae\"";
	const char *special = c ? strchr(plain, c) : NULL;

	if (c >= ' ' && c < 0x7f && !strchr(" ='\"\\", c)) {
		text[0] = (char)c;
		return 1;
	}
	text[0] = '\\';
	if (special) {
		text[1] = letters[special - plain];
		return 2;
	}
	text[1] = (char)('0' + (c >> 6));
	text[2] = (char)('0' + (c >> 3 & 7));
	text[3] = (char)('0' + (c & 7));
	return 4;
}

static size_t escaped_len(struct place place)
{
	size_t len = 0;
	char text[4];

	for (size_t i = 0; i < place.len; i++)
		len += escape(place.at[i], text);
	return len;
}

/* (text, length) */
void text_untrusted(const struct expr *expr, const struct run *run, struct out *out)
{
	static const char marker[] = "\xe2\x80\xa6";
	struct place place = expr_place(expr->args[0], run);
	uint64_t len = expr_number(expr->args[1], run);
	size_t room = UNTRUSTED_MAX - 1, size, done = 0;
	bool cut;
	char text[4];

	if (len < place.len)
		place.len = (size_t)len;
	cut = escaped_len(place) > room;
	if (cut)
		room -= sizeof(marker) - 1;
	for (size_t i = 0; i < place.len; i++) {
		size = escape(place.at[i], text);
		if (size > room - done)
			break;
		out_mem(out, text, size);
		done += size;
	}
	if (cut)
		out_mem(out, marker, sizeof(marker) - 1);
}

/* expr->a is the array, expr->b its number of elements of expr->size bytes, expr->table their names. */
void text_layers(const struct expr *expr, const struct run *run, struct out *out)
{
	struct place place = expr_place(expr->a, run);
	uint64_t count = expr_number(expr->b, run);

	out_char(out, '{');
	for (size_t at = 0; at < count && (at + 1) * expr->size <= place.len; at++) {
		uint64_t mask = place_number(place, at * expr->size, expr->size, run);
		bool first = true;

		if (at)
			out_char(out, ',');
		for (uint32_t i = 0; mask && i < expr->table->nr; i++) {
			const struct expr_entry *entry = &expr->table->entries[i];

			if ((mask & entry->value) != entry->value)
				continue;
			if (!first)
				out_char(out, '|');
			first = false;
			out_mem(out, entry->name, entry->len);
			mask &= ~entry->value;
		}
	}
	out_char(out, '}');
}
