/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_SYNC_INTERNAL_H
#define WEFT_KERNEL_RECORD_SYNC_INTERNAL_H

#include "lib/ground/base/cleanup.h"

struct fail;
struct parts;

/*
 * Syncs the parts: after it returns, everything that the parts held at the call is on the disk and can be found after a
 * crash of the machine (the files, the directory, and its name). It takes as long as the disk needs; recorders continue
 * meanwhile.
 */
int must_check sync_parts(const struct parts *parts, struct fail *fail);

/* Syncs the names in a folder; `path` is what a message calls it. A filesystem that cannot (EINVAL) does without. */
int must_check sync_folder(int dir, const char *path, struct fail *fail);

#endif
