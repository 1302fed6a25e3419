// SPDX-License-Identifier: LGPL-2.1-or-later
/* When a row of an analysis stands out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/explain/brief_internal.h"
#include "lib/answers/frame/columns.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/run.h"
#include "lib/answers/why/why.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/disks.h"
#include "lib/meaning/event/tasks.h"

/*
 * PEERS: so many cases of a kind, at least, tell what is usual. TIMES: so many times as long as the median is unusual.
 * IRQ_NS, SOFTIRQ_NS: no other task of that CPU can run meanwhile. RT_NS: of a real-time task. STORM: so many timers of
 * one function in a second are far more than a program needs that waits for them.
 */
enum {
	PEERS = 20,
	TIMES = 20,
	PRIO_NORMAL = 100,
	IRQ_NS = 10000000,
	SOFTIRQ_NS = 20000000,
	RT_NS = 1000000,
	STORM = 10000,
};

const struct table *brief_table(const struct brief_rules *rules, const char *name, const char *column)
{
	for (size_t i = 0; i < rules->nr_runs; i++) {
		const struct findings *findings = &rules->runs[i].findings;

		for (size_t j = 0; j < findings->nr; j++)
			if (!strcmp(findings->items[j].name, name) &&
			    table_column_named(&findings->items[j].table, column) >= 0)
				return &findings->items[j].table;
	}
	return NULL;
}

bool brief_is_long(const struct brief_rules *rules, uint64_t longest, uint64_t usual, uint64_t count)
{
	return count >= PEERS && longest >= rules->limit && longest / TIMES >= usual;
}

/* What a kernel thread waits for is no harm by itself: who waits for it is told. */
static bool is_kernel_thread(const struct table *tasks, size_t row)
{
	const char *comm = table_text_of(tasks, row, "comm");

	return task_kernel_name(comm, strlen(comm)) > 0;
}

static size_t rows_of(const struct table *table)
{
	return table && table->nr_columns ? table->nr_items / table->nr_columns : 0;
}

static uint64_t number(const struct table *table, size_t row, const char *column)
{
	return table_number_of(table, row, column);
}

/* A time of the trace; 0: there is none. */
static uint64_t moment(const struct table *table, size_t row, const char *column)
{
	int at = table_column_named(table, column);
	struct table_item item = { .value = VALUE_NOTHING };

	if (at >= 0)
		item = table_item_at(table, row, (size_t)at);
	return item.value == VALUE_MOMENT ? item.number : 0;
}

/* A number with decimals. */
static double decimal(const struct table *table, size_t row, const char *column)
{
	int at = table_column_named(table, column);
	struct table_item item = { .value = VALUE_NOTHING };
	double value;

	if (at >= 0)
		item = table_item_at(table, row, (size_t)at);
	value = item.value == VALUE_DECIMAL ? (double)(int64_t)item.number : 0;
	for (unsigned i = 0; i < item.decimals; i++)
		value /= 10;
	return value;
}

static double part(const struct brief_rules *rules, uint64_t ns)
{
	return rules->span ? (double)ns / (double)rules->span : 0;
}

static bool is_share(const struct brief_rules *rules, uint64_t ns)
{
	return part(rules, ns) >= rules->share;
}

static unsigned percent(const struct brief_rules *rules, uint64_t ns)
{
	return (unsigned)(part(rules, ns) * 100 + 0.5);
}

static void put_case(struct brief_case *found, uint64_t lasted, uint64_t to)
{
	found->lasted = lasted;
	found->to = to;
	found->from = to > lasted ? to - lasted : 0;
}

static void put_task(struct brief_case *found, uint64_t pid, const char *comm)
{
	found->pid = (int32_t)pid;
	snprintf(found->comm, sizeof(found->comm), "%.15s", comm);
}

static void put_usual(struct brief_case *found, uint64_t usual, uint64_t count, const char *of)
{
	char time[TEXT_HUMAN], number[TEXT_HUMAN];

	if (count < PEERS)
		return;
	snprintf(found->usual, sizeof(found->usual), "%s, the median of %s %s", text_time(time, usual),
		 text_count(number, count), of);
}

