/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_TALLY_TALLY_CALLS_INTERNAL_H
#define WEFT_ANSWERS_TALLY_TALLY_CALLS_INTERNAL_H

#include <stdint.h>

struct context;

/*
 * Makes the name of a system call in the kernel's histograms, as get_syscall_name() of kernel/trace/trace_syscalls.c
 * does: "sys_" and the name in its SYSCALL_DEFINE, which for some calls differs from the name that programs use; or
 * "unknown_syscall" for an unknown number. A file does not say which calls the kernel was built without: weft also
 * prints their names.
 */
enum { TALLY_CALL_SIZE = 80 };

const char *tally_call_name(const struct context *context, uint64_t number, char into[TALLY_CALL_SIZE]);

#endif
