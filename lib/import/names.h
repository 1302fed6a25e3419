/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_IMPORT_NAMES_H
#define WEFT_IMPORT_NAMES_H

#include "lib/base/buf.h"
#include "lib/base/u64_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the lines call tasks and functions, as the texts of tracefs: saved_cmdlines, saved_tgids, kallsyms. Of a task
 * that had several names the last one stays, as in the kernel. A function's address is the number of its name.
 */
struct import_names {
	struct u64_map tasks;   /* by pid */
	struct u64_map symbols; /* by hash: the address */
	struct buf kallsyms;
	uint64_t nr_symbols;
};

void import_names_init(struct import_names *names);
void import_names_release(struct import_names *names);

/* False without memory. A tgid of 0 is unknown. */
bool import_names_task(struct import_names *names, int32_t pid, const char *comm, size_t len, int32_t tgid);

/* The same for a name of which only the beginning is known: a task that has one keeps it. */
bool import_names_task_short(struct import_names *names, int32_t pid, const char *comm, size_t len);

/* 0: it is no name of a function, or memory is short. */
uint64_t import_names_symbol(struct import_names *names, const char *name, size_t len);

/* Lines "PID NAME" and "PID TGID". */
bool import_names_texts(const struct import_names *names, struct buf *cmdlines, struct buf *tgids);

#endif
