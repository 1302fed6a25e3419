// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/answer.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/fail.h"

static void put_types(struct json *json, const char *types)
{
	json_key(json, "type");
	json_array(json);
	for (size_t len; *types; types += len + (types[len] == '|')) {
		len = strcspn(types, "|");
		json_put_bytes(json, types, len);
	}
	json_end(json);
}

/* The length of the first name of a path. */
static size_t name_len(const char *path)
{
	return strcspn(path, "[.?");
}

static const struct answer_member *put_members(struct json *json, const struct answer_member *member, size_t from);

/* The value at the name at `from` of the member's path, and all members in it. Returns the one after these. */
static const struct answer_member *put_value(struct json *json, const struct answer_member *member, size_t from)
{
	const char *rest = member->path + from + name_len(member->path + from);
	bool is_array = *rest == '[';

	json_object(json);
	if (is_array) {
		answer_text(json, "type", "array");
		json_key(json, "items");
		json_object(json);
		rest += strlen("[]");
	}
	rest += *rest == '?';
	if (*rest == '.') {
		member = put_members(json, member, (size_t)(rest + 1 - member->path));
	} else {
		put_types(json, member->type);
		answer_text(json, "description", member->text);
		member++;
	}
	if (is_array)
		json_end(json);
	json_end(json);
	return member;
}

/* Whether the member that the path begins with may be missing: "name?", "name[]?". */
static bool is_optional(const char *path)
{
	path += name_len(path);
	return path[*path == '[' ? strlen("[]") : 0] == '?';
}

/* Returns the member after all those in the value of the name at `from`. */
static const struct answer_member *after(const struct answer_member *member, size_t from)
{
	const char *name = member->path + from;
	size_t len = name_len(name);

	while ((++member)->path && strlen(member->path) > from && !strncmp(member->path + from, name, len) &&
	       name_len(member->path + from) == len)
		;
	return member;
}

/* The version, which each object as a whole has. */
static void put_version(struct json *json)
{
	json_key(json, "version");
	json_object(json);
	answer_number(json, "const", ANSWER_VERSION);
	json_end(json);
}

static void put_required(struct json *json, const struct answer_member *member, const struct answer_member *end,
			 size_t from)
{
	json_key(json, "required");
	json_array(json);
	if (!from)
		json_put_text(json, "version");
	for (; member != end; member = after(member, from))
		if (!is_optional(member->path + from) && member->path[from] != '*')
			json_put_bytes(json, member->path + from, name_len(member->path + from));
	json_end(json);
}

/* The members of an object, whose paths are equal before `from`. Returns the member after the last. */
static const struct answer_member *put_members(struct json *json, const struct answer_member *first, size_t from)
{
	const struct answer_member *member = first;

	answer_text(json, "type", "object");
	json_key(json, "properties");
	json_object(json);
	if (!from)
		put_version(json);
	while (member->path && !strncmp(member->path, first->path, from) && member->path[from] != '*') {
		json_key_bytes(json, member->path + from, name_len(member->path + from));
		member = put_value(json, member, from);
	}
	json_end(json);
	json_key(json, "additionalProperties");
	if (member->path && !strncmp(member->path, first->path, from) && member->path[from] == '*')
		member = put_value(json, member, from);
	else
		json_put_bool(json, false);
	put_required(json, first, member, from);
	return member;
}

void answer_schema(struct out *out, const struct answer_member *members)
{
	struct json json;

	json_init(&json, out);
	json_object(&json);
	answer_text(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	put_members(&json, members, 0);
	json_end(&json);
	json_line(&json);
}

static _Noreturn void print_schema(const struct command *command)
{
	struct fail fail = FAIL_INIT;
	struct out out;
	int r = out_init(&out, 4096) ? 0 : fail_memory(&fail);

	if (!r) {
		answer_schema(&out, command->answer);
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
		print_schema(command_find(blank ? blank + 1 : state->name));
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

int answer_begin(struct answer *answer, struct fail *fail)
{
	if (!out_init(&answer->out, 4096))
		return fail_memory(fail);
	json_init(&answer->json, &answer->out);
	json_object(&answer->json);
	answer_number(&answer->json, "version", ANSWER_VERSION);
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
