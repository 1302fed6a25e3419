// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes a trace.dat for libFuzzer. The file is taken into parts; a text, page, record, option or list of CPUs is
 * changed; the parts are put together again, so that the change gets past the container and its frames. Sometimes a
 * number of the container is made false afterwards. An input that is no trace.dat, and one input of eight, is changed
 * as plain bytes.
 */
#include <string.h>

#include "tests/fuzz/mutator/dat.h"
#include "tests/fuzz/mutator/dice.h"
#include "tests/fuzz/mutator/pages.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

enum { WINDOW = 48, OUT_MAX = 1 << 20, PACKED = 1 };

static struct dat dat;
static uint8_t out[OUT_MAX];

static const char *const words[] = {
	"REC->",
	"%s",
	"%d",
	"%llx",
	"%*ph",
	"%pS",
	"%pK",
	"%ph",
	"%.*s",
	"%-10s",
	"%%",
	"%c",
	"%pI4",
	"%pM",
	"%pUb",
	"%lu",
	"%08x",
	"__get_str(",
	"__get_dynamic_array(",
	"__get_dynamic_array_len(",
	"__get_bitmask(",
	"__get_rel_str(",
	"__get_cpumask(",
	"__print_flags(",
	"__print_symbolic(",
	"__print_hex(",
	"__print_array(",
	"__get_sockaddr(",
	"__print_ns_to_secs(",
	"__data_loc char[] name;",
	"__rel_loc u8[] x;",
	"{ 0x1, \"A\" }",
	"\", \"",
	"common_type",
	"unsigned long",
	"char comm[16]",
	"void *",
	"(unsigned char)",
	"sizeof(",
	"->",
	"?",
	":",
	"&&",
	"<<",
	"/ 0",
	"% 0",
	"~",
	"-1",
	"1UL",
	"\toffset:",
	";\tsize:",
	";\tsigned:1;",
	"print fmt: \"",
	"ID: 5",
	"ID: 1",
	"field:",
	"\n",
	"u64 x[4]",
	"\x1b]0;x\a",
	"\n\n",
	"\0",
};

/* Replaces `old` bytes at `at`. */
static bool splice(struct dat_blob *blob, size_t at, size_t old, const void *data, size_t len)
{
	if (blob->len - old + len > blob->room)
		return false;
	memmove(blob->data + at + len, blob->data + at + old, blob->len - at - old);
	memcpy(blob->data + at, data, len);
	blob->len += len - old;
	return true;
}

/* Makes other bytes for `len` bytes at `from`; *ret has room for 2 * WINDOW. */
static size_t other_text(struct dice *dice, const uint8_t *from, size_t len, const struct dat_blob *all, uint8_t *ret)
{
	const char *word = words[dice_below(dice, sizeof(words) / sizeof(*words))];
	size_t at, size;

	switch (dice_below(dice, 4)) {
	case 0:
		size = strlen(word) + !*word;
		memcpy(ret, word, size);
		return size;
	case 1: /* from elsewhere */
		at = dice_below(dice, all->len);
		size = dice_below(dice, WINDOW);
		size = size < all->len - at ? size : all->len - at;
		memcpy(ret, all->data + at, size);
		return size;
	case 2: /* a digit */
		memcpy(ret, from, len);
		for (size_t i = 0; i < len; i++)
			if (ret[i] >= '0' && ret[i] <= '9' && dice_once_in(dice, 2))
				ret[i] = (uint8_t)('0' + dice_below(dice, 10));
		return len;
	}
	memcpy(ret, from, len);
	return LLVMFuzzerMutate(ret, len, 2 * WINDOW);
}

/* Changes a window in a text; the length field in front of it gets the new length. */
static void change_text(struct dice *dice, struct dat_blob *body, const struct dat_span *span)
{
	uint8_t other[2 * WINDOW];
	size_t from = dice_below(dice, span->len), len = dice_below(dice, WINDOW), size;

	len = len < span->len - from ? len : span->len - from;
	size = other_text(dice, body->data + span->at + from, len, body, other);
	if (splice(body, span->at + from, len, other, size) && span->width)
		dat_store(&dat, body->data + span->field, span->width, span->len - len + size);
}

