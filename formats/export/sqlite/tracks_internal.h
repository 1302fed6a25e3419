/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_SQLITE_TRACKS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_SQLITE_TRACKS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct db;
struct db_table;
struct event;
struct export;
struct path;
struct selection;
struct sqlite_tracks;

/*
 * Rows of the slices of a buffer (lib/meaning/timeline/timeline.h): thread, sched, thread_state, track, slice, mark,
 * counter; whom each thread belonged to when: who; and what the longest calls and wakeups waited for: why, why_link.
 */
struct sqlite_tables {
	struct db_table *thread, *sched, *state, *track, *slice, *mark, *counter, *who, *why, *why_link;
};
void sqlite_tables_make(struct sqlite_tables *tables, struct db *db);

/*
 * NULL without memory. `buffer`: its index. The numbers of its threads and tracks are greater than those of buffers
 * before it. The tables are borrowed, and `chosen`: the tasks whose slices are rows; NULL: all.
 */
struct sqlite_tracks *sqlite_tracks_new(struct db *db, const struct sqlite_tables *tables,
					const struct context *context, uint16_t buffer, struct selection *chosen);
void sqlite_tracks_free(struct sqlite_tracks *tracks);

/* The number of a task in the table thread. */
int64_t sqlite_tracks_utid(struct sqlite_tracks *tracks, int32_t pid);

/* Whether memory ran out, so that rows are missing. */
bool sqlite_tracks_starved(const struct sqlite_tracks *tracks);

void sqlite_tracks_see(struct sqlite_tracks *tracks, const struct export *export, const struct event *event);

/* Adds a row of why, with this number, and its rows of why_link. */
void sqlite_tracks_why(struct sqlite_tracks *tracks, const struct path *path, int64_t number);

/* Adds the rows that are open at the end, with the duration -1, and of tasks the names and whom they belonged to. */
void sqlite_tracks_end(struct sqlite_tracks *tracks, uint64_t first, uint64_t last);

#endif
