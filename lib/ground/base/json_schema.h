/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_JSON_SCHEMA_H
#define WEFT_GROUND_BASE_JSON_SCHEMA_H

struct json;
struct out;

/* JSON Schemas (2020-12) of what weft prints as JSON. They are strict: a member that is not in them is an error. */

/* Begins the object of a schema with the name of its language; json_end() ends it. */
void json_schema_begin(struct json *json);

/* The member "type" from a text such as "number|null". */
void json_schema_types(struct json *json, const char *types);

/* The member "version" of the properties, which has this value. */
void json_schema_version(struct json *json, unsigned version);

/*
 * A member of an object, in the order in which they are printed. In `path`, "a.b" is the member b of the object a,
 * "a[]" is an array, "*" a member of any name, the last of its object; behind a name, '?' says that the member may be
 * missing. `type` is as in json_schema_types().
 */
struct json_member {
	const char *path, *type, *text;
};

/* Appends the schema of an object with these members, ended by one without a path, and this version; and a newline. */
void json_schema_write(struct out *out, const struct json_member *members, unsigned version);

#endif
