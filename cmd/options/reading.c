// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/reading.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/perf_file.h"
#include "cmd/terminal/paste.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/pool.h"
#include "lib/kernel/record/parts.h"
#include "lib/meaning/reader/parallel_sum.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/slices.h"
#include "lib/pages/trace/trace.h"

static const struct option_row options[] = {
	{ "no-sandbox", 0, NULL, 0,
	  "Keep all privileges and use no sandbox while reading, for systems where dropping them fails", 0,
	  OPTION_FLAG(struct reading, no_sandbox) },
	{ "trust-size", 0, NULL, 0,
	  "Also read and write what claims more bytes, memory or text than any real recording has", 0,
	  OPTION_FLAG(struct reading, trust_size) },
	{ 0 },
};

const struct options reading_options = {
	.rows = options,
};

int reading_open(const char *input, const struct reading *reading, struct trace **ret, struct fail *fail)
{
	struct trace *trace;
	int r = trace_new(input, &trace, fail);

	/* What is read when no file is named */
	if (r == -ENOENT && !strcmp(input, "trace.dat"))
		return fail_hint(fail, r, "; name a file, or make this one: weft record -- COMMAND");
	return r ? r : reading_load(trace, reading, ret, fail);
}

/* The smallest file of version 6, of a little endian machine with words of 8 bytes, pages of 4 KiB and one CPU. */
static const char nothing[] = "\x17\x08\x44tracing6\0\0\x08\0\x10\0\0"
			      "header_page\0\xcd\0\0\0\0\0\0\0"
			      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			      "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			      "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"
			      "header_event\0\0\0\0\0\0\0\0\0"
			      "\0\0\0\0"         /* events of ftrace */
			      "\0\0\0\0"         /* systems */
			      "\0\0\0\0"         /* kallsyms */
			      "\0\0\0\0"         /* printk formats */
			      "\0\0\0\0\0\0\0\0" /* names of tasks */
			      "\x01\0\0\0options  \0\0\0flyrecord\0"
			      "\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

int reading_open_nothing(struct trace **ret, struct fail *fail)
{
	cleanup_fd int fd = memfd_create("weft-nothing", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 4096) || io_pwrite(fd, nothing, sizeof(nothing) - 1, 0))
		return fail_set(fail, -EIO, "cannot make a file in memory: %s", strerror(errno));
	return trace_open_fd(fd_take(&fd), "nothing", ret, fail);
}

int reading_load_all(struct trace *const *traces, size_t nr, const struct reading *reading, struct fail *fail)
{
	struct perf_spares spares = { .nr = 0 };
	int r = 0;

	/* Reads what the local time of --since depends on before giving up the right to read it. */
	tzset();
	/* One that opens more gives up no rights before it reads, and a perf.data is only read without them. */
	if (!reading->opens_more)
		perf_spares_open(&spares, traces, nr);
	if (!reading->no_sandbox && !reading->opens_more)
		r = trace_sandbox(traces[0], fail);
	for (size_t i = 0; !r && i < nr; i++) {
		r = reading->opens_more ? 0 : perf_file_load(&spares, traces[i], fail);
		if (!r)
			r = trace_load(traces[i], fail);
		if (!r && reading->trust_size)
			trace_trust_sizes(traces[i]);
	}
	perf_spares_release(&spares);
	return r;
}

int reading_load(struct trace *trace, const struct reading *reading, struct trace **ret, struct fail *fail)
{
	int r = reading_load_all(&trace, 1, reading, fail);

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

unsigned reading_threads(void)
{
	int cpus = usable_cpus();

	return cpus > READING_THREADS ? READING_THREADS : (unsigned)cpus;
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
 * thread, and `weft summary` has analyses for two (pass_divide()). Decompression runs ahead in a thread of its own: it
 * may take three times as long as an analysis of few of the events, whose thread then has nothing to do. A consumer
 * that cannot take batches reads in its own thread, and only decompression runs ahead.
 */
int reading_start(struct reader *reader, struct trace *trace, bool in_batches, struct pool **ret_pool,
		  struct fail *fail)
{
	int cpus = usable_cpus(), r = 0;
	struct reader_options options = { .ahead = in_batches ? (unsigned)(cpus - 1) : 0, .tells_ends = true };

	if (is_compressed(trace) && cpus > 1)
		r = pool_new(1, &options.pool, fail);
	*ret_pool = options.pool;
	return r ? r : reader_start(reader, &options, fail);
}

int reading_share(const struct reader *reader, const struct parallel_sum_ops *ops, void *arg)
{
	struct pool *pool = NULL;
	struct slices slices;
	struct fail fail;
	int r;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (reader->buffers[i].selection)
			return -EAGAIN;
	if (!slices_plan(reader, reading_threads(), &slices))
		return -EAGAIN;
	slices_unite(&slices);
	r = pool_new(slices.threads - 1, &pool, &fail);
	if (!r)
		r = parallel_sum_run(&slices, pool, ops, arg);
	pool_free(pool);
	slices_release(&slices);
	return r ? -EAGAIN : 0;
}

void reading_tell_left_behind(const char *input)
{
	cleanup_buf struct buf pasted = BUF_INIT;
	cleanup_free char *path = NULL;

	if (strcmp(input, "-") && parts_left_behind(input, &path))
		command_warn("note: '%s' is left of a recording that was killed; 'weft recover %s' makes a file of it",
			     path, paste_file(&pasted, path));
}
