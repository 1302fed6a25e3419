/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_SOCKET_NAMES_INTERNAL_H
#define WEFT_KERNEL_TRACEFS_SOCKET_NAMES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/u64_map.h"

/*
 * What sockets of this network namespace are called, by their inodes, from /proc/net and, of UNIX sockets, from the
 * kernel's sock_diag(7), as strace -yy has them: "TCP:[10.0.0.1:80->10.0.0.2:4711]", "UDPv6:[[::]:53]",
 * "UNIX-STREAM:[123->124,"/run/a"]". Without sock_diag the peer of a UNIX socket is "(unknown)".
 */
struct socket_names {
	struct u64_map places; /* by inode: uint64_t, the place in the texts, from 1 on */
	struct buf texts;      /* each with a NUL */
};

/* False: no memory. */
bool socket_names_read(struct socket_names *names);
void socket_names_release(struct socket_names *names);
/* NULL: it is unknown. */
const char *socket_names_find(const struct socket_names *names, uint64_t inode);

/* For socket_names_read(), and to be tested: a file of /proc/net of this kind, as "TCP" or "UNIX". */
bool socket_names_add(struct socket_names *names, const char *kind, const char *text, size_t len);
/* The same of messages of sock_diag about UNIX sockets. False: no memory. *ret_more: the last one is still to come. */
bool socket_names_add_diag(struct socket_names *names, const void *messages, size_t len, bool *ret_more);

#endif
