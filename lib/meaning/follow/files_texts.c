// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/files_load_internal.h"

#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"

enum { TEXTS_MAX = 1 << 30 };

uint32_t files_of_text(struct files_load *load, const char *text, size_t len)
{
	struct files *files = load->files;
	uint32_t *known = u64_map_add(&files->hashes, xxh64(text, len)), *at;

	if (known && *known)
		return *known;
	at = known && files->texts.len < TEXTS_MAX ? vec_push(files->at, files->nr_at) : NULL;
	if (at)
		*at = (uint32_t)files->texts.len;
	if (!at || !buf_add(&files->texts, text, len) || !buf_add(&files->texts, "", 1)) {
		files->starved = true;
		return FILES_UNKNOWN;
	}
	return *known = (uint32_t)files->nr_at - 1;
}

size_t files_field_text(const struct place *place, const struct event *event, const char **ret)
{
	size_t len;

	return place_string(place, event, ret, &len) ? len : 0;
}

uint64_t files_inode_key(uint32_t device, uint64_t inode)
{
	const uint64_t both[] = { device, inode };

	return xxh64(both, sizeof(both));
}
