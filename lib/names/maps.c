// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/names/maps.h"

#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The maps of one process: a run of maps::maps, ascending. */
struct process {
	int32_t pid;
	size_t first, nr;
};

struct maps {
	struct map *maps;
	size_t nr;
	struct process *processes; /* ascending */
	size_t nr_processes;
};

static bool take_hex(const char **at, const char *end, char stop, uint64_t *ret)
{
	uint64_t value = 0;
	const char *start = *at;

	for (; *at < end && *at - start < 16; ++*at) {
		char c = **at;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	if (*at == start || *at == end || **at != stop)
		return false;
	++*at;
	*ret = value;
	return true;
}

/* Parses "START-END PERMS OFFSET DEVICE INODE PATH": names in brackets are not files. */
static bool parse_line(struct text_word line, struct map *ret)
{
	const char *at = line.at, *end = line.at + line.len;
	struct map map = { .path = NULL };

	if (!take_hex(&at, end, '-', &map.start) || !take_hex(&at, end, ' ', &map.end) || map.start >= map.end)
		return false;
	for (int skip = 4; skip; skip--) {
		at = memchr(at, ' ', (size_t)(end - at));
		if (!at)
			break;
		at++;
	}
	while (at && at < end && *at == ' ')
		at++;
	if (at && at < end && *at != '[') {
		map.path = at;
		map.path_len = (uint32_t)(end - at);
	}
	*ret = map;
	return true;
}

static bool add_map(struct maps *maps, const struct map *map)
{
	struct map *added = vec_push(maps->maps, maps->nr);

	if (added)
		*added = *map;
	return added;
}

static int add_process(struct maps *maps, int32_t pid, struct trace_text text, struct fail *fail)
{
	struct process *process = vec_push(maps->processes, maps->nr_processes);
	uint64_t last = 0;
	struct text_word line;
	struct map map;

	if (!process)
		return fail_memory(fail);
	*process = (struct process){ .pid = pid, .first = maps->nr };
	while (maps->nr < MAPS_MAX && text_next_line(&text.text, &text.len, &line)) {
		/* The kernel's text is sorted: lines out of order are skipped. */
		if (!parse_line(line, &map) || map.start < last)
			continue;
		last = map.end;
		if (!add_map(maps, &map))
			return fail_memory(fail);
	}
	process->nr = maps->nr - process->first;
	return 0;
}

static int compare(const void *a, const void *b)
{
	int32_t left = ((const struct process *)a)->pid, right = ((const struct process *)b)->pid;

	return (left > right) - (left < right);
}

int maps_new(struct trace *trace, struct maps **ret, struct fail *fail)
{
	struct maps *maps = calloc(1, sizeof(*maps));
	struct trace_text text;
	const char *name;
	size_t buffer;
	int r = 0;

	if (!maps)
		return fail_memory(fail);
	for (size_t i = 0; !r && trace_setting_at(trace, i, &buffer, &name, &text); i++) {
		int32_t pid;
		int end = 0;

		if (sscanf(name, "proc/%9" SCNd32 "/maps%n", &pid, &end) == 1 && end && !name[end])
			r = add_process(maps, pid, text, fail);
	}
	if (r) {
		maps_free(maps);
		return r;
	}
	if (maps->nr_processes)
		qsort(maps->processes, maps->nr_processes, sizeof(*maps->processes), compare);
	*ret = maps;
	return 0;
}

int maps_of_text(int32_t pid, const char *text, size_t len, struct maps **ret, struct fail *fail)
{
	struct maps *maps = calloc(1, sizeof(*maps));
	int r = maps ? add_process(maps, pid, (struct trace_text){ .text = text, .len = len }, fail) :
		       fail_memory(fail);

	if (r) {
		maps_free(maps);
		return r;
	}
	*ret = maps;
	return 0;
}

void maps_free(struct maps *maps)
{
	if (!maps)
		return;
	free(maps->maps);
	free(maps->processes);
	free(maps);
}

bool maps_find(const struct maps *maps, int32_t tgid, uint64_t address, struct map *ret)
{
	const struct process key = { .pid = tgid }, *process = NULL;
	size_t low = 0, high;

	if (maps->nr_processes)
		process = bsearch(&key, maps->processes, maps->nr_processes, sizeof(key), compare);
	if (!process)
		return false;
	for (high = process->nr; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (maps->maps[process->first + middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == process->nr)
		return false;
	*ret = maps->maps[process->first + low];
	return true;
}
