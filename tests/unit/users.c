// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/tracefs/users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/tracefs/process_maps.h"
#include "lib/kernel/tracefs/settings.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

/* A process that runs `cat` until its standard input ends, with a file open as descriptor 9. */
struct other {
	pid_t pid;
	int in, out;
};

static bool other_start(struct other *other, const char *file)
{
	int in[2], out[2];
	char byte = 0;

	if (!CHECK(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC)))
		return false;
	other->pid = fork();
	if (!other->pid) {
		if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || (file && dup2(open(file, O_RDONLY), 9) < 0))
			_exit(1);
		execlp("cat", "cat", (char *)NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	other->in = in[1];
	other->out = out[0];
	/* After its answer the process runs cat. */
	return CHECK(other->pid > 0 && write(other->in, "x", 1) == 1 && read(other->out, &byte, 1) == 1 && byte == 'x');
}

static void other_end(struct other *other)
{
	int status = 0;

	close(other->in);
	close(other->out);
	CHECK(waitpid(other->pid, &status, 0) == other->pid && !status);
}

TEST(users_of_an_instance_are_named_when_it_cannot_be_removed)
{
	struct fail fail = FAIL_INIT;
	struct other other;
	char path[FAKE_PATH], want[512];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "instances/box/trace_pipe", "");
	REQUIRE(other_start(&other, fake_path(&fake, "instances/box/trace_pipe", path)));
	CHECK(tracing_instance_kept(&fake.tracing, "box", -EBUSY, &fail) == -EBUSY);
	snprintf(want, sizeof(want), "cannot remove the instance 'box': cat (process %d) has its 'trace_pipe' open",
		 (int)other.pid);
	CHECK_STR(fail.text, want);
	/* The other instance has no user; another error has another reason. */
	CHECK(tracing_instance_kept(&fake.tracing, "bo", -EBUSY, &fail) == -EBUSY);
	snprintf(want, sizeof(want), "cannot remove the instance 'bo': %s", strerror(EBUSY));
	CHECK_STR(fail.text, want);
	CHECK(tracing_instance_kept(&fake.tracing, "box", -EPERM, &fail) == -EPERM);
	CHECK_STR(fail.text, "cannot remove the instance 'box': Operation not permitted");
	other_end(&other);
	fake_free(&fake);
}

TEST(users_have_files_of_the_top_instance_or_of_one_instance)
{
	const struct tracing_user top = { .file = "trace_pipe" },
				  box = { .file = "instances/box/per_cpu/cpu0/trace_pipe_raw" };

	CHECK_STR(tracing_user_file(&top, ""), "trace_pipe");
	CHECK_STR(tracing_user_file(&box, "box"), "per_cpu/cpu0/trace_pipe_raw");
	CHECK(!tracing_user_file(&top, "box") && !tracing_user_file(&box, "") && !tracing_user_file(&box, "bo"));
}

static bool has_maps_of_cat(const struct settings *settings, pid_t pid)
{
	char name[64];
	const struct setting *found;

	snprintf(name, sizeof(name), "proc/%d/maps", (int)pid);
	found = settings_find(settings, name);
	return found && memmem(found->text, found->len, "cat\n", 4);
}

TEST(maps_of_a_living_process_are_put_once)
{
	struct settings settings = { .nr = 0 };
	struct other other;

	REQUIRE(other_start(&other, NULL));
	CHECK(process_maps_put(&settings, other.pid, NULL) == 1);
	CHECK(has_maps_of_cat(&settings, other.pid));
	/* The maps have not changed. */
	CHECK(process_maps_put(&settings, other.pid, NULL) == 0 && settings.nr == 1);
	/* A trace does not need the maps of this program. */
	CHECK(process_maps_put(&settings, getpid(), NULL) == 0 && settings.nr == 1);
	settings_release(&settings);
	CHECK(process_maps_put_tree(&settings, other.pid, NULL) == 1);
	CHECK(has_maps_of_cat(&settings, other.pid));
	settings_release(&settings);
	other_end(&other);
	CHECK(process_maps_put(&settings, other.pid, NULL) == 0 && !settings.nr);
	settings_release(&settings);
}

TEST(maps_are_put_of_processes_that_the_kernel_has_the_name_of)
{
	struct settings settings = { .nr = 0 };
	struct other other, unknown;
	struct fake fake;
	char names[64];

	REQUIRE(fake_new(&fake));
	REQUIRE(other_start(&other, NULL) && other_start(&unknown, NULL));
	snprintf(names, sizeof(names), "%d cat\n", (int)other.pid);
	fake_write(&fake, "saved_cmdlines", names);
	CHECK(!process_maps_put_known(&settings, &fake.tracing, NULL));
	CHECK(settings.nr == 1 && has_maps_of_cat(&settings, other.pid));
	settings_release(&settings);
	other_end(&other);
	other_end(&unknown);
	fake_free(&fake);
}
