// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/probe/elf_unwind.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/meaning/names/functions.h"
#include "lib/meaning/names/maps.h"
#include "lib/meaning/names/unwind.h"

enum { FRAMES = 64 };

static const uint64_t words[] = { 0x11, 0x22, 0x33, 0x44, 0x1030, 0x55 };

static struct unwind at_stack(void)
{
	struct unwind unwind = { .stack = (const uint8_t *)words, .stack_len = sizeof(words), .stack_at = 0x1000 };

	unwind.registers[UNWIND_STACK] = 0x1000;
	unwind.registers[UNWIND_PLACE] = 0x40000c;
	unwind.registers[6] = 0x1010;
	unwind.registers[0] = 1;
	unwind.known = (1u << UNWIND_REGISTERS) - 1;
	return unwind;
}

static enum unwind_end step(struct unwind *unwind, const char *rules, uint64_t offset)
{
	*unwind = at_stack();
	return unwind_step(unwind, rules, strlen(rules), offset);
}

TEST(unwind_takes_the_row_of_the_place)
{
	struct unwind unwind;

	CHECK(step(&unwind, "0 7+8;1 7+16 6-16;a 6+16 6-16", 0) == UNWIND_GOES_ON);
	CHECK(unwind.registers[UNWIND_PLACE] == 0x11 && unwind.registers[UNWIND_STACK] == 0x1008 && unwind.called);
	CHECK(unwind.registers[6] == 0x1010);
	CHECK(step(&unwind, "0 7+8;1 7+16 6-16;a 6+16 6-16", 9) == UNWIND_GOES_ON);
	CHECK(unwind.registers[UNWIND_PLACE] == 0x22 && unwind.registers[6] == 0x11);
	CHECK(step(&unwind, "0 7+8;1 7+16 6-16;a 6+16 6-16", 10) == UNWIND_GOES_ON);
	CHECK(unwind.registers[UNWIND_PLACE] == 0x44 && unwind.registers[6] == 0x33);
	/* A register that need not be kept may be anything when the function returns. */
	CHECK(!(unwind.known & 1) && unwind.known >> 3 & 1);
}

TEST(unwind_knows_the_other_forms_of_rules)
{
	struct unwind unwind;

	CHECK(step(&unwind, "0 *7+32", 0) == UNWIND_GOES_ON && unwind.registers[UNWIND_PLACE] == 0x55);
	CHECK(step(&unwind, "0 p11", 0) == UNWIND_GOES_ON && unwind.registers[UNWIND_PLACE] == 0x22);
	CHECK(step(&unwind, "0 p13", 0) == UNWIND_GOES_ON && unwind.registers[UNWIND_PLACE] == 0x11);
	CHECK(step(&unwind, "0 7+16 3? 16=7+16 s", 0) == UNWIND_GOES_ON);
	CHECK(unwind.registers[UNWIND_PLACE] == 0x33 && !unwind.called && !(unwind.known >> 3 & 1));
	CHECK(step(&unwind, "0 3+8", 0) == UNWIND_UNKNOWN);
	CHECK(step(&unwind, "0 7+8 e", 0) == UNWIND_WHOLE);
}

TEST(unwind_never_guesses)
{
	static const char *const wrong[] = { "",       "0 ?",    "1 7+8",         "0 7+8 16?", "0 7+0",
					     "0 7-8",  "0 17+8", "0 7",           "0 7+8 x",   "0 7+8 6-99",
					     "0 7+8 ", "g 7+8",  "0 7+16 6-17 e", "0 7+8 99+8" };
	struct unwind unwind;

	for (size_t i = 0; i < array_size(wrong); i++)
		CHECK(step(&unwind, wrong[i], 0) == UNWIND_UNKNOWN);
	CHECK(unwind.registers[UNWIND_PLACE] == 0x40000c && unwind.registers[UNWIND_STACK] == 0x1000);
	CHECK(step(&unwind, "0 7+56", 0) == UNWIND_CUT);
	CHECK(step(&unwind, "0 7+48", 0) == UNWIND_GOES_ON);
	CHECK(step(&unwind, "0 7+52", 0) == UNWIND_CUT);
}

