// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/elsewhere.h"
#include "cmd/options/answer.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/sample.h"
#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "cmd/record_mark.h"
#include "cmd/setup_run.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/progress.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/options.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/progress.h"
#include "lib/kernel/record/session.h"
#include "lib/kernel/record/workload.h"
#include "lib/kernel/remote/outcome.h"
#include "lib/kernel/remote/several.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/setup/setup_files.h"
#include "lib/kernel/setup/setup_profile.h"
#include "lib/kernel/setup/setup_quota.h"
#include "lib/kernel/setup/setup_user_stacks.h"
#include "lib/kernel/undo/undo.h"
#include "lib/meaning/event/own_formats.h"

/* The command line of `weft record`: what the session should do, and what only the command needs. */
struct record_arguments {
	struct record_options options;
	bool fail_on_lost, files, profile, quota;
	unsigned words;     /* of user stacks; 0: no --stacks */
	const char *result; /* a file for what became of it; NULL: none */
	struct record_mark mark;
	struct output_arguments output;
	struct setup_arguments setup;
	struct elsewhere_arguments elsewhere;
};

enum { SYNC_MIN_NS = 10000000, SYNC_MAX_S = 86400 };

static void take_mark(const struct option_row *row, void *member, char *arg, struct argp_state *state)
{
	struct record_mark *mark = member;
	struct fail fail = FAIL_INIT;

	free(mark->name);
	mark->name = NULL;
	if (record_mark_parse(arg, mark, &fail))
		setup_usage(state, "--%s: %s", row->name, fail.text);
}

static void take_sync(const struct option_row *row, void *member, char *arg, struct argp_state *state)
{
	uint64_t *ns = member;

	*ns = option_time(row->name, arg, state);
	if (*ns < SYNC_MIN_NS || *ns > SYNC_MAX_S * NS_PER_S)
		setup_usage(state, "--sync takes at least 10ms and at most a day");
}

/* user, or user:WORDS */
static void take_stacks(const struct option_row *row, void *member, char *arg, struct argp_state *state)
{
	unsigned *words = member;
	uint64_t number = SETUP_USER_STACKS_WORDS;
	struct fail fail;

	(void)row;
	if (strcmp(arg, "user") != 0 && (strncmp(arg, "user:", 5) != 0 || text_parse_u64(arg + 5, &number, &fail)))
		setup_usage(state, "--stacks takes user, or user:WORDS");
	if (!number || number > SETUP_USER_STACKS_WORDS_MAX)
		setup_usage(state, "--stacks user:WORDS copies 1 to %d words of a stack", SETUP_USER_STACKS_WORDS_MAX);
	*words = (unsigned)number;
}

static void take_format(const struct option_row *row, void *member, char *arg, struct argp_state *state)
{
	(void)row;
	(void)member;
	if (strcmp(arg, "schema") != 0)
		argp_error(state, "--format: only schema; the format of a file is that of 'weft convert'");
	answer_print_schema(record_command.answer);
}

