/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_PASS_H
#define WEFT_ANSWERS_FRAME_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/dispatch.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/samples.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/state/state.h"

struct context;
struct event;
struct findings;
struct face;
struct file_calls;
struct mark_spans;
struct out;
struct reader;
struct reader_consumer;
struct table;
struct vcpus;
struct wall;

/*
 * Which rows the user wants. The state follows all tasks and CPUs, whichever are selected. All members are borrowed; a
 * filter of zeros selects everything.
 */
struct pass_filter {
	const int32_t *pids;
	size_t nr_pids;
	const char *const *comms; /* globs */
	size_t nr_comms;
	const struct who_want *who; /* whom tasks must belong to then (lib/meaning/follow/who.h); not with comms */
	size_t nr_who;
	const char *const *marks; /* globs: what tasks did inside spans of these names */
	size_t nr_marks;
	const char *const *files; /* globs: what tasks did inside system calls on such files */
	size_t nr_files;
	const struct cpus *cpus; /* NULL: all */
	bool self;               /* includes weft's own tasks */
	const struct vcpus
		*vcpus; /* of the guest that is read: what its host says of its CPUs; NULL: it is not asked */
	bool guest;     /* with `shape`: vcpus would be there */
	/* How lines and notes show moments, and the time of day of the file; NULL: as times of the trace. */
	const struct face *face;
	const struct wall *wall;
	bool shape; /* only what the tables look like is asked: they are made without any event */
};

/*
 * One pass over the events of a reader for any number of analyses, which share the state of the traced machine. The
 * file names the PIDs of weft itself: these tasks take part in the state, but are left out of the tables.
 * Use: pass_init(); pass_add() each analysis; pass_run(); pass_finish().
 */
struct pass {
	struct reader *reader; /* borrowed; started */
	struct pass_filter filter;
	struct mark_spans *spans; /* of filter::marks; NULL: there are none */
	struct file_calls *files; /* of filter::files */
	const char *machine; /* the traced machine, as `uname -m` names it; "": unknown, so are names of system calls */
	struct state state;
	/*
	 * Of all analyses but those whose ops say `apart`; and of these. Together they keep `samples` values, whichever
	 * threads run: so that all figures are the same with any number of threads.
	 */
	struct samples_budget budget, budget_apart;
	size_t samples;                /* SAMPLES_BUDGET; set it before pass_add() */
	bool ended;                    /* pass_end() was called */
	bool failed;                   /* an analysis ran out of memory */
	uint64_t block_from, block_ns; /* see pass_cut() */
	/*
	 * Takes the lines of an analysis that prints while it reads. The owner empties it after each event. NULL: no
	 * lines are wanted.
	 */
	struct out *lines;
	bool may_divide; /* see pass_divide() */
	/*
	 * Intervals follow each other, of which the times add up to those of all events. What is under way when one
	 * ends counts in each that it lasts in, by its time there, and is one call, wait or run where it ends.
	 */
	bool divides;
	struct pass *apart; /* of the analyses apart, with a state of its own; NULL: they are in this one */
	/* Set around pass_restart(): the type of the event that was read and begins the new interval; or NULL. */
	const struct event_type *pending;
	/* Of a pass that was made in slices of time, whose reader has read nothing: "system:event", one a line. */
	struct buf types;
	/* Private to the pass: */
	struct pass_groups {
		enum who_part part;
		void (*spent)(void *arg, uint32_t who, enum task_mode mode, uint64_t ns);
		void *arg;
	} groups;
	struct pass_item {
		const struct analysis_ops *ops;
		const void *options;
		void *analysis;
	} * items;
	size_t nr_items;
	size_t kept; /* tasks that the last pass_restart() kept, because they were alive */
	struct dispatch dispatch;
	int32_t *self;
	size_t nr_self;
	uint64_t self_bits; /* pass_self_bit() of each of weft's own tasks */
};

/* Borrows the reader, which must have a buffer. Returns -EINVAL if its clock does not count time. */
int must_check pass_init(struct pass *pass, struct reader *reader, const struct pass_filter *filter, struct fail *fail);
void pass_release(struct pass *pass);

