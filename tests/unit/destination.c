// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

static mode_t mode_of(const struct fake *fake, const char *file)
{
	char path[FAKE_PATH];
	struct stat st;

	return lstat(fake_path(fake, file, path), &st) ? 0 : st.st_mode;
}

/* Writes `text` to the destination as a finished file. */
static int finish(const struct destination *destination, const char *text, mode_t mode, bool keep, struct fail *fail)
{
	struct draft draft;
	int r;

	if (!CHECK(!destination_draft(destination, &draft, fail)))
		return -1;
	CHECK(write(draft.fd, text, strlen(text)) == (ssize_t)strlen(text));
	r = destination_place(destination, &draft, mode, keep, fail);
	draft_discard(&draft);
	return r;
}

TEST(destination_takes_its_name_when_the_file_is_whole)
{
	struct destination destination = DESTINATION_INIT;
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_mkdir(&fake, "out");
	CHECK(!destination_open(fake_path(&fake, "out/t.dat", path), &destination, &fail));
	CHECK(destination.kind == DESTINATION_FILE && !destination.exists);
	CHECK_STR(destination.leaf, "t.dat");
	CHECK(!mode_of(&fake, "out/t.dat"));
	CHECK(!finish(&destination, "one", 0640, true, &fail));
	CHECK(fake_holds(&fake, "out/t.dat", "one") && (mode_of(&fake, "out/t.dat") & 0777) == 0640);
	/* With `keep` a file that appeared meanwhile stays. */
	CHECK(finish(&destination, "two", 0600, true, &fail) == -EEXIST);
	CHECK(strstr(fail.text, "t.dat' exists; choose another file with -o"));
	CHECK(fake_holds(&fake, "out/t.dat", "one"));
	CHECK(!finish(&destination, "three", 0600, false, &fail));
	CHECK(fake_holds(&fake, "out/t.dat", "three"));
	destination_release(&destination);
	fake_free(&fake);
}

TEST(destination_follows_links_of_this_user_to_the_end)
{
	struct destination destination = DESTINATION_INIT;
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH], to[FAKE_PATH];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "far/t.dat", "old");
	fake_mkdir(&fake, "out");
	CHECK(!symlink("../far/t.dat", fake_path(&fake, "out/second", path)));
	CHECK(!symlink(fake_path(&fake, "out/second", to), fake_path(&fake, "out/first", path)));
	CHECK(!destination_open(path, &destination, &fail));
	CHECK(destination.kind == DESTINATION_FILE && destination.exists);
	CHECK(!finish(&destination, "new", 0600, false, &fail));
	CHECK(fake_holds(&fake, "far/t.dat", "new") && S_ISLNK(mode_of(&fake, "out/first")));
	destination_release(&destination);
	/* A symbolic link to itself has no target. */
	CHECK(!symlink("round", fake_path(&fake, "out/round", path)));
	CHECK(destination_open(path, &destination, &fail) == -ELOOP);
	CHECK(strstr(fail.text, "cannot follow"));
	fake_free(&fake);
}

TEST(destination_refuses_what_is_no_place_for_a_file)
{
	struct destination destination = DESTINATION_INIT;
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	CHECK(destination_open(fake_path(&fake, "instances", path), &destination, &fail) == -EISDIR);
	CHECK(strstr(fail.text, "is a directory; name a file in it"));
	CHECK(destination_open(fake_path(&fake, "nosuch/t.dat", path), &destination, &fail) == -ENOENT);
	CHECK(strstr(fail.text, "cannot open the directory of"));
	fake_write(&fake, "file", "");
	CHECK(destination_open(fake_path(&fake, "file/t.dat", path), &destination, &fail) == -ENOTDIR);
	fake_free(&fake);
}

TEST(destination_that_is_a_fifo_or_device_is_written_to_directly)
{
	struct destination destination = DESTINATION_INIT;
	cleanup_fd int reader = -1;
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH], got[8] = "";
	struct fake fake;
	int fd = -1;

	REQUIRE(fake_new(&fake));
	CHECK(!mkfifo(fake_path(&fake, "fifo", path), 0600));
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK(!destination_open(path, &destination, &fail) && destination.kind == DESTINATION_SPECIAL);
	CHECK(!destination_special(&destination, &fd, &fail));
	CHECK(write(fd, "bytes", 5) == 5 && read(reader, got, 7) == 5);
	CHECK_STR(got, "bytes");
	close(fd);
	/* The path was a FIFO when it was opened. A file that has replaced it is not overwritten. */
	CHECK(!unlink(path));
	fake_write(&fake, "fifo", "precious");
	CHECK(destination_special(&destination, &fd, &fail) == -EPERM);
	CHECK(strstr(fail.text, "was replaced by another file") && fake_holds(&fake, "fifo", "precious"));
	destination_release(&destination);
	CHECK(!destination_open("/dev/null", &destination, &fail) && destination.kind == DESTINATION_SPECIAL);
	destination_release(&destination);
	fake_free(&fake);
}
