// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/perf_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "lib/files/import/perf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/pages/perf/perf_data.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/trace.h"

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
		command_warn("note: the kernel stopped an event %" PRIu64 " time%s because it came too often",
			     counts->throttled, text_plural(counts->throttled));
	if (counts->twice)
		command_warn("note: %" PRIu64
			     " event%s recorded twice, as by two events of one tracepoint: each is there once",
			     counts->twice, counts->twice == 1 ? " was" : "s were");
	if (counts->others && !with_samples)
		command_warn("note: %" PRIu64
			     " sample%s%s%s %s no event of a tracepoint: left out; --samples imports them, for stacks",
			     counts->others, text_plural(counts->others), counts->other ? " of " : "",
			     counts->other ?: "", counts->others == 1 ? "is" : "are");
	if (counts->unknown + counts->refused)
		command_warn("note: %" PRIu64 " sample%s without a format, a time or a CPU: left out",
			     counts->unknown + counts->refused, text_plural(counts->unknown + counts->refused));
	if (counts->cut_stacks)
		command_warn("note: %" PRIu64
			     " user stack%s deeper than a trace.dat has: the outer callers are left out",
			     counts->cut_stacks, counts->cut_stacks == 1 ? " is" : "s are");
}

bool perf_file_open(const struct trace *trace, struct perf_file *ret)
{
	uint8_t begin[PERF_MAGIC_SIZE];
	struct fail ignored;

	*ret = (struct perf_file){ .nr_spares = 0 };
	if (trace_bytes(trace, 0, begin, sizeof(begin)) != sizeof(begin) || !perf_data_is(begin))
		return false;
	for (size_t i = 0; i < sizeof(ret->spares) / sizeof(*ret->spares); i++) {
		if (input_temporary(&ret->spares[i], &ignored)) {
			perf_file_release(ret);
			return false;
		}
		ret->nr_spares++;
	}
	return true;
}

void perf_file_release(struct perf_file *file)
{
	while (file->nr_spares)
		close(file->spares[--file->nr_spares]);
}

static int take_spare(void *arg, int *ret_fd, struct fail *fail)
{
	struct perf_file *file = arg;

	if (!file->nr_spares)
		return fail_set(fail, -EMFILE, "there are no more temporary files");
	*ret_fd = file->spares[--file->nr_spares];
	return 0;
}

static void give_back(void *arg, int fd)
{
	struct perf_file *file = arg;

	if (file->nr_spares < sizeof(file->spares) / sizeof(*file->spares))
		file->spares[file->nr_spares++] = fd;
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

int perf_file_load(struct perf_file *file, struct trace *trace, struct fail *fail)
{
	const struct temporaries temporaries = { .make = take_spare, .give_back = give_back, .arg = file };
	const struct recast_options form = { .version = 7, .temporaries = &temporaries, .passing = true };
	struct perf_import *import = NULL;
	cleanup_fd int fd = -1;
	int r = take_spare(file, &fd, fail);

	if (!r)
		r = perf_import_new(trace_input(trace), 1, NULL, &form, &import, fail);
	if (r)
		return fail_in(fail, r, "'%s'", trace_path(trace));
	r = make(import, fd, trace_path(trace), fail);
	perf_import_free(import);
	return r ? r : trace_replace(trace, fd, fail);
}
