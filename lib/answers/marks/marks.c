// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/marks/marks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/mark.h"
#include "lib/meaning/reader/reader.h"

/*
 * The spans that programs mark: how often, how long, and what their time was spent on. A span of a thread has the parts
 * of that thread's time; one of a process has none, because any of its threads may have worked for it.
 */

static const struct analysis_want wants[] = {
	{ "ftrace:print", NULL, "what programs mark" },
	{ "sched:sched_switch", NULL, "on a CPU, blocked or waiting" },
	ANALYSIS_WANTS_WAKING,
	{ "raw_syscalls:sys_enter", "syscalls:sys_enter_*", "in which system call a task was blocked" },
	{ "raw_syscalls:sys_exit", "syscalls:sys_exit_*", "when a system call ends" },
	{ "irq:irq_handler_entry,irq:irq_handler_exit,irq:softirq_entry,irq:softirq_exit", NULL,
	  "what interrupts took" },
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

enum role { RAW_ENTER = 1, RAW_EXIT, ENTER, EXIT, ANY, MARK };

static const struct role_name role_names[] = {
	{ "raw_syscalls", "sys_enter", RAW_ENTER },
	{ "raw_syscalls", "sys_exit", RAW_EXIT },
	{ "syscalls", "sys_enter_*", ENTER },
	{ "syscalls", "sys_exit_*", EXIT },
	{ "*", "*", ANY },
	{ NULL, NULL, 0 },
};

/* Whom the task of the span belongs to now. */
static const char *group_of(const struct marks_analysis *marks, const struct marks_span *span)
{
	return pass_group_text(marks->pass, marks->part,
			       pass_group(marks->pass, marks->part, marks_task_of(marks, span)));
}

/* The row of a name; the first one, which is that of too many names, without room. */
static struct marks_row *row_of(struct marks_analysis *marks, const struct marks_span *span, uint32_t *ret_index)
{
	uint32_t label = LABEL_NONE;
	bool is_new;

	out_clear(&marks->scratch);
	if (span->async)
		out_char(&marks->scratch, '\t');
	if (marks->by == MARKS_BY_WHO)
		out_str(&marks->scratch, group_of(marks, span));
	else
		out_mem(&marks->scratch, span->name, span->name_len);
	if (marks->names.nr < MARKS_NAMES_MAX || marks->names.nr == 0)
		label = labels_add(&marks->names, marks->scratch.start, out_len(&marks->scratch), &is_new);
	*ret_index = label == LABEL_NONE ? 0 : label + 1;
	while (marks->nr_rows <= *ret_index)
		if (!vec_push(marks->rows, marks->nr_rows))
			return NULL;
	return &marks->rows[*ret_index];
}

static void begin(void *arg, const struct marks_span *span)
{
	struct marks_analysis *marks = arg;
	const struct state *state = &marks->pass->state;
	uint32_t id = span->pid || span->cpu < state->nr_cpus ? state_running(state, span->cpu) : STATE_NO_TASK;
	uint32_t cpu = span->cpu;
	struct marks_note *note = span->note;
	struct marks_task *task;

	/* Whoever wrote down afterwards what the task did knows no CPU. */
	if (marks->told && span->pid) {
		id = state_task_once(state, span->pid);
		cpu = id == STATE_NO_TASK ? cpu : state->tasks[id].cpu;
	}

	note->task = STATE_NO_TASK;
	if (span->async || id == STATE_NO_TASK || state->tasks[id].pid != span->pid)
		return;
	task = marks_task(marks, id);
	if (!task)
		return;
	note->task = id;
	note->outer = task->top;
	task->top = note;
	/* It got the CPU before the first mark, when nobody looked. */
	if (!task->runs && (!marks->told || state->tasks[id].mode == TASK_RUNNING))
		marks_parts_run(marks, task, cpu);
	note->then = marks_time_of(marks, id);
}

static void keep_slow(struct marks_analysis *marks, const struct marks_span *span, const struct marks_slow *slow)
{
	struct marks_slow *kept;

	if (!slowest_wants(&marks->slowest, slow->lasted))
		return;
	kept = slowest_add(&marks->slowest, slow->lasted, &marks->pass->failed);
	if (!kept)
		return;
	*kept = *slow;
	kept->cookie = span->cookie;
	kept->async = span->async;
	kept->pid = span->pid;
	kept->tgid = span->tgid;
	kept->cpu = marks->cpu;
	kept->at = span->to;
	kept->task = marks_task_of(marks, span);
	if (marks->by == MARKS_BY_WHO)
		kept->name = marks_text(marks, span->name, span->name_len);
}

static void add_row(struct marks_analysis *marks, struct marks_row *row, const struct marks_span *span,
		    const struct marks_slow *slow, uint64_t inner)
{
	row->async |= span->async;
	row->count++;
	row->total += slow->lasted;
	row->self += slow->lasted > inner ? slow->lasted - inner : 0;
	row->known += slow->known;
	for (size_t i = 0; slow->known && i < MARKS_PARTS; i++)
		row->parts[i] += slow->parts[i];
	samples_add(&row->lasted, &marks->pass->budget, slow->lasted);
	extreme_see(&row->longest, &(struct extreme){ .lasted = slow->lasted,
						      .from = span->start,
						      .to = span->to,
						      .cpu = marks->cpu,
						      .task = marks_task_of(marks, span) });
}

static void end(void *arg, const struct marks_span *span)
{
	struct marks_analysis *marks = arg;
	struct marks_note *note = span->note;
	struct marks_task *task = note->task == STATE_NO_TASK ? NULL : marks_task(marks, note->task);
	struct marks_slow slow = { .lasted = span->to - span->start, .task = note->task };
	bool wanted = marks_wants(marks, span), known = span->end == MARKS_KNOWN;
	struct marks_detail most = { .part = MARKS_ON_CPU };
	struct marks_row *row = NULL;
	uint32_t index = 0;

	if (wanted) {
		row = row_of(marks, span, &index);
		marks->pass->failed |= !row;
	}
	if (task && task->top == note)
		task->top = note->outer;
	if (task && note->outer)
		note->outer->inner += slow.lasted;
	if (row && !known) {
		row->lost++;
		row = NULL;
	}
	slow.name = index;
	slow.known = row && task && pass_switches(marks->pass);
	if (slow.known)
		marks_parts_of(marks, note, slow.lasted, slow.parts);
	marks_details_end(marks, note, slow.known ? index : UINT32_MAX, &most);
	slow.most = most.part;
	slow.call = most.call;
	slow.whom = most.whom;
	if (!row)
		return;
	add_row(marks, row, span, &slow, note->inner);
	keep_slow(marks, span, &slow);
}

/* In each interval from 0 on: so it is another number when the intervals are others. */
static uint64_t unknown(const void *arg, int32_t pid, const struct event *event)
{
	const struct marks_analysis *marks = arg;

	return state_unknown(&marks->pass->state, pid, event) ^ marks->generation << 48;
}

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct marks_analysis *marks = arg;
	const struct marks_calls calls = {
		.arg = marks, .note = sizeof(struct marks_note), .begin = begin, .end = end, .unknown = unknown
	};

	marks->pass = pass;
	if (options)
		marks->options = *(const struct row_options *)options;
	marks->by = marks->options.by < MARKS_BY_WHO ? MARKS_BY_NAME : MARKS_BY_WHO;
	marks->part = marks->by == MARKS_BY_WHO ? (enum who_part)(marks->options.by - MARKS_BY_WHO) : WHO_PROCESS;
	roles_init(&marks->roles, role_names);
	marks_init(&marks->marks, &calls);
	labels_init(&marks->names);
	labels_init(&marks->texts);
	u64_map_init(&marks->details, sizeof(struct marks_detail));
	slowest_init_rows(&marks->slowest, sizeof(struct marks_slow), &marks->options);
	return out_init(&marks->scratch, 256) && !kinds_init(&marks->sources, pass->reader->nr_buffers, free);
}

