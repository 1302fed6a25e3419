// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/boot.h"

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

static int add(const struct boot_difference *difference, void *data)
{
	return buf_addf(data, "%s=%s;", difference->file, difference->now) ? 0 : -1;
}

static const char *differences(const struct fake *fake, struct buf *text)
{
	struct instance one = fake->top;
	struct fail fail;

	one.kind = INSTANCE_EXISTING;
	buf_clear(text);
	CHECK(!boot_each(&one, add, text, &fail));
	return buf_str(text);
}

/* Two events with a filter and a trigger, in the files of a kernel before 7.0. */
static void write_events(const struct fake *fake)
{
	static const char *const names[] = { "sched_switch", "sched_switch_more" };
	char file[FAKE_PATH];

	fake_write(fake, "events/sched/enable", "0");
	for (size_t i = 0; i < array_size(names); i++) {
		snprintf(file, sizeof(file), "events/sched/%s/enable", names[i]);
		fake_write(fake, file, "0");
		snprintf(file, sizeof(file), "events/sched/%s/filter", names[i]);
		fake_write(fake, file, "prev_pid > 3");
		snprintf(file, sizeof(file), "events/sched/%s/trigger", names[i]);
		fake_write(fake, file, "traceoff:unlimited");
	}
}

TEST(boot_finds_the_filters_and_triggers_of_every_event)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fake fake;

	if (!CHECK(fake_new(&fake)))
		return;
	write_events(&fake);
	CHECK_STR(differences(&fake, &text), "events/sched/sched_switch/filter=prev_pid > 3;"
					     "events/sched/sched_switch/trigger=traceoff:unlimited;"
					     "events/sched/sched_switch_more/filter=prev_pid > 3;"
					     "events/sched/sched_switch_more/trigger=traceoff:unlimited;");
	fake_free(&fake);
}

TEST(boot_asks_only_the_events_that_the_kernel_lists)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fake fake;

	if (!CHECK(fake_new(&fake)))
		return;
	write_events(&fake);
	/* As t_show_filters() and t_show_triggers() of Linux 7.2 print them. */
	fake_write(&fake, "show_event_filters", "sched:sched_switch_more                prev_pid > 3\n");
	fake_write(&fake, "show_event_triggers",
		   "irq:sched_switch    traceon\nsched:sched_switch                     traceoff:unlimited\n");
	CHECK_STR(differences(&fake, &text), "events/sched/sched_switch/trigger=traceoff:unlimited;"
					     "events/sched/sched_switch_more/filter=prev_pid > 3;");
	fake_free(&fake);
}
