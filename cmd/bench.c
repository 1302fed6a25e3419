// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/analyse.h"
#include "cmd/analyse_record.h"
#include "cmd/command.h"
#include "cmd/diff_read.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/reading.h"
#include "cmd/options/setup_for.h"
#include "cmd/sandbox_child.h"
#include "cmd/terminal/progress.h"
#include "cmd/terminal/terminal.h"
#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/stats/bench.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/random.h"
#include "lib/ground/base/readable.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/measure/noise.h"
#include "lib/kernel/record/options.h"
#include "lib/kernel/record/session.h"
#include "lib/kernel/record/timing.h"
#include "lib/pages/trace/trace.h"

/*
 * The file of --save. It is made before the first run, written by the process that has read the recordings and may open
 * nothing, and named by the process that still may.
 */
struct bench_saving {
	const char *path; /* NULL: there is none */
	struct destination to;
	struct draft draft;
	struct utsname machine;
};

#define BENCH_SAVING_INIT                                      \
	{                                                      \
		.to = DESTINATION_INIT, .draft = { .fd = -1 }, \
	}

enum { SAVED_MAX = 16 << 20 };

static int bench_saving_open(struct bench_saving *saving, struct fail *fail)
{
	int r = uname(&saving->machine) ? fail_set(fail, -errno, "uname: %s", strerror(errno)) : 0;

	if (!r)
		r = destination_open(saving->path, &saving->to, fail);
	if (!r && saving->to.kind != DESTINATION_FILE)
		r = fail_set(fail, -EINVAL, "'%s' is not a file that the runs can be saved in", saving->path);
	return r ? r : destination_draft(&saving->to, &saving->draft, fail);
}

static int bench_saving_write(const struct bench_saving *saving, const struct bench *bench, const char *of,
			      struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (!bench_save(bench, saving->machine.release, of, &text))
		return fail_memory(fail);
	if (text.len > SAVED_MAX)
		return fail_set(fail, -EFBIG, "the runs have too many rows to be saved; choose fewer with --for");
	return fail_writing(fail, io_write(saving->draft.fd, text.data, text.len), saving->path);
}

static int bench_saving_name(struct bench_saving *saving, struct fail *fail)
{
	return destination_place(&saving->to, &saving->draft, OUTPUT_MODE, false, fail);
}

static void bench_saving_release(struct bench_saving *saving)
{
	draft_discard(&saving->draft);
	destination_release(&saving->to);
}

/* Reads the file of --against. */
static int bench_saved_read(const char *path, struct bench_saved **ret, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd = -1;
	int r = readable_open(path, &fd, fail);

	if (r)
		return r;
	r = io_read_all(fd, SAVED_MAX, &text);
	if (r)
		return fail_set(fail, r, "cannot read '%s': %s", path, strerror(-r));
	r = bench_load(text.len ? text.data : "", text.len, ret, fail);
	return r ? fail_in(fail, r, "'%s'", path) : 0;
}

/*
 * The recordings of the runs. Each run is recorded into a file of its own, which is opened and removed at once unless
 * it is kept. All are read when no more command runs, because reading gives up the rights that recording needs.
 */
struct bench_recording {
	const char *of;   /* names of analyses with commas, such as "sched,syscalls"; NULL: the runs are not recorded */
	const char *keep; /* the directory for the files; NULL: they are removed */
	struct record_options options;
	char *why_not; /* why the runs are not recorded although `of` was given */
	struct trace *traces[2][BENCH_RUNS_MAX];
	size_t nr[2];
	uint64_t lossy;            /* runs that lost events */
	struct bench_saved *saved; /* the old runs, instead of recordings of them; NULL: none */
	bool other_kernel;         /* they ran on another kernel */
};

enum { NAME_MAX_LEN = 32 };

/* Takes the next name of the list. The analysis is NULL if there is none of this name. */
static bool next_analysis(const char **at, char name[NAME_MAX_LEN], const struct analysis_ops **ret)
{
	struct text_word word;

	if (!text_next_word(at, ",", &word))
		return false;
	snprintf(name, NAME_MAX_LEN, "%.*s", (int)word.len, word.at);
	*ret = analysis_named(name);
	return true;
}

