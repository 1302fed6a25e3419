// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/export_write.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/choice.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/progress.h"
#include "formats/export/export.h"
#include "formats/export/export_events.h"
#include "formats/export/export_slices.h"
#include "formats/text_end.h"
#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/run.h"
#include "lib/answers/why/why.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/pool.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/apart.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/guest/host.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/slices.h"
#include "lib/pages/trace/trace.h"

/* POOL_MAX: threads that help to read, where the events are exported in order. */
enum { OUT_SIZE = 1 << 20, POOL_MAX = 3, TABLE_ROWS = 10 };

struct writing {
	struct export_job *job;
	struct reader reader;
	struct export_input input;
	struct pool *pool;
	uint64_t skip; /* bytes that were written before, in slices */
	struct out out;
	struct export *export, *before;
	/* Of weft summary, about the exported events, made in the same pass; if the clocks allow it. */
	struct pass pass;
	struct out tables;
	struct path *paths; /* of weft why */
	size_t nr_paths;
	bool has_pass;
	struct guest_host_reading *host; /* of --host */
	struct export_guest guest;
	size_t guest_buffer;
	struct query of_guest; /* it owns nothing */
};

static int write_data(void *arg, const void *data, size_t len, struct fail *fail)
{
	struct writing *writing = arg;
	size_t skip = writing->skip < len ? (size_t)writing->skip : len;
	int r;

	if (writing->job->terminal)
		return command_write(data, len, fail);
	writing->skip -= skip;
	r = io_write(writing->job->fd, (const char *)data + skip, len - skip);
	return r ? fail_set(fail, r, FAIL_WRITE "%s", strerror(-r)) : 0;
}

/* The last events are those that are chosen, so the others cannot be seen. */
static enum query_gives gives(const struct export_job *job)
{
	if (job->query->tail != UINT64_MAX)
		return QUERY_GIVES_CHOSEN;
	return job->ops->needs_all ? QUERY_GIVES_ALL : job->ops->of_tasks ? QUERY_GIVES_TASKS : QUERY_GIVES_CHOSEN;
}

static int put_tables(struct writing *writing, size_t item, const char *input, struct fail *fail)
{
	const struct findings_options options = { .format = TABLE_AS_TEXT, .top = TABLE_ROWS, .input = input };
	struct out *text = &writing->tables;
	struct findings findings;
	int r;

	findings_init(&findings);
	r = pass_finish(&writing->pass, item, &findings, fail);
	if (!r)
		r = findings_arrange(&findings, &options, fail);
	if (!r && (!out_init(text, 1 << 14) || !findings_write(&findings, &options, text)))
		r = fail_memory(fail);
	findings_release(&findings);
	if (!r)
		writing->export->tables = text;
	return r;
}

static int put_paths(struct writing *writing, size_t item, struct fail *fail)
{
	struct findings findings;
	struct fail why = FAIL_INIT;
	int r;

	findings_init(&findings);
	r = pass_finish(&writing->pass, item, &findings, &why);
	findings_release(&findings);
	/* There are events without calls and wakeups. */
	if (r == -ENOMEM || r == -EPROTO) {
		*fail = why;
		return r;
	}
	r = why_paths(writing->pass.items[item].analysis, &writing->paths, &writing->nr_paths);
	if (r)
		return fail_memory(fail);
	writing->export->paths = writing->paths;
	writing->export->nr_paths = writing->nr_paths;
	return 0;
}

/* Gives the exporter the tables and the paths if there can be some. */
static int run_analyses(struct writing *writing, const char *input, const struct reader_consumer *after,
			struct fail *fail)
{
	const struct export_ops *ops = writing->job->ops;
	const struct why_options why = { .of = WHY_LONGEST, .slowest = ops->paths };
	int r = ops->takes_tables ? pass_add(&writing->pass, &summary_analysis, NULL, fail) : 0;

	if (!r && ops->paths)
		r = pass_add(&writing->pass, &why_analysis, &why, fail);
	if (!r)
		r = pass_run(&writing->pass, after, fail);
	if (!r && ops->takes_tables)
		r = put_tables(writing, 0, input, fail);
	if (!r && ops->paths)
		r = put_paths(writing, ops->takes_tables, fail);
	return r;
}

/* Reads all events and shows each to `after`. */
static int run_pass(void *arg, const struct reader_consumer *after, struct fail *fail)
{
	struct writing *writing = arg;
	const struct export_job *job = writing->job;
	struct reader *reader = &writing->reader;
	cleanup_buf struct buf pasted = BUF_INIT;
	struct pass_filter filter = { .cpus = NULL };
	struct fail why = FAIL_INIT;
	const char *input = NULL;

	/* A pipe is read once: a line to paste could not read it. */
	if (job->input && strcmp(job->input, "-") != 0) {
		input = paste_recording(&pasted, job->query->instance, job->input);
		if (!input)
			return fail_memory(fail);
	}
	writing->has_pass = reader->nr_buffers != 0;
	if (gives(job) == QUERY_GIVES_TASKS)
		filter = analysis_filter(job->query);
	filter.self = false;
	if (!writing->has_pass || pass_init(&writing->pass, reader, &filter, &why))
		return reader_run(reader, after, 1, fail);
	writing->export->state = &writing->pass.state;
	return run_analyses(writing, input, after, fail);
}

