// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/program.h"
#include "lib/meaning/schema/value_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool symbol(const void *arg, uint64_t address, char how, struct out *out)
{
	(void)arg;
	(void)how;
	if (address & 1)
		return false;
	out_str(out, "symbol");
	return true;
}

static void name_values(const struct format *format, const struct schema_abi *abi, const struct program_env *env)
{
	for (uint32_t i = 0; i < format->nr_fields; i++) {
		struct value_names *names;
		const char *text;
		size_t len;

		if (value_names_new(abi, env, format, &format->fields[i], &names, NULL) || !names)
			continue;
		for (uint64_t value = 0; value < 4; value++)
			if (value_names_find(names, value, &text, &len) && text[len - 1] == '\xff')
				continue;
		value_names_free(names);
	}
}

/* The input is one byte of options, a format file up to the first NUL, and a record. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct program_env env = { .symbol = symbol };
	struct schema_abi abi = { .long_size = 8 };
	struct schema *schema = NULL;
	const struct format *format;
	const struct program *program;
	const uint8_t *end, *record;
	const char *system, *name;
	size_t record_len;
	struct out out;
	int32_t id;

	if (!len)
		return 0;
	abi.long_size = *data & 1 ? 4 : 8;
	abi.swap = abi.big_endian = *data & 2;
	env.hash_pointers = *data & 4;
	data++;
	len--;
	end = memchr(data, 0, len);
	record = end ? end + 1 : data + len;
	record_len = (size_t)(data + len - record);
	if (schema_new(&abi, &schema, NULL) || !out_init(&out, 1 << 16))
		__builtin_trap();
	if (!schema_add(schema, "fuzz", 4, (const char *)data, end ? (size_t)(end - data) : len, NULL) &&
	    schema_at(schema, 0, &id, &system, &name)) {
		format = schema_format(schema, id, NULL);
		program = format ? schema_program(schema, format, NULL) : NULL;
		if (program)
			program_run(program, &env, record, record_len, &out);
		if (format)
			program_fields(schema_abi(schema), format, &env, record, record_len, &out);
		if (format)
			name_values(format, &abi, &env);
	}
	if (end)
		program_bprintf(schema, &env, (const char *)data, record, record_len, &out);
	out_release(&out);
	schema_free(schema);
	return 0;
}
