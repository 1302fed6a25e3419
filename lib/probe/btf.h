/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PROBE_BTF_H
#define WEFT_PROBE_BTF_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;

/*
 * The parameters of the kernel's functions by name, from its own type information (/sys/kernel/btf/vmlinux; the format is
 * in include/uapi/linux/btf.h). Any bytes will do: nothing past `len` is read, and every loop ends.
 * Not supported: functions of modules.
 */
enum { PROTOTYPE_PARAMETERS = 16, PROTOTYPE_NAME = 64, PROTOTYPE_TYPE = 8 };

struct prototype_value {
	char name[PROTOTYPE_NAME]; /* "" where it has none */
	char type[PROTOTYPE_TYPE]; /* as a probe names it: "s32", "u64"; "" for pointers and structures */
};

struct prototype {
	struct prototype_value parameters[PROTOTYPE_PARAMETERS];
	size_t nr;                    /* parameters behind the last one that fits are left out */
	struct prototype_value value; /* what it returns */
	bool returns_nothing;
};

/* 1: found; 0: no such function, or no parameters known; -errno. */
int must_check prototype_parse(const void *btf, size_t len, const char *function, struct prototype *ret,
			       struct fail *fail);

/* The same of the running kernel. Without type information a few functions are known whose parameters never changed. */
int must_check prototype_find(const char *function, struct prototype *ret, struct fail *fail);

#endif
