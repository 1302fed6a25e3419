// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/withheld.h"

#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

struct scene {
	struct loom loom;
	struct trace *trace;
	struct context *context;
	struct withheld *withheld;
};

/* `+` in front of a line: it is of the buffer weft/quota. */
static bool begin(struct scene *scene, const char *at_start, const char *at_end, const char *script)
{
	struct loom *loom = &scene->loom;

	*scene = (struct scene){ .trace = NULL };
	loom_init(loom);
	if (script)
		loom->other = "weft/quota";
	loom_type(loom, "weft", "tg_throttle_down", "u64 id; u32 cpu", "\"\"");
	loom_type(loom, "weft", "tg_unthrottle_up", "u64 id; u32 cpu", "\"\"");
	if (at_start)
		loom_setting(loom, "weft/withheld", at_start);
	if (at_end)
		loom_setting(loom, "weft/withheld_end", at_end);
	loom_play(loom, script ? script : "0 1 1 irq_handler_exit irq=1\n");
	scene->trace = loom_trace(loom);
	if (!CHECK(scene->trace && !context_new(scene->trace, 0, &scene->context, NULL)))
		return false;
	scene->withheld = withheld_new(scene->context);
	return CHECK(scene->withheld);
}

static void end(struct scene *scene)
{
	withheld_free(scene->withheld);
	context_free(scene->context);
	trace_free(scene->trace);
	loom_release(&scene->loom);
}

struct asked {
	uint64_t group;
	uint32_t cpu;
	uint64_t ts;
	bool stops;
	uint64_t until;
};

static void ask(const struct scene *scene, const struct asked *asked, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t until = 7;

		CHECK(withheld_stops(scene->withheld, asked[i].group, asked[i].cpu, asked[i].ts, &until) ==
		      asked[i].stops);
		CHECK(until == asked[i].until);
	}
}

#define NEVER UINT64_MAX

/* The kernel calls tg_throttle_down() for a group once for each group above it that is stopped, too. */
TEST(withheld_knows_when_a_group_was_stopped_on_a_cpu)
{
	static const struct asked asked[] = {
		{ 5, 1, 99, false, 100 },    { 5, 1, 100, true, 200 },    { 5, 1, 199, true, 200 },
		{ 5, 1, 200, false, 400 },   { 5, 1, 400, true, 700 },    { 5, 1, 699, true, 700 },
		{ 5, 1, 700, false, NEVER }, { 5, 2, 150, false, 160 },   { 5, 2, 160, true, NEVER },
		{ 5, 2, 9999, true, NEVER }, { 5, 0, 150, false, NEVER }, { 6, 1, 150, false, NEVER },
		{ 0, 1, 150, false, NEVER }, { 8, 3, 0, true, 170 },      { 8, 3, 170, false, NEVER },
	};
	struct scene scene;

	if (begin(&scene, NULL, NULL,
		  "+1 100 0 tg_throttle_down id=5 cpu=1\n"
		  "+2 160 0 tg_throttle_down id=5 cpu=2\n"
		  "+3 170 0 tg_unthrottle_up id=8 cpu=3\n"
		  "+1 200 0 tg_unthrottle_up id=5 cpu=1\n"
		  "+1 400 0 tg_throttle_down id=5 cpu=1\n"
		  "+1 500 0 tg_throttle_down id=5 cpu=1\n"
		  "+1 600 0 tg_unthrottle_up id=5 cpu=1\n"
		  "+1 700 0 tg_unthrottle_up id=5 cpu=1\n")) {
		ask(&scene, asked, sizeof(asked) / sizeof(asked[0]));
		CHECK(withheld_has_times(scene.withheld) && !withheld_losses(scene.withheld));
	}
	end(&scene);
}

/* A release may be among what was lost. */
TEST(withheld_takes_a_group_for_stopped_only_up_to_a_loss)
{
	static const struct asked asked[] = {
		{ 5, 1, 150, true, 200 },
		{ 5, 1, 200, false, 300 },
		{ 5, 1, 300, true, 400 },
		{ 5, 1, 400, false, NEVER },
	};
	struct scene scene;

	if (begin(&scene, NULL, NULL,
		  "+1 100 0 tg_throttle_down id=5 cpu=1\n"
		  "+1 200 0 tg_throttle_down id=9 cpu=1\n"
		  "+1 lost 4\n"
		  "+1 300 0 tg_throttle_down id=5 cpu=1\n"
		  "+1 400 0 tg_unthrottle_up id=5 cpu=1\n")) {
		ask(&scene, asked, sizeof(asked) / sizeof(asked[0]));
		CHECK(withheld_losses(scene.withheld) == 1);
	}
	end(&scene);
}

/* A group: ID, how often it was stopped, for how many us; a CPU: number, stolen ns. */
TEST(withheld_counts_what_the_kernel_counted_between_the_lists)
{
	static const struct {
		const char *at_start, *at_end;
		bool counted;
		uint64_t times, ns, stolen;
	} rows[] = {
		{ NULL, NULL, false, 0, 0, 0 },
		{ "groups\ngroup 1 2 3\ncpu 0 100\n", "groups\ngroup 1 5 10\ncpu 0 150\n", true, 3, 7000, 50 },
		{ "groups\ngroup 1 2 3\ngroup 2 1 1\n", "groups\ngroup 1 5 10\ngroup 2 2 4\n", true, 4, 10000, 0 },
		/* A group that came meanwhile, one that went, and one that is another. */
		{ "groups\ngroup 2 9 9\n", "groups\ngroup 1 5 10\n", true, 5, 10000, 0 },
		{ "groups\ngroup 1 9 9\n", "groups\ngroup 1 5 10\n", true, 5, 10000, 0 },
		{ "groups\ngroup 1 1 90\n", "groups\ngroup 1 5 10\n", true, 5, 10000, 0 },
		{ "group 1 2 3\n", "groups\ngroup 1 2 3\n", false, 0, 0, 0 },
		{ "groups\n", NULL, false, 0, 0, 0 },
		/* Lines that are none. */
		{ "groups\ngroup 1 2\ngroup 1 2 3 4\ngroup x 2 3\ngroup 1 2 3x\ngroup \ncpu 0\ncpu 0 5 6\n",
		  "groups\ngroup 1 2\ngroup 1 2 3 4\n", true, 0, 0, 0 },
		{ "groups\n", "groups\ngroup 1 1 18446744073709551\n", true, 0, 0, 0 },
		{ "cpu 1 100\n", "cpu 0 7\ncpu 1 80\n", false, 0, 0, 7 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t times = 9, ns = 9;
		struct scene scene;

		if (begin(&scene, rows[i].at_start, rows[i].at_end, NULL)) {
			CHECK(withheld_counted(scene.withheld, &times, &ns) == rows[i].counted);
			CHECK(times == rows[i].times && ns == rows[i].ns);
			CHECK(withheld_stolen(scene.withheld, 0) == rows[i].stolen);
			CHECK(!withheld_stolen(scene.withheld, 2) && !withheld_has_times(scene.withheld));
		}
		end(&scene);
	}
}
