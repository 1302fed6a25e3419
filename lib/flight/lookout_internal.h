/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_LOOKOUT_INTERNAL_H
#define WEFT_FLIGHT_LOOKOUT_INTERNAL_H

#include <stdint.h>

struct cruise;
struct status;

/*
 * What a flight looks after from time to time: whether the memory holds what was asked for, which is told, and CPUs
 * that come online, which get recorders.
 */
struct lookout {
	struct cruise *cruise;
	const struct status *status;
	void (*tell)(const char *text);
	int plug_fd; /* readable when a CPU may have come online; -1: none */
	uint64_t looked_ns, plugged_ns, warned_ns;
	uint64_t crowded; /* of struct status_reach, as it was told */
};

void lookout_begin(struct lookout *lookout);
void lookout_end(struct lookout *lookout);
/* How long it may sleep. */
uint64_t lookout_ms(const struct lookout *lookout);
void lookout_look(struct lookout *lookout);

#endif
