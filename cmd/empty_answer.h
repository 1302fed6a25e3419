/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_EMPTY_ANSWER_H
#define WEFT_CMD_EMPTY_ANSWER_H

#include <stdbool.h>

struct query;
struct trace;

/*
 * Explains an empty answer. If any choice was given, it prints to standard error how many events there are, what time
 * they span, and which choice no event meets, with similar names. It reads the file once more, up to some millions of
 * events. If it cannot, it prints nothing. `rows`: the answer is made from events, so that only a choice that no event
 * meets explains it.
 */
void empty_answer_tell(struct trace *trace, const struct query *query, bool rows);

#endif
