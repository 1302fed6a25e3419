/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_SETTINGS_H
#define WEFT_KERNEL_TRACEFS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;

/*
 * The present content of the files on which the kernel's text depends. The names are those of weft's private section
 * (weft-dat(5)): "trace_options", "per_cpu/cpu0/stats" are relative to the instance; "weft/..." are facts about the
 * kernel: "weft/hz", "weft/online" (a list), "weft/uname" (sysname, release, version and machine in one line),
 * "weft/modules", "weft/kptr_restrict", "weft/sched_preempt" (of debugfs). "weft/filters" has a line "SYSTEM:EVENT
 * FILTER" for each enabled event of the instance that has a filter. The texts are unchanged. A file that does
 * not exist is left out. The caller owns names and texts: settings_release() frees them.
 */
struct setting {
	char *name;
	char *text; /* followed by a NUL that len does not count */
	size_t len;
};

struct settings {
	struct setting *items;
	size_t nr;
};

void settings_release(struct settings *settings);
/* Copies name and text. Replaces an entry of that name. */
int must_check settings_put(struct settings *settings, const char *name, const char *text, size_t len,
			    struct fail *fail);
/* Puts a whole file. A file that does not exist or may not be read is left out. */
int must_check settings_put_file(struct settings *settings, const char *name, const char *path, struct fail *fail);
const struct setting *settings_find(const struct settings *settings, const char *name);

/*
 * The files of an instance, of the top directory, and elsewhere in the filesystem, in which these are; behind them is a
 * NULL.
 */
extern const char *const settings_of_instance[], *const settings_of_kernel[];
extern const struct settings_path {
	const char *name, *path;
} settings_elsewhere[];

/* Reads the settings of the instance. Call it before they are restored. */
int must_check settings_read_instance(struct settings *settings, const struct instance *instance, struct fail *fail);
/*
 * Reads facts about the kernel and files of the top directory (saved_cmdlines, saved_tgids, printk_formats, eval_map,
 * dynamic_events...). It does not read kallsyms.
 */
int must_check settings_read_kernel(struct settings *settings, const struct tracing *tracing, struct fail *fail);

/*
 * Reads /proc/kallsyms, several MB. *ret_hidden: all addresses are zero (because of kptr_restrict, or without
 * privilege).
 */
struct buf;
int must_check settings_kallsyms(struct buf *buf, bool *ret_hidden, struct fail *fail);

/*
 * Finds the first symbol of this name (of the module; NULL: any) in such a text. *ret: its address, 0 if hidden.
 */
bool settings_symbol(const struct buf *kallsyms, const char *module, const char *name, uint64_t *ret);

#endif