/*
 * Cuts the time from `first` to `last` into this many blocks of equal length, and marks each sample with its block.
 * Call it before pass_run().
 */
enum { PASS_BLOCKS = 40 };
void pass_cut(struct pass *pass, uint64_t first, uint64_t last);
/* Returns whether pass_cut() was called, which is so when the tables are compared with tables of other files. */
static inline bool pass_compares(const struct pass *pass)
{
	return pass->budget.marks;
}

/*
 * Lets analyses whose ops say `apart` run beside the others, with a state of their own, if the reader has a thread
 * beside this one: the second state costs less than the thread gains. Call it before pass_add(); then only pass_run()
 * without `after` shows the pass its events, and pass_cut() is not called. Memory then grows twice with the number of
 * tasks, by 200 bytes each.
 */
void pass_divide(struct pass *pass);
/*
 * For an analysis that has others: the pass with which such a part is made. If it is another one than `pass`, the part
 * gets its events and gaps from the dispatch of that one. NULL: no memory.
 */
struct pass *pass_of(struct pass *pass, const struct analysis_ops *part);
int must_check pass_add(struct pass *pass, const struct analysis_ops *ops, const void *options, struct fail *fail);
/* `after`, which may be NULL, sees each event after the analyses. */
int must_check pass_run(struct pass *pass, const struct reader_consumer *after, struct fail *fail);
/*
 * For a caller that shows the pass its events itself, instead of pass_run(): pass_see() for each event, pass_end()
 * after the last one, then pass_finish(). After that, pass_restart() begins a new interval at that time with new
 * analyses of the same kinds; memory then depends only on what happens from there on.
 */
void pass_see(struct pass *pass, const struct event *event);
int must_check pass_end(struct pass *pass, struct fail *fail);
int must_check pass_restart(struct pass *pass, struct fail *fail);
/* Whether so many tasks have lived since the last pass_restart() that memory asks for another. */
enum { PASS_TASKS_MAX = 8192 };
bool pass_is_full(const struct pass *pass);

/* Takes note of the types of the events that a reader of slices has read. */
int must_check pass_note_types(struct pass *pass, const struct reader *reader, struct fail *fail);

/* Returns whether an event that matches the patterns, as those of -e, has occurred so far or was enabled. */
bool pass_has(const struct pass *pass, const char *patterns);
/*
 * Columns that say nothing without an event that matches the patterns, by their keys: where none was recorded, the
 * table added last has "-" in them. A column that needs several events has a row for each.
 */
struct pass_unseen {
	const char *key, *events;
};
void pass_forget_unseen(const struct pass *pass, struct findings *findings, const struct pass_unseen *unseen,
			size_t nr);

/* What tells that a task was put on a queue, wakeups, and the time in hard interrupts of any machine. */
#define PASS_QUEUED "sched:sched_wakeup,ftrace:wakeup"
#define PASS_WAKES "sched:sched_waking," PASS_QUEUED
#define PASS_VECTORS "irq_vectors,ipi:ipi_entry,powerpc:timer_interrupt_entry,powerpc:doorbell_entry"
#define PASS_IRQS "irq:irq_handler_entry," PASS_VECTORS

/* Whether sched_switch tells who has a CPU; in intervals that follow each other it does so in all, or in none. */
bool pass_switches(const struct pass *pass);
/* Whether an event that an analysis wants occurs, or was recorded and did not happen. */
bool pass_recorded(const struct pass *pass, const struct analysis_want *want);

/* Whether "system:event" is one of the patterns, as -e takes them: "system:event", "system", and lists of them. */
bool pass_is_named(const char *patterns, const char *name);

/* Notes which CPUs, events and tasks the recording left out by a filter (tracing_cpumask, -f, set_event_pid). */
void pass_put_filters(const struct pass *pass, const struct analysis_ops *ops, struct findings *findings);

