// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/why/why_words_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/follow/withheld.h"
#include "lib/meaning/reader/reader.h"

/* Tables of what took the time of intervals. */

static void put_pid(struct table *table, int32_t pid)
{
	if (pid > 0)
		table_cell_s64(table, pid);
	else
		table_cell(table, "-");
}

#define PART_COLUMNS(X)                                                                     \
	X("TIME", TIME, NULL, 0, table_cell_u64, row->part.ns)                              \
	X("%", NUMBER, "percent", 0, table_cell_percent, row->part.ns, sums->ns, 1)         \
	X("LINKS", COUNT, NULL, 0, table_cell_u64, row->part.links)                         \
	X("TASK", TEXT, "comm", 0, table_cell,                                              \
	  row->part.link.pid ? why_comm(why, row->part.link.pid, row->part.link.name) : "") \
	X("PID", NUMBER, NULL, 0, put_pid, row->part.several ? 0 : row->part.link.pid)      \
	X("STATE", TEXT, NULL, 0, table_cell, why_states[row->part.link.state])             \
	X("CAUSE", TEXT, NULL, 0, table_cell, cause)                                        \
	X("LONGEST", TIME, NULL, SPARE, table_cell_u64, row->part.longest)                  \
	X("AT", NUMBER, "longest_at", SPARE, table_cell_moment, row->part.longest_at)

const struct table_column why_columns[] = COLUMNS(PART_COLUMNS);

static void put_parts(const struct why_analysis *why, const struct why_sums *sums, const char *title,
		      struct findings *findings)
{
	struct table *table = findings_table(findings, "parts", title, "time", why_columns);
	char cause[WHY_CAUSE];

	if (table)
		findings->items[findings->nr - 1].about = "where the time went, each ns once";
	for (size_t i = 0; table && i < sums->nr; i++) {
		const struct why_row *row = &sums->rows[i];

		why_cause_text(&why->log, row, cause);
		PART_COLUMNS(CELL)
	}
}

/* The end of the links from `at` on that are one row: what a task did without a change of state. */
static size_t end_of_row(const struct why_path *path, size_t at)
{
	size_t end = at + 1;

	while (end < path->nr && path->links[end].pid == path->links[at].pid &&
	       path->links[end].name == path->links[at].name && path->links[end].depth == path->links[at].depth &&
	       path->links[end].state == path->links[at].state && why_has_shares(path->links[at].state))
		end++;
	return end;
}

static void put_indented(struct table *table, unsigned depth, const char *comm)
{
	table_cellf(table, "%*s%s", 2 * (depth < 16 ? (int)depth : 16), "", task_shown(comm));
}

#define PATH_COLUMNS(X)                                                                 \
	X("AT", NUMBER, "from", 0, table_cell_moment, first->from)                      \
	X("TIME", TIME, NULL, 0, table_cell_u64, path->links[end - 1].to - first->from) \
	X("TASK", TEXT, NULL, 0, put_indented, first->depth, comm)                      \
	X("PID", NUMBER, NULL, 0, put_pid, first->pid)                                  \
	X("STATE", TEXT, NULL, 0, table_cell, why_states[first->state])                 \
	X("CAUSE", TEXT, NULL, 0, table_cell, first->state == WHY_RAN ? "" : cause)     \
	X("DEPTH", NUMBER, NULL, DATA, table_cell_u64, first->depth)                    \
	X("NUMBER", NUMBER, "interval", WHEN, table_cell_u64, number)

static const struct table_column path_columns[] = COLUMNS(PATH_COLUMNS);

static bool put_links(const struct why_analysis *why, const struct why_path *path, size_t at, size_t end, size_t number,
		      struct table *table)
{
	const struct why_link *first = &path->links[at];
	const char *comm = first->pid ? why_comm(why, first->pid, first->name) : "-";
	const struct why_path part = { .links = &path->links[at], .nr = end - at };
	struct why_sums sums;
	char cause[WHY_CAUSE] = "";

	why_sums_init(&sums);
	why_sums_path(&sums, &part);
	why_sums_sort(&sums);
	if (sums.nr)
		why_cause_text(&why->log, &sums.rows[0], cause);
	PATH_COLUMNS(CELL)
	why_sums_release(&sums);
	return !sums.failed;
}

