// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/measure/snapshot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/setup/late.h"
#include "lib/kernel/tracefs/event_select.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

TEST(snapshot_is_not_freed_where_the_events_cannot_be_listed)
{
	struct fail fail = FAIL_INIT;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "snapshot", "# tracer: nop\n#\n");
	CHECK(snapshot_free(&fake.top, &fail) == -ENOENT);
	CHECK(strstr(fail.text, "available_events"));
	CHECK(fake_holds(&fake, "snapshot", "# tracer: nop\n#\n"));
	fake_free(&fake);
}

TEST(snapshot_is_not_freed_while_a_trigger_of_an_event_takes_some)
{
	struct fail fail = FAIL_INIT;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "snapshot", "# tracer: nop\n#\n");
	fake_write(&fake, "available_events", "sched:sched_switch\nsched:sched_waking\n");
	fake_write(&fake, "events/sched/sched_switch/trigger", "traceoff\n");
	fake_write(&fake, "events/sched/sched_waking/trigger", "traceoff\nsnapshot:count=1\n");
	CHECK(snapshot_free(&fake.top, &fail) == -EBUSY);
	CHECK(strstr(fail.text, "'sched:sched_waking' has a trigger that takes snapshots"));
	fake_write(&fake, "events/sched/sched_waking/trigger", "traceoff\n");
	CHECK(!snapshot_free(&fake.top, &fail));
	CHECK(fake_holds(&fake, "snapshot", "0\n"));
	fake_free(&fake);
}

static const char freed[] = "# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n";

TEST(snapshot_is_taken_cleared_and_read_of_all_cpus_or_of_one)
{
	struct fail fail = FAIL_INIT;
	struct instance one;
	struct fake fake;
	int fd = -1;

	REQUIRE(fake_new(&fake));
	one = fake.top;
	fake_write(&fake, "snapshot", freed);
	fake_write(&fake, "per_cpu/cpu0/snapshot", "");
	CHECK(snapshot_allocated(&one, &fail) == 0);
	CHECK(snapshot_open(&one, SNAPSHOT_ALL_CPUS, &fd, &fail) == -ENODATA);
	CHECK_STR(fail.text, "there is no snapshot; 'weft snapshot take' takes one");
	CHECK(!snapshot_take(&one, SNAPSHOT_ALL_CPUS, NULL) && fake_holds(&fake, "snapshot", "1\n"));
	CHECK(snapshot_allocated(&one, NULL) == 1);
	CHECK(!snapshot_take(&one, 0, NULL) && fake_holds(&fake, "per_cpu/cpu0/snapshot", "1\n"));
	CHECK(!snapshot_clear(&one, 0, NULL) && fake_holds(&fake, "per_cpu/cpu0/snapshot", "2\n"));
	CHECK(!snapshot_open(&one, 0, &fd, NULL) && !close(fd));
	CHECK(snapshot_take(&one, 7, &fail) == -ENOENT);
	CHECK_STR(fail.text, "this machine has no CPU 7");
	fake_free(&fake);
}

TEST(snapshot_of_a_kernel_without_it_names_the_option)
{
	struct fail fail = FAIL_INIT;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	CHECK(snapshot_clear(&fake.top, SNAPSHOT_ALL_CPUS, &fail) == -EOPNOTSUPP);
	CHECK(strstr(fail.text, "CONFIG_TRACER_SNAPSHOT"));
	fake_free(&fake);
}

TEST(snapshot_trigger_has_its_count_and_filter)
{
	static const struct {
		unsigned long count;
		const char *filter, *trigger;
	} table[] = { { 0, NULL, "snapshot\n" },
		      { 3, NULL, "snapshot:3\n" },
		      { 1, "prev_prio < 10", "snapshot:1 if prev_prio < 10\n" } };

	for (size_t i = 0; i < array_size(table); i++) {
		struct event_set events = { .nr = 0 };
		struct catalog *catalog = NULL;
		struct instance one;
		struct fake fake;

		REQUIRE(fake_new(&fake));
		one = fake.top;
		one.kind = INSTANCE_PRIVATE;
		fake_write(&fake, "snapshot", freed);
		fake_write(&fake, "available_events", "sched:sched_switch\n");
		fake_write(&fake, "events/sched/sched_switch/trigger", "");
		CHECK(!catalog_new(&fake.tracing, &catalog, NULL) &&
		      !event_set_add(&events, catalog, "sched_switch", NULL));
		CHECK(!snapshot_on(&one, &events, table[i].count, table[i].filter, NULL, NULL));
		CHECK(fake_holds(&fake, "events/sched/sched_switch/trigger", table[i].trigger));
		event_set_release(&events);
		catalog_free(catalog);
		fake_free(&fake);
	}
}

TEST(snapshot_trigger_is_tried_without_effect_and_kept_for_the_last_step)
{
	static const char file[] = "events/sched/sched_switch/trigger";
	struct event_set events = { .nr = 0 };
	struct catalog *catalog = NULL;
	struct late late = { .nr = 0 };
	struct instance one;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	one = fake.top;
	one.kind = INSTANCE_PRIVATE;
	fake_write(&fake, "snapshot", freed);
	fake_write(&fake, "available_events", "sched:sched_switch\n");
	fake_write(&fake, file, "");
	CHECK(!catalog_new(&fake.tracing, &catalog, NULL) && !event_set_add(&events, catalog, "sched_switch", NULL));
	CHECK(!snapshot_on(&one, &events, 3, NULL, &late, NULL));
	CHECK(fake_holds(&fake, file, "snapshot:0\n"));
	if (CHECK(late.nr == 1))
		CHECK(!strcmp(late.items[0].file, file) && !strcmp(late.items[0].text, "snapshot:3"));
	late_release(&late);
	event_set_release(&events);
	catalog_free(catalog);
	fake_free(&fake);
}
