// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/setup/setup_probes.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/stage.h"
#include "tests/unit/test.h"

struct scene {
	struct loom loom;
	struct trace *played;
	struct stage stage;
	struct setup setup;
	struct setup_instance *wanted;
	struct undo *undo;
	struct instance *instance;
	struct fail fail;
	struct buf told; /* all warnings */
};

static void note(const char *text, void *data)
{
	struct scene *scene = data;

	CHECK(buf_addf(&scene->told, "%s\n", text));
}

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .fail = FAIL_INIT, .told = BUF_INIT };
	loom_init(&scene->loom);
	scene->played = loom_trace(&scene->loom);
	if (!scene->played || !stage_begin(&scene->stage, &scene->loom))
		return false;
	fake_write(&scene->stage.fake, "set_graph_function", "#### all functions enabled ####\n");
	fake_write(&scene->stage.fake, "available_tracers", "blk irqsoff function nop\n");
	scene->setup.warn = note;
	scene->setup.warn_data = scene;
	scene->wanted = setup_add_instance(&scene->setup, NULL);
	return CHECK(scene->wanted &&
		     !undo_new(&scene->stage.fake.tracing, scene->stage.fake.journals, &scene->undo, NULL));
}

static void end(struct scene *scene)
{
	CHECK(!undo_restore(scene->undo, NULL));
	if (scene->instance)
		CHECK(!instance_close(scene->instance, NULL));
	undo_free(scene->undo);
	setup_release(&scene->setup);
	buf_release(&scene->told);
	stage_end(&scene->stage);
	trace_free(scene->played);
	loom_release(&scene->loom);
}

static int open_as(struct scene *scene, enum setup_manner manner)
{
	const struct setup_context context = {
		.tracing = &scene->stage.fake.tracing, .undo = scene->undo, .setup = &scene->setup, .manner = manner
	};

	return setup_open(&context, scene->wanted, &scene->instance, &scene->fail);
}

static bool holds(const struct scene *scene, const char *file, const char *text)
{
	return fake_holds(&scene->stage.fake, file, text);
}

static bool told(struct scene *scene, const char *text)
{
	if (strstr(buf_str(&scene->told), text))
		return true;
	fprintf(stderr, "told: '%s'\n", buf_str(&scene->told));
	return false;
}

TEST(setup_takes_the_top_instance_for_a_tracer_that_no_other_has_and_says_so)
{
	struct scene scene;
	char left[64];

	if (begin(&scene)) {
		scene.wanted->tracer = "blk";
		CHECK(!open_as(&scene, SETUP_PRIVATE));
		CHECK_STR(scene.fail.text, "");
		CHECK(scene.instance && scene.instance->kind == INSTANCE_TOP);
		CHECK(told(&scene, "tracer 'blk' exists only in the top instance: that instance is used"));
		CHECK_STR(stage_left(&scene.stage, "instances", left, sizeof(left)), "");
	}
	end(&scene);
}

TEST(setup_takes_the_top_instance_for_the_lists_of_function_graph_that_no_other_has)
{
	struct scene scene;

	if (begin(&scene)) {
		scene.wanted->tracer = "function";
		CHECK(setup_list_add(&scene.wanted->graph, "vfs_read"));
		CHECK(!open_as(&scene, SETUP_PRIVATE));
		CHECK(scene.instance && scene.instance->kind == INSTANCE_TOP);
		CHECK(told(&scene, "tracer 'function' with -g or --max-graph-depth exists only in the top instance"));
	}
	end(&scene);
}

TEST(setup_takes_the_top_instance_for_a_worst_case_that_a_trigger_ends)
{
	struct setup_event *event;
	struct scene scene;

	if (begin(&scene)) {
		scene.wanted->tracer = "irqsoff";
		event = setup_add_event(scene.wanted, "sched:sched_switch");
		REQUIRE(event && setup_list_add(&event->triggers, "traceoff:1"));
		CHECK(!open_as(&scene, SETUP_PRIVATE));
		CHECK(scene.instance && scene.instance->kind == INSTANCE_TOP);
		CHECK(told(&scene,
			   "tracer 'irqsoff' keeps what it found until a trigger stops it only in the top instance"));
	}
	end(&scene);
}

TEST(setup_takes_an_instance_of_its_own_for_what_every_instance_can)
{
	struct scene scene;

	if (begin(&scene)) {
		scene.wanted->tracer = "function";
		CHECK(!open_as(&scene, SETUP_PRIVATE));
		CHECK(scene.instance && scene.instance->kind == INSTANCE_PRIVATE);
		CHECK(!scene.told.len);
	}
	end(&scene);
}

