// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/explain/explained.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/explain/culprit_internal.h"
#include "lib/answers/explain/unusual_internal.h"
#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/uapi/arguments.h"

enum { MACHINE = sizeof(((struct context *)NULL)->machine) };

int explained_trigger(struct trace *trace, struct explained_trigger *ret, struct fail *fail)
{
	struct trace_text text = own_setting(trace, 0, "weft/trigger");
	char *space, *end;

	if (!text.text)
		return fail_set(fail, -ENODATA, "it is no file of weft flight: it has no trigger");
	ret->text = strndup(text.text, text.len);
	if (!ret->text)
		return fail_memory(fail);
	space = strchr(ret->text, ' ');
	ret->time = space ? strtoull(space + 1, &end, 10) : 0;
	if (!space || end == space + 1 || *end != ' ')
		return fail_set(fail, -EBADMSG, "it is damaged: its trigger has no time");
	*space = '\0';
	ret->name = ret->text;
	ret->reason = end + 1;
	end[1 + strcspn(end + 1, "\n")] = '\0';
	return 0;
}

/* The machine that the buffers are of, which has its own numbers of signals; "" where it is not known. */
static int find_machine(struct trace *trace, const struct query *query, char into[MACHINE], struct fail *fail)
{
	const struct query_manner manner = { .times_only = true };
	struct reader reader;
	int r;

	reader_init(&reader);
	r = query_add(query, &manner, trace, &reader, fail);
	snprintf(into, MACHINE, "%s", !r && reader.nr_buffers ? reader.buffers[0].context->machine : "");
	reader_release(&reader);
	return r;
}

static bool put_signal_name(const char *machine, uint64_t number, struct buf *into)
{
	const char *name = signal_name(machine, number);

	return name ? buf_add_str(into, name) : buf_addf(into, "signal %" PRIu64, number);
}

/* Whether a program sends a signal of this si_code, of include/uapi/asm-generic/siginfo.h; else the kernel does. */
static bool is_of_program(int64_t code)
{
	enum { SI_USER = 0, SI_QUEUE = -1, SI_TKILL = -6 };

	return code == SI_USER || code == SI_QUEUE || code == SI_TKILL;
}

/* "... comm=COMM pid=PID grp=0 res=0": a name may have anything. */
static const char *last_of(const char *text, const char *word)
{
	const char *found = NULL, *at = text;

	while ((at = strstr(at, word)))
		found = at++;
	return found;
}

static bool put_signal(const char *machine, const char *sender, const char *text, struct buf *into)
{
	const char *comm = strstr(text, " comm="), *pid = comm ? last_of(comm, " pid=") : NULL;
	const char *code = strstr(text, " code="), *res = pid ? strstr(pid, " res=") : NULL;
	char target[CULPRIT_TASK + 16];
	bool by_program = code && is_of_program(strtoll(code + strlen(" code="), NULL, 10)) && *sender, ok;

	if (!pid || !code || code > comm)
		return true;
	comm += strlen(" comm=");
	snprintf(target, sizeof(target), "%.*s-%" PRIu64, (int)(pid - comm < 15 ? pid - comm : 15), comm,
		 (uint64_t)strtoull(pid + strlen(" pid="), NULL, 10));
	ok = buf_addf(into, "%s sent ", by_program ? sender : "the kernel") &&
	     put_signal_name(machine, strtoull(text, NULL, 10), into) &&
	     buf_addf(into, " to %s", by_program && !strcmp(sender, target) ? "itself" : target);
	/* TRACE_SIGNAL_IGNORED of include/trace/events/signal.h */
	if (ok && res && strtoull(res + strlen(" res="), NULL, 10) == 1)
		ok = buf_add_str(into, ", where it is ignored");
	return ok;
}

/* Says in words what an event told that is itself the cause: a signal, or the end of a program. */
static bool put_event(const char *machine, const char *reason, struct buf *into)
{
	static const char signal[] = ": signal_generate: sig=", end[] = ": sys_exit_group(error_code: ";
	const char *sent = strstr(reason, signal), *ended = strstr(reason, end);
	char task[CULPRIT_TASK];

	culprit_task_of_text(reason, task);
	if (sent)
		return put_signal(machine, task, sent + strlen(signal), into);
	return !ended || !*task ||
	       buf_addf(into, "%s exited with status %" PRIu64, task,
			(uint64_t)strtoull(ended + strlen(end), NULL, 0) & 0xff);
}

/* Nothing to say is no failure: there may be no such events. */
static int find_culprit(struct trace *trace, const struct query *query, const struct explained_trigger *trigger,
			struct buf *into, struct fail *fail)
{
	struct culprit_asked asked = { .query = query, .at = trigger->time };
	char machine[MACHINE];
	int r;

	if (!culprit_of_text(trigger->reason, &asked)) {
		r = find_machine(trace, query, machine, fail);
		return !r && !put_event(machine, trigger->reason, into) ? fail_memory(fail) : r;
	}
	r = culprit_find(trace, &asked, into, fail);
	return r == -ENODATA ? 0 : r;
}

