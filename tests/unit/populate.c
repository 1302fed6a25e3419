// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/populate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/test.h"

TEST(populate_grown_keeps_what_was_used_from_bytes_to_megabytes)
{
	unsigned char *memory = NULL;
	size_t used = 0;

	for (size_t size = 16; size <= 16 << 20; size *= 2) {
		unsigned char *grown = populate_grown(memory, used, size);

		REQUIRE(grown);
		memory = grown;
		for (size_t i = 0; i < used; i += 15)
			CHECK(memory[i] == (unsigned char)(i * 7));
		for (size_t i = used; i < size; i++)
			memory[i] = (unsigned char)(i * 7);
		used = size;
	}
	free(memory);
}

TEST(populate_changes_no_byte_and_maps_all_pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 16 * page;
	unsigned char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), there[16];

	REQUIRE(memory != MAP_FAILED);
	memory[3 * page + 5] = 42;
	/* Neither begins nor ends with a page. */
	populate(memory + page / 2, size - page);
	REQUIRE(!mincore(memory, size, there));
#ifdef MADV_POPULATE_WRITE
	/* Kernels before 5.14 cannot. */
	for (size_t i = 0; i < 16 && !madvise(memory, page, MADV_POPULATE_WRITE); i++)
		CHECK(there[i] & 1);
#endif
	CHECK(memory[3 * page + 5] == 42);
	CHECK(memory[3 * page + 4] == 0);
	munmap(memory, size);
}
