// SPDX-License-Identifier: GPL-2.0-only
/* Input: any bytes as a kernel's type information, and any text as the types that a file stores. */
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/types.h"
#include "lib/memory/image/types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void print_all(const char *text, size_t len)
{
	struct call_args args = {
		.values = { 1, UINT64_MAX, 3, 4, 5, 6 }, .nr = 6, .long_size = 8, .enumerators = true
	};
	struct types *types;
	struct out out;
	uint64_t value;

	if (types_of_text(text, len, &types, NULL))
		return;
	if (out_init(&out, 64)) {
		for (size_t at = 0; at + 2 < len && at < 4096; at++) {
			const char *end = memchr(text + at, ' ', len - at);

			if (end)
				types_print_args(types, text + at, (size_t)(end - text) - at, &args, &out);
			out_clear(&out);
		}
		out_release(&out);
	}
	types_value(types, text, len, &value);
	types_free(types);
}

struct module {
	const uint8_t *data;
	size_t len;
	bool there;
};

/* The same bytes, once, as those of a module. */
static bool next_module(void *arg, struct buf *buf)
{
	struct module *module = arg;
	bool there = module->there;

	buf_clear(buf);
	module->there = false;
	return there && buf_add(buf, module->data, module->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct module module = { data, len, true };
	struct names *names;
	struct buf lines = BUF_INIT;

	print_all((const char *)data, len);
	if (names_new(&names, NULL))
		return 0;
	if (!names_add_format(names, (const char *)data, len, NULL) &&
	    !types_lines(data, len, &(struct types_modules){ next_module, &module }, NULL, names, &lines, NULL))
		print_all(buf_str(&lines), lines.len);
	names_free(names);
	buf_release(&lines);
	return 0;
}
