/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_SYMBOL_CHOICE_INTERNAL_H
#define WEFT_KERNEL_RECORD_SYMBOL_CHOICE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct assembly_piece;
struct buf;
struct fail;
struct ledger;
struct parts;
struct symbol_body;

/*
 * Chooses the symbols of a small recording: only those to which its pages can refer go into the file
 * (lib/meaning/names/symbols.h). All symbols are kept if they are small compared to the pages, because a choice
 * has to read all pages; if the recording asks for it (setting "weft/symbols" is "all"); or if a buffer is of the
 * kernel's last boot, which had other addresses. Invariant: the parts are not changed, so a recovery can choose again.
 */
#define SYMBOL_CHOICE_SETTING "weft/symbols"
#define SYMBOL_CHOICE_ALL "all\n"
#define SYMBOL_CHOICE_SOME "chosen\n"

/* Makes the recording keep all symbols. */
int must_check symbol_choice_keep_all(struct ledger *ledger, struct fail *fail);

/* Reads the symbols: all of them, or if *ret_chosen is set, the text of the chosen ones. */
int must_check symbol_choice_load(const struct parts *parts, const struct assembly_piece *pieces, size_t nr,
				  struct symbol_body *ret, bool *ret_chosen, struct fail *fail);

/*
 * The same for a setting about the functions of programs (lib/meaning/names/functions.h). *ret stays empty if all are
 * kept.
 */
int must_check symbol_choice_functions(const struct parts *parts, const char *setting,
				       const struct assembly_piece *pieces, size_t nr, struct buf *ret,
				       struct fail *fail);

#endif
