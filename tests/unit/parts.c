// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts_name.h"
#include "lib/kernel/record/sync_internal.h"
#include "lib/pages/ring/page.h"
#include "tests/unit/test.h"

struct scene {
	char dir[32], output[64];
	struct parts *parts;
	struct fail fail;
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .dir = "/tmp/weft-unit-XXXXXX", .fail = FAIL_INIT };
	if (!CHECK(mkdtemp(scene->dir)))
		return false;
	snprintf(scene->output, sizeof(scene->output), "%s/p.dat", scene->dir);
	return CHECK(!parts_new(scene->output, NULL, &scene->parts, &scene->fail));
}

static void end(struct scene *scene)
{
	char command[64];

	parts_free(scene->parts);
	snprintf(command, sizeof(command), "rm -rf '%s'", scene->dir);
	CHECK(!system(command));
}

/* The recorder has died; its parts are at this path. */
static const char *abandon(struct scene *scene, char path[128])
{
	snprintf(path, 128, "%s", scene->parts->path);
	parts_free(scene->parts);
	scene->parts = NULL;
	return path;
}

static bool describe(struct scene *scene)
{
	const struct parts_file file =
		parts_file_here(7, true, 1, &(struct page_shape){ .size = 4096, .long_size = 8 }, 2);

	return CHECK(!parts_describe(scene->parts, &file, NULL) &&
		     !ledger_add_text(scene->parts->ledger, LEDGER_HEADER_PAGE, "header", NULL) &&
		     !ledger_add_text(scene->parts->ledger, LEDGER_HEADER_EVENT, "header", NULL));
}

TEST(parts_have_a_name_that_tells_their_output_and_their_owner)
{
	static const struct {
		const char *path, *output;
		pid_t owner;
	} table[] = {
		{ "a.dat.weft-12-0123abcd.parts", "a.dat", 12 },
		{ "/tmp/a.dat.weft-12-0123abcd.parts/", "/tmp/a.dat", 12 },
		{ "x.weft-y.weft-12-0.parts", "x.weft-y", 12 },
		{ "/tmp/.weft-12-0.parts", NULL, 12 },
		{ "a.dat", NULL, 0 },
		{ "a.weft--1-0.parts", NULL, 0 },
		{ "a.weft-0-0.parts", NULL, 0 },
		{ "a.weft-12.parts", NULL, 0 },
		{ "a.weft-12-0.parts.old", NULL, 0 },
		{ "a.weft-99999999999-0.parts", NULL, 0 },
	};

	for (size_t i = 0; i < array_size(table); i++) {
		cleanup_free char *output = parts_output(table[i].path);
		bool ok = CHECK(parts_owner(table[i].path) == table[i].owner);

		ok = CHECK(!output == !table[i].output && (!output || !strcmp(output, table[i].output))) && ok;
		if (!ok)
			fprintf(stderr, "%s\n", table[i].path);
	}
}

TEST(parts_lie_beside_the_output_or_where_temp_dir_says)
{
	static const struct {
		const char *output, *temp_dir, *prefix;
	} table[] = {
		{ "a.dat", NULL, "a.dat.weft-" },       { "/x/a.dat", NULL, "/x/a.dat.weft-" },
		{ "/x/a.dat", "/y", "/y/a.dat.weft-" }, { "-", NULL, "/var/tmp/stdout.weft-" },
		{ "-", "/y", "/y/stdout.weft-" },       { "/dev/null", NULL, "/var/tmp/null.weft-" },
	};

	for (size_t i = 0; i < array_size(table); i++) {
		cleanup_free char *path = parts_name_new(table[i].output, table[i].temp_dir);

		CHECK(path && !strncmp(path, table[i].prefix, strlen(table[i].prefix)) &&
		      parts_owner(path) == getpid());
	}
}

TEST(parts_say_at_once_where_nothing_can_be_written)
{
	char output[128], temp_dir[128];
	struct parts *parts = NULL;
	struct scene scene;

	if (begin(&scene)) {
		snprintf(output, sizeof(output), "%s/nosuch/a.dat", scene.dir);
		CHECK(parts_new(output, NULL, &parts, &scene.fail) == -ENOENT);
		CHECK(strstr(scene.fail.text, output));
		snprintf(temp_dir, sizeof(temp_dir), "%s/nosuch", scene.dir);
		CHECK(parts_new(scene.output, temp_dir, &parts, &scene.fail) == -ENOENT);
		CHECK(strstr(scene.fail.text, "nosuch' (--temp-dir): No such file or directory"));
	}
	end(&scene);
}

