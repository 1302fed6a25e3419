// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/tap_buffer.h"
#include "lib/kernel/setup/setup.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/stage.h"
#include "tests/unit/test.h"

static const char script[] =
	"0 1000000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
	"0 1002500 7 sched_switch prev_comm=sh prev_pid=7 prev_prio=120 prev_state=1 next_comm=swapper/0 "
	"next_prio=120\n";

struct scene {
	struct loom loom;
	struct trace *played;
	struct stage stage;
	struct setup setup;
	struct tap_options options;
	struct tap_result result;
	struct tap *tap;
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .tap = NULL };
	loom_init(&scene->loom);
	loom_task(&scene->loom, 7, "sh");
	loom_play(&scene->loom, script);
	scene->played = loom_trace(&scene->loom);
	scene->options = (struct tap_options){ .setup = &scene->setup, .duration_ns = 1 };
	return scene->played && stage_begin(&scene->stage, &scene->loom) &&
	       CHECK(setup_add_instance(&scene->setup, NULL) &&
		     setup_add_event(&scene->setup.instances[0], "sched:sched_switch"));
}

static bool open_tap(struct scene *scene)
{
	struct fail fail = FAIL_INIT;

	CHECK(!tap_open(&scene->options, &scene->result, &scene->tap, &fail));
	CHECK_STR(fail.text, "");
	return scene->tap != NULL;
}

static void end(struct scene *scene)
{
	char left[512];

	CHECK(!tap_close(scene->tap, NULL));
	CHECK_STR(stage_left(&scene->stage, "instances", left, sizeof(left)), "");
	CHECK_STR(stage_left(&scene->stage, "journals", left, sizeof(left)), "");
	setup_release(&scene->setup);
	stage_end(&scene->stage);
	trace_free(scene->played);
	loom_release(&scene->loom);
}

/* Waits until the tap is told to end; returns the reason. */
static enum tap_news wait_for_end(struct tap *tap)
{
	enum tap_news news = TAP_READY;

	while (news == TAP_READY)
		if (!CHECK(!tap_wait(tap, -1, false, 10000, &news, NULL)))
			break;
	return news;
}

TEST(tap_hands_out_pages_of_its_instance_as_the_kernel_has_them)
{
	uint8_t page[LOOM_PAGE];
	struct scene scene;

	if (begin(&scene) && open_tap(&scene)) {
		struct tap_buffer *buffer = tap_buffer(scene.tap, 0);

		REQUIRE(buffer && !tap_buffer(scene.tap, 1));
		CHECK(tap_buffer_shape(buffer).size == LOOM_PAGE && !tap_buffer_name(buffer));
		CHECK(!tap_start(scene.tap, NULL));
		CHECK(wait_for_end(scene.tap) == TAP_TIME);
		CHECK(tap_buffer_read(buffer, 0, page, NULL) == 1);
		CHECK(!memcmp(page, scene.loom.cpus[0].pages.data, LOOM_PAGE));
		CHECK(tap_buffer_read(buffer, 0, page, NULL) == 0);
		CHECK(!tap_stop(scene.tap, NULL));
		CHECK(scene.result.ran && !scene.result.has_status && !scene.result.missed);
	}
	end(&scene);
}

TEST(tap_describes_its_instance_as_the_file_of_a_recording_would)
{
	cleanup_buf struct buf names = BUF_INIT, tgids = BUF_INIT, symbols = BUF_INIT, system = BUF_INIT,
			       text = BUF_INIT;
	char left[128], file[FAKE_PATH];
	struct trace_text self;
	struct trace *trace;
	struct scene scene;
	size_t nr;

	if (begin(&scene) && open_tap(&scene)) {
		trace = tap_trace(scene.tap);
		self = trace_setting(trace, 0, "weft/self");
		CHECK(self.text && strtol(self.text, NULL, 10) == getpid());
		CHECK(trace_formats(trace, &nr) && nr >= 1);
		CHECK(!tap_tasks(scene.tap, &names, &tgids, NULL));
		CHECK_STR(buf_str(&names), "7 sh\n");
		CHECK(!tap_symbols(scene.tap, &symbols, NULL));
		CHECK(strstr(buf_str(&symbols), "ffffffff81000100 T vfs_read\n") != NULL);
		snprintf(file, sizeof(file), "instances/%s/set_event",
			 stage_left(&scene.stage, "instances", left, sizeof(left)) + 1);
		fake_write(&scene.stage.fake, file, "sched:sched_switch\n");
		/* An event that is on has a format that can be found by its number; no other number has. */
		CHECK(tap_buffer_format(tap_buffer(scene.tap, 0), scene.loom.types[0].id, &system, &text, NULL) == 1);
		CHECK_STR(buf_str(&system), "sched");
		CHECK_STR(buf_str(&text), buf_str(&scene.loom.types[0].format));
		CHECK(tap_buffer_format(tap_buffer(scene.tap, 0), 9999, &system, &text, NULL) == 0);
	}
	end(&scene);
}

