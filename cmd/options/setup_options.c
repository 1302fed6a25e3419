// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/setup_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_for.h"
#include "cmd/options/setup_values.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/setup/tracer.h"

enum {
	PID_LIMIT = 1 << 22,      /* PID_MAX_LIMIT of the kernel */
	SYSCALL_DATA_LIMIT = 165, /* SYSCALL_FAULT_USER_MAX; the kernel silently reduces a larger value to it */
};

/* What is said of each option below, besides how it is read; the lint `options` finds one of which something is not. */
enum setup_mark {
	/* The structure of its member. */
	OF_ARGUMENTS = 1 << 0, /* struct setup_arguments */
	OF_SETUP = 1 << 1,
	OF_INSTANCE = 1 << 2, /* the last -B, or the main instance */
	/* What it does before the first -B. */
	IS_NAMED = 1 << 3,  /* chooses what the main instance traces */
	IS_OWN = 1 << 4,    /* sets up the main instance, which has to trace something */
	IS_PASSED = 1 << 5, /* holds for the instances that follow, too */
	IS_SHARED = 1 << 6, /* is for all instances, also behind a -B */
	/* What start --boot makes of it. */
	BOOTS = 1 << 7,     /* the kernel's command line has it, or it has no effect there */
	BOOTS_TOP = 1 << 8, /* for the top instance only */
	BOOTS_NOT = 1 << 9,
	/* record --agentless can do it; what is said of events is looked at one by one. */
	BY_SHELL = 1 << 10,
};

static struct setup_instance *instance_of(struct setup_arguments *arguments)
{
	return &arguments->setup->instances[arguments->setup->nr_instances - 1];
}

/* "!EVENT", as set_event takes it, is an event of -v. */
static void add_event(struct setup_arguments *arguments, const char *pattern, struct argp_state *state)
{
	bool off = pattern && *pattern == '!';
	struct setup_event *event = setup_add_event(instance_of(arguments), off ? pattern + 1 : pattern);

	option_need(event, state);
	event->off = arguments->off || off;
	arguments->event = event;
}

static struct setup_event *event_before(struct setup_arguments *arguments, char letter, struct argp_state *state)
{
	if (!arguments->event || arguments->event->off)
		setup_usage(state, "-%c must follow the -e that it applies to", letter);
	return arguments->event;
}

/* Whether the kernel's list is kept: `kept` says so for the options before, if there were `any` for it. */
static bool keeps(const struct setup_arguments *arguments, bool any, bool kept)
{
	return arguments->lists != SETUP_REPLACES && (!any || kept);
}

static void add_pids(struct setup_arguments *arguments, const char *what, const char *list,
		     bool (*add)(struct setup *, pid_t), struct argp_state *state)
{
	struct setup *setup = arguments->setup;
	struct text_word word;

	/*
	 * An empty list clears the list. A list of commas only is a mistake: clearing the list would trace everything.
	 */
	if (arguments->lists != SETUP_REPLACES ? !list[strspn(list, ", ")] : *list && !list[strspn(list, ", ")])
		setup_usage(state, "%s: the list '%s' has no PID", what, list);
	while (text_next_word(&list, ", ", &word)) {
		char *text = strndup(word.at, word.len);
		uint64_t pid;

		option_need(text, state);
		pid = setup_number(what, text, 1, PID_LIMIT, state);
		free(text);
		option_need(add(setup, (pid_t)pid), state);
	}
}

static void take_event(const struct option_row *row, void *arguments, char *pattern, struct argp_state *state)
{
	(void)row;
	add_event(arguments, pattern, state);
}

static void take_for(const struct option_row *row, void *input, char *analysis, struct argp_state *state)
{
	struct setup_arguments *arguments = input;

	(void)row;
	for (char *comma; (comma = strchr(analysis, ',')) != NULL; analysis = comma + 1) {
		cleanup_free char *first = strndup(analysis, (size_t)(comma - analysis));

		if (!first)
			option_no_memory(state);
		setup_for(instance_of(arguments), "--for", first, state);
	}
	setup_for(instance_of(arguments), "--for", analysis, state);
	arguments->analysis = analysis;
	arguments->event = NULL;
}

