// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/extraction.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/stage.h"
#include "tests/unit/test.h"

static const char script[] =
	"0 1000000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
	"0 1002500 7 sched_switch prev_comm=sh prev_pid=7 prev_prio=120 prev_state=1 next_comm=swapper/0 "
	"next_prio=120\n"
	"0 1003000 0 irq_handler_entry irq=9 name=acpi\n";

/* A kernel whose instance "box" has events of another program. */
struct scene {
	struct loom loom;
	struct trace *played;
	struct stage stage;
	struct extraction_options options;
	char output[FAKE_PATH];
};

static bool begin(struct scene *scene)
{
	char path[FAKE_PATH];

	*scene = (struct scene){ .options = { .version = 7, .compress = true, .level = 1, .mode = 0600 } };
	loom_init(&scene->loom);
	loom_task(&scene->loom, 7, "sh");
	loom_play(&scene->loom, script);
	scene->played = loom_trace(&scene->loom);
	if (!scene->played || !stage_begin(&scene->stage, &scene->loom))
		return false;
	fake_mkdir(&scene->stage.fake, "out");
	scene->options.output = fake_path(&scene->stage.fake, "out/x.dat", scene->output);
	return CHECK(!mkdir(fake_path(&scene->stage.fake, "instances/box", path), 0700));
}

static void end(struct scene *scene)
{
	stage_end(&scene->stage);
	trace_free(scene->played);
	loom_release(&scene->loom);
}

/* The loom makes pages of a 64-bit kernel, and an extraction reads pages of this machine's kernel. */
static bool is_like_the_loom(void)
{
	return sizeof(long) == 8;
}

/* The header of the file's text counts as the kernel's: "ENTRIES/WRITTEN". */
static bool counts(struct scene *scene, size_t buffer, const char *want)
{
	cleanup_buf struct buf got = BUF_INIT;
	struct trace *trace = NULL;
	char path[FAKE_PATH];
	bool found;

	CHECK(!trace_open(fake_path(&scene->stage.fake, "out/x.dat", path), &trace, NULL));
	CHECK(trace && !printed_trace(trace, &(struct printed){ .format = "ftrace", .buffer = buffer }, &got, NULL));
	trace_free(trace);
	found = strstr(buf_str(&got), want);
	return CHECK(found);
}

static bool has_what_was_played(struct scene *scene, size_t buffer)
{
	cleanup_buf struct buf got = BUF_INIT, want = BUF_INIT;
	struct trace *trace = NULL;
	char path[FAKE_PATH];

	CHECK(!trace_open(fake_path(&scene->stage.fake, "out/x.dat", path), &trace, NULL));
	CHECK(trace && !printed_trace(trace, &(struct printed){ .format = "ftrace", .buffer = buffer }, &got, NULL));
	CHECK(!printed_trace(scene->played, &(struct printed){ .format = "ftrace" }, &want, NULL));
	trace_free(trace);
	return CHECK_STR(printed_body(&got), printed_body(&want));
}

TEST(extraction_makes_a_file_of_what_an_instance_holds_and_changes_nothing)
{
	const char *const box = "box";
	struct extraction result;
	struct fail fail = FAIL_INIT;
	struct scene scene;
	char left[512];

	if (!is_like_the_loom())
		return;
	if (begin(&scene)) {
		scene.options.instances = &box;
		scene.options.nr_instances = 1;
		CHECK(!extraction_run(&scene.options, &result, &fail));
		CHECK_STR(fail.text, "");
		CHECK(result.events == 3 && !result.overwritten && result.cpus == 1 && !result.went_on &&
		      !result.parts);
		CHECK(result.raw == scene.loom.cpus[0].pages.len);
		CHECK_STR(stage_left(&scene.stage, "instances", left, sizeof(left)), " box");
		CHECK_STR(stage_left(&scene.stage, "out", left, sizeof(left)), " x.dat");
		CHECK(fake_holds(&scene.stage.fake, "instances/box/tracing_on", "0\n"));
		CHECK(has_what_was_played(&scene, 1));
		extraction_release(&result);
	}
	end(&scene);
}