/* Records for these analyses: names with commas, of the command line or of saved runs, which are borrowed. */
static int bench_record_for(struct bench_recording *recording, const char *names, struct fail *fail)
{
	cleanup_buf struct buf all = BUF_INIT;
	const struct analysis_ops *ops;
	const char *at = names;
	char name[NAME_MAX_LEN];
	size_t nr = 0;

	while (next_analysis(&at, name, &ops)) {
		if (!ops)
			return fail_set(fail, -EINVAL, "unknown analysis '%s'; the analyses are %s", name,
					analysis_list_text(&all) ? buf_str(&all) : "others");
		if (++nr > ANALYSES_MAX)
			return fail_set(fail, -E2BIG, "more than %d names", ANALYSES_MAX);
	}
	if (!nr)
		return fail_set(fail, -EINVAL, "names of analyses are missing, such as sched,syscalls");
	recording->of = names;
	return 0;
}

static int describe(struct bench_recording *recording, struct fail *fail)
{
	const struct analysis_ops *ops[ANALYSES_MAX];
	const char *at = recording->of;
	char name[NAME_MAX_LEN];
	bool only = true;
	size_t nr = 0;

	for (; nr < ANALYSES_MAX && next_analysis(&at, name, &ops[nr]); nr++)
		only &= ops[nr]->of_tasks;
	return analyse_record_describe(ops, nr, only, &recording->options, fail);
}

/* A folder that exists is taken as it is. */
static int make_folder(const char *path, struct fail *fail)
{
	cleanup_fd int above = -1, made = -1;
	cleanup_free char *leaf = NULL;
	int r = dir_above(AT_FDCWD, path, path, &above, &leaf, fail), failed;

	if (r || !*leaf)
		return r;
	failed = dir_make(above, leaf, &made);
	return failed && failed != -EEXIST ?
		       fail_set(fail, failed, "cannot make the directory '%s': %s", path, dir_error(failed)) :
		       0;
}

static int bench_record_start(struct bench_recording *recording, struct fail *fail)
{
	int r;

	if (!recording->of)
		return 0;
	r = describe(recording, fail);
	recording->options.mute = true;
	recording->options.setup.step = NULL;
	return r || !recording->keep ? r : make_folder(recording->keep, fail);
}

static bool is_first(const struct bench_recording *recording)
{
	return !recording->nr[0] && !recording->nr[1];
}

static int record(struct bench_recording *recording, struct timing *ret, struct fail *fail)
{
	struct record_result result;
	int r = session_run(&recording->options, &result, fail);

	*ret = (struct timing){ .times = result.times, .status = result.status, .interrupted = result.interrupted };
	if (!r && workload_wait(result.command, &ret->status))
		r = fail_set(fail, -EINTR, "a signal has ended it");
	recording->lossy += !r && (result.lost || result.cleared);
	if (r && !result.ran && !result.has_status && is_first(recording)) {
		recording->why_not = strdup(fail->text);
		recording->of = NULL;
		r = 0;
	}
	record_result_release(&result);
	return r;
}

/* 0 and recording->of NULL: this machine cannot record, and nothing ran. */
static int bench_record_run(struct bench_recording *recording, size_t side, char **argv, struct timing *ret,
			    struct fail *fail)
{
	struct trace **trace = &recording->traces[side][recording->nr[side]];
	struct analyse_dir dir = ANALYSE_DIR_INIT;
	cleanup_free char *path = NULL;
	int r = recording->keep ? 0 : analyse_dir_make(&dir, fail);

	if (r)
		return r;
	if (asprintf(&path, "%s/%s-%02zu.dat", dir.path ? dir.path : recording->keep, side ? "new" : "old",
		     recording->nr[side] + 1) < 0) {
		path = NULL;
		analyse_dir_remove(&dir);
		return fail_memory(fail);
	}
	recording->options.output = path;
	recording->options.argv = argv;
	r = record(recording, ret, fail);
	recording->options.output = NULL;
	/* The next run would cause the same warnings. */
	recording->options.setup.warn = NULL;
	if (!r && recording->of) {
		r = trace_new(path, trace, fail);
		recording->nr[side] += !r;
	}
	analyse_dir_remove(&dir);
	return r;
}

static int read_all(const struct bench_recording *recording, struct diff *rows, struct fail *fail)
{
	const struct diff_reading reading = { .of = recording->of, .per = DIFF_PER_RUN };
	struct query query = QUERY_INIT;
	int r = 0;

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; !r && i < recording->nr[side]; i++)
			r = diff_read_one(rows, side, recording->traces[side][i], &query, &reading, fail);
	query_release(&query);
	return r;
}

