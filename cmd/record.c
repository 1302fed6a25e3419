// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "cmd/setup_run.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/progress.h"
#include "lib/base/buf.h"
#include "lib/base/text.h"
#include "lib/record/options.h"
#include "lib/record/parts.h"
#include "lib/record/session.h"
#include "lib/record/so_far.h"
#include "lib/record/workload.h"
#include "lib/setup/setup.h"
#include "lib/undo/undo.h"

#include <argp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command line of `weft record`: what the session should do, and what only the command needs. */
struct record_arguments {
	struct record_options options;
	bool fail_on_lost;
	struct output_arguments output;
	struct setup_arguments setup;
};

enum option_key {
	KEY_NO_FILTER = 0x100,
	KEY_DURATION,
	KEY_FAIL_ON_LOST,
	KEY_RECORDER_CPU,
	KEY_SYNC,
};

enum { SYNC_MIN_NS = 10000000, SYNC_MAX_S = 86400 };

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "Recording:", SETUP_OWN_GROUP },
	{ "all-formats", 'a', NULL, 0, "Save the formats of all events, not only of those recorded", SETUP_OWN_GROUP },
	{ "no-filter", KEY_NO_FILTER, NULL, 0, "No effect: weft's own threads are recorded in any case",
	  SETUP_OWN_GROUP },
	{ "max-size", 'm', "SIZE", 0,
	  "Keep at most SIZE of each CPU's recorded data: the oldest is dropped, and counted", SETUP_OWN_GROUP },
	{ "duration", KEY_DURATION, "TIME", 0, "Stop after TIME: 500ms, 10s, 2m; a bare number counts seconds",
	  SETUP_OWN_GROUP },
	{ "sync", KEY_SYNC, "TIME", 0, "Sync to the disk all data that is older than TIME, in case the machine crashes",
	  SETUP_OWN_GROUP },
	{ "recorder-cpu", KEY_RECORDER_CPU, "CPULIST", 0, "Let the recorders run only on these CPUs", SETUP_OWN_GROUP },
	{ "priority", 'r', "PRIO", 0, "Run the recorders with the real-time priority PRIO, 1 to 99", SETUP_OWN_GROUP },
	{ "fail-on-lost", KEY_FAIL_ON_LOST, NULL, 0, "Exit with status 123 when events were lost, or may have been",
	  SETUP_OWN_GROUP },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static bool parse_recording(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	struct record_options *options = &arguments->options;
	struct fail fail = FAIL_INIT;

	switch (key) {
	case KEY_RECORDER_CPU:
		if (cpus_parse(arg, &options->recorder_cpus, &fail))
			setup_usage(state, "--recorder-cpu: %s", fail.text);
		options->has_recorder_cpus = true;
		return true;
	case 'r':
		options->priority = (int)setup_number("-r", arg, 1, 99, state);
		return true;
	case 'a':
		options->all_formats = true;
		return true;
	case KEY_NO_FILTER:
		return true;
	case 'm':
		options->max_size = setup_size("-m", arg, state);
		return true;
	case KEY_DURATION:
		options->duration_ns = option_time("duration", arg, state);
		return true;
	case KEY_SYNC:
		options->sync_ns = option_time("sync", arg, state);
		if (options->sync_ns < SYNC_MIN_NS || options->sync_ns > SYNC_MAX_S * UINT64_C(1000000000))
			setup_usage(state, "--sync takes at least 10ms and at most a day");
		return true;
	case KEY_FAIL_ON_LOST:
		arguments->fail_on_lost = true;
		return true;
	}
	return false;
}

