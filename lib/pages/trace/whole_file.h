/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_WHOLE_FILE_H
#define WEFT_PAGES_TRACE_WHOLE_FILE_H

#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;

enum { WHOLE_FILE_MAX = 64 << 20 };

/*
 * tree_read_file() reads a whole file that the user named. tree_read_fd() reads an open file; `path` is for messages.
 */
int must_check tree_read_file(const char *path, char **ret, size_t *ret_len, struct fail *fail);
int must_check tree_read_fd(int fd, const char *path, char **ret, size_t *ret_len, struct fail *fail);

#endif
