// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/otlp.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/log.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/json_tree.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/pages/trace/trace.h"

enum { OTLP_TRACE_DIGITS = 32, OTLP_SPAN_DIGITS = 16 };

struct otlp_span {
	int64_t start, end; /* ns since 1970 */
	char trace[OTLP_TRACE_DIGITS + 1], id[OTLP_SPAN_DIGITS + 1], parent[OTLP_SPAN_DIGITS + 1];
	uint8_t kind, joined; /* enum otlp_joined */
	bool failed;          /* its status is an error */
	bool nests;           /* it is a span of its thread */
	int64_t pid, tid;     /* as it says, then as the recording knows them; 0: unknown */
	uint32_t name, service, thread, container, program; /* numbers of texts; of the thread its name */
};

/* Something that is printed at a time. */
struct otlp_item {
	int64_t ns;
	uint32_t span, order;
	bool ends;
};

struct otlp {
	struct otlp_tasks *tasks; /* NULL: no recording */
	struct labels texts;      /* "" is the first one */
	struct otlp_span *spans;
	size_t nr_spans;
	struct otlp_item *items;
	size_t nr_items, given_items;
	struct buf out;
	size_t given; /* of `out` */
	struct otlp_counts counts;
};

static inline const char *otlp_text(const struct otlp *otlp, uint32_t number)
{
	return number < otlp->texts.nr ? otlp->texts.at[number].text : "";
}

/*
 * Which task of a recording a span belongs to: from its lists of tasks, with the number that each has in its own PID
 * namespace, and from its events. Where several tasks could be meant, none is.
 */

enum { COMM_LEN = TASK_COMM_LEN - 1, LINE_MOST = 4096, TASKS_MAX = 1 << 20 };

struct task {
	int32_t tid, tgid, inner;
	char name[COMM_LEN + 1];
};

struct otlp_tasks {
	struct context *context;
	struct task *at; /* by process, then by number */
	size_t nr;
	/* The last answer of process_of(): spans of one process follow one another. */
	struct {
		int64_t pid, process;
		uint32_t container, program;
	} last;
};

static void otlp_tasks_free(struct otlp_tasks *tasks)
{
	if (!tasks)
		return;
	context_free(tasks->context);
	free(tasks->at);
	free(tasks);
}

static int add(struct otlp_tasks *tasks, const struct task *task, struct fail *fail)
{
	struct task *added = tasks->nr < TASKS_MAX ? vec_push(tasks->at, tasks->nr) : NULL;

	if (!added)
		return tasks->nr < TASKS_MAX ? fail_memory(fail) : 0;
	*added = *task;
	return 0;
}

/* The lines "TID TGID PPID STARTTIME UID NSPID CGROUP\tNAME..." of weft/tasks (weft-dat(5)). */
static int take_list(struct otlp_tasks *tasks, struct trace_text list, struct fail *fail)
{
	const char *at = list.text, *end = at ? at + list.len : at;
	int r = 0;

	while (!r && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);
		char line[LINE_MOST], *name;
		struct task task = { .tid = 0 };

		if (len && len < sizeof(line)) {
			memcpy(line, at, len);
			line[len] = '\0';
			name = strchr(line, '\t');
			if (name) {
				*name++ = '\0';
				snprintf(task.name, sizeof(task.name), "%.*s", (int)strcspn(name, "\t"), name);
			}
			if (sscanf(line, "%" SCNd32 " %" SCNd32 " %*s %*s %*s %" SCNd32, &task.tid, &task.tgid,
				   &task.inner) == 3 &&
			    task.tid > 0)
				r = add(tasks, &task, fail);
		}
		at = newline ? newline + 1 : end;
	}
	return r;
}