static void change_body(struct dice *dice)
{
	struct dat_section *section = &dat.sections[dice_below(dice, dat.nr_sections)];

	if (section->is_options || !section->body.len)
		return;
	dat_find_spans(&dat, &section->body, section->id);
	if (dice_once_in(dice, 12)) {
		size_t at = dice_below(dice, section->body.len);

		section->body.data[at] = (uint8_t)dice_u64(dice);
		return;
	}
	for (size_t i = 1 + dice_below(dice, 3); i--;) {
		change_text(dice, &section->body, &dat.spans[dice_below(dice, dat.nr_spans)]);
		dat_find_spans(&dat, &section->body, section->id);
	}
}

static void change_chunk(struct dice *dice)
{
	struct dat_blob *chunk = dat.nr_chunks ? &dat.chunks[dice_below(dice, dat.nr_chunks)] : NULL;
	struct pages pages;

	if (!chunk || !chunk->len)
		return;
	pages = (struct pages){ .data = chunk->data,
				.len = chunk->len,
				.page = dat.page_size,
				.big = dat.big,
				.long_size = dat.long_size };
	pages_change(dice, &pages);
	if (dice_once_in(dice, 40))
		chunk->len = dice_below(dice, chunk->len);
}

static void change_option(struct dice *dice)
{
	struct dat_option *option = dat.nr_options ? &dat.options[dice_below(dice, dat.nr_options)] : NULL;
	size_t other = dice_below(dice, dat.nr_options);

	if (!option)
		return;
	switch (dice_below(dice, 5)) {
	case 0:
		option->id = (uint16_t)dice_below(dice, 27);
		break;
	case 1:
		option->section = (int)dice_below(dice, dat.nr_sections);
		break;
	case 2:
		*option = dat.options[other];
		break;
	default:
		option->data.len = LLVMFuzzerMutate(option->data.data, option->data.len, option->data.room);
	}
}

static void change_cpus(struct dice *dice)
{
	struct dat_cpu *cpu = dat.nr_cpus ? &dat.cpus[dice_below(dice, dat.nr_cpus)] : NULL;
	struct dat_section *section = &dat.sections[dice_below(dice, dat.nr_sections)];
	size_t first;

	if (!cpu)
		return;
	switch (dice_below(dice, 5)) {
	case 0:
		cpu->number = (uint32_t)dice_claim(dice, cpu->number, dat.nr_cpus);
		break;
	case 1: /* pages of another */
		first = dice_below(dice, dat.nr_chunks);
		if (first < dat.nr_chunks) {
			cpu->first_chunk = first;
			cpu->nr_chunks = 1 + dice_below(dice, dat.nr_chunks - first);
		}
		break;
	case 2:
		dat.options[dice_below(dice, dat.nr_options)].nr_cpus = dice_below(dice, dat.nr_cpus + 1);
		break;
	case 3:
		section->flags ^= PACKED;
		break;
	case 4:
		section->next = section->is_options ? (int)dice_below(dice, dat.nr_sections) : section->next;
		section->id = dice_once_in(dice, 4) ? (uint16_t)dice_below(dice, 27) : section->id;
		break;
	}
	for (size_t i = 0; i < dat.nr_options; i++)
		if (dat.options[i].first_cpu + dat.options[i].nr_cpus > dat.nr_cpus)
			dat.options[i].nr_cpus = dat.nr_cpus - dat.options[i].first_cpu;
}

static void change_order(struct dice *dice)
{
	size_t a = dice_below(dice, dat.nr_sections), b = dice_below(dice, dat.nr_sections);
	struct dat_blob body = dat.sections[a].body;

	if (dat.sections[a].is_options || dat.sections[b].is_options || !body.data || !dat.sections[b].body.data)
		return;
	dat.sections[a].body = dat.sections[b].body;
	dat.sections[b].body = body;
}

