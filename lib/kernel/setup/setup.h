/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_SETUP_H
#define WEFT_KERNEL_SETUP_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/cpus.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/setup/processes.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;
struct late;
struct setup_probes;
struct undo;

/*
 * What to trace: the description that record, start, set and stream share (cmd/options/setup_options.h fills it from a
 * command line), and the functions that set the kernel up for it.
 *
 * Words: an instance is one ring buffer of the kernel with its settings. The main instance of a setup is the one that
 * options without -B describe; setup_manner says whether it is a private instance or the top instance.
 *
 * Ownership: all strings are borrowed from the caller; the lists are owned, and setup_release() frees them.
 */
struct setup_list {
	const char **items;
	size_t nr;
	/* of functions: the kernel's list is kept, `items` are added to it, and `gone` are removed from it */
	bool keeps;
	const char **gone;
	size_t nr_gone;
};

bool setup_list_add(struct setup_list *list, const char *item);
bool setup_list_remove(struct setup_list *list, const char *item);

struct setup_event {
	const char *pattern;
	/* the definition of a probe (--probe), whose event is used instead of `pattern`; NULL: none */
	const char *probe;
	/*
	 * For --for, the events that an analysis needs. The events of `pattern` that the kernel has are enabled; if it
	 * has none of them, the events of `instead` are. If it has none of these either, the error says that `what_for`
	 * cannot be known. Both may be NULL.
	 */
	const char *instead, *what_for;
	bool optional;
	/* -v: drop these events from the set that the -e before it chose, and disable those that are enabled */
	bool off;
	const char *filter;
	struct setup_list triggers; /* each as the user would write it to the file `trigger` */
};

struct setup_cpu_size {
	struct cpus cpus;
	uint64_t size;
};

/*
 * A file of the top directory whose setting applies to all instances, such as "hwlat_detector/width" or
 * "tracing_thresh". If `value` is NULL, `number` is written.
 */
struct setup_file {
	const char *file, *value;
	uint64_t number;
};

/* The setup of one instance. A zero member leaves its setting unchanged. */
struct setup_instance {
	const char *name; /* NULL: the main instance */
	bool own;         /* weft needs it: the instance is private, and only its buffer in the file has the name */
	struct setup_event *events;
	size_t nr_events;
	const char *tracer;
	struct setup_list functions, notrace, graph, graph_notrace;
	struct setup_list commands; /* function commands: "vfs_read:traceoff:5" */
	struct setup_list options;  /* "stacktrace", "noirq-info" */
	struct setup_list wishes;   /* options that are set if the kernel has them */
	struct setup_file *files;
	size_t nr_files;
	unsigned graph_depth; /* 0: unchanged */
	uint64_t size;        /* of the buffer, in bytes per CPU */
	struct setup_cpu_size *cpu_sizes;
	size_t nr_cpu_sizes;
	uint64_t subbuf_size; /* of a sub-buffer, in bytes */
	bool has_percent;
	unsigned percent; /* buffer_percent */
	bool has_user_size;
	unsigned user_size; /* syscall_user_buf_size in bytes */
	bool no_user_data;  /* 0 bytes, where the kernel can store any */
	const char *clock;
	bool has_cpus;
	struct cpus cpus;
	bool stacks, function_stacks, absolute_time, reset_max_latency;
};

struct setup {
	struct setup_instance *instances; /* [0] is the main instance */
	size_t nr_instances;
	pid_t *pids, *notrace_pids;
	size_t nr_pids, nr_notrace_pids;
	bool all_pids, no_notrace_pids; /* remove these lists of PIDs */
	/* the kernel's lists are kept: `pids` are added to them, and `gone_pids` removed; likewise for notrace */
	bool keep_pids, keep_notrace_pids;
	pid_t *gone_pids, *gone_notrace_pids;
	size_t nr_gone_pids, nr_gone_notrace_pids;
	struct pid_list processes; /* trace all threads of these, and what they fork */
	struct who_want *groups;   /* the same of all tasks in these control groups; the words are borrowed */
	size_t nr_groups;
	bool only_command;   /* trace only `pids`, `processes` and the command */
	bool follow;         /* also trace the children of these tasks */
	bool ignore_missing; /* an event that does not exist causes a warning, not an error */
	/* wait until the claim on an instance (claim.h) is free, at most wait_ns (0: no limit) */
	bool waits;
	uint64_t wait_ns;
	/* minimum of saved_cmdlines_size; lib/kernel/undo/shared.h applies it, setup_apply() ignores it */
	uint32_t cmdlines;
	/* Called for each warning when it occurs, with one line of text without a newline. */
	void (*warn)(const char *text, void *data);
	void *warn_data;
	/*
	 * Called before each step that may take seconds, such as enabling thousands of events; NULL after the last one.
	 * It is called while no command runs that weft traces, and may start a thread that ends with the last step.
	 */
	void (*step)(const char *what);
	struct functions functions; /* of the kernel */
};

