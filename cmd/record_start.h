/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_RECORD_START_H
#define WEFT_CMD_RECORD_START_H

struct record_options;

/* Where standard error is a terminal and no command says when it ends: what is recorded, and what ends it. */
void record_tell_start(const struct record_options *options);

/*
 * Shows on a terminal what the recording has come to, until it ends: one line, drawn anew. Not with a command, which
 * may write there.
 */
void record_watch(struct record_options *options);

#endif
