// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "tests/unit/test.h"

enum { MUCH = 300000 };

/* A pipe whose reader is slow, and more text than it holds. */
struct scene {
	int ends[2];
	struct outlet outlet;
	struct out out;
	char *text;
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .text = malloc(MUCH) };
	if (!CHECK(scene->text && !pipe2(scene->ends, O_CLOEXEC) && out_init(&scene->out, 0)))
		return false;
	for (size_t i = 0; i < MUCH; i++)
		scene->text[i] = (char)('a' + i % 23);
	outlet_init(&scene->outlet, scene->ends[1]);
	return true;
}

static void end(struct scene *scene)
{
	outlet_release(&scene->outlet);
	out_release(&scene->out);
	close(scene->ends[0]);
	close(scene->ends[1]);
	free(scene->text);
}

/* Reads the bytes written so far and checks each of them; returns their number. */
static size_t read_some(struct scene *scene, size_t at)
{
	char got[65536];
	ssize_t len = read(scene->ends[0], got, sizeof(got));

	CHECK(len > 0 && at + (size_t)len <= MUCH && !memcmp(got, scene->text + at, (size_t)len));
	return len > 0 ? (size_t)len : MUCH;
}

static void write_all_to_slow_reader(struct scene *scene)
{
	size_t done = 0;
	int r;

	out_mem(&scene->out, scene->text, MUCH);
	/* The pipe is full: the remaining bytes wait. */
	CHECK(outlet_write(&scene->outlet, &scene->out) == 0);
	while (done < MUCH) {
		done += read_some(scene, done);
		r = outlet_write(&scene->outlet, &scene->out);
		if (!CHECK(r >= 0))
			return;
	}
	CHECK(done == MUCH && outlet_write(&scene->outlet, &scene->out) == 1 && !out_len(&scene->out));
}

TEST(outlet_keeps_what_a_slow_reader_does_not_take)
{
	struct scene scene;

	if (begin(&scene)) {
		/* Other processes share the descriptor, so its flags do not change. */
		CHECK(!(fcntl(scene.ends[1], F_GETFL) & O_NONBLOCK));
		write_all_to_slow_reader(&scene);
		CHECK(!(fcntl(scene.ends[1], F_GETFL) & O_NONBLOCK));
	}
	end(&scene);
}

/* Like a pipe that cannot be opened a second time. */
TEST(outlet_without_a_descriptor_of_its_own_writes_no_more_than_fits)
{
	struct scene scene;

	if (begin(&scene)) {
		outlet_release(&scene.outlet);
		scene.outlet = (struct outlet){ .fd = scene.ends[1], .own = -1, .waits = true };
		write_all_to_slow_reader(&scene);
	}
	end(&scene);
}

TEST(outlet_tells_that_the_reader_is_gone)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	struct scene scene;

	if (begin(&scene)) {
		CHECK(!sigaction(SIGPIPE, &ignore, &old));
		close(scene.ends[0]);
		scene.ends[0] = -1;
		out_str(&scene.out, "nobody reads this");
		CHECK(outlet_write(&scene.outlet, &scene.out) == -EPIPE);
		CHECK(!sigaction(SIGPIPE, &old, NULL));
	}
	end(&scene);
}

TEST(outlet_escapes_each_byte_once)
{
	char got[64] = "";
	struct scene scene;

	if (begin(&scene)) {
		scene.outlet.escapes = true;
		out_str(&scene.out, "one\033two\n");
		CHECK(outlet_write(&scene.outlet, &scene.out) == 1);
		CHECK(read(scene.ends[0], got, sizeof(got) - 1) > 0);
		CHECK_STR(got, "one\\033two\n");
	}
	end(&scene);
}

TEST(outlet_of_a_file_keeps_its_position)
{
	cleanup_fd int fd = memfd_create("outlet", MFD_CLOEXEC);
	struct outlet outlet;
	char got[16] = "";
	struct out out;

	REQUIRE(fd >= 0 && write(fd, "head ", 5) == 5 && out_init(&out, 0));
	outlet_init(&outlet, fd);
	out_str(&out, "tail");
	CHECK(outlet_write(&outlet, &out) == 1);
	CHECK(pread(fd, got, sizeof(got) - 1, 0) == 9);
	CHECK_STR(got, "head tail");
	outlet_release(&outlet);
	out_release(&out);
}
