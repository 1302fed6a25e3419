/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_SETUP_H
#define WEFT_SETUP_SETUP_H

#include "lib/base/cleanup.h"
#include "lib/base/cpus.h"
#include "lib/tracefs/event_select.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fail;
struct setup_probes;
struct undo;

/*
 * What tracing is asked to be: the one description that record, start, set and stream share (cmd/setup_options.h fills it
 * from a command line), and the one way to make the kernel so.
 * Texts are borrowed from whoever filled it; the lists are its own: setup_release() frees them.
 */
struct setup_list {
	const char **items;
	size_t nr;
};

bool setup_list_add(struct setup_list *list, const char *item);

struct setup_event {
	const char *pattern;
	const char *probe; /* instead of the pattern: a probe to make (setup_probes.h), and its event */
	bool off;          /* -v: taken out of what the -e before it chose, switched off where it was on */
	const char *filter;
	struct setup_list triggers; /* as written to `trigger` */
};

struct setup_cpu_size {
	struct cpus cpus;
	uint64_t size;
};

/* What has one file, in the top directory, for all instances: "hwlat_detector/width", "tracing_thresh". Not NULL: the value; else the number. */
struct setup_file {
	const char *file, *value;
	uint64_t number;
};

/* One ring buffer, and what goes into it. Zero asks for nothing: everything stays as the kernel has it. */
struct setup_instance {
	const char *name; /* NULL: the main one */
	struct setup_event *events;
	size_t nr_events;
	const char *tracer;
	struct setup_list functions, notrace, graph, graph_notrace;
	struct setup_list commands; /* of functions: "vfs_read:traceoff:5" */
	struct setup_list options;  /* "stacktrace", "noirq-info" */
	struct setup_file *files;
	size_t nr_files;
	unsigned graph_depth; /* 0: as it is */
	uint64_t size;        /* bytes per CPU */
	struct setup_cpu_size *cpu_sizes;
	size_t nr_cpu_sizes;
	uint64_t subbuf_size; /* bytes */
	bool has_percent;
	unsigned percent; /* buffer_percent */
	bool has_user_size;
	unsigned user_size; /* syscall_user_buf_size */
	const char *clock;
	bool has_cpus;
	struct cpus cpus;
	bool stacks, function_stacks, absolute_time, reset_max_latency;
};

struct setup {
	struct setup_instance *instances; /* [0] is the main one */
	size_t nr_instances;
	pid_t *pids, *notrace_pids;
	size_t nr_pids, nr_notrace_pids;
	bool all_pids, no_notrace_pids; /* the lists are emptied */
	bool only_command;              /* pids and the command */
	bool follow;                    /* and their children */
	bool ignore_missing;            /* events */
	bool waits; /* for the claim on an instance (claim.h), no longer than wait_ns; 0: without end */
	uint64_t wait_ns;
	uint32_t
		cmdlines; /* entries of saved_cmdlines at least; for lib/undo/shared.h, setup_apply() leaves it alone */
	/* Told as they come up: one line of text each, no newline. */
	void (*warn)(const char *text, void *data);
	void *warn_data;
};

/* NULL, false: no memory. */
struct setup_instance *setup_add_instance(struct setup *setup, const char *name);
struct setup_event *setup_add_event(struct setup_instance *wanted, const char *pattern);
bool setup_add_pid(struct setup *setup, pid_t pid);
bool setup_add_notrace_pid(struct setup *setup, pid_t pid);
bool setup_add_file(struct setup_instance *wanted, const struct setup_file *file);
bool setup_add_cpu_size(struct setup_instance *wanted, const struct cpus *cpus, uint64_t size);
void setup_release(struct setup *setup);

/* Whether anything is asked of this instance: the main one may only be there to pass its settings on. */
bool setup_wants(const struct setup_instance *wanted);
/* Whether the instance is set up: the main one is there to be used; without a word about it named ones replace it. */
bool setup_uses(const struct setup *setup, size_t index);

enum setup_manner {
	/* The main one is an instance of our own, unless only the top one can do what is asked. */
	SETUP_PRIVATE,
	/* The main one is the top one; it begins empty, as a new one would (borrow.h). */
	SETUP_TOP,
	/* The main one is the top one. Named ones must exist. Nothing is reset, tracing goes on. */
	SETUP_CHANGE,
};

struct setup_context {
	const struct tracing *tracing;
	struct undo *undo;
	const struct catalog *catalog;
	const struct setup *setup;
	enum setup_manner manner;
	const struct setup_probes *probes; /* setup_probes_make(), before the catalog; NULL: none */
	pid_t command;                     /* for only_command; 0: none */
};

/*
 * Opens, or makes, what `wanted` is for, with tracing off (but for SETUP_CHANGE). All that the setup names is claimed first, and the top
 * one where it is needed (claim.h). The buffer of the top one is emptied; what somebody had switched on there is off and journaled, and a
 * warning tells so. After an error *ret may be there all the same: it is closed once undo_restore() was called.
 */
int must_check setup_open(const struct setup_context *context, const struct setup_instance *wanted,
			  struct instance **ret, struct fail *fail);

/*
 * Makes it as asked: each setting is journaled before it is changed. Tracing is not switched on. An error leaves what was
 * done so far; undo_restore() takes it back. `events`, to be zero, gets those that were switched on; for event_set_release().
 */
int must_check setup_apply(const struct setup_context *context, const struct setup_instance *wanted,
			   struct instance *instance, struct event_set *events, struct fail *fail);

#endif