/* Where the time went of what the trigger waited for, if it is known. Of a wakeup the line of --brief says it all. */
static int find_why(struct trace *trace, const struct query *query, const struct explained_trigger *trigger, bool brief,
		    struct buf *into, struct fail *fail)
{
	struct culprit_asked asked = { .query = query, .at = trigger->time };
	bool some = culprit_of_text(trigger->reason, &asked) && !(brief && asked.slow->whose == SLOW_OF_NAME);
	int r = some ? culprit_why(trace, &asked, into, fail) : 0;

	/* "62 % of the 8.0 ms: unknown: ..." */
	if (!r && into->len && strstr(buf_str(into), ": unknown: "))
		buf_clear(into);
	return r;
}

static bool put_trigger(struct findings *findings, const struct explained_trigger *trigger, const struct buf *culprit,
			const struct buf *why)
{
	struct table *table = findings_facts(findings, "trigger", "the trigger");
	char stamp[TEXT_HUMAN];

	if (!table)
		return false;
	table_cell(table, "name");
	table_cell(table, trigger->name);
	table_cell(table, "time");
	table_cell(table, text_stamp(stamp, trigger->time));
	table_cell(table, "reason");
	table_cell(table, trigger->reason);
	if (!culprit->len)
		return true;
	table_cell(table, "because");
	table_cell_mem(table, culprit->data, culprit->len);
	if (!why->len)
		return true;
	table_cell(table, "why");
	table_cell_mem(table, why->data, why->len);
	return true;
}

static const char *text_at(const struct table *table, size_t column)
{
	const char *text = table_text_at(table, 0, column);

	return text ? text : "";
}

/* The line of --brief. */
static bool put_line(const struct findings *findings, const struct buf *culprit, const struct buf *why,
		     struct buf *into)
{
	const struct table *table = findings->nr > 1 ? &findings->items[1].table : NULL;
	bool seen;

	if (culprit->len)
		return buf_add(into, culprit->data, culprit->len) &&
		       (!why->len || (buf_add_str(into, "; ") && buf_add(into, why->data, why->len)));
	if (!table || !table->nr_items)
		return true;
	seen = strcmp(text_at(table, 4), "-") != 0;
	return buf_addf(into, "unusual: %s of %s, %s: %s, %s%s", text_at(table, 2), text_at(table, 1),
			text_at(table, 0), text_at(table, 3), seen ? "usually " : "not seen before",
			seen ? text_at(table, 4) : "");
}

/* The name of the trigger's own task: of "COMM-PID", or of the task that was woken. */
static void own_task(const struct explained_trigger *trigger, char into[CULPRIT_TASK])
{
	struct culprit_asked asked;
	char *dash;

	if (culprit_of_text(trigger->reason, &asked))
		memcpy(into, asked.task, CULPRIT_TASK);
	else
		culprit_task_of_text(trigger->reason, into);
	dash = strrchr(into, '-');
	if (dash && dash[1] && strspn(dash + 1, "0123456789") == strlen(dash + 1))
		*dash = '\0';
}

static int compare(struct explained *explained, struct trace *trace, const struct query *query,
		   const struct explained_trigger *trigger, struct findings *findings, struct fail *fail)
{
	char task[CULPRIT_TASK];
	const struct unusual_options options = {
		.query = query, .length_ns = explained->before_ns, .rows = UNUSUAL_ROWS, .task = task
	};
	struct unusual_span span = { .to = 0 };
	struct fail why = FAIL_INIT;
	char length[TEXT_HUMAN];
	int r;

	own_task(trigger, task);
	r = unusual_find(trace, &options, findings, &span, &why);
	text_time(length, span.length_ns);
	if (r == -ENODATA) {
		findings_note(findings, "nothing was compared: %s", why.text);
		return 0;
	}
	if (r)
		return fail_set(fail, r, "%s", why.text);
	if (!buf_addf(&explained->title,
		      "what was unusual in the %s before it, compared with the %zu times as long before", length,
		      span.intervals))
		return fail_memory(fail);
	findings->items[1].title = buf_str(&explained->title);
	if (!findings->items[1].table.nr_items)
		findings_note(findings, "nothing was unusual in the %s before it", length);
	return 0;
}

int explained_find(struct explained *explained, struct trace *trace, struct findings *findings, struct fail *fail)
{
	cleanup_buf struct buf culprit = BUF_INIT, why = BUF_INIT;
	struct query query = QUERY_INIT;
	struct explained_trigger trigger = { .text = NULL };
	int r = explained_trigger(trace, &trigger, fail);

	query.around = "trigger";
	findings->without_events = true;
	if (!r)
		r = find_culprit(trace, &query, &trigger, &culprit, fail);
	if (!r && culprit.len)
		r = find_why(trace, &query, &trigger, explained->brief, &why, fail);
	if (!r && !put_trigger(findings, &trigger, &culprit, &why))
		r = fail_memory(fail);
	if (!r && !(explained->brief && culprit.len))
		r = compare(explained, trace, &query, &trigger, findings, fail);
	if (!r && !put_line(findings, &culprit, &why, &explained->line))
		r = fail_memory(fail);
	free(trigger.text);
	return r;
}

void explained_release(struct explained *explained)
{
	buf_release(&explained->title);
	buf_release(&explained->line);
}
