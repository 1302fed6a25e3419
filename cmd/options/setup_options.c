// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/setup_options.h"

#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_complete.h"
#include "cmd/options/setup_for.h"
#include "cmd/options/setup_values.h"
#include "lib/base/text.h"
#include "lib/setup/tracer.h"

#include <stdlib.h>
#include <string.h>

enum option_key {
	KEY_MAX_GRAPH_DEPTH = 0x400,
	KEY_FUNC_STACK,
	KEY_PROBE,
	KEY_USER,
	KEY_CMDLINES_SIZE,
	KEY_DRY_RUN,
	KEY_CONFIG,
	KEY_NO_GRAPH_FUNCTION,
	KEY_THRESH,
	KEY_MAX_LATENCY_RESET,
	KEY_HWLAT,
	KEY_OSNOISE,
	KEY_NO_PID,
	KEY_CPU_BUFFER_SIZE,
	KEY_SUBBUF_SIZE,
	KEY_BUFFER_PERCENT,
	KEY_ABSOLUTE_TIME,
	KEY_WAIT,
	KEY_SYSCALL_DATA,
	KEY_FOR,
};

enum {
	PID_LIMIT = 1 << 22,      /* PID_MAX_LIMIT of the kernel */
	SYSCALL_DATA_LIMIT = 165, /* SYSCALL_FAULT_USER_MAX; the kernel silently reduces a larger value to it */
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "Events:", 1 },
	{ "event", 'e', "EVENT", 0,
	  "Trace EVENT: system:event, a system, a bare event name, globs in either part, all, or several with commas",
	  1 },
	{ "for", KEY_FOR, SETUP_FOR, 0,
	  "Trace the events that this analysis of weft needs, as far as this kernel has them; repeatable", 1 },
	{ "filter", 'f', "FILTER", 0, "Let the kernel record only those events of the preceding -e that match FILTER",
	  1 },
	{ "trigger", 'R', "TRIGGER", 0, "Set TRIGGER on the events of the preceding -e", 1 },
	{ "probe", KEY_PROBE, "DEFINITION", 0,
	  "Make a probe, as weft-probe(1) describes, and trace it; the probe is removed at the end. "
	  "-f and -R may follow",
	  1 },
	{ "disable", 'v', NULL, 0, "From here on, -e removes events from those chosen before", 1 },
	{ "ignore-missing", 'i', NULL, 0, "Only warn about events that this kernel does not have", 1 },
	{ "stacktrace", 'T', NULL, 0, "Store the kernel stack with each event", 1 },

	{ NULL, 0, NULL, 0, "Tracers:", 2 },
	{ "tracer", 'p', "TRACER", 0, "Use TRACER, such as function or function_graph", 2 },
	{ "function", 'l', "FUNCTION[:COMMAND]", 0,
	  "Trace only FUNCTION, which may be a glob; or do COMMAND there: traceoff:5, mod:MODULE, "
	  "enable_event:SYSTEM:EVENT...",
	  2 },
	{ "no-function", 'n', "FUNCTION", 0, "Do not trace FUNCTION", 2 },
	{ "graph-function", 'g', "FUNCTION", 0, "function_graph: only FUNCTION and what it calls", 2 },
	{ "no-graph-function", KEY_NO_GRAPH_FUNCTION, "FUNCTION", 0,
	  "function_graph: neither FUNCTION nor what it calls", 2 },
	{ "max-graph-depth", KEY_MAX_GRAPH_DEPTH, "N", 0, "function_graph: at most N calls deep", 2 },
	{ "option", 'O', "OPTION", 0, "Set the trace option OPTION, or clear it as noOPTION", 2 },
	{ "func-stack", KEY_FUNC_STACK, NULL, 0, "Store the kernel stack with each function; only with -l", 2 },
	{ "thresh", KEY_THRESH, "TIME", 0,
	  "Record only what takes longer than TIME, with tracers that honour tracing_thresh", 2 },
	{ "max-latency-reset", KEY_MAX_LATENCY_RESET, NULL, 0, "Reset the largest latency so far (tracing_max_latency)",
	  2 },
	{ "hwlat", KEY_HWLAT, "KEY=VALUE", 0, "Set up the hwlat tracer: mode, width=TIME, window=TIME; repeatable", 2 },
	{ "osnoise", KEY_OSNOISE, "KEY=VALUE", 0,
	  "Set up osnoise and timerlat: cpus, options, period, runtime, stop, stop-total, timerlat-period, "
	  "timerlat-align, print-stack; repeatable",
	  2 },

	{ NULL, 0, NULL, 0, "Tasks:", 3 },
	{ "pid", 'P', "PID[,PID]", 0, "Trace only these tasks", 3 },
	{ "no-pid", KEY_NO_PID, "PID[,PID]", 0, "Trace all tasks but these", 3 },
	{ "follow-children", 'c', NULL, 0, "With -F or -P: trace their children too (event-fork, function-fork)", 3 },

	{ NULL, 0, NULL, 0, "Buffers (these hold for the -B before them; without one, for all):", 4 },
	{ "buffer-size", 'b', "SIZE", 0, "Memory of the ring buffer of each CPU: 512K, 10M; a bare number counts KB",
	  4 },
	{ "cpu-buffer-size", KEY_CPU_BUFFER_SIZE, "CPULIST=SIZE", 0, "Like -b, for some CPUs; repeatable", 4 },
	{ "subbuf-size", KEY_SUBBUF_SIZE, "SIZE", 0,
	  "Set the size of a sub-buffer, which is also the largest size of an event", 4 },
	{ "buffer-percent", KEY_BUFFER_PERCENT, "N", 0, "Wake readers when the buffer is N percent full", 4 },
	{ "syscall-data", KEY_SYSCALL_DATA, "N", 0,
	  "Store at most N bytes of each string and buffer that a system call is given "
	  "(syscall_user_buf_size, Linux 6.19)",
	  4 },
	{ "absolute-time", KEY_ABSOLUTE_TIME, NULL, 0, "Store absolute time stamps instead of deltas (timestamp_mode)",
	  4 },
	{ "clock", 'C', "CLOCK", 0, "Use the trace clock CLOCK for time stamps", 4 },
	{ "cpus", 'M', "CPULIST", 0, "Trace only these CPUs: a list such as 0-3,7, or a hex mask", 4 },
	{ "instance", 'B', "INSTANCE", 0,
	  "Apply the options that follow to INSTANCE: an existing one is used and left as it was, "
	  "otherwise it is made (and removed again)",
	  4 },
	{ "cmdlines-size", KEY_CMDLINES_SIZE, "N", 0,
	  "Set saved_cmdlines_size: let the kernel remember the names of N tasks (0: "
	  "leave it unchanged; recordings: 32768)",
	  4 },
	{ "config", KEY_CONFIG, "FILE", 0,
	  "Read options from FILE, one per line: NAME = VALUE, where NAME is the long name of an option; "
	  "of a directory, the files *.conf in the order of their names",
	  4 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "Change nothing: print every write to tracefs, in order, as a script for sh",
	  4 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static const struct argp_option command_table[] = {
	{ NULL, 0, NULL, 0, "Command:", 1 },
	{ "only-command", 'F', NULL, 0, "Trace only what COMMAND does", 1 },
	{ "user", KEY_USER, "USER", 0, "Run COMMAND as USER", 1 },
	{ "wait", KEY_WAIT, "TIME", OPTION_ARG_OPTIONAL,
	  "If another weft traces in an instance that this command needs, wait for its end, at most TIME", 1 },
	{ NULL, 0, NULL, 0, NULL, 0 },
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

static void add_instance(struct setup_arguments *arguments, const char *name, struct argp_state *state)
{
	/* The name of a remote, remotes/NAME, is refused when it is opened, with what can be done instead. */
	bool slash = strchr(name, '/') && strncmp(name, "remotes/", strlen("remotes/")) != 0;

	if (!*name || slash || !strcmp(name, ".") || !strcmp(name, ".."))
		setup_usage(state, "'%s' is not a valid name of an instance", name);
	option_need(setup_add_instance(arguments->setup, name), state);
	arguments->event = NULL;
	arguments->off = arguments->lists == SETUP_REMOVES;
}

/* Whether the kernel's list is kept: `kept` says so for the options before, if there were `any` for it. */
static bool keeps(const struct setup_arguments *arguments, bool any, bool kept)
{
	return arguments->lists != SETUP_REPLACES && (!any || kept);
}

static void add_functions(struct setup_arguments *arguments, struct setup_list *list, const char *name,
			  struct argp_state *state)
{
	list->keeps = keeps(arguments, list->nr || list->nr_gone, list->keeps);
	option_need(arguments->lists == SETUP_REMOVES ? setup_list_remove(list, name) : setup_list_add(list, name),
		    state);
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

static void add_file(struct setup_arguments *arguments, const char *what, enum setup_keys keys, const char *arg,
		     struct argp_state *state)
{
	struct setup_file file = setup_file_of(what, keys, arg, state);

	option_need(setup_add_file(instance_of(arguments), &file), state);
}

static void add_cpu_size(struct setup_arguments *arguments, char *arg, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	struct cpus cpus;
	char *equals = strchr(arg, '=');

	if (!equals)
		setup_usage(state, "--cpu-buffer-size: '%s' is not CPULIST=SIZE", arg);
	*equals = '\0';
	if (cpus_parse(arg, &cpus, &fail))
		setup_usage(state, "--cpu-buffer-size: %s", fail.text);
	option_need(setup_add_cpu_size(instance_of(arguments), &cpus,
				       setup_size("--cpu-buffer-size", equals + 1, state)),
		    state);
	*equals = '=';
}

static bool parse_event(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;

	switch (key) {
	case 'e':
		add_event(arguments, arg, state);
		return true;
	case KEY_FOR:
		setup_for(instance_of(arguments), "--for", arg, state);
		arguments->analysis = arg;
		arguments->event = NULL;
		return true;
	case KEY_PROBE:
		arguments->off = false;
		add_event(arguments, NULL, state);
		arguments->event->probe = arg;
		return true;
	case 'f':
		event_before(arguments, 'f', state)->filter = arg;
		return true;
	case 'R':
		option_need(setup_list_add(&event_before(arguments, 'R', state)->triggers, arg), state);
		return true;
	case 'v':
		arguments->off = true;
		return true;
	case 'i':
		arguments->setup->ignore_missing = true;
		return true;
	case 'T':
		instance_of(arguments)->stacks = true;
		return true;
	}
	return false;
}

static bool parse_tracer(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;
	struct setup_instance *wanted = instance_of(arguments);

	switch (key) {
	case 'p':
		wanted->tracer = arg;
		return true;
	case 'l':
		add_functions(arguments, tracer_is_function_command(arg) ? &wanted->commands : &wanted->functions, arg,
			      state);
		return true;
	case 'n':
		add_functions(arguments, &wanted->notrace, arg, state);
		return true;
	case 'g':
		add_functions(arguments, &wanted->graph, arg, state);
		return true;
	case KEY_NO_GRAPH_FUNCTION:
		add_functions(arguments, &wanted->graph_notrace, arg, state);
		return true;
	case KEY_MAX_GRAPH_DEPTH:
		wanted->graph_depth = (unsigned)setup_number("--max-graph-depth", arg, 1, 1 << 16, state);
		return true;
	case 'O':
		option_need(setup_list_add(&wanted->options, arg), state);
		return true;
	case KEY_FUNC_STACK:
		wanted->function_stacks = true;
		return true;
	}
	return false;
}

static bool parse_latency(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;
	struct setup_instance *wanted = instance_of(arguments);

	switch (key) {
	case KEY_THRESH:
		option_need(setup_add_file(wanted,
					   &(struct setup_file){
						   .file = "tracing_thresh",
						   .number = setup_microseconds("--thresh", arg, state),
					   }),
			    state);
		return true;
	case KEY_MAX_LATENCY_RESET:
		wanted->reset_max_latency = true;
		return true;
	case KEY_HWLAT:
		add_file(arguments, "--hwlat", SETUP_HWLAT, arg, state);
		return true;
	case KEY_OSNOISE:
		add_file(arguments, "--osnoise", SETUP_OSNOISE, arg, state);
		return true;
	}
	return false;
}

static bool parse_size(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;
	struct setup_instance *wanted = instance_of(arguments);

	switch (key) {
	case 'b':
		wanted->size = setup_size("-b", arg, state);
		return true;
	case KEY_CPU_BUFFER_SIZE:
		add_cpu_size(arguments, arg, state);
		return true;
	case KEY_SUBBUF_SIZE:
		wanted->subbuf_size = setup_size("--subbuf-size", arg, state);
		return true;
	case KEY_BUFFER_PERCENT:
		wanted->percent = (unsigned)setup_number("--buffer-percent", arg, 0, 100, state);
		wanted->has_percent = true;
		return true;
	case KEY_SYSCALL_DATA:
		wanted->user_size = (unsigned)setup_number("--syscall-data", arg, 0, SYSCALL_DATA_LIMIT, state);
		wanted->has_user_size = true;
		return true;
	}
	return false;
}

static bool parse_buffer(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;
	struct setup_instance *wanted = instance_of(arguments);
	struct fail fail = FAIL_INIT;

	switch (key) {
	case KEY_ABSOLUTE_TIME:
		wanted->absolute_time = true;
		return true;
	case 'C':
		wanted->clock = arg;
		return true;
	case 'M':
		if (cpus_parse(arg, &wanted->cpus, &fail))
			setup_usage(state, "-M: %s", fail.text);
		wanted->has_cpus = true;
		return true;
	case 'B':
		add_instance(arguments, arg, state);
		return true;
	case KEY_CONFIG:
		/*
		 * config_expand() has replaced every full --config by the file's options, so this one is abbreviated or
		 * follows an abbreviated option.
		 */
		setup_usage(state, "--config: do not abbreviate --config and the options before it");
		return true;
	case KEY_DRY_RUN:
		arguments->dry_run = true;
		return true;
	case KEY_CMDLINES_SIZE:
		arguments->setup->cmdlines = (uint32_t)setup_number("--cmdlines-size", arg, 0, PID_LIMIT, state);
		return true;
	}
	return false;
}

static bool parse_task(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;
	struct setup *setup = arguments->setup;

	switch (key) {
	case 'P':
		setup->keep_pids = keeps(arguments, setup->nr_pids || setup->nr_gone_pids, setup->keep_pids);
		add_pids(arguments, "-P", arg, arguments->lists == SETUP_REMOVES ? setup_remove_pid : setup_add_pid,
			 state);
		setup->all_pids |= !*arg;
		return true;
	case KEY_NO_PID:
		setup->keep_notrace_pids = keeps(arguments, setup->nr_notrace_pids || setup->nr_gone_notrace_pids,
						 setup->keep_notrace_pids);
		add_pids(arguments, "--no-pid", arg,
			 arguments->lists == SETUP_REMOVES ? setup_remove_notrace_pid : setup_add_notrace_pid, state);
		setup->no_notrace_pids |= !*arg;
		return true;
	case 'c':
		arguments->setup->follow = true;
		return true;
	}
	return false;
}

static void warn(const char *text, void *data)
{
	(void)data;
	command_warn("warning: %s", text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->setup->warn = warn;
		option_need(setup_add_instance(arguments->setup, NULL), state);
		return 0;
	case ARGP_KEY_END:
		setup_complete(arguments->setup, arguments->changes, state);
		return 0;
	}
	if (parse_event(key, arg, state) || parse_tracer(key, arg, state) || parse_latency(key, arg, state) ||
	    parse_task(key, arg, state) || parse_size(key, arg, state) || parse_buffer(key, arg, state))
		return 0;
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_command(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;

	switch (key) {
	case 'F':
		arguments->setup->only_command = true;
		return 0;
	case KEY_USER:
		arguments->user = arg;
		return 0;
	case KEY_WAIT:
		arguments->setup->waits = true;
		arguments->setup->wait_ns = arg ? option_time("wait", arg, state) : 0;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp setup_argp = { .options = table, .parser = parse };
const struct argp setup_command_argp = { .options = command_table, .parser = parse_command };

void setup_check_command(const struct setup_arguments *arguments, bool has_command, struct argp_state *state)
{
	if (arguments->setup->only_command && !has_command)
		setup_usage(state, "-F needs a COMMAND");
	if (arguments->user && !has_command)
		setup_usage(state, "--user needs a COMMAND");
}