/* Tasks that began and ended while it was recorded are in no list. */
static int take_names(struct otlp_tasks *tasks, struct trace *recording, struct fail *fail)
{
	struct trace_text names;
	int r = trace_meta(recording, TRACE_CMDLINES, &names, fail);
	const char *at = names.text, *end = r || !at ? at : at + names.len;

	while (!r && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);
		char line[64];
		struct task task = { .tid = 0 };

		snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : sizeof(line) - 1), at);
		if (sscanf(line, "%" SCNd32 " %15[^\n]", &task.tid, task.name) == 2 && task.tid > 0) {
			task.tgid = who_process(tasks->context, task.tid, UINT64_MAX, NULL);
			task.inner = task.tid;
			r = task.tgid ? add(tasks, &task, fail) : 0;
		}
		at = newline ? newline + 1 : end;
	}
	return r;
}

static int by_process(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int otlp_tasks_new(struct trace *recording, struct otlp_tasks **ret, struct fail *fail)
{
	struct otlp_tasks *tasks = calloc(1, sizeof(*tasks));
	size_t nr = 0;
	int r = tasks ? context_new(recording, 0, &tasks->context, fail) : fail_memory(fail);

	/* Of two lines about a task either one counts: they hardly differ. */
	if (!r)
		r = take_list(tasks, trace_setting(recording, 0, "weft/tasks"), fail);
	if (!r)
		r = take_list(tasks, trace_setting(recording, 0, "weft/tasks_end"), fail);
	if (!r)
		r = take_names(tasks, recording, fail);
	if (r) {
		otlp_tasks_free(tasks);
		return r;
	}
	if (tasks->nr)
		qsort(tasks->at, tasks->nr, sizeof(*tasks->at), by_process);
	for (size_t i = 0; i < tasks->nr; i++)
		if (!nr || by_process(&tasks->at[nr - 1], &tasks->at[i]) != 0)
			tasks->at[nr++] = tasks->at[i];
	tasks->nr = nr;
	*ret = tasks;
	return 0;
}

/* The first task of the process, or of the next one. */
static size_t first_of(const struct otlp_tasks *tasks, int64_t tgid)
{
	return vec_count(tasks->nr, i, tasks->at[i].tgid < tgid);
}

/* What the recording calls a task of a process; NULL: unknown. */
static const char *otlp_task_name(const struct otlp_tasks *tasks, int64_t process, int64_t pid)
{
	struct task_name name = tasks ? context_comm(tasks->context, (int32_t)pid, COMMS_LAST) :
					(struct task_name){ .text = task_no_name };

	if (name.text != task_no_name)
		return name.text;
	for (size_t i = tasks ? first_of(tasks, process) : 0; tasks && i < tasks->nr; i++) {
		if (tasks->at[i].tgid != process)
			break;
		if (tasks->at[i].tid == pid && *tasks->at[i].name)
			return tasks->at[i].name;
	}
	return NULL;
}

/* When the span began, in the recording's own time; 0: the recording does not tell the time of day. */
static uint64_t time_of(const struct otlp_tasks *tasks, const struct otlp_span *span)
{
	uint64_t ts = 0;

	return wall_places(tasks->context->wall, span->start, &ts, 1) ? ts : 0;
}

static bool is_in_container(const struct otlp_tasks *tasks, int32_t pid, uint64_t ts, const char *id)
{
	const char *text =
		who_text(tasks->context, WHO_CONTAINER, who_is(tasks->context, WHO_CONTAINER, pid, ts, NULL));

	return *text && who_text_matches(WHO_CONTAINER, id, text);
}

/*
 * The process that says of itself that it has this number: in its own namespace, so of another container another one
 * may say the same, which the container and the program tell apart. 0: none, -1: several.
 */
static int64_t process_of(const struct otlp *otlp, const struct otlp_span *span, uint64_t ts)
{
	const struct otlp_tasks *tasks = otlp->tasks;
	const char *container = otlp_text(otlp, span->container), *program = otlp_text(otlp, span->program);
	int64_t found = 0, named = 0;

	for (size_t i = 0; i < tasks->nr; i++) {
		const struct task *task = &tasks->at[i];

		if (task->tid != task->tgid || task->inner != span->pid)
			continue;
		if (*container && !is_in_container(tasks, task->tid, ts, container))
			continue;
		found = found ? -1 : task->tid;
		if (*program && !strncmp(task->name, program, COMM_LEN))
			named = named ? -1 : task->tid;
	}
	if (found < 0 && named > 0)
		return named;
	if (!found && who_process(tasks->context, (int32_t)span->pid, ts, NULL) == span->pid)
		return span->pid;
	return found;
}

/* The thread of the process that has this number, in either namespace; 0: none or several. */
static int64_t thread_by_number(const struct otlp_tasks *tasks, int64_t process, int64_t tid, uint64_t ts)
{
	int64_t found = 0;

	for (size_t i = first_of(tasks, process); i < tasks->nr && tasks->at[i].tgid == process; i++)
		if (tasks->at[i].inner == tid || tasks->at[i].tid == tid)
			found = found ? -1 : tasks->at[i].tid;
	if (!found && who_process(tasks->context, (int32_t)tid, ts, NULL) == process)
		return tid;
	return found > 0 ? found : 0;
}

/* The only thread of this name; without a name the only one. 0: none or several. */
static int64_t thread_by_name(const struct otlp_tasks *tasks, int64_t process, const char *name)
{
	int64_t found = 0;

	for (size_t i = first_of(tasks, process); i < tasks->nr && tasks->at[i].tgid == process; i++)
		if (!*name || !strncmp(tasks->at[i].name, name, COMM_LEN))
			found = found ? -1 : tasks->at[i].tid;
	return found > 0 ? found : 0;
}

/* The same as before as long as the question is. */
static int64_t process_again(struct otlp *otlp, const struct otlp_span *span, uint64_t ts)
{
	struct otlp_tasks *tasks = otlp->tasks;

	if (tasks->last.pid != span->pid || tasks->last.container != span->container ||
	    tasks->last.program != span->program || !tasks->last.process) {
		tasks->last.process = process_of(otlp, span, ts);
		tasks->last.pid = span->pid;
		tasks->last.container = span->container;
		tasks->last.program = span->program;
	}
	return tasks->last.process;
}

static enum otlp_joined join_told(struct otlp_span *span)
{
	if (span->tid) {
		span->pid = span->pid ? span->pid : span->tid;
		return OTLP_BY_THREAD;
	}
	return span->pid ? OTLP_BY_PROCESS : OTLP_BY_TIME;
}

static enum otlp_joined join_recorded(struct otlp *otlp, struct otlp_span *span)
{
	const struct otlp_tasks *tasks = otlp->tasks;
	uint64_t ts = time_of(tasks, span);
	int64_t process, tid;

	if (!span->pid && span->tid)
		span->pid = who_process(tasks->context, (int32_t)span->tid, ts, NULL);
	process = span->pid ? process_again(otlp, span, ts) : 0;
	otlp->counts.absent += span->pid && !process;
	tid = process > 0 && span->tid ? thread_by_number(tasks, process, span->tid, ts) : 0;
	span->pid = process > 0 ? process : 0;
	span->tid = tid;
	if (tid)
		return OTLP_BY_THREAD;
	if (!span->pid)
		return OTLP_BY_TIME;
	/* A runtime may call the only thread otherwise: "MainThread". */
	span->tid = thread_by_name(tasks, span->pid, otlp_text(otlp, span->thread));
	if (!span->tid)
		span->tid = thread_by_name(tasks, span->pid, "");
	return span->tid ? OTLP_BY_NAME : OTLP_BY_PROCESS;
}

/* Finds the task of a span, and sets how. */
static void otlp_join(struct otlp *otlp, struct otlp_span *span)
{
	span->joined = (uint8_t)(otlp->tasks ? join_recorded(otlp, span) : join_told(span));
}

enum { BATCH = 512 };

/* The order. */

static int by_thread(const void *a, const void *b)
{
	const struct otlp_span *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

static int by_time(const void *a, const void *b)
{
	const struct otlp_item *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static bool lines_add(struct otlp *otlp, uint32_t span, bool ends)
{
	uint32_t order = (uint32_t)otlp->nr_items;
	struct otlp_item *item = vec_push(otlp->items, otlp->nr_items);

	if (!item)
		return false;
	*item = (struct otlp_item){
		.ns = ends ? otlp->spans[span].end : otlp->spans[span].start, .span = span, .order = order, .ends = ends
	};
	return true;
}

/* The spans of a thread that are open. */
struct open {
	uint32_t *at;
	size_t nr;
	int64_t tid;
};

/* Ends what ends up to a time. */
static bool end_until(struct otlp *otlp, struct open *open, int64_t ns)
{
	while (open->nr && otlp->spans[open->at[open->nr - 1]].end <= ns)
		if (!lines_add(otlp, open->at[--open->nr], true))
			return false;
	return true;
}

/* Items of spans that lie in one another are in order, because each one ends before what is around it. */
static bool put_span(struct otlp *otlp, struct open *open, uint32_t number)
{
	struct otlp_span *span = &otlp->spans[number];
	uint32_t *pushed;

	if (span->tid != open->tid && !end_until(otlp, open, INT64_MAX))
		return false;
	open->tid = span->tid;
	if (!end_until(otlp, open, span->start))
		return false;
	span->nests = span->tid && (!open->nr || otlp->spans[open->at[open->nr - 1]].end >= span->end);
	otlp->counts.crossing += span->tid && !span->nests;
	if (!lines_add(otlp, number, false))
		return false;
	if (!span->nests)
		return lines_add(otlp, number, true);
	pushed = vec_push(open->at, open->nr);
	if (pushed)
		*pushed = number;
	return pushed;
}

/* Orders what is printed, after all spans have their tasks. */
static int otlp_order(struct otlp *otlp, struct fail *fail)
{
	struct open open = { .at = NULL };
	bool ok = true;

	if (otlp->nr_spans)
		qsort(otlp->spans, otlp->nr_spans, sizeof(*otlp->spans), by_thread);
	for (uint32_t i = 0; ok && i < otlp->nr_spans; i++)
		ok = put_span(otlp, &open, i);
	ok = ok && end_until(otlp, &open, INT64_MAX);
	free(open.at);
	if (otlp->nr_items)
		qsort(otlp->items, otlp->nr_items, sizeof(*otlp->items), by_time);
	return ok ? 0 : fail_memory(fail);
}

/* The lines. */

static bool put_head(struct otlp *otlp, const struct otlp_span *span, int64_t ns)
{
	int64_t pid = span->tid ? span->tid : span->pid ? span->pid : LOG_NO_PID;
	const char *name = pid == LOG_NO_PID ? "otlp" : otlp_task_name(otlp->tasks, span->pid, pid);
	char time[TEXT_HUMAN];

	if (!name)
		name = span->thread && span->tid ? otlp_text(otlp, span->thread) : otlp_text(otlp, span->service);
	return buf_addf(&otlp->out, "%16.15s-%-7" PRId64 " [000] ..... %s: ", *name ? name : "otlp", pid,
			text_seconds(time, (uint64_t)ns));
}

/* A text as a part of a mark, where bars separate the parts. */
static bool put_name(struct otlp *otlp, const char *name, bool bars)
{
	size_t from = otlp->out.len;

	if (!buf_add_str(&otlp->out, *name ? name : "(no name)"))
		return false;
	for (size_t i = from; !bars && i < otlp->out.len; i++)
		if (otlp->out.data[i] == '|')
			otlp->out.data[i] = '/';
	return true;
}

/* The 59 bits of the id that a cookie has room for: the same as those of the programs in weft-mark(1). */
static uint64_t cookie_of(const struct otlp_span *span)
{
	return strtoull(span->id, NULL, 16) >> 5;
}

static bool put_mark(struct otlp *otlp, const struct otlp_span *span, bool ends)
{
	const char *name = otlp_text(otlp, span->name);
	char rest[32];

	if (span->nests && ends)
		return buf_addf(&otlp->out, "otlp: E|%" PRId64 "\n", span->pid);
	if (span->nests)
		return buf_addf(&otlp->out, "otlp: B|%" PRId64 "|", span->pid) && put_name(otlp, name, true) &&
		       buf_add_str(&otlp->out, "\n");
	snprintf(rest, sizeof(rest), "|%" PRIu64 "\n", cookie_of(span));
	if (!buf_addf(&otlp->out, "otlp: %c|%" PRId64 "|%s", ends ? 'H' : 'G', span->pid, span->trace))
		return false;
	return ends ? buf_add_str(&otlp->out, rest) :
		      buf_add_str(&otlp->out, "|") && put_name(otlp, name, false) && buf_add_str(&otlp->out, rest);
}

/* A value of the line of ids: blanks separate these. */
static bool put_word(struct otlp *otlp, const char *word)
{
	size_t from = otlp->out.len;

	if (!buf_add_str(&otlp->out, *word ? word : "-"))
		return false;
	for (size_t i = from; i < otlp->out.len; i++)
		if (otlp->out.data[i] == ' ' || otlp->out.data[i] == '=')
			otlp->out.data[i] = '_';
	return true;
}

static bool put_ids(struct otlp *otlp, const struct otlp_span *span)
{
	static const char *const kinds[] = { "unspecified", "internal", "server", "client", "producer", "consumer" };

	return buf_addf(&otlp->out,
			"otlp_span: trace_id=%s span_id=%s parent_span_id=%s joined=%s kind=%s status=%s "
			"lasted_ns=%" PRId64 " service=",
			span->trace, span->id, span->parent, otlp_joined_word(span->joined), kinds[span->kind],
			span->failed ? "error" : "ok", span->end - span->start) &&
	       put_word(otlp, otlp_text(otlp, span->service)) && buf_add_str(&otlp->out, " name=") &&
	       put_word(otlp, otlp_text(otlp, span->name)) && buf_add_str(&otlp->out, "\n");
}

static bool put_item(struct otlp *otlp, const struct otlp_item *item)
{
	const struct otlp_span *span = &otlp->spans[item->span];

	return put_head(otlp, span, item->ns) && put_mark(otlp, span, item->ends) &&
	       (item->ends || (put_head(otlp, span, item->ns) && put_ids(otlp, span)));
}

int otlp_read(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct otlp *otlp = arg;
	size_t left;

	if (otlp->given == otlp->out.len) {
		buf_clear(&otlp->out);
		otlp->given = 0;
		for (int i = 0; i < BATCH && otlp->given_items < otlp->nr_items; i++)
			if (!put_item(otlp, &otlp->items[otlp->given_items++]))
				return fail_memory(fail);
	}
	left = otlp->out.len - otlp->given;
	left = left < size ? left : size;
	if (left)
		memcpy(to, otlp->out.data + otlp->given, left);
	otlp->given += left;
	return (int)left;
}

bool otlp_samples(const struct otlp *otlp, struct buf *into)
{
	int64_t first = otlp->nr_items ? otlp->items[0].ns : 0;
	struct wall_sample sample = { .clock = LOG_CLOCK,
				      .lo = (uint64_t)first,
				      .hi = (uint64_t)first,
				      .wall_lo = first,
				      .wall_hi = first + 1,
				      .error_us = -1,
				      .why = WALL_LOG };

	return !first || wall_sample_put(&sample, into);
}

enum { READ_SIZE = 1 << 16, NAME_MOST = 256 };

/* What the resource says of all its spans. */
struct resource {
	int64_t pid;
	uint32_t service, container, program;
};

struct request {
	struct otlp *otlp;
	const char *text;
	struct json_tree tree;
	struct resource resource;
	struct fail *fail;
	bool starved;
};

int otlp_new(struct trace *recording, struct otlp **ret, struct fail *fail)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));
	bool is_new;
	int r = 0;

	if (!otlp)
		return fail_memory(fail);
	labels_init(&otlp->texts);
	if (labels_add(&otlp->texts, "", 0, &is_new) == LABEL_NONE)
		r = fail_memory(fail);
	if (!r && recording)
		r = otlp_tasks_new(recording, &otlp->tasks, fail);
	if (r)
		otlp_free(otlp);
	else
		*ret = otlp;
	return r;
}