static void take_probe(const struct option_row *row, void *input, char *definition, struct argp_state *state)
{
	struct setup_arguments *arguments = input;

	(void)row;
	arguments->off = false;
	add_event(arguments, NULL, state);
	arguments->event->probe = definition;
}

static void take_filter(const struct option_row *row, void *arguments, char *filter, struct argp_state *state)
{
	(void)row;
	event_before(arguments, 'f', state)->filter = filter;
}

static void take_trigger(const struct option_row *row, void *arguments, char *trigger, struct argp_state *state)
{
	(void)row;
	option_need(setup_list_add(&event_before(arguments, 'R', state)->triggers, trigger), state);
}

static void add_function(const struct option_row *row, void *member, char *name, struct argp_state *state)
{
	const struct setup_arguments *arguments = state->input;
	struct setup_list *list = member;

	(void)row;
	list->keeps = keeps(arguments, list->nr || list->nr_gone, list->keeps);
	option_need(arguments->lists == SETUP_REMOVES ? setup_list_remove(list, name) : setup_list_add(list, name),
		    state);
}

static void take_function(const struct option_row *row, void *functions, char *name, struct argp_state *state)
{
	add_function(row, tracer_is_function_command(name) ? &instance_of(state->input)->commands : functions, name,
		     state);
}

static void add_file(struct setup_instance *wanted, struct setup_file file, struct argp_state *state)
{
	option_need(setup_add_file(wanted, &file), state);
}

static void take_thresh(const struct option_row *row, void *wanted, char *time, struct argp_state *state)
{
	(void)row;
	add_file(wanted,
		 (struct setup_file){ .file = "tracing_thresh", .number = setup_microseconds("--thresh", time, state) },
		 state);
}

static void take_hwlat(const struct option_row *row, void *wanted, char *setting, struct argp_state *state)
{
	(void)row;
	add_file(wanted, setup_file_of("--hwlat", SETUP_HWLAT, setting, state), state);
}

static void take_osnoise(const struct option_row *row, void *wanted, char *setting, struct argp_state *state)
{
	(void)row;
	add_file(wanted, setup_file_of("--osnoise", SETUP_OSNOISE, setting, state), state);
}

static void take_cpu_size(const struct option_row *row, void *nr, char *arg, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	struct cpus cpus;
	char *equals = strchr(arg, '=');

	(void)row;
	(void)nr;
	if (!equals)
		setup_usage(state, "--cpu-buffer-size: '%s' is not CPULIST=SIZE", arg);
	*equals = '\0';
	if (cpus_parse(arg, &cpus, &fail))
		setup_usage(state, "--cpu-buffer-size: %s", fail.text);
	option_need(setup_add_cpu_size(instance_of(state->input), &cpus,
				       setup_size("--cpu-buffer-size", equals + 1, state)),
		    state);
	*equals = '=';
}

static void take_pids(const struct option_row *row, void *nr, char *list, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;
	struct setup *setup = arguments->setup;

	(void)row;
	(void)nr;
	setup->keep_pids = keeps(arguments, setup->nr_pids || setup->nr_gone_pids, setup->keep_pids);
	add_pids(arguments, "-P", list, arguments->lists == SETUP_REMOVES ? setup_remove_pid : setup_add_pid, state);
	setup->all_pids |= !*list;
}

static void take_process(const struct option_row *row, void *nr, char *name, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;
	struct setup *setup = arguments->setup;
	struct fail fail = FAIL_INIT;

	(void)row;
	(void)nr;
	if (arguments->lists == SETUP_REMOVES)
		setup_usage(state, "--process cannot be removed from the kernel's lists, which have threads; "
				   "remove these with -P");
	setup->keep_pids = keeps(arguments, setup_chooses_tasks(setup), setup->keep_pids);
	arguments->process = true;
	if (!arguments->elsewhere && processes_find(name, &setup->processes, &fail))
		setup_usage(state, "--process: %s", fail.text);
}

