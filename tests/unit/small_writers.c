// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/record/command_path.h"
#include "lib/kernel/record/user_internal.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/settings.h"
#include "lib/kernel/tracefs/texts.h"
#include "lib/kernel/undo/marker.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

TEST(marker_writes_text_and_a_number_before_raw_bytes)
{
	struct fail fail = FAIL_INIT;
	struct marker marker;
	unsigned pieces = 0;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "trace_marker", "");
	fake_write(&fake, "trace_marker_raw", "");
	CHECK(!marker_open(&fake.top, false, &marker, &fail));
	CHECK(!marker_write(&marker, "here we are", 11, &pieces, &fail) && pieces == 1);
	CHECK(fake_holds(&fake, "trace_marker", "here we are"));
	marker_close(&marker);
	CHECK(!marker_open(&fake.top, true, &marker, &fail));
	CHECK(!marker_write_raw(&marker, 0x41414141, "tail", 4, &fail));
	CHECK(fake_holds(&fake, "trace_marker_raw", "AAAAtail"));
	CHECK(marker_write_raw(&marker, 1, "", MARKER_RAW_MAX + 1, &fail) == -EMSGSIZE);
	CHECK_STR(fail.text, "65537 bytes are more than one raw marker can be");
	marker_close(&marker);
	CHECK(marker_write(&marker, "x", 1, &pieces, &fail) == -EBADF);
	CHECK_STR(fail.text, "no marker was written: tracing is off in the top instance (tracing_on)");
	fake_free(&fake);
}

TEST(texts_of_the_kernel_are_those_that_events_cannot_tell)
{
	struct settings settings = { .nr = 0 };
	struct event_set events = { .nr = 0 };
	struct catalog *catalog = NULL;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "available_events", "sched:sched_switch\nsched:sched_waking\n");
	fake_write(&fake, "events/sched/sched_switch/trigger", "hist:keys=prev_pid [active]\n");
	fake_write(&fake, "events/sched/sched_switch/hist", "# event histogram\n");
	fake_write(&fake, "events/sched/sched_waking/trigger", "# Available triggers:\n# hist:\n");
	fake_write(&fake, "events/sched/sched_waking/hist", "# event histogram\n");
	fake_write(&fake, "stack_trace", "Depth Size Location\n");
	fake_write(&fake, "stack_max_size", "4000\n");
	fake_write(&fake, "trace_stat/function0", "Function Hit\n");
	CHECK(!catalog_new(&fake.tracing, &catalog, NULL) && !event_set_add(&events, catalog, "sched", NULL));
	CHECK(!texts_of_hists(&settings, &fake.top, &events, NULL));
	/* The other event has no trigger; it lists the possible triggers. */
	CHECK(settings.nr == 2 && settings_find(&settings, "events/sched/sched_switch/hist"));
	CHECK(!settings_find(&settings, "events/sched/sched_waking/hist"));
	CHECK(!texts_of_kernel(&settings, &fake.tracing, TEXTS_STACK, NULL));
	CHECK(settings.nr == 4 && !strcmp(settings_find(&settings, "stack_max_size")->text, "4000\n"));
	CHECK(!texts_of_kernel(&settings, &fake.tracing, TEXTS_STAT, NULL));
	CHECK(settings.nr == 5 && settings_find(&settings, "trace_stat/function0"));
	event_set_release(&events);
	catalog_free(catalog);
	settings_release(&settings);
	fake_free(&fake);
}

/* The path of `name` in this list of directories of the fake. */
static int find(const struct fake *fake, const char *list, const char *name, struct command_path *ret)
{
	char path[3 * FAKE_PATH];

	snprintf(path, sizeof(path), "%s/%s:%s/more", fake->dir, list, fake->dir);
	return command_path_find(ret, name, path);
}

TEST(command_path_is_the_first_file_of_path_that_may_be_executed)
{
	struct command_path found;
	char path[FAKE_PATH], want[FAKE_PATH];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "bin/tool", "");
	fake_write(&fake, "more/tool", "");
	CHECK(!chmod(fake_path(&fake, "more/tool", want), 0755));
	/* Files that are not executable are skipped; if there is no other, the error says so. */
	CHECK(!find(&fake, "bin", "tool", &found));
	CHECK_STR(found.path, want);
	free(found.path);
	CHECK(!chmod(want, 0644) && find(&fake, "bin", "tool", &found) == -EACCES);
	CHECK(find(&fake, "bin", "nosuch", &found) == -ENOENT);
	/* A name with a slash is not searched. */
	CHECK(!find(&fake, "bin", fake_path(&fake, "nosuch/tool", path), &found));
	CHECK_STR(found.path, path);
	free(found.path);
	fake_free(&fake);
}

TEST(user_is_found_by_name_or_number)
{
	struct passwd *root = getpwuid(0);
	struct fail fail = FAIL_INIT;
	struct user user;

	if (root && !strcmp(root->pw_name, "root")) {
		CHECK(!user_find("root", &user, &fail));
		CHECK(user.uid == 0 && user.gid == root->pw_gid);
		CHECK_STR(user.name, "root");
		CHECK_STR(user.home, root->pw_dir);
		CHECK(strstr(user.path, "bin"));
		user_release(&user);
	}
	CHECK(user_find("no-such-user", &user, &fail) < 0);
	CHECK(strstr(fail.text, "no-such-user"));
}
