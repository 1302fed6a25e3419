/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_PLUGIN_DECODED_H
#define WEFT_MEANING_PLUGIN_DECODED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"

struct decoder;
struct out;

/* One field that a plugin decoded from an event. Its pointers are valid during the call that receives it. */
enum decoded_kind { DECODED_TEXT, DECODED_INTEGER, DECODED_HEX };

struct decoded {
	const char *name; /* "error" */
	enum decoded_kind kind;
	uint64_t value;   /* DECODED_INTEGER: an int64_t; DECODED_HEX: shown in hex */
	const char *text; /* DECODED_TEXT: any bytes */
	size_t len;
};

/* The name of a field that a plugin may decode from the events of a type. */
struct decoded_name {
	const char *name;
	bool is_number; /* the kind is DECODED_INTEGER or DECODED_HEX, else DECODED_TEXT */
};

/* The names by index; NULL after the last. A plugin that does not list the names of its fields has none. */
const struct decoded_name *decoder_name(const struct decoder *decoder, size_t index);
const struct decoded_name *decoder_find(const struct decoder *decoder, const char *name);

typedef void decoded_fn(void *arg, const struct decoded *decoded);

/*
 * Calls fn for each field that the plugin decodes from the event, in its order. Any thread. False: there was no memory
 * for a field, for which fn was not called.
 */
bool decoder_each(const struct decoder *decoder, const uint8_t *data, size_t len, decoded_fn *fn, void *arg);

/* Appends " {NAME=VALUE NAME=VALUE}", or nothing if the plugin decodes nothing. Any thread. */
void decoder_run(const struct decoder *decoder, const uint8_t *data, size_t len, struct out *out);

/* Appends the same as members of JSON: ',"decoded":{"NAME":VALUE}', with decimal numbers, or nothing. Any thread. */
void decoder_run_json(const struct decoder *decoder, const uint8_t *data, size_t len, struct out *out);

/*
 * The fields that a plugin decoded from one event, in its order, kept until the next event: those that the plugin
 * lists, each once. `at` and the texts belong to the row.
 */
enum { DECODED_ROW_MAX = 16 };

struct decoded_row {
	const struct decoder *decoder;
	struct decoded at[DECODED_ROW_MAX];
	size_t starts[DECODED_ROW_MAX]; /* of the texts, while they grow */
	size_t nr;
	struct out text;
};

/* False without memory: the row is then empty. `decoder` NULL: no plugin is for the event. */
bool decoded_row_fill(struct decoded_row *row, const struct decoder *decoder, const uint8_t *data, size_t len);
void decoded_row_release(struct decoded_row *row);

/* NULL: the event has no such field. */
const struct decoded *decoded_row_find(const struct decoded_row *row, const char *name);

#endif