/* Follows the names of tasks if the user chose some. pass_init() calls it. */
void pass_names_begin(struct pass *pass);
/* Notes which tasks of the selection had other names for a part of the time. */
/* The text of a moment in lines, titles and notes, with nine digits behind the seconds. */
enum { PASS_MOMENT = 64 };
const char *pass_moment(const struct pass *pass, uint64_t ns, char into[PASS_MOMENT]);
/* Says whom a choice by --process, --unit and so on leaves out because it is not known whom they belong to. */
void pass_put_unknown(const struct pass *pass, struct findings *findings);
void pass_put_names(const struct pass *pass, const struct analysis_ops *ops, struct findings *findings);

/* Returns whether the reader shows only the events between two times. */
bool pass_is_part(const struct pass *pass);

/* Returns the first buffer that was recorded with a PID filter; NULL: there is none. */
const struct context *pass_filtered(const struct pass *pass);

/* Reports which of the first `nr` events that an analysis wants were not recorded. */
void pass_missing(const struct pass *pass, const struct analysis_ops *ops, size_t nr, struct findings *findings);

/* What finish() of an analysis returns if nothing of what it is about is among the events. */
enum { PASS_NOTHING = 1 };
/* Calls finish(); of PASS_NOTHING it makes pass_nothing(). For the parts of an analysis: others call pass_finish(). */
int must_check pass_finish_part(const struct pass *pass, const struct analysis_ops *ops, void *analysis,
				struct findings *findings, struct fail *fail);

/*
 * Returns -ENODATA. `fail` then has ops::nothing ("there are no waits for locks"): either although the events of the
 * analysis were recorded, or because they were not; then it names ops::recorded_by, the options that record them.
 */
int pass_nothing(const struct pass *pass, const struct analysis_ops *ops, struct fail *fail);

/* Finishes the analysis with this index. */
int must_check pass_finish(struct pass *pass, size_t index, struct findings *findings, struct fail *fail);

static inline uint64_t pass_self_bit(int32_t pid)
{
	return UINT64_C(1) << (pid & 63);
}

/*
 * Returns whether something that this task did from `since` to now is wanted: a wait, a run, a call. It is if the task
 * had a wanted name at any moment of it. What weft's own tasks did is not. pass_chooses() is the part that needs more
 * than the PID. pass_wants() asks about this moment, and after pass_end() about the whole life of the task, that is,
 * about its row.
 */
bool pass_chooses(const struct pass *pass, const struct state_task *task, uint64_t since);

/* Whether the user wants only what tasks did at some times: then a task that was wanted may be so no more. */
static inline bool pass_asks_times(const struct pass *pass)
{
	return pass->spans || pass->files;
}

/* Whether the user wants only some tasks, or what they did inside spans. */
static inline bool pass_chooses_tasks(const struct pass *pass)
{
	return pass->filter.nr_pids || pass->filter.nr_comms || pass->filter.nr_who || pass->spans;
}

/* Whether the user wants only some tasks, or what they did at some times. */
static inline bool pass_is_narrow(const struct pass *pass)
{
	return pass_chooses_tasks(pass) || pass->files;
}

static inline bool pass_wants_since(const struct pass *pass, const struct state_task *task, uint64_t since)
{
	if (!pass_is_narrow(pass) && !(pass->self_bits & pass_self_bit(task->pid)))
		return true;
	return pass_chooses(pass, task, since);
}

/*
 * The same for what is known to be of a wanted file by itself: a request of a disk or of io_uring, which goes on after
 * the call that asked for it.
 */
bool pass_chooses_of_file(const struct pass *pass, const struct state_task *task, uint64_t since);
static inline bool pass_wants_of_file(const struct pass *pass, const struct state_task *task, uint64_t since)
{
	if (!pass_chooses_tasks(pass) && !(pass->self_bits & pass_self_bit(task->pid)))
		return true;
	return pass_chooses_of_file(pass, task, since);
}

static inline bool pass_wants(const struct pass *pass, const struct state_task *task)
{
	return pass_wants_since(pass, task, pass->ended ? 0 : UINT64_MAX);
}