/* The name of the option is the word of the part. */
static void take_group(const struct option_row *row, void *nr, char *name, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;
	struct setup *setup = arguments->setup;
	enum who_part part = WHO_UNIT;
	struct fail fail = FAIL_INIT;
	int err;

	(void)nr;
	while (strcmp(who_part_word(part), row->name))
		part++;
	if (arguments->lists == SETUP_REMOVES)
		setup_usage(state,
			    "--%s cannot be removed from the kernel's lists, which have tasks; remove these with -P",
			    row->name);
	setup->keep_pids = keeps(arguments, setup_chooses_tasks(setup), setup->keep_pids);
	err = arguments->elsewhere ? 0 : groups_find(part, name, &fail);
	if (err == -ESRCH)
		setup_usage(state,
			    "--%s: %s; a task must be there when the recording begins, and weft does not wait for "
			    "one: start it first, or record all tasks, and give --%s to the command that reads the "
			    "file",
			    row->name, fail.text, row->name);
	else if (err)
		setup_usage(state, "--%s: %s", row->name, fail.text);
	if (!setup_add_group(setup, part, name))
		setup_usage(state, "out of memory");
}

static void take_no_pids(const struct option_row *row, void *nr, char *list, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;
	struct setup *setup = arguments->setup;

	(void)row;
	(void)nr;
	setup->keep_notrace_pids =
		keeps(arguments, setup->nr_notrace_pids || setup->nr_gone_notrace_pids, setup->keep_notrace_pids);
	add_pids(arguments, "--no-pid", list,
		 arguments->lists == SETUP_REMOVES ? setup_remove_notrace_pid : setup_add_notrace_pid, state);
	setup->no_notrace_pids |= !*list;
}

static void take_instance(const struct option_row *row, void *input, char *name, struct argp_state *state)
{
	struct setup_arguments *arguments = input;
	/* The name of a remote, remotes/NAME, is refused when it is opened, with what can be done instead. */
	bool slash = strchr(name, '/') && strncmp(name, "remotes/", strlen("remotes/")) != 0;

	(void)row;
	if (!*name || slash || !strcmp(name, ".") || !strcmp(name, ".."))
		setup_usage(state, "'%s' is not a valid name of an instance", name);
	option_need(setup_add_instance(arguments->setup, name), state);
	arguments->event = NULL;
	arguments->off = arguments->lists == SETUP_REMOVES;
}

/*
 * config_expand() has replaced every full --config by the file's options, so this one is abbreviated or follows an
 * abbreviated option.
 */
static void refuse_config(const struct option_row *row, void *arguments, char *path, struct argp_state *state)
{
	(void)row;
	(void)arguments;
	(void)path;
	setup_usage(state, "--config: do not abbreviate --config and the options before it");
}

static void take_wait(const struct option_row *row, void *input, char *time, struct argp_state *state)
{
	struct setup *setup = input;

	setup->waits = true;
	setup->wait_ns = time ? option_time(row->name, time, state) : 0;
}