static void put_path(const struct why_analysis *why, size_t list, struct findings *findings)
{
	struct table *table = findings_table(findings, "path", "in the order of time: who was waited for is indented",
					     NULL, path_columns);

	findings_show(findings, WHEN, why->nr[list] > 1);
	for (size_t k = 0; table && k < why->nr[list]; k++) {
		const struct why_path *path = &why->found[list][k].path;

		for (size_t i = 0, end; i < path->nr; i = end) {
			end = end_of_row(path, i);
			findings->failed |= !put_links(why, path, i, end, k + 1, table);
		}
	}
}

static int longest_first(const void *a, const void *b)
{
	const struct why_found *x = a, *y = b;
	uint64_t of_x = x->to - x->from, of_y = y->to - y->from;

	return of_x < of_y ? 1 : of_x > of_y ? -1 : x->from > y->from ? 1 : x->from < y->from ? -1 : 0;
}

/* Who asks for "why" gets the first column of that title: the whole sentence. */
#define INTERVAL_COLUMNS(X)                                                          \
	X("LASTED", TIME, NULL, 0, table_cell_u64, found->to - found->from)          \
	X("WHAT", TEXT, NULL, 0, table_cell, found->what)                            \
	X("TASK", TEXT, "comm", 0, table_cell, why_log_text(&why->log, found->name)) \
	X("PID", NUMBER, NULL, 0, table_cell_s64, found->pid)                        \
	X("FROM", NUMBER, "from", SPARE, table_cell_moment, found->from)             \
	X("TO", NUMBER, "to", SPARE, table_cell_moment, found->to)                   \
	X("UNKNOWN", TIME, NULL, SPARE, table_cell_u64, sums.unknown)                \
	X("WHY", TEXT, "why", DATA, table_cell, sentence)                            \
	X("WHY", TEXT, "brief", TEXT_ONLY, table_cellf, "%.*s%s", (int)share, sentence, &sentence[rest])

static const struct table_column interval_columns[] = COLUMNS(INTERVAL_COLUMNS);

static void put_intervals(const struct why_analysis *why, size_t list, struct findings *findings)
{
	struct table *table = findings_table(findings, "intervals", "the longest, and what took most of their time",
					     NULL, interval_columns);
	char sentence[WHY_SENTENCE];
	size_t share, rest;

	for (size_t i = 0; table && i < why->nr[list]; i++) {
		const struct why_found *found = &why->found[list][i];
		struct why_sums sums;

		why_sums_init(&sums);
		why_sums_path(&sums, &found->path);
		why_sums_sort(&sums);
		why_put_sentence(why, &sums, sentence);
		/* "97 %: ls-7 ran": how long it was has a column of its own. */
		share = strcspn(sentence, "%") + 1;
		rest = strcspn(sentence, ":");
		if (!sentence[rest])
			share = rest = 0;
		INTERVAL_COLUMNS(CELL)
		findings->failed |= sums.failed;
		why_sums_release(&sums);
	}
	/* Of one interval the line above its parts says it all. */
	if (table)
		findings->items[findings->nr - 1].data_only = why->nr[list] == 1;
}

/* "300 calls of read" */
static void put_number(const struct why_analysis *why, uint64_t nr, char *into, size_t size)
{
	static const char *const nouns[] = {
		[WHY_LONGEST] = "call", [WHY_CALL] = "call", [WHY_WAKEUP] = "wakeup",   [WHY_RUN] = "life",
		[WHY_MARK] = "span",    [WHY_TASK] = "time", [WHY_REQUEST] = "request",
	};
	const char *name = why->options.name;
	bool lives = why->options.of == WHY_RUN;
	char count[TEXT_HUMAN];

	snprintf(into, size, "%s %s%s%s%.48s", text_count(count, nr),
		 lives && nr != 1 ? "lives" : nouns[why->options.of], nr == 1 || lives ? "" : "s", name ? " of " : "",
		 name ? name : "");
}

