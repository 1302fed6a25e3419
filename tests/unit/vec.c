// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/vec.h"

#include <stdlib.h>

#include "tests/unit/test.h"

struct thing {
	uint64_t number;
	char name[5];
};

TEST(vec_keeps_every_item_while_it_grows)
{
	struct thing *things = NULL;
	uint32_t nr = 0;
	bool right = true;

	for (unsigned i = 0; i < 5000; i++) {
		struct thing *thing = vec_push(things, nr);

		REQUIRE(thing != NULL);
		right &= thing == &things[i] && !thing->number && !thing->name[4];
		*thing = (struct thing){ .number = i, .name = "weft" };
	}
	CHECK(nr == 5000);
	for (unsigned i = 0; i < nr; i++)
		right &= things[i].number == i;
	CHECK(right);
	free(things);
}

TEST(vec_of_pointers_may_shrink_and_grow_again)
{
	const char **names = NULL;
	size_t nr = 0;

	/* Sizes below and above each power of two; the sanitizer build checks the bounds. */
	for (size_t most = 1; most < 70; most++) {
		while (nr < most) {
			const char **name = vec_push(names, nr);

			REQUIRE(name != NULL);
			CHECK(!*name);
			*name = "loom";
		}
		nr /= 2;
	}
	CHECK_STR(names[0], "loom");
	free(names);
}

TEST(vec_changes_nothing_when_there_is_no_memory)
{
	/* The doubled size does not fit in a size_t. */
	CHECK(!vec_room(NULL, SIZE_MAX / 2 + 1, 1));
	CHECK(!vec_room(NULL, 0, SIZE_MAX / 2));
}
