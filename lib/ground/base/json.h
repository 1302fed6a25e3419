/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_JSON_H
#define WEFT_GROUND_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/*
 * Appends bytes of any origin as a JSON string (RFC 8259), quotes included. Each byte that is not UTF-8 (RFC 3629)
 * becomes U+FFFD; control characters, quotes and backslashes are escaped. The result is one line of valid UTF-8.
 */
void json_string(struct out *out, const void *bytes, size_t len);
void json_text(struct out *out, const char *text);

/*
 * A writer of JSON values into an out, which the owner may empty at any time: the writer never reads its output again.
 * The writer adds commas, colons and brackets, so the result is valid JSON:
 *	json_init(&json, out);
 *	json_object(&json);
 *	json_key(&json, "cpu");
 *	json_put_u64(&json, 3);
 *	json_end(&json);
 * A caller's mistake (a value without its key, an end without a beginning, a second value at the top) and more than
 * JSON_DEPTH_MAX levels are sticky: nothing more is written, and json_done() is false.
 * Not checked: a key that comes twice in an object.
 */
enum { JSON_DEPTH_MAX = 62 };

struct json {
	struct out *out;
	uint64_t objects; /* a bit for each level: it is an object, not an array */
	uint64_t filled;  /* a bit for each level: it has a value or a key */
	unsigned depth;
	bool broken;  /* the next comma is followed by a newline */
	bool keyed;   /* a key waits for its value */
	bool started; /* the value at the top has been started */
	bool failed;
};

void json_init(struct json *json, struct out *out);

/* True when the value at the top is complete and memory never ran out. */
bool json_done(const struct json *json);

/* Begin an object or an array; json_end() ends the innermost. */
void json_object(struct json *json);
void json_array(struct json *json);
void json_end(struct json *json);

/* The key of the next value, in an object. */
void json_key(struct json *json, const char *name);
void json_key_bytes(struct json *json, const void *name, size_t len);

void json_put_text(struct json *json, const char *text);
void json_put_bytes(struct json *json, const void *bytes, size_t len);
void json_put_u64(struct json *json, uint64_t value);
void json_put_s64(struct json *json, int64_t value);
/* value / 10^decimals, exactly. */
void json_put_decimal(struct json *json, int64_t value, unsigned decimals);
void json_put_decimal_u64(struct json *json, uint64_t value, unsigned decimals);
void json_put_bool(struct json *json, bool value);
void json_put_null(struct json *json);
/* A value that is JSON on one line already. */
void json_put_raw(struct json *json, const char *text, size_t len);

/* Starts a new line before the next value of this array or object, which must already have a value. */
void json_break(struct json *json);

/* A newline. After a complete value at the top another one may follow, as in JSON lines. */
void json_line(struct json *json);

#endif
