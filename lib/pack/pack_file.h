/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PACK_PACK_FILE_H
#define WEFT_PACK_PACK_FILE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct fail;
struct pack_options;
struct pack_summary;

/* What packing learns from files beside the directory, read together with the packed events. */
struct pack_learning {
	const char *sample; /* a text with the option latency-format; or NULL */
	const char *btf;    /* a copy of /sys/kernel/btf/vmlinux; or NULL */
	bool all_symbols;   /* keeps all symbols, not only those to which the pages can refer */
};

/*
 * Packs as pack() does, several times if something can only be learned from the packed events. If `fd` can be read
 * back, it is written anew; else the earlier files are temporary ones.
 */
int must_check pack_file(const struct pack_options *options, const struct pack_learning *learning, int fd,
			 struct pack_summary *ret, struct fail *fail);

#endif