TEST(parts_left_behind_are_found_when_their_recorder_has_died)
{
	cleanup_free char *found = NULL;
	struct parts *parts = NULL;
	struct scene scene;
	char path[128];

	if (begin(&scene) && describe(&scene)) {
		/* The recorder of these parts, this process, is alive. */
		CHECK(!parts_left_behind(scene.output, &found));
		abandon(&scene, path);
		CHECK(parts_left_behind(scene.output, &found));
		REQUIRE(found != NULL);
		CHECK_STR(found, path);
		/* Parts with a recording are not discarded, whatever was in a directory of that name before. */
		CHECK(parts_discard(path, &scene.fail) == -EEXIST && !access(path, F_OK));
		REQUIRE(!parts_open(path, &parts, &scene.fail));
		CHECK(!parts_remove(parts, &scene.fail) && access(path, F_OK));
		parts_free(parts);
		CHECK(parts_discard(path, &scene.fail) == -ENOENT && strstr(scene.fail.text, path));
	}
	end(&scene);
}

TEST(parts_that_cannot_be_what_a_recorder_left_are_refused)
{
	struct parts *parts = NULL;
	char path[128], link[160];
	struct scene scene;

	if (begin(&scene)) {
		abandon(&scene, path);
		CHECK(parts_open(path, &parts, &scene.fail) == -ENODATA);
		CHECK(strstr(scene.fail.text, "holds no recording: it ended before it had begun"));
		snprintf(link, sizeof(link), "%s/link", scene.dir);
		CHECK(!symlink(path, link));
		CHECK(parts_open(link, &parts, &scene.fail) < 0);
		CHECK(strstr(scene.fail.text, "it is not a directory, or is a symbolic link"));
		CHECK(!chmod(path, 0777));
		CHECK(parts_open(path, &parts, &scene.fail) == -EPERM);
		CHECK(strstr(scene.fail.text,
			     "; if you trust these parts, copy them as yourself (cp -r) and recover the copy"));
	}
	end(&scene);
}

TEST(parts_with_a_description_of_another_form_are_refused)
{
	struct parts *parts = NULL;
	struct scene scene;
	char path[128];

	if (begin(&scene) && describe(&scene)) {
		CHECK(!ledger_add_text(scene.parts->ledger, LEDGER_FILE, "another form", NULL));
		CHECK(parts_open(abandon(&scene, path), &parts, &scene.fail) == -EBADMSG);
		CHECK(strstr(scene.fail.text, "is of another version of weft or damaged"));
	}
	end(&scene);
}

TEST(parts_remember_the_whole_path_of_the_output)
{
	cleanup_free char *before = getcwd(NULL, 0);
	struct parts *parts = NULL;
	struct scene scene;
	const char *output;

	if (begin(&scene) && CHECK(before && !chdir(scene.dir))) {
		CHECK(!parts_new("r.dat", NULL, &parts, &scene.fail));
		CHECK(!chdir(before));
		REQUIRE(parts && !ledger_load(parts->ledger, NULL));
		output = ledger_text(parts->ledger, LEDGER_OUTPUT);
		CHECK(output && !strncmp(output, scene.dir, strlen(scene.dir)) &&
		      !strcmp(output + strlen(scene.dir), "/r.dat"));
		parts_free(parts);
	}
	end(&scene);
}

TEST(parts_are_not_removed_through_a_directory_that_took_their_place)
{
	char path[160], aside[160];
	struct scene scene;

	if (begin(&scene)) {
		snprintf(path, sizeof(path), "%s", scene.parts->path);
		snprintf(aside, sizeof(aside), "%s/aside", scene.dir);
		CHECK(!rename(path, aside) && !mkdir(path, 0700));
		CHECK(parts_remove(scene.parts, &scene.fail) == -EPERM);
		CHECK(strstr(scene.fail.text, "it was replaced by another directory meanwhile"));
		CHECK(!access(path, F_OK));
	}
	end(&scene);
}

TEST(parts_open_only_unfinished_files_of_their_own)
{
	char name[PARTS_NAME];
	struct scene scene;
	int fd = -1, again = -1;

	if (begin(&scene)) {
		CHECK(!parts_unfinished_new(scene.parts, name, &fd, NULL) && write(fd, "pages", 5) == 5);
		CHECK(!parts_unfinished_open(scene.parts, name, &again, &scene.fail) && again >= 0);
		close(fd);
		close(again);
		CHECK(parts_unfinished_open(scene.parts, "metadata", &fd, &scene.fail) == -EBADMSG);
		CHECK(strstr(scene.fail.text, "'metadata' is not the name of a file in"));
		CHECK(parts_unfinished_open(scene.parts, "unfinished.99", &fd, &scene.fail) == -ENOENT);
	}
	end(&scene);
}

TEST(parts_are_synced_and_the_file_that_cannot_be_is_named)
{
	struct scene scene;
	char link[160];

	if (begin(&scene)) {
		CHECK(!sync_parts(scene.parts, &scene.fail));
		snprintf(link, sizeof(link), "%s/0.7", scene.parts->path);
		CHECK(!symlink("elsewhere", link));
		CHECK(sync_parts(scene.parts, &scene.fail) == -ELOOP);
		CHECK(strstr(scene.fail.text, "cannot sync '0.7' to the disk"));
	}
	end(&scene);
}
