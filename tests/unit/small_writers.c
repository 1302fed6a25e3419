// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
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

/* A pipe takes what fits, as trace_marker does. */
TEST(marker_that_the_kernel_cuts_is_several_or_none)
{
	struct marker marker = MARKER_INIT;
	struct fail fail = FAIL_INIT;
	cleanup_free char *text = calloc(1, MARKER_RAW_MAX);
	char want[80];
	unsigned pieces = 0;
	int ends[2], size;

	REQUIRE(text && !pipe2(ends, O_NONBLOCK | O_CLOEXEC));
	marker.fd = ends[1];
	size = fcntl(ends[1], F_SETPIPE_SZ, 4096);
	if (CHECK(size > 0) && size < MARKER_RAW_MAX) {
		CHECK(marker_write_raw(&marker, 1, text, (size_t)size, &fail) == -EMSGSIZE);
		snprintf(want, sizeof(want), "this kernel cut the raw marker to %d of its %d bytes", size - 4, size);
		CHECK_STR(fail.text, want);
		CHECK(marker_write_raw(&marker, 1, NULL, 0, &fail) == -EAGAIN);
		CHECK(read(ends[0], text, (size_t)size) == size);
		CHECK(marker_write(&marker, text, (size_t)size + 1, &pieces, &fail) == -EAGAIN && !pieces);
		CHECK_STR(fail.text, "cannot write a marker: Resource temporarily unavailable");
		CHECK(read(ends[0], text, (size_t)size) == size);
		CHECK(!marker_write(&marker, text, (size_t)size, &pieces, &fail) && pieces == 1);
	}
	marker_close(&marker);
	CHECK(marker.fd == -1);
	close(ends[0]);
	marker.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK(marker_write(&marker, "x", 1, &pieces, &fail) == -EINVAL);
	CHECK_STR(fail.text,
		  "no marker was written: the top instance has the trace option nomarkers, or the data is too long");
	marker_close(&marker);
}

TEST(marker_says_in_which_instance_tracing_is_off)
{
	struct instance box = { .name = (char[]){ "box" } };
	struct marker marker = { .fd = -1, .instance = &box };
	struct fail fail = FAIL_INIT;
	unsigned pieces;

	CHECK(marker_write(&marker, "x", 1, &pieces, &fail) == -EBADF);
	CHECK_STR(fail.text, "no marker was written: tracing is off in 'box' (tracing_on)");
	CHECK(marker_write_raw(&marker, 1, "x", 1, &fail) == -EBADF);
	CHECK_STR(fail.text, "no marker was written: tracing is off in 'box' (tracing_on)");
}

TEST(marker_of_a_descriptor_is_one_that_is_open_for_writing_alone)
{
	static const int modes[] = { O_RDONLY, O_RDWR, O_WRONLY };
	static const char *const none[] = { "", "x", "-1", "+1", "3000000000", "99999999999", "1000000" };
	struct marker marker = MARKER_INIT;
	char number[16];

	for (size_t i = 0; i < array_size(none); i++)
		CHECK(!marker_given(none[i], &marker) && marker.fd == -1);
	for (size_t i = 0; i < array_size(modes); i++) {
		int fd = open("/dev/null", modes[i] | O_CLOEXEC);

		REQUIRE(fd >= 0);
		snprintf(number, sizeof(number), "%d", fd);
		CHECK(marker_given(number, &marker) == (modes[i] == O_WRONLY));
		snprintf(number, sizeof(number), "%dx", fd);
		CHECK(!marker_given(number, &(struct marker)MARKER_INIT));
		close(fd);
	}
	/* It is a copy, which no program gets that is started. */
	CHECK(fcntl(marker.fd, F_GETFD) == FD_CLOEXEC);
	marker_close(&marker);
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
