// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/boot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/undo/undo.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/stage.h"
#include "tests/unit/test.h"

struct scene {
	struct loom loom;
	struct trace *played;
	struct stage stage;
};

/*
 * Settings that a user may have left in the top instance, and the writes that restore the state at boot. NULL: no
 * write, the file keeps `used`.
 */
static const struct {
	const char *file, *used, *boot;
} files[] = {
	{ "tracing_on", "0\n", "1\n" },
	{ "current_tracer", "function\n", "nop\n" },
	{ "trace_clock", "local global [mono]\n", "local\n" },
	{ "buffer_percent", "10\n", "50\n" },
	{ "buffer_size_kb", "4096\n", "1408\n" },
	{ "tracing_thresh", "100\n", "0\n" },
	{ "hwlat_detector/mode", "none round-robin [per-cpu]\n", "round-robin\n" },
	{ "saved_cmdlines_size", "6552\n", NULL },
	{ "set_event_pid", "7\n8\n", "" },
	{ "set_ftrace_filter", "vfs_read\nvfs_write\n", "" },
	{ "set_graph_notrace", "#### no functions disabled ####\n", NULL },
	{ "options/overwrite", "0\n", "1\n" },
	{ "options/stacktrace", "1\n", "0\n" },
	{ "options/markers", "1\n", NULL },
	{ "events/sched/enable", "X\n", "0\n" },
	{ "events/sched/sched_switch/enable", "1\n", "0\n" },
	{ "events/sched/sched_switch/filter", "prev_pid > 3\n", "0\n" },
	{ "events/irq/irq_handler_entry/enable", "0\n", NULL },
	{ "snapshot", "# tracer: nop\n#\n#\n# * Snapshot is allocated *\n#\n", "0\n" },
	{ "trace", "# tracer: nop\n", "" },
	{ "error_log", "[  100.1] hist:sched:sched_switch: error: Couldn't find field\n", "" },
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .played = NULL };
	loom_init(&scene->loom);
	scene->played = loom_trace(&scene->loom);
	if (!scene->played || !stage_begin(&scene->stage, &scene->loom))
		return false;
	for (size_t i = 0; i < array_size(files); i++)
		fake_write(&scene->stage.fake, files[i].file, files[i].used);
	fake_write(&scene->stage.fake, "proc/cmdline", "quiet trace_instance=kept,sched\n");
	return true;
}

static void end(struct scene *scene)
{
	stage_end(&scene->stage);
	trace_free(scene->played);
	loom_release(&scene->loom);
}

static int reset(struct scene *scene, bool probes, struct fail *fail)
{
	return boot_reset(&scene->stage.fake.tracing, scene->stage.fake.journals, probes, fail);
}

static void check_files(struct scene *scene, const char *but)
{
	for (size_t i = 0; i < array_size(files); i++) {
		const char *want = files[i].boot ? files[i].boot : files[i].used;

		if ((!but || strcmp(but, files[i].file)) && !CHECK(fake_holds(&scene->stage.fake, files[i].file, want)))
			fprintf(stderr, "%s does not hold '%s'\n", files[i].file, want);
	}
}

static bool make_instance(struct scene *scene, const char *name)
{
	char dir[64], path[FAKE_PATH];

	snprintf(dir, sizeof(dir), "instances/%s", name);
	return CHECK(!mkdir(fake_path(&scene->stage.fake, dir, path), 0700));
}

/* A journal as `weft set` leaves it. */
static bool make_journal(struct scene *scene)
{
	const struct fake *fake = &scene->stage.fake;
	struct undo *undo = NULL;
	char left[512];
	bool ok = CHECK(!undo_new(&fake->tracing, fake->journals, &undo, NULL) &&
			!undo_remember(undo, "", "trace_clock", NULL) && !undo_hold(undo, NULL));

	undo_free(undo);
	return ok && CHECK(strstr(stage_left(&scene->stage, "journals", left, sizeof(left)), "held-") != NULL);
}

TEST(boot_reset_sets_the_top_instance_to_its_state_at_boot_and_discards_journals)
{
	struct fail fail = FAIL_INIT;
	struct scene scene;
	char left[512];

	if (begin(&scene) && make_journal(&scene)) {
		CHECK(!reset(&scene, false, &fail));
		CHECK_STR(fail.text, "");
		check_files(&scene, NULL);
		CHECK(!strstr(stage_left(&scene.stage, "journals", left, sizeof(left)), "held-"));
	}
	end(&scene);
}

TEST(boot_reset_removes_instances_except_those_of_the_kernels_command_line)
{
	struct fail fail = FAIL_INIT;
	struct scene scene;
	char left[512];

	if (begin(&scene) && make_instance(&scene, "box") && make_instance(&scene, "kept")) {
		fake_write(&scene.stage.fake, "instances/kept/trace_clock", "local global [mono]\n");
		CHECK(!reset(&scene, false, &fail));
		CHECK_STR(fail.text, "");
		CHECK_STR(stage_left(&scene.stage, "instances", left, sizeof(left)), " kept");
		CHECK(fake_holds(&scene.stage.fake, "instances/kept/trace_clock", "local global [mono]\n"));
	}
	end(&scene);
}

TEST(boot_reset_names_the_instance_that_is_in_use_and_resets_the_rest)
{
	struct fail fail = FAIL_INIT;
	struct scene scene;
	char left[512];

	if (begin(&scene) && make_instance(&scene, "busy")) {
		fake_write(&scene.stage.fake, "instances/busy/" STAGE_HELD, "");
		CHECK(reset(&scene, false, &fail) == -EBUSY);
		CHECK(strstr(fail.text, "'busy'"));
		CHECK_STR(stage_left(&scene.stage, "instances", left, sizeof(left)), " busy");
		check_files(&scene, NULL);
	}
	end(&scene);
}

TEST(boot_reset_removes_probes_only_where_that_is_asked)
{
	static const char probes[] = "p:kprobes/loom vfs_read\n";
	struct scene scene;

	if (begin(&scene)) {
		fake_write(&scene.stage.fake, "dynamic_events", probes);
		CHECK(!reset(&scene, false, NULL));
		CHECK(fake_holds(&scene.stage.fake, "dynamic_events", probes));
		CHECK(!reset(&scene, true, NULL));
		CHECK(fake_holds(&scene.stage.fake, "dynamic_events", ""));
	}
	end(&scene);
}

TEST(boot_reset_removes_each_trigger_by_a_line_of_its_own)
{
	static const char file[] = "events/sched/sched_switch/trigger";
	struct scene scene;

	if (begin(&scene)) {
		fake_write(&scene.stage.fake, file, "traceoff:unlimited\nstacktrace:unlimited\n");
		CHECK(!reset(&scene, false, NULL));
		/* The file in place of `trigger` keeps everything that was written to it. */
		CHECK(fake_holds(&scene.stage.fake, file,
				 "traceoff:unlimited\nstacktrace:unlimited\n!traceoff\n!stacktrace\n"));
	}
	end(&scene);
}

TEST(boot_reset_names_the_setting_that_the_kernel_refuses_and_resets_the_rest)
{
	static const char file[] = "tracing_thresh";
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH];
	struct scene scene;

	if (begin(&scene)) {
		/* A file that can be read but takes no write. */
		CHECK(!unlink(fake_path(&scene.stage.fake, file, path)) && !symlink("/proc/version", path));
		CHECK(reset(&scene, false, &fail) < 0);
		CHECK(strstr(fail.text, path) && strstr(fail.text, "cannot put"));
		check_files(&scene, file);
	}
	end(&scene);
}
