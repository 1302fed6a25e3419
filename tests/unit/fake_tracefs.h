/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_FAKE_TRACEFS_H
#define WEFT_TESTS_UNIT_FAKE_TRACEFS_H

#include <stdbool.h>

#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/tracing.h"

/*
 * A directory with files like those of tracefs. A test writes the files that it needs; only instances/ exists from the
 * start. A file keeps the bytes that are written to it; appended bytes follow the old ones.
 */
struct fake {
	char dir[64];
	char journals[96]; /* the directory for undo_new(), which creates it */
	struct tracing tracing;
	struct instance top; /* the top instance, without undo; do not close it */
};

enum { FAKE_PATH = 256 };

bool fake_new(struct fake *fake);
void fake_free(struct fake *fake);

const char *fake_path(const struct fake *fake, const char *file, char into[FAKE_PATH]);
/* Both create missing parent directories. */
void fake_mkdir(const struct fake *fake, const char *dir);
void fake_write(const struct fake *fake, const char *file, const char *text);
bool fake_holds(const struct fake *fake, const char *file, const char *text);

/*
 * Puts a pipe in the place of a file, like trace_pipe_raw: bytes that the test writes to the returned descriptor are
 * read there once. A read never blocks and never reaches an end. -1 fails the test.
 */
int fake_pipe(const struct fake *fake, const char *file);

/*
 * From now on the fake kernel refuses with this error (EINVAL) each text that lib/ writes to this file and that
 * contains `value`. Every text contains "". Ends with fake_free().
 */
void fake_refuse(const struct fake *fake, const char *file, const char *value, int error);

#endif
