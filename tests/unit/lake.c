// SPDX-License-Identifier: GPL-2.0-only
#include "lib/files/lake/lake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

enum { KB = 1024 };

/* The day of a file is what it begins with. */
static int read_day(int fd, const char *table, int64_t *ret, struct fail *fail)
{
	char day;

	CHECK(!strcmp(table, "run"));
	if (pread(fd, &day, 1, 0) != 1 || day == 'x')
		return fail_set(fail, -EBADMSG, "it is none");
	*ret = day;
	return 0;
}

/* A file of so many KB, whose first byte is its day. */
static void make(const struct fake *fake, const char *leaf, char day, off_t kb)
{
	char path[FAKE_PATH], name[64];
	int fd;

	snprintf(name, sizeof(name), "lake/1/run/%s.parquet", leaf);
	fd = open(fake_path(fake, name, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, &day, 1) == 1 && !ftruncate(fd, kb * KB));
	close(fd);
}

/* The names of what is to be merged, with blanks behind them. -errno is "error". */
static const char *inputs(const struct fake *fake, char into[256])
{
	static const char *const tables[] = { "run", NULL };
	const struct lake_choice choice = { 8 * KB, 64 * KB, 100, read_day };
	struct lake lake = LAKE_INIT;
	struct lake_input *at = NULL;
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH];
	size_t nr = 0;

	*into = '\0';
	if (!CHECK(!lake_open(fake_path(fake, "lake", path), false, tables, &lake, &fail)))
		return into;
	if (lake_inputs(&lake, "run", &choice, &at, &nr, &fail))
		snprintf(into, 256, "%.200s", fail.text);
	for (size_t i = 0; i < nr; i++)
		snprintf(into + strlen(into), 256 - strlen(into), "%.*s ", (int)strcspn(at[i].name, "."), at[i].name);
	lake_inputs_free(at, nr);
	lake_release(&lake);
	return into;
}

static bool begin(struct fake *fake)
{
	char path[FAKE_PATH];

	if (!CHECK(fake_new(fake)))
		return false;
	fake_mkdir(fake, "lake/1/run");
	fake_write(fake, "lake/1/loads", "");
	fake_write(fake, "lake/1/files", "");
	return CHECK(!symlink("1", fake_path(fake, "lake/current", path)));
}

TEST(lake_merges_small_files_at_once_and_large_ones_when_a_day_has_four)
{
	struct fake fake;
	char text[256];

	if (!begin(&fake))
		return;
	make(&fake, "2-1", 'a', 7);
	CHECK(!strcmp(inputs(&fake, text), ""));
	make(&fake, "3-1", 'a', 7);
	CHECK(!strcmp(inputs(&fake, text), "2-1 3-1 "));
	make(&fake, "2-1", 'a', 8);
	make(&fake, "3-1", 'a', 9);
	make(&fake, "4-1", 'a', 63);
	make(&fake, "5-1", 'b', 8);
	make(&fake, "6-1", 'a', 64);
	CHECK(!strcmp(inputs(&fake, text), ""));
	/* A file that was added, and of day a three, of day b one. */
	make(&fake, "7", 'a', 200);
	CHECK(!strcmp(inputs(&fake, text), "7 "));
	make(&fake, "10-1", 'a', 8);
	CHECK(!strcmp(inputs(&fake, text), "2-1 3-1 4-1 7 10-1 "));
	make(&fake, "10-2", 'b', 8);
	make(&fake, "10-3", 'b', 8);
	make(&fake, "10-4", 'b', 8);
	CHECK(!strcmp(inputs(&fake, text), "2-1 3-1 4-1 5-1 7 10-1 10-2 10-3 10-4 "));
	make(&fake, "4-1", 'x', 63);
	CHECK(!strcmp(inputs(&fake, text), "'run/4-1.parquet': it is none"));
	fake_free(&fake);
}
