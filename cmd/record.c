// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/kernel.h"
#include "cmd/losses.h"
#include "cmd/paste.h"
#include "cmd/record_nothing.h"
#include "cmd/record_options.h"
#include "cmd/record_start.h"
#include "cmd/setup_run.h"
#include "cmd/terminal/progress.h"
#include "lib/base/text.h"
#include "lib/record/parts.h"
#include "lib/record/session.h"
#include "lib/record/workload.h"
#include "lib/undo/undo.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		losses_cleared(buffer_name(options, most), most->cleared);
	}
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
	losses_missed(result->missed_probes);
	if (!result->events && !result->lost) {
		record_tell_nothing(&options->setup);
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
	record_arguments_finish(&arguments);
	arguments.options.path = getenv("PATH");
	if (arguments.setup.dry_run) {
		status = setup_run_script(&arguments.options.setup, arguments.options.argv, arguments.options.user);
		setup_release(&arguments.options.setup);
		return status;
	}
	if (!arguments.output.quiet) {
		tell_left_behind(arguments.options.output);
		record_tell_start(&arguments.options);
		record_watch(&arguments.options);
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
	.argp = &record_argp,
	.run = run,
};
