/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_PASTE_H
#define WEFT_CMD_TERMINAL_PASTE_H

#include "lib/ground/base/buf.h"

/* Words of commands that a user pastes into a shell. `into` is empty, and keeps the text that is returned. */

/* A file: quoted if a shell needs that, and never like an option; without memory as it is. */
const char *paste_file(struct buf *into, const char *path);

/*
 * What a command that reads a recording is given: of which instance, if it was of one (else NULL), and the file. NULL
 * without memory.
 */
const char *paste_recording(struct buf *into, const char *instance, const char *path);

#endif
