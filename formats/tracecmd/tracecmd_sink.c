// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lines of trace-cmd report: columns, losses, differences, and the text of each event. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sinks.h"
#include "formats/tracecmd/tracecmd_internal.h"
#include "formats/tracecmd/wakeups_internal.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/digits.h"
#include "lib/ground/base/escape.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/memo.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/buffers.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/plugin/foreign.h"

enum {
	COMM_WIDTH = 16,
	LATENCY_COMM = 8,
};

static void tracecmd_free(struct sink *sink)
{
	struct tracecmd *tracecmd = (struct tracecmd *)sink;
	uint64_t pid;
	size_t at = 0;

	for (char **name; (name = u64_map_next(&tracecmd->comms, &at, &pid));)
		free(*name);
	u64_map_release(&tracecmd->comms);
	tracecmd_stacks_release(tracecmd);
	tracecmd_unbind(tracecmd);
	free(tracecmd->names);
	free(tracecmd->prefix);
	free(tracecmd->lost);
	free(tracecmd);
}

/* The flags of -l end with common_migrate_disable and common_lock_depth, where the kernel has them. */
static void find_extra_fields(struct tracecmd *tracecmd)
{
	const struct context *context = tracecmd->context;
	const struct format *format = NULL;
	const char *system, *name;
	int32_t id;

	for (size_t i = 0; !format && schema_at(context->schema, i, &id, &system, &name); i++)
		format = schema_format(context->schema, id, NULL);
	place_bind(&tracecmd->migrate_disable, format, &context->abi, "common_migrate_disable");
	place_bind(&tracecmd->lock_depth, format, &context->abi, "common_preempt_lazy_count");
	place_bind(&tracecmd->lock_depth, format, &context->abi, "common_lock_depth");
	tracecmd->extra_fields = tracecmd->migrate_disable.field || tracecmd->lock_depth.field;
}

static void find_exit(struct tracecmd *tracecmd)
{
	const struct context *context = tracecmd->context;
	const struct format *format;

	tracecmd->exit_id = schema_find(context->schema, "ftrace", "funcgraph_exit");
	if (tracecmd->exit_id < 0)
		return;
	format = schema_format(context->schema, tracecmd->exit_id, NULL);
	place_bind(&tracecmd->exit_func, format, &context->abi, "func");
	place_bind(&tracecmd->exit_rettime, format, &context->abi, "rettime");
	place_bind(&tracecmd->exit_calltime, format, &context->abi, "calltime");
}

/* %ps is the name, %pS the name and the distance from it, without the size that the kernel prints. */
static bool env_symbol(const void *arg, uint64_t address, char how, struct out *out)
{
	struct symbol symbol;

	if (!symbols_find(arg, address, &symbol))
		return false;
	out_mem(out, symbol.name, symbol.name_len);
	if (how != 's')
		out_f(out, "+0x%" PRIx64, address - symbol.address);
	return true;
}

/*
 * In a file with several buffers each line begins with the name of its instance, that of the top one with blanks, or,
 * with several files, with the name of the file.
 */
static bool prefix_make(struct tracecmd *tracecmd)
{
	const char *name = tracecmd->context->instance;
	size_t width;

	if (buffers_count(tracecmd->context, &width) < 2 && !tracecmd->own.file)
		return true;
	if (!*name && tracecmd->own.file)
		name = tracecmd->own.file;
	if (width < tracecmd->own.width)
		width = tracecmd->own.width;
	return asprintf(&tracecmd->prefix, "%*s%c ", (int)width, name, *name ? ':' : ' ') >= 0;
}

static int tracecmd_new(const struct context *context, const struct sink_options *options, struct sink **ret,
			struct fail *fail)
{
	struct tracecmd *tracecmd = calloc(1, sizeof(*tracecmd));

