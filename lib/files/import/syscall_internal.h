/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_SYSCALL_INTERNAL_H
#define WEFT_FILES_IMPORT_SYSCALL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct import_kinds;

/*
 * Makes the record of a line of events/syscalls (kernel/trace/trace_syscalls.c: print_syscall_enter(),
 * print_syscall_exit()): "sys_openat(dfd: 3, mode: 1b6)" or "sys_openat -> 0x3". The call's number is that of x86_64.
 * Returns false for any other line.
 * Not supported: the option verbose, and arguments with data (6.19 and later).
 */
bool import_syscall(struct import_kinds *kinds, const char *text, size_t len, struct buf *record);

#endif
