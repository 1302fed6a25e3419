/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_PROBE_PROBE_FETCH_INTERNAL_H
#define WEFT_KERNEL_PROBE_PROBE_FETCH_INTERNAL_H

#include "lib/ground/base/cleanup.h"

struct fail;
struct instance;
struct probe;

/*
 * Checks that the kernel, and this kind of probe, supports the features of Linux 7.3 that the arguments of a defined
 * probe use: casts such as "(task_struct)p->pid", "$current", "this_cpu_read(...)" and "this_cpu_ptr(...)". The
 * arguments go to the kernel unchanged, and the kernel checks the rest. -EOPNOTSUPP: not supported. -ENOENT: the kernel
 * has no such structure. -EINVAL: no member follows a cast.
 */
int must_check probe_fetch_check(const struct instance *top, const struct probe *probe, struct fail *fail);

#endif
