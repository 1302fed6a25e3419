/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_READABLE_H
#define WEFT_BASE_READABLE_H

#include "lib/base/cleanup.h"

struct fail;

/*
 * Opens a file that the user named: a regular one, a block device, /dev/null, or a FIFO that somebody writes to. Directories,
 * sockets and other devices, which never end or do something when they are opened, are refused in words; so is a FIFO into
 * which nobody writes, for which we would wait for ever.
 */
int must_check readable_open(const char *path, int *ret_fd, struct fail *fail);

#endif