static const struct option_row table[] = {
	{ .doc = "Events:", .group = 1 },
	{ "event", 'e', "EVENT", 0,
	  "Trace EVENT: system:event, a system, a bare event name, globs in either part, all, or several with commas",
	  1, OPTION_TAKE(take_event), .marks = OF_ARGUMENTS | IS_NAMED | BOOTS },
	{ "for", 0, SETUP_FOR, 0,
	  "Trace the events that this analysis of weft needs, as far as this kernel has them; repeatable", 1,
	  OPTION_TAKE(take_for), .marks = OF_ARGUMENTS | IS_NAMED | BOOTS },
	{ "filter", 'f', "FILTER", 0, "Let the kernel record only those events of the preceding -e that match FILTER",
	  1, OPTION_TAKE(take_filter), .marks = OF_ARGUMENTS | IS_NAMED | BOOTS_NOT },
	{ "trigger", 'R', "TRIGGER", 0, "Set TRIGGER on the events of the preceding -e", 1, OPTION_TAKE(take_trigger),
	  .marks = OF_ARGUMENTS | IS_NAMED | BOOTS_TOP },
	{ "probe", 0, "DEFINITION", 0,
	  "Make a probe, as weft-probe(1) describes, and trace it; the probe is removed at the end. "
	  "-f and -R may follow",
	  1, OPTION_TAKE(take_probe), .marks = OF_ARGUMENTS | IS_NAMED | BOOTS_TOP },
	{ "disable", 'v', NULL, 0, "From here on, -e removes events from those chosen before", 1,
	  OPTION_FLAG(struct setup_arguments, off), .marks = OF_ARGUMENTS | IS_NAMED | BOOTS },
	{ "ignore-missing", 'i', NULL, 0, "Only warn about events that this kernel does not have", 1,
	  OPTION_FLAG(struct setup, ignore_missing), .marks = OF_SETUP | IS_SHARED | BOOTS | BY_SHELL },
	{ "stacktrace", 'T', NULL, 0, "Store the kernel stack with each event", 1,
	  OPTION_FLAG(struct setup_instance, stacks), .marks = OF_INSTANCE | IS_OWN | BOOTS_TOP | BY_SHELL },

	{ .doc = "Tracers:", .group = 2 },
	{ "tracer", 'p', "TRACER", 0, "Use TRACER, such as function or function_graph", 2,
	  OPTION_TEXT(struct setup_instance, tracer), .marks = OF_INSTANCE | IS_NAMED | BOOTS_TOP },
	{ "function", 'l', "FUNCTION[:COMMAND]", 0,
	  "Trace only FUNCTION, which may be a glob; or do COMMAND there: traceoff:5, mod:MODULE, "
	  "enable_event:SYSTEM:EVENT...",
	  2, OPTION_LIST(struct setup_instance, functions), .takes = take_function,
	  .marks = OF_INSTANCE | IS_OWN | BOOTS_TOP },
	{ "no-function", 'n', "FUNCTION", 0, "Do not trace FUNCTION", 2, OPTION_LIST(struct setup_instance, notrace),
	  .takes = add_function, .marks = OF_INSTANCE | IS_OWN | BOOTS_TOP },
	{ "graph-function", 'g', "FUNCTION", 0, "function_graph: only FUNCTION and what it calls", 2,
	  OPTION_LIST(struct setup_instance, graph), .takes = add_function, .marks = OF_INSTANCE | IS_OWN | BOOTS_TOP },
	{ "no-graph-function", 0, "FUNCTION", 0, "function_graph: neither FUNCTION nor what it calls", 2,
	  OPTION_LIST(struct setup_instance, graph_notrace), .takes = add_function,
	  .marks = OF_INSTANCE | IS_OWN | BOOTS_TOP },
	{ "max-graph-depth", 0, "N", 0, "function_graph: at most N calls deep", 2,
	  OPTION_RANGE(struct setup_instance, graph_depth, 1, 1 << 16), .marks = OF_INSTANCE | IS_OWN | BOOTS_TOP },
	{ "option", 'O', "OPTION", 0, "Set the trace option OPTION, or clear it as noOPTION", 2,
	  OPTION_LIST(struct setup_instance, options), .marks = OF_INSTANCE | IS_OWN | BOOTS_TOP | BY_SHELL },
	{ "func-stack", 0, NULL, 0, "Store the kernel stack with each function; only with -l", 2,
	  OPTION_FLAG(struct setup_instance, function_stacks), .marks = OF_INSTANCE | IS_OWN | BOOTS_TOP },
	{ "thresh", 0, "TIME", 0, "Record only what takes longer than TIME, with tracers that honour tracing_thresh", 2,
	  OPTION_TAKE(take_thresh), .marks = OF_INSTANCE | IS_SHARED | BOOTS },
	{ "max-latency-reset", 0, NULL, 0, "Reset the largest latency so far (tracing_max_latency)", 2,
	  OPTION_FLAG(struct setup_instance, reset_max_latency), .marks = OF_INSTANCE | IS_OWN | BOOTS_NOT },
	{ "hwlat", 0, "KEY=VALUE", 0, "Set up the hwlat tracer: mode, width=TIME, window=TIME; repeatable", 2,
	  OPTION_TAKE(take_hwlat), .marks = OF_INSTANCE | IS_SHARED | BOOTS },
	{ "osnoise", 0, "KEY=VALUE", 0,
	  "Set up osnoise and timerlat: cpus, options, period, runtime, stop, stop-total, timerlat-period, "
	  "timerlat-align, print-stack; repeatable",
	  2, OPTION_TAKE(take_osnoise), .marks = OF_INSTANCE | IS_SHARED | BOOTS },

	{ .doc = "Tasks:", .group = 3 },
	{ "pid", 'P', "PID[,PID]", 0, "Trace only these tasks", 3, OPTION_LENGTH(struct setup, nr_pids),
	  .takes = take_pids, .marks = OF_SETUP | IS_SHARED | BOOTS_NOT | BY_SHELL },
	{ "process", 0, "PROCESS", 0,
	  "Trace all threads of PROCESS, which is a PID or the name of programs that run now (a glob), and what they "
	  "fork; repeatable",
	  3, OPTION_LENGTH(struct setup, processes.nr), .takes = take_process,
	  .marks = OF_SETUP | IS_SHARED | BOOTS_NOT },
	{ "unit", 0, "UNIT", 0,
	  "Trace all tasks that are now in this service of systemd, or another unit, and what they fork; a glob, "
	  "'.service' may be left out; repeatable",
	  3, OPTION_LENGTH(struct setup, nr_groups), .takes = take_group, .marks = OF_SETUP | IS_SHARED | BOOTS_NOT },
	{ "container", 0, "CONTAINER", 0,
	  "The same for a container: its ID or the beginning of it, or a glob; repeatable", 3,
	  OPTION_LENGTH(struct setup, nr_groups), .takes = take_group, .marks = OF_SETUP | IS_SHARED | BOOTS_NOT },
	{ "pod", 0, "POD", 0, "The same for a pod of Kubernetes: a glob for its UID; repeatable", 3,
	  OPTION_LENGTH(struct setup, nr_groups), .takes = take_group, .marks = OF_SETUP | IS_SHARED | BOOTS_NOT },
	{ "cgroup", 0, "PATH", 0,
	  "The same for a control group: /a/b with the groups below, or a glob for the path; repeatable", 3,
	  OPTION_LENGTH(struct setup, nr_groups), .takes = take_group, .marks = OF_SETUP | IS_SHARED | BOOTS_NOT },
	{ "no-pid", 0, "PID[,PID]", 0, "Trace all tasks but these", 3, OPTION_LENGTH(struct setup, nr_notrace_pids),
	  .takes = take_no_pids, .marks = OF_SETUP | IS_SHARED | BOOTS_NOT },
	{ "follow-children", 'c', NULL, 0, "With -F or -P: trace their children too (event-fork, function-fork)", 3,
	  OPTION_FLAG(struct setup, follow), .marks = OF_SETUP | IS_SHARED | BOOTS | BY_SHELL },

	{ .doc = "Buffers (these hold for the -B before them; without one, for all):", .group = 4 },
	{ "buffer-size", 'b', "SIZE", 0, "Memory of the ring buffer of each CPU: 512K, 10M; a bare number counts KB", 4,
	  OPTION_SIZE(struct setup_instance, size), .marks = OF_INSTANCE | IS_PASSED | BOOTS | BY_SHELL },
	{ "cpu-buffer-size", 0, "CPULIST=SIZE", 0, "Like -b, for some CPUs; repeatable", 4,
	  OPTION_LENGTH(struct setup_instance, nr_cpu_sizes), .takes = take_cpu_size,
	  .marks = OF_INSTANCE | IS_SHARED | BOOTS_NOT },
	{ "subbuf-size", 0, "SIZE", 0, "Set the size of a sub-buffer, which is also the largest size of an event", 4,
	  OPTION_SIZE(struct setup_instance, subbuf_size), .marks = OF_INSTANCE | IS_PASSED | BOOTS_NOT },
	{ "buffer-percent", 0, "N", 0, "Wake readers when the buffer is N percent full", 4,
	  OPTION_RANGE(struct setup_instance, percent, 0, 100), OPTION_GIVEN(struct setup_instance, has_percent),
	  .marks = OF_INSTANCE | IS_PASSED | BOOTS_NOT },
	{ "syscall-data", 0, "N", 0,
	  "Store at most N bytes of each string and buffer that a system call is given "
	  "(syscall_user_buf_size, Linux 6.19)",
	  4, OPTION_RANGE(struct setup_instance, user_size, 0, SYSCALL_DATA_LIMIT),
	  OPTION_GIVEN(struct setup_instance, has_user_size), .marks = OF_INSTANCE | IS_PASSED | BOOTS_NOT },
	{ "no-user-data", 0, NULL, 0,
	  "Store nothing of the strings and buffers that system calls are given; Linux 6.19 stores 63 bytes of each", 4,
	  OPTION_FLAG(struct setup_instance, no_user_data), .marks = OF_INSTANCE | IS_PASSED | BOOTS_NOT },
	{ "absolute-time", 0, NULL, 0, "Store absolute time stamps instead of deltas (timestamp_mode)", 4,
	  OPTION_FLAG(struct setup_instance, absolute_time), .marks = OF_INSTANCE | IS_PASSED | BOOTS_NOT },
	{ "clock", 'C', "CLOCK", 0, "Use the trace clock CLOCK for time stamps", 4,
	  OPTION_TEXT(struct setup_instance, clock), .marks = OF_INSTANCE | IS_PASSED | BOOTS_TOP | BY_SHELL },
	{ "cpus", 'M', "CPULIST", 0,
	  "Trace only these CPUs: a list such as 0-3,7 (1 is CPU 1; to tracing_cpumask it is the mask of CPU 0), "
	  "or a mask such as 0x3",
	  4, OPTION_CPUS(struct setup_instance, cpus), OPTION_GIVEN(struct setup_instance, has_cpus),
	  .marks = OF_INSTANCE | IS_PASSED | BOOTS_NOT | BY_SHELL },
	{ "instance", 'B', "INSTANCE", 0,
	  "Apply the options that follow to INSTANCE: an existing one is used and left as it was, "
	  "otherwise it is made (and removed again)",
	  4, OPTION_TAKE(take_instance), .marks = OF_ARGUMENTS | IS_NAMED | BOOTS },
	{ "cmdlines-size", 0, "N", 0,
	  "Set saved_cmdlines_size: let the kernel remember the names of N tasks (0: "
	  "leave it unchanged; recordings: 32768)",
	  4, OPTION_RANGE(struct setup, cmdlines, 0, PID_LIMIT), .marks = OF_SETUP | IS_SHARED | BOOTS_NOT | BY_SHELL },
	{ "config", 0, "FILE", 0,
	  "Read options from FILE, one per line: NAME = VALUE, where NAME is the long name of an option; "
	  "of a directory, the files *.conf in the order of their names",
	  4, OPTION_TAKE(refuse_config), .marks = OF_ARGUMENTS | IS_SHARED | BOOTS },
	{ "dry-run", 0, NULL, 0, "Change nothing: print every write to tracefs, in order, as a script for sh", 4,
	  OPTION_FLAG(struct setup_arguments, dry_run), .marks = OF_ARGUMENTS | IS_SHARED | BOOTS },
	{ 0 },
};

