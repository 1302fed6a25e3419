/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_STATUS_INTERNAL_H
#define WEFT_FLIGHT_STATUS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cruise;

/* What `weft flight status` tells about a flight. Times are of the trace clock. */
struct status {
	uint64_t keep_ns, max_memory;
	bool in_kernel;
	const char *persistent; /* struct flight_options */
	const char *dir;
	uint64_t begin;
	uint64_t triggers, skipped, files, failed, bytes, uploads, uploads_failed;
};

/* Appends the text. False: there is no memory. */
bool status_print(const struct status *status, struct cruise *cruise, struct buf *text);

/* Whether some CPU holds less than was asked for, because of the memory. *ret_span: the shortest history in ns. */
bool status_is_short(const struct status *status, struct cruise *cruise, uint64_t *ret_span);

#endif
