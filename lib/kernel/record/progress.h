/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_PROGRESS_H
#define WEFT_KERNEL_RECORD_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct target;

/* The progress of a running recording. Reading it costs a few system calls for each CPU, which are also events. */
struct progress {
	uint64_t lasted_ns;
	uint64_t events; /* events that happened, including lost ones */
	uint64_t lost;
	uint64_t bytes; /* bytes of the spools in the parts */
	unsigned fill;  /* how full the fullest buffer is, in percent */
};

/* `started_ns`: the time of now_ns() when tracing was turned on. Counters that cannot be read count as 0. */
void progress_read(const struct target *targets, size_t nr_targets, uint64_t started_ns, struct progress *ret);

#endif
