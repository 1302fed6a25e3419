/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_CONTROL_H
#define WEFT_TRACEFS_CONTROL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct fail;

/*
 * Control files of tracefs by path: what lies below instance.h and undo.h, and only for them.
 * How a file takes a value depends on its name: lists are replaced line by line, others take one word.
 */
enum control_kind {
	CONTROL_VALUE,    /* one value, as it is read */
	CONTROL_CHOICE,   /* reads "local [global] mono": takes the word in brackets */
	CONTROL_SIZE,     /* reads "7 (expanded: 1408)" or "X" */
	CONTROL_SWITCH,   /* events/.../enable: "0*" is off, but armed for a trigger; takes "0" */
	CONTROL_LIST,     /* lines, some of them no names: "#### all functions enabled ####", "no pid" */
	CONTROL_TASKS,    /* the same, of tasks: opening one with truncation uninstalls it (tasks.h) */
	CONTROL_EVENTS,   /* set_event */
	CONTROL_FILTER,   /* events/.../filter: "none" or an expression */
	CONTROL_TRIGGER,  /* events/.../trigger */
	CONTROL_FLAGS,    /* osnoise/options: "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP", takes one word */
	CONTROL_SNAPSHOT, /* its setting is whether it is allocated; for undo: "freed" or "allocated" */
};

enum control_kind control_kind(const char *file);

/*
 * Writes value and a newline, all of it, after truncating or behind what is there. "" with truncation only clears.
 * Returns 0 or the -errno of the kernel.
 */
int must_check control_write(const char *path, bool append, const char *value);

/* The text of the file that control_restore() takes; of a snapshot only the word. */
int must_check control_read(const char *path, const char *file, struct buf *buf, struct fail *fail);

/*
 * Brings the file to what `old` says, text that was read from it. Files that hold it already are not written; but lists of tasks that are to
 * name none always are, for what they read as does not tell whether a list is installed.
 */
int must_check control_restore(const char *path, const char *file, const char *old);

/* The word in brackets of a choice, or the value without its newline, in `into`. False: no such word, or too long. */
bool control_word(const char *text, enum control_kind kind, char *into, size_t size);

/* Whether a line of a list names something: "#### all functions enabled ####" and "no pid" do not. */
struct text_word;
bool control_is_name(struct text_word line);

/* Whether two lines of set_ftrace_filter or of a trigger mean the same: counts that ran down and states do not matter. */
bool control_same_line(struct text_word one, struct text_word other);

/*
 * Part of control_restore(): takes away the function probes ("vfs_read:traceoff:unlimited") that `now` has and `old` has not, and sets
 * those again that only `old` has; the triggers of an event likewise.
 */
int must_check control_restore_probes(const char *path, const char *old, const char *now);
int must_check control_restore_triggers(const char *path, const char *old, const char *now);

/* Whether these two texts, read from such a file, mean the same setting. */
bool control_same(enum control_kind kind, const char *one, const char *other);

#endif
