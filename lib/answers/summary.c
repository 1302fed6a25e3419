// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/day.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/reader/reader.h"

/* A first overview of a recording: its facts, and the most important tables of every analysis whose events it has. */

enum { ROWS_UNSORTED = 8 };

struct summary_analysis {
	struct pass *pass;
	/* The analyses whose tables it has. */
	struct summary_part {
		const struct analysis_ops *ops;
		void *analysis;
	} parts[ANALYSES_MAX];
	size_t nr_parts;
	struct dispatch dispatch; /* to the parts that are not apart */
	struct u64_map before; /* how many events of each type, by type_key(), were before this interval of a stream */
	uint64_t lost;         /* number of lost events, from gaps that have a number */
	bool more_lost;        /* there are also gaps without a number */
};

static const struct analysis_want wants[] = {
	{ "lock:contention_begin", "lock:lock_contended", "when a task begins to wait for a lock of the kernel" },
	{ "lock:contention_end", "lock:lock_acquired", "when it has it" },
	{ "sched:sched_process_exit", NULL, "how many tasks ended" },
	{ NULL, NULL, NULL },
};

/* Recording functions is too expensive unless the user asks for it. The system calls include those on futexes. */
static const struct analysis_ops *const like[] = { &sched_analysis, &syscalls_analysis, &irq_analysis, &block_analysis,
						   NULL };

static uint64_t type_key(size_t buffer, const struct event_type *type)
{
	return (uint64_t)buffer << 32 | (uint32_t)type->id;
}

/* How many events of a type there were up to now. */
static uint64_t count_so_far(const struct summary_analysis *summary, const struct event_type *type)
{
	return type->seen - (type == summary->pass->pending);
}

static uint64_t count_of(const struct summary_analysis *summary, size_t buffer, const struct event_type *type)
{
	const uint64_t *before = u64_map_find(&summary->before, type_key(buffer, type));

	return count_so_far(summary, type) - (before ? *before : 0);
}

static bool is_alike(const struct event_type *type, const struct event_type *other)
{
	return type->format && other->format && !strcmp(type->format->system, other->format->system) &&
	       !strcmp(type->format->name, other->format->name);
}

/*
 * How many events of this name there were in all buffers from this one on; 0 if an earlier one has such events, so that
 * they are counted once.
 */
static uint64_t count_named(const struct summary_analysis *summary, size_t buffer, const struct event_type *type)
{
	const struct reader *reader = summary->pass->reader;
	const struct event_type *other;
	uint64_t sum = count_of(summary, buffer, type);

	for (size_t i = 0; sum && i < reader->nr_buffers; i++) {
		for (size_t at = 0; i != buffer && events_type_at(reader->buffers[i].events, at, &other); at++) {
			uint64_t more = is_alike(type, other) ? count_of(summary, i, other) : 0;

			if (more && i < buffer)
				return 0;
			sum += more;
		}
	}
	return sum;
}

static bool count_before(struct summary_analysis *summary)
{
	const struct reader *reader = summary->pass->reader;
	const struct event_type *type;
	uint64_t *before;

	u64_map_init(&summary->before, sizeof(*before));
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		for (size_t at = 0; events_type_at(reader->buffers[i].events, at, &type); at++) {
			before = u64_map_add(&summary->before, type_key(i, type));
			if (!before)
				return false;
			*before = count_so_far(summary, type);
		}
	}
	return true;
}

static void release(void *arg)
{
	struct summary_analysis *summary = arg;

	u64_map_release(&summary->before);
	for (size_t i = 0; i < summary->nr_parts; i++)
		analysis_free(summary->parts[i].ops, summary->parts[i].analysis);
	dispatch_release(&summary->dispatch);
}

