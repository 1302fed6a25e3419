/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_STREAM_PRINT_H
#define WEFT_CMD_STREAM_PRINT_H

#include "cmd/options/decode.h"
#include "formats/sink.h"
#include "lib/base/cleanup.h"
#include "lib/live/live.h"

#include <stdbool.h>

struct fail;
struct live_tables;

struct stream_options {
	struct live_options live; /* stream_print() sets where the text goes */
	const struct sink_ops *format;
	struct sink_options sink;
	struct decode decode;
	bool has_self, self;        /* self: print weft's own events; has_self: was given, else the format decides */
	struct live_tables *tables; /* prints these instead of lines; borrowed; NULL: prints lines */
};

/*
 * Prints a stream (lib/live/live.h) to standard output, as lines or tables. Returns 0, also when the reader closed the
 * output; or -errno. In any case all settings were restored, and `ret` is filled.
 */
int must_check stream_print(struct stream_options *options, struct live_result *ret, struct fail *fail);

#endif
