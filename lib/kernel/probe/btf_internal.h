/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_PROBE_BTF_INTERNAL_H
#define WEFT_KERNEL_PROBE_BTF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;

/*
 * Finds the parameters of a kernel function by name, in the kernel's type information (/sys/kernel/btf; format:
 * include/uapi/linux/btf.h). The bytes may be malformed: nothing after `len` is read, and every loop ends.
 */
enum { PROTOTYPE_PARAMETERS = 16, PROTOTYPE_NAME = 64, PROTOTYPE_TYPE = 8 };

struct prototype_value {
	char name[PROTOTYPE_NAME]; /* "" for a parameter without a name */
	/* the name that probes have for the type: "s32", "u64"; "" for pointers and structures */
	char type[PROTOTYPE_TYPE];
};

struct prototype {
	struct prototype_value parameters[PROTOTYPE_PARAMETERS];
	size_t nr;                    /* at most PROTOTYPE_PARAMETERS; further parameters are left out */
	struct prototype_value value; /* the return value */
	bool returns_nothing;
};

/* 1: found; 0: there is no such function, or its parameters are unknown; -errno. */
int must_check prototype_parse(const void *btf, size_t len, const char *function, struct prototype *ret,
			       struct fail *fail);

/* The same of a module; `kernel` has the kernel's own types. */
int must_check prototype_parse_module(const struct buf *kernel, const struct buf *module, const char *function,
				      struct prototype *ret, struct fail *fail);

/*
 * The same for the running kernel and its modules. Without type information, the parameters of a few functions that
 * never changed are known, with the kernel's sizeof(long).
 */
int must_check prototype_find(const char *function, unsigned long_size, struct prototype *ret, struct fail *fail);

#endif
