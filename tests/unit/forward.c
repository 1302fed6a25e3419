// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/forward.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/arrival.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/spool.h"
#include "tests/unit/test.h"

enum { PAGE = 4096, PIECE = 1000 };

/* A recording of this process, which another would forward, and what arrives of it. */
struct scene {
	char dir[32];
	struct parts *parts;
	struct spool spool;
	struct forward *forward;
	struct arrival *arrival;
};

static bool add(struct scene *scene, enum ledger_kind kind, const char *key, const char *data)
{
	const struct ledger_item item = { .kind = kind, .key = key, .data = data, .len = strlen(data) };

	return CHECK(!ledger_add(scene->parts->ledger, &item, NULL));
}

static void begin(struct scene *scene, bool compressed)
{
	const struct spool_options options = { .compressed = compressed, .shape = { .size = PAGE, .long_size = 8 } };
	struct parts_file file = parts_file_here(7, compressed, 1, &options.shape, 2);
	char output[64];

	*scene = (struct scene){ .dir = "/tmp/weft-unit-XXXXXX", .spool = { .fd = -1 } };
	CHECK(mkdtemp(scene->dir));
	snprintf(output, sizeof(output), "%s/far", scene->dir);
	CHECK(!parts_new("far", scene->dir, &scene->parts, NULL));
	CHECK(!parts_describe(scene->parts, &file, NULL));
	add(scene, LEDGER_HEADER_PAGE, "", "page");
	add(scene, LEDGER_HEADER_EVENT, "", "event");
	add(scene, LEDGER_BUFFER, "", "4096 local");
	CHECK(!spool_new(scene->parts->dir, 0, 1, &options, &scene->spool, NULL));
	add(scene, LEDGER_SPOOL, "1", "");
	add(scene, LEDGER_INSTANCE, "boot", "weft-1");
	CHECK(!forward_new(scene->dir, getpid(), &scene->forward, NULL));
	snprintf(output, sizeof(output), "%s/near.dat", scene->dir);
	CHECK(!arrival_new(&(struct arrival_options){ output, NULL, "far" }, &scene->arrival, NULL));
}

static void end(struct scene *scene)
{
	char command[64];

	spool_release(&scene->spool);
	forward_free(scene->forward);
	arrival_free(scene->arrival);
	parts_free(scene->parts);
	snprintf(command, sizeof(command), "rm -rf '%s'", scene->dir);
	CHECK(!system(command));
}

/* A chunk of `len` bytes, as a recorder appends it in two steps. */
static void put_chunk(struct scene *scene, char fill, size_t len, bool whole)
{
	char chunk[SPOOL_CHUNK_HEAD + 3 * PIECE];

	memset(chunk, fill, sizeof(chunk));
	spool_chunk_head(&scene->spool.options, (uint32_t)len, PAGE, chunk);
	len += SPOOL_CHUNK_HEAD;
	CHECK(!spool_append(&scene->spool, chunk, whole ? len : len / 2, 1, PAGE, NULL));
	if (!whole)
		CHECK(!spool_append(&scene->spool, chunk + len / 2, 0, 0, 0, NULL));
}

/* Passes all on that there is, and returns the bytes of pages. */
static size_t pass(struct scene *scene, size_t *named)
{
	char piece[PIECE];
	size_t len, sum = 0;

	CHECK(!forward_look(scene->forward, NULL));
	do {
		CHECK(!forward_meta(scene->forward, piece, sizeof(piece), &len, NULL));
		CHECK(!arrival_meta(scene->arrival, piece, len, NULL));
	} while (len);
	for (; *named < forward_spools(scene->forward); ++*named) {
		struct forward_spool spool = forward_spool(scene->forward, *named);

		CHECK(!arrival_stream(scene->arrival, (uint32_t)*named + 1, spool.buffer, spool.cpu, NULL));
	}
	for (size_t i = 0; i < *named; i++)
		do {
			CHECK(!forward_pages(scene->forward, i, piece, sizeof(piece), &len, NULL));
			CHECK(!arrival_pages(scene->arrival, (uint32_t)i + 1, piece, len, NULL));
			sum += len;
		} while (len);
	return sum;
}