/* Calls setup->warn with the text, if there is one. */
void setup_warn(const struct setup *setup, const struct fail *fail);
/* Calls setup->step, if there is one. */
void setup_step(const struct setup *setup, const char *what);

/* These return NULL or false if no memory is left. */
struct setup_instance *setup_add_instance(struct setup *setup, const char *name);
struct setup_event *setup_add_event(struct setup_instance *wanted, const char *pattern);
/* An event that others may want, too: once, and optional if it is so for all. */
bool setup_want_event(struct setup_instance *wanted, const char *pattern, const char *instead, const char *what_for,
		      bool essential);
/* Adds the events that tell whom tasks belong to (lib/meaning/follow/who.h), as far as the kernel has them. */
bool setup_want_who(struct setup_instance *wanted);
bool setup_add_pid(struct setup *setup, pid_t pid);
bool setup_add_notrace_pid(struct setup *setup, pid_t pid);
bool setup_add_group(struct setup *setup, enum who_part part, const char *word);
/* Whether only some tasks that run already are traced. */
bool setup_chooses_tasks(const struct setup *setup);
bool setup_remove_pid(struct setup *setup, pid_t pid);
bool setup_remove_notrace_pid(struct setup *setup, pid_t pid);
bool setup_add_file(struct setup_instance *wanted, const struct setup_file *file);
bool setup_add_cpu_size(struct setup_instance *wanted, const struct cpus *cpus, uint64_t size);
void setup_release(struct setup *setup);

/*
 * Adds the tasks whose end is the end of the trace: those of `pids`, and the processes. None if their children are
 * followed on request, because these may live longer.
 */
int must_check setup_last_tasks(const struct setup *setup, struct pid_list *into, struct fail *fail);

/*
 * Whether the setup asks this instance to trace something: events, a tracer or function commands. A main instance that
 * traces nothing may exist only to pass its settings on.
 */
bool setup_wants(const struct setup_instance *wanted);
/*
 * Whether this instance is set up: a named instance always; the main instance if it is the only one, or if it traces
 * something (setup_wants()).
 */
bool setup_uses(const struct setup *setup, size_t index);

/* Whether this instance of weft's own (lib/meaning/event/own_formats.h) is recorded, too. */
bool setup_has_own(const struct setup *setup, const char *name);

enum setup_manner {
	/* The main instance is private, unless only the top instance can do what is asked. */
	SETUP_PRIVATE,
	/*
	 * The main instance is the top instance. Its settings are switched off first, as in a new instance (borrow.h).
	 */
	SETUP_TOP,
	/* The main instance is the top instance. Named instances must exist. Nothing is reset, and tracing goes on. */
	SETUP_CHANGE,
};

struct setup_context {
	const struct tracing *tracing;
	struct undo *undo;
	const struct catalog *catalog;
	const struct setup *setup;
	enum setup_manner manner;
	/* of setup_probes_make(), which runs before the catalog is read; NULL: no probes */
	const struct setup_probes *probes;
	pid_t command; /* the process of only_command; 0: there is none */
	/* gets what has to be set after tracing was turned on; NULL: everything is set at once */
	struct late *late;
};

/*
 * Opens or makes the instance for `wanted`, and turns its tracing off (except for SETUP_CHANGE). First it claims all
 * instances of the setup, and the top instance if that is needed (claim.h). The buffer of the top instance is emptied.
 * Settings there that weft did not make are journaled and switched off, and a warning says so. After an error *ret may
 * be set: the caller closes it after undo_restore().
 */
int must_check setup_open(const struct setup_context *context, const struct setup_instance *wanted,
			  struct instance **ret, struct fail *fail);

/*
 * Applies the settings to the instance. Each setting is journaled before it is changed. Tracing stays off. After an
 * error the settings made so far remain; undo_restore() undoes them. `events` must be zero; it receives the events that
 * were enabled, and the caller releases it with event_set_release().
 */
int must_check setup_apply(const struct setup_context *context, const struct setup_instance *wanted,
			   struct instance *instance, struct event_set *events, struct fail *fail);

/*
 * The events of set->catalog that `event`, which is no probe, names: of what an analysis needs, those of `pattern` that
 * there are, or else those of `instead`. What is missing is an error or, if the setup allows that, a warning.
 */
int must_check setup_choose(const struct setup *setup, const struct setup_event *event, struct event_set *set,
			    struct fail *fail);
/* Whether each word of the pattern names exactly one event. */
bool setup_is_by_name(const char *pattern);
/* Whether the pattern names ftrace:print, what programs write to trace_marker, which cannot be enabled. */
bool setup_is_marker(const char *pattern);

/*
 * Lists tasks that have come into the setup's control groups since. `late` is called for each that is traced only from
 * now on.
 */
int must_check setup_follow_groups(const struct setup *setup, const struct setup_instance *wanted,
				   struct instance *instance, void (*late)(pid_t pid, const char *name, void *arg),
				   void *arg, struct fail *fail);

#endif
