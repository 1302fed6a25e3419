// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/stage.h"
#include "tests/unit/starve.h"
#include "tests/unit/test.h"

static const char script[] =
	"0 1000000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
	"0 1002500 7 sched_switch prev_comm=sh prev_pid=7 prev_prio=120 prev_state=1 next_comm=swapper/0 "
	"next_prio=120\n"
	"0 1003000 0 irq_handler_entry irq=9 name=acpi\n";

struct scene {
	struct loom loom;
	struct trace *played;
	struct stage stage;
	struct record_options options;
	char output[FAKE_PATH];
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .options = {
					 .version = 7, .compress = true, .level = 1, .mode = 0600, .duration_ns = 1 } };
	loom_init(&scene->loom);
	loom_task(&scene->loom, 7, "sh");
	loom_task(&scene->loom, 8, "ls");
	loom_play(&scene->loom, script);
	scene->played = loom_trace(&scene->loom);
	if (!scene->played || !stage_begin(&scene->stage, &scene->loom))
		return false;
	fake_mkdir(&scene->stage.fake, "out");
	scene->options.output = fake_path(&scene->stage.fake, "out/r.dat", scene->output);
	return CHECK(setup_add_instance(&scene->options.setup, NULL) &&
		     setup_add_event(&scene->options.setup.instances[0], "sched:sched_switch"));
}

static void end(struct scene *scene)
{
	setup_release(&scene->options.setup);
	stage_end(&scene->stage);
	trace_free(scene->played);
	loom_release(&scene->loom);
}

TEST(session_records_what_was_played_and_leaves_nothing_behind)
{
	struct record_result result = { 0 };
	struct fail fail = FAIL_INIT;
	struct scene scene;
	char left[512];

	if (begin(&scene)) {
		CHECK(!session_run(&scene.options, &result, &fail));
		CHECK_STR(fail.text, "");
		CHECK(result.finished && result.ran);
		CHECK_STR(stage_left(&scene.stage, "instances", left, sizeof(left)), "");
		CHECK_STR(stage_left(&scene.stage, "journals", left, sizeof(left)), "");
		CHECK_STR(stage_left(&scene.stage, "out", left, sizeof(left)), " r.dat");
		record_result_release(&result);
	}
	end(&scene);
}

/*
 * After one failed allocation: an error was reported, or the result is complete. The kernel's settings are restored.
 * There is a whole file, or parts, or nothing.
 */
static bool check_end(struct scene *scene, int err, const struct record_result *result, const struct fail *fail)
{
	char left[512], file[FAKE_PATH];
	bool ok = CHECK(!err == !*fail->text) && CHECK(err || result->finished);

	ok = CHECK(!*stage_left(&scene->stage, "instances", left, sizeof(left))) && ok;
	/* Settings that could not be restored are in a journal. */
	ok = CHECK(err || !*stage_left(&scene->stage, "journals", left, sizeof(left))) && ok;
	ok = CHECK(fake_holds(&scene->stage.fake, "saved_cmdlines_size", "128\n")) && ok;
	stage_left(&scene->stage, "out", left, sizeof(left));
	if (result->finished) {
		struct trace *trace = NULL;

		/* The parts could not be removed. */
		ok = CHECK(!strcmp(left, " r.dat") || (err && strstr(left, " r.dat"))) && ok;
		ok = CHECK(!trace_open(fake_path(&scene->stage.fake, "out/r.dat", file), &trace, NULL) &&
			   !trace_damage(trace)) &&
		     ok;
		trace_free(trace);
	} else {
		ok = CHECK(!*left || (result->parts && strstr(left, ".parts") && !strstr(left + 1, " "))) && ok;
	}
	if (!ok)
		fprintf(stderr, "left: '%s', said: '%s'\n", left, fail->text);
	return ok;
}

static void clear_output(const struct scene *scene)
{
	char path[FAKE_PATH], command[FAKE_PATH + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'/*", fake_path(&scene->stage.fake, "out", path));
	CHECK(!system(command));
}

TEST(session_tells_each_lack_of_memory_and_leaves_the_kernel_as_it_was)
{
	/* A test of all allocations would take 15 seconds. */
	uint64_t step = getenv("WEFT_UNIT_ALL") ? 1 : 11, nr;
	struct scene scene;
	bool ok = begin(&scene);

	for (uint64_t at = 1; ok; at += step) {
		struct record_result result = { 0 };
		struct fail fail = FAIL_INIT;
		int err;

		starve_begin(at);
		err = session_run(&scene.options, &result, &fail);
		nr = starve_end();
		ok = check_end(&scene, err, &result, &fail);
		if (!ok)
			fprintf(stderr, "allocation %llu of %llu\n", (unsigned long long)at, (unsigned long long)nr);
		record_result_release(&result);
		clear_output(&scene);
		if (nr < at)
			break;
	}
	end(&scene);
}
