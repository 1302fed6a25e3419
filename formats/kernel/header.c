// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace.c: s_show(), trace_default_header(), print_trace_header(). */
#include "formats/kernel/header_internal.h"

#include "formats/kernel/ftrace.h"
#include "formats/kernel/symbol.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/imported.h"

enum { TGID_COLUMN = 10 };

/* The rows of the legend of the flags column, top down; false after the last. */
static bool flag_name(const struct columns *columns, unsigned row, const char **ret)
{
	const char *names[8];
	unsigned count = 0;

	names[count++] = columns->bh_named && columns->nr_flags != 4 ? "irqs-off/BH-disabled" : "irqs-off";
	names[count++] = "need-resched";
	if (columns->lazy_columns)
		names[count++] = "need-resched-lazy";
	names[count++] = "hardirq/softirq";
	names[count++] = "preempt-depth";
	if (columns->lazy_columns)
		names[count++] = "preempt-lazy-depth";
	if (columns->migrate || columns->migrate_offset)
		names[count++] = "migrate-disable";
	if (row >= count)
		return false;
	*ret = names[row];
	return true;
}

/* The stairs that lead from a name to its column: `row` bars, then a corner. */
static void legend_stairs(struct out *out, unsigned row, unsigned dashes)
{
	if (!row) {
		out_str(out, "  _");
	} else {
		out_fill(out, '|', row - 1);
		out_str(out, " / _");
	}
	out_fill(out, '-', dashes - row);
	out_str(out, "=> ");
}

/* Before 5.10, PIDs have five columns: print_func_help_header_irq() of 5.4. */
static void legend_narrow(const struct columns *columns, struct out *out)
{
	unsigned rows = columns->nr_flags, indent = columns->tgid ? 36 : 28;
	const char *name;

	for (unsigned row = 0; flag_name(columns, row, &name); row++) {
		out_char(out, '#');
		out_fill(out, ' ', indent);
		legend_stairs(out, row, rows < 5 ? 5 : rows);
		out_f(out, "%s\n", name);
	}
	out_char(out, '#');
	out_fill(out, ' ', indent);
	out_fill(out, '|', rows - 1);
	out_f(out, " /     delay\n#           TASK-PID %sCPU#  ", columns->tgid ? "   TGID   " : "  ");
	out_fill(out, '|', rows);
	out_f(out, "    TIMESTAMP  FUNCTION\n#              | |   %s  |   ", columns->tgid ? "     |    " : "  ");
	out_fill(out, '|', rows);
	out_str(out, "       |         |\n");
}

static void legend_flags(const struct columns *columns, unsigned tgid, struct out *out)
{
	unsigned rows = columns->nr_flags;
	const char *name;

	if (columns->pid_width < 7) {
		legend_narrow(columns, out);
		return;
	}

	for (unsigned row = 0; flag_name(columns, row, &name); row++) {
		out_char(out, '#');
		out_fill(out, ' ', 30 + tgid);
		legend_stairs(out, row, rows < 5 ? 5 : rows);
		out_f(out, "%s\n", name);
	}
	out_char(out, '#');
	out_fill(out, ' ', 30 + tgid);
	out_fill(out, '|', rows - 1);
	out_str(out, " /     delay\n");
	out_f(out, "#           TASK-PID  %s CPU#  ", tgid ? "     TGID   " : "  ");
	out_fill(out, '|', rows);
	out_f(out, "%s  TIMESTAMP  FUNCTION\n", rows == 4 ? " " : "");
	out_f(out, "#              | |    %s   |   ", tgid ? "       |    " : "  ");
	out_fill(out, '|', rows);
	out_f(out, "%s     |         |\n", rows == 5 ? "" : " ");
}

static void legend_plain(const struct columns *columns, struct out *out)
{
	out_f(out, "#           TASK-PID    %s CPU#     TIMESTAMP  FUNCTION\n", columns->tgid ? "   TGID   " : "");
	out_f(out, "#              | |      %s   |         |         |\n", columns->tgid ? "     |    " : "");
}

void header_entries(const struct ftrace *ftrace, struct out *out)
{
	const struct context *context = ftrace->context;

	if (!context->nr_stats)
		return;
	out_str(out, "# entries-in-buffer/entries-written: ");
	out_u64(out, context->entries);
	out_char(out, '/');
	out_u64(out, context->written);
	if (context->online_cpus) {
		out_str(out, "   #P:");
		out_u64(out, context->online_cpus);
	}
	out_str(out, "\n#\n");
}

