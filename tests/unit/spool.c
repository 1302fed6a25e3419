// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/codec/frame.h"
#include "tests/unit/test.h"

enum { PAGE = 4096 };

struct scene {
	char dir[32];
	int fd;
	struct spool_options options;
	struct spool spool;
	struct fail fail;
};

static bool begin(struct scene *scene, bool compressed, uint64_t cap)
{
	*scene = (struct scene){ .dir = "/tmp/weft-unit-XXXXXX", .fd = -1, .spool = { .fd = -1 }, .fail = FAIL_INIT };
	scene->options = (struct spool_options){ .compressed = compressed,
						 .cap = cap,
						 .shape = { .size = PAGE, .long_size = 8 } };
	if (CHECK(mkdtemp(scene->dir)))
		scene->fd = open(scene->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return CHECK(scene->fd >= 0 && !spool_new(scene->fd, 0, 1, &scene->options, &scene->spool, &scene->fail));
}

static void end(struct scene *scene)
{
	char command[64];

	spool_release(&scene->spool);
	close(scene->fd);
	snprintf(command, sizeof(command), "rm -rf '%s'", scene->dir);
	CHECK(!system(command));
}

/* Opens the spool as a recovery does after the recorder's death. */
static int reopen(struct scene *scene)
{
	spool_release(&scene->spool);
	return spool_open(scene->fd, 0, 1, &scene->options, &scene->spool, &scene->fail);
}

static void add_page(struct scene *scene, unsigned number)
{
	uint8_t page[PAGE];

	memset(page, (int)number, sizeof(page));
	CHECK(!spool_append(&scene->spool, page, sizeof(page), 0, sizeof(page), NULL));
}

/* A chunk of one stored page. */
static size_t add_chunk(struct scene *scene, unsigned number)
{
	uint8_t chunk[SPOOL_CHUNK_HEAD + PAGE + 64];
	size_t size = frame_stored_size(PAGE), head = SPOOL_CHUNK_HEAD + size - PAGE;

	/* The frame's head, and the head of its only block. */
	spool_chunk_head(&scene->options, (uint32_t)size, PAGE, chunk);
	frame_stored_head(chunk + SPOOL_CHUNK_HEAD);
	frame_stored_block(PAGE, true, chunk + head - FRAME_BLOCK_HEAD);
	memset(chunk + head, (int)number, PAGE);
	CHECK(!spool_append(&scene->spool, chunk, SPOOL_CHUNK_HEAD + size, 1, PAGE, NULL));
	return SPOOL_CHUNK_HEAD + size;
}

static unsigned first_byte(const struct scene *scene, uint64_t offset)
{
	uint8_t byte = 0;

	CHECK(pread(scene->spool.fd, &byte, 1, (off_t)offset) == 1);
	return byte;
}

TEST(spool_with_a_cap_gives_the_oldest_pages_back_to_the_filesystem)
{
	struct scene scene;
	struct stat st;

	if (begin(&scene, false, 8 * PAGE)) {
		for (unsigned i = 1; i <= 64; i++)
			add_page(&scene, i);
		CHECK(spool_size(&scene.spool) <= 8 * PAGE && spool_size(&scene.spool) >= 7 * PAGE);
		CHECK(scene.spool.raw == spool_size(&scene.spool) &&
		      scene.spool.raw + scene.spool.dropped == 64 * PAGE);
		CHECK(first_byte(&scene, scene.spool.end - 1) == 64);
		CHECK(first_byte(&scene, scene.spool.begin) == 64 - scene.spool.raw / PAGE + 1);
		CHECK(!fstat(scene.spool.fd, &st) && st.st_blocks * 512 < 32 * PAGE);
		CHECK(!reopen(&scene));
		CHECK(scene.spool.dropped + scene.spool.raw == 64 * PAGE && !scene.spool.torn);
		CHECK(first_byte(&scene, scene.spool.begin) == 64 - scene.spool.raw / PAGE + 1);
	}
	end(&scene);
}

TEST(spool_with_a_cap_gives_up_whole_chunks_in_either_byte_order)
{
	struct scene scene;

	for (int swap = 0; swap < 2; swap++) {
		if (begin(&scene, true, 20 * PAGE)) {
			size_t size = 0;

			scene.options.swap = scene.spool.options.swap = swap;
			for (unsigned i = 1; i <= 40; i++)
				size = add_chunk(&scene, i);
			CHECK(spool_size(&scene.spool) <= 20 * PAGE && !(spool_size(&scene.spool) % size));
			CHECK(scene.spool.chunks == spool_size(&scene.spool) / size);
			CHECK(scene.spool.raw == scene.spool.chunks * PAGE &&
			      scene.spool.raw + scene.spool.dropped == 40 * PAGE);
			CHECK(!reopen(&scene));
			CHECK(scene.spool.raw == scene.spool.chunks * PAGE &&
			      scene.spool.raw + scene.spool.dropped == 40 * PAGE);
			CHECK(first_byte(&scene, scene.spool.end - 1) == 40);
		}
		end(&scene);
	}
}

TEST(spool_that_was_torn_keeps_its_whole_chunks)
{
	struct scene scene;
	uint64_t whole;

	if (begin(&scene, true, 0)) {
		add_chunk(&scene, 1);
		add_chunk(&scene, 2);
		whole = scene.spool.end;
		add_chunk(&scene, 3);
		CHECK(!ftruncate(scene.spool.fd, (off_t)scene.spool.end - 100));
		CHECK(!reopen(&scene));
		CHECK(scene.spool.end == whole && scene.spool.chunks == 2 && scene.spool.raw == 2 * PAGE);
		CHECK(scene.spool.torn == whole - SPOOL_HEAD_SIZE - (whole - SPOOL_HEAD_SIZE) / 2 - 100);
		/* The next chunk comes behind the whole chunks. */
		add_chunk(&scene, 4);
		CHECK(!reopen(&scene) && scene.spool.chunks == 3 && !scene.spool.torn);
	}
	end(&scene);
}

TEST(spool_whose_last_write_failed_is_cut)
{
	struct scene scene;

	if (begin(&scene, false, 0)) {
		add_page(&scene, 1);
		CHECK(!spool_put(&scene.spool, "torn", 4, NULL));
		spool_cut(&scene.spool);
		add_page(&scene, 2);
		CHECK(!reopen(&scene) && scene.spool.raw == 2 * PAGE && !scene.spool.torn);
		CHECK(first_byte(&scene, scene.spool.begin + PAGE) == 2);
	}
	end(&scene);
}

TEST(spool_with_a_damaged_head_is_refused_and_one_without_pages_is_empty)
{
	struct scene scene;

	if (begin(&scene, false, 0)) {
		CHECK(!reopen(&scene) && !scene.spool.raw);
		add_page(&scene, 1);
		CHECK(pwrite(scene.spool.fd, "damaged", 7, 0) == 7);
		CHECK(reopen(&scene) == -EBADMSG);
		CHECK_STR(scene.fail.text, "a spool's head is damaged");
		CHECK(spool_open(scene.fd, 7, 1, &scene.options, &scene.spool, &scene.fail) == -ENOENT);
		CHECK(strstr(scene.fail.text, "'7.1'"));
		CHECK(spool_new(scene.fd, 0, 1, &scene.options, &scene.spool, &scene.fail) == -EEXIST);
		CHECK(strstr(scene.fail.text, "'0.1'"));
		scene.spool.fd = -1;
	}
	end(&scene);
}

TEST(spool_takes_stored_chunks_that_are_small_beside_its_cap)
{
	struct spool_options options = { .shape = { .size = PAGE } };

	CHECK(spool_chunk_max(&options, 32 * PAGE) == 32 * PAGE);
	options.cap = 64 * PAGE;
	CHECK(spool_chunk_max(&options, 32 * PAGE) == 4 * PAGE);
	options.cap = 4 * PAGE;
	CHECK(spool_chunk_max(&options, 32 * PAGE) == PAGE);
}
