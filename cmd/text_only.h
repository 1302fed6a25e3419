/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TEXT_ONLY_H
#define WEFT_CMD_TEXT_ONLY_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct context;
struct fail;
struct reader;
struct trace;

/*
 * Recordings of a latency tracer that hold the kernel's text of the worst case and no events. No option can change this
 * text, and no format but the kernel's own can show it: such options are refused.
 */

/* Whether the buffer has such a text, beside pages or not, and no events of it. */
bool text_only_is(const struct context *context);

/* -ENODATA if the buffers (of `instance`; NULL: all) have such a text and no pages. */
int must_check text_only_refuse(struct trace *trace, const char *instance, struct fail *fail);

/*
 * -ENODATA if the output of all buffers would be such texts, or nothing, and an option asks for something else (NULL:
 * none does). If there are also events of other buffers, a warning says that the texts stay as they are. kernel_text:
 * the output is the kernel's text, in which a stored text takes the place of events.
 */
int must_check text_only_refuse_option(const struct reader *reader, const char *option, bool kernel_text,
				       struct fail *fail);

#endif
