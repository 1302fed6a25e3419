/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SCHEMA_FORMAT_INTERNAL_H
#define WEFT_SCHEMA_FORMAT_INTERNAL_H

#include "lib/schema/format.h"

struct arena;

/*
 * Parses the text of a format file into the arena. NULL when it cannot: *ret_why says why, a text that lives forever.
 * Fields that overlap are accepted: kernels have had unions, and no reader is led outside the record by them.
 */
const struct format *format_parse(struct arena *arena, uint8_t long_size, const char *system, const char *text,
				  size_t len, const char **ret_why);

/* Only what stands behind "name:" and "ID:". False without them. */
bool format_scan(const char *text, size_t len, const char **ret_name, size_t *ret_name_len, int32_t *ret_id);

enum {
	FORMAT_TEXT_MAX = 1 << 20,
	FORMAT_FIELDS_MAX = 4096,
	FORMAT_SIZE_MAX = 1 << 16,
};

#endif
