/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_FORM_WRITE_H
#define WEFT_CMD_FORM_WRITE_H

#include "lib/base/cleanup.h"

struct fail;
struct form;

/*
 * Calls `write` with a new file, and gives the file its name (that for `word`) when it is complete, so that the output
 * may also be an input. For standard output and devices, the complete file is copied there; without a door, `write`
 * writes to them directly.
 */
int must_check form_write(const struct form *form, const char *word, int (*write)(void *arg, int fd, struct fail *fail),
			  void *arg, struct fail *fail);

#endif