static void check(struct record_arguments *arguments, struct argp_state *state)
{
	struct record_options *options = &arguments->options;

	options->user = arguments->setup.user;
	setup_check_command(&arguments->setup, options->argv, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->options.setup.cmdlines = SETUP_CMDLINES;
		arguments->setup.setup = &arguments->options.setup;
		state->child_inputs[0] = state->child_inputs[1] = &arguments->setup;
		state->child_inputs[2] = &arguments->output;
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
	return parse_recording(key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &setup_argp, 0, NULL, SETUP_GROUP },
	{ &setup_command_argp, 0, NULL, SETUP_COMMAND_GROUP },
	{ &output_argp, 0, "Output:", SETUP_OWN_GROUP + 1 },
	{ NULL, 0, NULL, 0 },
};

static const struct argp argp = {
	.children = children,
	.options = table,
	.parser = parse,
	.args_doc = "[--] [COMMAND...]",
	.doc = "Record what the kernel does while COMMAND runs, or until Ctrl-C.\v"
	       "The exit status is that of COMMAND; 126 or 127 when it cannot be run, 125 when the recording failed, "
	       "123 with --fail-on-lost when events were lost, or somebody cleared the buffer. "
	       "Tracing starts just before COMMAND does and stops when it exits. "
	       "With -o - the standard output of COMMAND goes to standard error.",
};

/* Call it after parsing: moves what the children of argp found into the options. */
static void finish_arguments(struct record_arguments *arguments)
{
	const struct output_arguments *output = &arguments->output;
	struct record_options *options = &arguments->options;

	options->output = output->output;
	options->temp_dir = output->temp_dir;
	options->mode = output->mode;
	options->version = output->version;
	options->compress = output->compress;
	options->level = output->level;
	options->texts = output->texts;
	options->all_symbols = output->all_symbols;
}

enum { NAMES_SHOWN = 6, NS_PER_S = 1000000000 };

/* Adds names such as "sched, syscalls and 3 more". */
static bool add_names(const struct setup *setup, struct buf *names)
{
	size_t nr = 0;
	bool ok = true;

	for (size_t i = 0; i < setup->nr_instances; i++) {
		const struct setup_instance *instance = &setup->instances[i];

		if (instance->tracer && nr++ < NAMES_SHOWN)
			ok = ok && buf_addf(names, "%sthe tracer %s", names->len ? ", " : "", instance->tracer);
		for (size_t j = 0; j < instance->nr_events; j++) {
			const struct setup_event *event = &instance->events[j];

			if (!event->off && nr++ < NAMES_SHOWN)
				ok = ok && buf_addf(names, "%s%s", names->len ? ", " : "",
						    event->pattern ? event->pattern : event->probe);
		}
	}
	return ok && (nr <= NAMES_SHOWN || buf_addf(names, " and %zu more", nr - NAMES_SHOWN));
}

/* If standard error is a terminal and no COMMAND ends the recording, says what is recorded and how to end it. */
static void tell_start(const struct record_options *options)
{
	cleanup_buf struct buf names = BUF_INIT;
	char time[TEXT_HUMAN] = "";

	if (options->argv || !isatty(STDERR_FILENO) || !add_names(&options->setup, &names))
		return;
	if (options->duration_ns)
		text_time(time, options->duration_ns);
	command_warn("recording %s%s%s%s; Ctrl-C ends it", buf_str(&names), *time ? " for " : "", time,
		     options->setup.nr_pids && !options->setup.follow ? ", until the last of these tasks has ended" :
									"");
}

/* Draws a line with the events of the last second; sizes and losses count from the start. */
static void draw(const struct so_far *so_far)
{
	static uint64_t last_events, last_ns;
	uint64_t ns = so_far->lasted_ns - last_ns;
	char text[256], rate[TEXT_HUMAN], bytes[TEXT_HUMAN], lost[TEXT_HUMAN];

	text_count(rate, ns ? (uint64_t)((double)(so_far->events - last_events) * NS_PER_S / (double)ns) : 0);
	snprintf(text, sizeof(text), "%" PRIu64 " s, %s events/s, %s, buffers %u %% full, %s lost",
		 so_far->lasted_ns / NS_PER_S, rate, text_size(bytes, so_far->bytes), so_far->fill,
		 text_count(lost, so_far->lost));
	progress_draw(text);
	last_events = so_far->events;
	last_ns = so_far->lasted_ns;
}

/*
 * Shows the progress of the recording on a terminal, in one line that is redrawn until the recording ends. It does
 * nothing with a COMMAND, which may write to the terminal.
 */
static void watch(struct record_options *options)
{
	/* A COMMAND may write to the same terminal. */
	if (options->argv || !progress_can_draw())
		return;
	options->look = draw;
	options->look_ms = progress_period_ms();
}

/* Reports parts that an earlier recording left when it was killed: they may have its only data. */
static void tell_left_behind(const char *output)
{
	struct undo_pending pending;
	cleanup_buf struct buf pasted = BUF_INIT;
	char *path = NULL;
	unsigned at = 0;

	if (parts_left_behind(output, &path)) {
		command_warn("note: '%s' is left of a recording that was killed; 'weft recover %s' makes a file of it",
			     path, paste_file(&pasted, path));
		free(path);
	}
	if (undo_next_pending(NULL, &at, &pending, NULL) > 0)
		command_warn(
			"note: a recording that was killed (process %d) left tracing settings changed; 'weft recover' "
			"puts them back",
			pending.pid);
}

static const char *buffer_name(const struct record_options *options, const struct record_cpu *cpu)
{
	const char *name = options->setup.instances[cpu->buffer].name;

	return name ? name : "";
}

static void print_losses(const struct record_options *options, const struct record_result *result)
{
	char count[TEXT_HUMAN], size[TEXT_HUMAN];

	for (size_t i = 0; i < result->nr_cpus; i++) {
		const struct record_cpu *cpu = &result->cpus[i];
		const char *name = buffer_name(options, cpu);

		if (cpu->lost)
			command_warn("%s%sCPU %u lost %s event%s; a larger buffer (-b) may keep them", name,
				     *name ? ": " : "", cpu->cpu, text_count(count, cpu->lost), text_plural(cpu->lost));
		if (cpu->dropped_bytes)
			command_warn("%s%sCPU %u: the oldest %s event%s (%s of pages) were dropped to keep to -m", name,
				     *name ? ": " : "", cpu->cpu, text_count(count, cpu->dropped_events),
				     text_plural(cpu->dropped_events), text_size(size, cpu->dropped_bytes));
	}
}

/* Most ways to clear a buffer clear all of its CPUs at once. */
static void print_cleared(const struct record_options *options, const struct record_result *result)
{
	for (size_t i = 0; i < result->nr_cpus; i++) {
		const struct record_cpu *most = &result->cpus[i];

		if (i && most->buffer == result->cpus[i - 1].buffer)
			continue;
		for (size_t j = i; j < result->nr_cpus && result->cpus[j].buffer == most->buffer; j++)
			if (result->cpus[j].cleared > most->cleared)
				most = &result->cpus[j];
		kernel_tell_cleared(buffer_name(options, most), most->cleared);
	}
}

static bool add_reason(struct buf *why, const char *text)
{
	return buf_addf(why, "%s%s", why->len ? "; " : "", text);
}

/* Adds the first filter, and whether there are more. */
static bool add_filters(const struct setup *setup, struct buf *why)
{
	const char *first = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < setup->nr_instances; i++)
		for (size_t j = 0; j < setup->instances[i].nr_events; j++) {
			const char *filter = setup->instances[i].events[j].filter;

			first = first || !filter ? first : filter;
			nr += filter != NULL;
		}
	if (!first)
		return true;
	return buf_addf(why, "%sthe filter '%s'%s matched no event", why->len ? "; " : "", first,
			nr > 1 ? " and others" : "");
}

