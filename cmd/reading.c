// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading.h"

#include "cmd/command.h"
#include "cmd/paste.h"
#include "lib/base/pool.h"
#include "lib/reader/reader.h"
#include "lib/record/parts.h"
#include "lib/trace/trace.h"

#include <sched.h>
#include <string.h>

int reading_open(const char *input, bool sandbox, struct trace **ret, struct fail *fail)
{
	struct trace *trace;
	int r = trace_new(input, &trace, fail);

	return r ? r : reading_load(trace, sandbox, ret, fail);
}

int reading_load(struct trace *trace, bool sandbox, struct trace **ret, struct fail *fail)
{
	int r = 0;

	if (sandbox)
		r = trace_sandbox(trace, fail);
	if (!r)
		r = trace_load(trace, fail);
	if (r) {
		trace_free(trace);
		return r;
	}
	*ret = trace;
	return 0;
}

/* The CPUs that this process may use: `taskset -c 0` keeps it to one, and then to one thread. */
static int usable_cpus(void)
{
	cpu_set_t set;

	/* With more CPUs than the set has room for. */
	if (sched_getaffinity(0, sizeof(set), &set))
		return CPU_SETSIZE;
	return CPU_COUNT(&set);
}

static bool is_compressed(struct trace *trace)
{
	for (size_t i = 0; i < trace_buffers(trace); i++)
		if (trace_buffer(trace, i)->compressed)
			return true;
	return false;
}

/*
 * Reading, which is to decompress, merge and bind, takes about as long as an analysis does: each is work for one
 * thread. Decompression in a thread of its own is faster on three CPUs; on two it only takes more CPU time. A consumer
 * that cannot take batches reads in its own thread, and only decompression runs ahead.
 */
int reading_start(struct reader *reader, struct trace *trace, bool in_batches, struct pool **ret_pool,
		  struct fail *fail)
{
	int cpus = usable_cpus(), r = 0;
	struct reader_options options = { .ahead = in_batches && cpus > 1 };

	if (is_compressed(trace) && cpus > (options.ahead ? 2 : 1))
		r = pool_new(1, &options.pool, fail);
	*ret_pool = options.pool;
	return r ? r : reader_start(reader, &options, fail);
}

void reading_tell_left_behind(const char *input)
{
	cleanup_buf struct buf pasted = BUF_INIT;
	cleanup_free char *path = NULL;

	if (strcmp(input, "-") && parts_left_behind(input, &path))
		command_warn("note: '%s' is left of a recording that was killed; 'weft recover %s' makes a file of it",
			     path, paste_file(&pasted, path));
}