TEST(extraction_of_all_tells_that_a_buffer_was_still_written_to_and_what_was_overwritten)
{
	struct extraction result;
	struct fail fail = FAIL_INIT;
	struct scene scene;

	if (!is_like_the_loom())
		return;
	if (begin(&scene)) {
		scene.options.all = true;
		fake_write(&scene.stage.fake, "instances/box/tracing_on", "1\n");
		fake_write(&scene.stage.fake, "instances/box/per_cpu/cpu0/stats",
			   "entries: 1\noverrun: 41\ncommit overrun: 0\nbytes: 200\noldest event ts:     0.0\n"
			   "now ts:     0.0\n"
			   "dropped events: 0\nread events: 0\n");
		CHECK(!extraction_run(&scene.options, &result, &fail));
		CHECK_STR(fail.text, "");
		CHECK(result.events == 3 && result.overwritten == 41 && result.went_on);
		CHECK(fake_holds(&scene.stage.fake, "instances/box/tracing_on", "1\n"));
		CHECK(has_what_was_played(&scene, 1));
		/* Two events came after the counters were read. */
		CHECK(counts(&scene, 1, "# entries-in-buffer/entries-written: 3/44 "));
		extraction_release(&result);
	}
	end(&scene);
}

TEST(extraction_of_an_instance_that_a_module_made_takes_formats_from_the_top_one)
{
	const char *const box = "box";
	struct extraction result;
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH], command[FAKE_PATH + 64];
	struct scene scene;

	if (!is_like_the_loom())
		return;
	if (begin(&scene)) {
		scene.options.instances = &box;
		scene.options.nr_instances = 1;
		/* As of an instance that asked for a system of which the buffer has no event. */
		snprintf(command, sizeof(command), "cd '%s' && rm -r ftrace sched irq",
			 fake_path(&scene.stage.fake, "instances/box/events", path));
		CHECK(!system(command));
		CHECK(!extraction_run(&scene.options, &result, &fail));
		CHECK_STR(fail.text, "");
		CHECK(result.events == 3);
		CHECK(has_what_was_played(&scene, 1));
		extraction_release(&result);
	}
	end(&scene);
}

TEST(extraction_of_nothing_makes_no_file)
{
	struct extraction result;
	struct fail fail = FAIL_INIT;
	struct scene scene;
	char left[512];

	if (begin(&scene)) {
		CHECK(extraction_run(&scene.options, &result, &fail) == -ENODATA);
		CHECK_STR(fail.text, "there is nothing in the buffer");
		CHECK_STR(stage_left(&scene.stage, "out", left, sizeof(left)), "");
		extraction_release(&result);
	}
	end(&scene);
}

TEST(extraction_names_the_instance_that_is_not_there)
{
	const char *const nosuch = "nosuch";
	struct extraction result;
	struct fail fail = FAIL_INIT;
	struct scene scene;

	if (begin(&scene)) {
		scene.options.instances = &nosuch;
		scene.options.nr_instances = 1;
		CHECK(extraction_run(&scene.options, &result, &fail) < 0);
		CHECK(strstr(fail.text, "'nosuch'"));
		extraction_release(&result);
	}
	end(&scene);
}

TEST(extraction_of_a_snapshot_that_is_not_allocated_says_so)
{
	const char *const box = "box";
	struct extraction result;
	struct fail fail = FAIL_INIT;
	struct scene scene;

	if (begin(&scene)) {
		scene.options.instances = &box;
		scene.options.nr_instances = 1;
		scene.options.snapshot = true;
		CHECK(extraction_run(&scene.options, &result, &fail) == -EOPNOTSUPP);
		CHECK(strstr(fail.text, "CONFIG_TRACER_SNAPSHOT"));
		fake_write(&scene.stage.fake, "instances/box/snapshot",
			   "# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n");
		CHECK(extraction_run(&scene.options, &result, &fail) < 0);
		CHECK(strstr(fail.text, "snapshot"));
	}
	end(&scene);
}
