/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_JSON_H
#define WEFT_BASE_JSON_H

#include <stddef.h>

struct out;

/*
 * Appends bytes of any origin as a JSON string (RFC 8259), quotes included. What is not UTF-8 (RFC 3629) becomes U+FFFD,
 * one for each byte; control characters, quotes and backslashes are escaped. The result is one line of valid UTF-8.
 */
void json_string(struct out *out, const void *bytes, size_t len);
void json_text(struct out *out, const char *text);

#endif
