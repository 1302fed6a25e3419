// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"
#include "lib/kernel/undo/undo_internal.h"
#include "tests/unit/fake_tracefs.h"
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
