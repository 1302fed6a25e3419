/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_NAMES_MAPS_H
#define WEFT_NAMES_MAPS_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct trace;

/*
 * The memory maps of the processes of a recording, from the settings "proc/PID/maps" (proc(5)): for the option
 * sym-userobj, whose kernel text depends on the processes that exist when the kernel prints it (seq_print_user_ip() of
 * kernel/trace/trace_output.c). Immutable once built; it borrows the trace.
 */
struct maps;

struct map {
	uint64_t start, end; /* the first address, and the address after the last one */
	const char *path;    /* the mapped file, as the kernel writes it; NULL: none */
	uint32_t path_len;
};

enum { MAPS_MAX = 1 << 20 }; /* limit for all processes together; further maps are ignored */

int must_check maps_new(struct trace *trace, struct maps **ret, struct fail *fail);
/* Makes the maps of one process; borrows the text. */
int must_check maps_of_text(int32_t pid, const char *text, size_t len, struct maps **ret, struct fail *fail);
void maps_free(struct maps *maps);

/*
 * Like the kernel's find_vma(): finds the first map of the thread group that ends after the address; the map may also
 * begin after it. False when there is none, or when the maps of the process are unknown.
 */
bool maps_find(const struct maps *maps, int32_t tgid, uint64_t address, struct map *ret);

#endif
