// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/syscalls/syscalls_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/vcpu_times.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/follow/files.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/uapi/names.h"

enum { OF_WHICH = WHEN, OF_ERRORS = WHEN << 1, OF_SWITCHES = WHEN << 2, OF_FILES = WHEN << 3 };

#define CALL_COLUMNS(X)                                                                                            \
	X("SYSCALL", TEXT, NULL, BRIEF | SAME, put_what, syscalls, row, key)                                       \
	X("NR", NUMBER, NULL, DATA | SAME | OF_WHICH, put_which, syscalls, row, key)                               \
	X("CALLS", COUNT, NULL, BRIEF | ADDS, table_cell_u64, row->calls)                                          \
	X("ERRORS", COUNT, NULL, BRIEF | ADDS | OF_ERRORS, table_cell_u64, row->errors)                            \
	X("BYTES", SIZE, NULL, ADDS | OF_FILES, table_cell_u64, row->bytes)                                        \
	X("TOTAL", TIME, NULL, BRIEF | ADDS, table_cell_u64, row->total.wall)                                      \
	X("%", NUMBER, "percent", SPARE, table_cell_percent, row->total.wall, all, 1)                              \
	X("P50", TIME, NULL, BRIEF, table_cell_known, row->lasted.count, quantiles[0])                             \
	X("P90", TIME, NULL, SPARE, table_cell_known, row->lasted.count, quantiles[1])                             \
	X("P99", TIME, NULL, BRIEF, table_cell_known, row->lasted.count >= SAMPLES_P99_MIN, quantiles[2])          \
	X("MAX", TIME, NULL, BRIEF, table_cell_known, row->worst.at, row->worst.lasted)                            \
	X("MAX AT", NUMBER, "max_at", BRIEF | SPARE, table_cell_when, row->worst.at)                               \
	X("ON CPU", TIME, NULL, ADDS | SPARE | OF_SWITCHES, table_cell_known, known, row->total.on_cpu)            \
	X("BLOCKED", TIME, NULL, ADDS | SPARE | OF_SWITCHES, table_cell_known, known, row->total.blocked)          \
	X("WAIT", TIME, NULL, ADDS | SPARE | OF_SWITCHES, table_cell_known, known, row->total.waiting)             \
	X("CPU", NUMBER, "max_cpu", DATA, table_cell_known, row->worst.at, row->worst.cpu)                         \
	X("MAX PID", NUMBER, "max_pid", DATA, pass_put_pid, pass, row->worst.at ? row->worst.task : STATE_NO_TASK) \
	X("ENDLESS", COUNT, NULL, DATA | ADDS, table_cell_u64, row->endless)                                       \
	X("HELD MAX", TIME, "held_max_ns", DATA, table_cell_known, known && row->held.at, row->held.lasted)        \
	X("HELD FROM", NUMBER, "held_max_from", DATA, table_cell_when, known ? row->held.from : 0)                 \
	X("HELD AT", NUMBER, "held_max_at", DATA, table_cell_when, known ? row->held.at : 0)                       \
	X("HELD PID", NUMBER, "held_max_pid", DATA, pass_put_pid, pass,                                            \
	  known && row->held.at ? row->held.task : STATE_NO_TASK)

const struct table_column syscalls_columns[] = COLUMNS(CALL_COLUMNS);

