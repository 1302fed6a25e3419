// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/kernel/probe/elf_functions.h"
#include "lib/kernel/record/maps_watch_internal.h"
#include "lib/meaning/names/functions.h"
#include "lib/meaning/names/maps.h"
#include "lib/pages/ring/page.h"

static const char maps_text[] = "400000-402000 r-xp 00001000 08:01 7 /bin/a\n"
				"500000-501000 r-xp 00000000 08:01 8 /lib/b c.so\n"
				"600000-601000 r-xp 00000000 08:01 9 /bin/a\n";

static const char functions_text[] = "f 8 - /lib/b c.so\n"
				     "10 20 first<int, char>\n"
				     "40 0 empty\n"
				     "zz\n"
				     "20 10 not_in_order\n"
				     "50 10 last\n"
				     "f 7 0123ab /bin/a\n"
				     "1000 100 main\n";

static bool is(const struct functions *functions, const struct maps *maps, uint64_t address, const char *name)
{
	struct function function;
	struct map map;

	if (!maps_find(maps, 7, address, &map) || address < map.start ||
	    !functions_find(functions, &map, address, &function))
		return !*name;
	return function.name_len == strlen(name) && !memcmp(function.name, name, function.name_len);
}

TEST(functions_are_found_by_the_file_its_inode_and_the_place_in_it)
{
	struct functions *functions = NULL;
	struct maps *maps = NULL;

	REQUIRE(!functions_of_text(functions_text, strlen(functions_text), &functions, NULL));
	REQUIRE(!maps_of_text(7, maps_text, strlen(maps_text), &maps, NULL));
	CHECK(is(functions, maps, 0x400000, "main"));
	CHECK(is(functions, maps, 0x4000ff, "main"));
	CHECK(is(functions, maps, 0x400100, ""));
	CHECK(is(functions, maps, 0x50000f, ""));
	CHECK(is(functions, maps, 0x500010, "first<int, char>"));
	CHECK(is(functions, maps, 0x500040, ""));
	CHECK(is(functions, maps, 0x50005f, "last"));
	/* Another file of that name. */
	CHECK(is(functions, maps, 0x600000, ""));
	functions_free(functions);
	maps_free(maps);
}

TEST(functions_of_a_small_file_are_those_of_the_addresses_in_its_pages)
{
	static const uint64_t words[] = { 0x400020, 5, 0x500060, UINT64_MAX };
	const struct page_shape shape = { .size = sizeof(words), .long_size = 8 };
	struct functions_subset *subset = NULL;
	struct buf text = BUF_INIT;

	REQUIRE(!functions_subset_new(functions_text, strlen(functions_text), &subset, NULL));
	REQUIRE(!functions_subset_maps(subset, maps_text, strlen(maps_text), NULL));
	functions_subset_pages(subset, &shape, (const uint8_t *)words, sizeof(words));
	REQUIRE(!functions_subset_take(subset, &text, NULL));
	/* A call may be the last instruction of its function: then it returns to the byte behind it. */
	CHECK_STR(buf_str(&text), "f 7 0123ab /bin/a\n1000 100 main\nf 8 - /lib/b c.so\n50 10 last\n");
	buf_release(&text);
	functions_subset_free(subset);
}

static void see(struct maps_watch *watch, uint32_t type, uint16_t misc, uint32_t pid, uint32_t second, uint64_t start,
		uint64_t ts, const char *path)
{
	uint8_t record[256] = { 0 };
	struct perf_event_header head = { .type = type, .misc = misc };
	uint64_t length = 0x1000, inode = 5;

	head.size = type == PERF_RECORD_MMAP2 ? 128 : 48;
	memcpy(record, &head, sizeof(head));
	memcpy(record + 8, &pid, 4);
	memcpy(record + 12, &second, 4);
	memcpy(record + 16, &start, 8);
	if (type == PERF_RECORD_MMAP2) {
		memcpy(record + 24, &length, 8);
		memcpy(record + 48, &inode, 8);
		memcpy(record + 72, path, strlen(path) + 1);
	}
	memcpy(record + head.size - 8, &ts, 8);
	maps_watch_see(watch, record, head.size);
	maps_watch_see(watch, record, head.size - 1u);
}

TEST(maps_that_the_kernel_tells_of_are_those_of_the_last_program)
{
	struct maps_watch *watch = NULL;
	struct buf text = BUF_INIT;

	REQUIRE(!maps_watch_new(&watch, NULL));
	see(watch, PERF_RECORD_MMAP2, 0, 10, 10, 0x5000, 1, "/bin/sh");
	see(watch, PERF_RECORD_MMAP2, 0, 10, 10, 0x1000, 2, "/lib/c");
	see(watch, PERF_RECORD_MMAP2, 0, 10, 10, 0x9000, 3, "[vdso]");
	see(watch, PERF_RECORD_FORK, 0, 11, 10, 0, 4, NULL);
	see(watch, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 10, 10, 0, 5, NULL);
	see(watch, PERF_RECORD_MMAP2, 0, 10, 10, 0x7000, 6, "/bin/true");
	/* A new map in the place of another one. */
	see(watch, PERF_RECORD_MMAP2, 0, 10, 10, 0x7800, 7, "/lib/d");
	/* It began before the exec, and is read late. */
	see(watch, PERF_RECORD_FORK, 0, 10, 11, 0, 4, NULL);
	REQUIRE(!maps_watch_put(watch, &text, NULL));
	CHECK(strstr(buf_str(&text), "p 11\n1000-2000 r-xp 00000000 00:00 5 /lib/c\n"
				     "5000-6000 r-xp 00000000 00:00 5 /bin/sh\n"));
	CHECK(strstr(buf_str(&text), "p 10\n7800-8800 r-xp 00000000 00:00 5 /lib/d\n"));
	CHECK(!strstr(buf_str(&text), "vdso") && !strstr(buf_str(&text), "/bin/true"));
	buf_release(&text);
	maps_watch_free(watch);
}

TEST(functions_of_bytes_that_are_no_program_are_none)
{
	static const char bytes[64] = "\177ELF\2\1\1";
	const struct elf_image none = { .data = NULL }, broken = { bytes, sizeof(bytes) };
	struct buf text = BUF_INIT;
	char id[BUILD_ID_TEXT];
	bool cut;

	CHECK(elf_functions_put(&none, &none, 100, &text, &cut) && !text.len && !cut);
	CHECK(elf_functions_put(&broken, &none, 100, &text, &cut) && !text.len);
	elf_build_id(&broken, id);
	CHECK(!*id);
	buf_release(&text);
}
