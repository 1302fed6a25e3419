// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/lock_file.h"
#include "lib/kernel/tracefs/plan.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"
#include "lib/kernel/undo/undo_internal.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/loom.h"
#include "tests/unit/stage.h"
#include "tests/unit/test.h"

/*
 * Processes come one after another, change settings of two instances at random, and put them back, are killed, or leave
 * them so on purpose. Beside the journals a list for each file says what was there before each change.
 */

enum { FILES = 6, LAYERS = 16, SESSIONS = 6 };

static const struct {
	const char *instance, *file;
} files[FILES] = { { "", "tracing_thresh" },  { "", "tracing_cpumask" },  { "", "tracing_max_latency" },
		   { "a", "tracing_thresh" }, { "a", "tracing_cpumask" }, { "a", "tracing_on" } };

struct layers {
	unsigned value, first;
	struct layer {
		unsigned session, old;
		bool held;
	} at[LAYERS];
	unsigned nr;
};

struct model {
	struct fake fake;
	struct layers files[FILES];
	uint64_t seed;
	bool ok;
};

static unsigned pick(struct model *model, unsigned below)
{
	model->seed ^= model->seed << 13;
	model->seed ^= model->seed >> 7;
	model->seed ^= model->seed << 17;
	return (unsigned)(model->seed >> 20) % below;
}

static const char *path_of(unsigned file, char into[FAKE_PATH])
{
	snprintf(into, FAKE_PATH, "%s%s%s%s", *files[file].instance ? "instances/" : "", files[file].instance,
		 *files[file].instance ? "/" : "", files[file].file);
	return into;
}

static void check_files(struct model *model)
{
	char path[FAKE_PATH], text[16];

	for (unsigned i = 0; i < FILES; i++) {
		snprintf(text, sizeof(text), "%u\n", model->files[i].value);
		model->ok &= CHECK(fake_holds(&model->fake, path_of(i, path), text));
	}
}

enum end { END_RESTORE, END_KILL, END_HOLD, ENDS };

/* What a process does: sets files[i] to values[i], or leaves it for 0. */
static int run(const struct model *model, const unsigned values[FILES], enum end end)
{
	struct instance *top = NULL, *other = NULL;
	struct undo *undo = NULL;
	int err = undo_new(&model->fake.tracing, model->fake.journals, &undo, NULL);

	if (!err)
		err = undo_claim(undo, "", &(struct claim_manner){ .replaces = true }, NULL);
	if (!err)
		err = instance_open_top(&model->fake.tracing, undo, &top, NULL);
	if (!err)
		err = instance_open(&model->fake.tracing, "a", false, undo, &other, NULL);
	for (unsigned i = 0; !err && i < FILES; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%u", values[i]);
		if (values[i])
			err = instance_set(*files[i].instance ? other : top, files[i].file, text, NULL);
	}
	if (!err && end == END_RESTORE)
		err = undo_restore(undo, NULL);
	if (!err && end == END_HOLD)
		err = undo_hold(undo, NULL);
	if (end == END_KILL)
		return err;
	instance_close(top, NULL);
	instance_close(other, NULL);
	undo_free(undo);
	return err;
}

/* A held journal has the file, and no killed process has changed it since. */
static bool is_known(const struct layers *layers)
{
	for (unsigned i = 0; i < layers->nr; i++)
		if (layers->at[i].held)
			return true;
	return false;
}

static bool is_covered(const struct layers *layers)
{
	return is_known(layers) && !layers->at[layers->nr - 1].held;
}