static const struct option_row table[] = {
	{ .doc = "Recording:", .group = SETUP_OWN_GROUP },
	{ "all-formats", 'a', NULL, 0, "Save the formats of all events, not only of those recorded", SETUP_OWN_GROUP,
	  OPTION_FLAG(struct record_arguments, options.all_formats) },
	{ "no-filter", 0, NULL, 0, "No effect: weft's own threads are recorded in any case", SETUP_OWN_GROUP,
	  OPTION_NOTHING },
	{ "max-size", 'm', "SIZE", 0,
	  "Keep at most SIZE of each CPU's recorded data, before compression: the oldest is dropped, and counted",
	  SETUP_OWN_GROUP, OPTION_SIZE(struct record_arguments, options.max_size) },
	{ "duration", 0, "TIME", 0, "Stop after TIME: 500ms, 10s, 2m; a bare number counts seconds", SETUP_OWN_GROUP,
	  OPTION_TIME(struct record_arguments, options.duration_ns) },
	{ "max-events", 0, "N", 0, "Stop when about N events have happened", SETUP_OWN_GROUP,
	  OPTION_RANGE(struct record_arguments, options.max_events, 1, INT64_MAX) },
	{ "max-cpu", 0, "TIME", 0, "Stop when weft itself has had the CPUs for TIME", SETUP_OWN_GROUP,
	  OPTION_TIME(struct record_arguments, options.max_cpu_ns) },
	{ "sample", 0, "1/N", 0,
	  "Record only in one hour of N, by a hash of the host and the hour, and not on a machine under pressure; the "
	  "file has the weight N",
	  SETUP_OWN_GROUP, OPTION_CALL(struct record_arguments, options.sample_of, sample_take) },
	{ "sync", 0, "TIME", 0, "Sync to the disk all data that is older than TIME, in case the machine crashes",
	  SETUP_OWN_GROUP, OPTION_CALL(struct record_arguments, options.sync_ns, take_sync) },
	{ "recorder-cpu", 0, "CPULIST", 0, "Let the recorders run only on these CPUs", SETUP_OWN_GROUP,
	  OPTION_CPUS(struct record_arguments, options.recorder_cpus),
	  OPTION_GIVEN(struct record_arguments, options.has_recorder_cpus) },
	{ "files", 0, NULL, 0,
	  "Also record which files, sockets and pipes are behind descriptors, and which names calls have; "
	  "weft syscalls shows them",
	  SETUP_OWN_GROUP, OPTION_FLAG(struct record_arguments, files) },
	{ "profile", 0, NULL, 0,
	  "Also record at each tick of a CPU (HZ, 250 times a second on most kernels) the stacks of what it does; "
	  "weft stacks --on-cpu shows them",
	  SETUP_OWN_GROUP, OPTION_FLAG(struct record_arguments, profile),
	  OPTION_GIVEN(struct record_arguments, setup.may_be_empty) },
	{ "quota", 0, NULL, 0,
	  "Also record when control groups have used up their CPU quota, and what a hypervisor steals; "
	  "weft latency --by shows it",
	  SETUP_OWN_GROUP, OPTION_FLAG(struct record_arguments, quota) },
	{ "stacks", 0, "user|user:WORDS", 0,
	  "Also copy WORDS of the stack of a program (default: 128, 1 KB) where its task leaves the CPU, at system "
	  "calls and probes of programs, and with --profile at each tick: weft stacks has its callers without frame "
	  "pointers",
	  SETUP_OWN_GROUP, OPTION_CALL(struct record_arguments, words, take_stacks) },
	{ "priority", 'r', "PRIO", 0, "Run the recorders with the real-time priority PRIO, 1 to 99", SETUP_OWN_GROUP,
	  OPTION_RANGE(struct record_arguments, options.priority, 1, 99) },
	{ "result", 0, "FILE", 0,
	  "Also write what became of the recording into FILE, as JSON: the file, events, lost events of each CPU, the "
	  "status of COMMAND; - is standard output",
	  SETUP_OWN_GROUP, OPTION_TEXT(struct record_arguments, result) },
	{ "format", 0, "schema", 0, "Print what the JSON of --result looks like, as a JSON Schema, and record nothing",
	  SETUP_OWN_GROUP, OPTION_TAKE(take_format) },
	{ "when-mark-longer", 0, "NAME>TIME", 0,
	  "Keep the file only if a span that a program marked with NAME, which may be a glob, took longer than TIME: "
	  "'frame*>20ms'",
	  SETUP_OWN_GROUP, OPTION_CALL(struct record_arguments, mark, take_mark) },
	{ "fail-on-lost", 0, NULL, 0, "Exit with status 123 when events were lost, or may have been", SETUP_OWN_GROUP,
	  OPTION_FLAG(struct record_arguments, fail_on_lost) },
	{ 0 },
};

static void check_sample(const struct record_arguments *arguments, struct argp_state *state)
{
	const struct record_options *options = &arguments->options;

	if (options->sample_of && options->argv)
		setup_usage(state, "--sample is for what a machine does by itself, not for a COMMAND");
	if (options->sample_of && !options->duration_ns)
		setup_usage(state, "--sample needs --duration TIME: how long each recording is");
}

/* Refuses by name what only a weft there could do. */
static void check_agentless(const struct record_arguments *arguments, struct argp_state *state)
{
	static const char *const done[] = { "all-formats", "no-filter", "duration", "result", "fail-on-lost" };
	const char *option = arguments->options.sample_of ? "--sample" :
			     arguments->options.sync_ns   ? "--sync" :
			     arguments->words             ? "--stacks" :
			     arguments->output.texts      ? "--save" :
							    setup_not_by_shell(&arguments->setup);

	for (const struct option_row *row = table; !option && !option_row_is_end(row); row++) {
		bool does = false;

		for (size_t i = 0; i < array_size(done); i++)
			does |= row->name && !strcmp(row->name, done[i]);
		if (!does && option_row_is_given(row, arguments))
			option = option_row_name(row);
	}
	if (option)
		setup_usage(state, "--agentless cannot be used with %s: a weft there can, see --push", option);
}