void otlp_free(struct otlp *otlp)
{
	if (!otlp)
		return;
	otlp_tasks_free(otlp->tasks);
	labels_release(&otlp->texts);
	free(otlp->spans);
	free(otlp->items);
	buf_release(&otlp->out);
	free(otlp);
}

const struct otlp_counts *otlp_counts(const struct otlp *otlp)
{
	return &otlp->counts;
}

const char *otlp_joined_word(enum otlp_joined joined)
{
	static const char *const words[] = { [OTLP_BY_THREAD] = "thread",
					     [OTLP_BY_NAME] = "name",
					     [OTLP_BY_PROCESS] = "process",
					     [OTLP_BY_TIME] = "time" };

	return words[joined];
}

/* The values of a request. */

/* protobuf's JSON has numbers of 64 bits as strings; others write plain numbers. */
static bool number_of(const struct json_node *node, int64_t *ret)
{
	struct json_node plain;

	if (!node)
		return false;
	plain = *node;
	if (node->kind == JSON_STRING) {
		plain = (struct json_node){ .kind = JSON_NUMBER, .at = node->at + 1, .len = node->len - 2 };
		if (!plain.len)
			return false;
	}
	return json_tree_number(&plain, ret);
}

/* The number of a text, whose control characters become blanks; of an absent one 0. */
static uint32_t text_of(struct request *request, const struct json_node *node)
{
	cleanup_buf struct buf text = BUF_INIT;
	uint32_t number;
	bool is_new;

	if (!json_tree_string(node, &text) || !text.len)
		return 0;
	text.len = text.len < NAME_MOST ? text.len : NAME_MOST;
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
			text.data[i] = ' ';
	number = labels_add(&request->otlp->texts, text.data, text.len, &is_new);
	request->starved |= number == LABEL_NONE;
	return number == LABEL_NONE ? 0 : number;
}