	if (!tracecmd)
		return fail_memory(fail);
	tracecmd->sink = (struct sink){ .ops = &trace_cmd_sink, .context = context };
	tracecmd->context = context;
	tracecmd->options = *options;
	if (options->tracecmd)
		tracecmd->own = *options->tracecmd;
	tracecmd->counts = context->unit == CLOCK_UNIT_COUNT;
	tracecmd->times = options->times ? options->times : &tracecmd->own_times;
	tracecmd->env = context->env;
	tracecmd->env.libc_pointers = true;
	tracecmd->env.arg = context->symbols;
	tracecmd->env.symbol = env_symbol;
	tracecmd->names = memo_new();
	u64_map_init(&tracecmd->comms, sizeof(char *));
	u64_map_init(&tracecmd->stacks, sizeof(void *));
	find_extra_fields(tracecmd);
	find_exit(tracecmd);
	if (tracecmd->own.hz) {
		tracecmd->scale = (double)NS_PER_S / (double)tracecmd->own.hz;
		tracecmd->counts = false;
	}
	tracecmd->moves = tracecmd->own.hz || tracecmd->own.align;
	if (!prefix_make(tracecmd)) {
		tracecmd_free(&tracecmd->sink);
		return fail_memory(fail);
	}
	tracecmd->nr_lost = buffers_own_cpus(context) + 1;
	tracecmd->lost = calloc(tracecmd->nr_lost, sizeof(*tracecmd->lost));
	tracecmd->nr_bindings = EVENT_TYPES_MAX;
	tracecmd->bindings = calloc(EVENT_TYPES_MAX, sizeof(*tracecmd->bindings));
	if (!tracecmd->lost || !tracecmd->bindings) {
		tracecmd_free(&tracecmd->sink);
		return fail_memory(fail);
	}
	*ret = &tracecmd->sink;
	return 0;
}

static void tracecmd_begin(struct sink *sink, struct out *out)
{
	const struct tracecmd *tracecmd = (const struct tracecmd *)sink;

	if (buffers_own_is_first(tracecmd->context))
		out_f(out, "%scpus=%u\n", tracecmd->own.file ? tracecmd->prefix : "",
		      buffers_cpu_count(tracecmd->context));
}

/* The loss is told with the next event of its CPU. */
static void note_lost(struct tracecmd *tracecmd, const struct event *event)
{
	int64_t *lost;

	if (event->cpu_index >= tracecmd->nr_lost)
		return;
	lost = &tracecmd->lost[event->cpu_index];
	if (event->lost <= 0 || *lost < 0)
		*lost = -1;
	else
		*lost += event->lost;
}

static uint64_t shown_time(const struct tracecmd *tracecmd, uint64_t ts)
{
	if (!tracecmd->moves)
		return ts;
	if (tracecmd->own.hz)
		ts = (uint64_t)((double)ts * tracecmd->scale);
	return tracecmd->own.align ? ts - tracecmd->times->first : ts;
}

/* Subtracts the times as printed. */
static void settle_difference(struct tracecmd *tracecmd, const struct event *event, struct tracecmd_note *note)
{
	struct sink_times *times = tracecmd->times;
	bool whole = tracecmd->options.nanoseconds || tracecmd->counts || tracecmd->own.raw_ts;
	uint64_t ts = shown_time(tracecmd, event->ts), now = whole ? ts : (ts + 500) / 1000;

	/* A time of 0 counts as no time. */
	note->has_delta = times->started && times->last;
	note->delta = now - times->last;
	times->started = true;
	times->last = now;
}

static bool tracecmd_settle(struct sink *sink, struct events *events, struct event *event)
{
	struct tracecmd *tracecmd = (struct tracecmd *)sink;
	struct tracecmd_note *note = tracecmd_note(event);
	const struct tracecmd_binding *binding;
	char **comm = NULL;

	if (__builtin_expect(event->kind == EVENT_LOST, 0)) {
		note_lost(tracecmd, event);
		return false;
	}
	/* Here, because the exit of a call that is left out still ends its entry. */
	if (__builtin_expect(event->flags & tracecmd->own.flags_out ||
				     (tracecmd->own.cpus && !cpus_has(tracecmd->own.cpus, event->cpu)),
			     0))
		return false;
	binding = tracecmd->bindings[event->type->index];
	if (__builtin_expect(!binding, 0))
		binding = tracecmd_bind(tracecmd, event->type);
	if (tracecmd->comms.len)
		comm = u64_map_find(&tracecmd->comms, (uint32_t)event->pid);
	*note = (struct tracecmd_note){ .comm = comm ? *comm : NULL };
	if (__builtin_expect(event->cpu_index < tracecmd->nr_lost && tracecmd->lost[event->cpu_index], 0)) {
		note->lost = tracecmd->lost[event->cpu_index];
		tracecmd->lost[event->cpu_index] = 0;
	}
	if (__builtin_expect(tracecmd->options.differences, 0))
		settle_difference(tracecmd, event, note);
	if (__builtin_expect(tracecmd->own.wakeups != NULL, 0))
		note->has_latency =
			wakeups_see(tracecmd->own.wakeups, event, shown_time(tracecmd, event->ts), &note->value);
	if (binding && binding->text && binding->text->settle && !binding->raw)
		return binding->text->settle(tracecmd, binding, events, event);
	return true;
}

