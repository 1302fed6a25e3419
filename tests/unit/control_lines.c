// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/tracefs/control.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/tracing.h"
#include "tests/unit/test.h"

static struct text_word word(const char *text)
{
	return (struct text_word){ .at = text, .len = strlen(text) };
}

/*
 * Whether restoring a file from `now` to `old` makes these writes, one for each line. They stand behind `held`, which
 * the file holds all the time.
 */
static bool writes_behind(const char *held, int (*restore)(const char *path, const char *old, const char *now),
			  const char *old, const char *now, const char *expected)
{
	cleanup_buf struct buf buf = BUF_INIT;
	char path[] = "/tmp/weft-unit-XXXXXX";
	int fd = mkstemp(path);
	bool same;

	if (fd < 0)
		return false;
	same = write(fd, held, strlen(held)) == (ssize_t)strlen(held);
	close(fd);
	same = same && !restore(path, old, now) && !tracing_read_path(path, &buf, NULL) &&
	       !strcmp(buf_str(&buf), expected);
	if (!same)
		fprintf(stderr, "written: %s", buf_str(&buf));
	unlink(path);
	return same;
}

static bool writes(int (*restore)(const char *path, const char *old, const char *now), const char *old, const char *now,
		   const char *expected)
{
	return writes_behind("", restore, old, now, expected);
}

TEST(control_line_is_the_same_when_only_its_count_or_state_differs)
{
	CHECK(control_same_line(word("traceoff:count=3 if pid > 1"), word("traceoff:count=12 if pid > 1")));
	CHECK(!control_same_line(word("traceoff:count=3"), word("traceoff:unlimited")));
	CHECK(!control_same_line(word("traceoff:count=3 if pid > 1"), word("traceoff:count=3 if pid > 12")));
	CHECK(control_same_line(word("hist:keys=pid [active]"), word("hist:keys=pid [paused]")));
	CHECK(!control_same_line(word("hist:keys=pid [active]"), word("hist:keys=pid:vals=prio [active]")));
}

TEST(control_restore_takes_away_only_our_function_probes)
{
	CHECK(writes(control_restore_probes, "", "vfs_read:traceoff:count=5\nvfs_write:traceoff:count=2\n",
		     "!*:traceoff:0\n"));
	CHECK(writes(control_restore_probes, "vfs_read:traceoff:count=5\n", "vfs_read:traceoff:count=1\n", ""));
	CHECK(writes(control_restore_probes, "vfs_read:traceoff:unlimited\n",
		     "vfs_read:traceoff:unlimited\nvfs_write:traceoff:unlimited\n", "!vfs_write:traceoff\n"));
	CHECK(writes(control_restore_probes, "vfs_fsync\n",
		     "schedule:enable_event:sched:sched_switch:count=3\nvfs_fsync\n",
		     "!*:enable_event:sched:sched_switch:0\n"));
}

TEST(control_restore_sets_probes_and_triggers_again_that_we_took_away)
{
	CHECK(writes(control_restore_probes, "ext4_sync_file [ext4]:traceoff:count=5\nvfs_read:stacktrace:unlimited\n",
		     "", "ext4_sync_file:traceoff:5\nvfs_read:stacktrace\n"));
	CHECK(writes(control_restore_triggers, "traceoff:count=3 if pid > 1\nstacktrace:unlimited\n", "",
		     "traceoff:3 if pid > 1\nstacktrace\n"));
	CHECK(writes(control_restore_triggers, "hist:keys=pid:vals=hitcount:size=2048 [active]\n",
		     "# Available triggers:\n", "hist:keys=pid:vals=hitcount:size=2048\n"));
}

TEST(control_restore_writes_the_name_in_front_of_which_linux_7_3_prints_another)
{
	CHECK(writes(
		control_restore_triggers, "",
		"hist:keys=pid.log2,common_cpucommon_cpu:vals=hitcount:sort=common_cpucommon_cpu.descending,pid.log2:"
		"size=2048 if comm == \"common_cpucpu\" [active]\n",
		"!hist:keys=pid.log2,common_cpu:vals=hitcount:sort=common_cpu.descending,pid:size=2048 "
		"if comm == \"common_cpucpu\"\n"));
	CHECK(writes(control_restore_triggers, "", "hist:keys=common_cpucommon_cpu [active]\n",
		     "!hist:keys=common_cpu\n"));
	CHECK(writes(control_restore_triggers, "", "hist:keys=pid,common_cpucpu:sort=common_cpucpu [active]\n",
		     "!hist:keys=pid,cpu:sort=cpu\n"));
	CHECK(writes(control_restore_triggers, "", "hist:keys=papa,common_cpucommon_pid [active]\n",
		     "!hist:keys=papa,common_cpucommon_pid\n"));
}

TEST(control_restore_removes_by_cpu_what_common_cpu_has_left)
{
	const char *held = "hist:keys=pid,common_cpu:sort=common_cpu if common_cpu == 1 [active]\n";

	CHECK(writes_behind(held, control_restore_triggers, "", held,
			    "hist:keys=pid,common_cpu:sort=common_cpu if common_cpu == 1 [active]\n"
			    "!hist:keys=pid,common_cpu:sort=common_cpu if common_cpu == 1\n"
			    "!hist:keys=pid,cpu:sort=cpu if common_cpu == 1\n"));
}
