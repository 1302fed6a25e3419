/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_RECORD_NOTHING_H
#define WEFT_CMD_RECORD_NOTHING_H

struct setup;

/* Prints a note after a recording without events, with the options that may be the reason. */
void record_tell_nothing(const struct setup *setup);

#endif
