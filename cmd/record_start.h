/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_RECORD_START_H
#define WEFT_CMD_RECORD_START_H

struct record_options;

/* If standard error is a terminal and no COMMAND ends the recording, says what is recorded and how to end it. */
void record_tell_start(const struct record_options *options);

/*
 * Shows the progress of the recording on a terminal, in one line that is redrawn until the recording ends. It does
 * nothing with a COMMAND, which may write to the terminal.
 */
void record_watch(struct record_options *options);

#endif
