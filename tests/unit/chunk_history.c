// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/chunk_history_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/record/spool.h"
#include "lib/pages/ring/page.h"
#include "tests/unit/test.h"

enum { PAGE_BYTES = 4096, CHUNK_BYTES = 16384, SPAN = 1000 };

static const struct page_shape shape = { .size = PAGE_BYTES, .long_size = sizeof(long) };

struct scene {
	struct chunk_history *held;
	struct chunk_history_cpu *cpus[2];
	struct spool spools[2];
};

static bool begin(struct scene *scene, uint64_t max)
{
	const struct spool_options options = { .compressed = true, .shape = shape };
	bool ok = !chunk_history_new(SPAN, max, false, &scene->held, NULL);

	for (unsigned i = 0; ok && i < 2; i++)
		ok = !spool_new_in_memory(&options, &scene->spools[i], NULL) &&
		     !chunk_history_add_cpu(scene->held, 0, i, scene->spools[i].fd, 5, &scene->cpus[i], NULL);
	return CHECK(ok);
}

static void end(struct scene *scene)
{
	chunk_history_free(scene->held);
	for (unsigned i = 0; i < 2; i++)
		spool_release(&scene->spools[i]);
}

static void make_page(uint64_t first, uint64_t last, uint8_t page[PAGE_BYTES])
{
	static const uint32_t payload[2] = { 1, 2 };
	const uint64_t times[] = { first, last };
	struct page_writer writer;

	page_writer_begin(&writer, &shape, page, 0);
	for (unsigned i = 0; i < 2; i++)
		CHECK(page_writer_add(&writer, &(struct record){ .ts = times[i],
								 .data = (const uint8_t *)payload,
								 .len = sizeof(payload) }));
	page_writer_end(&writer);
}

/* Adds a chunk whose events have these two times. */
static void add(struct scene *scene, unsigned cpu, uint64_t first, uint64_t last)
{
	static const char bytes[CHUNK_BYTES];
	uint8_t page[PAGE_BYTES];

	make_page(first, last, page);
	CHECK(!chunk_history_cpu_append(scene->cpus[cpu], &scene->spools[cpu], bytes, sizeof(bytes), PAGE_BYTES, page,
					page, NULL));
}

/* The times of what is held, or taken, of a CPU. */
static struct chunk_history_piece look(struct scene *scene, unsigned cpu)
{
	struct chunk_history_piece *pieces, piece = { .chunks = 0 };
	size_t nr;

	if (CHECK(!chunk_history_look(scene->held, &pieces, &nr, NULL)) && CHECK(nr == 2))
		piece = pieces[cpu];
	free(pieces);
	return piece;
}

TEST(held_drops_what_is_older_than_the_span_on_each_cpu)
{
	struct scene scene = { .held = NULL };

	if (begin(&scene, 1 << 30)) {
		add(&scene, 0, 100, 200);
		add(&scene, 1, 150, 1300);
		CHECK(look(&scene, 0).chunks == 0);
		CHECK(look(&scene, 0).since == 200);
		CHECK(look(&scene, 1).first == 150 && look(&scene, 1).since == 5);
		add(&scene, 1, 1400, 2301);
		CHECK(look(&scene, 1).first == 1400);
	}
	end(&scene);
}

TEST(held_drops_the_oldest_chunk_of_all_cpus_to_keep_to_the_memory)
{
	struct scene scene = { .held = NULL };

	if (begin(&scene, 2 * CHUNK_BYTES)) {
		add(&scene, 0, 100, 200);
		add(&scene, 1, 110, 190);
		add(&scene, 0, 210, 300);
		CHECK(look(&scene, 1).chunks == 0 && look(&scene, 1).since == 190);
		CHECK(look(&scene, 0).chunks == 2);
	}
	end(&scene);
}

TEST(held_keeps_what_is_taken_until_it_is_written)
{
	struct scene scene = { .held = NULL };
	struct chunk_history_piece *pieces = NULL;
	uint64_t from = 250;
	size_t nr;

	if (begin(&scene, 2 * CHUNK_BYTES)) {
		add(&scene, 0, 100, 200);
		add(&scene, 0, 300, 400);
		CHECK(!chunk_history_take(scene.held, &from, 350, false, &pieces, &nr, NULL));
		CHECK(from == 250);
		CHECK(pieces[0].chunks == 1 && pieces[0].first == 300 && pieces[0].size == CHUNK_BYTES);
		CHECK(pieces[1].chunks == 0);
		add(&scene, 0, 500, 2000);
		CHECK(look(&scene, 0).first == 300);
		chunk_history_written(scene.held);
		CHECK(look(&scene, 0).first == 500);
	}
	free(pieces);
	end(&scene);
}

TEST(held_keeps_what_a_trigger_needs_beyond_the_span)
{
	struct scene scene = { .held = NULL };

	if (begin(&scene, 1 << 30)) {
		add(&scene, 0, 100, 200);
		chunk_history_keep_from(scene.held, 150);
		add(&scene, 0, 5000, 5000);
		CHECK(look(&scene, 0).first == 100);
		chunk_history_keep_from(scene.held, UINT64_MAX);
		add(&scene, 0, 5001, 5001);
		CHECK(look(&scene, 0).first == 5000);
	}
	end(&scene);
}

TEST(held_gives_memory_back)
{
	struct scene scene = { .held = NULL };
	struct stat st;

	if (begin(&scene, 16 * CHUNK_BYTES)) {
		for (uint64_t i = 0; i < 400; i++)
			add(&scene, 0, i, i);
		CHECK(look(&scene, 0).chunks == 16 && look(&scene, 0).first == 384);
		/* the chunks, and less than a step of what was dropped */
		CHECK(!fstat(scene.spools[0].fd, &st) && st.st_blocks * 512 < 16 * CHUNK_BYTES + (128 << 10));
	}
	end(&scene);
}

/* Its first CPU's spool lies in a file system that is full. */
TEST(held_loses_a_chunk_for_which_there_is_no_memory_and_goes_on)
{
	struct scene scene = { .held = NULL };
	int full = open("/dev/full", O_RDWR | O_CLOEXEC), spool;

	if (begin(&scene, 1 << 30) && CHECK(full >= 0)) {
		add(&scene, 0, 100, 200);
		add(&scene, 1, 150, 250);
		CHECK(look(&scene, 0).crowded == 0);
		spool = dup(scene.spools[0].fd);
		CHECK(dup2(full, scene.spools[0].fd) >= 0);
		add(&scene, 0, 300, 400);
		CHECK(look(&scene, 0).chunks == 0 && look(&scene, 0).since == 400);
		CHECK(look(&scene, 1).chunks == 0 && look(&scene, 1).since == 250);
		CHECK(look(&scene, 0).crowded > 0);
		CHECK(dup2(spool, scene.spools[0].fd) >= 0);
		close(spool);
		add(&scene, 0, 500, 600);
		CHECK(look(&scene, 0).first == 500 && look(&scene, 0).since == 400);
	}
	if (full >= 0)
		close(full);
	end(&scene);
}