/* An imported text may have the graph of another tracer: irqsoff, wakeup. */
static void print_tracer(const struct context *context, struct out *out)
{
	size_t len;
	const char *name = imported_tracer(context, &len);

	out_mem(out, name, len);
}

/* seq_print_ip_sym(), or the text if that is all that the file has. */
static void print_place(const struct context *context, const char *label, const char *text, uint64_t address,
			struct out *out)
{
	out_str(out, label);
	if (address)
		symbol_print_ip(context, address, out);
	else
		out_str(out, text);
	out_char(out, '\n');
}

bool header_latency(const struct ftrace *ftrace, struct out *out)
{
	const struct context *context = ftrace->context;
	const struct latency_head *head = &context->latency_head;

	if (ftrace->goes_on)
		return true;
	if (context->nr_stats && !context->entries)
		return false;
	/* A text that was imported without these lines has nothing to print in them. */
	if (!context->release[0] && !head->latency[0] && !head->task[0])
		return true;
	out_str(out, "# ");
	print_tracer(context, out);
	out_f(out, " latency trace v1.1.5 on %s\n", context->release);
	out_str(out, "# --------------------------------------------------------------------\n");
	out_f(out, "# latency: %s us, ", head->latency[0] ? head->latency : "0");
	if (context->nr_stats)
		out_f(out, "#%llu/%llu, ", (unsigned long long)context->entries, (unsigned long long)context->written);
	out_f(out, "CPU#%u | (M:%s VP:0, KP:0, SP:0 HP:0", context->buffer_cpu, context->preempt_model);
	if (context->online_cpus)
		out_f(out, " #P:%u", context->online_cpus);
	out_f(out, ")\n#    -----------------\n#    | task: %s\n#    -----------------\n",
	      head->task[0] ? head->task : "-0 (uid:0 nice:0 policy:0 rt_prio:0)");
	if (head->started[0]) {
		print_place(context, "#  => started at: ", head->started, head->started_at, out);
		print_place(context, "#  => ended at:   ", head->ended, head->ended_at, out);
		out_str(out, "#\n");
	}
	out_str(out, "#\n");
	return true;
}

/* print_lat_help_header() */
static void legend_latency(const struct columns *columns, struct out *out)
{
	unsigned rows = columns->nr_flags + 1u, dashes = rows < 6 ? 6 : rows;
	const char *name = "CPU#";

	for (unsigned row = 0; !row || flag_name(columns, row - 1, &name); row++) {
		out_str(out, "#                  ");
		legend_stairs(out, row, dashes);
		out_f(out, "%-16s\n", name);
	}
	out_str(out, "#                  ");
	out_fill(out, '|', rows - 1);
	/* With five rows, as before 5.15, each of these two lines ends with one more blank. */
	out_str(out, rows == 5 ? " /     delay            \n#  cmd     pid     " :
				 " /     delay           \n#  cmd     pid     ");
	out_fill(out, '|', rows);
	out_str(out, rows == 5 ? " time  |   caller      \n#     \\   /        " :
				 " time  |   caller     \n#     \\   /        ");
	out_fill(out, '|', rows);
	out_str(out, rows == 5 ? "  \\    |   /         \n" : "  \\    |    /       \n");
}

static void header_usual(const struct ftrace *ftrace, struct out *out)
{
	const struct columns *columns = &ftrace->columns;

	if (!columns->info || (ftrace->latency && !header_latency(ftrace, out)) || columns->verbose)
		return;
	if (ftrace->latency) {
		legend_latency(columns, out);
		return;
	}
	header_entries(ftrace, out);
	if (columns->flags)
		legend_flags(columns, columns->tgid ? TGID_COLUMN : 0, out);
	else
		legend_plain(columns, out);
}

/* The times below have no date and no zone. */
static void put_face(const struct ftrace *ftrace, struct out *out)
{
	char text[2 * FACE_TEXT];

	if (face_head(text, ftrace->columns.face, ftrace->context->wall))
		out_f(out, "# times of %s\n#\n", text);
}

void header_write(const struct ftrace *ftrace, struct out *out)
{
	const struct tracer *tracer = ftrace->tracer;

	out_str(out, "# tracer: ");
	print_tracer(ftrace->context, out);
	out_str(out, "\n#\n");
	if (ftrace->columns.face && face_is_of_day(ftrace->columns.face))
		put_face(ftrace, out);
	if (tracer && tracer->header)
		tracer->header(ftrace, out);
	else if (tracer && tracer->legend)
		out_str(out, ftrace->context->preempt_rt ? tracer->legend_rt : tracer->legend);
	else
		header_usual(ftrace, out);
}