/* An id of so many hexadecimal digits, in small letters; zeros without one. */
static bool id_of(const struct json_node *node, char *into, size_t digits)
{
	bool any = false;

	memset(into, '0', digits);
	into[digits] = '\0';
	if (!node || node->kind != JSON_STRING || node->len != digits + 2)
		return false;
	for (size_t i = 0; i < digits; i++)
		if (!isxdigit((unsigned char)node->at[1 + i]))
			return false;
	for (size_t i = 0; i < digits; i++) {
		into[i] = (char)tolower((unsigned char)node->at[1 + i]);
		any |= into[i] != '0';
	}
	return any;
}

/* The value of an attribute, as what it holds: {"stringValue": "x"}. */
static const struct json_node *value_of(const struct request *request, const struct json_node *of, const char *key)
{
	const struct json_node *list = json_tree_member(&request->tree, of, "attributes"), *value;

	if (!list || list->kind != JSON_ARRAY)
		return NULL;
	for (uint32_t at = list->first; at; at = request->tree.nodes[at].next) {
		const struct json_node *item = &request->tree.nodes[at];

		if (!json_tree_is(json_tree_member(&request->tree, item, "key"), key))
			continue;
		value = json_tree_member(&request->tree, item, "value");
		if (!value || value->kind != JSON_OBJECT || !value->first)
			return NULL;
		return &request->tree.nodes[request->tree.nodes[value->first].next];
	}
	return NULL;
}

