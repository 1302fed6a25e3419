// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/why/why_words_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/text.h"
#include "lib/meaning/event/tasks.h"

const char *const why_states[WHY_STATES] = {
	[WHY_UNKNOWN] = "unknown",
	[WHY_RAN] = "ran",
	[WHY_EARLIER] = "earlier",
	[WHY_WAITED] = "waited",
	[WHY_INTERRUPTED] = "interrupted",
	[WHY_SLEPT] = "slept",
	[WHY_TIMER] = "timer",
	[WHY_LATE] = "late",
	[WHY_DISK] = "disk",
	[WHY_DONE] = "completion",
	[WHY_NETWORK] = "network",
	[WHY_SOFTIRQ] = "softirq",
	[WHY_IPI] = "ipi",
	[WHY_INTERRUPT] = "interrupt",
};

/* Why a time is not known, and what would tell. */
const struct why_reason_words why_reasons[REASONS] = {
	[REASON_NONE] = { "", NULL },
	[REASON_LOST] = { "events were lost", NULL },
	[REASON_MISSING] = { "events of the task are missing", NULL },
	[REASON_FIRST] = { "before its first event", NULL },
	[REASON_ENDED] = { "after its end", NULL },
	[REASON_WAKING] = { "no event tells who woke it", "sched:sched_waking" },
	[REASON_ASLEEP] = { "it was not woken meanwhile", NULL },
	[REASON_INTERRUPT] = { "an interrupt of which no event tells", "irq,irq_vectors,timer" },
	[REASON_OLD] = { "older than what is kept", NULL },
	[REASON_DEEP] = { "too many wakers of wakers", NULL },
};

/* A part of the whole in percent; never 100 or 0 of a part that is not all or nothing. */
unsigned why_percent(uint64_t part, uint64_t whole)
{
	unsigned percent = whole ? (unsigned)(((double)part * 100 + (double)whole / 2) / (double)whole) : 0;

	return percent >= 100 && part < whole ? 99 : !percent && part ? 1 : percent;
}

/* "node 67 %, 12 others" */
void why_cause_text(const struct why_log *log, const struct why_row *row, char into[WHY_CAUSE])
{
	const struct why_share *first = row->shares;
	unsigned percent = row->nr_shares ? why_percent(first->ns, row->part.ns) : 0;

	if (row->part.link.state == WHY_UNKNOWN)
		snprintf(into, WHY_CAUSE, "%s", why_reasons[row->part.link.reason].text);
	else if (row->nr_shares == 1)
		snprintf(into, WHY_CAUSE, "%s", why_log_text(log, first->cause));
	else if (row->nr_shares)
		snprintf(into, WHY_CAUSE, "%s %u %%, %zu other%s", why_log_text(log, first->cause), percent,
			 row->nr_shares - 1, row->nr_shares > 2 ? "s" : "");
	else if (row->part.link.state == WHY_EARLIER)
		snprintf(into, WHY_CAUSE, "on a CPU, before it received anything");
	else
		snprintf(into, WHY_CAUSE, "%s",
			 row->part.link.state == WHY_RAN ? "on a CPU" : why_log_text(log, row->part.link.cause));
}

const char *why_comm(const struct why_analysis *why, int32_t pid, uint32_t name)
{
	const char *comm = why_log_text(&why->log, name);
	uint32_t id = *comm || pid <= 0 ? STATE_NO_TASK : state_task_once(&why->pass->state, pid);

	return id == STATE_NO_TASK ? comm : pass_comm(why->pass, &why->pass->state.tasks[id]);
}

