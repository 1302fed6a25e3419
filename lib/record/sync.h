/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_SYNC_H
#define WEFT_RECORD_SYNC_H

#include "lib/base/cleanup.h"

struct fail;
struct parts;

/*
 * Returns when all that the parts hold now is on the disk, and can be found there after the machine has died: the files, the directory,
 * and its name. It takes as long as the disk does; recorders go on meanwhile.
 */
int must_check sync_parts(const struct parts *parts, struct fail *fail);

#endif
