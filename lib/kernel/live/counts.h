/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_LIVE_COUNTS_H
#define WEFT_KERNEL_LIVE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

/* What became of the events of one instance, or of all. */
struct live_sum {
	const char *instance; /* its name; NULL: the main instance */
	uint64_t printed;     /* number of events, including those on the line of another one (function graph) */
	uint64_t left_out;    /* number of events left out because weft itself caused them */
	uint64_t lost;        /* by the kernel's count or by the pages, whichever is more */
	uint64_t left;        /* traced, but neither printed nor lost: the reader took no more */
	unsigned cleared;     /* how often somebody emptied the buffer */
	bool clears_itself;   /* its tracer is one of those that empty the buffer with each longer latency */
};

#endif