/* The first bytes of some formats say what is known only at the end. */
static int write_head(struct writing *writing, struct fail *fail)
{
	const struct buf *head = &writing->export->head;
	ssize_t r = head->len ? io_again(pwrite(writing->job->fd, head->data, head->len, 0)) : 0;

	return r == (ssize_t)head->len ? 0 : fail_set(fail, -errno, FAIL_WRITE "%s", strerror(errno));
}

static int write_events(struct writing *writing, struct fail *fail)
{
	struct export_job *job = writing->job;
	struct export_events driver = { .reader = &writing->reader,
					.export = writing->export,
					.out = &writing->out,
					.limit = job->query->limit,
					.write = write_data,
					.pass = job->ops->takes_tables || job->ops->paths ? run_pass : NULL,
					.arg = writing };
	int r = export_events(&driver, fail);

	job->events = driver.events;
	job->left_out = writing->export->left_out;
	job->gaps = driver.gaps;
	job->bytes = driver.bytes;
	return r ? r : write_head(writing, fail);
}

/* What is read in order has threads beside it; slices have their own. */
static int start_pool(struct writing *writing, struct fail *fail)
{
	unsigned threads = reading_threads();
	int r = 0;

	if (!writing->pool && threads > 1)
		r = pool_new(threads > POOL_MAX ? POOL_MAX : threads - 1, &writing->pool, fail);
	return r;
}

static bool can_slice(const struct export_job *job)
{
	return job->ops->join && !job->terminal && job->query->limit == UINT64_MAX && job->query->tail == UINT64_MAX;
}

/* -EAGAIN: the events cannot be exported in slices of time, or not all of them. */
static int write_slices(struct writing *writing, struct fail *fail)
{
	struct export_job *job = writing->job;
	struct text_end end = { .fd = job->fd };
	struct slices slices;
	struct query_again again = { job->query, &writing->reader };
	struct export_slices driver = { .slices = &slices,
					.input = &writing->input,
					.export = writing->export,
					.out = &writing->out,
					.end = &end,
					.wrote = progress_part };
	int r;

	if (!can_slice(job) || !slices_plan(&writing->reader, reading_threads(), &slices))
		return -EAGAIN;
	slices.select = query_select_again;
	slices.arg = &again;
	r = pool_new(slices.threads - 1, &driver.pool, fail);
	if (!r)
		r = export_slices(&driver, fail);
	pool_free(driver.pool);
	slices_release(&slices);
	job->events = driver.events;
	job->gaps = driver.gaps;
	job->bytes = end.written;
	writing->skip = end.written;
	/* What else fails is read in order. */
	return !r || r == -EAGAIN || r == -ENOMEM ? r : fail_set(fail, r, FAIL_WRITE "%s", strerror(-r));
}

static int start_reader(const struct writing *writing, struct reader *reader, struct fail *fail)
{
	const struct reader_options options = { .pool = writing->pool, .tells_ends = writing->job->ops->of_tasks };

	return reader_start(reader, &options, fail);
}

static int write_all(struct writing *writing, struct fail *fail)
{
	int r = write_slices(writing, fail);

	if (r != -EAGAIN)
		return r;
	r = start_pool(writing, fail);
	if (!r)
		r = start_reader(writing, &writing->reader, fail);
	return r ? r : write_events(writing, fail);
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
	int r;

	reader_init(&reader);
	r = choice_buffers(job->query, NULL, gives(job), trace, &reader, fail);
	if (!r)
		r = query_tail(job->query, &reader, fail);
	if (!r)
		r = export_new(job->ops, &input, &writing->out, &writing->before, fail);
	if (!r)
		r = start_reader(writing, &reader, fail);
	if (!r)
		r = export_all(writing->before, &reader, fail);
	damage = r ? NULL : reader_damage(&reader, &path);
	damage = damage || r ? damage : trace_damage(trace);
	if (damage)
		r = fail_set(fail, -EIO, "it is damaged: %s", damage);
	reader_release(&reader);
	return r ? fail_in(fail, r == -EBADMSG ? -EIO : r, "--diff") : 0;
}

/* The index of a buffer of the trace among those that are exported. */
static int find_exported(const struct writing *writing, size_t buffer, size_t *ret, struct fail *fail)
{
	for (*ret = 0; *ret < writing->reader.nr_buffers; ++*ret)
		if (writing->reader.buffers[*ret].context->buffer == buffer)
			return 0;
	return fail_set(fail, -EINVAL, "--host: the guest and its host must be exported, and one of them is not");
}

