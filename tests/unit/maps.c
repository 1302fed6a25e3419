// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include "lib/base/fail.h"
#include "lib/event/maps.h"
#include "lib/trace/trace.h"
#include "lib/trace/writer.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

/* A file that keeps these maps of process 7, opened; NULL when it cannot be made. */
static struct trace *trace_with(const char *text)
{
	const struct writer_options options = { .version = 7, .long_size = 8, .page_size = 4096 };
	struct writer_setting setting = { 0, "proc/7/maps", text, strlen(text) };
	const struct writer_metadata metadata = { .header_page = header_page, .header_event = "", .uname = "Linux loom",
						  .version = "loom", .clock = "[local]", .cpu_count = 1,
						  .settings = &setting, .nr_settings = 1 };
	int fd = memfd_create("maps", MFD_CLOEXEC);
	struct writer *writer = NULL;
	struct trace *trace = NULL;
	int r = writer_new(fd, &options, &writer, NULL);

	if (!r)
		r = writer_metadata(writer, &metadata, NULL);
	if (!r)
		r = writer_buffer(writer, "", "local", 4096, NULL);
	if (!r)
		r = writer_finish(writer, NULL);
	writer_free(writer);
	if (r || trace_open_fd(fd, "maps", &trace, NULL))
		trace = NULL;
	close(fd);
	return trace;
}

static const char some[] =
	"00400000-00401000 r--p 00000000 00:02 60      /bin/a file\n"
	"00401000-00585000 r-xp 00001000 00:02 60      /bin/sh (deleted)\n"
	"00600000-00700000 rw-p 00000000 00:00 0 \n"
	"7ffe5639a000-7ffe563bb000 rw-p 00000000 00:00 0   [stack]\n"
	"7fff00000000-7fff00001000 r--p 00000000 00:02 61  /lib/last\n";

TEST(maps_find_the_first_map_that_ends_behind_an_address_as_the_kernel_does)
{
	struct trace *trace = trace_with(some);
	struct maps *maps = NULL;
	struct map map = { .path = NULL };

	REQUIRE(trace);
	REQUIRE(!maps_new(trace, &maps, NULL));
	CHECK(maps_find(maps, 7, 0x401000, &map) && map.start == 0x401000);
	CHECK(map.path && map.path_len == 17 && !memcmp(map.path, "/bin/sh (deleted)", 17));
	CHECK(maps_find(maps, 7, 0x400fff, &map) && map.path && map.path_len == 11);
	/* Before the first, and in a gap: the map behind it. */
	CHECK(maps_find(maps, 7, 5, &map) && map.start == 0x400000);
	CHECK(maps_find(maps, 7, 0x7ffe563bb000, &map) && map.start == 0x7fff00000000);
	CHECK(!maps_find(maps, 7, 0x7fff00001000, &map));
	CHECK(!maps_find(maps, 8, 0x401000, &map));
	maps_free(maps);
	trace_free(trace);
}

TEST(maps_have_no_path_where_no_file_is_mapped)
{
	struct trace *trace = trace_with(some);
	struct maps *maps = NULL;
	struct map map = { .path = "" };

	REQUIRE(trace);
	REQUIRE(!maps_new(trace, &maps, NULL));
	CHECK(maps_find(maps, 7, 0x600000, &map) && !map.path);
	CHECK(maps_find(maps, 7, 0x7ffe5639a000, &map) && !map.path);
	maps_free(maps);
	trace_free(trace);
}

TEST(maps_leave_out_lines_that_are_none_or_not_in_order)
{
	struct trace *trace = trace_with("\n-\n5\n5-\n5-4 r /x\nzz-zzz r /x\n10-20 r--p 0 0:0 1 /ten\n"
					 "08-09 r--p 0 0:0 1 /eight\n111111111111111111-2 r\n30-40\n");
	struct maps *maps = NULL;
	struct map map;

	REQUIRE(trace);
	REQUIRE(!maps_new(trace, &maps, NULL));
	CHECK(maps_find(maps, 7, 8, &map) && map.start == 0x10 && map.path_len == 4);
	CHECK(!maps_find(maps, 7, 0x30, &map));
	maps_free(maps);
	trace_free(trace);
}