/* The name of a task by its PID, from the table of tasks. */
static const char *comm_of(const struct brief_rules *rules, uint64_t pid)
{
	const struct table *tasks = brief_table(rules, "tasks", "wait_ns");

	for (size_t row = 0; row < rows_of(tasks); row++)
		if (number(tasks, row, "pid") == pid)
			return table_text_of(tasks, row, "comm");
	return "";
}

/* "crunch-0 12 %, crunch-1 12 %, crunch-2 12 %" of the time of all CPUs. */
static void put_runners(const struct brief_rules *rules, const struct table *tasks, size_t cpus, char *into,
			size_t size)
{
	uint64_t below = UINT64_MAX;
	size_t len = 0;

	for (int i = 0; i < 3; i++) {
		size_t best = SIZE_MAX;

		for (size_t row = 0; row < rows_of(tasks); row++)
			if (number(tasks, row, "run_ns") < below &&
			    (best == SIZE_MAX || number(tasks, row, "run_ns") > number(tasks, best, "run_ns")))
				best = row;
		if (best == SIZE_MAX || len >= size)
			return;
		below = number(tasks, best, "run_ns");
		len += (size_t)snprintf(into + len, size - len, "%s%s-%" PRIu64 " %u %%", len ? ", " : "",
					table_text_of(tasks, best, "comm"), number(tasks, best, "pid"),
					percent(rules, below) / (unsigned)cpus);
	}
}

/* More tasks than CPUs want to run. What they then wait is no finding of its own. */
static void see_cpus(struct brief_rules *rules)
{
	const struct table *cpus = brief_table(rules, "cpus", "tasks_ns"),
			   *tasks = brief_table(rules, "tasks", "wait_ns");
	uint64_t busy = 0, waited = 0, nr = rows_of(cpus);
	struct brief_case *found;
	double waiting;

	for (size_t row = 0; row < nr; row++)
		busy += number(cpus, row, "tasks_ns") + number(cpus, row, "irq_ns") + number(cpus, row, "softirq_ns");
	for (size_t row = 0; row < rows_of(tasks); row++)
		waited += number(tasks, row, "wait_ns");
	waiting = part(rules, waited);
	if (!nr || part(rules, busy) < 0.85 * (double)nr || waiting < 0.5 * (double)nr)
		return;
	rules->full = true;
	found = brief_add(rules, BRIEF_CPU, 2);
	if (!found)
		return;
	snprintf(found->what, sizeof(found->what),
		 "the CPUs were full: %" PRIu64 " were busy %u %% of the time, and %.1f tasks more wanted to run", nr,
		 percent(rules, busy) / (unsigned)nr, waiting);
	snprintf(found->why, sizeof(found->why), "%s", "most of it ran: ");
	put_runners(rules, tasks, nr, found->why + strlen(found->why), sizeof(found->why) - strlen(found->why));
	snprintf(found->command, sizeof(found->command), "weft sched");
}

/* A guest cannot see who had its CPU. That is nothing that its tasks did, nor what they waited for. */
static void see_steal(struct brief_rules *rules)
{
	const struct table *cpus = brief_table(rules, "cpus", "stolen_at_most_ns");
	uint64_t all = 0, most = 0;
	struct brief_case *found;
	char time[TEXT_HUMAN];
	size_t cpu = 0;

	for (size_t row = 0; row < rows_of(cpus); row++) {
		uint64_t stolen = number(cpus, row, "stolen_at_most_ns");

		all += stolen;
		if (stolen <= most)
			continue;
		most = stolen;
		cpu = number(cpus, row, "cpu");
	}
	if (most < rules->limit || !is_share(rules, most))
		return;
	found = brief_add(rules, BRIEF_CPU, part(rules, most));
	if (!found)
		return;
	snprintf(found->what, sizeof(found->what),
		 "a hypervisor had CPU %zu for others for %s at most, %u %% of the time (steal)", cpu,
		 text_time(time, most), percent(rules, most));
	snprintf(found->why, sizeof(found->why),
		 "of what tasks ran and waited on all CPUs, it is %s at most: the host has more to do than CPUs, or "
		 "limits this guest",
		 text_time(time, all));
	snprintf(found->command, sizeof(found->command), "weft sched");
}

