/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MADE_UNITE_H
#define WEFT_MADE_UNITE_H

#include "lib/base/cleanup.h"
#include "lib/made/recast.h"

#include <stddef.h>
#include <stdint.h>

struct event;
struct fail;
struct trace;

/*
 * Merges traces: makes a trace.dat from the buffers of several traces, each under a name of its own, after an empty top
 * buffer. The file has the formats of all traces; where two traces use one id for different formats, the later format
 * and its records get a free id. Each trace has an offset, which is added to the times of its events. Settings stay
 * with their buffers. Data that a file has only once (symbols, printk formats, the kernel's name) is from the first
 * trace; where it differs, and for names of tasks, each buffer has its own.
 * Not supported: traces of different byte orders or sizes of long. Borrows the traces.
 */
struct unite;

int must_check unite_new(const struct recast_options *form, struct unite **ret, struct fail *fail);
void unite_free(struct unite *unite);

/*
 * Adds a trace; call it before unite_event(). The trace's first buffer gets this name, its instances "NAME.INSTANCE".
 * Borrows the name.
 */
int must_check unite_trace(struct unite *unite, struct trace *trace, const char *name, int64_t offset,
			   struct fail *fail);

/*
 * Adds an event of a buffer of trace number `which`, in the order of unite_trace(). `lost`: events lost just before it,
 * or PAGE_LOST_*.
 */
int must_check unite_event(struct unite *unite, size_t which, size_t buffer, const struct event *event, int64_t lost,
			   struct fail *fail);

/* Writes the file. Afterwards the union can only be freed. */
int must_check unite_write(struct unite *unite, int fd, uint64_t *ret_size, struct fail *fail);

#endif
