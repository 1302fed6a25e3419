// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/kernel/columns.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"

struct scene {
	struct context context;
	struct columns columns;
	struct out out;
	char text[256];
};

static bool scene_init(struct scene *scene, unsigned major, unsigned minor, uint64_t options)
{
	static const char names[] = "7 sh\n8 fifteen-letters\n";

	*scene = (struct scene){ .context = { .abi = { .long_size = 8 },
					      .release_major = major,
					      .release_minor = minor,
					      .trace_flags = options } };
	if (schema_new(&scene->context.abi, &scene->context.schema, NULL) ||
	    tasks_new(names, sizeof(names) - 1, "7 7\n", 4, &scene->context.tasks, NULL) || !out_init(&scene->out, 0))
		return false;
	columns_init(&scene->columns, &scene->context, false, NULL);
	return true;
}

static void scene_release(struct scene *scene)
{
	out_release(&scene->out);
	tasks_free(scene->context.tasks);
	schema_free(scene->context.schema);
}

static const char *written(struct scene *scene, const struct event *event)
{
	size_t len;

	out_clear(&scene->out);
	columns_write(&scene->columns, event, &scene->out);
	len = out_len(&scene->out);
	memcpy(scene->text, scene->out.start, len);
	scene->text[len] = '\0';
	return scene->text;
}

enum { USUAL = 1 << OPTION_CONTEXT_INFO | 1 << OPTION_IRQ_INFO };

TEST(columns_round_a_time_to_the_next_microsecond_from_its_half_on)
{
	struct scene scene;
	struct event event = { .pid = 7, .cpu = 1, .ts = 1999999499 };

	REQUIRE(scene_init(&scene, 6, 12, USUAL));
	CHECK_STR(written(&scene, &event), "              sh-7       [001] .....     1.999999: ");
	event.ts = 1999999500;
	CHECK_STR(written(&scene, &event), "              sh-7       [001] .....     2.000000: ");
	scene_release(&scene);
}

TEST(columns_show_all_flags_and_both_halves_of_the_preempt_count)
{
	struct scene scene;
	struct event event = { .pid = 8,
			       .cpu = 12,
			       .flags = EVENT_IRQS_OFF | EVENT_BH_OFF | EVENT_NEED_RESCHED | EVENT_PREEMPT_RESCHED |
					EVENT_HARDIRQ | EVENT_NMI,
			       .preempt_count = 0x2f };

	REQUIRE(scene_init(&scene, 6, 12, USUAL));
	CHECK_STR(written(&scene, &event), " fifteen-letters-8       [012] DNZf2     0.000000: ");
	scene_release(&scene);
}

TEST(columns_follow_the_kernel_that_wrote_the_file)
{
	struct scene scene;
	struct event event = { .pid = 0, .flags = EVENT_BH_OFF | EVENT_NEED_RESCHED_LAZY, .preempt_count = 0x11 };

	REQUIRE(scene_init(&scene, 5, 4, USUAL));
	/* Before 5.15 the whole count is one depth, "%x". */
	CHECK_STR(written(&scene, &event), "          <idle>-0     [000] X..11     0.000000: ");
	scene_release(&scene);
	REQUIRE(scene_init(&scene, 6, 13, USUAL));
	CHECK_STR(written(&scene, &event), "          <idle>-0       [000] bl.11     0.000000: ");
	scene_release(&scene);
}

/*
 * trace_print_lat_fmt() as the PREEMPT_RT patch of 5.10 has it: 0x80 prints 'L', and migrate_disable() has a column of
 * its own.
 */
TEST(columns_of_5_10_rt_have_a_bit_and_a_count_of_their_own)
{
	static const char format[] = "name: thing\nID: 9\nformat:\n"
				     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				     "\tfield:unsigned char common_migrate_disable;\toffset:8;\tsize:1;\tsigned:0;\n"
				     "\tfield:unsigned char common_preempt_lazy_count;\toffset:9;\tsize:1;\tsigned:0;\n"
				     "\nprint fmt: \"\"\n";
	static const uint8_t record[10] = { [8] = 2, [9] = 3 };
	struct event event = { .pid = 7, .data = record, .len = sizeof(record), .flags = 0x80 | EVENT_PREEMPT_RESCHED };
	struct scene scene;

	REQUIRE(scene_init(&scene, 5, 10, USUAL));
	REQUIRE(!schema_add(scene.context.schema, "t", 1, format, sizeof(format) - 1, NULL));
	columns_init(&scene.columns, &scene.context, false, NULL);
	CHECK_STR(written(&scene, &event), "              sh-7       [000] .pL..32     0.000000: ");
	scene_release(&scene);
}

TEST(columns_show_the_thread_group_or_that_it_is_unknown)
{
	struct scene scene;
	struct event event = { .pid = 7 };

	REQUIRE(scene_init(&scene, 6, 12, 1 << OPTION_CONTEXT_INFO | 1 << OPTION_RECORD_TGID));
	CHECK_STR(written(&scene, &event), "              sh-7       (      7) [000]      0.000000: ");
	event.pid = 9;
	CHECK_STR(written(&scene, &event), "           <...>-9       (-------) [000]      0.000000: ");
	scene_release(&scene);
}

TEST(columns_print_seconds_of_every_length_right_aligned)
{
	struct scene scene;
	struct event event = { .pid = 7, .cpu = 999 };
	char want[128];

	REQUIRE(scene_init(&scene, 6, 12, USUAL));
	for (uint64_t power = 1; power <= UINT64_C(10000000000); power *= 10) {
		for (uint64_t seconds = power - 1; seconds <= power + 1; seconds++) {
			event.ts = seconds * 1000000000 + power % 1000000 * 1000;
			snprintf(want, sizeof(want),
				 "              sh-7       [999] ..... %5" PRIu64 ".%06" PRIu64 ": ", seconds,
				 power % 1000000);
			CHECK_STR(written(&scene, &event), want);
		}
	}
	scene_release(&scene);
}

TEST(columns_print_counts_of_a_clock_without_nanoseconds_as_they_are)
{
	struct scene scene;
	struct event event = { .pid = 7, .ts = 123456789 };

	REQUIRE(scene_init(&scene, 6, 12, USUAL));
	scene.context.unit = CLOCK_UNIT_COUNT;
	columns_init(&scene.columns, &scene.context, false, NULL);
	CHECK_STR(written(&scene, &event), "              sh-7       [000] .....    123456789: ");
	scene_release(&scene);
}