static bool add_part(struct summary_analysis *summary, const struct analysis_ops *ops, const void *options)
{
	struct summary_part *part = &summary->parts[summary->nr_parts++];
	struct pass *pass = pass_of(summary->pass, ops);

	part->ops = ops;
	return pass && !analysis_new(ops, pass, options, &part->analysis, NULL) &&
	       dispatch_add(pass == summary->pass ? &summary->dispatch : &pass->dispatch, ops, part->analysis);
}

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct summary_analysis *summary = arg;
	const struct analysis_ops *ops;
	const void *of_this;

	(void)options;
	summary->pass = pass;
	if (!count_before(summary))
		return false;
	for (size_t i = 0; (ops = analysis_at(i)); i++) {
		of_this = ops->summary_of ? ops->summary_of(pass) : NULL;
		if ((ops->in_summary || of_this) && !add_part(summary, ops, of_this))
			return false;
	}
	return true;
}

/* Only its parts want events. */
static uint8_t look(void *arg, const struct event *event)
{
	(void)arg;
	(void)event;
	return ROLE_NONE;
}

static void divide(void *arg)
{
	struct summary_analysis *summary = arg;

	for (size_t i = 0; i < summary->nr_parts; i++)
		if (summary->parts[i].ops->divide)
			summary->parts[i].ops->divide(summary->parts[i].analysis);
}

static void carry(void *arg, void *earlier)
{
	struct summary_analysis *summary = arg, *before = earlier;

	for (size_t i = 0; i < summary->nr_parts; i++)
		if (summary->parts[i].ops->carry)
			summary->parts[i].ops->carry(summary->parts[i].analysis, before->parts[i].analysis);
}

static const struct dispatch *parts(const void *arg)
{
	return &((const struct summary_analysis *)arg)->dispatch;
}

/* Gaps. */
static void see(void *arg, const struct event *event, uint8_t role)
{
	struct summary_analysis *summary = arg;

	(void)role;
	if (event->lost > 0)
		summary->lost += (uint64_t)event->lost;
	else
		summary->more_lost |= event->lost != EVENT_LOST_REST;
	dispatch_gap(&summary->dispatch, event);
}

/* How many events of this type were read, in the first buffer that has any. */
static uint64_t seen_of(const struct summary_analysis *summary, const char *system, const char *name)
{
	const struct reader *reader = summary->pass->reader;
	const struct event_type *type;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		for (size_t at = 0; events_type_at(reader->buffers[i].events, at, &type); at++)
			if (type->format && !strcmp(type->format->system, system) && !strcmp(type->format->name, name))
				return count_of(summary, i, type);
	return 0;
}

static uint64_t seen_all(const struct summary_analysis *summary)
{
	const struct reader *reader = summary->pass->reader;
	const struct event_type *type;
	uint64_t sum = 0;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		for (size_t at = 0; events_type_at(reader->buffers[i].events, at, &type); at++)
			sum += count_of(summary, i, type);
	return sum;
}

/* The tasks that left their CPUs for good. */
static uint64_t count_dead(const struct state *state)
{
	uint64_t dead = 0;

	for (size_t i = 0; i < state->nr_tasks; i++)
		dead += state->tasks[i].died && state->tasks[i].mode == TASK_DEAD;
	return dead;
}

/* weft tasks says more, but only of a file that has forks or exits. */
static void put_tasks(const struct summary_analysis *summary, struct table *table)
{
	uint64_t forks = seen_of(summary, "sched", "sched_process_fork"), exits;
	bool forks_known = pass_has(summary->pass, "sched:sched_process_fork,task:task_newtask"),
	     exits_known = pass_has(summary->pass, "sched:sched_process_exit");
	char began[TEXT_HUMAN] = "-", ended[TEXT_HUMAN] = "-";

	forks = forks ? forks : seen_of(summary, "task", "task_newtask");
	exits = seen_of(summary, "sched", "sched_process_exit");
	if (!forks && !exits)
		return;
	if (!exits_known && summary->pass->state.events[STATE_SWITCH]) {
		exits = count_dead(&summary->pass->state);
		exits_known = true;
	}
	if (forks_known)
		text_count(began, forks);
	if (exits_known)
		text_count(ended, exits);
	table_cell(table, "tasks began, ended");
	table_cellf(table, "%s, %s (more: weft tasks)", began, ended);
}

