/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_KERNEL_H
#define WEFT_CMD_KERNEL_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"
#include "lib/tracefs/tracing.h"

#include <argp.h>

struct fail;
struct undo;
struct undo_pending;

/*
 * What a command needs that works on the running kernel: tracefs, and the instance of -B or the top one.
 * As an argp child (kernel_argp, whose input is a struct kernel) it adds `-B INSTANCE`; zero is the state before.
 */
struct kernel {
	const char *name; /* of -B; NULL: the top one */
	struct tracing tracing;
	struct instance *instance;
};

extern const struct argp kernel_argp;
/* For commands that have no other child. */
extern const struct argp_child kernel_children[];

/*
 * Finds tracefs (telling the user when it had to be mounted) and opens the instance, which must exist. `undo` may be
 * NULL: then settings can be read only. kernel_close() is needed in any case; a private instance is removed by it.
 */
int must_check kernel_find(struct kernel *kernel, struct fail *fail);
int must_check kernel_open(struct kernel *kernel, struct undo *undo, struct fail *fail);
void kernel_close(struct kernel *kernel);

/*
 * What a command changed stays, held for `weft reset`; after an error it is put back, and a warning tells what could
 * not be. `undo` NULL: nothing was changed. Returns err, or why it could not be held.
 */
int must_check kernel_keep(struct undo *undo, int err, struct fail *fail);

/* The content of a journal in words: "3 settings, 1 instance, 2 probes". Returns `into`. */
enum { KERNEL_WORDS = 96 };
const char *kernel_journal_words(const struct undo_pending *journal, char into[KERNEL_WORDS]);

/*
 * Ends the output of a command: EXIT_OK, or EXIT_FAILED with a message when err is set or stdout could not be written.
 */
int kernel_finish(struct kernel *kernel, int err, struct fail *fail);

/*
 * There was no event: tells of the lists of somebody's instances, which may trace nobody without being seen
 * (lib/setup/tasks.h).
 */
struct setup;
void kernel_tell_unseen(const struct setup *setup);

#endif