static void release(void *arg)
{
	struct marks_analysis *marks = arg;

	for (size_t i = 0; i < marks->nr_rows; i++)
		samples_release(&marks->rows[i].lasted);
	free(marks->rows);
	marks_parts_release(marks);
	marks_release(&marks->marks);
	u64_map_release(&marks->details);
	labels_release(&marks->names);
	labels_release(&marks->texts);
	roles_release(&marks->roles);
	kinds_release(&marks->sources);
	slowest_release(&marks->slowest);
	if (marks->scratch.start)
		out_release(&marks->scratch);
}

static uint8_t look(void *arg, const struct event *event)
{
	struct marks_analysis *marks = arg;
	struct mark_source source, *kept;
	bool fresh;
	uint8_t role = roles_of(&marks->roles, event, &fresh);

	if (role == RAW_ENTER || role == RAW_EXIT)
		(void)place_find(&marks->number[role == RAW_EXIT], event->type, "id");
	if (role != ANY || !mark_source_find(&source, event->type))
		return role ? role : ANY;
	kept = malloc(sizeof(*kept));
	if (kept)
		*kept = source;
	if (!kept || !kinds_set(&marks->sources, event, kept)) {
		marks->pass->failed = true;
		return ANY;
	}
	marks->some = true;
	return MARK;
}