/* The sentence of the first interval, and which one it is, as the line above the parts. */
static void put_title(const struct why_analysis *why, size_t list, const struct why_sums *sums, char *into, size_t size)
{
	const struct why_found *found = &why->found[list][0];
	char sentence[WHY_SENTENCE], from[PASS_MOMENT], to[PASS_MOMENT], number[96];

	*into = '\0';
	if (!why->nr[list])
		return;
	why_put_sentence(why, sums, sentence);
	put_number(why, why->many.nr, number, sizeof(number));
	if (why->options.all && !list)
		snprintf(into, size, "%s\n# %s", sentence, number);
	else if (why->nr[list] > 1)
		snprintf(into, size, "all %zu of them; %s", why->nr[list], sentence);
	else
		snprintf(into, size, "%s\n# %s of %s-%" PRId32 ", from %s to %s", sentence, found->what,
			 why_log_text(&why->log, found->name), found->pid, pass_moment(why->pass, found->from, from),
			 pass_moment(why->pass, found->to, to));
}

/* What a part adds to the mean of the slowest ones, and to that of the others. */
struct difference {
	const struct why_row *slow, *others; /* either may be NULL */
	double more;
	uint64_t of_slow, of_others; /* rounded so that all of them add up to the means */
};

static int by_more(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;
	const struct why_row *of_x = x->slow ? x->slow : x->others, *of_y = y->slow ? y->slow : y->others;

	if (x->more != y->more)
		return x->more < y->more ? 1 : -1;
	return memcmp(&of_x->part.link, &of_y->part.link, sizeof(of_x->part.link));
}

/* Each is what it adds to a sum that is rounded, so that no ns is lost or counted twice. */
static void round_means(struct difference *differences, size_t nr, const struct why_groups *groups)
{
	uint64_t slow = 0, others = 0, nr_others = groups->others.nr;

	for (size_t i = 0; i < nr; i++) {
		struct difference *difference = &differences[i];
		uint64_t of_slow = difference->slow ? difference->slow->part.ns : 0;
		uint64_t of_others = difference->others ? difference->others->part.ns : 0;

		difference->of_slow = (slow + of_slow) / groups->slow.nr - slow / groups->slow.nr;
		difference->of_others = nr_others ? (others + of_others) / nr_others - others / nr_others : 0;
		slow += of_slow;
		others += of_others;
	}
}

static struct difference *differences_of(struct why_groups *groups, size_t *ret_nr)
{
	struct why_sums *slow = &groups->slow.sums, *others = &groups->others.sums;
	struct difference *differences = calloc(slow->nr + others->nr + 1, sizeof(*differences));
	size_t nr = 0;

	if (!differences)
		return NULL;
	for (size_t i = 0; i < slow->nr; i++)
		differences[nr++] = (struct difference){ .slow = &slow->rows[i],
							 .others = why_sums_find(others, &slow->rows[i].part.link) };
	for (size_t i = 0; i < others->nr; i++)
		if (!why_sums_find(slow, &others->rows[i].part.link))
			differences[nr++] = (struct difference){ .others = &others->rows[i] };
	for (size_t i = 0; i < nr; i++) {
		if (differences[i].slow)
			differences[i].more = (double)differences[i].slow->part.ns / (double)groups->slow.nr;
		if (differences[i].others)
			differences[i].more -= (double)differences[i].others->part.ns / (double)groups->others.nr;
	}
	qsort(differences, nr, sizeof(*differences), by_more);
	round_means(differences, nr, groups);
	*ret_nr = nr;
	return differences;
}

static uint64_t mean_of(const struct why_group *group)
{
	return group->nr ? group->ns / group->nr : 0;
}

/* A share of the difference in percent, with a decimal; below 0 of what the others have more of. */
static void put_share(struct table *table, int64_t more, uint64_t all)
{
	if (all)
		table_cell_decimal(table, (int64_t)((double)more * 1000 / (double)all + (more < 0 ? -0.5 : 0.5)), 1);
	else
		table_cell_nothing(table);
}

#define MORE_COLUMNS(X)                                                                                  \
	X("MORE", TIME, NULL, 0, table_cell_s64, more)                                                   \
	X("%", NUMBER, "percent", 0, put_share, more, mean_of(&groups->slow) - mean_of(&groups->others)) \
	X("SLOW", TIME, NULL, 0, table_cell_u64, difference->of_slow)                                    \
	X("OTHERS", TIME, NULL, 0, table_cell_u64, difference->of_others)                                \
	X("TASK", TEXT, "comm", 0, table_cell, link->pid ? why_comm(why, link->pid, link->name) : "")    \
	X("PID", NUMBER, NULL, 0, put_pid, row->part.several ? 0 : link->pid)                            \
	X("STATE", TEXT, NULL, 0, table_cell, why_states[link->state])                                   \
	X("CAUSE", TEXT, NULL, 0, table_cell, cause)