static const struct option_row command_table[] = {
	{ .doc = "Command:", .group = 1 },
	{ "only-command", 'F', NULL, 0, "Trace only what COMMAND does", 1, OPTION_FLAG(struct setup, only_command),
	  .marks = OF_SETUP | IS_SHARED | BOOTS_NOT | BY_SHELL },
	{ "user", 0, "USER", 0, "Run COMMAND as USER", 1, OPTION_TEXT(struct setup_arguments, user),
	  .marks = OF_ARGUMENTS | IS_SHARED | BOOTS },
	{ "wait", 0, "TIME", OPTION_ARG_OPTIONAL,
	  "If another weft traces in an instance that this command needs, wait for its end, at most TIME", 1,
	  OPTION_TAKE(take_wait), .marks = OF_SETUP | IS_SHARED | BOOTS },
	{ 0 },
};

/* Returns the name of an option with these marks that was given in `structure`, or NULL. */
static const char *given(const struct option_row *row, unsigned marks, const void *structure)
{
	for (; !option_row_is_end(row); row++)
		if ((row->marks & marks) == marks && option_row_is_given(row, structure))
			return option_row_name(row);
	return NULL;
}

const char *setup_own_option(const struct setup_instance *wanted)
{
	return wanted->commands.nr_gone ? "-l" : given(table, OF_INSTANCE | IS_OWN, wanted);
}

