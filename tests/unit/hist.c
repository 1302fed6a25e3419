// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/measure/hist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/measure/hist_text.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

/* Triggers in the words of Documentation/trace/histogram.rst of the kernel. */
struct scene {
	struct fake fake;
	struct undo *undo;
	struct instance top;
	struct hist hist;
	struct fail fail;
};

static const char common[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

static const struct {
	const char *name, *fields;
} events[] = {
	{ "sched_waking",
	  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n" },
	{ "sched_switch", "\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
			  "\tfield:char next_comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
			  "\tfield:pid_t next_pid;\toffset:28;\tsize:4;\tsigned:1;\n"
			  "\tfield:enum odd next_odd;\toffset:32;\tsize:4;\tsigned:0;\n" },
};

static bool begin(struct scene *scene)
{
	char file[FAKE_PATH], format[1024];

	*scene = (struct scene){ .fail = FAIL_INIT };
	if (!CHECK(fake_new(&scene->fake)))
		return false;
	scene->top = scene->fake.top;
	scene->top.kind = INSTANCE_EXISTING;
	for (size_t i = 0; i < array_size(events); i++) {
		snprintf(format, sizeof(format), "name: %s\nID: %zu\nformat:\n%s%s\nprint fmt: \"\"\n", events[i].name,
			 300 + i, common, events[i].fields);
		snprintf(file, sizeof(file), "events/sched/%s/format", events[i].name);
		fake_write(&scene->fake, file, format);
		snprintf(file, sizeof(file), "events/sched/%s/trigger", events[i].name);
		fake_write(&scene->fake, file, "");
		snprintf(file, sizeof(file), "events/sched/%s/hist", events[i].name);
		fake_write(&scene->fake, file, "");
	}
	fake_write(&scene->fake, "available_events", "sched:sched_waking\nsched:sched_switch\n");
	fake_write(&scene->fake, "trace_clock", "[local] global\n");
	return CHECK(!undo_new(&scene->fake.tracing, scene->fake.journals, &scene->undo, NULL));
}

static void end(struct scene *scene)
{
	undo_free(scene->undo);
	fake_free(&scene->fake);
}

static int set(struct scene *scene, const struct hist_wanted *wanted)
{
	return hist_set(&scene->top, &scene->top, scene->undo, wanted, &scene->hist, &scene->fail);
}

TEST(hist_sets_the_trigger_that_was_asked_for)
{
	static const struct {
		struct hist_wanted wanted;
		const char *trigger;
	} table[] = {
		{ { .event = "sched:sched_waking", .keys = "comm" }, "hist:keys=comm:sort=hitcount.descending\n" },
		{ { .event = "sched:sched_waking", .keys = "execname, prio", .values = "pid", .size = 64 },
		  "hist:keys=common_pid.execname,prio:vals=pid:sort=hitcount.descending:size=64\n" },
		/* Keys in steps (buckets, log2) are sorted by the key: people read steps in their order. */
		{ { .event = "sched:sched_waking", .keys = "comm,prio.buckets=10" },
		  "hist:keys=comm,prio.buckets=10:sort=comm,prio\n" },
		{ { .event = "sched:sched_waking", .keys = "prio.log2" }, "hist:keys=prio.log2:sort=prio\n" },
		{ { .event = "sched_waking", .keys = "stacktrace", .sort = "hitcount", .filter = "prio < 100" },
		  "hist:keys=stacktrace:sort=hitcount if prio < 100\n" },
	};

	for (size_t i = 0; i < array_size(table); i++) {
		struct scene scene;

		if (begin(&scene)) {
			CHECK(!set(&scene, &table[i].wanted));
			CHECK_STR(scene.fail.text, "");
			CHECK_STR(scene.hist.system, "sched");
			CHECK_STR(scene.hist.event, "sched_waking");
			if (!CHECK(fake_holds(&scene.fake, "events/sched/sched_waking/trigger", table[i].trigger)))
				fprintf(stderr, "want %s", table[i].trigger);
		}
		end(&scene);
	}
}

TEST(hist_of_stacks_has_the_name_that_this_kernel_knows)
{
	struct scene scene;

	if (begin(&scene)) {
		fake_write(&scene.fake, "README", "\t    common_stacktrace  the stack\n");
		CHECK(!set(&scene, &(struct hist_wanted){ .event = "sched_waking", .keys = "stacktrace" }));
		CHECK(fake_holds(&scene.fake, "events/sched/sched_waking/trigger",
				 "hist:keys=common_stacktrace:sort=hitcount.descending\n"));
	}
	end(&scene);
}

/* The time between the two events goes through a synthetic event whose name contains this process's number. */
TEST(hist_of_the_time_between_two_events_goes_through_a_synthetic_event)
{
	struct scene scene;
	char want[1024];
	int pid = (int)getpid();

	if (begin(&scene)) {
		fake_write(&scene.fake, "synthetic_events", "");
		fake_write(&scene.fake, "dynamic_events", "");
		/* The kernel would make an event from this definition; then the histogram of that event is set. */
		CHECK(set(&scene, &(struct hist_wanted){ .event = "sched_waking",
							 .second = "sched_switch",
							 .match = "pid",
							 .keys = "next_comm,next_odd,lat.buckets=10" }) == -ENOENT);
		snprintf(want, sizeof(want), "events/synthetic/weft_latency_%d/hist", pid);
		CHECK(strstr(scene.fail.text, want));
		snprintf(want, sizeof(want), "s:synthetic/weft_latency_%d u64 lat; char next_comm[16]; u32 next_odd\n",
			 pid);
		CHECK(fake_holds(&scene.fake, "dynamic_events", want));
		snprintf(want, sizeof(want), "hist:keys=pid:weft_%d_ts=common_timestamp.usecs\n", pid);
		CHECK(fake_holds(&scene.fake, "events/sched/sched_waking/trigger", want));
		snprintf(want, sizeof(want),
			 "hist:keys=next_pid:weft_%d_lat=common_timestamp.usecs-$weft_%d_ts:"
			 "onmatch(sched.sched_waking).weft_latency_%d($weft_%d_lat,next_comm,next_odd)\n",
			 pid, pid, pid, pid);
		CHECK(fake_holds(&scene.fake, "events/sched/sched_switch/trigger", want));
	}
	end(&scene);
}

TEST(hist_pairs_two_events_by_several_fields)
{
	struct scene scene;
	char want[256];

	if (begin(&scene)) {
		fake_write(&scene.fake, "synthetic_events", "");
		fake_write(&scene.fake, "dynamic_events", "");
		CHECK(set(&scene, &(struct hist_wanted){ .event = "sched_waking",
							 .second = "sched_switch",
							 .match = "common_cpu,pid=next_pid",
							 .keys = "next_comm,lat" }) == -ENOENT);
		snprintf(want, sizeof(want), "hist:keys=common_cpu,pid:weft_%d_ts=common_timestamp.usecs\n",
			 (int)getpid());
		CHECK(fake_holds(&scene.fake, "events/sched/sched_waking/trigger", want));
		snprintf(want, sizeof(want),
			 "hist:keys=common_cpu,next_pid:weft_%1$d_lat=common_timestamp.usecs-$weft_%1$d_ts:"
			 "onmatch(sched.sched_waking).weft_latency_%1$d($weft_%1$d_lat,next_comm)\n",
			 (int)getpid());
		CHECK(fake_holds(&scene.fake, "events/sched/sched_switch/trigger", want));
	}
	end(&scene);
}

TEST(hist_says_what_it_cannot_do_and_sets_nothing)
{
	static const struct {
		struct hist_wanted wanted;
		const char *said;
	} table[] = {
		{ { .event = "sched:*", .keys = "comm" },
		  "'sched:*' matches 2 events, but a histogram counts only one event" },
		{ { .event = "sched:sched_wakin", .keys = "comm" }, "sched_wakin" },
		{ { .event = "sched_waking", .second = "sched_switch", .match = "pid" }, "CONFIG_SYNTH_EVENTS" },
	};
	static const struct {
		struct hist_wanted wanted;
		const char *said;
	} with_synthetic[] = {
		{ { .event = "sched_waking", .second = "sched_switch", .match = "tid" },
		  "'sched:sched_waking' has no field 'tid'" },
		{ { .event = "sched_waking", .second = "sched_switch", .match = "pid=" },
		  "is not the name of a field" },
		{ { .event = "sched_waking", .second = "sched_switch", .match = "pid", .keys = "nosuch" },
		  "'sched:sched_switch' has no field 'nosuch'" },
	};

	for (size_t i = 0; i < array_size(table) + array_size(with_synthetic); i++) {
		bool synthetic = i >= array_size(table);
		const char *said = synthetic ? with_synthetic[i - array_size(table)].said : table[i].said;
		struct scene scene;

		if (begin(&scene)) {
			if (synthetic)
				fake_write(&scene.fake, "synthetic_events", "");
			CHECK(set(&scene,
				  synthetic ? &with_synthetic[i - array_size(table)].wanted : &table[i].wanted) < 0);
			if (!CHECK(strstr(scene.fail.text, said)))
				fprintf(stderr, "said: %s\n", scene.fail.text);
			CHECK(fake_holds(&scene.fake, "events/sched/sched_waking/trigger", ""));
		}
		end(&scene);
	}
}

TEST(hist_of_a_kernel_without_histograms_says_so)
{
	char path[FAKE_PATH];
	struct scene scene;

	if (begin(&scene)) {
		CHECK(!unlink(fake_path(&scene.fake, "events/sched/sched_waking/hist", path)));
		CHECK(set(&scene, &(struct hist_wanted){ .event = "sched_waking", .keys = "comm" }) == -EOPNOTSUPP);
		CHECK(strstr(scene.fail.text, "CONFIG_HIST_TRIGGERS"));
	}
	end(&scene);
}

static const char two_texts[] =
	"# event histogram\n#\n# trigger info: hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n"
	"{ pid:          7 } hitcount:          3\n\nTotals:\n    Hits: 3\n    Entries: 1\n    Dropped: 0\n\n\n"
	"# event histogram\n#\n# trigger info: hist:keys=prio:vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n"
	"{ prio:        120 } hitcount:          5\n\nTotals:\n    Hits: 5\n    Entries: 1\n    Dropped: 0\n\n\n";

TEST(hist_finds_its_own_among_those_of_others)
{
	struct hist hist = { .system = "sched",
			     .event = "sched_waking",
			     .trigger = "hist:keys=prio:vals=hitcount:sort=hitcount:size=2048 " };
	struct hist_text text;
	struct fail fail = FAIL_INIT;

	CHECK(!hist_find(&hist, two_texts, &text, &fail));
	CHECK_STR(fail.text, "");
	CHECK(text.trigger.len > 16 && !memcmp(text.trigger.at, "hist:keys=prio:", 15));
	hist_text_release(&text);
	snprintf(hist.trigger, sizeof(hist.trigger), "hist:keys=comm:vals=hitcount ");
	CHECK(hist_find(&hist, two_texts, &text, &fail) == -EBADMSG);
	CHECK(strstr(fail.text, "another process removed it"));
}
