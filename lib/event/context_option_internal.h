/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_EVENT_CONTEXT_OPTION_INTERNAL_H
#define WEFT_EVENT_CONTEXT_OPTION_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bits of context::trace_flags while a context is made: enum trace_option of lib/event/context.h. */

uint64_t context_option_defaults(void);

/* "NAME" or "noNAME"; false, and nothing changed, when the output depends on no such option. */
bool context_option_set(uint64_t *flags, const char *text, size_t len);

#endif