/* Gives up the rights that reading does not need, and fills bench->rows, which the caller frees. */
static int bench_record_read(const struct bench_recording *recording, struct bench *bench, struct fail *fail)
{
	struct trace *all[2 * BENCH_RUNS_MAX];
	size_t nr = 0;
	int r;

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < recording->nr[side]; i++)
			all[nr++] = recording->traces[side][i];
	/* With one command there is no new side. */
	r = diff_new(recording->saved ? bench_saved_runs(recording->saved) : recording->nr[0],
		     bench->nr_sides == 2 ? recording->nr[1] : 1, &bench->rows, fail);
	if (r)
		return r;
	if (recording->saved)
		bench_use_rows(bench, recording->saved);
	diff_per(bench->rows, DIFF_PER_RUN, NULL);
	if (bench->nr_sides == 2)
		bench->nr_matches = bench_match(bench->sides[0].command, bench->sides[1].command, bench->matches);
	for (size_t i = 0; i < bench->nr_matches; i++)
		diff_rename(bench->rows, bench->matches[i].new_name, bench->matches[i].old_name);
	r = reading_load_all(all, nr, &(struct reading){ .no_sandbox = false }, fail);
	return r ? r : read_all(recording, bench->rows, fail);
}

static void bench_record_release(struct bench_recording *recording)
{
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < recording->nr[side]; i++)
			trace_free(recording->traces[side][i]);
	setup_release(&recording->options.setup);
	free(recording->why_not);
	bench_saved_free(recording->saved);
}

/* The commands of a benchmark, and how they are run. */
struct bench_running {
	struct bench_command {
		char **argv; /* ended by NULL */
		char *shell[4];
		char *text; /* as the user wrote it; to be freed */
		char *line; /* for the shell, if it is not that; to be freed */
	} commands[2];
	/* Those from `first` to before `end` run. The old one does not if its runs were saved. */
	size_t first, end;
	uint64_t runs, warmups, seed;
	const char *prepare; /* a command of the shell that runs before each run; NULL: none */
	bool ignore_failure;
	struct bench_recording *recording; /* of the runs that are measured */
};

/* What disturbed the runs. */
struct bench_noise {
	uint64_t time_ns, others_ns, stolen_ns;
	char governor[NOISE_GOVERNOR]; /* "": none, or a good one */
};

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

static int run_measure(const struct bench_running *running, size_t at, struct bench *bench, struct bench_noise *noise,
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

/*
 * Runs each command so often, in random order: of each pair of runs, one of each. A command that fails ends it, unless
 * that is to be ignored.
 */
static int bench_run_all(const struct bench_running *running, struct bench *bench, struct bench_noise *noise,
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
			r = run_measure(running, first ^ j, bench, noise, fail);
	}
	progress_step(NULL);
	return r;
}

