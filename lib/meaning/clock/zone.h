/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_CLOCK_ZONE_H
#define WEFT_MEANING_CLOCK_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;

enum { ZONE_NAME = 8, ZONE_LABEL = 64 };

/*
 * A time zone: from when on its clocks were how far ahead of UTC, and what that is called ("CET"). Immutable: any
 * thread may use it.
 */
struct zone {
	char label[ZONE_LABEL]; /* "Europe/Berlin"; "": that of this machine */
	struct zone_span {
		int64_t since_s; /* UTC, since 1970 */
		int32_t offset_s;
		char name[ZONE_NAME];
	} * spans; /* the first one holds for all times before, too */
	size_t nr;
};

/* The C library's zone (tzset(3)), for the years 1970 to 2100. */
int must_check zone_new(const char *label, struct zone **ret, struct fail *fail);
/* A zone that is always so far ahead of UTC: 0 is UTC. */
int must_check zone_new_fixed(int32_t offset_s, struct zone **ret, struct fail *fail);
void zone_free(struct zone *zone);

/*
 * A zone as a text, for a process that can open no file: a line for each span, behind one with the label. zone_new_of()
 * makes a zone of it: -EINVAL, without a message: the text is none.
 */
bool must_check zone_put(const struct zone *zone, struct buf *into);
int must_check zone_new_of(const char *text, struct zone **ret, struct fail *fail);

/* What holds in the zone at this time. */
const struct zone_span *zone_at(const struct zone *zone, int64_t utc_s);

/* Zones that a text may name, by their label. The list owns them. */
struct zones {
	struct zone **at;
	size_t nr;
};
const struct zone *zones_find(const struct zones *zones, const char *label);
void zones_release(struct zones *zones);

#endif
