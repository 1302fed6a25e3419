// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/setup_options.h"

#include "cmd/command.h"
#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>

enum option_key {
	KEY_MAX_GRAPH_DEPTH = 0x400,
	KEY_FUNC_STACK,
	KEY_PROBE,
	KEY_USER,
	KEY_CMDLINES_SIZE,
};

enum {
	PID_LIMIT = 1 << 22,            /* PID_MAX_LIMIT of the kernel */
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "Events:", 1 },
	{ "event", 'e', "EVENT", 0, "Trace EVENT: system:event, a system, a bare event name, globs in either part, or all", 1 },
	{ "filter", 'f', "FILTER", 0, "Only those of the -e before it that the kernel's FILTER lets pass", 1 },
	{ "trigger", 'R', "TRIGGER", 0, "Set TRIGGER on the events of the -e before it", 1 },
	{ "probe", KEY_PROBE, "DEFINITION", 0,
	  "Make a probe, as weft-probe(1) has it, and trace it; it goes when this ends. -f and -R may follow", 1 },
	{ "disable", 'v', NULL, 0, "From here on -e takes events out of those chosen before", 1 },
	{ "ignore-missing", 'i', NULL, 0, "Only warn about events that this kernel does not have", 1 },
	{ "stacktrace", 'T', NULL, 0, "Store the kernel stack with each event", 1 },

	{ NULL, 0, NULL, 0, "Tracers:", 2 },
	{ "tracer", 'p', "TRACER", 0, "Use TRACER, such as function or function_graph", 2 },
	{ "function", 'l', "FUNCTION", 0, "Trace only FUNCTION, which may be a glob", 2 },
	{ "no-function", 'n', "FUNCTION", 0, "Do not trace FUNCTION", 2 },
	{ "graph-function", 'g', "FUNCTION", 0, "function_graph: only FUNCTION and what it calls", 2 },
	{ "max-graph-depth", KEY_MAX_GRAPH_DEPTH, "N", 0, "function_graph: at most N calls deep", 2 },
	{ "option", 'O', "OPTION", 0, "Set the trace option OPTION, or clear it as noOPTION", 2 },
	{ "func-stack", KEY_FUNC_STACK, NULL, 0, "Store the kernel stack with each function; only with -l", 2 },

	{ NULL, 0, NULL, 0, "Tasks:", 3 },
	{ "pid", 'P', "PID[,PID]", 0, "Trace only these tasks", 3 },
	{ "follow-children", 'c', NULL, 0, "With -F or -P: their children, too", 3 },

	{ NULL, 0, NULL, 0, "Buffers (these hold for the -B before them; without one, for all):", 4 },
	{ "buffer-size", 'b', "SIZE", 0, "Memory of the ring buffer of each CPU: 512K, 10M; a bare number counts KB", 4 },
	{ "clock", 'C', "CLOCK", 0, "Stamp events with CLOCK", 4 },
	{ "cpus", 'M', "CPULIST", 0, "Trace only these CPUs: a list such as 0-3,7, or a hex mask", 4 },
	{ "instance", 'B', "INSTANCE", 0,
	  "What follows is for INSTANCE: an existing one is used and left as it was, otherwise it is made (and removed again)", 4 },
	{ "cmdlines-size", KEY_CMDLINES_SIZE, "N", 0, "Let the kernel remember the names of N tasks (0: as it is; recordings: 32768)", 4 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static const struct argp_option command_table[] = {
	{ NULL, 0, NULL, 0, "Command:", 1 },
	{ "only-command", 'F', NULL, 0, "Trace only what COMMAND does", 1 },
	{ "user", KEY_USER, "USER", 0, "Run COMMAND as USER", 1 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

void setup_usage(struct argp_state *state, const char *format, ...)
{
	struct fail fail = FAIL_INIT;
	va_list args;

	va_start(args, format);
	vsnprintf(fail.text, sizeof(fail.text), format, args);
	va_end(args);
	argp_error(state, "%s", fail.text);
}

uint64_t setup_number(const char *what, const char *text, uint64_t min, uint64_t max, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t value = 0;

	if (text_parse_range(text, min, max, &value, &fail))
		setup_usage(state, "%s: %s", what, fail.text);
	return value;
}

uint64_t setup_size(const char *what, const char *text, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t value = 0;

	if (text_parse_size(text, &value, &fail))
		setup_usage(state, "%s: %s", what, fail.text);
	if (!value)
		setup_usage(state, "%s: a size of nothing", what);
	return value;
}

uint64_t setup_time_ns(const char *what, const char *text, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t value = 0;

	if (text_parse_time(text, &value, &fail))
		setup_usage(state, "%s: %s", what, fail.text);
	if (!value)
		setup_usage(state, "%s: no time at all", what);
	return value;
}

static struct setup_instance *instance_of(struct setup_arguments *arguments)
{
	return &arguments->setup->instances[arguments->setup->nr_instances - 1];
}

static void need(bool ok, struct argp_state *state)
{
	if (!ok)
		argp_failure(state, EXIT_FAILED, 0, "out of memory");
}

static void add_event(struct setup_arguments *arguments, const char *pattern, struct argp_state *state)
{
	struct setup_event *event = setup_add_event(instance_of(arguments), pattern);

	need(event, state);
	event->off = arguments->off;
	arguments->event = event;
}

static struct setup_event *event_before(struct setup_arguments *arguments, char letter, struct argp_state *state)
{
	if (!arguments->event || arguments->event->off)
		setup_usage(state, "-%c belongs behind the -e that it is for", letter);
	return arguments->event;
}

static void add_instance(struct setup_arguments *arguments, const char *name, struct argp_state *state)
{
	if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		setup_usage(state, "'%s' is no name of an instance", name);
	need(setup_add_instance(arguments->setup, name), state);
	arguments->event = NULL;
	arguments->off = false;
}

static void add_pids(struct setup *setup, const char *what, const char *list, bool (*add)(struct setup *, pid_t),
		     struct argp_state *state)
{
	struct text_word word;

	while (text_next_word(&list, ", ", &word)) {
		char *text = strndup(word.at, word.len);
		uint64_t pid;

		need(text, state);
		pid = setup_number(what, text, 1, PID_LIMIT, state);
		free(text);
		need(add(setup, (pid_t)pid), state);
	}
}

static bool parse_event(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;

	switch (key) {
	case 'e':
		add_event(arguments, arg, state);
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
		need(setup_list_add(&event_before(arguments, 'R', state)->triggers, arg), state);
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
	struct setup_instance *wanted = instance_of(state->input);

	switch (key) {
	case 'p':
		wanted->tracer = arg;
		return true;
	case 'l':
		need(setup_list_add(&wanted->functions, arg), state);
		return true;
	case 'n':
		need(setup_list_add(&wanted->notrace, arg), state);
		return true;
	case 'g':
		need(setup_list_add(&wanted->graph, arg), state);
		return true;
	case KEY_MAX_GRAPH_DEPTH:
		wanted->graph_depth = (unsigned)setup_number("--max-graph-depth", arg, 1, 1 << 16, state);
		return true;
	case 'O':
		need(setup_list_add(&wanted->options, arg), state);
		return true;
	case KEY_FUNC_STACK:
		wanted->function_stacks = true;
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
	case 'b':
		wanted->size = setup_size("-b", arg, state);
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
	case KEY_CMDLINES_SIZE:
		arguments->setup->cmdlines = (uint32_t)setup_number("--cmdlines-size", arg, 0, PID_LIMIT, state);
		return true;
	}
	return false;
}

static bool parse_task(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;

	switch (key) {
	case 'P':
		add_pids(arguments->setup, "-P", arg, setup_add_pid, state);
		return true;
	case 'c':
		arguments->setup->follow = true;
		return true;
	}
	return false;
}

/* Sizes, clock and CPUs that were given before the first -B hold for all that follow. */
static void inherit(struct setup *setup)
{
	const struct setup_instance *first = &setup->instances[0];

	for (size_t i = 1; i < setup->nr_instances; i++) {
		struct setup_instance *wanted = &setup->instances[i];

		if (!wanted->size)
			wanted->size = first->size;
		if (!wanted->clock)
			wanted->clock = first->clock;
		if (!wanted->has_cpus && first->has_cpus) {
			wanted->has_cpus = true;
			wanted->cpus = first->cpus;
		}
	}
}

static void check_instances(const struct setup *setup, struct argp_state *state)
{
	for (size_t i = 0; i < setup->nr_instances; i++) {
		const struct setup_instance *wanted = &setup->instances[i];

		if (wanted->function_stacks && !wanted->functions.nr)
			setup_usage(state, "--func-stack needs -l: the stack of every function would bring the machine to a halt");
		for (size_t j = 1; j < i; j++)
			if (!strcmp(setup->instances[j].name, wanted->name))
				setup_usage(state, "instance '%s' is named twice", wanted->name);
	}
}

static void check(struct setup_arguments *arguments, struct argp_state *state)
{
	struct setup *setup = arguments->setup;

	check_instances(setup, state);
	if (!arguments->changes && setup->nr_instances == 1 && !setup_wants(&setup->instances[0]))
		setup_usage(state, "nothing to trace: choose events with -e or a tracer with -p");
	if (!arguments->changes && setup->follow && !setup->only_command && !setup->nr_pids)
		setup_usage(state, "-c needs -F or -P: without them all tasks are traced");
	inherit(setup);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct setup_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		need(setup_add_instance(arguments->setup, NULL), state);
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	if (parse_event(key, arg, state) || parse_tracer(key, arg, state) || parse_task(key, arg, state) ||
	    parse_buffer(key, arg, state))
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
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp setup_argp = { .options = table, .parser = parse };
const struct argp setup_command_argp = { .options = command_table, .parser = parse_command };
