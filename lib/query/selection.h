/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_QUERY_SELECTION_H
#define WEFT_QUERY_SELECTION_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct context;
struct event;
struct fail;

/*
 * Which events of a stream are wanted: by type, by pid, by the name of the task and by filter. Of each kind any one named will do;
 * a kind of which none was named lets all pass. A stack trace goes with the event that it belongs to: the one before it on its
 * CPU. Events must be asked about in the order of the stream, by one thread. Borrows the context.
 */
struct selection;

int must_check selection_new(const struct context *context, struct selection **ret, struct fail *fail);
void selection_free(struct selection *selection);

/* "system:event", "system/event", a system, or an event; globs in either part; several with commas. -ENOENT when the file knows none of one. */
int must_check selection_add_events(struct selection *selection, const char *pattern, struct fail *fail);
int must_check selection_add_pid(struct selection *selection, int32_t pid, struct fail *fail);
/* "EVENT: FILTER", or "FILTER" for all events that have its fields: lib/query/filter_set.h. */
int must_check selection_add_filter(struct selection *selection, const char *text, bool negated, struct fail *fail);
/* Leaves out events with one of these enum event_flags. */
void selection_leave_out_flags(struct selection *selection, uint8_t flags);
/* A glob for the task's name. */
int must_check selection_add_comm(struct selection *selection, const char *pattern, struct fail *fail);

/*
 * Leaves out what the recorder itself did, by the PIDs that the file names (weft/self of weft-dat(5)). Interrupts that hit it are
 * somebody else's, and stay. Returns the count of what was left out so far, which may be set anew.
 */
int must_check selection_leave_out_self(struct selection *selection, uint64_t **ret_count, struct fail *fail);

/* Whether nothing was named. */
bool selection_empty(const struct selection *selection);

/* `selection` is a struct selection, as a render_options::select_arg. */
bool selection_keep(void *selection, const struct event *event);

#endif
