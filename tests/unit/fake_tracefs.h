/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_FAKE_TRACEFS_H
#define WEFT_TESTS_UNIT_FAKE_TRACEFS_H

#include "lib/tracefs/instance.h"
#include "lib/tracefs/tracing.h"

#include <stdbool.h>

/*
 * A directory that looks as much like tracefs as a test writes into it; only instances/ is there from the start. Files keep what is
 * written to them, and what is added stands behind it.
 */
struct fake {
	char dir[64];
	char journals[96]; /* for undo_new(), which makes it */
	struct tracing tracing;
	struct instance top; /* without undo; not to be closed */
};

enum { FAKE_PATH = 256 };

bool fake_new(struct fake *fake);
void fake_free(struct fake *fake);

const char *fake_path(const struct fake *fake, const char *file, char into[FAKE_PATH]);
/* Both make the directories above. */
void fake_mkdir(const struct fake *fake, const char *dir);
void fake_write(const struct fake *fake, const char *file, const char *text);
bool fake_holds(const struct fake *fake, const char *file, const char *text);

/*
 * A pipe in the place of a file, as trace_pipe_raw is one: what the test writes to the descriptor is read there once. It never blocks,
 * and never ends. -1 fails the test.
 */
int fake_pipe(const struct fake *fake, const char *file);

#endif