static const struct table_column more_columns[] = COLUMNS(MORE_COLUMNS);

static void put_differences(const struct why_analysis *why, const struct why_groups *groups,
			    const struct difference *differences, size_t nr, const char *title,
			    struct findings *findings)
{
	struct table *table = findings_table(findings, "differences", title, "more", more_columns);
	char cause[WHY_CAUSE];

	for (size_t i = 0; table && i < nr; i++) {
		const struct difference *difference = &differences[i];
		const struct why_row *row = difference->slow ? difference->slow : difference->others;
		const struct why_link *link = &row->part.link;
		int64_t more = (int64_t)difference->of_slow - (int64_t)difference->of_others;

		why_cause_text(&why->log, row, cause);
		MORE_COLUMNS(CELL)
	}
}

#define GROUP_COLUMNS(X)                                                      \
	X("GROUP", TEXT, NULL, 0, table_cell, name)                           \
	X("COUNT", COUNT, NULL, 0, table_cell_u64, group->nr)                 \
	X("TOTAL", TIME, NULL, 0, table_cell_u64, group->ns)                  \
	X("MEAN", TIME, NULL, 0, table_cell_known, group->nr, mean_of(group)) \
	SPREAD(X, "", "", 0, 0, 0, spread)

static const struct table_column group_columns[] = COLUMNS(GROUP_COLUMNS);

static void put_group(struct table *table, const char *name, const struct why_group *group, struct percentiles spread)
{
	GROUP_COLUMNS(CELL)
}

static void put_groups(const struct why_analysis *why, const struct why_groups *groups, struct findings *findings)
{
	struct table *table = findings_table(findings, "groups", "how long they lasted", NULL, group_columns);
	const struct why_group all = { .nr = why->many.nr, .ns = why->many.ns };
	const struct percentiles none = { .count = 0 };

	if (!table)
		return;
	if (why->options.slow) {
		put_group(table, "slowest", &groups->slow, none);
		put_group(table, "others", &groups->others, none);
	}
	put_group(table, "all", &all, percentiles_of(&why->lasted));
}

/* What the slowest ones do that the others do not. */
static int put_slow(const struct why_analysis *why, struct why_groups *groups, struct findings *findings,
		    struct fail *fail)
{
	char number[96], title[2 * WHY_SENTENCE], words[WHY_WORDS], slow[TEXT_HUMAN], others[TEXT_HUMAN];
	uint64_t all = mean_of(&groups->slow) - mean_of(&groups->others);
	cleanup_free struct difference *differences = NULL;
	char difference[TEXT_HUMAN];
	size_t nr = 0;

	put_number(why, why->many.nr, number, sizeof(number));
	if (!groups->others.nr)
		return fail_set(fail, -ENODATA, "none of %s lasted longer than the others by more than 2 %%", number);
	differences = differences_of(groups, &nr);
	if (!differences || !nr)
		return fail_memory(fail);
	why_sums_sort_shares(&groups->slow.sums);
	why_sums_sort_shares(&groups->others.sums);
	why_put_words(why, differences[0].slow ? differences[0].slow : differences[0].others, words);
	snprintf(title, sizeof(title),
		 "%u %% of the difference of %s: %s\n# the slowest %" PRIu64 " of %s last %s on average, the others %s",
		 why_percent(differences[0].of_slow - differences[0].of_others, all), text_time(difference, all), words,
		 groups->slow.nr, number, text_time(slow, mean_of(&groups->slow)),
		 text_time(others, mean_of(&groups->others)));
	put_differences(why, groups, differences, nr, title, findings);
	if (groups->slow.nr < 5)
		findings_note(findings, "the slowest ones are few: a larger --slow, or a longer recording, says more");
	return 0;
}

