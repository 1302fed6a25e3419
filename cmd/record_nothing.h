/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_RECORD_NOTHING_H
#define WEFT_CMD_RECORD_NOTHING_H

struct setup;

/* Of a recording without an event: a note with the choices that may be why. */
void record_tell_nothing(const struct setup *setup);

#endif
