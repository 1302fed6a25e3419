// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/page_staging_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/record/spool.h"
#include "lib/pages/codec/frame.h"
#include "tests/unit/test.h"

enum { PAGE = 4096, PAGES = 8 };

struct scene {
	char dir[32];
	int fd;
	struct spool_options options;
	struct spool spool;
	struct page_staging *staging;
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .dir = "/tmp/weft-unit-XXXXXX", .fd = -1, .spool = { .fd = -1 } };
	scene->options =
		(struct spool_options){ .compressed = true, .shape = { .size = PAGE, .long_size = sizeof(long) } };
	if (CHECK(mkdtemp(scene->dir)))
		scene->fd = open(scene->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return CHECK(scene->fd >= 0 && !spool_new(scene->fd, 0, 1, &scene->options, &scene->spool, NULL) &&
		     !page_staging_new(scene->fd, 0, 1, PAGE, (size_t)PAGES * PAGE, &scene->staging, NULL));
}

static void end(struct scene *scene)
{
	char command[64];

	page_staging_free(scene->staging);
	spool_release(&scene->spool);
	close(scene->fd);
	snprintf(command, sizeof(command), "rm -rf '%s'", scene->dir);
	CHECK(!system(command));
}

/* A page of 16 committed bytes, with this time. */
static void make_page(char *page, uint64_t ts)
{
	unsigned long commit = 16;

	memset(page, (int)ts, PAGE);
	memcpy(page, &ts, sizeof(ts));
	memcpy(page + 8, &commit, sizeof(commit));
}

static void land(struct scene *scene, unsigned first, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		make_page(scene->staging->pages + (size_t)i * PAGE, first + i);
	scene->staging->used = (size_t)nr * PAGE;
}

/* Puts a page into the spool, as a chunk. */
static void put(struct scene *scene, unsigned ts)
{
	char chunk[SPOOL_CHUNK_HEAD + PAGE + 64];
	size_t size = frame_stored_size(PAGE), head = SPOOL_CHUNK_HEAD + size - PAGE;

	spool_chunk_head(&scene->options, (uint32_t)size, PAGE, chunk);
	frame_stored_head(chunk + SPOOL_CHUNK_HEAD);
	frame_stored_block(PAGE, true, chunk + head - FRAME_BLOCK_HEAD);
	make_page(chunk + head, ts);
	CHECK(!spool_append(&scene->spool, chunk, SPOOL_CHUNK_HEAD + size, 1, PAGE, NULL));
}

/* What a recovery finds, as the times of the first page and the number of pages. */
static size_t found(struct scene *scene, uint64_t *ret_first, bool *ret_fetching)
{
	struct landed landed = { .pages = NULL };
	size_t nr;

	spool_release(&scene->spool);
	CHECK(!spool_open(scene->fd, 0, 1, &scene->options, &scene->spool, NULL));
	CHECK(!page_staging_left(scene->fd, 0, 1, &scene->spool, &landed, NULL));
	*ret_first = 0;
	if (landed.len)
		memcpy(ret_first, landed.pages, sizeof(*ret_first));
	*ret_fetching = landed.fetching;
	nr = landed.len / PAGE;
	free(landed.pages);
	return nr;
}

TEST(landing_leaves_the_pages_that_the_spool_lacks)
{
	struct scene scene;
	uint64_t first;
	bool fetching;

	if (begin(&scene)) {
		put(&scene, 7);
		land(&scene, 8, 4);
		CHECK(found(&scene, &first, &fetching) == 4);
		CHECK(first == 8);
		put(&scene, 8);
		put(&scene, 9);
		CHECK(found(&scene, &first, &fetching) == 2);
		CHECK(first == 10);
		put(&scene, 10);
		put(&scene, 11);
		CHECK(found(&scene, &first, &fetching) == 0);
		CHECK(!fetching);
		/* Pages that did not land here follow. */
		page_staging_clear(scene.staging);
		put(&scene, 12);
		CHECK(found(&scene, &first, &fetching) == 0);
	}
	end(&scene);
}

TEST(landing_leaves_all_pages_of_an_empty_spool_and_a_torn_chunk)
{
	struct scene scene;
	uint64_t first;
	bool fetching;

	if (begin(&scene)) {
		land(&scene, 1, PAGES);
		page_staging_fetching(scene.staging, true);
		CHECK(found(&scene, &first, &fetching) == PAGES);
		CHECK(first == 1);
		CHECK(fetching);
		put(&scene, 1);
		put(&scene, 2);
		CHECK(!ftruncate(scene.spool.fd, (off_t)scene.spool.end - 9));
		CHECK(found(&scene, &first, &fetching) == PAGES - 1);
		CHECK(first == 2);
	}
	end(&scene);
}

TEST(landing_without_a_sense_leaves_nothing)
{
	struct scene scene;
	uint64_t first;
	bool fetching;

	if (begin(&scene)) {
		land(&scene, 1, 3);
		/* A committed size that no page has. */
		memset(scene.staging->pages + PAGE + 8, 0x55, 4);
		CHECK(found(&scene, &first, &fetching) == 1);
		CHECK(!unlinkat(scene.fd, "0.1.pages", 0) && !symlinkat("/dev/zero", scene.fd, "0.1.pages"));
		CHECK(found(&scene, &first, &fetching) == 0);
	}
	end(&scene);
}
