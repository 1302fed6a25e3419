// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/setup_scene.h"
#include "tests/unit/starve.h"
#include "tests/unit/test.h"

/* A kernel with the function tracers. */
static const struct setup_text before[] = {
	{ "tracing_on", "0\n" },
	{ "current_tracer", "nop\n" },
	{ "available_tracers", "wakeup function_graph function nop\n" },
	{ "available_filter_functions", "vfs_read\nvfs_write\nksys_read\nloom_open [loom]\n" },
	{ "available_events", "sched:sched_switch\n" },
	{ "set_ftrace_filter", "#### all functions enabled ####\n" },
	{ "set_ftrace_notrace", "#### no functions disabled ####\n" },
	{ "set_graph_function", "#### all functions enabled ####\n" },
	{ "set_graph_notrace", "#### no functions disabled ####\n" },
	{ "max_graph_depth", "0\n" },
	{ "tracing_max_latency", "77\n" },
	{ "tracing_cpumask", "f\n" },
	{ "trace_clock", "[local] global mono\n" },
	{ "trace_options", "print-parent\nnosym-offset\nnofunc_stack_trace\nnofuncgraph-proc\n" },
	{ "options/sym-offset", "0\n" },
	{ "options/func_stack_trace", "0\n" },
	{ "options/funcgraph-proc", "0\n" },
	{ "buffer_size_kb", "1408\n" },
	{ "per_cpu/cpu0/buffer_size_kb", "1408\n" },
	{ "per_cpu/cpu1/buffer_size_kb", "1408\n" },
	{ "set_event", "" },
	{ "set_event_pid", "" },
	{ "events/enable", "0\n" },
	{ "events/header_page", "" },
	{ "events/sched/sched_switch/enable", "0\n" },
};

static bool begin(struct setup_scene *scene)
{
	return setup_scene_begin(scene, before, array_size(before));
}

