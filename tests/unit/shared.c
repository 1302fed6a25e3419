// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/undo/shared.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

static const char size_file[] = "saved_cmdlines_size", users_file[] = "journals/saved_cmdlines_size";

static bool begin(struct fake *fake)
{
	if (!CHECK(fake_new(fake)))
		return false;
	fake_write(fake, size_file, "128\n");
	return true;
}

static bool has_users(const struct fake *fake)
{
	char path[FAKE_PATH];

	return !access(fake_path(fake, users_file, path), F_OK);
}

TEST(shared_size_of_names_goes_back_with_the_last_user)
{
	struct shared *first = NULL, *second = NULL;
	struct fake fake;

	if (begin(&fake)) {
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 1000, &first, NULL));
		CHECK(fake_holds(&fake, size_file, "1000\n"));
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 4000, &second, NULL));
		CHECK(fake_holds(&fake, size_file, "4000\n"));
		CHECK(!shared_cmdlines_leave(first, NULL));
		CHECK(fake_holds(&fake, size_file, "4000\n") && has_users(&fake));
		CHECK(!shared_cmdlines_leave(second, NULL));
		CHECK(fake_holds(&fake, size_file, "128\n") && !has_users(&fake));
		CHECK(!shared_cmdlines_leave(NULL, NULL));
	}
	fake_free(&fake);
}

/* Kernels from 6.9 on show 45874 after a request of 32768, the largest that they take. */
TEST(shared_size_of_names_above_the_largest_request_goes_back_by_that)
{
	struct shared *shared = NULL;
	struct fake fake;

	if (begin(&fake)) {
		fake_write(&fake, size_file, "45874\n");
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 60000, &shared, NULL));
		CHECK(!shared_cmdlines_leave(shared, NULL));
		CHECK(fake_holds(&fake, size_file, "32768\n") && !has_users(&fake));
	}
	fake_free(&fake);
}

TEST(shared_size_of_names_goes_back_to_what_somebody_set_between_two_users)
{
	struct shared *first = NULL, *second = NULL;
	struct fake fake;

	if (begin(&fake)) {
		fake_write(&fake, size_file, "45874\n");
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 1000, &first, NULL));
		/* For example, a reset after a user that had raised it. */
		fake_write(&fake, size_file, "128\n");
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 1000, &second, NULL));
		CHECK(fake_holds(&fake, size_file, "1000\n"));
		CHECK(!shared_cmdlines_leave(first, NULL));
		CHECK(!shared_cmdlines_leave(second, NULL));
		CHECK(fake_holds(&fake, size_file, "128\n") && !has_users(&fake));
	}
	fake_free(&fake);
}

TEST(shared_size_of_names_is_never_lowered_for_a_user)
{
	struct shared *shared = NULL;
	struct fake fake;

	if (begin(&fake)) {
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 20, &shared, NULL));
		CHECK(fake_holds(&fake, size_file, "128\n"));
		CHECK(!shared_cmdlines_leave(shared, NULL));
		CHECK(fake_holds(&fake, size_file, "128\n"));
	}
	fake_free(&fake);
}

TEST(shared_size_of_names_stays_as_somebody_else_set_it_meanwhile)
{
	struct shared *shared = NULL;
	struct fake fake;

	if (begin(&fake)) {
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 1000, &shared, NULL));
		fake_write(&fake, size_file, "555\n");
		CHECK(!shared_cmdlines_leave(shared, NULL));
		CHECK(fake_holds(&fake, size_file, "555\n") && !has_users(&fake));
	}
	fake_free(&fake);
}

TEST(shared_size_of_names_goes_back_without_the_file_of_users)
{
	struct shared *shared = NULL;
	struct fake fake;

	if (begin(&fake)) {
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 1000, &shared, NULL));
		fake_write(&fake, users_file, "nothing that weft writes\n");
		CHECK(!shared_cmdlines_leave(shared, NULL));
		CHECK(fake_holds(&fake, size_file, "128\n") && !has_users(&fake));
	}
	fake_free(&fake);
}

/* The first user could not read which boot this is. */
TEST(shared_size_of_names_of_an_unknown_boot_goes_back)
{
	struct shared *shared = NULL;
	char users[64];
	struct fake fake;

	if (begin(&fake)) {
		fake_write(&fake, size_file, "1000\n");
		snprintf(users, sizeof(users), "- 128 1000\n%d 1\n", (int)getpid());
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 1000, &shared, NULL));
		CHECK(!shared_cmdlines_leave(shared, NULL));
		fake_write(&fake, users_file, users);
		CHECK(shared_cmdlines_recover(&fake.tracing, fake.journals, NULL) == 1);
		CHECK(fake_holds(&fake, size_file, "128\n") && !has_users(&fake));
	}
	fake_free(&fake);
}

