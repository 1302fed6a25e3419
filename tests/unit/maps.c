// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <string.h>

#include "lib/meaning/names/maps.h"

/* The maps of process 7; NULL if memory is short. */
static struct maps *maps_with(const char *text)
{
	struct maps *maps = NULL;

	return maps_of_text(7, text, strlen(text), &maps, NULL) ? NULL : maps;
}

static const char some[] = "00400000-00401000 r--p 00000000 00:02 60      /bin/a file\n"
			   "00401000-00585000 r-xp 00001000 00:02 60      /bin/sh (deleted)\n"
			   "00600000-00700000 rw-p 00000000 00:00 0 \n"
			   "7ffe5639a000-7ffe563bb000 rw-p 00000000 00:00 0   [stack]\n"
			   "7fff00000000-7fff00001000 r--p 00000000 00:02 61  /lib/last\n";

TEST(maps_find_the_first_map_that_ends_behind_an_address_as_the_kernel_does)
{
	struct maps *maps = maps_with(some);
	struct map map = { .path = NULL };

	REQUIRE(maps);
	CHECK(maps_find(maps, 7, 0x401000, &map) && map.start == 0x401000);
	CHECK(map.path && map.path_len == 17 && !memcmp(map.path, "/bin/sh (deleted)", 17));
	CHECK(maps_find(maps, 7, 0x400fff, &map) && map.path && map.path_len == 11);
	/* Before the first map, and in a gap: the search returns the map behind the address. */
	CHECK(maps_find(maps, 7, 5, &map) && map.start == 0x400000);
	CHECK(maps_find(maps, 7, 0x7ffe563bb000, &map) && map.start == 0x7fff00000000);
	CHECK(!maps_find(maps, 7, 0x7fff00001000, &map));
	CHECK(!maps_find(maps, 8, 0x401000, &map));
	maps_free(maps);
}

TEST(maps_have_no_path_where_no_file_is_mapped)
{
	struct maps *maps = maps_with(some);
	struct map map = { .path = "" };

	REQUIRE(maps);
	CHECK(maps_find(maps, 7, 0x600000, &map) && !map.path);
	CHECK(maps_find(maps, 7, 0x7ffe5639a000, &map) && !map.path);
	maps_free(maps);
}

TEST(maps_leave_out_lines_that_are_none_or_not_in_order)
{
	struct maps *maps = maps_with("\n-\n5\n5-\n5-4 r /x\nzz-zzz r /x\n10-20 r--p 0 0:0 1 /ten\n"
				      "08-09 r--p 0 0:0 1 /eight\n111111111111111111-2 r\n30-40\n");
	struct map map;

	REQUIRE(maps);
	CHECK(maps_find(maps, 7, 8, &map) && map.start == 0x10 && map.path_len == 4);
	CHECK(!maps_find(maps, 7, 0x30, &map));
	maps_free(maps);
}
