// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/destination.h"
#include "lib/ground/base/draft.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

/* Another user exchanges names between two steps: "moved" gets what weft made, and the name what was in "prepared". */
static void exchange(const struct fake *fake, const char *name)
{
	char made[FAKE_PATH], moved[FAKE_PATH], prepared[FAKE_PATH], file[128];

	snprintf(file, sizeof(file), "out/%s", name);
	CHECK(!rename(fake_path(fake, file, made), fake_path(fake, "out/moved", moved)));
	CHECK(!rename(fake_path(fake, "out/prepared", prepared), made));
}

static int open_out(const struct fake *fake)
{
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH];
	int fd = -1;

	CHECK(!dir_open(AT_FDCWD, fake_path(fake, "out", path), "out/t.dat", &fd, &fail));
	return fd;
}

TEST(dir_open_of_an_absolute_path_needs_no_directory_to_begin_at)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = -1;
	struct stat st, root;

	CHECK(!dir_open(-1, "/", "/etc", &fd, &fail));
	CHECK(!fstat(fd, &st) && !stat("/", &root) && st.st_dev == root.st_dev && st.st_ino == root.st_ino);
	CHECK(dir_open(-1, "etc", "etc/x", &fd, &fail) == -EBADF);
}

TEST(draft_gives_its_name_to_no_other_file)
{
	struct draft draft = { .fd = -1 };
	cleanup_fd int dir = -1;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_mkdir(&fake, "out");
	dir = open_out(&fake);
	/* On a filesystem without nameless files. */
	draft = (struct draft){ .dir = dir, .name = "new" };
	draft.fd = openat(dir, "new", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	fake_write(&fake, "out/prepared", "precious");
	exchange(&fake, "new");
	CHECK(draft_name(&draft, dir, "t.dat", false) == -ESTALE);
	draft_discard(&draft);
	CHECK(fake_holds(&fake, "out/new", "precious"));
	fake_free(&fake);
}

TEST(draft_replaces_a_file_or_keeps_it)
{
	struct draft draft;
	cleanup_fd int dir = -1;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "out/t.dat", "old");
	dir = open_out(&fake);
	REQUIRE(!draft_new(dir, &draft));
	CHECK(write(draft.fd, "new", 3) == 3);
	CHECK(draft_name(&draft, dir, "t.dat", true) == -EEXIST && fake_holds(&fake, "out/t.dat", "old"));
	CHECK(!draft_name(&draft, dir, "t.dat", false) && fake_holds(&fake, "out/t.dat", "new"));
	draft_discard(&draft);
	CHECK(fake_holds(&fake, "out/t.dat", "new"));
	fake_free(&fake);
}

TEST(dir_removes_only_what_it_has_open)
{
	cleanup_fd int dir = -1, made = -1;
	char path[FAKE_PATH];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "out/prepared/precious", "precious");
	dir = open_out(&fake);
	REQUIRE(!dir_make(dir, "made", &made));
	exchange(&fake, "made");
	CHECK(!dir_clear(made, NULL, 1) && dir_remove(dir, "made", made, AT_REMOVEDIR) == -ESTALE);
	CHECK(fake_holds(&fake, "out/made/precious", "precious"));
	CHECK(dir_make(dir, "made", &made) == -EEXIST);
	CHECK(!access(fake_path(&fake, "out/moved", path), F_OK));
	CHECK(!dir_remove(dir, "moved", made, AT_REMOVEDIR) && access(path, F_OK));
	fake_free(&fake);
}

TEST(dir_reopens_what_it_saw_and_nothing_else)
{
	cleanup_fd int dir = -1, place = -1;
	struct fake fake;
	char got[8] = "";
	int fd;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "out/seen", "seen");
	fake_write(&fake, "out/prepared", "other");
	dir = open_out(&fake);
	place = openat(dir, "seen", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	exchange(&fake, "seen");
	CHECK(!dir_has(dir, "seen", place) && dir_has(dir, "moved", place));
	REQUIRE(!dir_reopen(dir, "seen", place, O_RDONLY, &fd));
	CHECK(read(fd, got, sizeof(got) - 1) == 4);
	CHECK_STR(got, "seen");
	close(fd);
	fake_free(&fake);
}

TEST(destination_folder_discarded_leaves_a_folder_that_took_its_place)
{
	struct destination_folder folder;
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "out/prepared/precious", "precious");
	REQUIRE(!destination_folder_make(fake_path(&fake, "out/t", path), NULL, &folder, &fail));
	exchange(&fake, folder.name);
	CHECK(destination_folder_place(&folder, 0644, &fail) == -ESTALE && strstr(fail.text, "replaced"));
	destination_folder_discard(&folder);
	snprintf(path, sizeof(path), "out/%s/precious", folder.name);
	CHECK(fake_holds(&fake, path, "precious"));
	destination_folder_release(&folder);
	fake_free(&fake);
}