static void play_session(struct model *model, unsigned session)
{
	enum end end = (enum end)pick(model, ENDS);
	unsigned values[FILES];
	pid_t child;
	int status;

	for (unsigned i = 0; i < FILES; i++) {
		values[i] = pick(model, 2) ? 0 : 1 + pick(model, 9);
		if (!strcmp(files[i].file, "tracing_on") && values[i])
			values[i] = 1;
		/* Not here: what was left on purpose above what a killed process left. */
		if (values[i] && end == END_HOLD && is_covered(&model->files[i]))
			end = END_RESTORE;
	}
	child = fork();
	if (!child)
		_exit(run(model, values, end) ? 1 : 0);
	model->ok &= CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
	for (unsigned i = 0; i < FILES; i++) {
		struct layers *layers = &model->files[i];

		if (!values[i] || values[i] == layers->value || end == END_RESTORE)
			continue;
		if (end == END_KILL || !is_known(layers))
			layers->at[layers->nr++] = (struct layer){ session, layers->value, end == END_HOLD };
		layers->value = values[i];
	}
	check_files(model);
}

/* What is undone goes, one layer after the other: the value is that of the one above it, or the present one. */
static void undo_layers(struct layers *layers, bool all)
{
	for (unsigned i = layers->nr; i-- > 0;) {
		if (!all && layers->at[i].held)
			continue;
		if (i + 1 < layers->nr)
			layers->at[i + 1].old = layers->at[i].old;
		else
			layers->value = layers->at[i].old;
		memmove(&layers->at[i], &layers->at[i + 1], (layers->nr - i - 1) * sizeof(layers->at[0]));
		layers->nr--;
	}
}

static void undo_all(struct model *model, bool all, const char *instance)
{
	struct undo_sum sum;
	int err = all ? undo_reset(&model->fake.tracing, model->fake.journals, instance, &sum, NULL) :
			undo_recover(&model->fake.tracing, model->fake.journals, NULL, NULL, &sum, NULL);

	model->ok &= CHECK(!err && !sum.instances && !sum.probes);
	for (unsigned i = 0; i < FILES; i++)
		if (!instance || !strcmp(files[i].instance, instance))
			undo_layers(&model->files[i], all);
	check_files(model);
}

static size_t count_left(const struct model *model)
{
	size_t left = 0;

	for (unsigned i = 0; i < FILES; i++)
		left += model->files[i].nr;
	return left;
}

/* How many settings the journals have. */
static size_t count_entries(const struct model *model)
{
	cleanup_free struct undo_pending *items = NULL;
	size_t nr = 0, entries = 0;

	CHECK(!undo_list(model->fake.journals, &items, &nr, NULL));
	for (size_t i = 0; i < nr; i++)
		entries += items[i].entries;
	return entries;
}

TEST(undo_of_any_sessions_goes_back_to_what_was_there_before_them)
{
	/* In the first two a killed process follows one that kept what it set, and that one another killed process. */
	static const unsigned seeds[] = { 12, 29, 1, 2 };

	for (size_t at = 0; at < array_size(seeds); at++) {
		struct model model = { .seed = seeds[at] * 0x9e3779b97f4a7c15u, .ok = true };

		REQUIRE(fake_new(&model.fake));
		fake_mkdir(&model.fake, "instances/a");
		for (unsigned i = 0; i < FILES; i++) {
			char path[FAKE_PATH], text[16];

			model.files[i].value = model.files[i].first =
				!strcmp(files[i].file, "tracing_on") ? 0 : 1 + pick(&model, 9);
			snprintf(text, sizeof(text), "%u\n", model.files[i].value);
			fake_write(&model.fake, path_of(i, path), text);
		}
		for (unsigned session = 0; model.ok && session < SESSIONS; session++) {
			play_session(&model, session);
			model.ok &= CHECK(count_entries(&model) == count_left(&model));
			if (pick(&model, 4) == 0)
				undo_all(&model, false, NULL);
		}
		undo_all(&model, true, "a");
		model.ok &= CHECK(count_entries(&model) == count_left(&model));
		undo_all(&model, true, pick(&model, 2) ? "" : NULL);
		for (unsigned i = 0; i < FILES; i++)
			CHECK(model.files[i].value == model.files[i].first);
		CHECK(!count_entries(&model));
		if (!model.ok)
			fprintf(stderr, "seed %u\n", seeds[at]);
		fake_free(&model.fake);
	}
}