#if defined(__x86_64__)
struct scene {
	struct functions *rules;
	struct maps *maps;
	bool same;
};

static struct scene scene;

static void add_file(const char *path, uint64_t inode, struct buf *into)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_image image;
	struct stat stat;
	void *at;

	if (fd < 0 || fstat(fd, &stat))
		return;
	at = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return;
	image = (struct elf_image){ at, (size_t)stat.st_size };
	(void)!buf_addf(into, "f %" PRIu64 " - %s\n", inode, path);
	(void)!elf_unwind_put(&image, 64 << 20, into);
	munmap(at, (size_t)stat.st_size);
}

static size_t unwind_here(const ucontext_t *context, uint64_t frames[FRAMES])
{
	/* The numbers of the psABI, in the order of REG_R8 and so on of ucontext.h. */
	static const uint8_t numbers[] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16 };
	struct unwind unwind = { .known = (1u << UNWIND_REGISTERS) - 1 };
	enum unwind_end end = UNWIND_GOES_ON;
	struct function function;
	struct map map;
	size_t nr = 0;

	for (size_t i = 0; i < array_size(numbers); i++)
		unwind.registers[numbers[i]] = (uint64_t)context->uc_mcontext.gregs[i];
	unwind.stack_at = unwind.registers[UNWIND_STACK];
	unwind.stack = (const uint8_t *)(uintptr_t)unwind.stack_at;
	while (nr < FRAMES && end == UNWIND_GOES_ON) {
		uint64_t place = frames[nr++] = unwind.registers[UNWIND_PLACE];

		/* Up to the end of the stack's map. */
		if (!maps_find(scene.maps, 7, unwind.stack_at, &map))
			break;
		unwind.stack_len = (size_t)(map.end - unwind.stack_at);
		place -= unwind.called;
		if (!maps_find(scene.maps, 7, place, &map) || !map.path || place < map.start ||
		    !functions_find(scene.rules, &map, place, &function))
			break;
		end = unwind_step(&unwind, function.name, function.name_len, function.offset);
	}
	return nr;
}

/* libgcc is the judge. */
static int compare(const void *a, const void *b)
{
	uint64_t frames[FRAMES];
	void *judged[FRAMES];
	ucontext_t context;
	size_t nr, nr_judged = (size_t)backtrace(judged, FRAMES);
	bool more; /* a sanitizer's backtrace() has a frame of its own in front */

	getcontext(&context);
	nr = unwind_here(&context, frames);
	more = nr_judged > nr;
	scene.same = nr > 4 && nr_judged == nr + more;
	for (size_t i = 1; scene.same && i < nr; i++)
		scene.same = frames[i] == (uint64_t)(uintptr_t)judged[i + more];
	return *(const int *)a - *(const int *)b;
}

TEST(unwind_of_this_program_finds_what_libgcc_finds)
{
	cleanup_buf struct buf text = BUF_INIT, maps = BUF_INIT;
	const char *rest;
	int numbers[] = { 2, 1 };
	struct text_word line;
	struct map map;
	size_t len;

	REQUIRE(!tracing_read_path("/proc/self/maps", &maps, NULL));
	rest = buf_str(&maps);
	len = maps.len;
	while (text_next_line(&rest, &len, &line)) {
		char path[512];

		if (!map_of_line(line, &map) || !map.path || !map.executable || *map.path != '/')
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)map.path_len, map.path);
		add_file(path, map.inode, &text);
	}
	REQUIRE(!functions_of_text(buf_str(&text), text.len, &scene.rules, NULL));
	REQUIRE(!maps_of_text(7, buf_str(&maps), maps.len, &scene.maps, NULL));
	qsort(numbers, 2, sizeof(*numbers), compare);
	CHECK(scene.same);
	functions_free(scene.rules);
	maps_free(scene.maps);
}
#endif