static int64_t pid_of(const struct request *request, const struct json_node *of, const char *key)
{
	int64_t number;

	return number_of(value_of(request, of, key), &number) && number > 0 && number < LOG_NO_PID ? number : 0;
}

/* The names under which programs write the kernel's number of a thread: no convention has one. */
static int64_t thread_of(const struct request *request, const struct json_node *span)
{
	static const char *const keys[] = { "thread.native_id", "thread.native.id", "linux.tid", "os.thread.id" };
	int64_t tid = 0;

	for (size_t i = 0; !tid && i < sizeof(keys) / sizeof(*keys); i++)
		tid = pid_of(request, span, keys[i]);
	return tid;
}

/* Some write 2 for what is an error, others its name. */
static bool is_error(const struct request *request, const struct json_node *node)
{
	const struct json_node *status = json_tree_member(&request->tree, node, "status");
	const struct json_node *code = json_tree_member(&request->tree, status, "code");
	int64_t number;

	return json_tree_is(code, "STATUS_CODE_ERROR") || (number_of(code, &number) && number == 2);
}

static uint8_t kind_of(const struct json_node *node)
{
	static const char *const names[] = { "SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER",
					     "SPAN_KIND_CLIENT",      "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER" };
	int64_t number;

	if (number_of(node, &number))
		return number > 0 && number < 6 ? (uint8_t)number : 0;
	for (uint8_t i = 0; i < 6; i++)
		if (json_tree_is(node, names[i]))
			return i;
	return 0;
}