TEST(undo_new_file_that_is_full_says_so)
{
	struct buf buf = BUF_INIT;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	REQUIRE(fd >= 0);
	CHECK(buf_add_str(&buf, "text") && undo_write_synced(fd, &buf) == -ENOSPC);
	close(fd);
	buf_release(&buf);
}

/* An instance that traces branches would be traced into after it is gone. */
TEST(undo_ends_the_tracing_of_branches_before_it_removes_an_instance)
{
	char path[FAKE_PATH];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "instances/b/options/branch", "1\n");
	fake_write(&fake, "instances/b/current_tracer", "function\n");
	/* The fake kernel does not remove a folder that has files. */
	CHECK(undo_remove_instance(fake_path(&fake, "instances/b", path)) == -ENOTEMPTY);
	CHECK(fake_holds(&fake, "instances/b/options/branch", "0\n"));
	CHECK(fake_holds(&fake, "instances/b/current_tracer", "nop\n"));
	fake_write(&fake, "instances/c/options/branch", "0\n");
	fake_write(&fake, "instances/c/current_tracer", "function\n");
	CHECK(undo_remove_instance(fake_path(&fake, "instances/c", path)) == -ENOTEMPTY);
	CHECK(fake_holds(&fake, "instances/c/current_tracer", "function\n"));
	CHECK(undo_remove_instance(fake_path(&fake, "instances/none", path)) == -ENOENT);
	fake_free(&fake);
}

/* The fake kernel refuses nop where it is the tracer: it has to be another one in between. */
TEST(undo_begins_another_tracer_where_nop_is_one_that_traces_branches)
{
	static const char *const refused[] = { "", "branch" };

	for (size_t i = 0; i < array_size(refused); i++) {
		char path[FAKE_PATH];
		struct fake fake;

		REQUIRE(fake_new(&fake));
		fake_write(&fake, "b/options/branch", "1\n");
		fake_write(&fake, "b/current_tracer", "nop\n");
		fake_refuse(&fake, "b/current_tracer", *refused[i] ? refused[i] : "nop", EINVAL);
		undo_end_branches(fake_path(&fake, "b", path));
		CHECK(fake_holds(&fake, "b/current_tracer", *refused[i] ? "nop\n" : "branch\n"));
		fake_free(&fake);
	}
}

static size_t count_files(const struct fake *fake)
{
	cleanup_free struct undo_pending *items = NULL;
	size_t nr = 0;

	CHECK(!undo_list(fake->journals, &items, &nr, NULL));
	return nr;
}

/* A private instance that was closed, left, or could not be made. */
TEST(undo_forgets_an_instance_that_is_gone_and_keeps_one_that_was_left)
{
	struct instance *instance = NULL;
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH], name[64];
	struct undo_sum sum;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	/* The folder of a fake has no files until they are written; so the first one cannot be set up. */
	CHECK(instance_open(&fake.tracing, "new", true, undo, &instance, &fail) < 0);
	CHECK(access(fake_path(&fake, "instances/new", path), F_OK));
	CHECK(!undo_restore(undo, NULL) && !count_files(&fake));
	/* There is a file in the place of the folder of instances. */
	rmdir(fake_path(&fake, "instances", path));
	fake_write(&fake, "instances", "");
	snprintf(name, sizeof(name), "weft-%d", (int)getpid());
	CHECK(instance_new_private(&fake.tracing, undo, &instance, &fail) == -ENOTDIR);
	CHECK(strstr(fail.text, "create the instance") && strstr(fail.text, name));
	CHECK(!undo_reset(&fake.tracing, fake.journals, NULL, &sum, NULL) && !sum.instances);
	undo_free(undo);
	fake_free(&fake);
}

