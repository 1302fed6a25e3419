/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_TIMELINE_CALL_NAME_H
#define WEFT_MEANING_TIMELINE_CALL_NAME_H

#include <stdint.h>

struct context;
struct event;

/*
 * The name of the system call that ends with an event: of a sys_exit_NAME, or of raw_syscalls:sys_exit; `number` is
 * that of its entry. `text` is room for the name of a call that has none.
 */
enum { CALL_NAME = 32 };

const char *call_name(const struct context *context, int64_t number, const struct event *event, char text[CALL_NAME]);

#endif
