// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/latency/latency_waits_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/history.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/withheld.h"
#include "lib/meaning/reader/reader.h"

/* Why it could not have the CPU: its quota was used up, or what the CPU did meanwhile. */
enum part { PART_QUOTA, PART_HARD, PART_SOFT, PART_OWN, PART_OTHERS, PART_KERNEL, PART_IDLE, PART_UNKNOWN, PARTS };

struct row {
	uint64_t all, parts[PARTS];
	struct u64_map others; /* by whom: uint64_t, how long their tasks ran meanwhile */
	/* by CPU: uint64_t, how much of the waits there, without its quota, may be stolen, each taken alone */
	struct u64_map cpus;
	uint32_t who;
};

/*
 * How long so many tasks waited for a CPU at once: what a hypervisor takes is in the wait of each of them. The last
 * counts as DEPTHS and more, of which `most` is the largest number.
 */
enum { DEPTHS = 32 };

struct depth {
	uint64_t at[DEPTHS + 1], since;
	uint64_t missed; /* of waits that had begun before they were known */
	uint32_t now, most;
};

struct waiting {
	struct history_wait wait;
	uint32_t on; /* the CPU whose depth has it; STATE_NO_CPU: none */
};

struct latency_waits {
	struct pass *pass;
	struct history *history;
	const struct context *context;
	struct withheld *withheld;
	enum who_part part;
	struct waiting **waits; /* by the task's index in the state; NULL: it has not waited */
	size_t nr_waits;
	struct depth *depths; /* by CPU */
	size_t nr_depths;
	struct row *rows;
	size_t nr_rows;
	struct u64_map numbers; /* by whom: uint32_t, the row's index + 1 */
};

static struct row *row_of(struct latency_waits *by, uint32_t who)
{
	uint32_t *number = u64_map_add(&by->numbers, who);
	struct row *row = !number ? NULL : *number ? &by->rows[*number - 1] : vec_push(by->rows, by->nr_rows);

	if (!row) {
		by->pass->failed = true;
		return NULL;
	}
	if (!*number) {
		*row = (struct row){ .who = who };
		u64_map_init(&row->others, sizeof(uint64_t));
		u64_map_init(&row->cpus, sizeof(uint64_t));
		*number = (uint32_t)by->nr_rows;
	}
	return row;
}

static bool is_kernel(const struct latency_waits *by, int32_t pid, uint64_t ts)
{
	const char *program = who_text(by->context, WHO_PROGRAM, who_is(by->context, WHO_PROGRAM, pid, ts, NULL));

	return !strcmp(program, "(kernel)");
}

/* A task had the CPU for so long. */
static void add_task(struct latency_waits *by, struct row *row, uint32_t task, uint64_t lasted, uint64_t ts)
{
	const struct state *state = &by->pass->state;
	int32_t pid = task < state->nr_tasks ? state->tasks[task].pid : 0;
	uint32_t who = pid ? who_is(by->context, by->part, pid, ts, NULL) : (uint32_t)WHO_NOBODY;
	uint64_t *of;

	if (!lasted)
		return;
	if (pid && is_kernel(by, pid, ts)) {
		row->parts[PART_KERNEL] += lasted;
		return;
	}
	if (!who || !row->who) {
		row->parts[PART_UNKNOWN] += lasted;
		return;
	}
	if (who == row->who) {
		row->parts[PART_OWN] += lasted;
		return;
	}
	row->parts[PART_OTHERS] += lasted;
	of = u64_map_add(&row->others, who);
	by->pass->failed |= !of;
	if (of)
		*of += lasted;
}

/* How long the CPUs did anything that is known. */
static uint64_t known_of(const struct history_sum *sum)
{
	uint64_t known = sum->modes[CPU_HARDIRQ] + sum->modes[CPU_SOFTIRQ] + sum->modes[CPU_IDLE] + sum->before +
			 sum->after,
		 key;
	const uint64_t *spent;

	for (size_t at = 0; (spent = u64_map_next(&sum->tasks, &at, &key));)
		known += *spent;
	return known;
}

/* Divides a wait that lasted until `to`. */
static void divide(struct latency_waits *by, struct row *row, const struct history_wait *wait, uint64_t to)
{
	uint64_t lasted = to - wait->began, known, key;
	const uint64_t *spent;
	struct history_sum sum;

	history_sum_init(&sum);
	history_wait_sum(by->history, wait, to, &sum);
	known = known_of(&sum);
	row->parts[PART_UNKNOWN] += known < lasted ? lasted - known : known > lasted ? lasted : 0;
	if (known <= lasted) {
		row->parts[PART_HARD] += sum.modes[CPU_HARDIRQ];
		row->parts[PART_SOFT] += sum.modes[CPU_SOFTIRQ];
		row->parts[PART_IDLE] += sum.modes[CPU_IDLE];
		add_task(by, row, wait->before, sum.before + sum.after, to);
		for (size_t at = 0; (spent = u64_map_next(&sum.tasks, &at, &key));)
			add_task(by, row, (uint32_t)key, *spent, to);
	}
	history_sum_release(&sum);
}

