// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/late.h"

#include <string.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

/* NULL in `tried`: the kernel cannot be asked without arming it. NULL in `arm`: the text itself arms it. */
static const struct {
	const char *text, *tried, *arm;
} triggers[] = {
	{ "stacktrace", "stacktrace:0", NULL },
	{ "stacktrace:5", "stacktrace:0", NULL },
	{ "traceoff:0x10 if pid > 5", "traceoff:0 if pid > 5", NULL },
	{ "traceon if comm == \"a:5\"", "traceon:0 if comm == \"a:5\"", NULL },
	{ "enable_event:sched:sched_switch", "enable_event:sched:sched_switch:0", NULL },
	{ "disable_event:sched:sched_switch:3", "disable_event:sched:sched_switch:0", NULL },
	{ "enable_hist:sched:sched_switch:3 if pid", "enable_hist:sched:sched_switch:0 if pid", NULL },
	/* The kernel refuses these, and its message is about the text itself. */
	{ "stacktrace:x3", "stacktrace:x3", NULL },
	{ "stacktrace:-1", "stacktrace:-1", NULL },
	{ "stacktrace:", "stacktrace:", NULL },
	{ "stacktrace:99999999999999999999999", "stacktrace:99999999999999999999999", NULL },
	{ "enable_event:sched", "enable_event:sched", NULL },
	{ "hist:keys=pid", "hist:keys=pid:pause", "hist:keys=pid:continue" },
	{ "hist:keys=pid,comm:vals=a:sort=pid if pid > 5", "hist:keys=pid,comm:vals=a:sort=pid:pause if pid > 5",
	  "hist:keys=pid,comm:vals=a:sort=pid:continue if pid > 5" },
	/* The kernel does not take the text of a variable twice. */
	{ "hist:keys=pid:ts0=common_timestamp.usecs", "hist:keys=pid:ts0=common_timestamp.usecs:pause", NULL },
	{ "hist:keys=pid:vals=$lat", "hist:keys=pid:vals=$lat:pause", NULL },
	{ "hist:keys=pid:onmax($lat).save(comm)", "hist:keys=pid:onmax($lat).save(comm):pause", NULL },
	{ "hist:name=a:keys=pid", "hist:name=a:keys=pid:pause", NULL },
	{ "hist:keys=pid:pause", "hist:keys=pid:pause:pause", NULL },
}, commands[] = {
	{ "vfs_read:traceoff", "vfs_read:traceoff:0", NULL },
	{ "vfs_*:stacktrace:7", "vfs_*:stacktrace:0", NULL },
	{ "vfs_read:enable_event:sched:sched_switch", "vfs_read:enable_event:sched:sched_switch:0", NULL },
	{ "vfs_read:disable_event:sched:sched_switch:2", "vfs_read:disable_event:sched:sched_switch:0", NULL },
	{ "vfs_read:dump", NULL, NULL },
	{ "vfs_read:cpudump:0", NULL, NULL },
};

static bool same(const char *one, const char *other)
{
	return one && other ? !strcmp(one, other) : one == other;
}

static void check_form(const char *file, const char *text, const char *tried, const char *arm)
{
	struct late_form form = { .stays = false };
	struct fail fail;

	CHECK(!late_form(file, text, &form, &fail));
	CHECK(same(form.tried, tried));
	CHECK(same(form.arm, arm ? arm : text));
	CHECK(form.stays == !!arm);
	late_form_release(&form);
}

TEST(late_asks_the_kernel_about_a_form_that_never_acts)
{
	for (size_t i = 0; i < array_size(triggers); i++)
		check_form("events/sched/sched_switch/trigger", triggers[i].text, triggers[i].tried, triggers[i].arm);
	for (size_t i = 0; i < array_size(commands); i++)
		check_form(LATE_COMMANDS, commands[i].text, commands[i].tried, commands[i].arm);
}
