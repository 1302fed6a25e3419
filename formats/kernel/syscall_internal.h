/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_SYSCALL_INTERNAL_H
#define WEFT_FORMATS_KERNEL_SYSCALL_INTERNAL_H

struct format;
struct renderer;

/*
 * sys_enter_NAME and sys_exit_NAME, which the kernel does not print by their print fmt: print_syscall_enter(),
 * print_syscall_exit() of kernel/trace/trace_syscalls.c.
 */

/* The renderer of such a format; NULL for other formats. */
const struct renderer *syscall_renderer(const struct format *format);

/* For system calls whose records contain the data that their arguments point to; formats/kernel/syscall_user.c. */
extern const struct renderer syscall_user_renderer;

#endif