static int take_span(struct request *request, const struct json_node *node)
{
	const struct json_tree *tree = &request->tree;
	struct otlp *otlp = request->otlp;
	struct otlp_span span = { .pid = request->resource.pid, .service = request->resource.service }, *added;
	int64_t pid;

	if (!number_of(json_tree_member(tree, node, "startTimeUnixNano"), &span.start) ||
	    !number_of(json_tree_member(tree, node, "endTimeUnixNano"), &span.end) || span.start <= 0 ||
	    span.end < span.start || span.end > INT64_MAX / 4 ||
	    !id_of(json_tree_member(tree, node, "traceId"), span.trace, OTLP_TRACE_DIGITS) ||
	    !id_of(json_tree_member(tree, node, "spanId"), span.id, OTLP_SPAN_DIGITS)) {
		otlp->counts.refused++;
		return 0;
	}
	if (otlp->nr_spans >= OTLP_SPANS_MAX)
		return fail_set(request->fail, -E2BIG, "there are more than %d spans", OTLP_SPANS_MAX);
	(void)id_of(json_tree_member(tree, node, "parentSpanId"), span.parent, OTLP_SPAN_DIGITS);
	span.kind = kind_of(json_tree_member(tree, node, "kind"));
	span.failed = is_error(request, node);
	span.name = text_of(request, json_tree_member(tree, node, "name"));
	span.thread = text_of(request, value_of(request, node, "thread.name"));
	span.container = request->resource.container;
	span.program = request->resource.program;
	span.tid = thread_of(request, node);
	pid = pid_of(request, node, "process.pid");
	span.pid = pid ? pid : span.pid;
	added = vec_push(otlp->spans, otlp->nr_spans);
	if (!added || request->starved)
		return fail_memory(request->fail);
	*added = span;
	return 0;
}

