/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_FORM_WRITE_H
#define WEFT_CMD_FORM_WRITE_H

#include "lib/base/cleanup.h"

struct fail;
struct form;

/*
 * Calls `write` with a new file and gives that the name of `word` when it is whole, so that the output may be an input,
 * too. To standard output and devices it is copied then, or without a door written directly.
 */
int must_check form_write(const struct form *form, const char *word, int (*write)(void *arg, int fd, struct fail *fail),
			  void *arg, struct fail *fail);

#endif
