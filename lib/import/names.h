/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_IMPORT_NAMES_H
#define WEFT_IMPORT_NAMES_H

#include "lib/base/buf.h"
#include "lib/base/u64_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The names of tasks and functions in the lines, as texts in the form of tracefs: saved_cmdlines, saved_tgids,
 * kallsyms. If a task had several names, the last one stays, as in the kernel. The address of a function is a number
 * made up for its name.
 */
struct import_names {
	struct u64_map tasks;   /* by pid */
	struct u64_map symbols; /* by the hash of the name: the address */
	struct buf kallsyms;
	uint64_t nr_symbols;
};

void import_names_init(struct import_names *names);
void import_names_release(struct import_names *names);

/* Returns false when memory runs out. A tgid of 0 is unknown. */
bool import_names_task(struct import_names *names, int32_t pid, const char *comm, size_t len, int32_t tgid);

/* Does the same for a name of which only the beginning is known: it does not replace another name. */
bool import_names_task_short(struct import_names *names, int32_t pid, const char *comm, size_t len);

/* Returns 0 if the text is no name of a function, or when memory runs out. */
uint64_t import_names_symbol(struct import_names *names, const char *name, size_t len);

/* Writes lines "PID NAME" and "PID TGID". */
bool import_names_texts(const struct import_names *names, struct buf *cmdlines, struct buf *tgids);

#endif