/* Calls `see` with each member of the array. */
static int each(struct request *request, const struct json_node *of, const char *key,
		int (*see)(struct request *request, const struct json_node *node))
{
	const struct json_node *list = json_tree_member(&request->tree, of, key);
	int r = 0;

	if (!list || list->kind != JSON_ARRAY)
		return 0;
	for (uint32_t at = list->first; !r && at; at = request->tree.nodes[at].next)
		r = see(request, &request->tree.nodes[at]);
	return r;
}

static int take_scope(struct request *request, const struct json_node *node)
{
	return each(request, node, "spans", take_span);
}

static int take_resource(struct request *request, const struct json_node *node)
{
	const struct json_node *resource = json_tree_member(&request->tree, node, "resource");
	int r;

	request->resource = (struct resource){
		.pid = pid_of(request, resource, "process.pid"),
		.service = text_of(request, value_of(request, resource, "service.name")),
		.container = text_of(request, value_of(request, resource, "container.id")),
		.program = text_of(request, value_of(request, resource, "process.executable.name")),
	};
	r = each(request, node, "scopeSpans", take_scope);
	/* The name before version 0.19 of the protocol. */
	return r ? r : each(request, node, "instrumentationLibrarySpans", take_scope);
}

static int take_request(struct otlp *otlp, const char *text, size_t len, struct fail *fail)
{
	struct request request = { .otlp = otlp, .text = text, .fail = fail };
	const struct json_node *top;
	int r = json_tree_parse_most(text, len, OTLP_VALUES_MAX, &request.tree, fail);

	if (r)
		return r;
	top = json_tree_top(&request.tree);
	if (!json_tree_member(&request.tree, top, "resourceSpans"))
		r = fail_set(fail, -EBADMSG, "it has no 'resourceSpans', as OTLP/JSON has");
	if (!r)
		r = each(&request, top, "resourceSpans", take_resource);
	json_tree_release(&request.tree);
	return r;
}

