/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PLUGIN_DECODER_INTERNAL_H
#define WEFT_PLUGIN_DECODER_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/plugin/decoded.h"
#include "lib/plugin/plugin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field;
struct format;
struct schema_abi;

/* A handler bound to one event type. Private to lib/plugin. Invariant: immutable once made. */
enum { DECODER_FIELDS = 16, DECODER_NAMES = 16 };

struct decoder {
	struct decoder *next;
	const struct weft_handler *handler;
	const struct format *format;
	const struct schema_abi *abi;
	const char *machine;
	unsigned nr_fields;
	const struct field *fields[DECODER_FIELDS]; /* NULL: an optional field that the event lacks */
	size_t nr_names;
	struct decoded_name names[DECODER_NAMES];
};

/*
 * Returns whether the handler is for this event and all fields that it needs exist. Then *ret is bound, except `next`.
 * `facts` are the handler's; NULL: it has none.
 */
bool decoder_bind(const struct weft_handler *handler, const char *const *facts, const struct format *format,
		  const struct schema_abi *abi, const char *machine, struct decoder *ret);

#endif