TEST(setup_empties_the_top_instance_and_says_whose_settings_are_off)
{
	struct scene scene;

	if (begin(&scene)) {
		fake_write(&scene.stage.fake, "tracing_on", "1\n");
		fake_write(&scene.stage.fake, "trace", "what somebody has traced\n");
		fake_write(&scene.stage.fake, "set_event", "sched:sched_switch\n");
		fake_write(&scene.stage.fake, "set_ftrace_pid", "");
		CHECK(!open_as(&scene, SETUP_TOP));
		CHECK(told(&scene, "'set_ftrace_pid' of the top instance held an empty list of tasks, "
				   "so that no task was traced"));
		CHECK(told(&scene,
			   "the top instance had settings that weft did not make: they are off until 'weft reset'"));
		CHECK(holds(&scene, "tracing_on", "0\n") && holds(&scene, "trace", "") &&
		      holds(&scene, "set_event", ""));
		CHECK(!undo_restore(scene.undo, NULL));
		CHECK(holds(&scene, "tracing_on", "1\n") && holds(&scene, "set_event", "sched:sched_switch\n"));
	}
	end(&scene);
}

/* The ways to set hwlat: recording, weft start, and weft set. */
static const enum setup_manner manners[] = { SETUP_PRIVATE, SETUP_TOP, SETUP_CHANGE };

TEST(setup_journals_the_mode_that_hwlat_changes_by_itself)
{
	static const char file[] = "hwlat_detector/mode";

	for (size_t i = 0; i < array_size(manners); i++) {
		struct scene scene;

		if (begin(&scene)) {
			fake_write(&scene.stage.fake, "available_tracers", "hwlat nop\n");
			fake_write(&scene.stage.fake, file, "none [round-robin] per-cpu\n");
			scene.wanted->tracer = "hwlat";
			CHECK(!open_as(&scene, manners[i]));
			/* The thread of hwlat does this. */
			fake_write(&scene.stage.fake, file, "[none] round-robin per-cpu\n");
			CHECK(!undo_restore(scene.undo, NULL));
			CHECK(holds(&scene, file, "round-robin\n"));
		}
		end(&scene);
	}
}

/* Reads the journal that is being written. */
static const char *read_journal(const struct scene *scene, struct buf *text)
{
	char names[512], path[600], *name;

	stage_left(&scene->stage, "journals", names, sizeof(names));
	name = strstr(names, "undo-");
	if (!CHECK(name))
		return "";
	name[strcspn(name, " ")] = '\0';
	snprintf(path, sizeof(path), "%s/%s", scene->stage.fake.journals, name);
	CHECK(!tracing_read_path(path, text, NULL));
	return buf_str(text);
}

TEST(setup_restores_the_mode_of_hwlat_when_its_thread_has_ended)
{
	struct scene scene;

	if (begin(&scene)) {
		cleanup_buf struct buf text = BUF_INIT;
		const char *mode, *instance;

		fake_write(&scene.stage.fake, "available_tracers", "hwlat nop\n");
		fake_write(&scene.stage.fake, "hwlat_detector/mode", "none [round-robin] per-cpu\n");
		scene.wanted->tracer = "hwlat";
		CHECK(!open_as(&scene, SETUP_PRIVATE));
		mode = strstr(read_journal(&scene, &text), "hwlat_detector/mode");
		instance = strstr(buf_str(&text), "\nweft-");
		/* The last entry is restored first: the instance is removed, and its tracer ends. */
		CHECK(mode && instance && mode < instance);
	}
	end(&scene);
}

static bool make_box(struct scene *scene)
{
	char path[FAKE_PATH];

	scene->wanted->name = "box";
	return CHECK(!mkdir(fake_path(&scene->stage.fake, "instances/box", path), 0700));
}

TEST(setup_says_when_a_tracer_waits_for_the_top_instance)
{
	struct scene scene;

	if (begin(&scene) && make_box(&scene)) {
		scene.wanted->tracer = "irqsoff";
		CHECK(!open_as(&scene, SETUP_CHANGE));
		CHECK(scene.instance && scene.instance->kind == INSTANCE_EXISTING);
		CHECK(told(&scene, "tracer 'irqsoff' finds nothing while tracing is off in the top "
				   "instance ('weft restart' turns it on)"));
	}
	end(&scene);
}

