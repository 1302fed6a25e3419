/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_PACK_SYMBOLS_H
#define WEFT_CMD_PACK_SYMBOLS_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct buf;
struct fail;

/* Whether what was packed into `fd` can be read back. */
bool pack_symbols_readable(int fd);

/*
 * The symbols that a packed file can refer to (lib/event/symbol_subset.h), of all those that it holds. Empty where all
 * are to stay: they are little beside the pages, or the file cannot be read back.
 */
int must_check pack_symbols_choose(int fd, struct buf *ret, struct fail *fail);

#endif
