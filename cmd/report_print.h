/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_REPORT_PRINT_H
#define WEFT_CMD_REPORT_PRINT_H

#include "formats/sink.h"
#include "lib/base/cleanup.h"
#include "lib/base/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct trace;

/* Prints the events of a file as the options of weft report say: of several buffers, merged. */

enum { WORDS_MAX = 256 };

/* Words of an option that may be given several times. */
struct words {
	const char *at[WORDS_MAX];
	size_t len;
};

struct report_options {
	const char *input;
	const char *instance; /* NULL: all */
	const struct sink_ops *format;
	struct sink_options sink;
	struct words events, filters, comms, options, raw_events;
	bool negated[WORDS_MAX]; /* of each filter: what meets it is left out */
	bool negate;             /* those that are still to come */
	uint8_t flags_out;       /* enum event_flags of events that are left out */
	int32_t pids[WORDS_MAX];
	size_t nr_pids;
	struct cpus cpus;
	bool some_cpus;
	bool has_self, self; /* whether what weft itself did is printed; left to the format */
	const char *since, *until;
	uint64_t limit, threads;
	uint64_t tail; /* UINT64_MAX: from the start */
	bool decode, no_sandbox, trust_size, quiet;
	const char *plugin_dir, *stored; /* stored: a text to print instead */
	int64_t ts_offset;               /* added to all times */
	uint64_t *printed;               /* events, of all buffers */
};

int must_check report_print(const struct report_options *report, struct trace *trace, struct fail *fail);

#endif
