/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_READABLE_H
#define WEFT_GROUND_BASE_READABLE_H

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Opens a file that the user named: a regular file, a block device, /dev/null, or a FIFO that has a writer.
 * Directories, sockets and other devices never end or react to being opened, so they are refused with a message; so is
 * a FIFO without a writer, which would block for ever.
 */
int must_check readable_open(const char *path, int *ret_fd, struct fail *fail);

#endif