/* Sizes, clock and CPUs that were given before the first -B hold for all that follow. */
static void inherit(struct setup *setup, struct argp_state *state)
{
	const struct setup_instance *first = &setup->instances[0];

	for (size_t i = 1; i < setup->nr_instances; i++) {
		struct setup_instance *wanted = &setup->instances[i];
		bool sized = wanted->size || wanted->nr_cpu_sizes;

		for (size_t j = 0; !sized && j < first->nr_cpu_sizes; j++)
			option_need(setup_add_cpu_size(wanted, &first->cpu_sizes[j].cpus, first->cpu_sizes[j].size),
				    state);
		for (const struct option_row *row = table; !option_row_is_end(row); row++)
			if (row->marks & IS_PASSED)
				option_row_pass(row, first, wanted);
	}
}

/*
 * Files that all instances share: where nothing else is asked of the main one, the next brings them, its own after
 * them.
 */
static void pass_files(struct setup *setup, struct argp_state *state)
{
	struct setup_instance *first = &setup->instances[0], *next = first + 1, kept;

	if (setup->nr_instances == 1 || setup_wants(first))
		return;
	for (size_t i = 0; i < next->nr_files; i++)
		option_need(setup_add_file(first, &next->files[i]), state);
	kept = *next;
	next->files = first->files;
	next->nr_files = first->nr_files;
	first->files = kept.files;
	first->nr_files = kept.nr_files;
}

