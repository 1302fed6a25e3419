/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_NAMES_MAPS_H
#define WEFT_MEANING_NAMES_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

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
	uint64_t offset;     /* of the first byte in the file */
	uint64_t inode;
	bool executable;
	const char *path; /* the mapped file, as the kernel writes it; NULL: none */
	uint32_t path_len;
};

/*
 * Lines as of proc(5) behind a line "p PID" for each process: executable maps, as the kernel told of new ones. They are
 * also of processes that ended before anybody could read their maps.
 */
#define SETTING_MAPS "weft/maps"

enum { MAPS_MAX = 1 << 20 }; /* limit for all processes together; further maps are ignored */

/* `of`: the buffer whose settings they are, the first one of a recording. */
int must_check maps_new(struct trace *trace, size_t of, struct maps **ret, struct fail *fail);
/* The same from SETTING_MAPS. *ret is NULL if there is none. */
int must_check maps_of_watch(struct trace *trace, size_t of, struct maps **ret, struct fail *fail);
/* Makes the maps of one process; borrows the text. */
int must_check maps_of_text(int32_t pid, const char *text, size_t len, struct maps **ret, struct fail *fail);
void maps_free(struct maps *maps);

/* One line of /proc/PID/maps, which the map borrows. False: it is none. */
struct text_word;
bool map_of_line(struct text_word line, struct map *ret);

/*
 * Like the kernel's find_vma(): finds the first map of the thread group that ends after the address; the map may also
 * begin after it. False when there is none, or when the maps of the process are unknown.
 */
bool maps_find(const struct maps *maps, int32_t tgid, uint64_t address, struct map *ret);

#endif