static struct history_wait *wait_of(const struct latency_waits *by, uint32_t task)
{
	return task < by->nr_waits && by->waits[task] ? &by->waits[task]->wait : NULL;
}

static void count_depth(struct depth *depth, uint64_t now)
{
	depth->at[depth->now < DEPTHS ? depth->now : DEPTHS] += now - depth->since;
	depth->most = depth->now > depth->most ? depth->now : depth->most;
	depth->since = now;
}

/* A task waits for that CPU from now on, or for none any more. */
static void change_depth(struct latency_waits *by, struct waiting *waiting, uint32_t cpu)
{
	if (waiting->on == cpu)
		return;
	if (waiting->on != (uint32_t)STATE_NO_CPU) {
		count_depth(&by->depths[waiting->on], by->pass->state.now);
		by->depths[waiting->on].now--;
	}
	waiting->on = (uint32_t)STATE_NO_CPU;
	while (cpu != (uint32_t)STATE_NO_CPU && by->nr_depths <= cpu) {
		if (!vec_push(by->depths, by->nr_depths)) {
			by->pass->failed = true;
			return;
		}
	}
	if (cpu == (uint32_t)STATE_NO_CPU)
		return;
	waiting->on = cpu;
	count_depth(&by->depths[cpu], by->pass->state.now);
	by->depths[cpu].missed += by->pass->state.now - waiting->wait.since;
	by->depths[cpu].now++;
}

/* Whether the user wants what the task does, as sched_by.c counts it. */
static bool may_count(const struct pass *pass, const struct state_task *task)
{
	return (pass->state.naming.away || pass_wants(pass, task)) &&
	       (pass->filter.self || !pass_is_self(pass, task->pid)) && listed_has(&pass->state.listed, task->pid);
}

static bool is_away(const struct latency_waits *by, const struct state_task *task, uint64_t from, uint64_t to)
{
	const struct naming *naming = &by->pass->state.naming;

	return naming->away && naming->away(naming->arg, task, from, to) == to - from;
}

static void add_cpu(struct latency_waits *by, struct row *row, uint32_t cpu, uint64_t from, uint64_t to)
{
	uint64_t *of = u64_map_add(&row->cpus, cpu);

	by->pass->failed |= !of;
	if (of)
		*of += withheld_stolen_within(by->withheld, cpu, from, to);
}

/* Counts a piece of a wait, during which the task belonged to the same and its group was `stopped` or not. */
static void count(struct latency_waits *by, const struct state_task *task, struct history_wait *wait, uint64_t from,
		  uint64_t to, bool stopped)
{
	struct row *row =
		is_away(by, task, from, to) ? NULL : row_of(by, who_is(by->context, by->part, task->pid, from, NULL));
	uint32_t cpu = wait ? wait->cpu : (uint32_t)STATE_NO_CPU;

	if (row)
		row->all += to - from;
	if (row && !stopped && cpu != STATE_NO_CPU)
		add_cpu(by, row, cpu, from, to);
	if (row && stopped)
		row->parts[PART_QUOTA] += to - from;
	else if (row && cpu != STATE_NO_CPU && wait->began == from)
		divide(by, row, wait, to);
	else if (row)
		row->parts[PART_UNKNOWN] += to - from;
	if (cpu != STATE_NO_CPU)
		history_wait_begin(by->history, wait, cpu, to);
}

static void spent(void *arg, const struct state_task *task, unsigned mode, uint64_t from, uint64_t to)
{
	struct latency_waits *by = arg;
	struct history_wait *wait = wait_of(by, (uint32_t)(task - by->pass->state.tasks));
	uint64_t until, change;

	if (task->idle || !state_waits((enum task_mode)mode) || !may_count(by->pass, task))
		return;
	for (uint64_t at = from; at < to; at = until) {
		uint32_t cpu = wait && wait->cpu != STATE_NO_CPU ? wait->cpu : task->cpu;
		bool stopped = withheld_stops(by->withheld, who_group(by->context, task->pid, at), cpu, at, &change);

		until = who_until(by->context, task->pid, at);
		until = until < change ? until : change;
		until = until < to ? until : to;
		/* The queues before the last are known together only. */
		if (until < to && wait && wait->moved)
			history_wait_end(by->history, wait);
		count(by, task, wait, at, until, stopped);
	}
}

struct latency_waits *latency_waits_new(struct pass *pass, struct history *history, enum who_part part)
{
	struct latency_waits *by = calloc(1, sizeof(*by));

