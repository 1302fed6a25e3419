/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_WHY_WHY_WORDS_INTERNAL_H
#define WEFT_ANSWERS_WHY_WHY_WORDS_INTERNAL_H

#include "lib/answers/why/why_internal.h"

/* What took time, in words. */
enum { WHY_CAUSE = 96, WHY_WORDS = 256, WHY_SENTENCE = sizeof(((struct why_told *)0)->sentence) };

/* By enum why_state. */
extern const char *const why_states[WHY_STATES];

/* By enum why_reason: why a time is not known, and the events that would tell, or NULL. */
struct why_reason_words {
	const char *text, *events;
};
extern const struct why_reason_words why_reasons[REASONS];

/* A part of the whole in percent; never 100 or 0 of a part that is not all or nothing. */
unsigned why_percent(uint64_t part, uint64_t whole);
/* The name of a task at that time, by why_link::name; or the only one that it had. */
const char *why_comm(const struct why_analysis *why, int32_t pid, uint32_t name);
/* "behind node 67 %, 12 others". The rows are sorted. */
void why_cause_text(const struct why_log *log, const struct why_row *row, char into[WHY_CAUSE]);
/* What a row says, without its time: "ls-7 waited for a CPU behind cat". */
void why_put_words(const struct why_analysis *why, const struct why_row *row, char into[WHY_WORDS]);
/* The largest cause. `sums` is sorted. */
void why_put_sentence(const struct why_analysis *why, const struct why_sums *sums, char into[WHY_SENTENCE]);

#endif
