// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/export_write.h"

#include "cmd/choice.h"
#include "cmd/command.h"
#include "formats/export/export.h"
#include "lib/base/io.h"
#include "lib/base/out.h"
#include "lib/base/pool.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <string.h>
#include <unistd.h>

enum { OUT_SIZE = 1 << 20, POOL_MAX = 3, FAIL_LOOK = 1024 };

struct writing {
	struct export_job *job;
	struct reader reader;
	struct pool *pool;
	struct out out;
	struct export *export;
};

static int write_out(struct writing *writing, struct fail *fail)
{
	struct out *out = &writing->out;
	int r;

	if (out->failed)
		return fail_memory(fail);
	writing->job->bytes += out_len(out);
	if (writing->job->terminal) {
		r = command_write(out->start, out_len(out), fail);
	} else {
		r = io_write(writing->job->fd, out->start, out_len(out));
		if (r)
			fail_set(fail, r, "cannot write: %s", strerror(-r));
	}
	out_clear(out);
	return r;
}

/* What failed in the exporter, which goes on until somebody looks. */
static int look(const struct writing *writing, struct fail *fail)
{
	if (!writing->export->error)
		return 0;
	return fail_set(fail, writing->export->error, "%s", writing->export->failure.text);
}

static void see(struct writing *writing, const struct event *event)
{
	struct export *export = writing->export;

	if (event->kind == EVENT_LOST)
		writing->job->gaps++;
	else
		writing->job->events++;
	export->ops->event(export, event);
}

static int write_events(struct writing *writing, struct fail *fail)
{
	struct export *export = writing->export;
	uint64_t limit = writing->job->choice->limit;
	struct event event;
	unsigned n = 0;
	int r = 1;

	if (export->ops->begin)
		export->ops->begin(export);
	while (writing->job->events < limit && (r = reader_next(&writing->reader, &event, fail)) > 0) {
		see(writing, &event);
		if (out_len(&writing->out) >= OUT_SIZE && write_out(writing, fail))
			return -1;
		if (!(++n % FAIL_LOOK) && look(writing, fail))
			return -1;
	}
	if (r < 0)
		return r;
	if (export->ops->end)
		export->ops->end(export);
	r = look(writing, fail);
	return r ? r : write_out(writing, fail);
}

static int start(struct writing *writing, struct trace *trace, struct fail *fail)
{
	struct export_job *job = writing->job;
	const struct export_input input = { .reader = &writing->reader,
					    .fields = job->fields,
					    .weight = job->weight,
					    .db = job->db,
					    .has_date = trace_info(trace)->has_date,
					    .date_offset_ns = trace_info(trace)->date_offset_ns };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r = choice_add(job->choice, trace, &writing->reader, fail);

	if (!r && !out_init(&writing->out, 2 * OUT_SIZE))
		r = fail_memory(fail);
	if (!r)
		r = export_new(job->ops, &input, &writing->out, &writing->export, fail);
	if (!r && cpus > 1)
		r = pool_new(cpus > POOL_MAX ? POOL_MAX : (unsigned)cpus - 1, &writing->pool, fail);
	return r ? r : reader_start(&writing->reader, &(struct reader_options){ .pool = writing->pool }, fail);
}

/* Each line of the exporter's notes. */
static void tell_notes(struct export *export)
{
	char *line = (char *)(uintptr_t)buf_str(&export->notes), *rest = line;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			command_warn("note: %s", line);
}

static int finish(struct writing *writing, struct trace *trace, struct fail *fail)
{
	const char *path, *damage = reader_damage(&writing->reader, &path);

	if (!reader_is_merged(&writing->reader))
		command_warn(
			"note: the clocks of the instances differ: their times cannot be compared; -B NAME exports one");
	tell_notes(writing->export);
	if (damage)
		return fail_set(fail, -EBADMSG, "'%s' is damaged: %s", path, damage);
	if (trace_damage(trace))
		return fail_set(fail, -EBADMSG, "%s", trace_damage(trace));
	return 0;
}

int export_write(struct export_job *job, struct trace *trace, struct fail *fail)
{
	struct writing writing = { .job = job };
	int r;

	reader_init(&writing.reader);
	r = start(&writing, trace, fail);
	if (!r)
		r = write_events(&writing, fail);
	if (!r)
		r = finish(&writing, trace, fail);
	else if (r == -EBADMSG)
		r = -EIO;
	export_free(writing.export);
	reader_release(&writing.reader);
	pool_free(writing.pool);
	if (writing.out.start)
		out_release(&writing.out);
	return r;
}
