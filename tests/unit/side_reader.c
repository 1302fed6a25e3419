// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/live/side_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/rig.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/stage.h"
#include "tests/unit/test.h"

struct scene {
	struct loom loom;
	struct trace *played;
	struct stage stage;
	struct rig rig;
	struct instance *instance;
	struct side_reader *side;
	struct buf heard;
};

static void hear(void *arg, const struct event *event)
{
	struct buf *heard = arg;

	if (event->kind == EVENT_LOST)
		CHECK(buf_addf(heard, "lost "));
	else
		CHECK(buf_addf(heard, "%" PRIu64 "@%u ", event->ts, event->cpu));
}

static bool begin(struct scene *scene, const char *script)
{
	struct fail fail = FAIL_INIT;
	char file[FAKE_PATH];

	*scene = (struct scene){ .heard = BUF_INIT };
	loom_init(&scene->loom);
	loom_task(&scene->loom, 7, "sh");
	loom_play(&scene->loom, script);
	scene->played = loom_trace(&scene->loom);
	if (!scene->played || !stage_begin(&scene->stage, &scene->loom) ||
	    !CHECK(!rig_find(&scene->rig, NULL, &fail) &&
		   !catalog_new(&scene->rig.tracing, &scene->rig.catalog, &fail) &&
		   !instance_new_private(&scene->rig.tracing, scene->rig.undo, &scene->instance, &fail)))
		return false;
	snprintf(file, sizeof(file), "instances/%s/set_event", scene->instance->name);
	fake_write(&scene->stage.fake, file, "sched:sched_switch\nsched:sched_waking\n");
	CHECK(!side_reader_new(&scene->rig, scene->instance, false, &scene->side, &fail));
	CHECK_STR(fail.text, "");
	return scene->side;
}

static uint64_t listen(struct scene *scene)
{
	uint64_t lost = 0;

	CHECK(!side_reader_listen(scene->side, &(struct reader_consumer){ hear, &scene->heard }, &lost, NULL));
	return lost;
}

static void end(struct scene *scene)
{
	char left[512];

	side_reader_free(scene->side);
	CHECK(!rig_restore(&scene->rig, NULL));
	CHECK(!instance_close(scene->instance, NULL));
	CHECK_STR(stage_left(&scene->stage, "instances", left, sizeof(left)), "");
	CHECK_STR(stage_left(&scene->stage, "journals", left, sizeof(left)), "");
	rig_release(&scene->rig);
	stage_end(&scene->stage);
	trace_free(scene->played);
	loom_release(&scene->loom);
	buf_release(&scene->heard);
}

TEST(ear_hears_events_of_all_cpus_in_order_two_rounds_later)
{
	struct scene scene;

	if (begin(&scene,
		  "0 1000000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
		  "1 1001000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=ls next_pid=8\n"
		  "0 1002000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
		  "1 1003000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=ls next_pid=8\n")) {
		CHECK(!listen(&scene));
		/* On a CPU that is found empty there may still be a record that is older than this round. */
		CHECK_STR(buf_str(&scene.heard), "1000000@0 1001000@1 ");
		CHECK(!listen(&scene) && !listen(&scene));
		CHECK_STR(buf_str(&scene.heard), "1000000@0 1001000@1 1002000@0 1003000@1 ");
	}
	end(&scene);
}

TEST(ear_counts_what_was_lost_and_says_where)
{
	struct scene scene;

	if (begin(&scene, "0 1000000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
			  "0 lost 5\n"
			  "0 1002000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n")) {
		CHECK(listen(&scene) + listen(&scene) + listen(&scene) == 5);
		CHECK_STR(buf_str(&scene.heard), "1000000@0 lost 1002000@0 ");
	}
	end(&scene);
}

static void learn(void *arg, const struct event *event)
{
	struct scene *scene = arg;
	const struct context *context = side_reader_reader(scene->side)->buffers[0].context;

	(void)event;
	CHECK(side_reader_learn_names(scene->side));
	CHECK_STR(task_name(context->tasks, 8).text, "ls");
}

TEST(ear_learns_the_names_that_tasks_have_now)
{
	uint64_t lost = 0;
	struct scene scene;

	if (begin(&scene, "0 1000000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
			  "0 1001000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n")) {
		CHECK_STR(task_name(side_reader_reader(scene.side)->buffers[0].context->tasks, 8).text, "<...>");
		fake_write(&scene.stage.fake, "saved_cmdlines", "7 sh\n8 ls\n");
		for (unsigned i = 0; i < 3; i++)
			CHECK(!side_reader_listen(scene.side, &(struct reader_consumer){ learn, &scene }, &lost, NULL));
	}
	end(&scene);
}
