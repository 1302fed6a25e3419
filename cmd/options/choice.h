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
extern const struct argp choice_time_argp;   /* --since, --until, --around, --before, --after */
extern const struct argp choice_count_argp;  /* --limit and --tail */
extern const struct argp choice_part_argp;   /* those of time, --instance, --cpu, --pid and --comm */
extern const struct argp choice_events_argp; /* --event, --filter and --invert */
extern const struct argp choice_argp;        /* all of these, --longer and so on */

/*
 * Adds the buffers that are asked for, with the plugins that `decode` wants (NULL: none), and narrows them. A file
 * that only has the text of a latency tracer is refused.
 */
int must_check choice_buffers(const struct query *query, const struct decode *decode, struct trace *trace,
			      struct reader *reader, struct fail *fail);

/* Fails because a file that only has the text of a latency tracer has no events; `what` says what to do instead. */
int choice_refuse_text(struct trace *trace, const char *what, struct fail *fail);

/*
 * Explains an empty answer. If any choice was given, it prints to standard error how many events there are, what time
 * they span, and which choice no event meets, with similar names. It reads the file once more, up to some millions of
 * events. If it cannot, it prints nothing. `rows`: the answer is made from events, so that only a choice that no event
 * meets explains it.
 */
void choice_tell_empty(struct trace *trace, const struct query *query, bool rows);

#endif