/* How late a task ran; 0: that is nothing special. */
static double late_weight(const struct brief_rules *rules, const struct table *tasks, size_t row, uint64_t usual,
			  uint64_t count)
{
	int column = table_column_named(tasks, "prio");
	uint64_t late = number(tasks, row, "delay_max_ns"), prio;

	if (column < 0 || !table_number_at(tasks, row, (size_t)column, &prio))
		prio = PRIO_NORMAL;
	/* It comes before others if it took as long as a case of theirs. */
	if (prio < PRIO_NORMAL && late >= RT_NS && count >= PEERS && late / TIMES >= usual)
		return (late >= rules->limit) + part(rules, late);
	if (prio < PRIO_NORMAL)
		return 0;
	if (rules->full)
		return 0;
	/* With few others to compare with it has to be a large part of the time. */
	if (count < PEERS)
		return late >= rules->limit && part(rules, late) >= 0.2 ? part(rules, late) : 0;
	return brief_is_long(rules, late, usual, count) ? part(rules, late) : 0;
}

static void see_wakeups(struct brief_rules *rules)
{
	const struct table *tasks = brief_table(rules, "tasks", "delay_max_ns"),
			   *wakeups = brief_table(rules, "wakeups", "part");
	size_t all = rows_of(wakeups), best = 0, late = 0;
	uint64_t usual = all ? number(wakeups, all - 1, "p50_ns") : 0;
	uint64_t count = all ? number(wakeups, all - 1, "count") : 0;
	double most = 0, weight;
	struct brief_case *found;
	char time[TEXT_HUMAN];
	const char *comm;

	for (size_t row = 0; row < rows_of(tasks); row++) {
		weight = is_kernel_thread(tasks, row) ? 0 : late_weight(rules, tasks, row, usual, count);
		late += weight > 0;
		if (weight > most) {
			most = weight;
			best = row;
		}
	}
	found = late ? brief_add(rules, BRIEF_LATENCY, most) : NULL;
	if (!found)
		return;
	comm = table_text_of(tasks, best, "comm");
	put_task(found, number(tasks, best, "pid"), comm);
	put_case(found, number(tasks, best, "delay_max_ns"), moment(tasks, best, "delay_max_at"));
	put_usual(found, usual, count, "wakeups");
	snprintf(found->what, sizeof(found->what), "%s-%" PRId32 " was awake and waited %s for a CPU", comm, found->pid,
		 text_time(time, found->lasted));
	if (late > 1)
		snprintf(found->what + strlen(found->what), sizeof(found->what) - strlen(found->what),
			 "; %zu other task%s also waited long", late - 1, text_plural(late - 1));
	snprintf(found->command, sizeof(found->command), "weft latency --top 5");
}

/* An interrupt of a kind that stops the tasks of its CPU. */
static bool stops_tasks(const char *kind)
{
	return !strcmp(kind, "irq") || !strcmp(kind, "vector") || !strcmp(kind, "softirq");
}

/* An interrupt that runs timers: "local_timer", "27 arch_timer". */
static bool is_of_timers(const struct table *sources, size_t row)
{
	const char *kind = table_text_of(sources, row, "kind");

	return (!strcmp(kind, "irq") || !strcmp(kind, "vector")) &&
	       strstr(table_text_of(sources, row, "source"), "timer");
}

/* Timers of one function that come so often that they and their interrupts take much of a CPU. */
static bool see_storm(struct brief_rules *rules, const struct table *sources)
{
	uint64_t most = 0, timers = 0, interrupt = 0, self;
	char times[TEXT_HUMAN], each[TEXT_HUMAN];
	struct brief_case *found;
	size_t best = 0;
	double rate;

	for (size_t row = 0; row < rows_of(sources); row++) {
		const char *kind = table_text_of(sources, row, "kind");

		self = number(sources, row, "self_ns");
		if (!strcmp(kind, "hrtimer") && number(sources, row, "count") > most) {
			most = number(sources, row, "count");
			timers = self;
			best = row;
		} else if (is_of_timers(sources, row) && self > interrupt) {
			interrupt = self;
		}
	}
	rate = rules->span ? (double)most * 1e9 / (double)rules->span : 0;
	if (rate < STORM || !is_share(rules, timers + interrupt))
		return false;
	found = brief_add(rules, BRIEF_CPU, part(rules, timers + interrupt) + 0.01);
	if (!found)
		return false;
	snprintf(found->what, sizeof(found->what),
		 "timers of %s fired %s times a second: with their interrupts they took %u %% of the time of one CPU",
		 table_text_of(sources, best, "source"), text_count(times, (uint64_t)rate),
		 percent(rules, timers + interrupt));
	snprintf(found->why, sizeof(found->why),
		 "a program, or the kernel for it, set them that often, %s in all; timer:hrtimer_start tells which",
		 text_count(each, most));
	snprintf(found->command, sizeof(found->command), "weft irq");
	return true;
}

