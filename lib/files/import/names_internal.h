/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_NAMES_INTERNAL_H
#define WEFT_FILES_IMPORT_NAMES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/u64_map.h"

/*
 * The names of tasks and functions in the lines, as texts in the form of tracefs: saved_cmdlines, saved_tgids,
 * kallsyms. If a task had several names, the last one stays, as in the kernel. The address of a function is that of the
 * text (sym-addr), or a number made up for its name.
 */
struct import_names {
	struct u64_map tasks;   /* by pid */
	struct u64_map symbols; /* by the hash of the name, and of its size and its address in the text: its address */
	struct buf kallsyms;
	struct buf ends; /* lines of kallsyms that come last: where functions end whose size the text has */
	uint64_t used, used_in_modules; /* bytes of made-up addresses */
	size_t nr_symbols;
};

/* A place in a function as a line has it: "ext4_sync_fs+0x10/0x80 [ext4] <ffffffffc0000010>", or less of it. */
struct import_place {
	const char *name, *module; /* the module with its brackets */
	size_t len, module_len;
	uint64_t offset, size, address; /* size, address: 0 if the line has none */
	bool named; /* a number is a name: without offsets it is printed as one, and no function is taken for it */
};

void import_names_init(struct import_names *names);
void import_names_release(struct import_names *names);

/* Returns false when memory runs out. `comm`: NULL is unknown, an empty name is a name. A tgid of 0 is unknown. */
bool import_names_task(struct import_names *names, int32_t pid, const char *comm, size_t len, int32_t tgid);

/* Does the same for a name of which only the beginning is known: it does not replace another name. */
bool import_names_task_short(struct import_names *names, int32_t pid, const char *comm, size_t len);

/* Returns 0 if the text is no name of a function, or when memory runs out. */
uint64_t import_names_symbol(struct import_names *names, const char *name, size_t len);

/* Returns the address of the place, or 0 as above. A number in place of a name, "0xffffffffa0000235", is itself. */
uint64_t import_names_place(struct import_names *names, const struct import_place *place);

/* Writes the lines of kallsyms. */
bool import_names_kallsyms(const struct import_names *names, struct buf *kallsyms);

/* Writes lines "PID NAME" and "PID TGID". */
bool import_names_texts(const struct import_names *names, struct buf *cmdlines, struct buf *tgids);

#endif