static size_t lie(struct dice *dice, size_t len)
{
	for (size_t i = 1 + dice_below(dice, 2); i-- && dat.nr_fields;) {
		const struct dat_field *field = &dat.fields[dice_below(dice, dat.nr_fields)];

		if (field->at + field->width <= len)
			dat_store(&dat, out + field->at, field->width,
				  dice_claim(dice, dat_load(&dat, out + field->at, field->width), len));
	}
	switch (dice_below(dice, 16)) {
	case 0:
		return dice_below(dice, len);
	case 1: /* another word size, page size or order than the rest has */
		out[12 + dice_below(dice, 6)] = (uint8_t)dice_u64(dice);
	}
	return len;
}

static size_t mutate_v7(struct dice *dice)
{
	size_t len;

	for (size_t i = 1 + dice_below(dice, 4); i--;) {
		switch (dice_below(dice, 12)) {
		case 0:
		case 1:
		case 2:
		case 3:
			change_body(dice);
			break;
		case 4:
			change_option(dice);
			break;
		case 5:
			change_cpus(dice);
			break;
		case 6:
			change_order(dice);
			break;
		default:
			change_chunk(dice);
		}
	}
	len = dat_write(&dat, out, sizeof(out));
	return len && dice_once_in(dice, 4) ? lie(dice, len) : len;
}

/* A place in a version 6 file follows from the sizes in front of it, so texts keep their lengths. */
static size_t mutate_v6(struct dice *dice)
{
	size_t end = dat_find_spans_v6(&dat), len = dat.len;
	struct dat_blob all = { .data = out, .len = len, .room = sizeof(out) };
	uint8_t other[2 * WINDOW];
	struct pages pages;

	memcpy(out, dat.in, len);
	for (size_t i = 1 + dice_below(dice, 4); i--;) {
		const struct dat_span *span = dat.nr_spans ? &dat.spans[dice_below(dice, dat.nr_spans)] : NULL;
		size_t at, size, want;

		if (dice_once_in(dice, 2) && len > end + 64) {
			at = dat.page_size ? (end + dat.page_size - 1) / dat.page_size * dat.page_size : end;
			at = at < len ? at : len;
			pages = (struct pages){ .data = out + at,
						.len = len - at,
						.page = dat.page_size,
						.big = dat.big,
						.long_size = dat.long_size };
			pages_change(dice, &pages);
		} else if (span && span->len && !dice_once_in(dice, 8)) {
			at = span->at + dice_below(dice, span->len);
			want = 1 + dice_below(dice, WINDOW - 1);
			want = want < span->at + span->len - at ? want : span->at + span->len - at;
			size = other_text(dice, out + at, want, &all, other);
			memcpy(out + at, other, size < want ? size : want);
		} else {
			at = dice_once_in(dice, 3) ? 12 + dice_below(dice, 6) : end + dice_below(dice, 512);
			if (at + 8 <= len)
				dat_store(&dat, out + at, 8, dice_claim(dice, dat_load(&dat, out + at, 8), len));
		}
	}
	return dice_once_in(dice, 32) ? dice_below(dice, len) : len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	struct dice dice = { .state = seed * 0x9e3779b97f4a7c15ULL + 1 };
	size_t len;

	dice_u64(&dice);
	if (size > sizeof(out) || dice_once_in(&dice, 8) || !dat_open(&dat, data, size))
		return LLVMFuzzerMutate(data, size, max_size);
	len = dat.version == 6 ? mutate_v6(&dice) : dat.nr_sections ? mutate_v7(&dice) : 0;
	if (!len || len > max_size)
		return LLVMFuzzerMutate(data, size, max_size);
	/* The fuzz target takes its shape from the last byte. */
	if (dice_once_in(&dice, 3))
		out[len - 1] = (uint8_t)dice_u64(&dice);
	memcpy(data, out, len);
	return len;
}
