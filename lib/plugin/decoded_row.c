// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/plugin/decoded_row.h"

#include <string.h>

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
