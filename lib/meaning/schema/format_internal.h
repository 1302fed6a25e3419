/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_FORMAT_INTERNAL_H
#define WEFT_MEANING_SCHEMA_FORMAT_INTERNAL_H

#include "lib/meaning/schema/format.h"

struct arena;

/*
 * Parses the text of a format file into the arena. NULL when the text cannot be parsed: *ret_why has the reason, a
 * static text. Fields that overlap are accepted: kernels have had unions, and readers stay inside the record anyway.
 */
const struct format *format_parse(struct arena *arena, uint8_t long_size, const char *system, const char *text,
				  size_t len, const char **ret_why);

/* Reads only the values after "name:" and "ID:". False when one is missing. */
bool format_scan(const char *text, size_t len, const char **ret_name, size_t *ret_name_len, int32_t *ret_id);

enum {
	FORMAT_TEXT_MAX = 1 << 20,
	FORMAT_FIELDS_MAX = 4096,
	FORMAT_SIZE_MAX = 1 << 16,
};

#endif
