// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/names/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/trace.h"

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

/* The next field: there may be several blanks. */
static bool next_field(const char **at, const char *end)
{
	const char *blank = memchr(*at, ' ', (size_t)(end - *at));

	if (!blank)
		return false;
	for (*at = blank; *at < end && **at == ' ';)
		++*at;
	return true;
}

/* "START-END PERMS OFFSET DEVICE INODE PATH": names in brackets are not files. */
bool map_of_line(struct text_word line, struct map *ret)
{
	const char *at = line.at, *end = line.at + line.len;
	struct map map = { .path = NULL };

	if (!take_hex(&at, end, '-', &map.start) || !take_hex(&at, end, ' ', &map.end) || map.start >= map.end)
		return false;
	map.executable = end - at > 2 && at[2] == 'x';
	if (next_field(&at, end) && take_hex(&at, end, ' ', &map.offset) && next_field(&at, end)) {
		for (; at < end && *at >= '0' && *at <= '9'; at++)
			map.inode = map.inode * 10 + (uint64_t)(*at - '0');
		if (next_field(&at, end) && at < end && *at != '[') {
			map.path = at;
			map.path_len = (uint32_t)(end - at);
		}
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
		if (!map_of_line(line, &map) || map.start < last)
			continue;
		last = map.end;
		if (!add_map(maps, &map))
			return fail_memory(fail);
	}
	process->nr = maps->nr - process->first;
	return 0;
}

/* Takes the lines of one process from the text, up to the next "p PID". */
static struct trace_text next_process(const char **at, size_t *left, int32_t *ret_pid)
{
	struct trace_text text = { .text = *at };
	struct text_word line;
	uint64_t pid = 0;

	if (text_next_line(at, left, &line))
		for (size_t i = 2; i < line.len && line.at[i] >= '0' && line.at[i] <= '9' && pid < INT32_MAX / 10; i++)
			pid = pid * 10 + (uint64_t)(line.at[i] - '0');
	*ret_pid = (int32_t)pid;
	text.text = *at;
	while (*left && **at != 'p')
		(void)text_next_line(at, left, &line);
	text.len = (size_t)(*at - text.text);
	return text;
}

static int compare(const void *a, const void *b)
{
	int32_t left = ((const struct process *)a)->pid, right = ((const struct process *)b)->pid;

	return (left > right) - (left < right);
}

/* Gives maps to the caller in order, or frees them after an error. */
static int hand_over(struct maps *maps, int err, struct maps **ret)
{
	if (err) {
		maps_free(maps);
		return err;
	}
	if (maps->nr_processes)
		qsort(maps->processes, maps->nr_processes, sizeof(*maps->processes), compare);
	*ret = maps;
	return 0;
}

int maps_new(struct trace *trace, size_t of, struct maps **ret, struct fail *fail)
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

		if (buffer == of && sscanf(name, "proc/%9" SCNd32 "/maps%n", &pid, &end) == 1 && end && !name[end])
			r = add_process(maps, pid, text, fail);
	}
	return hand_over(maps, r, ret);
}

int maps_of_watch(struct trace *trace, size_t of, struct maps **ret, struct fail *fail)
{
	struct trace_text text = trace_setting(trace, of, SETTING_MAPS);
	struct maps *maps;
	int r = 0;

	if (!text.text || !text.len)
		return 0;
	maps = calloc(1, sizeof(*maps));
	if (!maps)
		return fail_memory(fail);
	while (!r && text.len) {
		int32_t pid;
		struct trace_text of = next_process(&text.text, &text.len, &pid);

		r = add_process(maps, pid, of, fail);
	}
	return hand_over(maps, r, ret);
}

int maps_of_text(int32_t pid, const char *text, size_t len, struct maps **ret, struct fail *fail)
{
	struct maps *maps = calloc(1, sizeof(*maps));
	int r = maps ? add_process(maps, pid, (struct trace_text){ .text = text, .len = len }, fail) :
		       fail_memory(fail);

	return hand_over(maps, r, ret);
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
	size_t low;

	if (maps && maps->nr_processes)
		process = bsearch(&key, maps->processes, maps->nr_processes, sizeof(key), compare);
	if (!process)
		return false;
	low = vec_count(process->nr, i, maps->maps[process->first + i].end <= address);
	if (low == process->nr)
		return false;
	*ret = maps->maps[process->first + low];
	return true;
}