/* What is unknown for more than a tenth of the time, and what would tell. */
static void note_unknown(const struct why_sums *sums, struct findings *findings)
{
	for (size_t reason = 0; reason < REASONS; reason++) {
		const char *events = why_reasons[reason].events;
		uint64_t ns = 0;

		for (size_t i = 0; i < sums->nr; i++)
			if (sums->rows[i].part.link.state == WHY_UNKNOWN && sums->rows[i].part.link.reason == reason)
				ns += sums->rows[i].part.ns;
		if (ns * 10 > sums->ns)
			findings_note(findings, "%u %% is unknown: %s%s%s%s", why_percent(ns, sums->ns),
				      why_reasons[reason].text, events ? "; record it with -e " : "",
				      events ? events : "", events ? ", or with --for why" : "");
	}
}

int why_tell(const void *analysis, enum why_of of, struct why_told *ret)
{
	const struct why_analysis *why = analysis;
	size_t list = of == WHY_WAKEUP;
	const struct why_found *found = why->nr[list] ? &why->found[list][0] : NULL;
	struct why_sums sums;

	if (!found)
		return 0;
	*ret = (struct why_told){ .what = found->what,
				  .comm = why_log_text(&why->log, found->name),
				  .pid = found->pid,
				  .cpu = found->cpu,
				  .from = found->from,
				  .to = found->to };
	why_sums_init(&sums);
	why_sums_path(&sums, &found->path);
	why_sums_sort(&sums);
	why_put_sentence(why, &sums, ret->sentence);
	ret->unknown = sums.unknown;
	why_sums_release(&sums);
	return sums.failed ? -ENOMEM : 1;
}

/* The sentence of the first of a list, as one line. */
static void note_first(const struct why_analysis *why, enum why_of of, struct findings *findings)
{
	struct why_told told;
	char at[PASS_MOMENT];
	int r = why_tell(why, of, &told);

	findings->failed |= r < 0;
	if (r > 0)
		findings_note(findings, "the longest %s, of %s-%" PRId32 ", at %s: %s", told.what, told.comm, told.pid,
			      pass_moment(why->pass, told.from, at), told.sentence);
}

static void put_worst(const struct why_analysis *why, const struct why_found *found, struct findings *findings)
{
	struct worst worst = { .what = found->what,
			       .lasted = found->to - found->from,
			       .from = found->from,
			       .to = found->to,
			       .cpu = found->cpu,
			       .pid = found->pid };

	snprintf(worst.comm, sizeof(worst.comm), "%.15s", why_log_text(&why->log, found->name));
	findings_worst(findings, &worst);
}

/* Where the time of the intervals went: of all of them, or of those that were found. */
static void put_times(const struct why_analysis *why, size_t list, struct why_sums *sums, struct findings *findings)
{
	char title[2 * WHY_SENTENCE];

	why_sums_sort(sums);
	put_title(why, list, sums, title, sizeof(title));
	put_intervals(why, list, findings);
	put_parts(why, sums, title, findings);
	note_unknown(sums, findings);
	findings->failed |= sums->failed;
}

static bool is_on_cpu(const struct why_link *link)
{
	return link->state == WHY_RAN || link->state == WHY_EARLIER || link->state == WHY_WAITED ||
	       link->state == WHY_INTERRUPTED;
}

/* How much of the path's time on a CPU, and for it, a hypervisor may have taken. */
static uint64_t stolen_of(const struct withheld *withheld, const struct why_path *path, uint32_t cpu)
{
	uint64_t stolen = 0, all = withheld_stolen(withheld, cpu);

	for (size_t i = 0; i < path->nr && all; i++) {
		const struct why_link *link = &path->links[i];

		if (is_on_cpu(link) && link->cpu == cpu)
			stolen += withheld_stolen_within(withheld, cpu, link->from, link->to);
	}
	return stolen < all ? stolen : all;
}

/* The kernel counts the time as that of the task, or the task as waiting. Less than a hundredth is not told. */
static void note_stolen(const struct why_analysis *why, const struct why_found *found, struct findings *findings)
{
	struct withheld *withheld = withheld_new(why->pass->reader->buffers[0].context);
	const struct why_path *path = &found->path;
	uint64_t stolen = 0, on_cpus = 0;
	char all[TEXT_HUMAN], of_it[TEXT_HUMAN];

	findings->failed |= !withheld;
	for (size_t i = 0; i < path->nr; i++)
		on_cpus += is_on_cpu(&path->links[i]) ? path->links[i].to - path->links[i].from : 0;
	for (uint32_t cpu = 0; withheld && cpu < why->log.nr_cpus; cpu++)
		stolen += stolen_of(withheld, path, cpu);
	withheld_free(withheld);
	if (stolen * 100 > found->to - found->from)
		findings_note(
			findings,
			"steal: the path ran and waited for a CPU for %s; of it at most %s the hypervisor had the "
			"CPU for others",
			text_time(all, on_cpus), text_time(of_it, stolen));
}