static void see_interrupt(struct brief_rules *rules, const struct table *sources, size_t row, bool storm)
{
	const char *kind = table_text_of(sources, row, "kind"), *source = table_text_of(sources, row, "source");
	uint64_t longest = number(sources, row, "max_ns"), self = number(sources, row, "self_ns");
	uint64_t count = number(sources, row, "count"), usual = number(sources, row, "p50_ns");
	char time[TEXT_HUMAN], times[TEXT_HUMAN], each[TEXT_HUMAN];
	struct brief_case *found;

	if (!stops_tasks(kind))
		return;
	if (longest >= (strcmp(kind, "softirq") ? IRQ_NS : SOFTIRQ_NS) &&
	    (found = brief_add(rules, BRIEF_LATENCY, part(rules, longest) + 0.01))) {
		put_case(found, longest, moment(sources, row, "max_at"));
		snprintf(found->what, sizeof(found->what), "%s %s ran for %s: no task of CPU %" PRIu64 " ran meanwhile",
			 kind, source, text_time(time, longest), number(sources, row, "max_cpu"));
		snprintf(
			found->why, sizeof(found->why),
			"the handler itself, or the host of a virtual machine, which took its CPU away: functions tell "
			"what the handler did (weft record -p function_graph)");
		put_usual(found, usual, count, "runs");
		snprintf(found->command, sizeof(found->command), "weft irq --slowest 5");
	}
	/* A storm of timers tells of its interrupts, too. */
	if (part(rules, self) >= 0.25 && !(storm && is_of_timers(sources, row)) &&
	    (found = brief_add(rules, BRIEF_CPU, part(rules, self)))) {
		snprintf(found->what, sizeof(found->what), "%s %s took %u %% of the time of one CPU", kind, source,
			 percent(rules, self));
		snprintf(found->why, sizeof(found->why), "it came %s times, the median of a run is %s",
			 text_count(times, count), text_time(each, usual));
		snprintf(found->command, sizeof(found->command), "weft irq");
	}
}

static void see_interrupts(struct brief_rules *rules)
{
	const struct table *sources = brief_table(rules, "sources", "self_ns");

	const bool storm = see_storm(rules, sources);

	for (size_t row = 0; row < rows_of(sources); row++)
		see_interrupt(rules, sources, row, storm);
}

/* "vda (254:0)", if the file knows the name. */
static const char *disk_of(const struct brief_rules *rules, const struct table *table, size_t row, char into[DISK_TEXT])
{
	const struct table *devices = brief_table(rules, "devices", "name");
	const char *number = table_text_of(table, row, "device");

	snprintf(into, DISK_TEXT, "%s", number);
	for (size_t i = 0; i < rows_of(devices); i++) {
		const char *name = table_text_of(devices, i, "name");

		if (*name && !strcmp(table_text_of(devices, i, "device"), number))
			snprintf(into, DISK_TEXT, "%.31s (%.24s)", name, number);
	}
	return into;
}

static void see_requests(struct brief_rules *rules)
{
	const struct table *requests = brief_table(rules, "requests", "d2c_max_ns");

	for (size_t row = 0; row < rows_of(requests); row++) {
		uint64_t longest = number(requests, row, "d2c_max_ns"), usual = number(requests, row, "d2c_p50_ns");
		uint64_t count = number(requests, row, "requests");
		char time[TEXT_HUMAN], disk[DISK_TEXT];
		struct brief_case *found;

		if (!brief_is_long(rules, longest, usual, count))
			continue;
		found = brief_add(rules, BRIEF_IO, part(rules, longest) + 0.01);
		if (!found)
			continue;
		put_case(found, longest, moment(requests, row, "max_at"));
		snprintf(found->what, sizeof(found->what), "a %s of disk %s took %s in the device",
			 table_text_of(requests, row, "operation"), disk_of(rules, requests, row, disk),
			 text_time(time, longest));
		snprintf(found->why, sizeof(found->why),
			 "the device had it all this time: not the kernel's queue, nor a task (it was asked for by "
			 "%s-%" PRIu64 ")",
			 table_text_of(requests, row, "max_comm"), number(requests, row, "max_pid"));
		put_usual(found, usual, count, "requests");
		snprintf(found->command, sizeof(found->command), "weft block --slowest 5");
	}
}