TEST(shared_size_of_names_of_more_users_than_there_is_room_for_is_of_those_that_fit)
{
	struct fail fail = FAIL_INIT;
	struct shared *shared = NULL;
	char users[8192], path[FAKE_PATH];
	struct fake fake;
	FILE *file;
	int nr = 0;

	if (begin(&fake)) {
		size_t at = (size_t)snprintf(users, sizeof(users), "- 128 1000\n");

		/* The first process lives as long as this test. */
		for (unsigned i = 0; i < 300; i++)
			at += (size_t)snprintf(users + at, sizeof(users) - at, "%d 0 %u\n", (int)getpid(), 0U);
		fake_write(&fake, size_file, "1000\n");
		fake_mkdir(&fake, "journals");
		fake_write(&fake, users_file, users);
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 1000, &shared, &fail));
		file = fopen(fake_path(&fake, users_file, path), "re");
		while (file && fgets(users, sizeof(users), file))
			nr++;
		CHECK(file && !fclose(file) && nr > 1 && nr <= 257);
		CHECK(!shared_cmdlines_leave(shared, &fail));
	}
	fake_free(&fake);
}

/* A killed user: a child that ends without leaving. */
static void raise_and_die(const struct fake *fake, uint32_t entries)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		struct shared *shared;

		_exit(shared_cmdlines_raise(&fake->tracing, fake->journals, entries, &shared, NULL) ? 1 : 0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
}

TEST(shared_size_of_names_is_recovered_after_a_kill)
{
	struct shared *shared = NULL;
	struct fake fake;

	if (begin(&fake)) {
		/* There is nothing to recover. */
		CHECK(!shared_cmdlines_recover(&fake.tracing, fake.journals, NULL));
		raise_and_die(&fake, 2000);
		CHECK(fake_holds(&fake, size_file, "2000\n") && has_users(&fake));
		CHECK(shared_cmdlines_recover(&fake.tracing, fake.journals, NULL) == 1);
		CHECK(fake_holds(&fake, size_file, "128\n") && !has_users(&fake));
		/* The next user also restores the size that the killed user left. */
		raise_and_die(&fake, 2000);
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 300, &shared, NULL));
		CHECK(fake_holds(&fake, size_file, "300\n"));
		/* The user is alive. */
		CHECK(!shared_cmdlines_recover(&fake.tracing, fake.journals, NULL));
		CHECK(fake_holds(&fake, size_file, "300\n"));
		CHECK(!shared_cmdlines_leave(shared, NULL));
		CHECK(fake_holds(&fake, size_file, "128\n"));
	}
	fake_free(&fake);
}

TEST(shared_size_of_names_says_what_cannot_be_read)
{
	struct shared *shared = NULL;
	struct fail fail = FAIL_INIT;
	struct fake fake;

	if (begin(&fake)) {
		fake_write(&fake, size_file, "many\n");
		CHECK(shared_cmdlines_raise(&fake.tracing, fake.journals, 300, &shared, &fail) == -EBADMSG);
		CHECK(strstr(fail.text, "saved_cmdlines_size' holds no number"));
		CHECK(shared_cmdlines_raise(&fake.tracing, "/nosuch/dir", 300, &shared, &fail) == -ENOENT);
		CHECK(strstr(fail.text, "cannot make the directory '/nosuch/dir'"));
	}
	fake_free(&fake);
}

static void users_of(const struct fake *fake, char *into, size_t size)
{
	char path[FAKE_PATH];
	FILE *in = fopen(fake_path(fake, users_file, path), "r");
	size_t len = in ? fread(into, 1, size - 1, in) : 0;

	into[len] = '\0';
	if (in)
		fclose(in);
}

/* Two recordings of one process have a line each, which differ by the place of their signs of life. */
TEST(shared_size_of_names_is_used_by_two_of_one_process)
{
	struct shared *first = NULL, *second = NULL;
	char users[512], line[64];
	struct fake fake;

	if (begin(&fake)) {
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 1000, &first, NULL));
		CHECK(!shared_cmdlines_raise(&fake.tracing, fake.journals, 500, &second, NULL));
		CHECK(fake_holds(&fake, size_file, "1000\n"));
		users_of(&fake, users, sizeof(users));
		snprintf(line, sizeof(line), "\n%d ", (int)getpid());
		CHECK(strstr(users, line) && strstr(users, " 1\n") && strstr(users, " 2\n"));
		CHECK(!shared_cmdlines_leave(second, NULL));
		users_of(&fake, users, sizeof(users));
		CHECK(strstr(users, line) && strstr(users, " 1\n") && !strstr(users, " 2\n"));
		CHECK(!shared_cmdlines_leave(first, NULL));
		CHECK(fake_holds(&fake, size_file, "128\n"));
	}
	fake_free(&fake);
}

TEST(shared_size_of_names_that_cannot_be_raised_is_as_it_was)
{
	struct shared *shared = NULL;
	struct fail fail = FAIL_INIT;
	struct fake fake;

	if (begin(&fake)) {
		fake_refuse(&fake, size_file, "1000", ENOMEM);
		CHECK(shared_cmdlines_raise(&fake.tracing, fake.journals, 1000, &shared, &fail) == -ENOMEM);
		CHECK(fake_holds(&fake, size_file, "128\n") && !has_users(&fake));
		CHECK(!strstr(fail.text, "is not back"));
		/* Nor can it be put back then. */
		fake_refuse(&fake, size_file, "128", EIO);
		CHECK(shared_cmdlines_raise(&fake.tracing, fake.journals, 1000, &shared, &fail) == -ENOMEM);
		CHECK(strstr(fail.text, "saved_cmdlines_size is not back at 128"));
	}
	fake_free(&fake);
}
