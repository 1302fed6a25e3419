// SPDX-License-Identifier: GPL-2.0-only
#include "lib/measure/snapshot.h"

#include "lib/base/fail.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <string.h>

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
