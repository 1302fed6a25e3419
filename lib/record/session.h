/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_SESSION_H
#define WEFT_RECORD_SESSION_H

#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/record/options.h"
#include "lib/record/result.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A recording from beginning to end: sets the kernel up, runs the command or waits, stops, puts everything back, and
 * finishes the file.
 * Invariant: whatever happens after session_run() was called, every setting that it changed is put back and its instances
 * are gone before it returns; the journal of lib/undo/undo does so after a kill. A file of the output's name is
 * replaced only by a finished one; what was recorded but could not be finished stays in the parts directory.
 * While it runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked in the calling thread and mean: stop; SIGPIPE is blocked. With a command, a
 * SIGINT of the terminal is the command's affair; any other signal is passed on to it.
 * Not supported: two sessions at once in one process.
 */
/*
 * 0: recorded, finished, and nothing failed on the way; -errno: something did, although `ret` may say that what was saved
 * could be finished. `ret` is filled in both cases and must be released.
 */
int must_check session_run(const struct record_options *options, struct record_result *ret, struct fail *fail);

#endif
