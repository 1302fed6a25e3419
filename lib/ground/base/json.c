// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/json.h"

#include <stdint.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/ground/base/utf8.h"

static void put_escape(struct out *out, uint8_t c)
{
	static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (size_t i = 0; letters[i]; i += 2) {
		if ((uint8_t)letters[i] == c) {
			out_char(out, '\\');
			out_char(out, letters[i + 1]);
			return;
		}
	}
	out_mem(out, "\\u", 2);
	out_hex_pad(out, c, 4, '0');
}

void json_string(struct out *out, const void *bytes, size_t len)
{
	const uint8_t *at = bytes, *end = at + len, *plain = at;

	out_char(out, '"');
	while (at < end) {
		size_t size;

		/* Nearly all bytes of a trace are such. */
		if (*at >= ' ' && *at < 0x7f && *at != '"' && *at != '\\') {
			at++;
			continue;
		}
		size = utf8_len(at, (size_t)(end - at));
		if (size && *at >= ' ' && *at != '"' && *at != '\\') {
			at += size;
			continue;
		}
		out_mem(out, plain, (size_t)(at - plain));
		if (size)
			put_escape(out, *at);
		else
			out_mem(out, "\\ufffd", 6);
		plain = ++at;
	}
	out_mem(out, plain, (size_t)(at - plain));
	out_char(out, '"');
}

void json_text(struct out *out, const char *text)
{
	json_string(out, text, strlen(text));
}

void json_init(struct json *json, struct out *out)
{
	*json = (struct json){ .out = out };
}

bool json_done(const struct json *json)
{
	return !json->failed && !json->out->failed && !json->depth && json->started;
}

static uint64_t level_of(const struct json *json)
{
	return UINT64_C(1) << json->depth;
}

static void put_comma(struct json *json)
{
	if (json->filled & level_of(json))
		out_mem(json->out, ",\n", json->broken ? 2 : 1);
	json->filled |= level_of(json);
	json->broken = false;
}

void json_break(struct json *json)
{
	json->broken = true;
}

/* Begins a value. It is allowed in an array, after its key, or as the only value at the top. */
static bool begin_value(struct json *json)
{
	if (json->failed)
		return false;
	if (!json->depth) {
		json->failed = json->started;
		json->started = true;
		return !json->failed;
	}
	if (json->objects & level_of(json)) {
		json->failed = !json->keyed;
		json->keyed = false;
		return !json->failed;
	}
	put_comma(json);
	return true;
}

static void begin(struct json *json, bool object)
{
	if (!begin_value(json))
		return;
	if (json->depth + 1 > JSON_DEPTH_MAX) {
		json->failed = true;
		return;
	}
	out_char(json->out, object ? '{' : '[');
	json->depth++;
	json->filled &= ~level_of(json);
	json->objects &= ~level_of(json);
	if (object)
		json->objects |= level_of(json);
}

void json_object(struct json *json)
{
	begin(json, true);
}

void json_array(struct json *json)
{
	begin(json, false);
}

void json_end(struct json *json)
{
	if (json->failed || !json->depth || json->keyed) {
		json->failed = true;
		return;
	}
	out_char(json->out, json->objects & level_of(json) ? '}' : ']');
	json->depth--;
}

void json_key(struct json *json, const char *name)
{
	json_key_bytes(json, name, strlen(name));
}

void json_key_bytes(struct json *json, const void *name, size_t len)
{
	if (json->failed || !json->depth || !(json->objects & level_of(json)) || json->keyed) {
		json->failed = true;
		return;
	}
	put_comma(json);
	json_string(json->out, name, len);
	out_char(json->out, ':');
	json->keyed = true;
}

void json_put_text(struct json *json, const char *text)
{
	json_put_bytes(json, text, strlen(text));
}

void json_put_bytes(struct json *json, const void *bytes, size_t len)
{
	if (begin_value(json))
		json_string(json->out, bytes, len);
}

void json_put_u64(struct json *json, uint64_t value)
{
	if (begin_value(json))
		out_u64(json->out, value);
}

void json_put_s64(struct json *json, int64_t value)
{
	if (begin_value(json))
		out_s64(json->out, value);
}

void json_put_decimal(struct json *json, int64_t value, unsigned decimals)
{
	if (begin_value(json))
		out_decimal(json->out, value, decimals);
}

void json_put_decimal_u64(struct json *json, uint64_t value, unsigned decimals)
{
	if (begin_value(json))
		out_decimal_u64(json->out, value, decimals);
}

void json_put_bool(struct json *json, bool value)
{
	if (begin_value(json))
		out_str(json->out, value ? "true" : "false");
}

void json_put_null(struct json *json)
{
	if (begin_value(json))
		out_str(json->out, "null");
}

void json_put_raw(struct json *json, const char *text, size_t len)
{
	if (begin_value(json))
		out_mem(json->out, text, len);
}

void json_line(struct json *json)
{
	out_char(json->out, '\n');
	if (!json->depth)
		json->started = false;
}