static bool add_tracer(const struct setup_instance *instance, struct buf *why)
{
	if (instance->functions.nr || instance->graph.nr)
		return add_reason(why, "the functions of -l or -g were not called");
	return true;
}

static bool add_choices(const struct setup *setup, struct buf *why)
{
	bool ok = add_filters(setup, why);

	if (ok && setup->only_command)
		ok = add_reason(why, setup->follow ? "only tasks of COMMAND are traced (-F -c)" :
						     "only COMMAND itself is traced, not its children (-F without -c)");
	else if (ok && (setup->nr_pids || setup->nr_notrace_pids))
		ok = add_reason(why, "only some tasks are traced (-P)");
	for (size_t i = 0; ok && i < setup->nr_instances; i++) {
		if (setup->instances[i].has_cpus)
			ok = add_reason(why, "only some CPUs are traced (-M)");
		ok = ok && add_tracer(&setup->instances[i], why);
	}
	return ok;
}

/* Prints a note after a recording without events, with the options that may be the reason. */
static void tell_nothing(const struct setup *setup)
{
	cleanup_buf struct buf why = BUF_INIT;

	if (!add_choices(setup, &why))
		return;
	if (why.len)
		command_warn("note: nothing was recorded; possible reasons: %s", buf_str(&why));
	else
		command_warn("note: nothing was recorded: none of the requested events or functions occurred");
}