static char *put_left(char *at, int32_t value, unsigned width)
{
	char *end = at + width;

	at = digits_put_s64(at, value);
	while (at < end)
		*at++ = ' ';
	return at;
}

/* "%d" of a count that is not 0, else a dot */
static void put_count(const struct place *place, const struct event *event, struct out *out)
{
	int64_t count = place_s64(place, event);

	if (!place->field)
		return;
	if (place->size == 1)
		count = (uint8_t)count;
	if (count < 0)
		out_char(out, '.');
	else
		out_s64(out, count);
}

static void put_flags(const struct tracecmd *tracecmd, const struct event *event, struct out *out)
{
	static const char digits[] = ".123456789abcdef";
	unsigned flags = event->flags;

	if (tracecmd->options.raw) {
		out_f(out, "-0x%x", flags);
		return;
	}
	out_need(out, 8);
	*out->at++ = flags & EVENT_IRQS_OFF ? 'd' : flags & EVENT_NEED_RESCHED_LAZY ? 'X' : '.';
	*out->at++ = flags & EVENT_NEED_RESCHED ? 'N' : '.';
	*out->at++ = flags & EVENT_HARDIRQ ? flags & EVENT_SOFTIRQ ? 'H' : 'h' : flags & EVENT_SOFTIRQ ? 's' : '.';
	*out->at++ = digits[event->preempt_count & 15];
	*out->at++ = digits[event->preempt_count >> 4];
	if (tracecmd->extra_fields) {
		put_count(&tracecmd->migrate_disable, event, out);
		put_count(&tracecmd->lock_depth, event, out);
	}
}

/* "%8.8s-%-5d %3d" and the flags */
static void put_latency_head(const struct tracecmd *tracecmd, const struct event *event, const char *name, size_t len,
			     struct out *out)
{
	if (len > LATENCY_COMM)
		len = LATENCY_COMM;
	out_need(out, TRACECMD_HEAD_MAX);
	memset(out->at, ' ', LATENCY_COMM - len);
	memcpy(out->at + LATENCY_COMM - len, name, len);
	out->at += LATENCY_COMM;
	*out->at++ = '-';
	out->at = put_left(out->at, event->pid, 5);
	*out->at++ = ' ';
	out->at = digits_put_right(out->at, event->cpu, 3);
	put_flags(tracecmd, event, out);
}

/* "%16s-%-5d [%03d]" */
static void put_head(const struct event *event, struct task_name name, struct out *out)
{
	char *at;

	out_need(out, TRACECMD_HEAD_MAX);
	at = out->at;
	if (__builtin_expect(name.len <= COMM_WIDTH, 1)) {
		memcpy(at, name.text + name.len - COMM_WIDTH, COMM_WIDTH);
		at += COMM_WIDTH;
	} else {
		out_mem(out, name.text, name.len);
		out_need(out, TRACECMD_HEAD_MAX);
		at = out->at;
	}
	*at++ = '-';
	at = put_left(at, event->pid, 5);
	memcpy(at, " [", 2);
	at += 2;
	at = event->cpu < 1000 ? digits_put_3(at, event->cpu) : digits_put_u64(at, event->cpu);
	*at++ = ']';
	out->at = at;
}

