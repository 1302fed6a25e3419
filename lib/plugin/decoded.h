/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PLUGIN_DECODED_H
#define WEFT_PLUGIN_DECODED_H

#include <stddef.h>
#include <stdint.h>

struct decoder;
struct out;

/* One field that a plugin decoded from an event. What it points at is valid during the call that it is given to. */
enum decoded_kind { DECODED_TEXT, DECODED_INTEGER, DECODED_HEX };

struct decoded {
	const char *name; /* "error" */
	enum decoded_kind kind;
	uint64_t value;   /* int64_t of DECODED_INTEGER; to be shown in hex of DECODED_HEX */
	const char *text; /* of DECODED_TEXT; any bytes */
	size_t len;
};

typedef void decoded_fn(void *arg, const struct decoded *decoded);

/* Calls fn for each field that the plugin decodes from the event, in its order. Any thread. */
void decoder_each(const struct decoder *decoder, const uint8_t *data, size_t len, decoded_fn *fn, void *arg);

/* Appends " {NAME=VALUE NAME=VALUE}", or nothing when the plugin says nothing. Any thread. */
void decoder_run(const struct decoder *decoder, const uint8_t *data, size_t len, struct out *out);

/* The same as members of JSON: ',"decoded":{"NAME":VALUE}', numbers in decimal, or nothing. */
void decoder_run_json(const struct decoder *decoder, const uint8_t *data, size_t len, struct out *out);

#endif
