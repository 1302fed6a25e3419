// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/answer.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/json_schema.h"

void answer_print_schema(const struct json_member *members)
{
	struct fail fail = FAIL_INIT;
	struct out out;
	int r = out_init(&out, 4096) ? 0 : fail_memory(&fail);

	if (!r) {
		json_schema_write(&out, members, ANSWER_VERSION);
		r = terminal_flush(&out, &fail);
		out_release(&out);
	}
	exit(r ? command_failed(&fail) : EXIT_OK);
}

static void take_format(const struct option_row *row, void *is_json, char *name, struct argp_state *state)
{
	/* "weft info": the command's own name is behind the program's. */
	const char *blank = strrchr(state->name, ' ');

	(void)row;
	*(bool *)is_json = !strcmp(name, "json");
	if (!strcmp(name, "schema"))
		answer_print_schema(command_find(blank ? blank + 1 : state->name)->answer);
	if (strcmp(name, "json") && strcmp(name, "text"))
		argp_error(state, "--format: unknown format '%s'; use text, json or schema", name);
}

static const struct option_row options[] = {
	{ "format", 0, "text|json|schema", 0,
	  "Print for people (text, the default) or for programs, or what json looks like, as a JSON Schema", 0,
	  OPTION_CALL(struct answer, is_json, take_format) },
	{ 0 },
};

const struct options answer_options = { .rows = options };

void answer_open(struct json *json, struct out *out)
{
	json_init(json, out);
	json_object(json);
	answer_number(json, "version", ANSWER_VERSION);
}

int answer_begin(struct answer *answer, struct fail *fail)
{
	if (!out_init(&answer->out, 4096))
		return fail_memory(fail);
	answer_open(&answer->json, &answer->out);
	return 0;
}

int answer_end(struct answer *answer, struct fail *fail)
{
	int r;

	json_end(&answer->json);
	json_line(&answer->json);
	r = terminal_flush(&answer->out, fail);
	out_release(&answer->out);
	return r;
}

void answer_text(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	if (text)
		json_put_text(json, text);
	else
		json_put_null(json);
}

void answer_line(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	if (text)
		json_put_bytes(json, text, strcspn(text, "\n"));
	else
		json_put_null(json);
}

void answer_number(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_put_u64(json, value);
}

void answer_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_put_bool(json, value);
}
