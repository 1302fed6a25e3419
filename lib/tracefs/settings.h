/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_SETTINGS_H
#define WEFT_TRACEFS_SETTINGS_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * Files that the kernel's text depends on, as they are now. Names are those of weft's private section (weft-dat(5)):
 * relative to the instance ("trace_options", "per_cpu/cpu0/stats"); facts of the whole kernel are "weft/...":
 * "weft/hz", "weft/online" (a list), "weft/uname" (sysname release version machine, one line),
 * "weft/modules", "weft/kptr_restrict", "weft/sched_preempt" (of debugfs). Texts are as the kernel gave them. A file that is not there is left out.
 */
struct setting {
	char *name;
	char *text; /* with a NUL behind it that len does not count */
	size_t len;
};

struct settings {
	struct setting *items;
	size_t nr, size;
};

void settings_release(struct settings *settings);
/* Copies name and text. A name that is there already is replaced. */
int must_check settings_put(struct settings *settings, const char *name, const char *text, size_t len,
			    struct fail *fail);
/* A whole file. One that is not there, or that this kernel does not let us read, is left out. */
int must_check settings_put_file(struct settings *settings, const char *name, const char *path, struct fail *fail);
const struct setting *settings_find(const struct settings *settings, const char *name);

/* How the instance is set: read it before the settings are put back. With `stats`, per_cpu/cpuN/stats too. */
int must_check settings_read_instance(struct settings *settings, const struct instance *instance, bool stats,
				      struct fail *fail);
/* Facts of the kernel and top-level files: saved_cmdlines, saved_tgids, printk_formats, eval_map. Not kallsyms. */
int must_check settings_read_kernel(struct settings *settings, const struct tracing *tracing, struct fail *fail);

/* /proc/kallsyms, several MB. *ret_hidden: all addresses read as zero (kptr_restrict, or no privilege). */
struct buf;
int must_check settings_kallsyms(struct buf *buf, bool *ret_hidden, struct fail *fail);

#endif
