/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_MAPS_H
#define WEFT_EVENT_MAPS_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct trace;

/*
 * What was mapped where in the processes of a recording, from the settings "proc/PID/maps" (proc(5)): for the option
 * sym-userobj, whose kernel text depends on the processes that live when it is read (seq_print_user_ip() of
 * kernel/trace/trace_output.c). Immutable once built; it borrows the trace.
 */
struct maps;

struct map {
	uint64_t start, end; /* the first address, and that behind the last */
	const char *path;    /* of the mapped file, as the kernel writes it; NULL: none */
	uint32_t path_len;
};

enum { MAPS_MAX = 1 << 20 }; /* of all processes; what is behind them counts as unknown */

int must_check maps_new(struct trace *trace, struct maps **ret, struct fail *fail);
/* Of one process; borrows the text. */
int must_check maps_of_text(int32_t pid, const char *text, size_t len, struct maps **ret, struct fail *fail);
void maps_free(struct maps *maps);

/*
 * As find_vma() of the kernel: the first map of the thread group that ends behind the address, though it may begin behind it, too.
 * False when there is none, or nothing is known of the process.
 */
bool maps_find(const struct maps *maps, int32_t tgid, uint64_t address, struct map *ret);

#endif
