/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_KERNEL_SYSCALL_H
#define WEFT_FORMATS_KERNEL_SYSCALL_H

struct format;
struct renderer;

/*
 * sys_enter_NAME and sys_exit_NAME, which the kernel prints by itself and not by their print fmt: print_syscall_enter(),
 * print_syscall_exit() of kernel/trace/trace_syscalls.c.
 */

/* The renderer of such a format; NULL for any other. */
const struct renderer *syscall_renderer(const struct format *format);

/* Of calls whose records hold what their arguments point at; formats/kernel/syscall_user.c. */
extern const struct renderer syscall_user_renderer;

#endif
