// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fuzz/mutator/dat.h"

#include <string.h>

enum { HEADERS = 16, FTRACE = 17, EVENTS = 18, KALLSYMS = 19, PRINTK = 20, CMDLINES = 21, INITIAL = 18 };

/* The current place in the bytes that are searched. */
struct look {
	struct dat *dat;
	const uint8_t *data;
	size_t at, len;
};

/* A length of `width` bytes, and the text behind it. */
static bool look_text(struct look *look, unsigned width)
{
	struct dat *dat = look->dat;
	size_t field = look->at;
	uint64_t len;

	if (look->len - look->at < width)
		return false;
	len = dat_load(dat, look->data + field, width);
	look->at += width;
	if (len > look->len - look->at)
		return false;
	if (dat->nr_spans < DAT_SPANS)
		dat->spans[dat->nr_spans++] = (struct dat_span){ look->at, (size_t)len, field, width };
	look->at += (size_t)len;
	return true;
}

static bool look_count(struct look *look, uint32_t *ret)
{
	if (look->len - look->at < 4)
		return false;
	*ret = (uint32_t)dat_load(look->dat, look->data + look->at, 4);
	look->at += 4;
	return true;
}

static bool look_name(struct look *look)
{
	const uint8_t *end = memchr(look->data + look->at, 0, look->len - look->at);

	if (!end)
		return false;
	look->at = (size_t)(end - look->data) + 1;
	return true;
}

static bool look_texts(struct look *look)
{
	uint32_t count;
	bool ok = look_count(look, &count);

	while (ok && count--)
		ok = look_text(look, 8);
	return ok;
}

static bool look_section(struct look *look, unsigned section)
{
	uint32_t systems;
	bool ok;

	switch (section) {
	case HEADERS:
		return look_name(look) && look_text(look, 8) && look_name(look) && look_text(look, 8);
	case FTRACE:
		return look_texts(look);
	case EVENTS:
		ok = look_count(look, &systems);
		while (ok && systems--)
			ok = look_name(look) && look_texts(look);
		return ok;
	case KALLSYMS:
	case PRINTK:
		return look_text(look, 4);
	case CMDLINES:
		return look_text(look, 8);
	}
	return false;
}

void dat_find_spans(struct dat *dat, const struct dat_blob *body, unsigned section)
{
	struct look look = { .dat = dat, .data = body->data, .len = body->len };

	dat->nr_spans = 0;
	look_section(&look, section);
	if (!dat->nr_spans)
		dat->spans[dat->nr_spans++] = (struct dat_span){ .at = 0, .len = body->len };
}

size_t dat_find_spans_v6(struct dat *dat)
{
	static const unsigned sections[] = { HEADERS, FTRACE, EVENTS, KALLSYMS, PRINTK, CMDLINES };
	struct look look = { .dat = dat, .data = dat->in, .at = INITIAL, .len = dat->len };

	dat->nr_spans = 0;
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (!look_section(&look, sections[i]))
			break;
	return look.at;
}