/* Adds notes of the commands, of their recordings, and of what disturbed the runs. */
static void bench_tell(const struct bench_running *running, const struct bench *bench, const struct bench_noise *noise,
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

enum { TOP_AS_TEXT = 12, RUNS = 10, WARMUPS = 1, SEEDS = 1000000 };

struct arguments {
	struct bench_running running;
	struct bench_recording recording;
	bool plain, top_given;
	struct diff_condition conditions[DIFF_CONDITIONS_MAX];
	struct bench_options bench;
	struct findings_options findings;
	bool seed_given, for_given;
	const char *against;
	struct bench_saving saving;
};

static void take_for(const struct option_row *row, void *recording, char *names, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;

	(void)row;
	if (bench_record_for(recording, names, &fail))
		argp_error(state, "--for: %s", fail.text);
}

static void add_condition(const struct option_row *row, void *input, char *text, struct argp_state *state)
{
	struct arguments *arguments = input;
	struct fail fail = FAIL_INIT;

	(void)row;
	if (arguments->bench.nr_conditions == DIFF_CONDITIONS_MAX)
		argp_error(state, "more than %d times --fail-if", DIFF_CONDITIONS_MAX);
	if (bench_condition_parse(text, &arguments->conditions[arguments->bench.nr_conditions], &fail))
		argp_error(state, "--fail-if: %s", fail.text);
	arguments->bench.nr_conditions++;
}

static const struct option_row options[] = {
	{ .doc = "The runs:", .group = 1 },
	{ "runs", 0, "N", 0, "Measure N runs of each command, up to 100 (default: 10)", 1,
	  OPTION_RANGE(struct arguments, running.runs, 1, BENCH_RUNS_MAX) },
	{ "warmup", 0, "N", 0, "Run each command N times before, without measuring it (default: 1)", 1,
	  OPTION_RANGE(struct arguments, running.warmups, 0, BENCH_RUNS_MAX) },
	{ "prepare", 0, "COMMAND", 0, "Run COMMAND in a shell before each run, without measuring it", 1,
	  OPTION_ONCE(struct arguments, running.prepare, "--prepare") },
	{ "ignore-failure", 0, NULL, 0, "Also measure runs that end with another status than 0", 1,
	  OPTION_FLAG(struct arguments, running.ignore_failure) },
	{ "seed", 0, "N", 0, "Choose the order of the runs by this number (default: a random one)", 1,
	  OPTION_NUMBER(struct arguments, running.seed), OPTION_GIVEN(struct arguments, seed_given) },

	{ "save", 0, "FILE", 0, "Save the runs of one command in FILE", 1,
	  OPTION_ONCE(struct arguments, saving.path, "--save") },
	{ "against", 0, "FILE", 0, "Compare with the runs in FILE, which are the old ones", 1,
	  OPTION_ONCE(struct arguments, against, "--against") },

	{ .doc = "What explains a difference:", .group = 2 },
	{ "for", 0, SETUP_FOR, 0, "Record each run for these analyses; a list with commas (default: sched,syscalls)", 2,
	  OPTION_CALL(struct arguments, recording, take_for), OPTION_GIVEN(struct arguments, for_given) },
	{ "plain", 0, NULL, 0, "Do not record the runs, which takes time, too", 2,
	  OPTION_FLAG(struct arguments, plain) },
	{ "keep", 0, "DIR", 0, "Keep the recordings of the runs in DIR: old-01.dat and so on", 2,
	  OPTION_ONCE(struct arguments, recording.keep, "--keep") },

	{ .doc = "Output:", .group = 3 },
	{ "fail-if", 0, "CONDITION", 0,
	  "Exit with status 1 if a figure has changed by more: 'FIGURE > N%' or 'FIGURE < -N%', such as 'wall > 2%'; "
	  "repeatable. Of rows: 'ROW: time > N%' or 'ROW: calls > N%'; ROW is a glob",
	  3, OPTION_TAKE(add_condition) },
	{ "format", 0, "text|json|csv|schema", 0,
	  "Print for people (text, the default) or for programs, or what json looks like, as a JSON Schema", 3,
	  OPTION_CALL(struct arguments, findings.format, analyse_take_format) },
	{ "max-bytes", 0, "N", 0, "Print at most so many bytes: rows at the ends of tables are left out, and told", 3,
	  OPTION_NUMBER(struct arguments, findings.max_bytes) },
	{ "top", 0, "N", 0, "Show the first N rows of what the runs did (default: 12 as text, else all; 0: all)", 3,
	  OPTION_NUMBER(struct arguments, bench.top), OPTION_GIVEN(struct arguments, top_given) },
	{ 0 },
};

/*
 * A path of a program and plain arguments. The shell would fork, run it and wait; some shells execute it themselves.
 * Then the runs have a task less, whose time explains nothing.
 */
static bool is_program(const char *line)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-+./:,@%";
	const char *slash = strchr(line, '/');

	return slash && (size_t)(slash - line) < strcspn(line, " ") && !line[strspn(line, plain)];
}

/* One word is a line for the shell; several are a program and its arguments. */
static void add_command(struct bench_running *running, char **words, size_t nr, struct argp_state *state)
{
	struct bench_command *command = &running->commands[running->end++];
	cleanup_buf struct buf text = BUF_INIT;

	if (!nr)
		argp_error(state, "a command is missing: weft bench -- 'OLD COMMAND' -- 'NEW COMMAND'");
	for (size_t i = 0; i < nr; i++)
		option_need(buf_addf(&text, "%s%s", i ? " " : "", words[i]), state);
	command->text = buf_take(&text, NULL);
	option_need(command->text, state);
	command->argv = words;
	if (nr > 1)
		return;
	if (is_program(words[0])) {
		free(command->line);
		option_need(asprintf(&command->line, "exec %s", words[0]) >= 0, state);
	}
	command->shell[0] = "sh";
	command->shell[1] = "-c";
	command->shell[2] = command->line ? command->line : words[0];
	command->argv = command->shell;
}

