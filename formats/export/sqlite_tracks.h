/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_SQLITE_TRACKS_H
#define WEFT_FORMATS_EXPORT_SQLITE_TRACKS_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct context;
struct db;
struct event;
struct sqlite_tracks;

/*
 * What follows from the events of a buffer, as rows: thread, sched, thread_state, track, slice, counter. The states are kept here, as much
 * as these tables need: which task a CPU has, and since when a task is in which state. A loss forgets them all: what it may have hidden
 * has no row.
 */
void sqlite_tracks_schema(struct db *db);

/* NULL without memory. Numbers of its threads and tracks come behind `base`. */
struct sqlite_tracks *sqlite_tracks_new(struct db *db, const struct context *context, int64_t base);
void sqlite_tracks_free(struct sqlite_tracks *tracks);

/* The number of a task in the table thread. */
int64_t sqlite_tracks_utid(struct sqlite_tracks *tracks, int32_t pid);

void sqlite_tracks_see(struct sqlite_tracks *tracks, const struct event *event);

/* What is open at the end has the duration -1; names of tasks. */
void sqlite_tracks_end(struct sqlite_tracks *tracks, uint64_t ts);

#endif
