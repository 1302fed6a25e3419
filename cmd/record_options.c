// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_options.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "lib/base/text.h"
#include "lib/kernel/texts.h"

enum option_key {
	KEY_MAX_GRAPH_DEPTH = 0x100,
	KEY_FUNC_STACK,
	KEY_USER,
	KEY_NO_FILTER,
	KEY_COMPRESSION,
	KEY_FILE_VERSION,
	KEY_TEMP_DIR,
	KEY_DURATION,
	KEY_FAIL_ON_LOST,
	KEY_CMDLINES_SIZE,
	KEY_SAVE,
};

enum {
	LEVEL_DEFAULT = 1,
	LEVEL_MAX = 19,
	PID_LIMIT = 1 << 22,            /* PID_MAX_LIMIT of the kernel */
	CMDLINES_DEFAULT = 1 << 15,
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "Events:", 1 },
	{ "event", 'e', "EVENT", 0, "Record EVENT: system:event, a system, a bare event name, globs in either part, or all", 1 },
	{ "filter", 'f', "FILTER", 0, "Only those of the -e before it that the kernel's FILTER lets pass", 1 },
	{ "trigger", 'R', "TRIGGER", 0, "Set TRIGGER on the events of the -e before it", 1 },
	{ "disable", 'v', NULL, 0, "From here on -e takes events out of those chosen before", 1 },
	{ "ignore-missing", 'i', NULL, 0, "Only warn about events that this kernel does not have", 1 },
	{ "all-formats", 'a', NULL, 0, "Save the formats of all events, not only of those recorded", 1 },
	{ "stacktrace", 'T', NULL, 0, "Record the kernel stack of each event", 1 },

	{ NULL, 0, NULL, 0, "Tracers:", 2 },
	{ "tracer", 'p', "TRACER", 0, "Use TRACER, such as function or function_graph", 2 },
	{ "function", 'l', "FUNCTION", 0, "Trace only FUNCTION, which may be a glob", 2 },
	{ "no-function", 'n', "FUNCTION", 0, "Do not trace FUNCTION", 2 },
	{ "graph-function", 'g', "FUNCTION", 0, "function_graph: only FUNCTION and what it calls", 2 },
	{ "max-graph-depth", KEY_MAX_GRAPH_DEPTH, "N", 0, "function_graph: at most N calls deep", 2 },
	{ "option", 'O', "OPTION", 0, "Set the trace option OPTION, or clear it as noOPTION", 2 },
	{ "func-stack", KEY_FUNC_STACK, NULL, 0, "Record the kernel stack of each function; only with -l", 2 },

	{ NULL, 0, NULL, 0, "Tasks:", 3 },
	{ "only-command", 'F', NULL, 0, "Record only what COMMAND does", 3 },
	{ "pid", 'P', "PID[,PID]", 0, "Record only what these tasks do", 3 },
	{ "follow-children", 'c', NULL, 0, "With -F or -P: their children, too", 3 },
	{ "user", KEY_USER, "USER", 0, "Run COMMAND as USER", 3 },
	{ "no-filter", KEY_NO_FILTER, NULL, 0, "Record weft's own threads, too", 3 },

	{ NULL, 0, NULL, 0, "Buffers (these hold for the -B before them; without one, for all):", 4 },
	{ "buffer-size", 'b', "SIZE", 0, "Memory of the ring buffer of each CPU: 512K, 10M; a bare number counts KB", 4 },
	{ "clock", 'C', "CLOCK", 0, "Stamp events with CLOCK", 4 },
	{ "cpus", 'M', "CPULIST", 0, "Trace only these CPUs: a list such as 0-3,7, or a hex mask", 4 },
	{ "instance", 'B', "INSTANCE", 0,
	  "What follows is for INSTANCE: an existing one is used and left as it was, otherwise it is made and removed", 4 },
	{ "max-size", 'm', "SIZE", 0, "Keep at most SIZE of each CPU's recorded data: the oldest is dropped, and counted", 4 },
	{ "cmdlines-size", KEY_CMDLINES_SIZE, "N", 0, "Let the kernel remember the names of N tasks (default 32768; 0: as it is)", 4 },

	{ NULL, 0, NULL, 0, "Output:", 5 },
	{ "output", 'o', "FILE", 0, "Write FILE (default trace.dat); - is standard output", 5 },
	{ "compression", KEY_COMPRESSION, "zstd[:LEVEL]|none", 0, "How to pack the file (default zstd:1)", 5 },
	{ "file-version", KEY_FILE_VERSION, "6|7", 0, "Write version 7 (default), or 6, which is not compressed", 5 },
	{ "temp-dir", KEY_TEMP_DIR, "DIR", 0, "Keep the data in DIR while recording (default: beside the output)", 5 },
	{ "duration", KEY_DURATION, "TIME", 0, "Stop after TIME: 500ms, 10s, 2m; a bare number counts seconds", 5 },
	{ "save", KEY_SAVE, "hist|stack|stat", 0,
	  "Save what the kernel counted as well: every histogram, the deepest stack, or trace_stat; repeatable", 5 },
	{ "fail-on-lost", KEY_FAIL_ON_LOST, NULL, 0, "Exit with status 123 when events were lost", 5 },
	{ "quiet", 'q', NULL, 0, "Print no summary", 5 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static struct record_buffer *buffer_of(struct record_arguments *arguments)
{
	return &arguments->options.buffers[arguments->options.nr_buffers - 1];
}

static void need(bool ok, struct argp_state *state)
{
	if (!ok)
		argp_failure(state, EXIT_RECORD_FAILED, 0, "out of memory");
}

static void add_event(struct record_arguments *arguments, const char *pattern, struct argp_state *state)
{
	struct record_event *event = record_buffer_add_event(buffer_of(arguments), pattern);

	need(event, state);
	event->off = arguments->off;
	arguments->event = event;
}

static struct record_event *event_before(struct record_arguments *arguments, char letter, struct argp_state *state)
{
	if (!arguments->event || arguments->event->off)
		argp_error(state, "-%c belongs behind the -e that it is for", letter);
	return arguments->event;
}

static void add_instance(struct record_arguments *arguments, const char *name, struct argp_state *state)
{
	if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		argp_error(state, "'%s' is no name of an instance", name);
	need(record_options_add_buffer(&arguments->options, name), state);
	arguments->event = NULL;
	arguments->off = false;
}

static void add_pids(struct record_arguments *arguments, const char *list, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	struct text_word word;

	while (text_next_word(&list, ", ", &word)) {
		char *text = strndup(word.at, word.len);
		uint64_t pid;

		need(text, state);
		if (text_parse_range(text, 1, PID_LIMIT, &pid, &fail))
			argp_error(state, "-P: %s", fail.text);
		free(text);
		need(record_options_add_pid(&arguments->options, (pid_t)pid), state);
	}
}

static void set_compression(struct record_options *options, const char *text, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t level = LEVEL_DEFAULT;

	options->compress = strcmp(text, "none");
	if (!options->compress)
		return;
	if (strncmp(text, "zstd", 4) || (text[4] && text[4] != ':'))
		argp_error(state, "no compression '%s'; there are zstd, zstd:LEVEL and none", text);
	if (text[4] && text_parse_range(text + 5, 1, LEVEL_MAX, &level, &fail))
		argp_error(state, "--compression: %s", fail.text);
	options->level = (int)level;
}

static uint64_t number(const char *what, const char *text, uint64_t min, uint64_t max, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t value = 0;

	if (text_parse_range(text, min, max, &value, &fail))
		argp_error(state, "%s: %s", what, fail.text);
	return value;
}

static uint64_t size(const char *what, const char *text, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t value = 0;

	if (text_parse_size(text, &value, &fail))
		argp_error(state, "%s: %s", what, fail.text);
	if (!value)
		argp_error(state, "%s: a size of nothing", what);
	return value;
}

/* What is said of a buffer. False: the key is no such option. */
static bool parse_buffer(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	struct record_buffer *buffer = buffer_of(arguments);
	struct fail fail = FAIL_INIT;

	switch (key) {
	case 'p':
		buffer->tracer = arg;
		return true;
	case 'l':
		need(record_list_add(&buffer->functions, arg), state);
		return true;
	case 'n':
		need(record_list_add(&buffer->notrace, arg), state);
		return true;
	case 'g':
		need(record_list_add(&buffer->graph, arg), state);
		return true;
	case 'O':
		need(record_list_add(&buffer->options, arg), state);
		return true;
	case 'T':
		buffer->stacks = true;
		return true;
	case KEY_FUNC_STACK:
		buffer->function_stacks = true;
		return true;
	case KEY_MAX_GRAPH_DEPTH:
		buffer->graph_depth = (unsigned)number("--max-graph-depth", arg, 1, 1 << 16, state);
		return true;
	case 'b':
		buffer->size = size("-b", arg, state);
		return true;
	case 'C':
		buffer->clock = arg;
		return true;
	case 'M':
		if (cpus_parse(arg, &buffer->cpus, &fail))
			argp_error(state, "-M: %s", fail.text);
		buffer->has_cpus = true;
		return true;
	}
	return false;
}

static bool parse_event(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;

	switch (key) {
	case 'e':
		add_event(arguments, arg, state);
		return true;
	case 'f':
		event_before(arguments, 'f', state)->filter = arg;
		return true;
	case 'R':
		need(record_list_add(&event_before(arguments, 'R', state)->triggers, arg), state);
		return true;
	case 'v':
		arguments->off = true;
		return true;
	case 'B':
		add_instance(arguments, arg, state);
		return true;
	case 'i':
		arguments->options.ignore_missing = true;
		return true;
	case 'a':
		arguments->options.all_formats = true;
		return true;
	}
	return false;
}

static bool parse_task(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	struct record_options *options = &arguments->options;

	switch (key) {
	case 'F':
		options->only_command = true;
		return true;
	case 'P':
		add_pids(arguments, arg, state);
		return true;
	case 'c':
		options->follow = true;
		return true;
	case KEY_USER:
		options->user = arg;
		return true;
	case KEY_NO_FILTER:
		options->trace_self = true;
		return true;
	}
	return false;
}

static unsigned texts_named(const char *name, struct argp_state *state)
{
	if (!strcmp(name, "hist"))
		return TEXTS_HIST;
	if (!strcmp(name, "stack"))
		return TEXTS_STACK;
	if (strcmp(name, "stat"))
		argp_error(state, "--save: there is no '%s'; there are hist, stack and stat", name);
	return TEXTS_STAT;
}

static bool parse_output(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	struct record_options *options = &arguments->options;
	struct fail fail = FAIL_INIT;

	switch (key) {
	case 'o':
		options->output = arg;
		return true;
	case 'm':
		options->max_size = size("-m", arg, state);
		return true;
	case KEY_CMDLINES_SIZE:
		options->cmdlines = (uint32_t)number("--cmdlines-size", arg, 0, PID_LIMIT, state);
		return true;
	case KEY_SAVE:
		options->texts |= texts_named(arg, state);
		return true;
	case KEY_COMPRESSION:
		set_compression(options, arg, state);
		arguments->compression_given = true;
		return true;
	case KEY_FILE_VERSION:
		options->version = (unsigned)number("--file-version", arg, 6, 7, state);
		return true;
	case KEY_TEMP_DIR:
		options->temp_dir = arg;
		return true;
	case KEY_DURATION:
		if (text_parse_time(arg, &options->duration_ns, &fail))
			argp_error(state, "--duration: %s", fail.text);
		if (!options->duration_ns)
			argp_error(state, "--duration: no time at all");
		return true;
	case KEY_FAIL_ON_LOST:
		arguments->fail_on_lost = true;
		return true;
	case 'q':
		arguments->quiet = true;
		return true;
	}
	return false;
}

/* Sizes, clock and CPUs that were given before the first -B hold for all that follow. */
static void inherit(struct record_options *options)
{
	const struct record_buffer *main_buffer = &options->buffers[0];

	for (size_t i = 1; i < options->nr_buffers; i++) {
		struct record_buffer *buffer = &options->buffers[i];

		if (!buffer->size)
			buffer->size = main_buffer->size;
		if (!buffer->clock)
			buffer->clock = main_buffer->clock;
		if (!buffer->has_cpus && main_buffer->has_cpus) {
			buffer->has_cpus = true;
			buffer->cpus = main_buffer->cpus;
		}
	}
}

static void check_buffers(const struct record_options *options, struct argp_state *state)
{
	for (size_t i = 0; i < options->nr_buffers; i++) {
		const struct record_buffer *buffer = &options->buffers[i];

		if (buffer->function_stacks && !buffer->functions.nr)
			argp_error(state, "--func-stack needs -l: the stack of every function would bring the machine to a halt");
		for (size_t j = 1; j < i; j++)
			if (!strcmp(options->buffers[j].instance, buffer->instance))
				argp_error(state, "instance '%s' is named twice", buffer->instance);
	}
	if (options->nr_buffers == 1 && !options->buffers[0].nr_events && !options->buffers[0].tracer)
		argp_error(state, "nothing to record: choose events with -e or a tracer with -p");
}

static void check(struct record_arguments *arguments, struct argp_state *state)
{
	struct record_options *options = &arguments->options;

	check_buffers(options, state);
	if (options->only_command && !options->argv)
		argp_error(state, "-F needs a COMMAND");
	if (options->user && !options->argv)
		argp_error(state, "--user needs a COMMAND");
	if (options->follow && !options->only_command && !options->nr_pids)
		argp_error(state, "-c needs -F or -P: without them all tasks are recorded");
	if (options->version == 6 && arguments->compression_given && options->compress)
		argp_error(state, "a file of version 6 cannot be compressed");
	if (options->version == 6)
		options->compress = false;
	if (!*options->output)
		argp_error(state, "-o: an empty name");
	inherit(options);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->options.output = "trace.dat";
		arguments->options.version = 7;
		arguments->options.compress = true;
		arguments->options.level = LEVEL_DEFAULT;
		arguments->options.cmdlines = CMDLINES_DEFAULT;
		need(record_options_add_buffer(&arguments->options, NULL), state);
		return 0;
	case ARGP_KEY_ARG:
		/* The rest is the COMMAND and its own options. */
		arguments->options.argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	if (parse_event(key, arg, state) || parse_buffer(key, arg, state) || parse_task(key, arg, state) ||
	    parse_output(key, arg, state))
		return 0;
	return ARGP_ERR_UNKNOWN;
}

const struct argp record_argp = {
	.options = table,
	.parser = parse,
	.args_doc = "[--] [COMMAND...]",
	.doc = "Record what the kernel does while COMMAND runs, or until Ctrl-C.\v"
	       "The exit status is that of COMMAND; 126 or 127 when it cannot be run, 125 when the recording failed, "
	       "123 with --fail-on-lost when events were lost. "
	       "Tracing starts just before COMMAND does and stops when it exits. "
	       "With -o - the standard output of COMMAND goes to standard error.",
};
