/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_SESSION_H
#define WEFT_KERNEL_RECORD_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/options.h"
#include "lib/kernel/record/result.h"

/*
 * A recording from beginning to end: sets the kernel up, runs the command or waits, stops tracing, restores all
 * settings and finishes the file.
 *
 * Invariant: before session_run() returns, every setting that it changed is restored and its instances are removed,
 * with or without an error; after a kill the journal of lib/kernel/undo/undo does that. A file with the output's name
 * is replaced only by a complete one. Recorded data that could not be finished stays in the parts directory.
 *
 * While it runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked in the calling thread and mean "stop"; SIGPIPE is
 * blocked. With a command, a SIGINT of the terminal is left to the command, and any other signal is sent on to it. Not
 * supported: two sessions at once in one process.
 */
/*
 * 0: recorded and finished without an error; -errno: there was an error, although `ret` may say that the saved part was
 * finished. `ret` is filled in both cases; record_result_release() releases it.
 */
int must_check session_run(const struct record_options *options, struct record_result *ret, struct fail *fail);

#endif