static void put_longest(const struct why_analysis *why, size_t list, struct findings *findings)
{
	struct why_sums sums;

	why_sums_init(&sums);
	for (size_t i = 0; i < why->nr[list]; i++)
		why_sums_path(&sums, &why->found[list][i].path);
	put_times(why, list, &sums, findings);
	why_sums_release(&sums);
}

static int put_all(const struct why_analysis *why, struct findings *findings, struct fail *fail)
{
	struct why_groups groups;
	int r = 0;

	if (!why_many_divide(&why->many, why->options.slow, &groups))
		r = fail_memory(fail);
	else if (why->options.slow)
		r = put_slow(why, &groups, findings, fail);
	else
		put_times(why, 0, &groups.slow.sums, findings);
	if (!r)
		put_groups(why, &groups, findings);
	if (why->many.folded)
		findings_note(findings,
			      "the parts are so many that of %" PRIu64 " links only the states are told apart",
			      why->many.folded);
	why_groups_release(&groups);
	return r;
}

static int put_found(struct why_analysis *why, size_t list, struct findings *findings, struct fail *fail)
{
	int r = 0;

	if (!list && why_adds(&why->options))
		r = put_all(why, findings, fail);
	else
		put_longest(why, list, findings);
	if (why->options.tree)
		put_path(why, list, findings);
	if (why->nr[list]) {
		put_worst(why, &why->found[list][0], findings);
		note_stolen(why, &why->found[list][0], findings);
	}
	if (why->options.of == WHY_LONGEST && !list)
		note_first(why, WHY_WAKEUP, findings);
	return r;
}

static int nothing(const struct why_analysis *why, struct fail *fail)
{
	const char *name = why->options.name;

	switch ((enum why_of)why->options.of) {
	case WHY_CALL:
		return fail_set(fail, -ENODATA, "no call%s%s began and ended among the events%s", name ? " of " : "",
				name ? name : "", name ? "; 'weft syscalls' lists those that did" : "");
	case WHY_RUN:
		return fail_set(fail, -ENODATA, "no task '%s' ended among the events", name ? name : "*");
	case WHY_MARK:
		return fail_set(fail, -ENODATA,
				"no span '%s' began and ended among the events; weft marks lists those that did",
				name ? name : "*");
	case WHY_REQUEST:
		return fail_set(fail, -ENODATA,
				"no request of a disk was queued and completed among the events; record with "
				"--for why, or with -e block");
	case WHY_TASK:
	case WHY_WAKEUP:
	case WHY_LONGEST:
		break;
	}
	return PASS_NOTHING;
}

void why_lengths_init(struct why_lengths *lengths)
{
	*lengths = (struct why_lengths){ .rows = NULL };
	labels_init(&lengths->names);
}

void why_lengths_release(struct why_lengths *lengths)
{
	for (size_t i = 0; i < lengths->nr; i++)
		samples_release(&lengths->rows[i].samples);
	free(lengths->rows);
	labels_release(&lengths->names);
}

/* "calls confd waited for CPUs": without PIDs, and without those behind which tasks waited. */
static void name_length(const struct why_analysis *why, const struct why_link *link, const char *of,
			char into[WHY_WORDS])
{
	const char *comm = link->pid ? why_comm(why, link->pid, link->name) : "";

	snprintf(into, WHY_WORDS, "%s %.48s%s%s%s%.64s", of, comm, *comm ? " " : "", why_states[link->state],
		 why_has_shares(link->state) || !link->cause ? "" : " ",
		 why_has_shares(link->state) ? "" : why_log_text(&why->log, link->cause));
}