TEST(setup_chooses_a_tracer_and_its_functions)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		scene.wanted->tracer = "function";
		CHECK(setup_list_add(&scene.wanted->functions, "vfs_read"));
		CHECK(setup_list_add(&scene.wanted->functions, "ksys_*"));
		CHECK(setup_list_add(&scene.wanted->notrace, "vfs_write"));
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(fail.text, "");
		CHECK(setup_scene_holds(&scene, "current_tracer", "function\n"));
		CHECK(setup_scene_holds(&scene, "set_ftrace_filter", "vfs_read\nksys_*\n"));
		CHECK(setup_scene_holds(&scene, "set_ftrace_notrace", "vfs_write\n"));
		CHECK(!undo_restore(scene.undo, NULL));
		CHECK(setup_scene_holds(&scene, "current_tracer", "nop\n"));
		CHECK(!fake_holds(&scene.fake, "set_ftrace_filter", "vfs_read\nksys_*\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_bounds_the_function_graph)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		scene.wanted->tracer = "function_graph";
		scene.wanted->graph_depth = 3;
		CHECK(setup_list_add(&scene.wanted->graph, "vfs_read"));
		CHECK(setup_list_add(&scene.wanted->options, "funcgraph-proc"));
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(fail.text, "");
		CHECK(setup_scene_holds(&scene, "current_tracer", "function_graph\n"));
		CHECK(setup_scene_holds(&scene, "max_graph_depth", "3\n"));
		CHECK(setup_scene_holds(&scene, "set_graph_function", "vfs_read\n"));
		CHECK(setup_scene_holds(&scene, "options/funcgraph-proc", "1\n"));
		CHECK(!undo_restore(scene.undo, NULL));
		CHECK(setup_scene_holds(&scene, "max_graph_depth", "0\n"));
		CHECK(setup_scene_holds(&scene, "options/funcgraph-proc", "0\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_says_that_a_choice_of_functions_needs_a_tracer)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		scene.begins = true;
		CHECK(setup_list_add(&scene.wanted->graph, "vfs_read"));
		CHECK(setup_scene_apply(&scene, &fail) == -EINVAL);
		CHECK_STR(fail.text, "-g is for the tracer function_graph alone, and no tracer is chosen: "
				     "add -p function_graph");
		CHECK(!setup_scene_holds(&scene, "set_graph_function", "vfs_read\n"));
	}
	setup_scene_end(&scene);
	if (begin(&scene)) {
		scene.begins = true;
		CHECK(setup_list_add(&scene.wanted->functions, "vfs_read"));
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(scene.told, "-l chooses among the functions of a tracer, and no tracer is chosen: "
				      "add -p function");
		CHECK(!undo_restore(scene.undo, NULL));
	}
	setup_scene_end(&scene);
	/* A change leaves the tracer as it is, which may follow. */
	if (begin(&scene)) {
		CHECK(setup_list_add(&scene.wanted->graph, "vfs_read"));
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(scene.told, "");
		CHECK(!undo_restore(scene.undo, NULL));
	}
	setup_scene_end(&scene);
}

TEST(setup_sizes_each_cpu_and_chooses_cpus)
{
	struct cpus one = { .bits = { 0 } };
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		CHECK(cpus_add(&one, 1) && setup_add_cpu_size(scene.wanted, &one, 4096 << 10));
		scene.wanted->has_cpus = true;
		scene.wanted->cpus = one;
		CHECK(!setup_scene_apply(&scene, &fail));
		CHECK_STR(fail.text, "");
		CHECK(setup_scene_holds(&scene, "per_cpu/cpu0/buffer_size_kb", "1408\n"));
		CHECK(setup_scene_holds(&scene, "per_cpu/cpu1/buffer_size_kb", "4096\n"));
		CHECK(setup_scene_holds(&scene, "tracing_cpumask", "2\n"));
		CHECK(!undo_restore(scene.undo, NULL));
		CHECK(setup_scene_holds(&scene, "per_cpu/cpu1/buffer_size_kb", "1408\n"));
		CHECK(setup_scene_holds(&scene, "tracing_cpumask", "f\n"));
	}
	setup_scene_end(&scene);
}

TEST(setup_names_tracers_and_functions_that_would_do)
{
	struct fail fail = FAIL_INIT;
	struct setup_scene scene;

	if (begin(&scene)) {
		scene.wanted->tracer = "funktion";
		CHECK(setup_scene_apply(&scene, &fail) < 0);
		CHECK(strstr(fail.text, "funktion") && strstr(fail.text, "function"));
		CHECK(setup_scene_holds(&scene, "current_tracer", "nop\n"));
	}
	setup_scene_end(&scene);
}

/* The setup of all tests above together; each allocation fails in turn, and undo restores the settings. */
TEST(setup_tells_each_lack_of_memory_and_undo_puts_everything_back)
{
	for (uint64_t at = 1, nr = at; at <= nr; at++) {
		struct fail fail = FAIL_INIT;
		struct setup_scene scene;
		int err;

		if (begin(&scene)) {
			scene.wanted->tracer = "function_graph";
			scene.wanted->clock = "mono";
			CHECK(setup_list_add(&scene.wanted->functions, "vfs_read") &&
			      setup_list_add(&scene.wanted->graph, "vfs_read"));
			CHECK(setup_list_add(&scene.wanted->options, "sym-offset"));
			CHECK(setup_add_event(scene.wanted, "sched:sched_switch") && setup_add_pid(&scene.setup, 7));
			starve_begin(at);
			err = setup_scene_apply(&scene, &fail);
			nr = starve_end();
			CHECK(!err == !*fail.text);
			CHECK(err || setup_scene_holds(&scene, "current_tracer", "function_graph\n"));
			CHECK(err || setup_scene_holds(&scene, "trace_clock", "mono\n"));
			CHECK(!undo_restore(scene.undo, NULL));
			CHECK(!fake_holds(&scene.fake, "current_tracer", "function_graph\n") &&
			      !fake_holds(&scene.fake, "trace_clock", "mono\n"));
			CHECK(!fake_holds(&scene.fake, "options/sym-offset", "1\n"));
			CHECK(!fake_holds(&scene.fake, "events/sched/sched_switch/enable", "1\n"));
		}
		setup_scene_end(&scene);
	}
}