static void check(struct record_arguments *arguments, struct argp_state *state)
{
	struct record_options *options = &arguments->options;

	check_sample(arguments, state);
	options->user = arguments->setup.user;
	setup_check_command(&arguments->setup, options->argv, state);
	if (arguments->result && !*arguments->result)
		setup_usage(state, "--result: the name is empty");
	if (arguments->result && !strcmp(arguments->result, "-") && !strcmp(arguments->output.output, "-"))
		setup_usage(state, "--result and -o cannot both be standard output");
	if (arguments->mark.name && !strcmp(arguments->output.output, "-"))
		setup_usage(state, "--when-mark-longer keeps or removes a file, and -o - is none");
	if (arguments->setup.elsewhere && !arguments->elsewhere.host)
		setup_usage(state, "put -- before the COMMAND, so that its --on is not taken for weft's");
	if (arguments->elsewhere.host && (arguments->setup.dry_run || options->max_size))
		setup_usage(state, "--on cannot be used with %s", options->max_size ? "-m" : "--dry-run");
	if (arguments->elsewhere.agentless)
		check_agentless(arguments, state);
	if (arguments->elsewhere.hosts.len > 1 &&
	    (!strcmp(arguments->output.output, "-") || (arguments->result && !strcmp(arguments->result, "-"))))
		setup_usage(state, "the files of several --on have no place on standard output");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		arguments->options.setup.cmdlines = SETUP_CMDLINES;
		arguments->setup.setup = &arguments->options.setup;
		arguments->setup.elsewhere = elsewhere_is_named(state->argc, state->argv);
		return 0;
	case ARGP_KEY_ARG:
		/* The rest is the COMMAND and its own options. Whoever names nothing else wants to know what it did. */
		arguments->setup.instead = "summary";
		arguments->options.argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &setup_options, offsetof(struct record_arguments, setup), SETUP_GROUP, NULL },
	{ &setup_command_options, offsetof(struct record_arguments, setup), SETUP_COMMAND_GROUP, NULL },
	{ &output_options, offsetof(struct record_arguments, output), SETUP_OWN_GROUP + 1, "Output:" },
	{ &elsewhere_options, offsetof(struct record_arguments, elsewhere), SETUP_OWN_GROUP + 2, "Other machines:" },
	{ 0 },
};