/* The first two columns name the subject of a row. */
static const struct table_column heads[][2] = {
	[SYSCALLS_BY_CALL] = { { "SYSCALL", TABLE_TEXT, NULL, 0 }, { "NR", TABLE_NUMBER, NULL, 0 } },
	[SYSCALLS_BY_TASK] = { { "TASK", TABLE_TEXT, "comm", 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[SYSCALLS_BY_PROCESS] = { { "PROCESS", TABLE_TEXT, "comm", 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[SYSCALLS_BY_ERROR] = { { "SYSCALL", TABLE_TEXT, NULL, 0 }, { "ERROR", TABLE_TEXT, NULL, 0 } },
	[SYSCALLS_BY_CPU] = { { "CPU", TABLE_TEXT, NULL, 0 }, { "NUMBER", TABLE_NUMBER, "cpu_number", 0 } },
	[SYSCALLS_BY_PROGRAM] = { { "PROGRAM", TABLE_TEXT, NULL, 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[SYSCALLS_BY_UNIT] = { { "UNIT", TABLE_TEXT, NULL, 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[SYSCALLS_BY_CONTAINER] = { { "CONTAINER", TABLE_TEXT, NULL, 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[SYSCALLS_BY_POD] = { { "POD", TABLE_TEXT, NULL, 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[SYSCALLS_BY_CGROUP] = { { "CGROUP", TABLE_TEXT, NULL, 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[SYSCALLS_BY_USER] = { { "USER", TABLE_TEXT, NULL, 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[SYSCALLS_BY_FILE] = { { "FILE", TABLE_TEXT, NULL, 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
};

static const char *error_text(const struct syscalls_analysis *syscalls, int64_t error, char into[32])
{
	const char *name = error_name(syscalls->pass->machine, error);

	if (name)
		return name;
	snprintf(into, 32, "%" PRId64, error);
	return into;
}

static void put_what(struct table *table, struct syscalls_analysis *syscalls, const struct call_row *row, uint64_t key)
{
	const struct pass *pass = syscalls->pass;
	char text[SYSCALLS_NAME];

	switch ((enum syscalls_by)syscalls->options.rows.by) {
	case SYSCALLS_BY_CALL:
	case SYSCALLS_BY_ERROR:
		table_cell(table, syscalls_name(syscalls, row->number, text));
		break;
	case SYSCALLS_BY_PROCESS:
		table_cell(table, pass_group_text(pass, WHO_PROCESS, (uint32_t)key));
		break;
	case SYSCALLS_BY_PROGRAM:
	case SYSCALLS_BY_UNIT:
	case SYSCALLS_BY_CONTAINER:
	case SYSCALLS_BY_POD:
	case SYSCALLS_BY_CGROUP:
	case SYSCALLS_BY_USER:
		table_cell(table, pass_group_text(pass, syscalls_part((enum syscalls_by)syscalls->options.rows.by),
						  (uint32_t)key));
		break;
	case SYSCALLS_BY_TASK:
		pass_put_comm(table, syscalls->pass, row->task);
		break;
	case SYSCALLS_BY_CPU:
		table_cellf(table, "%" PRIu64, key);
		break;
	case SYSCALLS_BY_FILE:
		table_cell(table, key == SYSCALLS_NO_FILE ?
					  "(no descriptor)" :
					  files_text(pass->reader->buffers[0].context, (uint32_t)key));
		break;
	}
}

static void put_which(struct table *table, struct syscalls_analysis *syscalls, const struct call_row *row, uint64_t key)
{
	char text[SYSCALLS_NAME];

	switch ((enum syscalls_by)syscalls->options.rows.by) {
	case SYSCALLS_BY_CALL:
		table_cell_s64(table, row->number > 0 ? row->number & ~SYSCALLS_TABLE32 : row->number);
		break;
	case SYSCALLS_BY_ERROR:
		table_cell(table, error_text(syscalls, row->error, text));
		break;
	case SYSCALLS_BY_PROCESS:
		table_cell_known_s64(table, key, (int32_t)key);
		break;
	case SYSCALLS_BY_PROGRAM:
	case SYSCALLS_BY_UNIT:
	case SYSCALLS_BY_CONTAINER:
	case SYSCALLS_BY_POD:
	case SYSCALLS_BY_CGROUP:
	case SYSCALLS_BY_USER:
	case SYSCALLS_BY_FILE:
		table_cell(table, "-");
		break;
	case SYSCALLS_BY_TASK:
		pass_put_pid(table, syscalls->pass, row->task);
		break;
	case SYSCALLS_BY_CPU:
		table_cell_u64(table, key);
		break;
	}
}

static void put_row(struct syscalls_analysis *syscalls, struct table *table, const struct call_row *row, uint64_t key,
		    uint64_t all)
{
	const struct pass *pass = syscalls->pass;
	bool known = pass_switches(pass);
	uint64_t quantiles[3];

	samples_quantiles(&row->lasted, (const unsigned[]){ 500, 900, 990 }, array_size(quantiles), quantiles);
	table_attach(table, &row->lasted);
	CALL_COLUMNS(CELL)
}

/* Reports the longest call of the row, for calls whose time is shown. */
static void put_worst(struct syscalls_analysis *syscalls, struct findings *findings, const struct call_row *row)
{
	const struct state_task *task;
	struct worst worst = { .what = "system call" };

	if (!row)
		return;
	task = &syscalls->pass->state.tasks[row->worst.task];
	worst.lasted = row->worst.lasted;
	worst.from = row->worst.at - row->worst.lasted;
	worst.to = row->worst.at;
	worst.cpu = row->worst.cpu;
	worst.pid = task->pid;
	snprintf(worst.comm, sizeof(worst.comm), "%s", pass_comm_then(syscalls->pass, row->worst_comm, task));
	findings_worst(findings, &worst);
}

#define ENDS "raw_syscalls:sys_exit,syscalls:sys_exit_*"

static const struct pass_unseen unseen[] = {
	{ "errors", ENDS },
	{ "bytes_bytes", ENDS },
	{ "total_ns", ENDS },
	{ "on_cpu_ns", ENDS },
	{ "blocked_ns", ENDS },
	{ "wait_ns", ENDS },
	{ "endless", "sched:sched_switch" },
};

static void put_rows(struct syscalls_analysis *syscalls, struct findings *findings)
{
	static const char *const titles[] = {
		[SYSCALLS_BY_CALL] = "system calls",
		[SYSCALLS_BY_TASK] = "system calls of each task",
		[SYSCALLS_BY_PROCESS] = "system calls of each process",
		[SYSCALLS_BY_ERROR] = "system calls that failed, by error",
		[SYSCALLS_BY_CPU] = "system calls, by the CPU where they ended",
		[SYSCALLS_BY_PROGRAM] = "system calls of each program",
		[SYSCALLS_BY_UNIT] = "system calls of each unit of systemd",
		[SYSCALLS_BY_CONTAINER] = "system calls of each container",
		[SYSCALLS_BY_POD] = "system calls of each pod",
		[SYSCALLS_BY_CGROUP] = "system calls of each control group",
		[SYSCALLS_BY_USER] = "system calls of each user",
		[SYSCALLS_BY_FILE] = "system calls of each file",
	};
	const struct call_row *row, *longest = NULL;
	uint64_t key, all = 0;
	struct table *table;
	size_t at = 0;

	table = findings_table(findings, "syscalls", titles[syscalls->options.rows.by], "total", syscalls_columns);
	if (!table)
		return;
	findings_head(findings, heads[syscalls->options.rows.by], array_size(heads[0]));
	findings_show(findings, OF_WHICH,
		      syscalls->options.rows.by != SYSCALLS_BY_CALL && syscalls->options.rows.by < SYSCALLS_BY_CPU);
	findings_show(findings, OF_ERRORS, syscalls->options.rows.by != SYSCALLS_BY_ERROR);
	findings_show(findings, OF_SWITCHES, pass_switches(syscalls->pass));
	findings_show(findings, OF_FILES, syscalls->options.rows.by == SYSCALLS_BY_FILE);
	while ((row = u64_map_next(&syscalls->rows, &at, &key))) {
		all += row->total.wall;
		if (row->worst.at && (!longest || row->worst.lasted > longest->worst.lasted))
			longest = row;
	}
	for (at = 0; (row = u64_map_next(&syscalls->rows, &at, &key));)
		put_row(syscalls, table, row, key, all);
	/* Of a call under way at its end, an interval has the time without that event. */
	if (!syscalls->pass->divides)
		pass_forget_unseen(syscalls->pass, findings, unseen, array_size(unseen));
	put_worst(syscalls, findings, longest);
}

enum { OF_WAKERS = WHEN, OF_STACKS = WHEN << 1 };

#define SLOW_COLUMNS(X)                                                                               \
	X("LASTED", TIME, NULL, 0, table_cell_u64, call->time.wall)                                   \
	X("SYSCALL", TEXT, NULL, 0, table_cell, syscalls_name(syscalls, call->number, text))          \
	X("RETURNED", TEXT, NULL, 0, table_cell, returned_text(syscalls, call->returned, text))       \
	X("TASK", TEXT, "comm", 0, pass_put_comm_then, syscalls->pass, call->comm, call->task)        \
	X("PID", NUMBER, NULL, 0, pass_put_pid, syscalls->pass, call->task)                           \
	X("CPU", NUMBER, NULL, 0, table_cell_u64, call->cpu)                                          \
	X("FROM", NUMBER, "since", 0, table_cell_moment, call->at - call->time.wall)                  \
	X("TO", NUMBER, "until", SPARE, table_cell_moment, call->at)                                  \
	X("ON CPU", TIME, NULL, SPARE, table_cell_known, known, call->time.on_cpu)                    \
	X("BLOCKED", TIME, NULL, SPARE, table_cell_known, known, call->time.blocked)                  \
	X("WAIT", TIME, NULL, SPARE, table_cell_known, known, call->time.waiting)                     \
	X("WOKEN BY", TEXT, "woken_by", OF_WAKERS, pass_put_waker, syscalls->pass, call->block.waker) \
	X("IN", TEXT, "blocked_in", OF_STACKS, put_function, syscalls, call->block.stack)             \
	X("VALUE", NUMBER, "return_value", DATA, table_cell_s64, call->returned)                      \
	X("WAKER PID", NUMBER, "woken_by_pid", DATA, table_cell_known_s64, call->block.waker.pid > 0, \
	  call->block.waker.pid)                                                                      \
	X("STACK", TEXT, NULL, SPARE | OF_STACKS, put_stack, syscalls, call->block.stack)

static const struct table_column slow_columns[] = COLUMNS(SLOW_COLUMNS);

static const char *returned_text(const struct syscalls_analysis *syscalls, int64_t value, char into[32])
{
	if (returned_failure(value))
		return error_text(syscalls, -value, into);
	snprintf(into, 32, "%" PRId64, value);
	return into;
}

static void put_function(struct table *table, const struct syscalls_analysis *syscalls, uint32_t stack)
{
	if (stack)
		stack_store_put_function(table, &syscalls->last_outs.store, syscalls->last_outs.context, stack);
	else
		table_cell(table, "");
}

static void put_stack(struct table *table, const struct syscalls_analysis *syscalls, uint32_t stack)
{
	if (stack)
		stack_store_put(table, &syscalls->last_outs.store, syscalls->last_outs.context, stack);
	else
		table_cell(table, "");
}

static void put_slowest(struct syscalls_analysis *syscalls, struct findings *findings)
{
	bool known = pass_switches(syscalls->pass);
	struct table *table = slowest_table(&syscalls->slowest, findings, "the longest system calls", slow_columns);

	if (!table)
		return;
	findings_show(findings, OF_STACKS, syscalls->last_outs.context);
	findings_show(findings, OF_WAKERS, syscalls->pass->state.events[STATE_WAKING]);
	for (size_t i = 0; i < syscalls->slowest.nr; i++) {
		const struct slow_call *call = slowest_at(&syscalls->slowest, i);
		char text[SYSCALLS_NAME];

		SLOW_COLUMNS(CELL)
	}
	slowest_tell(&syscalls->slowest, findings, "call");
}

static bool tell_call(const struct table *table, size_t row, struct buf *into)
{
	static const struct slow_part parts[] = { { "blocked_ns", "blocked" },
						  { "wait_ns", "ready, without a CPU" },
						  { "on_cpu_ns", "on a CPU" },
						  { NULL, NULL } };
	uint64_t lasted = table_number_of(table, row, "lasted_ns");
	const char *in = table_text_of(table, row, "blocked_in"), *waker = table_text_of(table, row, "woken_by");
	uint64_t pid = table_number_of(table, row, "woken_by_pid");
	char time[TEXT_HUMAN];

	return buf_addf(into, "%s-%" PRIu64 " was %s in %s", table_text_of(table, row, "comm"),
			table_number_of(table, row, "pid"), text_time(time, lasted),
			table_text_of(table, row, "syscall")) &&
	       slowest_put_parts(table, row, parts, into) && (!*in || buf_addf(into, "; blocked in %s", in)) &&
	       (!*waker || buf_addf(into, "; woken by %s", waker)) &&
	       (!*waker || !pid || buf_addf(into, "-%" PRIu64, pid));
}

const struct analysis_slow syscalls_slow[] = {
	{ " id=", "the system call of", "slowest", "pid", NULL, SLOW_OF_TASK, SLOW_MARGIN_NS,
	  "the call is not among the events: record with --for syscalls", tell_call },
	{ .of = NULL },
};

/*
 * Counts the calls that have not returned. Calls of tasks that ended never will: they go to `endless` of their row.
 * Returns the number of the others, which the end of the trace cut.
 */
static uint64_t count_open(struct syscalls_analysis *syscalls)
{
	const struct state *state = &syscalls->pass->state;
	bool all = !syscalls->options.failures && syscalls->options.rows.by != SYSCALLS_BY_ERROR;
	uint64_t under_way = 0;

	for (uint32_t i = 0; i < syscalls->nr_calls; i++) {
		struct open_call *call = &syscalls->calls[i];
		const struct state_task *task = &state->tasks[i];
		struct call_row *row;

		if (!call->open || !syscalls_wants(syscalls, call, task, call->since))
			continue;
		under_way += !task->died;
		row = task->died && all && task->cpu != STATE_NO_CPU && pass_wants_cpu(syscalls->pass, task->cpu) ?
			      syscalls_row(syscalls, call->number, 0, i, task->cpu, call->file) :
			      NULL;
		if (row) {
			row->calls++;
			row->endless++;
		}
	}
	return under_way;
}

#define HOST_COLUMNS(X)                                                                     \
	X("SYSCALL", TEXT, NULL, 0, table_cell, syscalls_name(syscalls, row->number, text)) \
	X("CALLS", COUNT, NULL, 0, table_cell_u64, row->calls)                              \
	X("TOTAL", TIME, NULL, 0, table_cell_u64, row->time.wall)                           \
	X("BLOCKED", TIME, NULL, 0, table_cell_u64, row->time.blocked)                      \
	X("WAIT", TIME, NULL, 0, table_cell_u64, row->time.waiting)                         \
	VCPU_COLUMNS(X, &row->parts)

static const struct table_column host_columns[] = COLUMNS(HOST_COLUMNS);

static void put_host(struct syscalls_analysis *syscalls, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "host",
			       "system calls beside the host: blocked and waiting are as the guest's kernel "
			       "knows, the other columns what its CPUs did in the rest of TOTAL",
			       "total", host_columns);
	const struct vcpus *vcpus = syscalls->pass->filter.vcpus;
	const struct host_row *row;
	char text[SYSCALLS_NAME];

	for (size_t at = 0; table && (row = syscalls_host_next(syscalls->host, &at));) {
		HOST_COLUMNS(CELL)
	}
	vcpu_times_put(syscalls->pass, NULL, findings);
}

int syscalls_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct syscalls_analysis *syscalls = arg;
	uint64_t under_way = count_open(syscalls);

	if (syscalls->pass->failed || syscalls->roles.failed || syscalls->last_outs.roles.failed ||
	    syscalls->last_outs.store.failed || syscalls->pass->budget_apart.failed)
		return fail_memory(fail);
	if (syscalls->pass->lines && syscalls->options.trace) {
		syscalls_trace_break(&syscalls->trace, syscalls->pass->lines);
		out_char(syscalls->pass->lines, '\n');
	}
	if (!syscalls->raw && !syscalls->named && !syscalls->pass->filter.shape)
		return PASS_NOTHING;
	if (syscalls->of_files && !syscalls->pass->filter.shape &&
	    !files_are_known(syscalls->pass->reader->buffers[0].context))
		return fail_set(fail, -ENODATA,
				"the recording does not tell which files are behind descriptors: record it with 'weft "
				"record --files --for syscalls', on a kernel with CONFIG_KPROBE_EVENTS; on another, "
				"record the names as 'weft record --files' says there, and count them: 'weft hist -i "
				"FILE weft:open --keys name'");
	put_rows(syscalls, findings);
	put_slowest(syscalls, findings);
	if (syscalls->host)
		put_host(syscalls, findings);
	syscalls_put_uring(syscalls, findings);
	if (syscalls->refused)
		findings_note(findings,
			      "%s call%s failed without an entry, as those do that seccomp or ptrace refuses: how "
			      "long they took is unknown",
			      text_count((char[TEXT_HUMAN]){ 0 }, syscalls->refused), text_plural(syscalls->refused));
	findings_cut(findings, syscalls->began_before, "calls that began before the start");
	findings_cut(findings, under_way, "calls under way at the end");
	findings_broken(findings, syscalls->entered && syscalls->exited ? syscalls->broken : 0, "calls");
	return syscalls->pass->failed ? fail_memory(fail) : 0;
}
