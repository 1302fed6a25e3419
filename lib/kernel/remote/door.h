/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_DOOR_H
#define WEFT_KERNEL_REMOTE_DOOR_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * A machine that no program leads to, because a socket of this one does: "unix:PATH", which a hypervisor has made for a
 * serial port of a guest, or "vsock:CID:PORT", a port of a guest.
 */
bool door_is(const char *name);

/* Connects; the caller closes *ret_fd. */
int must_check door_open(const char *name, int *ret_fd, struct fail *fail);

#endif
