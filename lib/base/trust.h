/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_TRUST_H
#define WEFT_BASE_TRUST_H

#include "lib/base/cleanup.h"

#include <sys/types.h>

struct fail;

/*
 * Whom we believe: a file or directory that belongs to this user or to root, and that nobody else may write. It is asked of
 * what is open, so that nothing can change in between.
 */

/* `type` is S_IFREG or S_IFDIR; `name` is for the words. -EPERM: not to be believed. */
int must_check trust_check(int fd, mode_t type, const char *name, struct fail *fail);

/* Whether that user is this one or root. */
int trust_is_ours(uid_t uid);

#endif
