// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

struct scene {
	struct fake fake;
	struct setup setup;
	struct rig rig;
};

static const struct {
	const char *file, *text;
} before[] = {
	{ "tracing_on", "1\n" },
	{ "current_tracer", "nop\n" },
	{ "available_tracers", "function nop\n" },
	{ "trace_clock", "[local] global mono\n" },
	{ "buffer_size_kb", "7 (expanded: 1408)\n" },
	{ "buffer_percent", "50\n" },
	{ "trace_options", "print-parent\n" },
	{ "saved_cmdlines_size", "128\n" },
	{ "set_event", "" },
	{ "set_event_pid", "" },
	{ "trace", "" },
	{ "events/enable", "0\n" },
	{ "events/header_page", "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n" },
	{ "events/sched/enable", "0\n" },
	{ "events/sched/sched_switch/enable", "0\n" },
	{ "available_events", "sched:sched_switch\n" },
};

/* Replaces rig_find(), which would find the real tracefs. */
static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .rig = { .nr_targets = 0 } };
	if (!CHECK(fake_new(&scene->fake)))
		return false;
	for (size_t i = 0; i < array_size(before); i++)
		fake_write(&scene->fake, before[i].file, before[i].text);
	return CHECK(setup_add_instance(&scene->setup, NULL) &&
		     !tracing_at(scene->fake.dir, &scene->rig.tracing, NULL) &&
		     !undo_new(&scene->rig.tracing, scene->fake.journals, &scene->rig.undo, NULL));
}

static void end(struct scene *scene)
{
	rig_release(&scene->rig);
	setup_release(&scene->setup);
	fake_free(&scene->fake);
}

static int set_up(struct scene *scene, int (*check)(void *arg, struct fail *fail), struct fail *fail)
{
	const struct rig_options options = {
		.setup = &scene->setup, .manner = SETUP_CHANGE, .stays = true, .check = check, .arg = scene
	};

	return rig_set_up(&scene->rig, &options, fail);
}

static void ask(struct scene *scene)
{
	scene->setup.instances[0].clock = "mono";
	scene->setup.instances[0].size = 4096 << 10;
	scene->setup.cmdlines = 1000;
	CHECK(setup_add_event(&scene->setup.instances[0], "sched:sched_switch"));
}

static void check_set(struct scene *scene)
{
	CHECK(fake_holds(&scene->fake, "trace_clock", "mono\n"));
	CHECK(fake_holds(&scene->fake, "buffer_size_kb", "4096\n"));
	CHECK(fake_holds(&scene->fake, "saved_cmdlines_size", "1000\n"));
}

static void check_restored(struct scene *scene)
{
	CHECK(fake_holds(&scene->fake, "trace_clock", "local\n"));
	CHECK(fake_holds(&scene->fake, "saved_cmdlines_size", "128\n"));
}

TEST(rig_sets_up_what_is_asked_and_restores_it)
{
	struct scene scene;
	struct fail fail = FAIL_INIT;

	if (begin(&scene)) {
		ask(&scene);
		CHECK(!set_up(&scene, NULL, &fail));
		CHECK_STR(fail.text, "");
		CHECK(scene.rig.nr_targets == 1);
		check_set(&scene);
		CHECK(!rig_restore(&scene.rig, NULL));
		check_restored(&scene);
		/* Nothing is left to restore. */
		CHECK(!rig_restore(&scene.rig, NULL));
	}
	end(&scene);
}

TEST(rig_that_is_kept_leaves_everything_and_a_journal)
{
	struct scene scene;

	if (begin(&scene)) {
		ask(&scene);
		CHECK(!set_up(&scene, NULL, NULL));
		CHECK(!rig_keep(&scene.rig, NULL));
		check_set(&scene);
		rig_release(&scene.rig);
		scene.rig = (struct rig){ .nr_targets = 0 };
		check_set(&scene);
	}
	end(&scene);
}

static int refuse(void *arg, struct fail *fail)
{
	(void)arg;
	return fail_set(fail, -EINTR, "ended by a signal");
}

TEST(rig_that_is_told_to_end_after_an_instance_can_restore_it)
{
	struct scene scene;
	struct fail fail = FAIL_INIT;

	if (begin(&scene)) {
		ask(&scene);
		CHECK(set_up(&scene, refuse, &fail) == -EINTR);
		CHECK_STR(fail.text, "ended by a signal");
		CHECK(fake_holds(&scene.fake, "trace_clock", "mono\n"));
		CHECK(!rig_restore(&scene.rig, NULL));
		check_restored(&scene);
	}
	end(&scene);
}

TEST(rig_turns_tracing_on_and_off)
{
	struct scene scene;

	if (begin(&scene)) {
		CHECK(!set_up(&scene, NULL, NULL));
		fake_write(&scene.fake, "tracing_on", "");
		CHECK(!rig_hold(&scene.rig, false, NULL));
		CHECK(!switches_turn(&scene.rig.switches, true, NULL));
		CHECK(!switches_turn(&scene.rig.switches, false, NULL));
		CHECK(!switches_turn(&scene.rig.switches, true, NULL));
		/* The fake tracing_on keeps all bytes that were written to it. */
		CHECK(fake_holds(&scene.fake, "tracing_on", "101"));
		CHECK(!rig_restore(&scene.rig, NULL));
		CHECK(!scene.rig.switches.nr);
	}
	end(&scene);
}

TEST(rig_takes_instances_as_they_are)
{
	const struct setup_instance wanted[] = { { .name = NULL }, { .name = "one" }, { .name = "two" } };
	struct scene scene;
	struct fail fail = FAIL_INIT;

	if (begin(&scene)) {
		char file[FAKE_PATH];

		for (size_t i = 1; i < array_size(wanted); i++)
			for (size_t j = 0; j < array_size(before); j++) {
				snprintf(file, sizeof(file), "instances/%s/%s", wanted[i].name, before[j].file);
				fake_write(&scene.fake, file, before[j].text);
			}
		CHECK(!rig_take(&scene.rig, wanted, array_size(wanted), &fail));
		CHECK_STR(fail.text, "");
		CHECK(scene.rig.nr_targets == 3);
		for (size_t i = 0; i < scene.rig.nr_targets; i++) {
			CHECK(scene.rig.targets[i].index == i);
			CHECK_STR(scene.rig.targets[i].clock, "local");
		}
		CHECK(!rig_restore(&scene.rig, NULL));
		CHECK(fake_holds(&scene.fake, "tracing_on", "1\n"));
		CHECK(fake_holds(&scene.fake, "instances/two/tracing_on", "1\n"));
	}
	end(&scene);
}

TEST(rig_that_takes_no_such_instance_says_which)
{
	const struct setup_instance wanted = { .name = "nosuch" };
	struct scene scene;
	struct fail fail = FAIL_INIT;

	if (begin(&scene)) {
		CHECK(rig_take(&scene.rig, &wanted, 1, &fail) < 0);
		CHECK(strstr(fail.text, "nosuch"));
		CHECK(!rig_restore(&scene.rig, NULL));
	}
	end(&scene);
}