static void see_devices(struct brief_rules *rules)
{
	const struct table *devices = brief_table(rules, "devices", "busy_ns");

	for (size_t row = 0; row < rows_of(devices); row++) {
		char disk[DISK_TEXT];
		const char *name = disk_of(rules, devices, row, disk);
		uint64_t busy = number(devices, row, "busy_ns"), errors = number(devices, row, "errors"),
			 again = number(devices, row, "requeues");
		char text[TEXT_HUMAN];
		struct brief_case *found;

		if (errors && (found = brief_add(rules, BRIEF_ERRORS, 3.5))) {
			snprintf(found->what, sizeof(found->what), "%s request%s of disk %s failed",
				 text_count(text, errors), text_plural(errors), name);
			snprintf(found->why, sizeof(found->why), "the device or its driver returned an error");
			snprintf(found->command, sizeof(found->command), "weft report -e block:block_rq_complete");
		}
		if (again && (found = brief_add(rules, BRIEF_ERRORS, 3))) {
			snprintf(found->what, sizeof(found->what),
				 "disk %s gave %s request%s back to the queue (requeued)", name,
				 text_count(text, again), text_plural(again));
			snprintf(found->why, sizeof(found->why), "the driver could not take them then");
			snprintf(found->command, sizeof(found->command), "weft report -e block:block_rq_requeue");
		}
		/* As of CPUs: one that is busy while nothing waits for it holds up nobody. */
		if (part(rules, busy) < 0.75 || decimal(devices, row, "depth_average") < 1.5)
			continue;
		rules->disk_busy = true;
		found = brief_add(rules, BRIEF_IO, part(rules, busy));
		if (!found)
			continue;
		snprintf(found->what, sizeof(found->what), "disk %s was busy %u %% of the time", name,
			 percent(rules, busy));
		snprintf(found->why, sizeof(found->why),
			 "it was always asked for more: %.1f requests at once on average, %" PRIu64 " at most",
			 decimal(devices, row, "depth_average"), number(devices, row, "deepest"));
		snprintf(found->command, sizeof(found->command), "weft block");
	}
}

/* Whether one of few cases, with which nothing can be compared, took most of the time. */
static bool is_most(const struct brief_rules *rules, uint64_t longest, uint64_t count)
{
	return count < PEERS && longest >= rules->limit && part(rules, longest) >= 0.5;
}

/*
 * Calls that may wait until somebody sends, takes or ends something. An open() sleeps until a FIFO has its other end,
 * a lease is given back or a file system of another program answers; of ioctl() nobody knows.
 */
static bool waits_for_others(const char *name)
{
	static const char *const more[] = { "write",    "writev", "sendto", "sendmsg", "sendmmsg", "send",
					    "sendfile", "ioctl",  "open",   "openat",  "openat2",  "creat" };

	for (size_t i = 0; i < array_size(more); i++)
		if (!strcmp(name, more[i]))
			return true;
	return why_may_wait(name);
}

/*
 * How long a call of this row held up its task at most. The kernel has two ways to wait. A sleep that a signal ends (S)
 * may last as long as somebody likes. In a call that is made for that, as read(), it is no harm by itself: the others'
 * work is what it waits for, and what holds them up is told where it is. A wait that no signal ends (D) is meant to be
 * short, for a disk or a lock of the kernel, and counts, as does the time on a CPU; a wait for a CPU is told as one.
 * Other calls, as fsync() or flock(), are not expected to wait for others, so that all of their time counts; but a
 * parent of vfork() waits for its child.
 */
