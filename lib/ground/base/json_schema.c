// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/json_schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/ground/base/json.h"

static void put_text(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_put_text(json, text);
}

void json_schema_begin(struct json *json)
{
	json_object(json);
	put_text(json, "$schema", "https://json-schema.org/draft/2020-12/schema");
}

void json_schema_types(struct json *json, const char *types)
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

static const struct json_member *put_members(struct json *json, const struct json_member *member, size_t from,
					     unsigned version);

/* The value at the name at `from` of the member's path, and all members in it. Returns the one after these. */
static const struct json_member *put_value(struct json *json, const struct json_member *member, size_t from)
{
	const char *rest = member->path + from + name_len(member->path + from);
	bool is_array = *rest == '[';

	json_object(json);
	if (is_array) {
		put_text(json, "type", "array");
		json_key(json, "items");
		json_object(json);
		rest += strlen("[]");
	}
	rest += *rest == '?';
	if (*rest == '.') {
		member = put_members(json, member, (size_t)(rest + 1 - member->path), 0);
	} else {
		json_schema_types(json, member->type);
		put_text(json, "description", member->text);
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
static const struct json_member *after(const struct json_member *member, size_t from)
{
	const char *name = member->path + from;
	size_t len = name_len(name);

	while ((++member)->path && strlen(member->path) > from && !strncmp(member->path + from, name, len) &&
	       name_len(member->path + from) == len)
		;
	return member;
}

void json_schema_version(struct json *json, unsigned version)
{
	json_key(json, "version");
	json_object(json);
	json_key(json, "const");
	json_put_u64(json, version);
	json_end(json);
}

static void put_required(struct json *json, const struct json_member *member, const struct json_member *end,
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
static const struct json_member *put_members(struct json *json, const struct json_member *first, size_t from,
					     unsigned version)
{
	const struct json_member *member = first;

	put_text(json, "type", "object");
	json_key(json, "properties");
	json_object(json);
	if (!from)
		json_schema_version(json, version);
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

void json_schema_write(struct out *out, const struct json_member *members, unsigned version)
{
	struct json json;

	json_init(&json, out);
	json_schema_begin(&json);
	put_members(&json, members, 0, version);
	json_end(&json);
	json_line(&json);
}