TEST(undo_of_an_instance_that_runs_elsewhere_does_not_hinder_a_reset)
{
	struct undo *undo = NULL, *held = NULL;
	struct fail fail = FAIL_INIT;
	struct undo_sum sum;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_thresh", "1\n");
	fake_write(&fake, "trace_clock", "[local] global\n");
	fake_write(&fake, "instances/a/tracing_thresh", "1\n");
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &held, NULL));
	CHECK(!undo_remember(held, "", "tracing_thresh", NULL) && !undo_remember(held, "a", "tracing_thresh", NULL));
	CHECK(!undo_hold(held, NULL));
	/* A running process has changed another setting of the top instance, and this one of `a`. */
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_remember(undo, "", "trace_clock", NULL) && !undo_remember(undo, "a", "tracing_thresh", NULL));
	CHECK(undo_reset(&fake.tracing, fake.journals, NULL, &sum, &fail) == -EBUSY);
	CHECK(strstr(fail.text, "puts back 'tracing_thresh' of 'a' when it ends"));
	CHECK(undo_reset(&fake.tracing, fake.journals, "a", &sum, &fail) == -EBUSY);
	fake_write(&fake, "tracing_thresh", "2\n");
	CHECK(!undo_reset(&fake.tracing, fake.journals, "", &sum, &fail) && sum.entries == 1 && !sum.journals);
	CHECK(fake_holds(&fake, "tracing_thresh", "1\n"));
	CHECK(!undo_restore(undo, NULL));
	undo_free(undo);
	undo_free(held);
	fake_free(&fake);
}

/* --- instances on a stage, which makes and removes their files as the kernel does --- */

struct staged {
	struct loom loom;
	struct trace *trace;
	struct stage stage;
	struct undo *undo;
};

static bool begin_staged(struct staged *staged)
{
	loom_init(&staged->loom);
	loom_play(&staged->loom, "0 1 1 sched_waking pid=2\n");
	staged->trace = loom_trace(&staged->loom);
	return CHECK(staged->trace && stage_begin(&staged->stage, &staged->loom)) &&
	       CHECK(!undo_new(&staged->stage.fake.tracing, staged->stage.fake.journals, &staged->undo, NULL));
}

static void end_staged(struct staged *staged)
{
	undo_free(staged->undo);
	stage_end(&staged->stage);
	trace_free(staged->trace);
	loom_release(&staged->loom);
}

static bool has_instance(const struct staged *staged, const char *name)
{
	char left[512], word[64];

	snprintf(word, sizeof(word), " %s", name);
	return strstr(stage_left(&staged->stage, "instances", left, sizeof(left)), word);
}

TEST(undo_of_a_private_instance_is_over_when_it_is_closed)
{
	struct instance *instance = NULL, *other = NULL;
	struct undo_pending *items = NULL;
	struct fail fail = FAIL_INIT;
	struct staged staged;
	char name[64], second[64];
	size_t nr = 0;

	if (!begin_staged(&staged))
		return;
	snprintf(name, sizeof(name), "weft-%d", (int)getpid());
	snprintf(second, sizeof(second), "weft-%d-2", (int)getpid());
	REQUIRE(!instance_new_private(&staged.stage.fake.tracing, staged.undo, &instance, &fail));
	REQUIRE(!instance_new_helper(&staged.stage.fake.tracing, staged.undo, &other, &fail));
	CHECK_STR(instance->name, name);
	CHECK_STR(other->name, second);
	CHECK(has_instance(&staged, second) && fake_holds(&staged.stage.fake, "tracing_on", "0\n"));
	CHECK(!instance_close(other, &fail) && !has_instance(&staged, second));
	/* One that stays is somebody's from now on. */
	instance_leave(instance);
	CHECK(instance->kind == INSTANCE_EXISTING);
	CHECK(!instance_close(instance, &fail) && has_instance(&staged, name));
	REQUIRE(!instance_open(&staged.stage.fake.tracing, name, true, staged.undo, &instance, &fail));
	instance_leave(instance);
	CHECK(instance->kind == INSTANCE_EXISTING && !instance_close(instance, &fail));
	REQUIRE(!instance_open_top(&staged.stage.fake.tracing, staged.undo, &instance, &fail));
	instance_leave(instance);
	CHECK(instance->kind == INSTANCE_TOP && !instance_close(instance, &fail));
	/* The journal has the one that stays. */
	CHECK(!undo_restore(staged.undo, &fail) && !has_instance(&staged, name));
	CHECK(!undo_list(staged.stage.fake.journals, &items, &nr, NULL) && !nr);
	free(items);
	end_staged(&staged);
}

