/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_OPEN_FILES_H
#define WEFT_KERNEL_TRACEFS_OPEN_FILES_H

#include <stdbool.h>

struct buf;

/*
 * The descriptors that all processes have open now, from /proc/PID/fd, as the lines of the setting weft/open_files
 * (weft-dat(5)): "TGID FD FLAGS MAJOR:MINOR:INODE\tTARGET", where TARGET is what the link says, or the name of a
 * socket (socket_names_internal.h), FLAGS are those of open(2), octal, and MAJOR:MINOR is the device of the inode. No
 * file is opened, and no server is asked about one. After OPEN_FILES_SIZE bytes the list ends with the line "more".
 * What a process closes meanwhile is left out. False: no memory.
 */
enum { OPEN_FILES_SIZE = 16 << 20 };

bool open_files_scan(struct buf *into);

#endif