TEST(forward_passes_whole_chunks_on_and_gives_their_space_back)
{
	struct scene scene;
	size_t named = 0;
	struct stat st;

	begin(&scene, true);
	put_chunk(&scene, 'a', 2500, true);
	put_chunk(&scene, 'b', 3000, true);
	CHECK(spool_backlog(&scene.spool) == 5500 + 2 * SPOOL_CHUNK_HEAD);
	CHECK(pass(&scene, &named) == 5500 + 2 * SPOOL_CHUNK_HEAD && named == 1);
	CHECK(!spool_backlog(&scene.spool));
	put_chunk(&scene, 'c', 2000, false);
	CHECK(!pass(&scene, &named));
	CHECK(spool_backlog(&scene.spool) == 1004);
	CHECK(!fstat(scene.spool.fd, &st) && st.st_size > 6000);
	end(&scene);
}

TEST(forward_passes_raw_pages_on)
{
	struct scene scene;
	size_t named = 0;
	char pages[2 * PAGE + 10] = "page";

	begin(&scene, false);
	CHECK(!spool_append(&scene.spool, pages, sizeof(pages), 0, 0, NULL));
	CHECK(pass(&scene, &named) == 2 * PAGE);
	end(&scene);
}

TEST(arrival_holds_the_same_metadata_but_no_instance_of_the_other_machine)
{
	const struct ledger_item *item;
	struct scene scene;
	struct parts *near;
	size_t named = 0;
	char *path;

	begin(&scene, true);
	put_chunk(&scene, 'a', 100, true);
	pass(&scene, &named);
	CHECK(arrival_has_begun(scene.arrival));
	path = strdup(arrival_path(scene.arrival));
	arrival_free(scene.arrival);
	scene.arrival = NULL;
	if (CHECK(path && !parts_open(path, &near, NULL))) {
		CHECK(!strcmp(ledger_text(near->ledger, LEDGER_HEADER_EVENT), "event"));
		CHECK(!ledger_text(near->ledger, LEDGER_INSTANCE) && near->file.cpu_count == 2 && !near->file.swap);
		CHECK(strcmp(near->secret, scene.parts->secret) != 0);
		item = ledger_find(near->ledger, LEDGER_OUTPUT, 0, NULL);
		CHECK(item && !strcmp(item->key, "far") && strstr(item->data, "/near.dat"));
		item = ledger_find(near->ledger, LEDGER_SPOOL, 0, NULL);
		CHECK(item && !strcmp(item->key, "1"));
		parts_free(near);
	}
	free(path);
	end(&scene);
}

TEST(arrival_refuses_places_that_cannot_be)
{
	struct scene scene;
	struct fail fail = FAIL_INIT;
	size_t named = 0;

	begin(&scene, true);
	CHECK(arrival_stream(scene.arrival, 1, 0, 0, &fail) == -EBADMSG);
	pass(&scene, &named);
	CHECK(arrival_stream(scene.arrival, 2, 0, 1, &fail) == -EBADMSG && strstr(fail.text, "twice"));
	CHECK(arrival_stream(scene.arrival, 3, 0, 0, &fail) == -EBADMSG);
	CHECK(arrival_stream(scene.arrival, 2, 0, 2, &fail) == -EBADMSG);
	CHECK(arrival_stream(scene.arrival, 2, 1 << 20, 0, &fail) == -EBADMSG);
	CHECK(arrival_pages(scene.arrival, 2, "", 1, &fail) == -EBADMSG);
	CHECK(arrival_pages(scene.arrival, 0, "", 1, &fail) == -EBADMSG);
	CHECK(arrival_meta(scene.arrival, "no item at all", 14, &fail) == -EBADMSG);
	end(&scene);
}
