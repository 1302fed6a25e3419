// SPDX-License-Identifier: LGPL-2.1-or-later
/* The two forms in which formats print what a plugin decoded. */
#include "lib/plugin/decoded.h"

#include "lib/base/json.h"
#include "lib/base/out.h"

#include <stdbool.h>

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
