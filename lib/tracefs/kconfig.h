/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_KCONFIG_H
#define WEFT_TRACEFS_KCONFIG_H

#include <stddef.h>

struct fail;

/*
 * Which option of the kernel's build (kernel/trace/Kconfig) provides a tracer, a control file, a trigger or a trace option, and since
 * which version there is such a thing. Constant data: the one table of it.
 */
enum kconfig_kind {
	KCONFIG_TRACER,
	KCONFIG_FILE,    /* relative to an instance; "hwlat_detector" stands for all that is below it */
	KCONFIG_TRIGGER, /* the word before the first colon */
	KCONFIG_OPTION,  /* of trace_options */
};

struct kconfig {
	enum kconfig_kind kind;
	const char *name;
	const char *option; /* "CONFIG_HIST_TRIGGERS"; NULL: always built */
	const char *since;  /* "6.8"; NULL: before any kernel that weft cares for */
};

/* NULL: nothing is known of it. A file's directories are looked up, too: "hwlat_detector/width" finds "hwlat_detector". */
const struct kconfig *kconfig_find(enum kconfig_kind kind, const char *name);
/* All of them, grouped by kind; NULL behind the last. */
const struct kconfig *kconfig_at(size_t index);

/* "; CONFIG_X provides it", "; it came with Linux 6.8" or both, for the end of a message; "" when nothing is known. */
enum { KCONFIG_HINT_SIZE = 128 };
const char *kconfig_hint(enum kconfig_kind kind, const char *name, char into[KCONFIG_HINT_SIZE]);

/* fail_set(): "this kernel has no FILE" and the hint. Returns -EOPNOTSUPP. */
int kconfig_no_file(const char *file, struct fail *fail);

#endif