/* The events that a full buffer did not take (nooverwrite): only the kernel's counts tell of them. */
static uint64_t count_dropped(const struct reader *reader)
{
	uint64_t dropped = 0;

	for (size_t i = 0; i < reader->nr_buffers; i++) {
		const struct context *context = reader->buffers[i].context;

		for (size_t j = 0; j < context->nr_stats; j++)
			dropped += context->stats[j].dropped;
	}
	return dropped;
}

/* A shorter recording shows parts of a second. */
#define SHORT_NS INT64_C(10000000000)

static void put_when(const struct context *context, const struct state *state, struct table *table)
{
	struct zone *zone = NULL;
	char span[DAY_SPAN_TEXT];
	int64_t from, to;

	if (!wall_of(context->wall, state->start, &from, NULL) || !wall_of(context->wall, state->now, &to, NULL) ||
	    zone_new("", &zone, NULL))
		return;
	table_cell(table, "from");
	table_cell(table, day_span_text(span, zone, from, to, to - from < SHORT_NS ? 3 : 0));
	zone_free(zone);
}

static void put_facts(const struct summary_analysis *summary, struct findings *findings)
{
	const struct pass *pass = summary->pass;
	const struct state *state = &pass->state;
	const struct context *context = pass->reader->buffers[0].context;
	struct table *table = findings_facts(findings, "recording", "the recording");
	char text[TEXT_HUMAN], gaps[TEXT_HUMAN], more[TEXT_HUMAN];
	uint64_t cpus = 0, dropped = count_dropped(pass->reader), losses = state->losses - state->ends;

	if (!table)
		return;
	for (size_t i = 0; i < state->nr_cpus; i++)
		cpus += state->cpus[i].seen && !state->cpus[i].absent;
	table_cell(table, "span");
	table_cell(table, text_time(text, state->now - state->start));
	put_when(context, state, table);
	table_cell(table, "CPUs with events");
	table_cell(table, text_count(text, cpus));
	table_cell(table, "events");
	table_cell(table, text_count(text, seen_all(summary)));
	table_cell(table, "events lost");
	if (losses && dropped)
		table_cellf(table, "%s%s, in %s gaps, and %s that the kernel dropped",
			    summary->more_lost ? "more than " : "", text_count(text, summary->lost),
			    text_count(gaps, losses), text_count(more, dropped));
	else if (losses)
		table_cellf(table, "%s%s, in %s gaps", summary->more_lost ? "more than " : "",
			    text_count(text, summary->lost), text_count(gaps, losses));
	else if (dropped)
		table_cellf(table, "%s that the kernel dropped", text_count(more, dropped));
	else if (reader_is_damaged(pass->reader))
		table_cell(table, "unknown: the file is damaged");
	else
		table_cell(table, "none");
	table_cell(table, "kernel");
	table_cellf(table, "%s%s%s", *context->release ? context->release : "unknown", *pass->machine ? " " : "",
		    pass->machine);
	table_cell(table, "tasks seen");
	table_cell(table, text_count(text, state->nr_tasks));
	put_tasks(summary, table);
}

#define EVENT_COLUMNS(X)                                      \
	X("EVENT", TEXT, NULL, BRIEF | SAME, put_event, type) \
	X("COUNT", COUNT, NULL, BRIEF | ADDS, table_cell_u64, count)

static const struct table_column event_columns[] = COLUMNS(EVENT_COLUMNS);

static void put_event(struct table *table, const struct event_type *type)
{
	if (type->format)
		table_cellf(table, "%s:%s", type->format->system, type->format->name);
	else
		table_cellf(table, "%" PRId32, type->id);
}

