// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/perf_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "lib/files/import/perf.h"
#include "lib/ground/base/draft.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/pages/perf/perf_data.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/trace.h"

/*
 * A file on a disk takes 0.1 to 0.3 ms to make, up to a tenth of a small report, and one in memory 5 us. What is made
 * of files that are this large together has room there; the system limits what /dev/shm takes.
 */
enum { IN_MEMORY_MAX = 1 << 20 };

void perf_file_tell(const struct perf_import *import, bool with_samples)
{
	const struct perf_import_counts *counts = perf_import_counts(import);
	const struct perf_facts *facts = perf_import_facts(import);

	if (counts->lost_later)
		command_warn("note: %" PRIu64
			     " lost event%s behind the last event of a CPU, or have no place in the file: no "
			     "table knows of them",
			     counts->lost_later, counts->lost_later == 1 ? " is" : "s are");
	if (facts->killed)
		command_warn("note: the file has no end, as of a recorder that was killed: what is whole is imported");
	if (counts->sampled == 1)
		command_warn(
			"note: %s was sampled at a frequency (-F): most of its events are not in the file, so sums and "
			"pairs of events are wrong",
			counts->sampled_name ?: "an event");
	else if (counts->sampled)
		command_warn("note: one of %" PRIu64
			     " events of %s was recorded (-c): sums and pairs of events are wrong",
			     counts->sampled, counts->sampled_name ?: "a tracepoint");
	if (counts->of_tasks)
		command_warn("note: only what some tasks did was recorded (without -a): who woke them, who had the CPU "
			     "meanwhile, and interrupts elsewhere are not in the file");
	if (counts->filtered)
		command_warn("note: its command line has --filter, so some events are left out");
	if (counts->throttled)
		command_warn("note: the kernel stopped an event %s time%s because it came too often",
			     text_count((char[TEXT_HUMAN]){ 0 }, counts->throttled), text_plural(counts->throttled));
	if (counts->twice)
		command_warn("note: %" PRIu64
			     " event%s recorded twice, as by two events of one tracepoint: each is there once",
			     counts->twice, counts->twice == 1 ? " was" : "s were");
	if (counts->repeated)
		command_warn(
			"note: %" PRIu64
			" event%s in the file twice, as perf wrote a piece of a buffer once more: each is there once",
			counts->repeated, counts->repeated == 1 ? " stands" : "s stand");
	if (counts->others && !with_samples)
		command_warn(
			"note: %s sample%s%s%s %s no event of a tracepoint: left out; weft import --samples imports "
			"them, for stacks",
			text_count((char[TEXT_HUMAN]){ 0 }, counts->others), text_plural(counts->others),
			counts->other ? " of " : "", counts->other ?: "", counts->others == 1 ? "is" : "are");
	if (counts->without_cpu)
		command_warn(
			"note: %s sample%s without a CPU (perf record without -a): all are on CPU 0, so ask nothing of "
			"CPUs",
			text_count((char[TEXT_HUMAN]){ 0 }, counts->without_cpu), text_plural(counts->without_cpu));
	if (counts->unknown + counts->refused)
		command_warn("note: %s sample%s without a format, a time or a CPU: left out",
			     text_count((char[TEXT_HUMAN]){ 0 }, counts->unknown + counts->refused),
			     text_plural(counts->unknown + counts->refused));
	if (counts->unnamed)
		command_warn("note: a perf.data has no names of the kernel's functions, so %" PRIu64
			     " stack%s addresses: 'weft import --kallsyms FILE' names them, with the /proc/kallsyms "
			     "that root read in the same boot",
			     counts->unnamed, counts->unnamed == 1 ? " has" : "s have");
	if (counts->cut_stacks)
		command_warn("note: %" PRIu64
			     " user stack%s deeper than a trace.dat has: the outer callers are left out",
			     counts->cut_stacks, counts->cut_stacks == 1 ? " is" : "s are");
}

/* In memory, or where there is none for files, in P_tmpdir as all others. */
static int make_spare(bool in_memory, int *ret_fd)
{
	struct fail ignored;

	return in_memory && !draft_nameless("/dev/shm", ret_fd) ? 0 : input_temporary(ret_fd, &ignored);
}

void perf_spares_open(struct perf_spares *spares, struct trace *const *traces, size_t files)
{
	/* One for each recording, and three for what an import keeps beside it. */
	size_t most = sizeof(spares->fds) / sizeof(*spares->fds), wanted = files + 3 < most ? files + 3 : most;
	uint64_t size = 0;

	for (size_t i = 0; i < files; i++)
		size += trace_input(traces[i])->size;
	spares->nr = 0;
	while (spares->nr < wanted && !make_spare(size <= IN_MEMORY_MAX, &spares->fds[spares->nr]))
		spares->nr++;
}

void perf_spares_release(struct perf_spares *spares)
{
	while (spares->nr)
		close(spares->fds[--spares->nr]);
}

static int take_spare(void *arg, int *ret_fd, struct fail *fail)
{
	struct perf_spares *spares = arg;

	if (!spares->nr)
		return fail_set(fail, -EMFILE,
				"there is no temporary file for it; 'weft import' makes a recording of it");
	*ret_fd = spares->fds[--spares->nr];
	return 0;
}

static void give_back(void *arg, int fd)
{
	struct perf_spares *spares = arg;

	if (spares->nr < sizeof(spares->fds) / sizeof(*spares->fds))
		spares->fds[spares->nr++] = fd;
	else
		close(fd);
}

static int make(struct perf_import *import, int fd, const char *path, struct fail *fail)
{
	struct fail damage = FAIL_INIT;
	uint64_t size;
	int r = perf_import_read(import, &damage, fail);

	if (r == -ENODATA)
		r = fail_hint(fail, r,
			      "; 'weft import --formats-from FILE' takes them from a trace.dat of the same kernel");
	if (!r && *damage.text)
		r = fail_set(fail, -EBADMSG,
			     "it is damaged: %s; 'weft import' makes a recording of what is before that", damage.text);
	if (!r)
		r = perf_import_write(import, fd, &size, fail);
	if (!r)
		perf_file_tell(import, false);
	return r ? fail_in(fail, r, "'%s'", path) : 0;
}

int perf_file_load(struct perf_spares *spares, struct trace *trace, struct fail *fail)
{
	const struct temporaries temporaries = { .make = take_spare, .give_back = give_back, .arg = spares };
	const struct recast_options form = { .version = 7, .temporaries = &temporaries, .passing = true };
	struct perf_import *import = NULL;
	uint8_t begin[PERF_MAGIC_SIZE];
	cleanup_fd int fd = -1;
	int r;

	if (trace_bytes(trace, 0, begin, sizeof(begin)) != sizeof(begin) || !perf_data_is(begin))
		return 0;
	r = take_spare(spares, &fd, fail);
	if (!r)
		r = perf_import_new(trace_input(trace), 1, NULL, &form, &import, fail);
	if (r)
		return fail_in(fail, r, "'%s'", trace_path(trace));
	perf_import_into(import, fd);
	r = make(import, fd, trace_path(trace), fail);
	perf_import_free(import);
	return r ? r : trace_replace(trace, fd, fail);
}
