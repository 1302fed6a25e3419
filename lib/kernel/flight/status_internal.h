/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_STATUS_INTERNAL_H
#define WEFT_KERNEL_FLIGHT_STATUS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct flight_recording;

/* What `weft flight status` tells about a flight. Times are of the trace clock. */
struct status {
	const char *name; /* of the flight */
	uint64_t keep_ns, max_memory;
	bool in_kernel;
	const char *persistent; /* struct flight_options */
	const char *dir;
	uint64_t begin;
	uint64_t triggers, skipped, files, failed, bytes, uploads, uploads_failed;
};

/* Appends the text. False: there is no memory. */
bool status_print(const struct status *status, struct flight_recording *recording, struct buf *text);
/* The same as one line of JSON, whose members cmd/flight.c lists. */
bool status_print_json(const struct status *status, struct flight_recording *recording, struct buf *text);

struct status_reach {
	uint64_t span;    /* the shortest history of all CPUs, in ns */
	bool is_short;    /* it is shorter than was asked for, because of the memory */
	uint64_t crowded; /* struct flight_recording_cpu */
};

/* How far back every CPU reaches. False: that could not be found out. */
bool status_reach(const struct status *status, struct flight_recording *recording, struct status_reach *ret);

#endif
