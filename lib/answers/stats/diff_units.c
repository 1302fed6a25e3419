// SPDX-License-Identifier: LGPL-2.1-or-later
/* What rate and total are counted per: seconds of a recording, seconds of its CPUs, or events in it. */
#include "lib/answers/stats/diff_internal.h"

#include <errno.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"

void diff_per(struct diff *diff, enum diff_per per, const char *event)
{
	diff->per = per;
	diff->event = event;
}

void diff_units_see(void *arg, const struct event *event)
{
	const struct diff_counting *counting = arg;

	if (counting->part->is_unit(counting->part->arg, event))
		counting->units->blocks[counting->pass->budget.mark]++;
}

static uint32_t cpus_of(const struct pass *pass)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < pass->reader->nr_buffers; i++)
		if (pass->reader->buffers[i].context->online_cpus > nr)
			nr = pass->reader->buffers[i].context->online_cpus;
	nr = nr ? nr : (uint32_t)pass->state.nr_cpus;
	if (pass->filter.cpus)
		for (uint32_t cpu = 0, all = nr; cpu < all; cpu++)
			nr -= !cpus_has(pass->filter.cpus, cpu);
	return nr ? nr : 1;
}

int diff_units_finish(const struct diff *diff, const struct diff_counting *counting, struct fail *fail)
{
	const struct diff_part *part = counting->part;
	struct diff_units *units = counting->units;

	if (diff->per == DIFF_PER_RUN) {
		units->nr = 1;
		return 0;
	}
	if (diff->per != DIFF_PER_EVENT) {
		units->nr = (double)(part->last > part->first ? part->last - part->first : 1) / 1e9;
		if (diff->per == DIFF_PER_CPU_SECOND)
			units->nr *= cpus_of(counting->pass);
		return 0;
	}
	for (size_t i = 0; i < PASS_BLOCKS; i++)
		units->nr += units->blocks[i];
	if (units->nr > 0)
		return 0;
	return fail_set(fail, -ENODATA, "'%s' did not happen in it, so nothing can be counted per event of it",
			diff->event);
}

double diff_figure(const struct diff_run *run, const struct diff_row *row, enum diff_metric metric)
{
	if (!row)
		return 0;
	switch (metric) {
	case DIFF_P50:
		return (double)row->p50;
	case DIFF_P99:
		return (double)row->p99;
	case DIFF_RATE:
		return (double)row->count / run->units.nr;
	case DIFF_TOTAL:
		return (double)row->sum / run->units.nr;
	case DIFF_METRICS:
		break;
	}
	return 0;
}

double diff_nothing(const struct diff *diff, const struct diff_run *run, enum diff_metric metric)
{
	return diff->per == DIFF_PER_EVENT && diff_is_per_unit(metric) ? 0.5 / run->units.nr : 0.5;
}

static bool are_enough(const struct diff_units *units)
{
	size_t nr = 0;

	for (size_t i = 0; i < PASS_BLOCKS; i++)
		nr += units->blocks[i] > 0;
	return units->nr >= DIFF_N_MIN && nr >= DIFF_BLOCKS_MIN;
}

bool diff_units_enough(const struct diff *diff)
{
	return diff->per != DIFF_PER_EVENT || diff->several ||
	       (are_enough(&diff->sides[0].runs[0].units) && are_enough(&diff->sides[1].runs[0].units));
}

const char *diff_units_suffix(const struct diff *diff)
{
	switch (diff->per) {
	case DIFF_PER_SECOND:
		return "/s";
	case DIFF_PER_CPU_SECOND:
		return "/CPU-s";
	case DIFF_PER_EVENT:
		return " each";
	case DIFF_PER_RUN:
		return "";
	}
	return "";
}

static double sum_of(const struct diff_side *side)
{
	double sum = 0;

	for (size_t i = 0; i < side->nr; i++)
		sum += side->runs[i].units.nr;
	return sum;
}

void diff_tell_units(const struct diff *diff, struct findings *findings)
{
	double old = sum_of(&diff->sides[0]), new = sum_of(&diff->sides[1]);
	char text[2][TEXT_HUMAN];

	if (diff->per == DIFF_PER_SECOND)
		findings_note(findings, "rate and total are per second: the old file%s last%s %s, the new %s",
			      diff->several ? "s" : "", diff->several ? "" : "s",
			      text_time(text[0], (uint64_t)(old * 1e9 + 0.5)),
			      text_time(text[1], (uint64_t)(new * 1e9 + 0.5)));
	if (diff->per == DIFF_PER_CPU_SECOND)
		findings_note(findings,
			      "rate and total are per second of each CPU: %.3f s in the old file%s, %.3f s in the new",
			      old, diff->several ? "s" : "", new);
	if (diff->per != DIFF_PER_EVENT)
		return;
	findings_note(findings, "rate and total are per '%s', which happened %s times in the old file%s, %s in the new",
		      diff->event, text_count((char[TEXT_HUMAN]){ 0 }, (uint64_t)old), diff->several ? "s" : "",
		      text_count((char[TEXT_HUMAN]){ 0 }, (uint64_t) new));
	if (!diff_units_enough(diff))
		findings_note(findings,
			      "rate and total are not tested: '%s' happened fewer than %d times on a side, or in fewer "
			      "than %d of the %d blocks of its time",
			      diff->event, DIFF_N_MIN, DIFF_BLOCKS_MIN, PASS_BLOCKS);
}
