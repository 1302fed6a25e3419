// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/bench_run.h"

#include "cmd/terminal/progress.h"
#include "lib/analysis/bench.h"
#include "lib/analysis/findings.h"
#include "lib/base/fail.h"
#include "lib/base/random.h"
#include "lib/measure/noise.h"
#include "lib/record/timing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

static int run_one(const struct bench_running *running, size_t side, struct timing *timing, struct fail *fail)
{
	const struct bench_command *command = &running->commands[side];
	int r = prepare(running, fail);

	if (!r)
		r = run_plain(command->argv, timing, fail);
	return r ? r : check_end(running, command->text, timing, fail);
}

static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/* Counts what the CPUs did meanwhile besides the command. */
static void add_noise(struct bench_noise *noise, const struct noise *before, const struct bench_run *run)
{
	struct noise after;

	if (!noise_read(&after))
		return;
	noise->wall_ns += run->figures[BENCH_WALL];
	noise->stolen_ns += less(after.stolen_ns, before->stolen_ns);
	noise->others_ns += less(less(after.busy_ns, before->busy_ns), run->figures[BENCH_CPU]);
}

static int measure(const struct bench_running *running, size_t at, struct bench *bench, struct bench_noise *noise,
		   struct fail *fail)
{
	struct bench_side *side = &bench->sides[at];
	struct bench_run *run = &side->runs[side->nr];
	struct noise before = { .busy_ns = UINT64_MAX, .stolen_ns = UINT64_MAX };
	struct timing timing;
	int r;

	(void)noise_read(&before);
	r = run_one(running, at, &timing, fail);
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

	bench->nr_sides = running->nr_commands;
	for (size_t i = 0; i < running->nr_commands; i++)
		bench->sides[i].command = running->commands[i].text;
	for (uint64_t i = 0; !r && i < running->warmups; i++)
		for (size_t side = 0; !r && side < running->nr_commands; side++) {
			struct timing timing;

			progress_step("warming up");
			r = run_one(running, side, &timing, fail);
		}
	for (uint64_t i = 0; !r && i < running->runs; i++) {
		size_t first = running->nr_commands == 2 ? random_next(&state) & 1 : 0;

		snprintf(step, sizeof(step), "run %" PRIu64 " of %" PRIu64, i + 1, running->runs);
		progress_step(step);
		for (size_t j = 0; !r && j < running->nr_commands; j++)
			r = measure(running, first ^ j, bench, noise, fail);
	}
	progress_step(NULL);
	return r;
}

void bench_tell(const struct bench_running *running, const struct bench_noise *noise, struct findings *findings)
{
	static const char *const sides[2] = { "old", "new" };
	char governor[NOISE_GOVERNOR];

	for (size_t i = 0; i < running->nr_commands; i++)
		findings_note(findings, "%s: %s", running->nr_commands == 2 ? sides[i] : "command",
			      running->commands[i].text);
	if (running->nr_commands == 2)
		findings_note(findings, "the order of the runs was random: --seed %" PRIu64, running->seed);
	if (noise_governor(governor))
		findings_note(findings,
			      "noise: the governor of the CPUs' frequency is %s; with 'performance' times vary less",
			      governor);
	if (noise->stolen_ns * 100 > noise->wall_ns * STOLEN_LEAST)
		findings_note(findings,
			      "noise: the hypervisor took %.1f %% of a CPU for other machines during the runs",
			      (double)noise->stolen_ns * 100 / (double)noise->wall_ns);
	if (noise->others_ns * 100 > noise->wall_ns * OTHERS_LEAST)
		findings_note(findings, "noise: other tasks took %.0f %% of a CPU during the runs",
			      (double)noise->others_ns * 100 / (double)noise->wall_ns);
}