static void check_instances(const struct setup *setup, struct argp_state *state)
{
	for (size_t i = 0; i < setup->nr_instances; i++) {
		const struct setup_instance *wanted = &setup->instances[i];

		if (wanted->function_stacks && !wanted->functions.nr)
			setup_usage(
				state,
				"--func-stack needs -l: the stack of every function would bring the machine to a halt");
		for (size_t j = 1; j < i; j++)
			if (!strcmp(setup->instances[j].name, wanted->name))
				setup_usage(state, "instance '%s' is named twice", wanted->name);
	}
}

/*
 * What can be said of a setup only when all options were read: what instances have of the main one, and whether it
 * makes sense.
 */
static void complete(struct setup_arguments *arguments, struct argp_state *state)
{
	struct setup *setup = arguments->setup;
	const char *own = setup_own_option(&setup->instances[0]);
	bool changes = arguments->changes;
	bool nothing = !arguments->may_be_empty && setup->nr_instances == 1 && !setup_wants(&setup->instances[0]);

	check_instances(setup, state);
	if (arguments->instead && nothing) {
		setup_for(&setup->instances[0], "--for", arguments->instead, state);
		arguments->analysis = arguments->instead;
		arguments->chosen = true;
	} else if (!changes && nothing) {
		setup_usage(state, "nothing to trace: choose events with -e or a tracer with -p%s",
			    strcmp(state->name, "weft record") ? "" : ", or name a command: weft record -- COMMAND");
	}
	if (!changes && setup->follow && !setup->only_command && !setup_chooses_tasks(setup))
		setup_usage(state, "-c needs -F or -P: without them all tasks are traced");
	if (!changes && !arguments->may_be_empty && !setup_wants(&setup->instances[0]) && own)
		setup_usage(
			state,
			"%s before the first -B applies to the main instance, which records nothing: put it after a -B",
			own);
	inherit(setup, state);
	pass_files(setup, state);
}

static void *structure(void *input, const struct option_row *row)
{
	struct setup_arguments *arguments = input;

	return row->marks & OF_INSTANCE ? (void *)instance_of(arguments) :
	       row->marks & OF_SETUP    ? (void *)arguments->setup :
					  input;
}

