// SPDX-License-Identifier: LGPL-2.1-or-later
/* The two forms in which formats print what a plugin decoded. */
#include "lib/meaning/plugin/decoded.h"

#include <stdbool.h>
#include <string.h>

#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"

struct printing {
	struct out *out;
	bool any;
};

static void put_text(void *arg, const struct decoded *decoded)
{
	struct printing *printing = arg;
	struct out *out = printing->out;

	out_str(out, printing->any ? " " : " {");
	printing->any = true;
	out_str(out, decoded->name);
	out_char(out, '=');
	switch (decoded->kind) {
	case DECODED_TEXT:
		/* The bytes may come from the file, so newlines are escaped: one event stays on one line. */
		for (size_t i = 0; i < decoded->len; i++)
			out_char(out, (unsigned char)decoded->text[i] < ' ' ? '?' : decoded->text[i]);
		break;
	case DECODED_INTEGER:
		out_s64(out, (int64_t)decoded->value);
		break;
	case DECODED_HEX:
		out_str(out, "0x");
		out_hex(out, decoded->value);
		break;
	}
}

static void put_json(void *arg, const struct decoded *decoded)
{
	struct printing *printing = arg;
	struct out *out = printing->out;

	out_str(out, printing->any ? "," : ",\"decoded\":{");
	printing->any = true;
	json_text(out, decoded->name);
	out_char(out, ':');
	switch (decoded->kind) {
	case DECODED_TEXT:
		json_string(out, decoded->text, decoded->len);
		break;
	case DECODED_INTEGER:
		out_s64(out, (int64_t)decoded->value);
		break;
	case DECODED_HEX:
		out_u64(out, decoded->value);
		break;
	}
}

static void print(const struct decoder *decoder, const uint8_t *data, size_t len, decoded_fn *put, struct out *out)
{
	struct printing printing = { .out = out };

	if (!decoder_each(decoder, data, len, put, &printing))
		out->failed = true;
	if (printing.any)
		out_char(out, '}');
}

void decoder_run(const struct decoder *decoder, const uint8_t *data, size_t len, struct out *out)
{
	print(decoder, data, len, put_text, out);
}

void decoder_run_json(const struct decoder *decoder, const uint8_t *data, size_t len, struct out *out)
{
	print(decoder, data, len, put_json, out);
}

enum { TEXT_SIZE = 256 };

void decoded_row_release(struct decoded_row *row)
{
	if (row->text.start)
		out_release(&row->text);
	*row = (struct decoded_row){ .nr = 0 };
}

const struct decoded *decoded_row_find(const struct decoded_row *row, const char *name)
{
	for (size_t i = 0; i < row->nr; i++)
		if (!strcmp(row->at[i].name, name))
			return &row->at[i];
	return NULL;
}

static void keep(void *arg, const struct decoded *decoded)
{
	struct decoded_row *row = arg;
	const struct decoded_name *listed = decoder_find(row->decoder, decoded->name);

	/* A column of numbers has no texts, whatever a plugin gives. */
	if (!listed || listed->is_number == (decoded->kind == DECODED_TEXT) || row->nr == DECODED_ROW_MAX ||
	    decoded_row_find(row, decoded->name))
		return;
	row->at[row->nr] = *decoded;
	row->at[row->nr].name = listed->name;
	row->starts[row->nr++] = out_len(&row->text);
	if (decoded->kind == DECODED_TEXT)
		out_mem(&row->text, decoded->text, decoded->len);
}

bool decoded_row_fill(struct decoded_row *row, const struct decoder *decoder, const uint8_t *data, size_t len)
{
	row->nr = 0;
	row->decoder = decoder;
	if (!decoder)
		return true;
	if (!row->text.start && !out_init(&row->text, TEXT_SIZE))
		return false;
	out_clear(&row->text);
	if (!decoder_each(decoder, data, len, keep, row) || row->text.failed) {
		row->nr = 0;
		return false;
	}
	for (size_t i = 0; i < row->nr; i++)
		if (row->at[i].kind == DECODED_TEXT)
			row->at[i].text = row->text.start + row->starts[i];
	return true;
}