	if (!by)
		return NULL;
	by->pass = pass;
	by->history = history;
	by->context = pass->reader->buffers[0].context;
	by->part = part;
	by->withheld = withheld_new(by->context);
	u64_map_init(&by->numbers, sizeof(uint32_t));
	if (!by->withheld) {
		latency_waits_free(by);
		return NULL;
	}
	state_follow_spent(&pass->state, spent, by);
	return by;
}

void latency_waits_free(struct latency_waits *by)
{
	if (!by)
		return;
	for (size_t i = 0; i < by->nr_waits; i++) {
		if (by->waits[i])
			history_wait_end(by->history, &by->waits[i]->wait);
		free(by->waits[i]);
	}
	free(by->waits);
	free(by->depths);
	for (size_t i = 0; i < by->nr_rows; i++) {
		u64_map_release(&by->rows[i].others);
		u64_map_release(&by->rows[i].cpus);
	}
	free(by->rows);
	withheld_free(by->withheld);
	u64_map_release(&by->numbers);
	free(by);
}

/* NULL without memory. */
static struct waiting *make_wait(struct latency_waits *by, uint32_t task)
{
	struct waiting *waiting;

	while (by->nr_waits <= task)
		if (!vec_push(by->waits, by->nr_waits))
			return NULL;
	if (by->waits[task])
		return by->waits[task];
	waiting = malloc(sizeof(*waiting));
	if (waiting) {
		history_wait_init(&waiting->wait);
		waiting->on = (uint32_t)STATE_NO_CPU;
	}
	return by->waits[task] = waiting;
}

/* Keeps the wait of a task as the state has it after the event. */
static void follow(struct latency_waits *by, uint32_t id, bool moved)
{
	const struct state_task *task = &by->pass->state.tasks[id];
	struct history_wait *wait = wait_of(by, id);
	bool waits = !task->idle && !task->died && state_waits((enum task_mode)task->mode);

	if (!waits) {
		if (wait)
			history_wait_end(by->history, wait);
		return;
	}
	if (task->cpu == STATE_NO_CPU)
		return;
	if (!wait) {
		struct waiting *made = make_wait(by, id);

		wait = made ? &made->wait : NULL;
	}
	if (!wait)
		by->pass->failed = true;
	else if (wait->cpu == STATE_NO_CPU || wait->began != task->since)
		history_wait_begin(by->history, wait, task->cpu, task->since);
	else if (moved)
		history_wait_move(by->history, wait, task->cpu, by->pass->state.now);
}

static void follow_depth(struct latency_waits *by, uint32_t id, bool moved)
{
	follow(by, id, moved);
	if (wait_of(by, id))
		change_depth(by, by->waits[id], by->waits[id]->wait.cpu);
}

void latency_waits_see(struct latency_waits *by)
{
	const struct state_step *step = &by->pass->state.step;

	if (step->kind == STEP_NONE || step->kind == STEP_LOST || step->kind == STEP_FORK)
		return;
	if (step->task != STATE_NO_TASK)
		follow_depth(by, step->task, step->kind == STEP_MIGRATE);
	if (step->kind == STEP_SWITCH && step->other != STATE_NO_TASK)
		follow_depth(by, step->other, false);
}

/* Whose tasks ran longest meanwhile. */
static const char *most_of(const struct latency_waits *by, const struct row *row, uint64_t *ret_lasted)
{
	uint32_t most = WHO_NOBODY;
	const uint64_t *lasted;
	uint64_t who;

	*ret_lasted = 0;
	for (size_t at = 0; (lasted = u64_map_next(&row->others, &at, &who));) {
		if (*lasted < *ret_lasted || (*lasted == *ret_lasted && who > most))
			continue;
		*ret_lasted = *lasted;
		most = (uint32_t)who;
	}
	return most ? pass_group_text(by->pass, by->part, most) : "";
}

/* What so much stolen time of a CPU is at most in the waits of all tasks: taken when the most of them waited. */
static uint64_t most_stolen(const struct latency_waits *by, uint32_t cpu)
{
	const struct depth *depth = cpu < by->nr_depths ? &by->depths[cpu] : NULL;
	uint64_t left = withheld_stolen(by->withheld, cpu), sum = depth && left ? depth->missed : 0;

	for (uint32_t i = DEPTHS; depth && i; i--) {
		uint64_t taken = depth->at[i] < left ? depth->at[i] : left;

		sum += taken * (i == DEPTHS ? depth->most : i);
		left -= taken;
	}
	return sum;
}

