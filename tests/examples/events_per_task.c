// SPDX-License-Identifier: GPL-2.0-only
/* An example of an analysis: how many events each task made on each CPU. CONTRIBUTING.md explains it. */
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/base/table.h"
#include "lib/base/u64_map.h"
#include "lib/event/context.h"
#include "lib/event/tasks.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct table_column columns[] = { { "TASK", TABLE_TEXT, "comm" },
					       { "PID", TABLE_NUMBER, NULL },
					       { "CPU", TABLE_NUMBER, NULL },
					       { "EVENTS", TABLE_COUNT, NULL } };

/* What a consumer remembers is its own; here it grows with tasks and CPUs, not with events. */
static void count(void *counts, const struct event *event)
{
	uint64_t *value = event->kind == EVENT_RECORD ?
				  u64_map_add(counts, (uint64_t)(uint32_t)event->pid << 16 | event->cpu) :
				  NULL;

	if (value)
		++*value;
}

static int print(const struct u64_map *counts, const struct tasks *tasks, enum table_format format)
{
	const uint64_t *value;
	struct table table;
	struct out out;
	uint64_t key;
	size_t at = 0;
	int r = -1;

	table_init(&table, columns, array_size(columns));
	while ((value = u64_map_next(counts, &at, &key))) {
		table_cell(&table, task_name(tasks, (int32_t)(key >> 16)).text);
		table_cell_s64(&table, (int32_t)(key >> 16));
		table_cell_u64(&table, key & 0xffff);
		table_cell_u64(&table, *value);
	}
	if (out_init(&out, 0) && table_write(&table, format, &out))
		r = out_flush(&out, STDOUT_FILENO);
	out_release(&out);
	table_release(&table);
	return r;
}

int main(int argc, char **argv)
{
	bool json = argc > 2 && !strcmp(argv[2], "--json");
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	struct reader reader;
	struct u64_map counts;
	int r;

	reader_init(&reader);
	u64_map_init(&counts, sizeof(uint64_t));
	r = trace_open(argc > 1 ? argv[1] : "trace.dat", &trace, &fail);
	if (!r)
		r = reader_add_trace(&reader, trace, &fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail);
	if (!r)
		r = reader_run(&reader, &(struct reader_consumer){ count, &counts }, 1, &fail);
	if (!r && reader.nr_buffers)
		r = print(&counts, reader.buffers[0].context->tasks, json ? TABLE_AS_JSON : TABLE_AS_TEXT);
	if (r)
		fprintf(stderr, "events_per_task: %s\n", fail.text);
	u64_map_release(&counts);
	reader_release(&reader);
	trace_free(trace);
	return r != 0;
}