/* The kernel keeps an instance whose histograms refer to others, or that a process has open. */
TEST(undo_says_who_keeps_an_instance_and_takes_its_triggers_away)
{
	struct instance *instance = NULL;
	struct fail fail = FAIL_INIT;
	struct staged staged;
	char path[FAKE_PATH];

	if (!begin_staged(&staged))
		return;
	REQUIRE(!instance_open(&staged.stage.fake.tracing, "kept", true, staged.undo, &instance, &fail));
	fake_write(&staged.stage.fake, "instances/kept/" STAGE_HELD, "");
	fake_write(&staged.stage.fake, "instances/kept/events/sched/a/trigger",
		   "# Available triggers:\n# traceon\nhist:keys=pid:vals=hitcount:size=2048 [active]\n");
	fake_write(&staged.stage.fake, "instances/kept/events/sched/b/trigger", "# Available triggers:\n# traceon\n");
	fake_write(&staged.stage.fake, "instances/kept/events/sched/c/trigger", "\ntraceoff:unlimited\n");
	CHECK(undo_remove_instance(fake_path(&staged.stage.fake, "instances/kept", path)) == -EBUSY);
	/* A fake's file has what was written to it last, or added to it. */
	CHECK(fake_holds(&staged.stage.fake, "instances/kept/events/sched/a/trigger",
			 "# Available triggers:\n# traceon\nhist:keys=pid:vals=hitcount:size=2048 [active]\n"
			 "!hist:keys=pid:vals=hitcount:size=2048\n"));
	CHECK(fake_holds(&staged.stage.fake, "instances/kept/events/sched/b/trigger",
			 "# Available triggers:\n# traceon\n"));
	CHECK(fake_holds(&staged.stage.fake, "instances/kept/events/sched/c/trigger",
			 "\ntraceoff:unlimited\n!traceoff\n"));
	CHECK(instance_close(instance, &fail) == -EBUSY && strstr(fail.text, "'kept'"));
	/* It is still in the journal. */
	CHECK(undo_restore(staged.undo, &fail) == -EBUSY);
	remove(fake_path(&staged.stage.fake, "instances/kept/" STAGE_HELD, path));
	CHECK(!undo_restore(staged.undo, &fail) && !has_instance(&staged, "kept"));
	end_staged(&staged);
}

TEST(undo_removes_what_stands_for_an_instance_of_a_dry_run)
{
	struct instance *instance = NULL;
	struct plan plan = PLAN_INIT;
	struct fail fail = FAIL_INIT;
	struct staged staged;
	char name[64];

	if (!begin_staged(&staged))
		return;
	snprintf(name, sizeof(name), "weft-plan-%d-new", (int)getpid());
	staged.stage.fake.tracing.plan = &plan;
	REQUIRE(!instance_open(&staged.stage.fake.tracing, "new", true, staged.undo, &instance, &fail));
	CHECK_STR(instance->name, "new");
	CHECK(has_instance(&staged, name) && strstr(instance->dir, name));
	CHECK(strstr(buf_str(&plan.script), "mkdir") && strstr(buf_str(&plan.script), "tracing_on"));
	CHECK(!instance_set(instance, "tracing_cpumask", "1", &fail));
	CHECK(fake_holds(&staged.stage.fake, "tracing_cpumask", "ff\n"));
	staged.stage.fake.tracing.plan = NULL;
	instance_leave(instance);
	CHECK(!instance_close(instance, &fail) && has_instance(&staged, name));
	CHECK(!undo_restore(staged.undo, &fail) && !has_instance(&staged, name));
	/* It cannot be made: nothing is left, and nothing is in the plan. */
	staged.stage.fake.tracing.plan = &plan;
	buf_clear(&plan.script);
	CHECK(instance_open(&staged.stage.fake.tracing, "there", true, staged.undo, &instance, &fail) == 0);
	CHECK(!instance_close(instance, &fail));
	snprintf(name, sizeof(name), "instances/weft-plan-%d-two", (int)getpid());
	fake_mkdir(&staged.stage.fake, name);
	CHECK(instance_open(&staged.stage.fake.tracing, "two", true, staged.undo, &instance, &fail) == -EEXIST);
	CHECK(strstr(fail.text, "create the instance") && !strstr(buf_str(&plan.script), "two"));
	staged.stage.fake.tracing.plan = NULL;
	plan_release(&plan);
	end_staged(&staged);
}

