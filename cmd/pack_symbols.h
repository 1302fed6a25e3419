/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_PACK_SYMBOLS_H
#define WEFT_CMD_PACK_SYMBOLS_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct buf;
struct fail;

/* Returns whether the file packed into `fd` can be read back. */
bool pack_symbols_readable(int fd);

/*
 * Chooses the symbols to which a packed file can refer (lib/names/symbol_subset.h), among those that it has. The result
 * is empty if all symbols should stay: they are small compared to the pages, or the file cannot be read back.
 */
int must_check pack_symbols_choose(int fd, struct buf *ret, struct fail *fail);

#endif
