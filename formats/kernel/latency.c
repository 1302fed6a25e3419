// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_output.c: trace_print_lat_context(). */
#include "formats/kernel/ftrace_sink_internal.h"

#include "formats/kernel/columns.h"
#include "formats/kernel/duration_internal.h"
#include "formats/kernel/ftrace.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/tasks.h"

enum { NAME_SHOWN = 8, NAME_VERBOSE = 16, MARK_THRESH = 100 };

void latency_start(struct columns *columns, const struct context *context)
{
	const struct events_options options = { .until = UINT64_MAX };
	struct events *events;
	struct event event;

	if (context->time_start_known) {
		columns->time_start = context->time_start;
		return;
	}
	/* The report's own pass reports damage in the file. */
	if (events_open(context, &options, &events, NULL))
		return;
	if (events_next(events, &event, NULL) > 0)
		columns->time_start = event.ts;
	events_free(events);
}

/* ns2usecs() */
static unsigned long long microseconds(uint64_t ns)
{
	return (ns + 500) / 1000;
}

/* An imported text may contradict itself. */
static uint64_t since_start(const struct columns *columns, const struct event *event)
{
	return event->ts > columns->time_start ? event->ts - columns->time_start : 0;
}

static void write_verbose_time(const struct columns *columns, const struct event *event, uint64_t delta,
			       struct out *out)
{
	uint64_t since = since_start(columns, event);
	unsigned long long us, delta_us;

	if (columns->counts) {
		out_f(out, "[%016llx] %lld (+%lld): ", (unsigned long long)event->ts, (long long)since,
		      (long long)delta);
		return;
	}
	us = microseconds(since);
	delta_us = microseconds(delta);
	out_f(out, "[%08llx] %llu.%03llums (+%llu.%03llums): ", microseconds(event->ts), us / 1000, us % 1000,
	      delta_us / 1000, delta_us % 1000);
}

static void write_verbose(const struct columns *columns, const struct event *event, const struct frame_note *note,
			  struct out *out)
{
	struct task_name name = task_name(columns->context->tasks, event->pid);
	unsigned depth = columns->migrate ? event->preempt_count & 15u : event->preempt_count;

	if (name.len < NAME_VERBOSE)
		out_fill(out, ' ', NAME_VERBOSE - name.len);
	out_mem(out, name.text, name.len);
	out_f(out, " %7d %3u %u %08x %08x ", event->pid, event->cpu, event->flags, depth, note->index);
	write_verbose_time(columns, event, note->delta, out);
}

/* lat_print_generic() */
static void write_task(const struct columns *columns, const struct event *event, struct out *out)
{
	struct task_name name = task_name(columns->context->tasks, event->pid);
	unsigned len = name.len < NAME_SHOWN ? name.len : NAME_SHOWN;

	out_fill(out, ' ', NAME_SHOWN - len);
	out_mem(out, name.text, len);
	out_f(out, "-%-*d %3u", columns->pid_width, event->pid, event->cpu);
	out_need(out, COLUMNS_FLAGS_MAX);
	out->at = columns_flags(columns, event, out->at);
}

/* Before 3.19, lat_print_timestamp() compares with 1 us and preempt_mark_thresh_us. */
static char mark_of(const struct columns *columns, uint64_t delta)
{
	unsigned long long us = microseconds(delta);

	if (!columns->old_marks)
		return duration_mark(us * 1000);
	return us > MARK_THRESH ? '!' : us > 1 ? '+' : ' ';
}

void latency_write(const struct columns *columns, const struct event *event, const struct frame_note *note,
		   struct out *out)
{
	uint64_t since = since_start(columns, event);

	if (!columns->info)
		return;
	if (columns->verbose) {
		write_verbose(columns, event, note, out);
		return;
	}
	write_task(columns, event, out);
	out_char(out, ' ');
	if (columns->counts) {
		out_f(out, "%4lld: ", (long long)since);
		return;
	}
	out_u64_pad(out, microseconds(since), 4, ' ');
	out_mem(out, "us", 2);
	out_char(out, mark_of(columns, note->delta));
	out_mem(out, ": ", 2);
}