/* --- who lives --- */

TEST(undo_takes_an_owner_for_alive_by_its_process_or_its_sign_of_life)
{
	const struct process_id nobody = { .pid = 1 << 30, .start = 1 };
	char path[] = "/tmp/weft-unit-XXXXXX", byte;
	int fd = mkstemp(path), go[2], came[2];
	pid_t child;

	REQUIRE(fd >= 0 && !pipe(go) && !pipe(came));
	CHECK(!undo_owner_lives(fd, nobody) && undo_owner_lives(fd, process_self()));
	child = fork();
	if (!child) {
		int own = open(path, O_RDWR | O_CLOEXEC);

		close(go[1]);
		if (own < 0 || !lock_file_live(own, 0, false) || write(came[1], "x", 1) != 1)
			_exit(1);
		_exit(read(go[0], &byte, 1) ? 1 : 0);
	}
	REQUIRE(child > 0 && read(came[0], &byte, 1) == 1);
	CHECK(undo_owner_lives(fd, nobody));
	close(go[1]);
	close(go[0]);
	CHECK(waitpid(child, NULL, 0) == child && !undo_owner_lives(fd, nobody));
	close(came[0]);
	close(came[1]);
	close(fd);
	unlink(path);
}

static unsigned count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	while (dir && readdir(dir))
		nr++;
	if (dir)
		closedir(dir);
	return nr;
}

TEST(undo_leaves_no_file_open_and_orders_journals_by_their_last_claim)
{
	unsigned before = count_open(), at = 0;
	struct undo_pending pending;
	struct fail fail = FAIL_INIT;
	uint64_t first, last;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_thresh", "1\n");
	CHECK(undo_new(&fake.tracing, "/nowhere/at/all", &undo, &fail) == -ENOENT);
	CHECK(strstr(fail.text, "cannot make the directory '/nowhere/at/all' for the journal of settings"));
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_claim(undo, "a", &(struct claim_manner){ 0 }, NULL));
	first = claim_now_ns();
	CHECK(!undo_claim(undo, "", &(struct claim_manner){ 0 }, NULL));
	last = claim_now_ns();
	CHECK(!undo_remember(undo, "", "tracing_thresh", NULL));
	CHECK(!undo_hold(undo, NULL));
	undo_free(undo);
	CHECK(count_open() == before);
	CHECK(!undo_next_pending(fake.journals, &at, &pending, NULL));
	{
		cleanup_free struct undo_pending *items = NULL;
		size_t nr = 0;

		CHECK(!undo_list(fake.journals, &items, &nr, NULL) && nr == 1);
		CHECK(nr && items[0].held && items[0].since_ns >= first && items[0].since_ns <= last);
	}
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_remember(undo, "", "tracing_thresh", NULL));
	undo_free(undo);
	CHECK(count_open() == before);
	fake_free(&fake);
}