/* How much of the waits may be time that the hypervisor took from their CPUs. */
static uint64_t stolen_of(const struct latency_waits *by, const struct row *row)
{
	const uint64_t *stolen;
	uint64_t cpu, sum = 0;

	for (size_t at = 0; (stolen = u64_map_next(&row->cpus, &at, &cpu));) {
		uint64_t most = most_stolen(by, (uint32_t)cpu);

		sum += most < *stolen ? most : *stolen;
	}
	return sum;
}

enum { OF_PID = WHEN, OF_QUOTA = WHEN << 1, OF_STOLEN = WHEN << 2 };

#define WAIT_COLUMNS(X)                                                                                         \
	X("WHO", TEXT, "who", BRIEF | SAME, table_cell, pass_group_text(by->pass, by->part, row->who))          \
	X("PID", NUMBER, "pid", SAME | OF_PID, table_cell_known_s64, of_process && row->who, (int64_t)row->who) \
	X("WAIT", TIME, NULL, BRIEF | ADDS, table_cell_u64, row->all)                                           \
	X("QUOTA", TIME, NULL, ADDS | OF_QUOTA, table_cell_known, times, row->parts[PART_QUOTA])                \
	X("OTHERS", TIME, NULL, ADDS, table_cell_u64, row->parts[PART_OTHERS])                                  \
	X("OWN", TIME, NULL, ADDS, table_cell_u64, row->parts[PART_OWN])                                        \
	X("KERNEL", TIME, NULL, ADDS, table_cell_u64, row->parts[PART_KERNEL])                                  \
	X("IRQ", TIME, NULL, ADDS | SPARE, table_cell_u64, row->parts[PART_HARD])                               \
	X("SOFTIRQ", TIME, NULL, ADDS | SPARE, table_cell_u64, row->parts[PART_SOFT])                           \
	X("IDLE", TIME, NULL, ADDS, table_cell_u64, row->parts[PART_IDLE])                                      \
	X("UNKNOWN", TIME, NULL, ADDS | SPARE, table_cell_u64, row->parts[PART_UNKNOWN])                        \
	X("STOLEN", TIME, "stolen_at_most_ns", OF_STOLEN, table_cell_u64, stolen_of(by, row))                   \
	X("MOST FOR", TEXT, "most_for", BRIEF | KEEP, table_cell, most)                                         \
	X("OF IT", TIME, "most_for_ns", BRIEF, table_cell_u64, lasted)

static const struct table_column columns[] = COLUMNS(WAIT_COLUMNS);
static const struct pass_unseen unseen[] = { { "irq_ns", PASS_IRQS }, { "softirq_ns", "irq:softirq_entry" } };

/* What the table does not show of quotas. */
static void tell_quota(const struct latency_waits *by, bool brief, struct findings *findings)
{
	char text[TEXT_HUMAN];
	uint64_t times, ns;

	findings_broken(findings, withheld_losses(by->withheld), "times of quotas");
	if (withheld_has_times(by->withheld))
		return;
	if (!withheld_counted(by->withheld, &times, &ns) && !brief)
		findings_note(findings, "not recorded: quota, of control groups that used up theirs; weft record "
					"--quota has it, on a kernel with kprobes");
	else if (times)
		findings_note(findings,
			      "not recorded: quota: the kernel stopped control groups %s time%s, %s in all, "
			      "which look like other waits here; weft record --quota tells them apart, "
			      "on a kernel with kprobes",
			      text_count((char[TEXT_HUMAN]){ 0 }, times), text_plural(times), text_time(text, ns));
}

void latency_waits_put(struct latency_waits *by, bool brief, struct findings *findings)
{
	struct table *table = findings_table(
		findings, "waits",
		"waits for a CPU, of tasks together, by why: their quota was used up, or what it did: tasks of "
		"others, of the same row, of the kernel, interrupts, nothing",
		"wait", columns);
	bool of_process = by->part == WHO_PROCESS, times = withheld_has_times(by->withheld), stolen = false;

	if (!table)
		return;
	for (size_t i = 0; i < by->nr_depths; i++)
		count_depth(&by->depths[i], by->pass->state.now);
	if (brief)
		findings->items[findings->nr - 1].more = "latency --by unit";
	pass_group_head(findings, by->part, 0);
	for (size_t i = 0; i < by->nr_rows && !stolen; i++)
		stolen = stolen_of(by, &by->rows[i]);
	findings_show(findings, OF_PID, of_process);
	findings_show(findings, OF_QUOTA, times);
	findings_show(findings, OF_STOLEN, stolen);
	findings_flag(findings, OF_QUOTA, BRIEF, times);
	tell_quota(by, brief, findings);
	for (size_t i = 0; i < by->nr_rows; i++) {
		const struct row *row = &by->rows[i];
		uint64_t lasted;
		const char *most = most_of(by, row, &lasted);

		WAIT_COLUMNS(CELL)
	}
	pass_forget_unseen(by->pass, findings, unseen, array_size(unseen));
}