static void put_columns(const struct tracecmd *tracecmd, const struct event *event, struct out *out)
{
	const struct tracecmd_note *note = tracecmd_note_of(event);
	struct task_name name;
	char learned[2 * COMM_WIDTH + 1];

	if (__builtin_expect(note->comm != NULL, 0)) {
		/* The blanks before a name are part of the columns. */
		name.len = (uint32_t)strnlen(note->comm, COMM_WIDTH);
		memset(learned, ' ', COMM_WIDTH);
		memcpy(learned + COMM_WIDTH, note->comm, name.len);
		name.text = learned + COMM_WIDTH;
	} else {
		name = task_name(tracecmd->context->tasks, event->pid);
	}
	if (__builtin_expect(tracecmd->own.latency, 0)) {
		put_latency_head(tracecmd, event, name.text, name.len, out);
	} else {
		put_head(event, name, out);
		if (tracecmd->options.raw && tracecmd->own.latency)
			put_flags(tracecmd, event, out);
	}
	tracecmd_time(tracecmd, shown_time(tracecmd, event->ts), out);
	out_char(out, ':');
}

static void put_before(const struct tracecmd *tracecmd, const struct event *event, const struct tracecmd_note *note,
		       struct out *out)
{
	if (tracecmd->prefix)
		out_str(out, tracecmd->prefix);
	if (note->lost > 0)
		out_f(out, "CPU:%u [%" PRId64 " EVENTS DROPPED]\n", event->cpu, note->lost);
	else if (note->lost < 0)
		out_f(out, "CPU:%u [EVENTS DROPPED]\n", event->cpu);
}

static void put_difference(const struct tracecmd_note *note, struct out *out)
{
	char text[32] = "";

	if (note->has_delta)
		snprintf(text, sizeof(text), "(+%" PRId64 ")", (int64_t)note->delta);
	out_f(out, " %-8s", text);
}

void tracecmd_pretty(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding, const struct event *event,
		     struct out *out)
{
	if (binding->program)
		program_run(binding->program, &tracecmd->env, event->data, event->len, out);
}

static void put_text(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding, const struct event *event,
		     struct out *out)
{
	size_t from = out_len(out);

	out_short(out, binding->name, binding->name_len);
	if (__builtin_expect(binding->raw, 0))
		tracecmd_raw(tracecmd, binding, event, out);
	else if (__builtin_expect(binding->foreign, 0) && event->added)
		out_mem(out, event->added->text, event->added->len);
	else if (!binding->text || !binding->text->text(tracecmd, binding, event, out))
		tracecmd_pretty(tracecmd, binding, event, out);
	if (out_len(out) && out->at[-1] == '\n')
		out->at--;
	if (__builtin_expect(tracecmd->options.one_line, 0) &&
	    !(binding->text && binding->text->lines && !(binding->foreign && event->added)))
		escape_newlines(out, from);
}

static void tracecmd_format(const struct sink *sink, const struct event *event, struct out *out)
{
	const struct tracecmd *tracecmd = (const struct tracecmd *)sink;
	const struct tracecmd_binding *binding = tracecmd->bindings[event->type->index];
	const struct tracecmd_note *note = tracecmd_note_of(event);

	if (__builtin_expect(note->lost || tracecmd->prefix, 0))
		put_before(tracecmd, event, note, out);
	put_columns(tracecmd, event, out);
	if (__builtin_expect(tracecmd->options.differences, 0))
		put_difference(note, out);
	if (__builtin_expect(binding != NULL, 1))
		put_text(tracecmd, binding, event, out);
	if (__builtin_expect(note->has_latency, 0))
		out_f(out, " Latency: %" PRIu64 ".%03" PRIu64 " usecs", note->value / 1000, note->value % 1000);
	out_char(out, '\n');
}

static void tracecmd_end(struct sink *sink, struct out *out)
{
	const struct tracecmd *tracecmd = (const struct tracecmd *)sink;

	if (tracecmd->own.wakeups)
		wakeups_end(tracecmd->own.wakeups, out);
}

const struct sink_ops trace_cmd_sink = {
	.name = "trace-cmd",
	.summary = "the text of trace-cmd report",
	.tells_instance = true,
	.create = tracecmd_new,
	.free = tracecmd_free,
	.begin = tracecmd_begin,
	.settle = tracecmd_settle,
	.format = tracecmd_format,
	.end = tracecmd_end,
};