void why_lengths_add(struct why_analysis *why, const struct why_path *path, const char *of)
{
	struct why_lengths *lengths = &why->lengths;
	struct why_sums sums;
	char name[WHY_WORDS];

	why_sums_init(&sums);
	why_sums_path(&sums, path);
	for (size_t i = 0; i < sums.nr; i++) {
		const struct why_part *part = &sums.rows[i].part;
		uint32_t number;
		bool fresh;

		name_length(why, &part->link, of, name);
		number = labels_add(&lengths->names, name, strlen(name), &fresh);
		if (number == LABEL_NONE || (fresh && !vec_push(lengths->rows, lengths->nr))) {
			lengths->failed = true;
			break;
		}
		lengths->rows[number].link = part->link;
		samples_add(&lengths->rows[number].samples, &why->pass->budget, part->ns);
	}
	lengths->failed |= sums.failed;
	why_sums_release(&sums);
}

#define LENGTH_COLUMNS(X)                                              \
	X("TIME", TIME, NULL, 0, table_cell_u64, row->samples.sum)     \
	X("COUNT", COUNT, NULL, 0, table_cell_u64, row->samples.count) \
	X("LINK", TEXT, NULL, 0, table_cell, why->lengths.names.at[i].text)

static const struct table_column length_columns[] = COLUMNS(LENGTH_COLUMNS);

int why_lengths_finish(struct why_analysis *why, struct findings *findings, struct fail *fail)
{
	struct why_path path = { .links = NULL };
	struct table *table;
	bool ok = true;

	if (why->life.to) {
		ok = why_walk(&why->log, why->life.pid, why->life.from, why->life.to, &path);
		why->wrong += !why_path_adds_up(&path, why->life.from, why->life.to);
		why_lengths_add(why, &path, "life");
		free(path.links);
	}
	if (!ok || why->failed || why->log.failed || why->lengths.failed || why->pass->failed)
		return fail_memory(fail);
	if (why->wrong)
		return fail_set(fail, -EPROTO, "the parts of an interval do not add up to it: this is a bug of weft");
	table = findings_table(findings, "why", "links of all calls, and of the longest life", "time", length_columns);
	for (size_t i = 0; table && i < why->lengths.nr; i++) {
		const struct why_length *row = &why->lengths.rows[i];

		LENGTH_COLUMNS(CELL)
		table_attach_part(table, &row->samples, why->lengths.names.at[i].text, NULL);
	}
	return 0;
}

/* Who recorded a command may have meant that, and not the longest call of any task. */
static void note_command(const struct why_analysis *why, struct findings *findings)
{
	const struct state *state = &why->pass->state;
	int32_t pid = why->options.of == WHY_LONGEST ? who_command(why->pass->reader->buffers[0].context) : 0;
	uint32_t id = pid ? state_task_once(state, pid) : STATE_NO_TASK;

	if (id != STATE_NO_TASK)
		findings_note(findings,
			      "the command that was recorded is %s-%" PRId32 ": --task %" PRId32
			      " explains where its time went",
			      pass_comm(why->pass, &state->tasks[id]), pid, pid);
}

int why_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct why_analysis *why = arg;
	size_t list = why->nr[0] ? 0 : 1;
	int r;

	if (why->failed || why->many.failed || marks_starved(&why->marks) || why->log.failed || why->pass->failed)
		return fail_memory(fail);
	if (why->wrong)
		return fail_set(fail, -EPROTO, "the parts of an interval do not add up to it: this is a bug of weft");
	if (why->brief) {
		note_first(why, WHY_CALL, findings);
		note_first(why, WHY_WAKEUP, findings);
		return 0;
	}
	if (!why->nr[list] && !why->pass->filter.shape)
		return nothing(why, fail);
	if (why->nr[list])
		qsort(why->found[list], why->nr[list], sizeof(struct why_found), longest_first);
	if (why->options.form != WHY_TABLES)
		return why_forms_write(why, list, fail);
	note_command(why, findings);
	r = put_found(why, list, findings, fail);
	if (r)
		return r;
	findings_note(findings,
		      "the parts add up to the time, each ns once: it says what was waited for, not whose fault it is");
	if (!list && !why->options.name && why->waits)
		findings_note(findings,
			      "calls that wait for work, as poll and nanosleep, are left out: --call NAME shows them");
	findings_broken(findings, why->broken, "calls");
	return 0;
}
