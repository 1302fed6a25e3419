/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_STREAM_H
#define WEFT_CMD_STREAM_H

#include "cmd/decode.h"
#include "formats/sink.h"
#include "lib/base/cleanup.h"
#include "lib/record/tap.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;
struct stream_tables;

/*
 * The work of `weft stream` between its command line and its summary. A tap (lib/record/tap.h) takes pages, which go
 * through the live source, the merge and a sink to standard output. Each instance has a lane of its own
 * (stream_lane.h), and lanes are merged by time. One thread does everything and sleeps in one place. While the reader
 * of the output takes nothing, weft takes nothing from the kernel either: the kernel's buffer overwrites the oldest
 * events, and the gap is printed when the reader continues.
 */
struct stream_options {
	struct tap_options tap;
	const struct sink_ops *format;
	struct sink_options sink;
	struct decode decode;
	bool has_self, self; /* self: print weft's own events; has_self: was given, else the format decides */
	uint64_t latency_ns;
	uint64_t limit;               /* number of events from all instances */
	struct stream_tables *tables; /* prints these instead of lines; borrowed; NULL: prints lines */
};

struct stream_sum {
	const char *instance; /* its name; NULL: the main instance */
	uint64_t printed;     /* number of events, including those on the line of another one (function graph) */
	uint64_t left_out;    /* number of events left out because weft itself caused them */
	uint64_t lost;        /* by the kernel's count or by the pages, whichever is more */
	uint64_t left;        /* traced, but neither printed nor lost: the reader took no more */
	unsigned cleared;     /* how often somebody emptied the buffer */
};

struct stream_result {
	struct tap_result tap;
	struct stream_sum all;
	struct stream_sum *sums; /* one for each instance; the caller frees them */
	size_t nr_sums;
	bool gone; /* the reader of the output has closed it */
};

/*
 * Returns 0, also when the reader closed the output; or -errno. In any case all settings were restored, and `ret` is
 * filled.
 */
int must_check stream_run(const struct stream_options *options, struct stream_result *ret, struct fail *fail);

#endif