static void write_stats(const struct scene *scene, unsigned entries, unsigned overrun, unsigned dropped, unsigned read)
{
	char text[256], left[128], file[FAKE_PATH];

	snprintf(text, sizeof(text),
		 "entries: %u\noverrun: %u\ncommit overrun: 2\nbytes: 900\noldest event ts: 0.0\nnow ts: 0.0\n"
		 "dropped events: %u\nread events: %u\n",
		 entries, overrun, dropped, read);
	snprintf(file, sizeof(file), "instances/%s/per_cpu/cpu0/stats",
		 stage_left(&scene->stage, "instances", left, sizeof(left)) + 1);
	fake_write(&scene->stage.fake, file, text);
}

TEST(tap_counts_what_its_buffer_lost_even_when_somebody_clears_it)
{
	char left[128], file[FAKE_PATH];
	struct scene scene;
	uint64_t overrun = 0;

	if (begin(&scene) && open_tap(&scene)) {
		struct tap_buffer *buffer = tap_buffer(scene.tap, 0);

		write_stats(&scene, 10, 3, 4, 20);
		CHECK(!tap_buffer_overrun(buffer, 0, 20, &overrun, NULL) && overrun == 3);
		CHECK(tap_buffer_events(buffer, 0) == 30 && tap_buffer_dropped(buffer, 0) == 4);
		CHECK(tap_buffer_lost(buffer, 0) == 3 + 2 + 4 && !tap_buffer_cleared(buffer, 0));
		write_stats(&scene, 1, 1, 0, 0);
		tap_buffer_look(buffer, 0, 25);
		CHECK(tap_buffer_cleared(buffer, 0) == 1 && tap_buffer_events(buffer, 0) == 26);
		CHECK(!tap_buffer_overrun(buffer, 0, 25, &overrun, NULL) && overrun == 3 + 1);
		CHECK(!tap_buffer_keeps_oldest(buffer));
		snprintf(file, sizeof(file), "instances/%s/options/overwrite",
			 stage_left(&scene.stage, "instances", left, sizeof(left)) + 1);
		fake_write(&scene.stage.fake, file, "0\n");
		CHECK(tap_buffer_keeps_oldest(buffer));
	}
	end(&scene);
}

TEST(tap_lets_a_command_run_and_tells_its_status)
{
	char *argv[] = { "sh", "-c", "exit 7", NULL };
	struct scene scene;

	if (begin(&scene)) {
		scene.options.argv = argv;
		scene.options.duration_ns = 0;
		REQUIRE(open_tap(&scene));
		CHECK(!tap_start(scene.tap, NULL));
		CHECK(wait_for_end(scene.tap) == TAP_COMMAND);
		CHECK(scene.result.has_status && scene.result.status == 7);
		CHECK(!tap_stop(scene.tap, NULL));
	}
	end(&scene);
}

TEST(tap_of_a_command_that_cannot_run_says_why_as_a_shell_does)
{
	char *argv[] = { "/nosuch/command", NULL };
	struct fail fail = FAIL_INIT;
	struct scene scene;
	int err;

	if (begin(&scene)) {
		scene.options.argv = argv;
		err = tap_open(&scene.options, &scene.result, &scene.tap, &fail);
		if (!err)
			err = tap_start(scene.tap, &fail);
		CHECK(err < 0);
		CHECK(strstr(fail.text, "/nosuch/command"));
		CHECK(scene.result.has_status && scene.result.status == 127);
	}
	end(&scene);
}

TEST(tap_refuses_instances_with_different_clocks)
{
	struct fail fail = FAIL_INIT;
	struct setup_instance *other;
	struct scene scene;
	char path[FAKE_PATH];

	if (begin(&scene)) {
		CHECK(!mkdir(fake_path(&scene.stage.fake, "instances/other", path), 0700));
		fake_write(&scene.stage.fake, "instances/other/trace_clock", "local global [mono]\n");
		other = setup_add_instance(&scene.setup, "other");
		REQUIRE(other && setup_add_event(other, "sched:sched_waking"));
		CHECK(tap_open(&scene.options, &scene.result, &scene.tap, &fail) == -EINVAL);
		CHECK(strstr(fail.text, "the main instance uses the clock local, other uses mono"));
		CHECK(!rmdir(path));
	}
	end(&scene);
}