/* The command of a claim is the program without its folder, and its words. */
TEST(undo_claims_for_the_words_of_this_process_and_its_own_session)
{
	struct buf text = BUF_INIT;
	struct claim claim, other;
	const char *name;
	size_t len = 0;
	int in = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char line[4096];
	ssize_t got = read(in, line, sizeof(line) - 1);

	close(in);
	REQUIRE(got > 1 && claim_print(&text) && claim_parse(buf_str(&text), &claim));
	/* Each word ends with a NUL. */
	line[got] = '\0';
	for (ssize_t i = 0; i + 1 < got; i++)
		line[i] = line[i] ? line[i] : ' ';
	name = strrchr(line, '/') ? strrchr(line, '/') + 1 : line;
	len = strlen(name) < sizeof(claim.command) ? strlen(name) : sizeof(claim.command) - 1;
	CHECK(strlen(claim.command) >= len - 1);
	CHECK_MEM(claim.command, len - 1, name, len - 1);
	CHECK(claim.owner.pid == getpid() && claim.boot_ns && claim.boot_ns <= claim_now_ns());
	CHECK(claim_is_ours(&claim));
	other = claim;
	other.session.start++;
	CHECK(!claim_is_ours(&other));
	other = claim;
	other.session.pid++;
	CHECK(!claim_is_ours(&other));
	buf_release(&text);
}

static void visit_probe(const char *probe, void *data)
{
	*(unsigned *)data += !strcmp(probe, "weft/one");
}

TEST(undo_that_has_kept_its_changes_is_as_new)
{
	unsigned before, probes = 0;
	struct fail fail = FAIL_INIT;
	struct undo_sum sum;
	struct undo *undo;
	struct fake fake;
	int fd = -1;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_thresh", "1\n");
	fake_write(&fake, "tracing_cpumask", "1\n");
	before = count_open();
	CHECK(claim_take("/nowhere/at/all", "", &(struct claim_manner){ 0 }, &fd, &fail) == -ENOENT && fd < 0);
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_remember(undo, "", "tracing_thresh", NULL) && !undo_remember_probe(undo, "weft/one", NULL));
	fake_write(&fake, "tracing_thresh", "2\n");
	CHECK(!undo_hold(undo, NULL));
	CHECK(!undo_each_probe(fake.journals, visit_probe, &probes, NULL) && probes == 1 && count_open() == before);
	/* What comes then is a journal of its own, which has the other file alone. */
	CHECK(!undo_remember(undo, "", "tracing_cpumask", NULL));
	fake_write(&fake, "tracing_cpumask", "2\n");
	CHECK(!undo_restore(undo, NULL));
	CHECK(fake_holds(&fake, "tracing_cpumask", "1\n") && fake_holds(&fake, "tracing_thresh", "2\n"));
	fake_write(&fake, "dynamic_events", "");
	CHECK(!undo_reset(&fake.tracing, fake.journals, NULL, &sum, NULL) && sum.entries == 1 && sum.probes == 1);
	CHECK(fake_holds(&fake, "tracing_thresh", "1\n"));
	undo_free(undo);
	CHECK(count_open() == before);
	fake_free(&fake);
}

/* A process with a higher number may have claimed first. */
TEST(undo_lists_the_journal_whose_claim_is_the_last_first)
{
	cleanup_free struct undo_pending *items = NULL;
	struct undo *undo;
	struct fake fake;
	size_t nr = 0;
	pid_t child;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_thresh", "1\n");
	fake_write(&fake, "tracing_cpumask", "1\n");
	child = fork();
	if (!child) {
		if (undo_new(&fake.tracing, fake.journals, &undo, NULL) ||
		    undo_claim(undo, "", &(struct claim_manner){ .replaces = true }, NULL) ||
		    undo_remember(undo, "", "tracing_thresh", NULL) || undo_hold(undo, NULL))
			_exit(1);
		_exit(0);
	}
	CHECK(waitpid(child, NULL, 0) == child);
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_claim(undo, "", &(struct claim_manner){ .replaces = true }, NULL));
	CHECK(!undo_remember(undo, "", "tracing_cpumask", NULL) && !undo_hold(undo, NULL));
	CHECK(!undo_list(fake.journals, &items, &nr, NULL) && nr == 2);
	CHECK(nr == 2 && items[0].pid == getpid() && items[1].pid == child && items[0].since_ns > items[1].since_ns);
	undo_free(undo);
	fake_free(&fake);
}