static void see_mark(struct marks_analysis *marks, const struct event *event)
{
	const struct mark_source *source = kinds_find(&marks->sources, event);
	struct mark mark;

	if (!source || !mark_source_read(source, event, &marks->scratch, &mark))
		return;
	marks->any = true;
	marks->told = event->type->context->told;
	marks_see(&marks->marks, &mark, event);
}

static void see_call(struct marks_analysis *marks, const struct event *event, uint8_t role)
{
	const char *name = role == ENTER ? event->type->format->name + strlen("sys_enter_") : NULL;
	int64_t number = role == RAW_ENTER ? place_s64(&marks->number[0], event) : -1;

	marks_parts_call(marks, event, role == RAW_ENTER || role == ENTER, number, name);
}

__attribute__((noinline)) static void see_some(struct marks_analysis *marks, const struct event *event, uint8_t role)
{
	const struct state *state = &marks->pass->state;

	marks->cpu = event->cpu;
	marks_parts_see(marks, event);
	if (event->kind != EVENT_RECORD) {
		marks_lose(&marks->marks, state->gaps.nr ? state->gaps.items[state->gaps.nr - 1].from : event->ts);
		return;
	}
	if (state->step.kind == STEP_FORK)
		marks_renew(&marks->marks, state->tasks[state->step.task].pid, event->ts);
	if (role == MARK)
		see_mark(marks, event);
	else if (role != ANY && role != ROLE_NONE)
		see_call(marks, event, role);
}

/* Most recordings have none. */
static void see(void *arg, const struct event *event, uint8_t role)
{
	if (__builtin_expect(((struct marks_analysis *)arg)->some, 0))
		see_some(arg, event, role);
}

static const char *const by[] = { [MARKS_BY_NAME] = "name", [MARKS_BY_WHO] = WHO_WORDS, NULL };

const struct analysis_ops marks_analysis = {
	.name = "marks",
	.summary = "show how long the spans took that programs mark, and where their time went",
	.columns = marks_columns,
	.by = by,
	.wants = wants,
	.nothing = "there are no marks of programs among the events",
	.recorded_by = "-e ftrace:print",
	.essential = 1,
	.option = "record-tgid",
	.in_summary = true,
	.size = sizeof(struct marks_analysis),
	.init = init,
	.look = look,
	.across = true,
	.see = see,
	.divide = marks_divide,
	.carry = marks_carry,
	.finish = marks_finish,
	.release = release,
};
