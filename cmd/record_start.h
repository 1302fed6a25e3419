/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_RECORD_START_H
#define WEFT_CMD_RECORD_START_H

struct record_options;

/* Where standard error is a terminal and no command says when it ends: what is recorded, and what ends it. */
void record_tell_start(const struct record_options *options);

#endif