static void print_summary(const struct record_options *options, const struct record_result *result)
{
	char events[TEXT_HUMAN], raw[TEXT_HUMAN], file[TEXT_HUMAN], time[TEXT_HUMAN], lost[TEXT_HUMAN];
	cleanup_buf struct buf pasted = BUF_INIT;

	command_warn("%s: %s%s event%s in %s, %s of pages in a file of %s, %s lost", options->output,
		     result->at_most ? "at most " : "", text_count(events, result->events), text_plural(result->events),
		     text_time(time, result->time_ns), text_size(raw, result->raw), text_size(file, result->file_size),
		     text_count(lost, result->lost));
	print_losses(options, result);
	print_cleared(options, result);
	kernel_tell_missed(result->missed_probes);
	if (!result->events && !result->lost) {
		tell_nothing(&options->setup);
		kernel_tell_unseen(&options->setup);
	}
	if (result->symbols_hidden)
		command_warn("note: the kernel hides its addresses (kptr_restrict), so functions cannot be named");
	if (result->events && strcmp(options->output, "-"))
		command_warn("'weft summary %s' shows what stands out in it", paste_file(&pasted, options->output));
}

static int tell_failure(const struct record_arguments *arguments, const struct record_result *result,
			const struct fail *fail)
{
	cleanup_buf struct buf pasted = BUF_INIT;

	command_failed(fail);
	if (result->finished)
		command_warn("the recording ended early; what was saved until then is in '%s'",
			     arguments->options.output);
	if (result->parts)
		command_warn(
			"the recorded data is in '%s'; 'weft recover %s -o FILE' makes a file of it, also on another "
			"filesystem",
			result->parts, paste_file(&pasted, result->parts));
	/* A command that could not be run: the shell's statuses. */
	return result->has_status && !result->ran ? result->status : EXIT_RECORD_FAILED;
}

static int run(int argc, char **argv)
{
	struct record_arguments arguments = { .fail_on_lost = false };
	struct record_result result;
	struct fail fail = FAIL_INIT;
	int err, status = EXIT_OK;

	command_parse(&record_command, argc, argv, ARGP_IN_ORDER, &arguments);
	finish_arguments(&arguments);
	arguments.options.path = getenv("PATH");
	if (arguments.setup.dry_run) {
		status = setup_run_script(&arguments.options.setup, arguments.options.argv, arguments.options.user);
		setup_release(&arguments.options.setup);
		return status;
	}
	if (!arguments.output.quiet) {
		tell_left_behind(arguments.options.output);
		tell_start(&arguments.options);
		watch(&arguments.options);
		arguments.options.setup.step = progress_step;
	}
	err = session_run(&arguments.options, &result, &fail);
	progress_draw(NULL);
	if (result.finished && !arguments.output.quiet)
		print_summary(&arguments.options, &result);
	if (err)
		status = tell_failure(&arguments, &result, &fail);
	/* The command may outlive the recording. Its status is still weft's. */
	result.has_status |= workload_wait(result.command, &result.status);
	if (!err && result.has_status)
		status = result.status;
	if (!err && arguments.fail_on_lost && (result.lost || result.cleared || result.missed))
		status = EXIT_LOST;
	record_result_release(&result);
	setup_release(&arguments.options.setup);
	return status;
}

const struct command record_command = {
	.name = "record",
	.summary = "record what the kernel does while a command runs",
	.brief = "a workload",
	.examples = "  weft record -e sched -e syscalls -- ls\n"
		    "  weft record -p function_graph -g do_sys_openat2 -- cat /etc/hostname",
	.group = "record",
	.argp = &argp,
	.run = run,
};
