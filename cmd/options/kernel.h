/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_KERNEL_H
#define WEFT_CMD_OPTIONS_KERNEL_H

#include "cmd/options/option_rows.h"
#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/tracing.h"

struct buf;
struct fail;
struct undo;
struct undo_pending;

/*
 * What a command needs that works with the running kernel: tracefs, and the instance of -B or the top one.
 * As a child table (kernel_options; its input is a struct kernel) it adds `-B INSTANCE`. The struct must be zero
 * before.
 */
struct kernel {
	const char *name; /* the value of -B; NULL: the top instance */
	struct tracing tracing;
	struct instance *instance;
};

extern const struct options kernel_options;

/*
 * Finds tracefs (and tells the user if it had to be mounted), then opens the instance, which must exist. With `undo`
 * NULL, settings can only be read. kernel_close() must be called in any case; it removes a private instance.
 */
int must_check kernel_find(struct kernel *kernel, struct fail *fail);
int must_check kernel_open(struct kernel *kernel, struct undo *undo, struct fail *fail);
void kernel_close(struct kernel *kernel);

/*
 * Keeps what a command changed, held for `weft reset`; after an error (err), undoes it and warns about what could not
 * be undone. `undo` NULL: nothing was changed. Returns err, or the error of holding the journal.
 */
int must_check kernel_keep(struct undo *undo, int err, struct fail *fail);

/* Writes the contents of a journal in words: "3 settings, 1 instance, 2 probes". Returns `into`. */
enum { KERNEL_WORDS = 96 };
const char *kernel_journal_words(const struct undo_pending *journal, char into[KERNEL_WORDS]);

/* Appends what undoes that: "'weft reset' puts that back", and for a killed recording first what saves its events. */
bool kernel_journal_remedy(const struct undo_pending *journal, const struct tracing *tracing, struct buf *into);

/*
 * Ends the output of a command. Returns EXIT_OK; or EXIT_FAILED with a message if err is set or standard output failed.
 */
int kernel_finish(struct kernel *kernel, int err, struct fail *fail);

/*
 * Explains a recording without events: lists of tasks in other users' instances may have tasks that all ended, and then
 * no task is traced there, which cannot be seen (lib/kernel/setup/tasks.h).
 */
struct setup;
void kernel_tell_unseen(const struct setup *setup);

/* What the summaries of record and stream report besides the number of lost events. */

/* With -F and without -c: the command made threads or children, which are not traced. */
void kernel_tell_left_out(const struct setup *setup, bool made_tasks);

/* Somebody emptied the buffer of instance `name` this many times. "": the only instance. 0: prints nothing. */
void kernel_tell_cleared(const char *name, unsigned times);

/*
 * Some hits of probes made no event (setup_probes_missed() of lib/kernel/setup/setup_probes.h). NULL: prints
 * nothing.
 */
void kernel_tell_missed(const char *lines);

#endif