static uint64_t held_by_call(const struct table *calls, size_t row, const char **ret_when, const char **ret_pid)
{
	const char *name = table_text_of(calls, row, "syscall");
	int column = table_column_named(calls, "held_max_ns");
	uint64_t held;
	bool known = column >= 0 && table_number_at(calls, row, (size_t)column, &held);

	*ret_when = "max_at";
	*ret_pid = "max_pid";
	if (why_waits_for_work(name) || !strncmp(name, "futex", 5) || strstr(name, "fork") ||
	    !strncmp(name, "clone", 5))
		return 0;
	if (!waits_for_others(name))
		return number(calls, row, "max_ns");
	*ret_when = "held_max_at";
	*ret_pid = "held_max_pid";
	return known ? held : 0;
}

static void see_calls(struct brief_rules *rules)
{
	const struct table *calls = brief_table(rules, "syscalls", "nr");

	for (size_t row = 0; !rules->full && row < rows_of(calls); row++) {
		const char *name = table_text_of(calls, row, "syscall"), *comm, *when, *whose;
		uint64_t held = held_by_call(calls, row, &when, &whose), usual = number(calls, row, "p50_ns");
		uint64_t count = number(calls, row, "calls"), pid = number(calls, row, whose);
		bool blocked = number(calls, row, "blocked_ns") > number(calls, row, "total_ns") / 2;
		char time[TEXT_HUMAN], all[TEXT_HUMAN];
		struct brief_case *found;

		if (!brief_is_long(rules, held, usual, count) && !(is_most(rules, held, count) && blocked))
			continue;
		found = brief_add(rules, blocked ? BRIEF_IO : BRIEF_LATENCY, part(rules, held));
		if (!found)
			continue;
		comm = comm_of(rules, pid);
		put_task(found, pid, comm);
		put_case(found, held, moment(calls, row, when));
		/* What held it up may have been anywhere in it. */
		if (!strncmp(when, "held", 4))
			found->from = moment(calls, row, "held_max_from");
		put_usual(found, usual, count, "calls");
		snprintf(found->what, sizeof(found->what), "a call of %s by %s-%" PRIu64 " took %s", name, comm, pid,
			 text_time(time, held));
		if (found->to - found->from > held + held / 4)
			snprintf(found->what, sizeof(found->what),
				 "a call of %s held up %s-%" PRIu64 " for %s of the %s that it took", name, comm, pid,
				 text_time(time, held), text_time(all, found->to - found->from));
		snprintf(found->command, sizeof(found->command), "weft syscalls --slowest 5");
	}
}

/*
 * A task that was blocked, as by a disk, most of the time, and long each time. One that reads many files waits as often
 * as it reads, which is its work.
 */
static void see_blocked(struct brief_rules *rules)
{
	const struct table *tasks = brief_table(rules, "tasks", "blocked_ns");
	uint64_t most = 0, blocked, waits;
	struct brief_case *found;
	char time[TEXT_HUMAN];
	const char *comm;
	size_t best = 0;

	for (size_t row = 0; row < rows_of(tasks); row++) {
		blocked = number(tasks, row, "blocked_ns");
		waits = number(tasks, row, "voluntary");
		if (blocked > most && blocked / rules->least >= waits && !is_kernel_thread(tasks, row)) {
			most = blocked;
			best = row;
		}
	}
	if (rules->disk_busy || most < rules->limit || part(rules, most) < 4 * rules->share)
		return;
	/* One that tells more of the same. */
	for (size_t i = 0; i < rules->nr; i++)
		if ((rules->cases[i].kind == BRIEF_LOCKS || rules->cases[i].kind == BRIEF_IO) &&
		    (uint64_t)rules->cases[i].pid == number(tasks, best, "pid"))
			return;
	found = brief_add(rules, BRIEF_IO, part(rules, most));
	if (!found)
		return;
	comm = table_text_of(tasks, best, "comm");
	put_task(found, number(tasks, best, "pid"), comm);
	snprintf(found->what, sizeof(found->what), "%s-%" PRId32 " was blocked (D) for %s, %u %% of the time", comm,
		 found->pid, text_time(time, most), percent(rules, most));
	snprintf(found->command, sizeof(found->command), "weft why --task %" PRId32, found->pid);
}