/* The commands stand behind "--", with another "--" between them, which is replaced by the end of the first. */
static void add_commands(struct bench_running *running, bool against, char **words, size_t nr, struct argp_state *state)
{
	size_t end = 0;

	running->first = running->end = against;
	while (end < nr && strcmp(words[end], "--") != 0)
		end++;
	add_command(running, words, end, state);
	if (end == nr)
		return;
	if (against)
		argp_error(state, "--against compares one command with runs that were saved");
	words[end] = NULL;
	for (size_t i = end + 1; i < nr; i++)
		if (!strcmp(words[i], "--"))
			argp_error(state, "more than two commands: a command that has a '--' is written as one word");
	add_command(running, words + end + 1, nr - end - 1, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct bench_running *running = &arguments->running;

	(void)arg;
	switch (key) {
	case ARGP_KEY_ARG:
		if (!state->quoted || state->next <= state->quoted)
			argp_error(state, "commands stand behind '--': weft bench -- 'OLD COMMAND' -- 'NEW COMMAND'");
		add_commands(running, arguments->against, &state->argv[state->next - 1],
			     (size_t)(state->argc - state->next + 1), state);
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		/* Without a command, it is the schema of any. */
		if (!running->end && arguments->findings.format == TABLE_AS_SCHEMA)
			return 0;
		if (!running->end)
			argp_error(state, "a command is missing: weft bench -- 'OLD COMMAND' -- 'NEW COMMAND'");
		if (arguments->bench.nr_conditions && running->end < 2)
			argp_error(state, "--fail-if compares two commands");
		if (arguments->saving.path && running->end == 2)
			argp_error(state, "--save saves the runs of one command, without --against");
		if (arguments->plain && arguments->recording.keep)
			argp_error(state, "--plain makes no recordings that --keep could keep");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.args_doc = "-- COMMAND [-- COMMAND]",
	.doc = "Measures the runs of two commands, alternately and in random order, and says whether the second one "
	       "takes another time, and what it does in this time, by a test that does not take chance for a change. "
	       "Of one command it prints the times.\v"
	       "A command of one word is a line for the shell (sh -c); of several words, a program and its "
	       "arguments.",
};

/* The findings are printed even if a condition is met or cannot be checked. */
static int report(const struct arguments *arguments, struct bench *bench, const struct bench_noise *noise,
		  struct fail *fail)
{
	struct fail met = FAIL_INIT;
	struct findings findings;
	int r = 0, condition = 0;

	findings_init(&findings);
	if (arguments->recording.of)
		r = bench_record_read(&arguments->recording, bench, fail);
	if (!r) {
		condition = bench_finish(bench, &arguments->bench, &findings, &met);
		if (condition && condition != -ERANGE && condition != -ENODATA)
			r = fail_set(fail, condition, "%s", met.text);
	}
	if (!r) {
		bench_tell(&arguments->running, bench, noise, &findings);
		r = analyse_print(&findings, &arguments->findings, fail);
	}
	if (!r && condition) {
		*fail = met;
		r = condition;
	}
	findings_release(&findings);
	return r;
}

static int conclude(int r, struct fail *fail)
{
	if (!r)
		return EXIT_OK;
	(void)command_failed(fail);
	return r == -ERANGE ? EXIT_FAILED : EXIT_RECORD_FAILED;
}

/* What reads the recordings gives up the right to name a file, so that another process does it. */
static int report_and_save(struct arguments *arguments, struct bench *bench, const struct bench_noise *noise,
			   struct fail *fail)
{
	pid_t pid = sandbox_child_fork();
	int status, r;

	if (!pid) {
		r = report(arguments, bench, noise, fail);
		if (!r)
			r = bench_saving_write(&arguments->saving, bench, arguments->recording.of, fail);
		status = conclude(r, fail);
		_exit(command_flush(fail) ? EXIT_RECORD_FAILED : status);
	}
	if (pid < 0)
		return EXIT_RECORD_FAILED;
	status = sandbox_child_end(pid, "the recordings");
	return status ? status : conclude(bench_saving_name(&arguments->saving, fail), fail);
}

/* The saved runs say what new ones are recorded for. */
static int use_saved(struct arguments *arguments, struct bench *bench, struct fail *fail)
{
	struct bench_recording *recording = &arguments->recording;
	int r = bench_saved_read(arguments->against, &recording->saved, fail);
	struct utsname machine;
	const char *of;

	if (r)
		return r;
	of = bench_saved_for(recording->saved);
	recording->other_kernel =
		!uname(&machine) && strcmp(machine.release, bench_saved_kernel(recording->saved)) != 0;
	bench_use(bench, recording->saved);
	if (arguments->plain)
		return 0;
	if (arguments->for_given && (!of || strcmp(of, recording->of) != 0))
		return fail_set(fail, -EINVAL, "the runs in '%s' were recorded for %s, not for %s", arguments->against,
				of ? of : "nothing", recording->of);
	recording->of = NULL;
	r = of ? bench_record_for(recording, of, fail) : 0;
	return r ? fail_in(fail, r, "'%s'", arguments->against) : 0;
}

static int measure(struct arguments *arguments, struct bench *bench, struct bench_noise *noise, struct fail *fail)
{
	int r = arguments->against ? use_saved(arguments, bench, fail) : 0;

	if (!r && arguments->saving.path)
		r = bench_saving_open(&arguments->saving, fail);
	if (!r)
		r = bench_record_start(&arguments->recording, fail);
	return r ? r : bench_run_all(&arguments->running, bench, noise, fail);
}

static int print_shape(struct arguments *arguments, struct fail *fail)
{
	struct findings findings;
	int r;

	findings_init(&findings);
	arguments->findings.of_any = true;
	bench_shape(&findings);
	r = analyse_print(&findings, &arguments->findings, fail);
	findings_release(&findings);
	return r;
}

static void set_defaults(struct arguments *arguments)
{
	if (!arguments->seed_given)
		arguments->running.seed = random_number() % SEEDS;
	arguments->bench.each_run = arguments->findings.format != TABLE_AS_TEXT;
	/* What one command does is not compared with anything. */
	if (arguments->plain || (arguments->running.end < 2 && !arguments->saving.path))
		arguments->recording.of = NULL;
	arguments->running.recording = &arguments->recording;
	if (!arguments->top_given && arguments->findings.format == TABLE_AS_TEXT)
		arguments->bench.top = TOP_AS_TEXT;
	else if (!arguments->bench.top)
		arguments->bench.top = UINT64_MAX;
	arguments->findings.top = UINT64_MAX;
	arguments->findings.width = terminal_width();
	arguments->findings.for_columns = "--format csv";
	arguments->bench.conditions = arguments->conditions;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .running = { .runs = RUNS, .warmups = WARMUPS },
				       .recording = { .of = "sched,syscalls" },
				       .saving = BENCH_SAVING_INIT,
				       .findings.for_more = "--max-bytes with a larger number" };
	struct bench *bench = calloc(1, sizeof(*bench));
	struct bench_noise noise = { .time_ns = 0 };
	struct fail fail = FAIL_INIT;
	int r, status;

	command_parse(&bench_command, argc, argv, ARGP_IN_ORDER, &arguments);
	if (!arguments.running.end) {
		free(bench);
		return conclude(print_shape(&arguments, &fail), &fail);
	}
	set_defaults(&arguments);
	r = bench ? measure(&arguments, bench, &noise, &fail) : fail_memory(&fail);
	if (!r && arguments.saving.path)
		status = report_and_save(&arguments, bench, &noise, &fail);
	else
		status = conclude(r ? r : report(&arguments, bench, &noise, &fail), &fail);
	for (size_t i = arguments.running.first; i < arguments.running.end; i++) {
		free(arguments.running.commands[i].text);
		free(arguments.running.commands[i].line);
	}
	bench_saving_release(&arguments.saving);
	diff_free(bench ? bench->rows : NULL);
	bench_record_release(&arguments.recording);
	free(bench);
	return status;
}

const struct command bench_command = {
	.name = "bench",
	.summary = "compare the time that two commands take, over runs in random order",
	.brief = "two commands",
	.examples = "  weft bench -- './benchmark' -- './benchmark.new'\n"
		    "  weft bench --runs 20 --fail-if 'wall > 2%' -- make -s -- 'make -s CC=clang'\n"
		    "  weft bench -- 'grep -r needle .'",
	.group = "record",
	.options = &command_options,
	.run = run,
};
