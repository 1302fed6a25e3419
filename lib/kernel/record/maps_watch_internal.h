/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_MAPS_WATCH_INTERNAL_H
#define WEFT_KERNEL_RECORD_MAPS_WATCH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;

/*
 * Executable maps of all processes, as the kernel makes them: perf_event_open(2) tells of each one, so the maps of a
 * program are known even if it ends at once. Needs a kernel with perf events, and root or a low perf_event_paranoid:
 * without them there is no watch. Limits: MAPS_WATCH_NR processes, MAPS_WATCH_SIZE bytes of text.
 */
struct maps_watch;

enum { MAPS_WATCH_NR = 1 << 14, MAPS_WATCH_SIZE = 4 << 20 };

/* *ret is NULL if this kernel tells nothing. */
int must_check maps_watch_start(struct maps_watch **ret, struct fail *fail);
/* Takes what the kernel has told. Call it every few milliseconds: its buffers hold the starts of 1,000 programs. */
void maps_watch_read(struct maps_watch *watch);
/* Adds the setting weft/maps (lib/meaning/names/maps.h). */
int must_check maps_watch_put(struct maps_watch *watch, struct buf *into, struct fail *fail);
void maps_watch_free(struct maps_watch *watch);

/* For maps_watch_read(), and to be tested: one record as the kernel wrote it, its head included. */
void maps_watch_see(struct maps_watch *watch, const uint8_t *record, size_t len);
int must_check maps_watch_new(struct maps_watch **ret, struct fail *fail);

#endif