/* A task that was ready to run, while CPUs had nothing to do. */
static void see_beside_idle(struct brief_rules *rules)
{
	const struct table *tasks = brief_table(rules, "tasks", "wait_beside_idle_ns");
	struct brief_case *found;
	uint64_t most = 0, waited;
	char time[TEXT_HUMAN];
	const char *comm;
	size_t best = 0;

	for (size_t row = 0; row < rows_of(tasks); row++) {
		waited = number(tasks, row, "wait_beside_idle_ns");
		if (waited > most && !is_kernel_thread(tasks, row)) {
			most = waited;
			best = row;
		}
	}
	if (most < rules->limit || part(rules, most) < 2 * rules->share)
		return;
	for (size_t i = 0; i < rules->nr; i++)
		if ((uint64_t)rules->cases[i].pid == number(tasks, best, "pid"))
			return;
	found = brief_add(rules, BRIEF_CPU, part(rules, most));
	if (!found)
		return;
	comm = table_text_of(tasks, best, "comm");
	put_task(found, number(tasks, best, "pid"), comm);
	snprintf(found->what, sizeof(found->what),
		 "%s-%" PRId32
		 " was ready to run for %s, %u %% of the time, while a CPU was idle: a quota of its cgroup "
		 "(cpu.max) or its CPUs (taskset) held it back",
		 comm, found->pid, text_time(time, most), percent(rules, most));
	snprintf(found->command, sizeof(found->command), "weft sched --idle-while-waiting");
}

static void see_locks(struct brief_rules *rules)
{
	const struct table *locks = brief_table(rules, "locks", "waits");

	for (size_t row = 0; row < rows_of(locks); row++) {
		uint64_t total = number(locks, row, "total_ns"), waits = number(locks, row, "waits"),
			 pid = number(locks, row, "max_pid"), longest = number(locks, row, "max_ns");
		const char *type = table_text_of(locks, row, "type"), *comm = table_text_of(locks, row, "max_comm"),
			   *waker = table_text_of(locks, row, "woken_by");
		char time[TEXT_HUMAN], most[TEXT_HUMAN], number_text[TEXT_HUMAN];
		struct brief_case *found;

		/*
		 * A futex that is no mutex may be where a thread waits for work. Who shares a lock waits for it now and
		 * then: short waits have to be a fifth of the time.
		 */
		if (!is_share(rules, total) || total < rules->limit ||
		    (longest < rules->least && part(rules, total) < 0.2) ||
		    (!strcmp(type, "futex") && number(locks, row, "mutex_waits") * 2 <= waits))
			continue;
		found = brief_add(rules, BRIEF_LOCKS, part(rules, total));
		if (!found)
			continue;
		put_task(found, pid, comm);
		put_case(found, longest, moment(locks, row, "max_at"));
		if (waits == 1)
			snprintf(found->what, sizeof(found->what), "%s-%" PRIu64 " waited %s for %s %s", comm, pid,
				 text_time(most, longest), type, table_text_of(locks, row, "lock"));
		else
			snprintf(found->what, sizeof(found->what),
				 "%s waits for %s %s took %s of all tasks together; the longest, of %s-%" PRIu64 ", %s",
				 text_count(number_text, waits), type, table_text_of(locks, row, "lock"),
				 text_time(time, total), comm, pid, text_time(most, longest));
		/* An interrupt lets no lock go: a wait with a time limit has ended. */
		if (*waker && number(locks, row, "woken_by_pid"))
			snprintf(found->why, sizeof(found->why), "%s-%" PRIu64 " ended %s: it let the lock go", waker,
				 number(locks, row, "woken_by_pid"), waits == 1 ? "that" : "the longest");
		snprintf(found->command, sizeof(found->command), "weft locks");
	}
}

static void see_stalls(struct brief_rules *rules)
{
	const struct table *stalls = brief_table(rules, "stalls", "stall");

	for (size_t row = 0; row < rows_of(stalls); row++) {
		uint64_t total = number(stalls, row, "total_ns"), pid = number(stalls, row, "pid"),
			 count = number(stalls, row, "count");
		const char *comm = table_text_of(stalls, row, "comm");
		char time[TEXT_HUMAN], times[TEXT_HUMAN];
		struct brief_case *found;

		if (!is_share(rules, total) || total < rules->limit)
			continue;
		found = brief_add(rules, BRIEF_MEMORY, part(rules, total) + 0.5);
		if (!found)
			continue;
		put_case(found, number(stalls, row, "max_ns"), moment(stalls, row, "max_at"));
		snprintf(found->what, sizeof(found->what), "%s-%" PRIu64 " spent %s in %s, %u %% of the time", comm,
			 pid, text_time(time, total), table_text_of(stalls, row, "stall"), percent(rules, total));
		snprintf(found->why, sizeof(found->why),
			 "there was no free page when it asked for memory, %s time%s: the kernel made room first",
			 text_count(times, count), text_plural(count));
		snprintf(found->command, sizeof(found->command), "weft memory");
	}
}