/* What a row says, without its time: "ls-7 waited for a CPU behind cat". */
void why_put_words(const struct why_analysis *why, const struct why_row *row, char into[WHY_WORDS])
{
	const char *comm = why_comm(why, row->part.link.pid, row->part.link.name);
	char cause[WHY_CAUSE], who[64];

	why_cause_text(&why->log, row, cause);
	if (row->part.several)
		snprintf(who, sizeof(who), "%s (several tasks)", comm);
	else
		snprintf(who, sizeof(who), "%s-%" PRId32, task_shown(comm), row->part.link.pid);
	switch ((enum why_state)row->part.link.state) {
	case WHY_RAN:
		snprintf(into, WHY_WORDS, "%s ran", who);
		return;
	case WHY_EARLIER:
		snprintf(into, WHY_WORDS, "%s ran before it received anything", who);
		return;
	case WHY_WAITED:
		snprintf(into, WHY_WORDS, "%s waited for %s%s", who, strncmp(cause, "behind ", 7) ? "" : "a CPU ",
			 cause);
		return;
	case WHY_INTERRUPTED:
		snprintf(into, WHY_WORDS, "%s was interrupted by %s", who, cause);
		return;
	case WHY_SLEPT:
		snprintf(into, WHY_WORDS, "%s slept on its own timer", who);
		return;
	case WHY_TIMER:
		snprintf(into, WHY_WORDS, "%s waited for %s", row->part.link.pid ? who : "a task", cause);
		return;
	case WHY_LATE:
		snprintf(into, WHY_WORDS, "%s was late for %s", cause, row->part.link.pid ? who : "a task");
		return;
	case WHY_DISK:
		snprintf(into, WHY_WORDS, "%s", cause);
		return;
	case WHY_DONE:
		snprintf(into, WHY_WORDS, "the completion of %s", cause);
		return;
	case WHY_NETWORK:
		snprintf(into, WHY_WORDS, "a packet on its way through %s", cause);
		return;
	case WHY_SOFTIRQ:
	case WHY_IPI:
		snprintf(into, WHY_WORDS, "%s was on its way", cause);
		return;
	case WHY_INTERRUPT:
		snprintf(into, WHY_WORDS, "%s waited for %s", row->part.link.pid ? who : "a task", cause);
		return;
	case WHY_UNKNOWN:
	case WHY_STATES:
		break;
	}
	snprintf(into, WHY_WORDS, "unknown: %s", cause);
}

/* The largest cause. `sums` is sorted. */
void why_put_sentence(const struct why_analysis *why, const struct why_sums *sums, char into[WHY_SENTENCE])
{
	static const char *const state_words[WHY_STATES] = {
		"unknown",
		"tasks ran",
		"tasks ran for others first",
		"tasks waited for CPUs",
		"tasks were interrupted",
		"tasks slept on their own timers",
		"tasks waited for timers",
		"timers were late",
		"disks",
		"the completion of requests",
		"packets were on their way",
		"softirqs were on their way",
		"interrupts were on their way",
		"tasks waited for interrupts",
	};
	char time[TEXT_HUMAN], words[WHY_WORDS];
	uint64_t of_state[WHY_STATES] = { 0 };
	size_t most = 0;

	if (!sums->nr) {
		snprintf(into, WHY_SENTENCE, "no time");
		return;
	}
	why_put_words(why, &sums->rows[0], words);
	for (size_t i = 0; i < sums->nr; i++)
		of_state[sums->rows[i].part.link.state] += sums->rows[i].part.ns;
	for (size_t i = 0; i < WHY_STATES; i++)
		most = of_state[i] > of_state[most] ? i : most;
	/* Many causes of one kind say more than the largest of them. */
	if (sums->rows[0].part.ns * 3 < sums->ns && of_state[most] > sums->rows[0].part.ns)
		snprintf(into, WHY_SENTENCE, "%u %% of the %s: %s; the largest part, %u %%: %s",
			 why_percent(of_state[most], sums->ns), text_time(time, sums->ns), state_words[most],
			 why_percent(sums->rows[0].part.ns, sums->ns), words);
	else
		snprintf(into, WHY_SENTENCE, "%u %% of the %s: %s", why_percent(sums->rows[0].part.ns, sums->ns),
			 text_time(time, sums->ns), words);
}
