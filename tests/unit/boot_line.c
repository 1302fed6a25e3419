// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/boot_line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/setup/setup.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

/* Parameters as Documentation/admin-guide/kernel-parameters.txt of the kernel spells them. */
struct scene {
	struct setup setup;
	struct setup_instance *top;
	struct buf line;
	struct fail fail;
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .line = BUF_INIT, .fail = FAIL_INIT };
	scene->top = setup_add_instance(&scene->setup, NULL);
	return CHECK(scene->top != NULL);
}

static void end(struct scene *scene)
{
	setup_release(&scene->setup);
	buf_release(&scene->line);
}

static int ask(struct scene *scene)
{
	return boot_line(&scene->setup, NULL, &scene->line, &scene->fail);
}

TEST(boot_line_spells_what_the_kernel_takes_at_boot)
{
	struct setup_event *event;
	struct scene scene;

	if (begin(&scene)) {
		scene.top->size = 8 << 20;
		scene.top->clock = "mono";
		scene.top->tracer = "function_graph";
		scene.top->graph_depth = 3;
		scene.top->stacks = scene.top->function_stacks = true;
		CHECK(setup_list_add(&scene.top->options, "sym-offset"));
		CHECK(setup_list_add(&scene.top->functions, "vfs_read") &&
		      setup_list_add(&scene.top->functions, "vfs_w*"));
		CHECK(setup_list_add(&scene.top->notrace, "schedule"));
		CHECK(setup_list_add(&scene.top->graph, "do_idle") &&
		      setup_list_add(&scene.top->graph_notrace, "ktime_get"));
		CHECK(setup_add_file(scene.top, &(struct setup_file){ .file = "tracing_thresh", .number = 100 }));
		event = setup_add_event(scene.top, "sched:sched_switch");
		REQUIRE(event && setup_list_add(&event->triggers, "stacktrace:5 if prev_prio < 100"));
		CHECK(setup_add_event(scene.top, "irq:*,timer/timer_start") != NULL);
		CHECK(!ask(&scene));
		CHECK_STR(scene.fail.text, "");
		CHECK_STR(buf_str(&scene.line),
			  "tracing_thresh=100 trace_buf_size=8192K trace_clock=mono "
			  "trace_options=sym-offset,stacktrace,func_stack_trace ftrace_filter=vfs_read,vfs_w* "
			  "ftrace_notrace=schedule ftrace_graph_filter=do_idle ftrace_graph_notrace=ktime_get "
			  "ftrace_graph_max_depth=3 ftrace=function_graph "
			  "trace_event=sched:sched_switch,irq,timer:timer_start "
			  "trace_trigger=\"sched_switch.stacktrace:5 if prev_prio < 100\"");
	}
	end(&scene);
}

TEST(boot_line_makes_instances_with_their_events)
{
	struct setup_instance *box;
	struct scene scene;

	if (begin(&scene)) {
		scene.top->size = 1000;
		box = setup_add_instance(&scene.setup, "box");
		REQUIRE(box && setup_add_event(box, "sched") && setup_add_event(box, "all"));
		box->size = 1000;
		CHECK(!ask(&scene));
		CHECK_STR(buf_str(&scene.line), "trace_buf_size=1000 trace_instance=box,sched,*:*");
	}
	end(&scene);
}

static bool use_file(struct scene *scene)
{
	return setup_add_file(scene->top, &(struct setup_file){ .file = "hwlat_detector/width", .number = 9 });
}

static bool use_glob(struct scene *scene)
{
	return setup_add_event(scene->top, "sched:sched_*");
}

static bool use_trigger_of_system(struct scene *scene)
{
	struct setup_event *event = setup_add_event(scene->top, "sched");

	return event && setup_list_add(&event->triggers, "traceoff");
}

static bool use_comma_in_trigger(struct scene *scene)
{
	struct setup_event *event = setup_add_event(scene->top, "sched:sched_switch");

	return event && setup_list_add(&event->triggers, "hist:keys=prev_pid,next_pid");
}

static bool use_comma_in_function(struct scene *scene)
{
	return setup_list_add(&scene->top->functions, "a,b");
}

static bool use_strange_name(struct scene *scene)
{
	return setup_add_instance(&scene->setup, "box@0x1000");
}