static void warn(const char *text, void *data)
{
	(void)data;
	command_warn("warning: %s", text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		arguments->setup->warn = warn;
		option_need(setup_add_instance(arguments->setup, NULL), state);
		return 0;
	case ARGP_KEY_END:
		complete(arguments, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct options setup_options = { .rows = table, .parser = parse, .structure = structure };
const struct options setup_command_options = { .rows = command_table, .structure = structure };

void setup_check_command(const struct setup_arguments *arguments, bool has_command, struct argp_state *state)
{
	if (arguments->setup->only_command && !has_command)
		setup_usage(state, "-F needs a COMMAND");
	if (arguments->user && !has_command)
		setup_usage(state, "--user needs a COMMAND");
}

/* Returns the name of an option that was given in `structure`, of the tables of a setup, and that a shell cannot do. */
static const char *not_by_shell(unsigned of, const void *structure)
{
	const struct option_row *const tables[] = { table, command_table };

	for (size_t i = 0; i < array_size(tables); i++)
		for (const struct option_row *row = tables[i]; !option_row_is_end(row); row++)
			if (row->marks & of && !(row->marks & BY_SHELL) && option_row_is_given(row, structure))
				return option_row_name(row);
	return NULL;
}

static const char *event_not_by_shell(const struct setup_event *event)
{
	if (event->off)
		return "-v";
	if (event->probe)
		return "--probe";
	if (strstr(event->pattern, ":mod:"))
		return "-e EVENT:mod:MODULE";
	if (setup_is_marker(event->pattern) && !event->what_for)
		return "-e ftrace:print";
	for (size_t i = 0; i < event->triggers.nr; i++)
		if (strcmp(event->triggers.items[i], "stacktrace") != 0)
			return "-R";
	return NULL;
}

const char *setup_not_by_shell(const struct setup_arguments *arguments)
{
	const struct setup *setup = arguments->setup;
	const struct setup_instance *wanted = &setup->instances[0];
	const char *option = setup->nr_instances > 1           ? "-B" :
			     wanted->commands.nr               ? "-l" :
			     wanted->nr_files                  ? "--thresh, --hwlat or --osnoise" :
			     setup->waits                      ? "--wait" :
			     arguments->process                ? "--process" :
			     setup->cmdlines != SETUP_CMDLINES ? "--cmdlines-size" :
			     setup->no_notrace_pids            ? "--no-pid" :
								 not_by_shell(OF_ARGUMENTS, arguments);

	if (!option)
		option = not_by_shell(OF_SETUP, setup);
	if (!option)
		option = not_by_shell(OF_INSTANCE, wanted);
	for (size_t i = 0; !option && i < wanted->nr_events; i++)
		option = event_not_by_shell(&wanted->events[i]);
	return option;
}

/* Fails because the kernel's command line has no place for the option, of the instance if it has a name. */
static int no_place(const struct setup_instance *wanted, const char *option, struct fail *fail)
{
	if (wanted && wanted->name)
		return fail_set(fail, -EOPNOTSUPP, "%s of instance '%s' cannot be set on the kernel's command line",
				option, wanted->name);
	return fail_set(fail, -EOPNOTSUPP, "%s cannot be set on the kernel's command line", option);
}

static int check_boot_events(const struct setup_instance *wanted, struct fail *fail)
{
	for (size_t i = 0; i < wanted->nr_events; i++) {
		const struct setup_event *event = &wanted->events[i];
		const char *option = event->off                         ? "-v" :
				     event->filter                      ? "-f" :
				     event->probe && wanted->name       ? "--probe" :
				     event->triggers.nr && wanted->name ? "-R" :
				     event->triggers.nr && event->probe ? "-R of a probe" :
									  NULL;

		if (option)
			return no_place(wanted, option, fail);
	}
	return 0;
}

static int check_boot_instance(const struct setup *setup, const struct setup_instance *wanted, struct fail *fail)
{
	const char *option =
		wanted->commands.nr ? "-l FUNCTION:COMMAND" : given(table, OF_INSTANCE | BOOTS_NOT, wanted);

	if (!option && wanted->name)
		option = given(table, OF_INSTANCE | BOOTS_TOP, wanted);
	if (!option && wanted->size != setup->instances[0].size)
		option = "another -b";
	return option ? no_place(wanted, option, fail) : check_boot_events(wanted, fail);
}

int setup_check_boot(const struct setup *setup, struct fail *fail)
{
	const char *option = setup->all_pids        ? "-P" :
			     setup->no_notrace_pids ? "--no-pid" :
						      given(table, OF_SETUP | BOOTS_NOT, setup);
	int err = 0;

	if (!option)
		option = given(command_table, OF_SETUP | BOOTS_NOT, setup);
	if (option)
		return no_place(NULL, option, fail);
	for (size_t i = 0; !err && i < setup->nr_instances; i++)
		err = check_boot_instance(setup, &setup->instances[i], fail);
	return err;
}