/* The text of a number of who_is() in a table: "(unknown)", and "(none)" of what is in no unit, container or pod. */
const char *pass_group_text(const struct pass *pass, enum who_part part, uint32_t who);
/* That number for a task of the state at this moment, which may be STATE_NO_TASK. */
uint32_t pass_group(const struct pass *pass, enum who_part part, uint32_t task);
/*
 * From now on calls `spent` with all time that the tasks whom the user wants spend in a mode, divided among those whom
 * they belonged to. One caller for each pass.
 */
typedef void pass_group_spent(void *arg, uint32_t who, enum task_mode mode, uint64_t ns);
void pass_follow_groups(struct pass *pass, enum who_part part, pass_group_spent *spent, void *arg);
/* Names a column of the table that was added last after the part: "UNIT". Column 0 is the first one. */
void pass_group_head(struct findings *findings, enum who_part part, size_t column);

/* How long a task was in a mode with wanted names: each ns once. Call it after pass_end(). */
uint64_t pass_spent(const struct pass *pass, const struct state_task *task, enum task_mode mode);
/* How long it was so, up to now, with names that are not wanted. */
uint64_t pass_elsewhere(const struct pass *pass, const struct state_task *task, enum task_mode mode);
/*
 * How long a task has had names that are not wanted, up to now, and how much of it running, blocked, waiting for a CPU:
 * the difference of two moments is the part of an interval between them that is in no sum under a wanted name.
 */
struct pass_away {
	uint64_t all, running, blocked, waiting;
};
struct pass_away pass_away(const struct pass *pass, const struct state_task *task);

/* Whether the tables of a guest beside its host are wanted (lib/answers/frame/vcpu_times.h). */
static inline bool pass_is_guest(const struct pass *pass)
{
	return pass->filter.vcpus || pass->filter.guest;
}

static inline bool pass_wants_cpu(const struct pass *pass, uint32_t cpu)
{
	return __builtin_expect(!pass->filter.cpus, 1) || cpus_has(pass->filter.cpus, cpu);
}

bool pass_is_self(const struct pass *pass, int32_t pid);

/*
 * Returns the task's name: the last one from an event, or the one that the file has. After pass_end() it is that of the
 * task's row: the last one that the user wants.
 */
const char *pass_comm(const struct pass *pass, const struct state_task *task);
/* Whether the name that a task had then, or "", is shown in place of pass_comm(): not where names were chosen. */
static inline bool pass_shows_comm(const struct pass *pass, const char *then)
{
	return *then && !pass->state.naming.nr;
}
static inline const char *pass_comm_then(const struct pass *pass, const char *then, const struct state_task *task)
{
	return pass_shows_comm(pass, then) ? then : pass_comm(pass, task);
}

/* What a task is called now, for a cell of later; "" for STATE_NO_TASK. */
void pass_note_comm(const struct pass *pass, uint32_t id, char into[TASK_COMM_LEN]);

/* Cells with the name or the PID of a task of the state; "" or "-" for STATE_NO_TASK. */
void pass_put_comm(struct table *table, const struct pass *pass, uint32_t id);
/* The name that was noted of the task, if it is shown. */
void pass_put_comm_then(struct table *table, const struct pass *pass, const char *then, uint32_t id);
void pass_put_pid(struct table *table, const struct pass *pass, uint32_t id);
/* A cell with who woke a task: "" if it is not known, its PID if only that is known. */
void pass_put_waker(struct table *table, const struct pass *pass, struct waker waker);
/* A cell with `before` and that waker with its PID: "woken by sshd-812", "woken by its own timer". */
void pass_put_ended_by(struct table *table, const struct pass *pass, const char *before, struct waker waker);
/* The name as a text, for which there may be no room but `text`. */
enum { PASS_WAKER = 16 };
const char *pass_waker(const struct pass *pass, struct waker waker, char text[PASS_WAKER]);

/* What SPREAD() shows of samples; p99 only of SAMPLES_P99_MIN and more. */
struct percentiles {
	uint64_t count, p50, p99, max;
};
struct percentiles percentiles_of(const struct samples *samples);

#endif
