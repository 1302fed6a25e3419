/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_STREAM_H
#define WEFT_CMD_STREAM_H

#include "formats/sink.h"
#include "lib/base/cleanup.h"
#include "lib/record/tap.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;
struct stream_tables;

/*
 * What `weft stream` does between its command line and its summary: a tap (lib/record/tap.h), whose pages go through
 * the live source, the merge and a sink to standard output; for each instance a lane of its own (stream_lane.h), merged
 * once more by time. One thread does it all and sleeps in one place. While the reader of the output takes nothing,
 * nothing is taken from the kernel either: its buffer overwrites the oldest events, and the gap is printed when the
 * reader goes on.
 */
struct stream_options {
	struct tap_options tap;
	const struct sink_ops *format;
	struct sink_options sink;
	bool decode;
	bool has_self, self;    /* whether what weft itself does is printed; left to the format */
	const char *plugin_dir; /* NULL: the usual one */
	uint64_t latency_ns;
	uint64_t limit;               /* events of all instances */
	struct stream_tables *tables; /* in the place of lines; borrowed; NULL: none */
};

struct stream_sum {
	const char *instance; /* its name; NULL: the main one */
	uint64_t printed;     /* events, those taken into the line of another (function graph) included */
	uint64_t left_out;    /* not printed, because weft itself did them */
	uint64_t lost;        /* by the kernel's count, or as the pages tell, whichever is more */
	uint64_t left;        /* traced, and neither printed nor lost: the reader took no more */
	unsigned cleared;     /* times that somebody emptied the buffer */
};

struct stream_result {
	struct tap_result tap;
	struct stream_sum all;
	struct stream_sum *sums; /* of each instance; free() */
	size_t nr_sums;
	bool gone; /* the reader of the output has closed it */
};

/* 0, also when the reader went away; -errno. Everything was put back in any case; `ret` is filled. */
int must_check stream_run(const struct stream_options *options, struct stream_result *ret, struct fail *fail);

#endif