TEST(setup_says_that_somebodys_list_of_tasks_lets_nothing_be_traced)
{
	struct scene scene;

	if (begin(&scene) && make_box(&scene)) {
		fake_write(&scene.stage.fake, "instances/box/set_ftrace_pid", "");
		CHECK(!open_as(&scene, SETUP_CHANGE));
		CHECK(told(
			&scene,
			"'set_ftrace_pid' of the instance 'box' holds an empty list of tasks: the functions of no task "
			"are traced; 'weft set -B box -P \"\"' removes the list"));
		CHECK(holds(&scene, "instances/box/set_ftrace_pid", ""));
	}
	end(&scene);
}

TEST(setup_needs_the_instance_that_it_shall_change)
{
	struct scene scene;

	if (begin(&scene)) {
		scene.wanted->name = "nosuch";
		CHECK(open_as(&scene, SETUP_CHANGE) < 0);
		CHECK(strstr(scene.fail.text, "'nosuch'"));
	}
	end(&scene);
}

/* Another weft traces in the top instance until the pipe is closed. */
static pid_t claim_elsewhere(struct scene *scene, int *ret_fd)
{
	int ready[2], go[2];
	char byte;
	pid_t pid;

	if (!CHECK(!pipe(ready) && !pipe(go)))
		return -1;
	pid = fork();
	if (!pid) {
		struct undo *undo = NULL;
		bool ok;

		close(go[1]);
		ok = !undo_new(&scene->stage.fake.tracing, scene->stage.fake.journals, &undo, NULL) &&
		     !undo_claim(undo, "", &(struct claim_manner){ .waits = false }, NULL);
		if (!ok || write(ready[1], "", 1) != 1 || read(go[0], &byte, 1))
			_exit(1);
		_exit(0);
	}
	close(ready[1]);
	close(go[0]);
	CHECK(pid > 0 && read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	*ret_fd = go[1];
	return pid;
}

TEST(setup_does_not_trace_in_the_top_instance_beside_another_weft)
{
	struct scene scene;
	int fd = -1, status;
	pid_t pid;

	if (begin(&scene) && (pid = claim_elsewhere(&scene, &fd)) > 0) {
		CHECK(open_as(&scene, SETUP_TOP) == -EBUSY);
		CHECK(strstr(scene.fail.text,
			     "; --wait waits for the end of that, -B NAME traces in an instance of its own"));
		CHECK(holds(&scene, "tracing_on", "0\n"));
		scene.setup.waits = true;
		scene.setup.wait_ns = 1000000;
		CHECK(open_as(&scene, SETUP_TOP) == -ETIMEDOUT);
		CHECK(told(&scene, ": waiting"));
		close(fd);
		CHECK(waitpid(pid, &status, 0) == pid && !status);
	}
	end(&scene);
}

TEST(setup_makes_probes_and_tells_what_they_missed)
{
	cleanup_buf struct buf lines = BUF_INIT;
	struct setup_probes probes = { .nr = 0 };
	struct setup_event *event;
	struct scene scene;
	uint64_t missed = 0;

	if (begin(&scene)) {
		const struct tracing *tracing = &scene.stage.fake.tracing;

		fake_write(&scene.stage.fake, "dynamic_events", "");
		fake_write(&scene.stage.fake, "kprobe_events", "");
		fake_write(&scene.stage.fake, "kprobe_profile", "  loom                    40               3\n");
		fake_write(&scene.stage.fake, "available_filter_functions", "vfs_read\n");
		event = setup_add_event(scene.wanted, NULL);
		REQUIRE(event != NULL);
		event->probe = "p:weft/loom vfs_read";
		CHECK(!setup_probes_pattern(&probes, event));
		CHECK(!setup_probes_make(tracing, scene.undo, &scene.setup, &probes, &scene.fail));
		CHECK_STR(scene.fail.text, "");
		CHECK(holds(&scene, "dynamic_events", "p:weft/loom vfs_read\n"));
		REQUIRE(setup_probes_pattern(&probes, event));
		CHECK_STR(setup_probes_pattern(&probes, event), "weft:loom");
		CHECK(!setup_probes_missed(tracing, &probes, &lines, &missed, NULL) && missed == 3);
		CHECK_STR(buf_str(&lines), "weft:loom 40 3\n");
		event->probe = "p:weft/loom";
		CHECK(setup_probes_make(tracing, scene.undo, &scene.setup, &probes, &scene.fail) < 0);
		CHECK(strstr(scene.fail.text, "--probe 'p:weft/loom'"));
	}
	setup_probes_release(&probes);
	end(&scene);
}