static const struct options command_options = {
	.children = children,
	.rows = table,
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

enum { NAMES_SHOWN = 6 };

/* Adds names such as "sched, syscalls and 3 more". */
static bool add_names(const struct setup *setup, struct buf *names)
{
	size_t nr = 0;
	bool ok = true;

	for (size_t i = 0; i < setup->nr_instances; i++) {
		const struct setup_instance *instance = &setup->instances[i];

		if (instance->own && !strcmp(instance->name, OWN_BUFFER_PROFILE) && nr++ < NAMES_SHOWN)
			ok = ok && buf_addf(names, "%swhat CPUs do at each tick", names->len ? ", " : "");
		if (instance->own)
			continue;
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
		     (options->setup.nr_pids || options->setup.processes.nr) && !options->setup.nr_groups &&
				     !options->setup.follow ?
			     ", until the last of these tasks has ended" :
			     "");
}

/* Draws a line with the events of the last second; sizes and losses count from the start. */
static void draw(const struct progress *progress)
{
	static uint64_t last_events, last_ns;
	uint64_t ns = progress->lasted_ns - last_ns;
	char text[256], rate[TEXT_HUMAN], bytes[TEXT_HUMAN], lost[TEXT_HUMAN];

	text_count(rate, ns ? (uint64_t)((double)(progress->events - last_events) * NS_PER_S / (double)ns) : 0);
	snprintf(text, sizeof(text), "%" PRIu64 " s, %s events/s, %s, buffers %u %% full, %s lost",
		 progress->lasted_ns / NS_PER_S, rate, text_size(bytes, progress->bytes), progress->fill,
		 text_count(lost, progress->lost));
	progress_draw(text);
	last_events = progress->events;
	last_ns = progress->lasted_ns;
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
	const struct setup *setup = &options->setup;
	/* Another machine may have recorded more, or say anything. */
	const char *name = cpu->buffer < setup->nr_instances ? setup->instances[cpu->buffer].name : NULL;

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
		for (size_t j = 0; !setup->instances[i].own && j < setup->instances[i].nr_events; j++) {
			const char *filter = setup->instances[i].events[j].filter;

			first = first || !filter ? first : filter;
			nr += filter != NULL;
		}
	if (!first)
		return true;
	return buf_addf(why, "%sthe filter '%s'%s matched no event", why->len ? "; " : "", first,
			nr > 1 ? " and others" : "");
}

static bool add_removed(const struct setup_instance *instance, struct buf *why)
{
	for (size_t i = 0; i < instance->nr_events; i++)
		if (instance->events[i].off)
			return add_reason(why, "events were taken out (-v)");
	return true;
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
	else if (ok && setup->processes.nr)
		ok = add_reason(why, "only some processes are traced (--process)");
	else if (ok && setup->nr_groups)
		ok = add_reason(why, "only tasks of some control groups are traced (--unit, --cgroup)");
	else if (ok && setup->nr_pids)
		ok = add_reason(why, "only some tasks are traced (-P)");
	if (ok && setup->nr_notrace_pids)
		ok = add_reason(why, "some tasks are not traced (--no-pid)");
	for (size_t i = 0; ok && i < setup->nr_instances; i++) {
		if (setup->instances[i].has_cpus)
			ok = add_reason(why, "only some CPUs are traced (-M)");
		ok = ok && add_removed(&setup->instances[i], why) && add_tracer(&setup->instances[i], why);
	}
	return ok;
}

/* Whether all that the user asked for is empty; what weft records beside it may have events. */
static bool is_empty(const struct setup *setup, const struct record_result *result)
{
	bool asked = false;

	for (size_t i = 0; i < setup->nr_instances; i++)
		asked |= !setup->instances[i].own && (setup->instances[i].nr_events || setup->instances[i].tracer);
	for (size_t i = 0; asked && i < result->nr_cpus; i++) {
		const struct record_cpu *cpu = &result->cpus[i];

		if (cpu->events && (cpu->buffer >= setup->nr_instances || !setup->instances[cpu->buffer].own))
			return false;
	}
	return asked || !result->events;
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

static void tell_spent(const struct record_options *options, const struct record_result *result)
{
	char budget[TEXT_HUMAN];

	if (result->spent == RECORD_SPENT_EVENTS)
		command_warn("note: the recording ended early: --max-events %s is used up",
			     text_count(budget, options->max_events));
	if (result->spent == RECORD_SPENT_CPU)
		command_warn("note: the recording ended early: --max-cpu %s is used up",
			     text_time(budget, options->max_cpu_ns));
}

static void print_summary(const struct record_options *options, const struct record_result *result, const char *host)
{
	char events[TEXT_HUMAN], raw[TEXT_HUMAN], file[TEXT_HUMAN], time[TEXT_HUMAN], lost[TEXT_HUMAN];
	cleanup_buf struct buf pasted = BUF_INIT;

	/* The connection has ended before the counters came. */
	if (host && result->at_most && !result->nr_cpus) {
		command_warn("%s of %s: %s of pages in a file of %s; how many events were lost is not known",
			     output_told(options->output), host, text_size(raw, result->raw),
			     text_size(file, result->file_size));
		return;
	}
	command_warn("%s%s%s: %s%s event%s in %s, %s of pages in a file of %s, %s lost", output_told(options->output),
		     host ? " of " : "", host ? host : "", result->at_most ? "at most " : "",
		     text_count(events, result->events), text_plural(result->events), text_time(time, result->time_ns),
		     text_size(raw, result->raw), text_size(file, result->file_size), text_count(lost, result->lost));
	tell_spent(options, result);
	print_losses(options, result);
	print_cleared(options, result);
	kernel_tell_missed(result->missed_probes);
	if (is_empty(&options->setup, result) && !result->lost) {
		tell_nothing(&options->setup);
		if (!host)
			kernel_tell_unseen(&options->setup);
	}
	if (!host)
		kernel_tell_left_out(&options->setup, result->times.made_tasks);
	if (result->marks_elsewhere)
		command_warn("note: %s mark%s written to the top trace_marker meanwhile %s not in the file: only Linux "
			     "6.16 and later can copy marks to other instances (-O copy_trace_marker); 'weft mark -B', "
			     "or 'weft start' and 'weft extract', record them",
			     text_count(lost, result->marks_elsewhere), text_plural(result->marks_elsewhere),
			     result->marks_elsewhere == 1 ? "is" : "are");
	if (result->user_data && result->events)
		command_warn("note: the file has up to %" PRIu64
			     " bytes of what programs wrote with each call, as this kernel "
			     "stores them: --no-user-data leaves them out, --syscall-data N says how many",
			     result->user_data);
	if (result->symbols_hidden)
		command_warn("note: the kernel hides its addresses (kptr_restrict), so functions cannot be named");
	if (result->events && strcmp(options->output, "-") && setup_has_own(&options->setup, OWN_BUFFER_PROFILE))
		command_warn("'weft stacks --on-cpu %s' shows what CPUs spent their time on",
			     paste_file(&pasted, options->output));
	else if (result->events && strcmp(options->output, "-"))
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

/* What weft records for itself, beside what the user asks for. */
struct own_probes {
	struct setup_files files;
	struct setup_profile profile;
	struct setup_quota quota;
	struct setup_user_stacks stacks;
};

static int add_own(struct record_arguments *arguments, struct own_probes *own, struct fail *fail)
{
	struct setup *setup = &arguments->options.setup;
	int err = arguments->files ? setup_files_add(setup, &own->files, fail) : 0;

	if (!err && arguments->profile)
		err = setup_profile_add(setup, &own->profile, fail);
	own->stacks = (struct setup_user_stacks){
		.words = arguments->words,
		/* Without events nothing tells how long a task is off. */
		.switches = !arguments->profile || setup->instances[0].nr_events,
		.ticks = arguments->profile,
	};
	if (!err && arguments->words)
		err = setup_user_stacks_add(setup, &own->stacks, fail);
	if (!err && arguments->quota)
		err = setup_quota_add(setup, &own->quota, fail);
	/* Nobody asks for them any more, and they are several MB. */
	functions_release(&setup->functions);
	return err;
}

static void release_setup(struct record_arguments *arguments, struct own_probes *own)
{
	setup_release(&arguments->options.setup);
	setup_files_release(&own->files);
	setup_profile_release(&own->profile);
	setup_quota_release(&own->quota);
	setup_user_stacks_release(&own->stacks);
	elsewhere_release(&arguments->elsewhere);
	free(arguments->mark.name);
}

static void put_cpu(struct json *json, const struct record_options *options, const struct record_cpu *cpu)
{
	json_object(json);
	answer_text(json, "instance", buffer_name(options, cpu));
	answer_number(json, "cpu", cpu->cpu);
	answer_number(json, "events", cpu->events);
	answer_number(json, "lost", cpu->lost);
	answer_number(json, "cleared", cpu->cleared);
	answer_number(json, "dropped_events", cpu->dropped_events);
	answer_number(json, "dropped_bytes", cpu->dropped_bytes);
	json_end(json);
}

/* What became of a recording: an outcome of session_run() with the options, and its error. */
struct outcome {
	const struct record_options *options;
	const struct record_result *result;
	const char *error; /* NULL: none */
};

static int write_outcome(void *arg, int fd, struct fail *fail)
{
	static const char *const spent[] = { [RECORD_SPENT_EVENTS] = "max-events", [RECORD_SPENT_CPU] = "max-cpu" };
	static const char *const skipped[] = { [RECORD_SKIP_HOUR] = "hour", [RECORD_SKIP_PRESSURE] = "pressure" };
	const struct outcome *outcome = arg;
	const struct record_result *result = outcome->result;
	struct out out;
	struct json json;
	int r;

	if (!out_init(&out, 4096))
		return fail_memory(fail);
	answer_open(&json, &out);
	answer_text(&json, "file", result->finished ? outcome->options->output : NULL);
	answer_text(&json, "parts", result->parts);
	answer_text(&json, "error", outcome->error);
	answer_text(&json, "skipped", skipped[result->skipped]);
	answer_text(&json, "ended_by", spent[result->spent]);
	answer_number(&json, "events", result->events);
	answer_bool(&json, "events_at_most", result->at_most);
	answer_number(&json, "lost", result->lost);
	answer_number(&json, "cleared", result->cleared);
	answer_number(&json, "missed", result->missed);
	answer_number(&json, "time_ns", result->time_ns);
	answer_number(&json, "pages_bytes", result->raw);
	answer_number(&json, "file_bytes", result->file_size);
	json_key(&json, "status");
	if (result->has_status)
		json_put_s64(&json, result->status);
	else
		json_put_null(&json);
	json_key(&json, "cpus");
	json_array(&json);
	for (size_t i = 0; i < result->nr_cpus; i++)
		put_cpu(&json, outcome->options, &result->cpus[i]);
	json_end(&json);
	json_end(&json);
	json_line(&json);
	r = out.failed ? -ENOMEM : out_flush(&out, fd);
	out_release(&out);
	return r ? fail_set(fail, r, "--result: " FAIL_WRITE "%s", strerror(-r)) : 0;
}

/* The file of --result is made after the recording; what can be refused is refused before. */
static int tell_outcome(const struct record_arguments *arguments, const struct destination *to, struct outcome *outcome)
{
	struct fail fail = FAIL_INIT;

	if (!arguments->result || !destination_write(to, OUTPUT_MODE, false, write_outcome, outcome, &fail))
		return 0;
	command_failed(&fail);
	return EXIT_RECORD_FAILED;
}

/* Removes the file if the marks in it ask for that; lost events may have been marks. Returns the exit status. */
static int judge(const struct record_arguments *arguments, struct record_result *result)
{
	struct fail fail = FAIL_INIT;

	if (!arguments->mark.name || !result->finished)
		return EXIT_OK;
	if (result->lost || result->cleared) {
		command_warn("note: events were lost, so the file stays whatever its marks say");
		return EXIT_OK;
	}
	if (!record_mark_judge(&arguments->mark, arguments->options.output, &result->finished, &fail))
		return EXIT_OK;
	command_failed(&fail);
	return EXIT_RECORD_FAILED;
}

/* Told when there is a recording: what was refused has chosen nothing. */
static void tell_chosen(const struct record_arguments *arguments)
{
	if (!arguments->output.quiet && arguments->setup.chosen)
		command_warn("note: no events were named, so those for 'weft summary' are recorded (--for summary)");
}

/* Makes the recording. *ret, which has zeros, is for the table of several machines. */
static int record(struct record_arguments *arguments, struct several_report *ret)
{
	struct record_result result;
	struct destination to = DESTINATION_INIT;
	struct fail fail = FAIL_INIT;
	int err, judged, status = EXIT_OK;

	if ((arguments->mark.name && record_mark_check(arguments->options.output, &fail)) ||
	    (arguments->result && destination_open(arguments->result, &to, &fail))) {
		command_failed(&fail);
		ret->failed = true;
		snprintf(ret->why, sizeof(ret->why), "%.*s", SEVERAL_WHY - 1, fail.text);
		return EXIT_RECORD_FAILED;
	}
	if (!arguments->output.quiet) {
		tell_left_behind(arguments->options.output);
		tell_start(&arguments->options);
		if (!arguments->elsewhere.host)
			watch(&arguments->options);
		arguments->options.setup.step = progress_step;
	}
	err = arguments->elsewhere.host ? elsewhere_record(&arguments->elsewhere, &arguments->options, &result, &fail) :
					  session_run(&arguments->options, &result, &fail);
	progress_draw(NULL);
	judged = err ? EXIT_OK : judge(arguments, &result);
	if (result.finished)
		tell_chosen(arguments);
	if (result.finished && !arguments->output.quiet)
		print_summary(&arguments->options, &result, arguments->elsewhere.host);
	if (err)
		status = tell_failure(arguments, &result, &fail);
	/* The command may outlive the recording. Its status is still weft's. */
	result.has_status |= workload_wait(result.command, &result.status);
	if (!err && result.has_status)
		status = result.status;
	if (!err && arguments->fail_on_lost && (result.lost || result.cleared || result.missed))
		status = EXIT_LOST;
	if (judged)
		status = judged;
	if (tell_outcome(arguments, &to, &(struct outcome){ &arguments->options, &result, err ? fail.text : NULL }))
		status = EXIT_RECORD_FAILED;
	*ret = (struct several_report){ .failed = err,
					.has_file = result.finished,
					.skipped = result.skipped,
					.at_most = result.at_most,
					.events = result.events,
					.lost = result.lost };
	snprintf(ret->why, sizeof(ret->why), "%.*s", SEVERAL_WHY - 1, err ? fail.text : "");
	destination_release(&to);
	record_result_release(&result);
	return status;
}

/* Not to record is no failure. */
static int skip(const struct record_arguments *arguments, enum record_skip why)
{
	const struct record_result none = { .skipped = why };
	struct destination to = DESTINATION_INIT;
	struct fail fail = FAIL_INIT;
	int status;

	if (!arguments->result)
		return EXIT_OK;
	if (destination_open(arguments->result, &to, &fail)) {
		command_failed(&fail);
		return EXIT_RECORD_FAILED;
	}
	status = tell_outcome(arguments, &to, &(struct outcome){ &arguments->options, &none, NULL });
	destination_release(&to);
	return status;
}

/* One of several machines, in a process of its own. */
static int record_host(void *arg, size_t index, const sigset_t *mask, struct several_report *ret)
{
	struct record_arguments *arguments = arg;
	const char *host = arguments->elsewhere.hosts.at[index];
	cleanup_free char *output = elsewhere_file(&arguments->elsewhere, index, arguments->options.output);
	cleanup_free char *answer =
		arguments->result ? elsewhere_file(&arguments->elsewhere, index, arguments->result) : NULL;
	int status;

	if (!output || (arguments->result && !answer)) {
		*ret = (struct several_report){ .failed = true, .why = "there is no memory" };
		return EXIT_RECORD_FAILED;
	}
	arguments->elsewhere.host = host;
	arguments->elsewhere.mask = mask;
	arguments->options.output = output;
	arguments->result = answer;
	arguments->output.quiet = true;
	status = record(arguments, ret);
	/* The table has the name in another column. */
	if (!strncmp(ret->why, host, strlen(host)) && !strncmp(ret->why + strlen(host), ": ", 2))
		memmove(ret->why, ret->why + strlen(host) + 2, strlen(ret->why + strlen(host) + 2) + 1);
	return status;
}

static int record_several(struct record_arguments *arguments)
{
	size_t nr = arguments->elsewhere.hosts.len;
	cleanup_free struct several_report *reports = calloc(nr, sizeof(*reports));
	struct fail fail = FAIL_INIT;
	int err = reports ? 0 : fail_memory(&fail);

	if (!arguments->output.quiet)
		tell_start(&arguments->options);
	if (!err)
		err = several_run(nr, record_host, arguments, reports, &fail);
	if (err) {
		command_failed(&fail);
		return EXIT_RECORD_FAILED;
	}
	for (size_t i = 0; i < nr; i++)
		if (reports[i].has_file) {
			tell_chosen(arguments);
			break;
		}
	return elsewhere_tell(&arguments->elsewhere, reports, arguments->options.output, arguments->fail_on_lost,
			      arguments->output.quiet);
}

static int run(int argc, char **argv)
{
	struct record_arguments arguments = { .fail_on_lost = false };
	struct own_probes own = { .files.nr_probes = 0 };
	struct several_report report = { .failed = false };
	enum record_skip skipped = RECORD_SKIP_NOT;
	struct fail fail = FAIL_INIT;
	int status = EXIT_OK;

	command_parse(&record_command, argc, argv, ARGP_IN_ORDER, &arguments);
	finish_arguments(&arguments);
	/* Another machine knows its own name, hour and pressure. */
	if (arguments.options.sample_of && !arguments.setup.dry_run && !arguments.elsewhere.host)
		skipped = sample_skips(arguments.options.sample_of, arguments.output.quiet);
	if (skipped) {
		status = skip(&arguments, skipped);
		release_setup(&arguments, &own);
		return status;
	}
	arguments.options.path = getenv("PATH");
	if (!arguments.elsewhere.host && add_own(&arguments, &own, &fail)) {
		release_setup(&arguments, &own);
		command_failed(&fail);
		return EXIT_RECORD_FAILED;
	}
	if (arguments.setup.dry_run) {
		status = setup_run_script(&arguments.options.setup, arguments.options.argv, arguments.options.user);
		release_setup(&arguments, &own);
		return status;
	}
	status = arguments.elsewhere.hosts.len > 1 ? record_several(&arguments) : record(&arguments, &report);
	release_setup(&arguments, &own);
	return status;
}

/* clang-format off */
static const struct json_member members[] = {
	{ "file", "string|null", "the recording; null: none was made" },
	{ "parts", "string|null", "where the recorded data is if no file could be made of it" },
	{ "error", "string|null", "what failed" },
	{ "skipped", "string|null", "why --sample made no recording: hour, or pressure" },
	{ "ended_by", "string|null", "the option whose budget was used up: max-events, or max-cpu" },
	{ "events", "number", "how many the file has" },
	{ "events_at_most", "boolean", "the number is an upper bound" },
	{ "lost", "number", "events that the kernel lost" },
	{ "cleared", "number", "how often somebody emptied the buffer meanwhile" },
	{ "missed", "number", "hits of probes for which the kernel wrote no event" },
	{ "time_ns", "number", "how long was recorded" },
	{ "pages_bytes", "number", "of the sub-buffers, before compression" },
	{ "file_bytes", "number", "of the file" },
	{ "status", "number|null", "of the COMMAND; null: there was none, or it still runs" },
	{ "cpus[].instance", "string|null", "null: the top buffer or weft's own instance" },
	{ "cpus[].cpu", "number", "its number" },
	{ "cpus[].events", "number", "of this CPU" },
	{ "cpus[].lost", "number", "of this CPU" },
	{ "cpus[].cleared", "number", "of this CPU" },
	{ "cpus[].dropped_events", "number", "left out by --max-size" },
	{ "cpus[].dropped_bytes", "number", "left out by --max-size" },
	{ 0 },
};
/* clang-format on */

static int write_to_near(const struct record_result *result, int fd)
{
	cleanup_buf struct buf outcome = BUF_INIT;

	return outcome_add(&outcome, result) ? io_write(fd, outcome.data, outcome.len) : -ENOMEM;
}

static int refuse_command(const struct record_arguments *arguments, const struct far_side *far, struct fail *fail)
{
	if (far->allow_command || !arguments->options.argv)
		return 0;
	return fail_set(fail, -EPERM, "no COMMAND is run here: weft serve was started without --allow-command");
}

static int run_far(int argc, char **argv, const struct far_side *far)
{
	struct record_arguments arguments = { .fail_on_lost = false };
	struct record_options *options = &arguments.options;
	struct own_probes own = { .files.nr_probes = 0 };
	struct record_result result = { .has_status = false };
	struct fail fail = FAIL_INIT;
	int err;

	command_parse(&record_command, argc, argv, ARGP_IN_ORDER, &arguments);
	finish_arguments(&arguments);
	/* Nothing that the words say about files has an effect here. */
	options->output = "serve";
	options->temp_dir = far->dir;
	options->forward_room = far->room;
	options->forward_reader = getppid();
	options->ping_fd = far->ping_fd;
	options->max_size = 0;
	options->path = getenv("PATH");
	err = refuse_command(&arguments, far, &fail);
	if (!err && options->sample_of)
		result.skipped = sample_skips(options->sample_of, arguments.output.quiet);
	if (!err && !result.skipped)
		err = add_own(&arguments, &own, &fail);
	if (!err && !result.skipped)
		err = session_run(options, &result, &fail);
	/* Nobody waits for a COMMAND that does not end, unless the other side does. */
	if (getppid() == options->forward_reader)
		result.has_status |= workload_wait(result.command, &result.status);
	if (write_to_near(&result, far->outcome_fd) && !err)
		err = fail_memory(&fail);
	if (err)
		command_failed(&fail);
	err = !err ? EXIT_OK : result.has_status && !result.ran ? result.status : EXIT_RECORD_FAILED;
	record_result_release(&result);
	release_setup(&arguments, &own);
	return err;
}

const struct command record_command = {
	.name = "record",
	.summary = "record what the kernel does while a command runs",
	.brief = "a workload",
	.examples = "  weft record -- make\n"
		    "  weft record -e sched -e syscalls -- ls\n"
		    "  weft record -p function_graph -g do_sys_openat2 -- cat /etc/hostname",
	.group = "record",
	.options = &command_options,
	.answer = members,
	.run = run,
	.run_far = run_far,
};
