// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: any text as /proc/PID/maps, and as the functions of the files in it (weft/functions). A map that is found must
 * lie in the text and end behind the address, and so must the name of a function. Such a name is also taken as rules of
 * weft/unwind, and the text as the stack: each step goes up.
 */
#include <string.h>

#include "lib/meaning/names/functions.h"
#include "lib/meaning/names/maps.h"
#include "lib/meaning/names/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void unwind(const struct function *function, const uint8_t *data, size_t len)
{
	struct unwind unwind = {
		.known = (1u << UNWIND_REGISTERS) - 1, .stack = data, .stack_len = len, .called = true
	};
	uint64_t last = 0;

	for (unsigned i = 0;
	     i < 16 && unwind_step(&unwind, function->name, function->name_len, function->offset) == UNWIND_GOES_ON;
	     i++) {
		if (unwind.registers[UNWIND_STACK] <= last)
			__builtin_trap();
		last = unwind.registers[UNWIND_STACK];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct functions *functions = NULL;
	struct function function;
	struct maps *maps = NULL;
	struct map map;
	uint64_t address = 0;

	if (maps_of_text(7, (const char *)data, len, &maps, NULL))
		return 0;
	if (functions_of_text((const char *)data, len, &functions, NULL)) {
		maps_free(maps);
		return 0;
	}
	memcpy(&address, data, len < sizeof(address) ? len : sizeof(address));
	for (unsigned shift = 0; shift < 64; shift += 4) {
		const uint8_t *path;

		if (!maps_find(maps, 7, address >> shift, &map))
			continue;
		path = (const uint8_t *)map.path;
		if (map.end <= address >> shift || map.start >= map.end ||
		    (path && (path < data || map.path_len > (size_t)(data + len - path))))
			__builtin_trap();
		if (!path || map.start > address >> shift ||
		    !functions_find(functions, &map, address >> shift, &function))
			continue;
		if ((const uint8_t *)function.name < data ||
		    function.name_len > (size_t)(data + len - (const uint8_t *)function.name))
			__builtin_trap();
		unwind(&function, data, len);
	}
	functions_free(functions);
	maps_free(maps);
	return 0;
}
