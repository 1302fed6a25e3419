// SPDX-License-Identifier: GPL-2.0-only
/* Input: any text as /proc/PID/maps. A map that is found must lie in the text and end behind the address. */
#include "lib/names/maps.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct maps *maps = NULL;
	struct map map;
	uint64_t address = 0;

	if (maps_of_text(7, (const char *)data, len, &maps, NULL))
		return 0;
	memcpy(&address, data, len < sizeof(address) ? len : sizeof(address));
	for (unsigned shift = 0; shift < 64; shift += 4) {
		const uint8_t *path;

		if (!maps_find(maps, 7, address >> shift, &map))
			continue;
		path = (const uint8_t *)map.path;
		if (map.end <= address >> shift || map.start >= map.end ||
		    (path && (path < data || map.path_len > (size_t)(data + len - path))))
			__builtin_trap();
	}
	maps_free(maps);
	return 0;
}