/* The text, up to where a request ends. */
struct scan {
	struct buf text;
	size_t at; /* what is before it was looked at */
	unsigned depth;
	bool in_string, escaped;
};

/* Looks for the end of a value that begins with a brace. */
static bool find_end(struct scan *scan)
{
	for (; scan->at < scan->text.len; scan->at++) {
		char c = scan->text.data[scan->at];

		if (scan->escaped) {
			scan->escaped = false;
		} else if (scan->in_string) {
			scan->escaped = c == '\\';
			scan->in_string = c != '"';
		} else if (c == '"') {
			scan->in_string = true;
		} else if (c == '{' || c == '[') {
			scan->depth++;
		} else if ((c == '}' || c == ']') && scan->depth && !--scan->depth) {
			scan->at++;
			return true;
		}
	}
	return false;
}

static bool is_blank(const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (!isspace((unsigned char)text->data[i]))
			return false;
	return true;
}

/* Takes all requests that have ended. */
static int take_whole(struct otlp *otlp, struct scan *scan, uint64_t *number, struct fail *fail)
{
	size_t from = 0;
	int r = 0;

	while (!r && find_end(scan)) {
		r = take_request(otlp, scan->text.data + from, scan->at - from, fail);
		if (r)
			r = fail_in(fail, r, "request %" PRIu64, *number);
		++*number;
		from = scan->at;
	}
	memmove(scan->text.data, scan->text.data + from, scan->text.len - from);
	scan->text.len -= from;
	scan->at -= from;
	return r;
}

static int take_all(struct otlp *otlp, const struct import_source *source, struct fail *fail)
{
	struct scan scan = { .text = BUF_INIT };
	uint64_t number = 1;
	int r = 0, got = 1;

	while (!r && got > 0) {
		if (scan.text.len > OTLP_REQUEST_MAX)
			r = fail_set(fail, -E2BIG, "request %" PRIu64 " is longer than %d MiB", number,
				     OTLP_REQUEST_MAX >> 20);
		else if (!buf_reserve(&scan.text, READ_SIZE))
			r = fail_memory(fail);
		if (r)
			break;
		got = source->read(source->arg, (uint8_t *)scan.text.data + scan.text.len, READ_SIZE, fail);
		if (got > 0) {
			scan.text.len += (size_t)got;
			r = take_whole(otlp, &scan, &number, fail);
		}
	}
	if (!r && got < 0)
		r = got;
	if (!r && !is_blank(&scan.text))
		r = fail_set(fail, -EBADMSG, "request %" PRIu64 " does not end: the text is no OTLP/JSON, or was cut",
			     number);
	buf_release(&scan.text);
	return r;
}

int otlp_take(struct otlp *otlp, const struct import_source *source, struct fail *fail)
{
	int r = take_all(otlp, source, fail);

	for (size_t i = 0; !r && i < otlp->nr_spans; i++) {
		otlp_join(otlp, &otlp->spans[i]);
		otlp->counts.joined[otlp->spans[i].joined]++;
	}
	otlp->counts.spans = otlp->nr_spans;
	return r ? r : otlp_order(otlp, fail);
}
