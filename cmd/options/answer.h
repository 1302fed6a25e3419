/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_ANSWER_H
#define WEFT_CMD_OPTIONS_ANSWER_H

#include <stdbool.h>

#include "cmd/options/option_rows.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/json_schema.h"
#include "lib/ground/base/out.h"

struct fail;

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

/* Begins an object with its version, which json_end() ends. */
void answer_open(struct json *json, struct out *out);

/* Begins the answer. Call it and the others only for JSON. */
int must_check answer_begin(struct answer *answer, struct fail *fail);
/* Ends the object and prints it; releases the answer, also after an error. */
int must_check answer_end(struct answer *answer, struct fail *fail);

/* A key with its value; a text that is NULL is null. */
void answer_text(struct json *json, const char *key, const char *text);
/* The first line of a text. */
void answer_line(struct json *json, const char *key, const char *text);
void answer_number(struct json *json, const char *key, uint64_t value);
void answer_bool(struct json *json, const char *key, bool value);

/* Prints the schema of an object with these members, and ends the program as --help does. */
_Noreturn void answer_print_schema(const struct json_member *members);

#endif
