/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_QUERY_SELECTION_H
#define WEFT_MEANING_QUERY_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct event;
struct events_options;
struct fail;
struct who_want;

/*
 * Selects events of a stream: by type, PID, name of the task and filter. An event must meet one criterion of each kind
 * that was given; a kind without criteria lets all events pass. A stack trace is selected if its event is: the event
 * before it on its CPU. selection_keep() must be called in the order of the stream, by one thread. Borrows the context.
 */
struct selection;

int must_check selection_new(const struct context *context, struct selection **ret, struct fail *fail);
void selection_free(struct selection *selection);

/*
 * "system:event", "system/event", a system, or an event; globs in either part; several separated by commas. -ENOENT
 * when the file has no such event.
 */
int must_check selection_add_events(struct selection *selection, const char *pattern, struct fail *fail);
int must_check selection_add_pid(struct selection *selection, int32_t pid, struct fail *fail);
/*
 * "EVENT: FILTER", or "FILTER" for all events that have its fields: lib/meaning/query/filter_set_internal.h; with
 * "duration > 1ms": lib/meaning/query/duration_internal.h.
 */
/* -EINVAL: it is no filter, whatever fields a file has. Terms with a duration are not looked at. */
int must_check selection_check_filter(const char *text, struct fail *fail);
int must_check selection_add_filter(struct selection *selection, const char *text, bool negated, struct fail *fail);
/* Leaves out events that have one of these enum event_flags. */
void selection_leave_out_flags(struct selection *selection, uint8_t flags);
/*
 * Only what happened inside the spans of one of these names: lib/meaning/query/mark_spans.h. Reads the buffer's events;
 * borrows the globs.
 */
int must_check selection_add_marks(struct selection *selection, const char *const *globs, size_t nr, struct fail *fail);
/*
 * Only what is about a file of one of these names: lib/meaning/query/file_calls.h. Reads the buffer's events; borrows
 * the globs.
 */
int must_check selection_add_files(struct selection *selection, const char *const *globs, size_t nr, struct fail *fail);
/* Whom the task must belong to at that time; lib/meaning/follow/who.h. Borrows the word. */
int must_check selection_add_who(struct selection *selection, const struct who_want *want, struct fail *fail);
/* A glob for the task's name. */
int must_check selection_add_comm(struct selection *selection, const char *pattern, struct fail *fail);

/*
 * Leaves out the recorder's own events, by the PIDs that the file names (weft/self of weft-dat(5)). Interrupts that hit
 * the recorder are kept. Returns a pointer to the count of events left out so far, which the caller may reset.
 */
int must_check selection_leave_out_self(struct selection *selection, uint64_t **ret_count, struct fail *fail);

/*
 * Whether a filter uses a duration: then selection_keep() must be called once for every event, and selection_gap() for
 * every gap.
 */
bool selection_asks_duration(const struct selection *selection);
void selection_gap(struct selection *selection, const struct event *gap);

/*
 * Reads the events of the window if the selection asks which calls of the function graph lasted how long, or ran in an
 * interrupt: it then keeps the entry of a call with its exit, and the callers of a wanted one. selection_keep() must
 * then be called for every event of that window once, in the same order, but exits may be missing. Without this a
 * filter by duration keeps only exits, and flags are those of each event.
 */
int must_check selection_read_first(struct selection *selection, const struct events_options *window,
				    struct fail *fail);

/* Whether selection_read_first() has read: what is left out stands between the lines of one function. */
bool selection_follows_calls(const struct selection *selection);

/* Whether it has read events, a filter asks for a duration, and nothing has one. */
bool selection_lacks_durations(const struct selection *selection);

/* The result of durations_ended() of lib/meaning/query/duration_internal.h; the signature fits sink_options::ended. */
bool selection_ended(void *selection, const struct event *event, uint64_t *ret_lasted, struct event *ret_begin);

/* The event types that selection_add_events() named: a bit for each id, owned by the selection. */
const uint64_t *selection_types(const struct selection *selection);

/*
 * For slices of time (lib/meaning/reader/slices.h), of which each thread has a selection of its own.
 * selection_can_enter(): whether an event can be selected without all events before it. selection_enter(): events
 * follow that are not those after the last one. selection_is_lost(): a stack came since then whose event had come
 * before.
 */
bool selection_can_enter(const struct selection *selection);
void selection_enter(struct selection *selection);
bool selection_is_lost(const struct selection *selection);

/* Whether a criterion looks at more of an event than the task. */
bool selection_asks_events(const struct selection *selection);

/* Whether there are no criteria. */
bool selection_empty(const struct selection *selection);

/*
 * For what lasts: the criteria for tasks, asked of the time from *from to *to. False: the task was not chosen then.
 * Else both become the first part of that time in which its name, and whom it belonged to, are chosen ones. A mark or a
 * file chooses all of a time that has a moment inside one of its spans or calls. Names are those under which
 * lib/meaning/state counts what a task did, and not, as for an event, those in its text.
 */
bool selection_part(struct selection *selection, int32_t pid, uint64_t *from, uint64_t *to);

/* `selection` is a struct selection: the signature fits render_options::select. */
bool selection_keep(void *selection, const struct event *event);

#endif
