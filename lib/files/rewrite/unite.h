/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_REWRITE_UNITE_H
#define WEFT_FILES_REWRITE_UNITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/files/rewrite/recast.h"
#include "lib/ground/base/cleanup.h"

struct event;
struct fail;
struct kernel_ties;
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
 * Logs that are added afterwards (unite_is_log()) stand in the times of this trace, which has this name and offset:
 * each line where its time of day was, beside the events of the trace. Where the trace does not tell the time of day,
 * lines that are in both do (NULL: there are none), or nothing is done. Borrows the name.
 */
int must_check unite_like(struct unite *unite, struct trace *trace, const char *name, int64_t offset,
			  const struct kernel_ties *ties, struct fail *fail);
/* Whether 'weft import --log' made it. */
bool unite_is_log(const struct trace *trace);

/*
 * Compares the clocks of traces that are added afterwards with that of this one, by their pings of one machine
 * (lib/meaning/clock/pings.h): events of those with offset 0 get the times that the clock of this one showed.
 */
int must_check unite_compare(struct unite *unite, struct trace *trace, struct fail *fail);
/*
 * Whether that was done for trace number `which`, by how much its first times were moved, and the half width of what
 * the difference of times of both may be wrong at most, at any time of the recordings.
 */
bool unite_compared(const struct unite *unite, size_t which, int64_t *ret_by, uint64_t *ret_half);

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

/* The time of the first event that `event`, as -e takes it, selects. -ENOENT: there is none. */
int must_check unite_first(struct trace *trace, const char *event, uint64_t *ret, struct fail *fail);

/*
 * Adds all events of trace number `which`, in the order of unite_trace(), to *events their number. *ret_damaged: some
 * could not be read.
 */
int must_check unite_events(struct unite *unite, size_t which, struct trace *trace, uint64_t *events, bool *ret_damaged,
			    struct fail *fail);

#endif
