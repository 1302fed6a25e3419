// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/latency_section_internal.h"

#include "lib/base/fail.h"
#include "lib/base/u64_map.h"
#include "lib/base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 4 };

struct sum {
	struct text_word what;
	uint64_t us, entries;
};

struct reading {
	struct section *section;
	size_t worst;
	struct u64_map sums;                 /* by a hash of the name: struct sum */
	struct text_word open[SECTION_OPEN]; /* of a graph: the open calls, by depth */
	struct section_entry last;           /* of the section's CPU */
	uint64_t at;                         /* us; the section is split up to here */
	bool begun, failed;
};

/* Reads the line of the task: "sh-164 (uid:0 nice:0 policy:0 rt_prio:0)". */
static void read_task(struct section *section)
{
	const char *task = section->head.task, *end = strstr(task, " (uid:"),
		   *dash = end ? memrchr(task, '-', (size_t)(end - task)) : NULL;

	section->pid = -1;
	if (!dash || sscanf(dash + 1, "%9" SCNd32, &section->pid) != 1)
		return;
	memcpy(section->comm, task, (size_t)(dash - task));
	section->comm[dash - task] = '\0';
}

/* Reads "# latency: 7003 us, #39/39, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)" and the rest of the head. */
static bool read_head(struct section *section, const char *text, size_t len)
{
	struct text_word line;
	char first[128];
	bool found = false;

	while (text_next_line(&text, &len, &line)) {
		if (!line.len || *line.at != '#')
			continue;
		latency_head_take(&section->head, line.at, line.len);
		snprintf(first, sizeof(first), "%.*s", (int)(line.len < sizeof(first) ? line.len : sizeof(first) - 1),
			 line.at);
		found |= sscanf(first, "# latency: %18" SCNu64 " us, #%18" SCNu64 "/%18" SCNu64 ",", &section->us,
				&section->entries, &section->written) == 3;
	}
	read_task(section);
	return found && section->head.cpu_known;
}

static uint64_t hash_of(struct text_word word)
{
	uint64_t hash = 14695981039346656037ull;

	for (size_t i = 0; i < word.len; i++)
		hash = (hash ^ (unsigned char)word.at[i]) * 1099511628211ull;
	return hash;
}

static void add_sum(struct reading *reading, struct text_word what, uint64_t us)
{
	struct sum *sum = u64_map_add(&reading->sums, hash_of(what));
	struct section_most *most = &reading->section->most;

	if (!sum) {
		reading->failed = true;
		return;
	}
	sum->what = what;
	sum->us += us;
	sum->entries++;
	if (sum->us >= most->us)
		*most = (struct section_most){ what, sum->us, sum->entries };
}

static void keep_gap(struct reading *reading, const struct section_gap *gap)
{
	struct section *section = reading->section;
	size_t index;

	if (section->nr_gaps >= reading->worst &&
	    (!section->nr_gaps || section->gaps[section->nr_gaps - 1].us >= gap->us))
		return;
	if (section->nr_gaps < reading->worst && !vec_push(section->gaps, section->nr_gaps)) {
		reading->failed = true;
		return;
	}
	for (index = section->nr_gaps - 1; index && section->gaps[index - 1].us < gap->us; index--)
		section->gaps[index] = section->gaps[index - 1];
	section->gaps[index] = *gap;
}

/* Gives the time from the last entry up to `us` to that entry. */
static void close_gap(struct reading *reading, uint64_t us, struct text_word next)
{
	struct section_gap gap = { .us = us - reading->at, .from = reading->at, .entry = reading->last, .next = next };

	if (!reading->begun || us < reading->at)
		return;
	reading->section->parts[reading->last.context] += gap.us;
	reading->at = us;
	add_sum(reading, gap.entry.what, gap.us);
	keep_gap(reading, &gap);
}

/* Where a function of a graph ends, its caller continues. */
static void name_call(struct reading *reading, struct section_entry *entry)
{
	if (entry->opens && entry->depth < SECTION_OPEN)
		reading->open[entry->depth] = entry->what;
	if (entry->closes && entry->depth && entry->depth <= SECTION_OPEN && reading->open[entry->depth - 1].len)
		entry->what = reading->open[entry->depth - 1];
}

static void see_entry(struct reading *reading, struct section_entry *entry)
{
	struct section *section = reading->section;

	if (!section->first.what.len)
		section->first = *entry;
	if (entry->cpu != section->head.cpu || entry->us > section->us)
		return;
	name_call(reading, entry);
	section->seen++;
	if (reading->begun) {
		close_gap(reading, entry->us > reading->at ? entry->us : reading->at, entry->what);
	} else if (section->first.cpu != entry->cpu || section->written > section->entries) {
		/* The section began before the first entry: on another CPU, or with entries that were overwritten. */
		section->parts[SECTION_UNKNOWN] = entry->us;
		reading->at = entry->us;
	}
	reading->begun = true;
	reading->last = *entry;
}

/* Keeps the last stack of the text. */
static void read_stack(struct section *section, const char *text, size_t len)
{
	struct text_word line, frame;
	size_t frames = 0, at = 0;

	while (text_next_line(&text, &len, &line)) {
		if (!section_frame(line, &frame)) {
			frames = 0;
			continue;
		}
		if (!frames)
			at = 0;
		if (frames++ < FRAMES && at < sizeof(section->stack))
			at += (size_t)snprintf(section->stack + at, sizeof(section->stack) - at, "%s%.*s",
					       frames > 1 ? " <- " : "",
					       (int)(frame.len < SECTION_STACK ? frame.len : SECTION_STACK), frame.at);
	}
}

int section_read(struct section *section, const char *text, size_t len, size_t worst, struct fail *fail)
{
	struct reading reading = { .section = section, .worst = worst };
	struct section_entry entry;
	const char *at = text;
	size_t left = len;

	*section = (struct section){ .pid = -1 };
	if (!read_head(section, text, len))
		return fail_set(fail, -ENODATA, "the kernel's text has no latency in its head");
	u64_map_init(&reading.sums, sizeof(struct sum));
	while (section_next(&at, &left, &entry))
		see_entry(&reading, &entry);
	if (reading.begun)
		close_gap(&reading, section->us, (struct text_word){ "", 0 });
	else
		section->parts[SECTION_UNKNOWN] = section->us;
	read_stack(section, text, len);
	u64_map_release(&reading.sums);
	return reading.failed ? fail_memory(fail) : 0;
}

void section_release(struct section *section)
{
	free(section->gaps);
	section->gaps = NULL;
}
