/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_SANDBOX_H
#define WEFT_GROUND_BASE_SANDBOX_H

#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Gives up privileges before untrusted bytes are read; the caller has opened all that it needs. Root becomes `uid` and
 * `gid`, or nobody where those are root's. From then on the kernel lets the process compute, start threads, and read
 * and write open files, and nothing else: no open, no socket, no program, no executable memory, no signal to another
 * process. Descriptors above 2 without FD_CLOEXEC, which the caller of the program left open, are closed; for root,
 * paths lead nowhere any more. It cannot be undone.
 * The process must have one thread. The filter exists for x86_64 and aarch64 and needs a kernel with seccomp filters;
 * without it only the user changes. Programs built with sanitizers are left as they are, because sanitizers need what
 * the filter forbids.
 */
int must_check sandbox_enter(uid_t uid, gid_t gid, struct fail *fail);

#endif