/* Settings for which the kernel has no parameter, and the words of the message about each. */
static const struct {
	bool (*use)(struct scene *scene);
	const char *said;
} refused[] = {
	{ use_file, "hwlat_detector/width cannot be set" },
	{ use_glob, "'sched:sched_*': the kernel's command line has no globs" },
	{ use_trigger_of_system, "a trigger is for one event: SYSTEM:EVENT, not 'sched'" },
	{ use_comma_in_trigger, "a comma ends a trigger on the kernel's command line" },
	{ use_comma_in_function, "'a,b' cannot be written on the kernel's command line" },
	{ use_strange_name, "'box@0x1000' cannot be written on the kernel's command line" },
};

TEST(boot_line_refuses_what_the_kernel_has_no_parameter_for)
{
	for (size_t i = 0; i < array_size(refused); i++) {
		struct scene scene;

		if (begin(&scene) && CHECK(refused[i].use(&scene))) {
			CHECK(ask(&scene) == -EOPNOTSUPP);
			if (!CHECK(strstr(scene.fail.text, refused[i].said)))
				fprintf(stderr, "said: %s\n", scene.fail.text);
		}
		end(&scene);
	}
}

TEST(boot_line_makes_kprobes_and_no_other_probes)
{
	static const struct {
		const char *definition, *line;
	} probes[] = {
		{ "p:weft/opened vfs_open", "kprobe_event=p:weft/opened,vfs_open" },
		{ "r:weft/back vfs_open ret=$retval", "kprobe_event=r:weft/back,vfs_open,ret=$retval" },
		{ "f:weft/quick vfs_open", NULL },
	};
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "dynamic_events", "");
	fake_write(&fake, "kprobe_events", "");
	for (size_t i = 0; i < array_size(probes); i++) {
		struct setup_event *event;
		struct scene scene;

		if (begin(&scene) && CHECK(event = setup_add_event(scene.top, "weft:x"))) {
			event->probe = probes[i].definition;
			CHECK(boot_line(&scene.setup, &fake.tracing, &scene.line, &scene.fail) ==
			      (probes[i].line ? 0 : -EOPNOTSUPP));
			CHECK_STR(buf_str(&scene.line), probes[i].line ? probes[i].line : "");
			CHECK(probes[i].line || strstr(scene.fail.text, "takes probes in the kernel's functions only"));
			if (probes[i].line)
				CHECK_STR(scene.fail.text, "");
		}
		end(&scene);
	}
	fake_free(&fake);
}

static const struct {
	const char *release, *version;
	bool hangs;
} kernels[] = {
	{ "7.2.13+deb14-rt-amd64", "#1 SMP PREEMPT_RT Debian 7.2.13-1 (2026-10-28)", true },
	{ "7.0.0", "#1 SMP PREEMPT_RT", true },
	{ "7.3-rc1", "#1 SMP PREEMPT_RT", true },
	{ "7.2.13+deb14-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 7.2.13-1 (2026-10-28)", false },
	{ "6.19.1-rt-amd64", "#1 SMP PREEMPT_RT", false },
	{ "7.4.0", "#1 SMP PREEMPT_RT", false },
	{ "7.20.0", "#1 SMP PREEMPT_RT", false },
	{ "7.", "PREEMPT_RT", false },
};

TEST(boot_line_hangs_with_events_that_nothing_keeps_on)
{
	for (size_t i = 0; i < array_size(kernels); i++) {
		const char *release = kernels[i].release, *version = kernels[i].version;
		struct setup_event *event;
		struct scene scene;

		if (begin(&scene)) {
			scene.top->tracer = "function";
			CHECK(!boot_line_hangs(&scene.setup, release, version));
			event = setup_add_event(scene.top, "sched:sched_switch");
			REQUIRE(event);
			CHECK(boot_line_hangs(&scene.setup, release, version) == kernels[i].hangs);
			CHECK(setup_list_add(&event->triggers, "traceoff"));
			CHECK(!boot_line_hangs(&scene.setup, release, version));
			CHECK(setup_add_event(setup_add_instance(&scene.setup, "foo"), "irq") != NULL);
			CHECK(!boot_line_hangs(&scene.setup, release, version));
		}
		end(&scene);
	}
}
