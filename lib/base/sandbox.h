/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_SANDBOX_H
#define WEFT_BASE_SANDBOX_H

#include "lib/base/cleanup.h"

#include <sys/types.h>

struct fail;

/*
 * For whoever has open all that it needs, before it looks at bytes of strangers: root becomes `uid` and `gid`, or nobody where those are
 * root's, and from then on the kernel lets the process compute, start threads, read and write what is open, and nothing else: no
 * open, no socket, no program, no memory that can be run. Not to be undone. A process of one thread only.
 * The filter is for x86_64 and aarch64, and for kernels that have filters; without it only the user changes. Sanitizers need what it
 * forbids: programs built with them stay as they are.
 */
int must_check sandbox_enter(uid_t uid, gid_t gid, struct fail *fail);

#endif
