// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/export_write.h"

#include "cmd/command.h"
#include "cmd/export_tables.h"
#include "cmd/options/choice.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/progress.h"
#include "formats/export/export.h"
#include "lib/base/io.h"
#include "lib/base/out.h"
#include "lib/base/pool.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { OUT_SIZE = 1 << 20, POOL_MAX = 3, FAIL_LOOK = 1024 };

struct writing {
	struct export_job *job;
	struct reader reader;
	struct pool *pool;
	struct out out;
	struct export *export, *before;
	struct export_tables tables;
	unsigned seen;
	int failed; /* the result of see_too() */
	struct fail *fail;
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
			fail_set(fail, r, FAIL_WRITE "%s", strerror(-r));
	}
	out_clear(out);
	return r;
}

/* Returns the exporter's failure: an exporter does not stop by itself. */
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

/* Writes what an event has produced. Looks for failures from time to time. */
static int follow(struct writing *writing, struct fail *fail)
{
	if (out_len(&writing->out) >= OUT_SIZE && write_out(writing, fail))
		return -1;
	return ++writing->seen % FAIL_LOOK || !look(writing, fail) ? 0 : -1;
}

/* Shows an event to the exporter in the pass of the tables' analyses. */
static void see_too(void *arg, const struct event *event)
{
	struct writing *writing = arg;

	if (writing->failed || writing->job->events >= writing->job->query->limit)
		return;
	see(writing, event);
	writing->failed = follow(writing, writing->fail);
	if (writing->failed || writing->job->events >= writing->job->query->limit)
		reader_stop(&writing->reader);
}

static int write_with_tables(struct writing *writing, struct fail *fail)
{
	const struct reader_consumer after = { see_too, writing };
	const struct export_job *job = writing->job;
	cleanup_buf struct buf pasted = BUF_INIT;
	const char *input = NULL;
	int r;

	writing->fail = fail;
	/* A pipe is read once: a line to paste could not read it. */
	if (strcmp(job->input, "-") != 0) {
		input = paste_recording(&pasted, job->query->instance, job->input);
		if (!input)
			return fail_memory(fail);
	}
	r = export_tables_run(&writing->tables, &writing->reader, &after, input, fail);
	if (!r && writing->tables.possible)
		writing->export->tables = &writing->tables.text;
	return writing->failed ? writing->failed : r;
}

static int write_each(struct writing *writing, struct fail *fail)
{
	struct event event;
	int r = 1;

	while (writing->job->events < writing->job->query->limit &&
	       (r = reader_next(&writing->reader, &event, fail)) > 0) {
		see(writing, &event);
		if (follow(writing, fail))
			return -1;
	}
	return r < 0 ? r : 0;
}

static int write_events(struct writing *writing, struct fail *fail)
{
	struct export *export = writing->export;
	int r;

	if (export->ops->begin)
		export->ops->begin(export);
	r = export->ops->takes_tables ? write_with_tables(writing, fail) : write_each(writing, fail);
	if (r)
		return r;
	if (export->ops->end)
		export->ops->end(export);
	r = look(writing, fail);
	return r ? r : write_out(writing, fail);
}

/*
 * Reads the other file of --diff into an exporter of its own, which writes nothing. A damaged file is an error, because
 * comparing a part of it with a whole file would mislead.
 */
static int read_before(struct writing *writing, struct trace *trace, struct fail *fail)
{
	struct export_job *job = writing->job;
	struct reader reader;
	const struct export_input input = { .reader = &reader, .weight = job->weight };
	const char *damage, *path;
	struct event event;
	int r;

	reader_init(&reader);
	r = choice_buffers(job->query, NULL, trace, &reader, fail);
	if (!r)
		r = query_tail(job->query, &reader, fail);
	if (!r)
		r = export_new(job->ops, &input, &writing->out, &writing->before, fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = writing->pool }, fail);
	if (!r)
		while ((r = reader_next(&reader, &event, fail)) > 0)
			job->ops->event(writing->before, &event);
	damage = r ? NULL : reader_damage(&reader, &path);
	damage = damage || r ? damage : trace_damage(trace);
	if (damage)
		r = fail_set(fail, -EIO, "it is damaged: %s", damage);
	if (!r && writing->before->error)
		r = fail_set(fail, writing->before->error, "%s", writing->before->failure.text);
	reader_release(&reader);
	return r ? fail_in(fail, r == -EBADMSG ? -EIO : r, "--diff") : 0;
}

static int start(struct writing *writing, struct trace *trace, struct fail *fail)
{
	struct export_job *job = writing->job;
	struct export_input input = { .reader = &writing->reader,
				      .fields = job->fields,
				      .weight = job->weight,
				      .db = job->db,
				      .max_size = job->max_size,
				      .has_date = trace_info(trace)->has_date,
				      .date_offset_ns = trace_info(trace)->date_offset_ns };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r = choice_buffers(job->query, &job->decode, trace, &writing->reader, fail);

	if (!r)
		r = decode_seal(&job->decode, trace, job->keeps_rights, fail);
	if (!r)
		r = query_tail(job->query, &writing->reader, fail);
	if (!r && !out_init(&writing->out, 2 * OUT_SIZE))
		r = fail_memory(fail);
	if (!r && cpus > 1)
		r = pool_new(cpus > POOL_MAX ? POOL_MAX : (unsigned)cpus - 1, &writing->pool, fail);
	if (!r && job->before)
		r = read_before(writing, job->before, fail);
	input.before = writing->before;
	if (!r)
		r = export_new(job->ops, &input, &writing->out, &writing->export, fail);
	return r ? r : reader_start(&writing->reader, &(struct reader_options){ .pool = writing->pool }, fail);
}

/* Prints each line of the exporter's notes. */
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
		command_warn("note: the clocks of the instances differ: their times cannot be "
			     "compared; -B NAME exports one");
	tell_notes(writing->export);
	if (decode_check_all(&writing->reader, fail))
		return -ENOEXEC;
	if (trace_starved(trace))
		return fail_memory(fail);
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
	progress_start(trace_info(trace)->size + (job->before ? trace_info(job->before)->size : 0));
	r = start(&writing, trace, fail);
	if (!r)
		r = write_events(&writing, fail);
	progress_end();
	if (!r)
		r = finish(&writing, trace, fail);
	else if (r == -EBADMSG)
		r = -EIO;
	export_free(writing.export);
	export_tables_release(&writing.tables);
	export_free(writing.before);
	decode_end(&writing.reader);
	reader_release(&writing.reader);
	pool_free(writing.pool);
	if (writing.out.start)
		out_release(&writing.out);
	return r;
}
