/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_KCONFIG_H
#define WEFT_KERNEL_TRACEFS_KCONFIG_H

#include <stddef.h>

struct fail;

/*
 * Which option of the kernel's build (kernel/trace/Kconfig) provides a tracer, a control file, a trigger or a trace
 * option, and which version of Linux introduced it. This is the only table of these facts, and it is constant.
 */
enum kconfig_kind {
	KCONFIG_TRACER,
	KCONFIG_FILE,    /* relative to an instance; "hwlat_detector" stands for all files below it */
	KCONFIG_TRIGGER, /* the word of the trigger before the first colon */
	KCONFIG_OPTION,  /* an option of trace_options */
};

struct kconfig {
	enum kconfig_kind kind;
	const char *name;
	const char *option; /* "CONFIG_HIST_TRIGGERS"; NULL: always built */
	const char *since;  /* "6.8"; NULL: older than any kernel that weft supports */
};

/*
 * NULL: the table has no such entry. The directories of a file are also looked up: "hwlat_detector/width" finds
 * "hwlat_detector".
 */
const struct kconfig *kconfig_find(enum kconfig_kind kind, const char *name);
/* The entries by index, grouped by kind. NULL after the last one. */
const struct kconfig *kconfig_at(size_t index);

/* "; CONFIG_X provides it", "; it came with Linux 6.8" or both, to end a message; "" if the table has no entry. */
enum { KCONFIG_HINT_SIZE = 128 };
const char *kconfig_hint(enum kconfig_kind kind, const char *name, char into[KCONFIG_HINT_SIZE]);

/* Calls fail_set() with "this kernel has no FILE" and the hint. Returns -EOPNOTSUPP. */
int kconfig_no_file(const char *file, struct fail *fail);

#endif
