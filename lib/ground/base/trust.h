/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_TRUST_H
#define WEFT_GROUND_BASE_TRUST_H

#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Decides whether a file or directory can be trusted: it must belong to this user or to root, and nobody else may write
 * to it. The check takes an open file, so nothing can be exchanged between check and use.
 */

/* `type` is S_IFREG or S_IFDIR; `name` is for the error text. -EPERM: not trusted. */
int must_check trust_check(int fd, mode_t type, const char *name, struct fail *fail);

/*
 * Opens a file for reading, and does not wait for a writer. Each link on the way to it must belong to this user or to
 * root (-EPERM): another user's link would choose which file is read. Then trust_check() judges the file.
 */
int must_check trust_open(const char *path, int *ret_fd, struct fail *fail);

/* Whether a user ID is this user's or root's. */
int trust_is_ours(uid_t uid);

#endif
