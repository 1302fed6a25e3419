/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEMORY_DUMP_DUMP_H
#define WEFT_MEMORY_DUMP_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * The physical memory of a machine, from a file that was written when its kernel had crashed or was stopped: an ELF
 * core (kdump's /proc/vmcore, makedumpfile -E, QEMU's dump-guest-memory) or a file of makedumpfile with compressed
 * pages, also in its flattened form. All of it is of unknown origin: sizes are checked, and memory is bounded by caps.
 * Not supported: 32-bit machines.
 */
struct dump;

enum dump_machine { DUMP_X86_64, DUMP_ARM64, DUMP_OTHER };

/*
 * Duplicates `fd`, which may be a pipe; `path` is for messages. -EBADMSG: the file is no dump that weft knows.
 */
int must_check dump_open(int fd, const char *path, struct dump **ret, struct fail *fail);
void dump_free(struct dump *dump); /* NULL is a no-op */

/*
 * Makes one dump of the files of makedumpfile --split, in any order; a single whole dump stays as it is. The parts
 * belong to the new dump, also after an error, and their places in the array become NULL. -EBADMSG: they do not belong
 * together, or are not all.
 */
int must_check dump_join(struct dump **parts, size_t nr, struct dump **ret, struct fail *fail);

enum dump_machine dump_machine(const struct dump *dump);
/* "ELF core", "kdump-compressed" or "flattened kdump-compressed". */
const char *dump_kind(const struct dump *dump);

/*
 * Reads physical memory. False when a part of it is not in the dump, or is damaged: the missing memory of a dump is
 * ordinary, because dumps leave out what seems to be of no use. After more reads than any kernel that is in order
 * needs, which a hostile dump could ask for, nothing can be read any more.
 */
bool dump_read(struct dump *dump, uint64_t address, void *into, size_t len);

/* Whether nothing can be read any more, so that to go on is of no use. */
bool dump_is_spent(const struct dump *dump);

/* What the kernel left for readers of dumps ("VMCOREINFO"), NUL-terminated; NULL: the dump has no such note. */
const char *dump_note(const struct dump *dump);

/*
 * A range of addresses of which the dump has at least some pages: the first one that ends above `from`. False: there is
 * none.
 */
bool dump_range(const struct dump *dump, uint64_t from, uint64_t *ret_from, uint64_t *ret_to);

/* It is /proc/kcore: the memory of the running kernel, which changes while it is read. */
bool dump_is_live(const struct dump *dump);

/* Pages that were asked for, and whose compressed bytes are damaged. */
uint64_t dump_damaged(const struct dump *dump);

#endif