/* Errors that no program expects. */
static void see_errors(struct brief_rules *rules)
{
	static const char *const bad[][2] = {
		{ "EIO", "the device or file system failed, or a terminal was closed" },
		{ "ENOSPC", "the file system is full" },
		{ "EDQUOT", "the user's quota is used up" },
		{ "ENOMEM", "there was no memory for it" },
		{ "EMFILE", "the process has too many open files" },
		{ "ENFILE", "the machine has too many open files" },
		{ "EROFS", "the file system can only be read" },
		{ "ESTALE", "the file is gone on the server" },
		{ "EUCLEAN", "the file system is damaged" },
	};
	const struct table *errors = brief_table(rules, "syscalls", "error");

	for (size_t row = 0; row < rows_of(errors); row++) {
		const char *error = table_text_of(errors, row, "error");
		char count[TEXT_HUMAN];
		struct brief_case *found;

		for (size_t i = 0; i < array_size(bad); i++) {
			if (strcmp(error, bad[i][0]) || !(found = brief_add(rules, BRIEF_ERRORS, 3)))
				continue;
			snprintf(found->what, sizeof(found->what), "%s call%s of %s failed with %s",
				 text_count(count, number(errors, row, "errors")),
				 text_plural(number(errors, row, "errors")), table_text_of(errors, row, "syscall"),
				 error);
			snprintf(found->why, sizeof(found->why), "%s", bad[i][1]);
			snprintf(found->command, sizeof(found->command), "weft syscalls --by errno");
		}
	}
}

/* Errors that are an answer: nothing is there yet, or the time is over. */
static bool is_answer(const char *error)
{
	static const char *const answers[] = { "EAGAIN", "EINTR", "ETIMEDOUT", "EINPROGRESS", "ECHILD" };

	for (size_t i = 0; i < array_size(answers); i++)
		if (!strcmp(error, answers[i]))
			return true;
	return !strncmp(error, "ERESTART", 8);
}

/* What a program asks for again and again in vain. Builds and shells look for files in vain, too, but not for long. */
static void see_failures(struct brief_rules *rules)
{
	const struct table *errors = brief_table(rules, "syscalls", "error");

	for (size_t row = 0; row < rows_of(errors); row++) {
		const char *error = table_text_of(errors, row, "error");
		uint64_t total = number(errors, row, "total_ns") - number(errors, row, "blocked_ns"),
			 pid = number(errors, row, "max_pid"), calls = number(errors, row, "errors");
		char count[TEXT_HUMAN], time[TEXT_HUMAN];
		struct brief_case *found;

		if (is_answer(error) || total < rules->limit || part(rules, total) < 4 * rules->share)
			continue;
		found = brief_add(rules, BRIEF_ERRORS, part(rules, total));
		if (!found)
			continue;
		snprintf(found->what, sizeof(found->what), "%s call%s of %s failed with %s, and took %s%s",
			 text_count(count, calls), text_plural(calls), table_text_of(errors, row, "syscall"), error,
			 text_time(time, total), calls == 1 ? "" : " of all tasks together");
		snprintf(found->why, sizeof(found->why), "%s was of %s-%" PRIu64 ": it asks in vain",
			 calls == 1 ? "it" : "the longest", comm_of(rules, pid), pid);
		snprintf(found->command, sizeof(found->command), "weft syscalls --by errno");
	}
}

void brief_apply(struct brief_rules *rules)
{
	brief_apply_facts(rules);
	see_errors(rules);
	see_failures(rules);
	see_cpus(rules);
	see_steal(rules);
	see_wakeups(rules);
	see_interrupts(rules);
	see_devices(rules);
	see_requests(rules);
	see_calls(rules);
	see_locks(rules);
	see_stalls(rules);
	see_blocked(rules);
	see_beside_idle(rules);
}
