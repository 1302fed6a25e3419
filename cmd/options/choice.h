/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_CHOICE_H
#define WEFT_CMD_OPTIONS_CHOICE_H

#include "lib/base/cleanup.h"
#include "lib/reader/query.h"

#include <argp.h>

struct decode;
struct fail;
struct reader;
struct trace;

/*
 * The options that choose events of a file, as argp children. The input of each is a struct query, which begins as
 * QUERY_INIT. They stand in these tables only and mean the same in all commands.
 */
extern const struct argp choice_time_argp; /* --since and --until */
extern const struct argp choice_part_argp; /* these, --instance, --cpu, --pid and --comm */
extern const struct argp choice_argp;      /* these, --event, --filter, --limit, --tail and so on */

/*
 * Adds the buffers that are asked for, with the plugins that `decode` wants (NULL: none), and narrows them. A file
 * that only has the text of a latency tracer is refused.
 */
int must_check choice_buffers(const struct query *query, const struct decode *decode, struct trace *trace,
			      struct reader *reader, struct fail *fail);

#endif
