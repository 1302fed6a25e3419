// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

static bool exists(const char *dir, const char *name)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !lstat(path, &st);
}

static bool takes(const struct destination_folder *folder, const char *name)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = -1;
	int r = destination_folder_open(folder, name, &fd, &fail);

	CHECK(!r || *fail.text);
	return !r && write(fd, "x", 1) == 1;
}

static void forget(const char *dir, const char *name, int flags)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	CHECK(!unlinkat(AT_FDCWD, path, flags));
}

TEST(destination_folder_takes_names_in_it_and_no_others)
{
	char dir[] = "/tmp/weft-unit-folder-XXXXXX", path[64];
	struct destination_folder folder;
	struct fail fail = FAIL_INIT;

	REQUIRE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/out", dir);
	REQUIRE(!destination_folder_make(path, NULL, &folder, &fail));
	CHECK(takes(&folder, "a") && takes(&folder, "a") && takes(&folder, "sub/b"));
	CHECK(!takes(&folder, "../b") && !takes(&folder, "/b") && !takes(&folder, "sub/../b") &&
	      !takes(&folder, "sub/x/y"));
	CHECK(!takes(&folder, "") && !takes(&folder, "sub/") && !takes(&folder, ".b") && !takes(&folder, "."));
	CHECK(!exists(path, "a"));
	CHECK(!destination_folder_place(&folder, 0600, &fail));
	CHECK(exists(path, "a") && exists(path, "sub/b") && !exists(dir, folder.name));
	destination_folder_release(&folder);
	/* The folder is no longer empty. */
	CHECK(destination_folder_make(path, NULL, &folder, &fail) == -EEXIST);
	CHECK(strstr(fail.text, "not empty"));
	forget(dir, "out/a", 0);
	forget(dir, "out/sub/b", 0);
	forget(dir, "out/sub", AT_REMOVEDIR);
	forget(dir, "out", AT_REMOVEDIR);
	CHECK(!rmdir(dir));
}

TEST(destination_folder_discarded_leaves_nothing)
{
	char dir[] = "/tmp/weft-unit-folder-XXXXXX", path[64];
	struct destination_folder folder;
	struct fail fail = FAIL_INIT;

	REQUIRE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/out/", dir);
	REQUIRE(!destination_folder_make(path, NULL, &folder, &fail));
	CHECK(takes(&folder, "a") && takes(&folder, "sub/b"));
	destination_folder_discard(&folder);
	destination_folder_release(&folder);
	CHECK(!rmdir(dir));
}

TEST(destination_folder_does_not_take_the_place_of_what_came_meanwhile)
{
	char dir[] = "/tmp/weft-unit-folder-XXXXXX", path[64];
	struct destination_folder folder;
	struct fail fail = FAIL_INIT;

	REQUIRE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/out", dir);
	REQUIRE(!destination_folder_make(path, NULL, &folder, &fail));
	REQUIRE(!symlink("/", path));
	CHECK(destination_folder_place(&folder, 0600, &fail) == -EEXIST);
	CHECK(strstr(fail.text, "exists"));
	destination_folder_discard(&folder);
	destination_folder_release(&folder);
	unlink(path);
	CHECK(!rmdir(dir));
}
