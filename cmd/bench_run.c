// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/bench_run.h"

#include "cmd/bench_record.h"
#include "cmd/terminal/progress.h"
#include "lib/analysis/bench.h"
#include "lib/analysis/findings.h"
#include "lib/base/fail.h"
#include "lib/base/now.h"
#include "lib/base/random.h"
#include "lib/base/text.h"
#include "lib/measure/noise.h"
#include "lib/record/timing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Less than this is not worth a note: in per cent of the time of the runs. */
enum { STOLEN_LEAST = 1, OTHERS_LEAST = 5 };

static int run_plain(char *const *argv, struct timing *ret, struct fail *fail)
{
	const struct workload_options options = { .argv = argv, .path = getenv("PATH"), .mute = true };

	return timing_run(&options, ret, fail);
}

static int check_end(const struct bench_running *running, const char *command, const struct timing *timing,
		     struct fail *fail)
{
	if (timing->interrupted)
		return fail_set(fail, -EINTR, "interrupted");
	if (timing->status && !running->ignore_failure)
		return fail_set(fail, -ECANCELED,
				"'%s' ended with status %d; --ignore-failure measures it all the same", command,
				timing->status);
	return 0;
}

static int prepare(const struct bench_running *running, struct fail *fail)
{
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)running->prepare, NULL };
	struct timing timing = { .status = 0 };
	int r = running->prepare ? run_plain(argv, &timing, fail) : 0;

	return r ? r : check_end(running, running->prepare, &timing, fail);
}

static int run_one(const struct bench_running *running, size_t side, bool measured, struct timing *timing,
		   struct fail *fail)
{
	const struct bench_command *command = &running->commands[side];
	int r = prepare(running, fail);

	if (!r && measured && running->recording->of)
		r = bench_record_run(running->recording, side, command->argv, timing, fail);
	/* Here may turn out that this machine cannot record. */
	if (!r && !(measured && running->recording->of))
		r = run_plain(command->argv, timing, fail);
	return r ? r : check_end(running, command->text, timing, fail);
}

static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/* What the CPUs and weft itself have done so far. */
struct moment {
	struct noise noise;
	uint64_t now_ns;
	struct bench_run own;
	bool known;
};

static void take_moment(struct moment *ret)
{
	struct rusage usage;

	ret->own = (struct bench_run){ .figures = { 0 } };
	ret->known = noise_read(&ret->noise);
	ret->now_ns = now_ns();
	if (getrusage(RUSAGE_SELF, &usage))
		return;
	bench_run_set(&ret->own, 0, &usage);
	bench_run_set_own(&ret->own, &usage);
}

/* Counts what the CPUs did meanwhile besides the command and its recording. */
static void add_noise(struct bench_noise *noise, const struct moment *before, struct bench_run *run)
{
	struct moment after;

	take_moment(&after);
	run->least_memory = after.own.least_memory;
	if (!before->known || !after.known)
		return;
	noise->time_ns += less(after.now_ns, before->now_ns);
	noise->stolen_ns += less(after.noise.stolen_ns, before->noise.stolen_ns);
	noise->others_ns +=
		less(less(after.noise.busy_ns, before->noise.busy_ns),
		     run->figures[BENCH_CPU] + less(after.own.figures[BENCH_CPU], before->own.figures[BENCH_CPU]));
}

static int measure(const struct bench_running *running, size_t at, struct bench *bench, struct bench_noise *noise,
		   struct fail *fail)
{
	struct bench_side *side = &bench->sides[at];
	struct bench_run *run = &side->runs[side->nr];
	struct moment before;
	struct timing timing;
	int r;

	take_moment(&before);
	r = run_one(running, at, true, &timing, fail);
	if (r)
		return r;
	bench_run_set(run, less(timing.times.ended_ns, timing.times.started_ns), &timing.times.usage);
	add_noise(noise, &before, run);
	side->nr++;
	return 0;
}

int bench_run_all(const struct bench_running *running, struct bench *bench, struct bench_noise *noise,
		  struct fail *fail)
{
	uint64_t state = running->seed;
	char step[64];
	int r = 0;

	if (!noise_governor(noise->governor))
		*noise->governor = '\0';
	bench->nr_sides = running->end;
	for (size_t i = running->first; i < running->end; i++)
		bench->sides[i].command = running->commands[i].text;
	for (uint64_t i = 0; !r && i < running->warmups; i++)
		for (size_t side = running->first; !r && side < running->end; side++) {
			struct timing timing;

			progress_step("warming up");
			r = run_one(running, side, false, &timing, fail);
		}
	for (uint64_t i = 0; !r && i < running->runs; i++) {
		bool both = running->end - running->first == 2;
		size_t first = both ? random_next(&state) & 1 : running->first;

		snprintf(step, sizeof(step), "run %" PRIu64 " of %" PRIu64, i + 1, running->runs);
		progress_step(step);
		for (size_t j = 0; !r && j <= both; j++)
			r = measure(running, first ^ j, bench, noise, fail);
	}
	progress_step(NULL);
	return r;
}

void bench_tell(const struct bench_running *running, const struct bench *bench, const struct bench_noise *noise,
		struct findings *findings)
{
	static const char *const sides[2] = { "old", "new" };
	const struct bench_recording *recording = running->recording;

	for (size_t i = 0; i < bench->nr_sides; i++)
		findings_note(findings, "%s: %s", bench->nr_sides == 2 ? sides[i] : "command", bench->sides[i].command);
	if (running->first)
		findings_note(findings, "the runs of the old command were made before: what has changed on the machine "
					"since then looks like a change of the command");
	if (recording->other_kernel)
		findings_note(findings, "the runs of the old command were made on the kernel %s",
			      bench_saved_kernel(recording->saved));
	if (!running->first && running->end == 2)
		findings_note(findings, "the order of the runs was random: --seed %" PRIu64, running->seed);
	for (size_t i = 0; i < bench->nr_matches; i++)
		findings_note(findings, "'%s' of the new command is compared with '%s' of the old one",
			      bench->matches[i].new_name, bench->matches[i].old_name);
	if (recording->of)
		findings_note(findings,
			      "the runs were recorded (--for %s), which takes time, too; --plain measures without",
			      recording->of);
	if (recording->why_not)
		findings_note(findings, "the runs could not be recorded: %s", recording->why_not);
	if (recording->lossy)
		findings_note(findings, "%" PRIu64 " run%s lost events: rows have less time and calls than there were",
			      recording->lossy, text_plural(recording->lossy));
	if (*noise->governor)
		findings_note(findings,
			      "noise: the governor of the CPUs' frequency is %s; with 'performance' times vary less",
			      noise->governor);
	if (noise->stolen_ns * 100 > noise->time_ns * STOLEN_LEAST)
		findings_note(findings,
			      "noise: the hypervisor took %.1f %% of a CPU for other machines during the runs",
			      (double)noise->stolen_ns * 100 / (double)noise->time_ns);
	if (noise->others_ns * 100 > noise->time_ns * OTHERS_LEAST)
		findings_note(findings, "noise: other tasks took %.0f %% of a CPU during the runs",
			      (double)noise->others_ns * 100 / (double)noise->time_ns);
}
