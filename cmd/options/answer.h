/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_ANSWER_H
#define WEFT_CMD_OPTIONS_ANSWER_H

#include <stdbool.h>

#include "cmd/options/option_rows.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"

struct fail;

/*
 * A member of the object, in the order in which they are printed. In `path`, "a.b" is the member b of the object a,
 * "a[]" is an array, "*" a member of any name; behind a name, '?' says that the member may be missing. `type` is as in
 * JSON Schema, "number|null".
 */
struct answer_member {
	const char *path, *type, *text;
};

/*
 * What a command answers that prints no tables of an analysis: lines for people, or with --format json one object for
 * programs. As a child table (answer_options; its input is a struct answer) it adds --format; --format schema prints
 * the schema of the object from the command's members (struct command), and ends the program as --help does.
 */
struct answer {
	bool is_json;
	struct out out;
	struct json json;
};

extern const struct options answer_options;

enum { ANSWER_VERSION = 1 };

/* Begins the object with its version. Call it and the others only for JSON. */
int must_check answer_begin(struct answer *answer, struct fail *fail);
/* Ends the object and prints it; releases the answer, also after an error. */
int must_check answer_end(struct answer *answer, struct fail *fail);

/* A key with its value; a text that is NULL is null. */
void answer_text(struct json *json, const char *key, const char *text);
/* The first line of a text. */
void answer_line(struct json *json, const char *key, const char *text);
void answer_number(struct json *json, const char *key, uint64_t value);
void answer_bool(struct json *json, const char *key, bool value);

/* Appends the JSON Schema (2020-12) of an object with these members, ended by one without a path, and its version. */
void answer_schema(struct out *out, const struct answer_member *members);

#endif
