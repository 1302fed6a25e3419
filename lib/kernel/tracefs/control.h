/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_CONTROL_H
#define WEFT_KERNEL_TRACEFS_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;

/*
 * Reads and writes the control files of tracefs by path. Only instance.h and undo.h, the layer above, use it. The name
 * of a file shows how the file takes a value: lists are replaced line by line, other files take one word.
 */
enum control_kind {
	CONTROL_VALUE,    /* one value; it is written as it was read */
	CONTROL_CHOICE,   /* reads "local [global] mono"; takes the word in brackets */
	CONTROL_SIZE,     /* reads "7 (expanded: 1408)" or "X" */
	CONTROL_SWITCH,   /* events/.../enable: "0*" means disabled, but armed for a trigger; takes "0" */
	CONTROL_LIST,     /* lines; some name nothing: "#### all functions enabled ####", "no pid" */
	CONTROL_TASKS,    /* a list of tasks; opening the file with truncation uninstalls the list (tasks.h) */
	CONTROL_EVENTS,   /* set_event */
	CONTROL_FILTER,   /* events/.../filter: "none" or an expression */
	CONTROL_TRIGGER,  /* events/.../trigger */
	CONTROL_FLAGS,    /* osnoise/options: "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP", takes one word */
	CONTROL_SNAPSHOT, /* whether the snapshot is allocated; control_read() gives "freed" or "allocated" */
};

enum control_kind control_kind(const char *file);

/*
 * Writes the value and a newline, either after truncating the file or, with `append`, without truncation. An empty
 * value without `append` only empties the file. Returns 0 or the kernel's -errno.
 */
int must_check control_write(const char *path, bool append, const char *value);

/* Appends the text that control_restore() takes: the content of the file, or for a snapshot one word. */
int must_check control_read(const char *path, const char *file, struct buf *buf, struct fail *fail);

/*
 * Restores `old`, a text that control_read() read from the file. The file is not written if it holds `old` already,
 * except for empty lists of tasks: their text does not tell whether a list is installed.
 */
int must_check control_restore(const char *path, const char *file, const char *old);

/*
 * Copies to `into` the word in brackets of a choice, or the value without its newline. False: there is no such word, or
 * it is too long.
 */
bool control_word(const char *text, enum control_kind kind, char *into, size_t size);

/* Whether a line of a list names something. "#### all functions enabled ####" and "no pid" do not. */
struct text_word;
bool control_is_name(struct text_word line);
/*
 * Whether a line of set_ftrace_filter is a command of a function, "vfs_read:traceoff:unlimited". "*:mod:ext4" is not:
 * so the kernel prints functions of a module that is not loaded yet.
 */
bool control_is_probe(struct text_word line);

/* Whether two lines of set_ftrace_filter or of a trigger mean the same. Remaining counts and states are ignored. */
bool control_same_line(struct text_word one, struct text_word other);

/*
 * The name of a field in the text of a histogram. Linux 7.3 prints "common_cpu" in front of the name that was
 * given to the CPU, "common_cpucommon_cpu" or "common_cpucpu", and does not take that.
 */
struct text_word control_field_name(struct text_word printed);

/*
 * Parts of control_restore(). The first removes the function probes ("vfs_read:traceoff:unlimited") that `now` has and
 * `old` lacks, and sets those that only `old` has. The second does the same for the triggers of an event.
 */
int must_check control_restore_probes(const char *path, const char *old, const char *now);
int must_check control_restore_triggers(const char *path, const char *old, const char *now);

/* Whether two texts that were read from a file of this kind mean the same setting. */
bool control_same(enum control_kind kind, const char *one, const char *other);

#endif
