/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_CLOCK_FACE_H
#define WEFT_MEANING_CLOCK_FACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/clock/day.h"

struct fail;
struct wall;

/* How times of a trace are shown: as the trace clock has them, by the clock on the wall, or from the first event. */
enum face_kind { FACE_TRACE, FACE_WALL, FACE_UTC, FACE_RELATIVE };

struct face {
	enum face_kind kind;
	struct zone *zone; /* FACE_WALL, FACE_UTC; owned */
	/* of the first event: the origin of FACE_RELATIVE; and its day, which times of that day do not repeat */
	uint64_t first;
	int64_t day;
};

/* False: it is none of "trace", "wall", "utc" and "relative". */
bool face_named(const char *name, enum face_kind *ret);

/* `first`: the time of the first event. -ENODATA: a time of day is wanted, and the trace does not tell it. */
int must_check face_init(struct face *face, enum face_kind kind, const struct wall *wall, uint64_t first,
			 struct fail *fail);
void face_release(struct face *face);

/* Whether it shows times of day. */
bool face_is_of_day(const struct face *face);

/*
 * Writes a time: "14:02:31.123456789", with its date if it is of another day than the first event; "?" if it is not
 * known. FACE_RELATIVE: "1.123456789". Returns the length. Not for FACE_TRACE.
 */
enum { FACE_TEXT = DAY_TEXT };
int face_text(char into[FACE_TEXT], const struct face *face, const struct wall *wall, uint64_t ts, unsigned digits);

/* The same for programs: "2026-11-28T14:02:31.123456789Z", or with the offset of the zone. 0: it is not known. */
int face_iso(char into[FACE_TEXT], const struct face *face, const struct wall *wall, uint64_t ts);

/* "2026-11-28, UTC+01:00 (CET), to +-0.3 us": what a head says about times without a date. */
int face_head(char into[2 * FACE_TEXT], const struct face *face, const struct wall *wall);

#endif