static void put_events(const struct summary_analysis *summary, struct findings *findings)
{
	const struct reader *reader = summary->pass->reader;
	struct table *table = findings_table(findings, "events", "events", "count", event_columns);
	const struct event_type *type;
	uint64_t repeats = 0;

	for (size_t i = 0; table && i < reader->nr_buffers; i++) {
		for (size_t at = 0; events_type_at(reader->buffers[i].events, at, &type); at++) {
			uint64_t count = count_named(summary, i, type);

			if (!count)
				continue;
			if (type->format && !strcmp(type->format->name, "func_repeats"))
				repeats += count;
			EVENT_COLUMNS(CELL)
		}
	}
	if (repeats)
		findings_note(findings, "%" PRIu64 " func_repeats event%s for further calls, which 'weft graph' counts",
			      repeats, repeats == 1 ? " stands" : "s stand");
}

/* Gives each table a key of its own in JSON: sched and irq both have a table of CPUs. */
static void rename_twin(const struct findings *findings, struct finding *finding)
{
	for (const struct finding *before = findings->items; before < finding; before++)
		if (!strcmp(before->name, finding->name))
			finding->name = !strcmp(finding->name, "cpus") ? "irq_cpus" : finding->title;
}

/* Hides the parts of a table that a summary does not show: tables and columns that are not brief are data only. */
static void shorten(struct finding *finding, const struct analysis_ops *part)
{
	if (!finding->more)
		finding->more = part->name;
	for (size_t i = 0; i < finding->table.nr_columns; i++)
		finding->columns[i].flags = (finding->columns[i].flags & ~(uint32_t)(SPARE | DATA)) |
					    (finding->columns[i].flags & BRIEF ? 0 : DATA);
	if (!finding->sort)
		finding->left_away = table_keep(&finding->table, ROWS_UNSORTED);
}

/*
 * Reports which events of a recording for a summary are missing here; of a part without any of its events, only the
 * indispensable ones.
 */
static void put_missing(const struct summary_analysis *summary, const struct analysis_ops *part, bool any,
			struct findings *findings)
{
	size_t least = part->essential ? part->essential : 1;

	for (size_t i = 0; like[i]; i++)
		if (like[i] == part)
			pass_missing(summary->pass, part, any ? SIZE_MAX : least, findings);
}

static int put_part(const struct summary_analysis *summary, const struct summary_part *part, struct findings *findings,
		    struct fail *fail)
{
	struct fail why = FAIL_INIT;
	size_t from = findings->nr;
	int r = pass_finish_part(summary->pass, part->ops, part->analysis, findings, &why);

	/* What a tracer records is not missing unless the user asked for it. */
	if (r == -ENODATA && part->ops->tracer)
		return 0;
	if (r == -ENODATA)
		findings_note(findings, "weft %s: %s", part->ops->name, why.text);
	else if (r)
		return fail_set(fail, r, "%s", why.text);
	put_missing(summary, part->ops, !r, findings);
	while (from < findings->nr) {
		rename_twin(findings, &findings->items[from]);
		shorten(&findings->items[from++], part->ops);
	}
	return 0;
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct summary_analysis *summary = arg;
	int r = 0;

	put_facts(summary, findings);
	put_events(summary, findings);
	for (size_t i = 0; !r && i < summary->nr_parts; i++)
		r = put_part(summary, &summary->parts[i], findings, fail);
	return r;
}

const struct analysis_ops summary_analysis = {
	.name = "summary",
	.summary = "show on one page what a recording holds and what stands out",
	.wants = wants,
	.like = like,
	.option = "record-tgid",
	.rows_as_text = 5,
	.size = sizeof(struct summary_analysis),
	.init = init,
	.look = look,
	.see = see,
	.parts = parts,
	.divide = divide,
	.carry = carry,
	.finish = finish,
	.release = release,
};
