/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_EXTRACT_DUMP_H
#define WEFT_CMD_EXTRACT_DUMP_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/options/output_options.h"

struct answer;
struct reading;

enum { EXTRACT_DUMPS_MAX = 256 };

/* weft extract --dump, and weft info --dump: the buffers of a kernel that crashed, out of a dump of its memory. */
struct extract_dump {
	const char *const *dumps; /* "-": standard input; several: the parts of a split one */
	size_t nr_dumps;
	const char *btf;     /* a copy of /sys/kernel/btf/vmlinux; or NULL */
	const char *symbols; /* a System.map, a copy of /proc/kallsyms, or a vmlinux; or NULL */
	const char *const *instances;
	size_t nr_instances; /* 0: all that have events, and the top one */
	bool snapshot;
	bool hash_key; /* keeps the key of hashed pointers */
	const struct reading *reading;
	bool list;                             /* prints what is there, and writes no file */
	struct answer *answer;                 /* of `list`: how */
	const struct output_arguments *output; /* NULL with `list` */
};

/* Returns the exit status: EXIT_FAILED also when the file was written and a part of the buffers is missing. */
int extract_dump_run(const struct extract_dump *extract);

#endif
