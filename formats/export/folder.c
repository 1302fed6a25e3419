// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/folder.h"

#include <string.h>

void folder_piece(struct out *out, const char *name, size_t len)
{
	const struct folder_piece piece = { .magic = FOLDER_MAGIC, .name_len = (uint32_t)strlen(name), .len = len };

	out_mem(out, &piece, sizeof(piece));
	out_mem(out, name, piece.name_len);
}

void folder_word(const char *name, char into[FOLDER_WORD_MAX])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t len = 0;

	for (; name[len] && len < FOLDER_WORD_MAX - 1; len++)
		into[len] = strchr(plain, name[len]) && (len || name[len] != '.') ? name[len] : '_';
	if (!len)
		into[len++] = '_';
	into[len] = '\0';
}
