/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_REPORT_PRINT_H
#define WEFT_CMD_REPORT_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/options/decode.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "formats/sink.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/reader/query.h"

struct fail;
struct trace;

/* Prints the events of a file as the options of weft report say, with several buffers merged. */

struct report_options {
	const char *input;
	struct query query;
	const struct sink_ops *format;
	struct sink_options sink;
	struct option_words options, raw_events;
	struct option_words plain_events; /* of the format trace-cmd: events that no plugin prints */
	uint64_t threads;
	struct reading reading;
	bool quiet;
	struct decode decode;
	struct user_plugins user_plugins;        /* for the first file */
	struct user_plugins *other_user_plugins; /* for each of the others */
	const char *stored;                      /* the name of a stored text to print instead */
	enum face_kind face;                     /* how times are printed */
	int64_t ts_offset;                       /* added to all times */
	/* of the format trace-cmd: further files, whose events are merged with those of the first */
	struct trace *const *others;
	size_t nr_others;
	uint64_t *printed; /* the number of events printed, from all buffers */
};

int must_check report_print(const struct report_options *report, struct trace *trace, struct fail *fail);

#endif
