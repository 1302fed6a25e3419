// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/xxh64.h"
#include "lib/pages/trace/internal.h"
#include "lib/pages/trace/private_section_internal.h"
#include "lib/pages/trace/sums_internal.h"

/* Version 7 has the section at the end of the file, version 6 in front of the settings. */
static uint64_t section_end(const struct trace *trace)
{
	return trace->info.version == 6 ? trace->regions[REGION_SETTINGS].offset : trace->input.size;
}

/* Whether a section of sums ends at `end`; its numbers are checked later, when they are used. */
static bool is_there(struct trace *trace, uint64_t end, uint64_t *ret_offset)
{
	uint8_t tail[SUMS_TAIL], head[SECTION_HEAD_SIZE];
	uint64_t size;

	if (end < sizeof(tail) || input_read(&trace->input, end - sizeof(tail), tail, sizeof(tail), NULL))
		return false;
	size = load_u64(tail, trace->info.swap);
	if (size < SECTION_HEAD_SIZE + SUMS_HEAD + SUMS_TAIL || size > SUMS_SECTION_MAX || size > end ||
	    input_read(&trace->input, end - size, head, sizeof(head), NULL))
		return false;
	*ret_offset = end - size;
	return load_u16(head, trace->info.swap) == SECTION_SUMS;
}

int sums_find(struct trace *trace, struct fail *fail)
{
	struct region *region = &trace->regions[REGION_SUMS];
	uint64_t end = section_end(trace);

	if (!is_there(trace, end, &region->offset)) {
		if (trace_setting(trace, 0, SUMS_SETTING).text)
			trace_note_damage(trace, end,
					  "cut short, or changed: the checksums that belong there are missing");
		return 0;
	}
	region->size = end - region->offset;
	region->present = true;
	if (trace->info.version == 7)
		return 0;
	return trace_add_section(trace, region->offset, region->size, region->size, fail, "sums");
}

struct sums_walk {
	struct trace *trace;
	void (*found)(void *arg, uint64_t offset, const char *text);
	void *arg;
};

static void report_damage(const struct sums_walk *walk, uint64_t offset, uint64_t size)
{
	struct fail text;

	fail_set(&text, -EBADMSG, "the %" PRIu64 " bytes there are not those that were written", size);
	walk->found(walk->arg, offset, text.text);
}

static int check_range(const struct sums_walk *walk, uint64_t offset, uint64_t size, uint64_t sum, char *room,
		       struct fail *fail)
{
	int r = input_read(&walk->trace->input, offset, room, (size_t)size, fail);

	if (!r && xxh64(room, (size_t)size) != sum)
		report_damage(walk, offset, size);
	return r;
}

static int check_blocks(const struct sums_walk *walk, const uint8_t *body, uint64_t covered, struct fail *fail)
{
	cleanup_free char *room = malloc(SUMS_BLOCK);
	bool swap = walk->trace->info.swap;
	int r = room ? 0 : fail_memory(fail);

	for (uint64_t at = 0; !r && at < covered; at += SUMS_BLOCK)
		r = check_range(walk, at, covered - at < SUMS_BLOCK ? covered - at : SUMS_BLOCK,
				load_u64(body + SUMS_HEAD + at / SUMS_BLOCK * sizeof(uint64_t), swap), room, fail);
	return r;
}

/* Checks the data after the section: the settings of version 6. */
static int check_tail(const struct sums_walk *walk, uint64_t offset, uint64_t size, uint64_t sum, struct fail *fail)
{
	cleanup_free char *room = NULL;

	if (size != walk->trace->input.size - offset || size > SETTINGS_TEXT_MAX) {
		report_damage(walk, offset, walk->trace->input.size - offset);
		return 0;
	}
	if (!size)
		return 0;
	room = malloc((size_t)size);
	return room ? check_range(walk, offset, size, sum, room, fail) : fail_memory(fail);
}

int sums_check(struct trace *trace, void (*found)(void *arg, uint64_t offset, const char *text), void *arg,
	       struct fail *fail)
{
	const struct region *region = &trace->regions[REGION_SUMS];
	const struct sums_walk walk = { .trace = trace, .found = found, .arg = arg };
	cleanup_free uint8_t *section = NULL;
	size_t size = (size_t)region->size;
	bool swap = trace->info.swap;
	const uint8_t *body;
	uint64_t covered;
	int r;

	if (!region->present)
		return 0;
	section = malloc(size);
	if (!section)
		return fail_memory(fail);
	r = input_read(&trace->input, region->offset, section, size, fail);
	if (r)
		return r;
	body = section + SECTION_HEAD_SIZE;
	covered = load_u64(body + 8, swap);
	if (xxh64(section, size - sizeof(uint64_t)) != load_u64(section + size - sizeof(uint64_t), swap) ||
	    load_u32(body, swap) != SUMS_VERSION || load_u32(body + 4, swap) != SUMS_BLOCK ||
	    covered > region->offset ||
	    (covered + SUMS_BLOCK - 1) / SUMS_BLOCK !=
		    (size - SECTION_HEAD_SIZE - SUMS_HEAD - SUMS_TAIL) / sizeof(uint64_t)) {
		report_damage(&walk, region->offset, size);
		return 0;
	}
	r = check_blocks(&walk, body, covered, fail);
	return r ? r :
		   check_tail(&walk, region->offset + size, load_u64(body + 16, swap), load_u64(body + 24, swap), fail);
}