/* Before the buffers are chosen: which one is the guest. */
static int find_guest(struct writing *writing, const struct trace *trace, struct fail *fail)
{
	struct export_job *job = writing->job;
	int r = guest_find(job->host, trace, job->query->instance, &writing->guest_buffer, fail);

	if (r || job->ops->host == EXPORT_BOTH)
		return r;
	writing->of_guest = *job->query;
	writing->of_guest.instance = trace_buffer(trace, writing->guest_buffer)->name.text;
	job->query = &writing->of_guest;
	return 0;
}

/* Reads what the host did with the CPUs of the guest. */
static int read_host(struct writing *writing, const struct trace *trace, struct fail *fail)
{
	const struct guest_host *words = writing->job->host;
	struct export_guest *guest = &writing->guest;
	size_t host = 0;
	int r = guest_host_find(words, trace, writing->guest_buffer, &host, fail);

	if (!r)
		r = find_exported(writing, writing->guest_buffer, &guest->guest, fail);
	if (!r && writing->job->ops->host == EXPORT_BOTH)
		r = find_exported(writing, host, &guest->host, fail);
	if (!r)
		r = guest_host_begin(words, writing->reader.buffers[guest->guest].context, &writing->host, fail);
	if (!r)
		r = guest_host_run(writing->host, NULL, NULL, fail);
	guest->vcpus = guest_host_vcpus(writing->host);
	writing->input.guest = guest;
	return r;
}

static int start(struct writing *writing, struct trace *trace, struct fail *fail)
{
	struct export_job *job = writing->job;
	int r = job->host ? find_guest(writing, trace, fail) : 0;

	if (!r)
		r = choice_buffers(job->query, &job->decode, gives(job), trace, &writing->reader, fail);

	writing->input = (struct export_input){ .reader = &writing->reader,
						.fields = job->fields,
						.weight = job->weight,
						.counters = job->counters,
						.nr_counters = job->nr_counters,
						.db = job->db,
						.max_size = job->max_size };
	if (!r)
		r = choice_check_counters(&writing->reader, job->counters, job->nr_counters, fail);
	if (!r)
		r = decode_seal(&job->decode, trace, job->keeps_rights, fail);
	if (!r && job->host)
		r = read_host(writing, trace, fail);
	if (!r)
		r = query_tail(job->query, &writing->reader, fail);
	if (!r && !out_init(&writing->out, 2 * OUT_SIZE))
		r = fail_memory(fail);
	if (!r && (job->before || !can_slice(job)))
		r = start_pool(writing, fail);
	if (!r && job->before)
		r = read_before(writing, job->before, fail);
	writing->input.before = writing->before;
	writing->input.pool = writing->pool;
	return r ? r : export_new(job->ops, &writing->input, &writing->out, &writing->export, fail);
}

/* Prints each line of the exporter's notes. */
static void tell_notes(struct export *export)
{
	char *line = (char *)(uintptr_t)buf_str(&export->notes), *rest = line;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			command_warn("note: %s", line);
}

/* Of events that stand together. */
static void tell_apart(struct writing *writing, struct trace *trace)
{
	struct apart *apart = NULL;
	char widest[TEXT_HUMAN];

	if (!reader_is_of_one(&writing->reader, NULL) || apart_of(trace, &apart, NULL) || !apart)
		return;
	command_warn("note: times of two machines are exact to within %s in all: the order of events that are closer "
		     "is not known",
		     text_time(widest, apart_widest(apart)));
	apart_free(apart);
}

/* An exporter that does not see all events follows who runs and waits over those of the chosen tasks. */
static void tell_states(const struct export_job *job)
{
	if (job->ops->of_tasks && gives(job) == QUERY_GIVES_CHOSEN && query_chooses_tasks(job->query))
		command_warn("note: with --tail, who ran and who waited is told by the last events of the chosen tasks "
			     "alone, so these times are not exact: choose a time with --since in place of --tail");
}

static int finish(struct writing *writing, struct trace *trace, struct fail *fail)
{
	const char *path, *damage = reader_damage(&writing->reader, &path);

	if (!reader_is_merged(&writing->reader))
		command_warn("note: the clocks of the instances differ: their times cannot be "
			     "compared; -B NAME exports one");
	tell_apart(writing, trace);
	tell_states(writing->job);
	choice_tell_unknown(writing->job->query, &writing->reader);
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
		r = write_all(&writing, fail);
	progress_end();
	if (!r)
		r = finish(&writing, trace, fail);
	else if (r == -EBADMSG)
		r = -EIO;
	export_free(writing.export);
	why_paths_free(writing.paths, writing.nr_paths);
	if (writing.has_pass)
		pass_release(&writing.pass);
	if (writing.tables.start)
		out_release(&writing.tables);
	export_free(writing.before);
	guest_host_end(writing.host);
	decode_end(&writing.reader);
	reader_release(&writing.reader);
	pool_free(writing.pool);
	if (writing.out.start)
		out_release(&writing.out);
	return r;
}
