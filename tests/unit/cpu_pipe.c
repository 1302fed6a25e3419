// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/buffer/cpu_pipe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

enum { PAGE = 4096, PAGES = 9 };

/* A CPU of a tracefs whose sub-buffers the test writes. */
struct scene {
	struct fake fake;
	int kernel;
	struct cpu_pipe pipe;
	uint8_t written[PAGES * PAGE], got[PAGES * PAGE];
	size_t nr;
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .kernel = -1, .pipe = CPU_PIPE_INIT };
	if (!CHECK(fake_new(&scene->fake)))
		return false;
	scene->kernel = fake_pipe(&scene->fake, "per_cpu/cpu2/trace_pipe_raw");
	return CHECK(!cpu_pipe_open(&scene->fake.top, 2, PAGE, &scene->pipe, NULL));
}

static void end(struct scene *scene)
{
	cpu_pipe_close(&scene->pipe);
	cleanup_fd_close(&scene->kernel);
	fake_free(&scene->fake);
}

/* Each byte of a page is the page's number. */
static void write_pages(struct scene *scene, size_t count)
{
	for (size_t i = 0; i < count; i++, scene->nr++) {
		uint8_t *page = scene->written + scene->nr * PAGE;

		REQUIRE(scene->nr < PAGES);
		memset(page, (int)scene->nr + 1, PAGE);
		CHECK(!io_write(scene->kernel, page, PAGE));
	}
}

TEST(cpu_pipe_takes_whole_sub_buffers_in_order_until_there_is_none)
{
	struct scene scene;
	size_t len = 1, more = 1;

	if (begin(&scene)) {
		CHECK(!cpu_pipe_take(&scene.pipe, scene.got, sizeof(scene.got), &len, NULL) && !len);
		write_pages(&scene, 5);
		CHECK(!cpu_pipe_take(&scene.pipe, scene.got, 3 * PAGE, &len, NULL) && len == 3 * PAGE);
		CHECK(!cpu_pipe_take(&scene.pipe, scene.got + len, sizeof(scene.got) - len, &more, NULL) &&
		      more == 2 * PAGE);
		CHECK_MEM(scene.got, len + more, scene.written, 5 * PAGE);
		CHECK(!cpu_pipe_take(&scene.pipe, scene.got, sizeof(scene.got), &len, NULL) && !len);
	}
	end(&scene);
}

TEST(cpu_pipe_reads_where_the_kernel_does_not_splice_and_fills_up_a_partial_sub_buffer)
{
	struct scene scene;
	size_t len = 0;

	if (begin(&scene)) {
		scene.pipe.no_splice = true;
		write_pages(&scene, 2);
		CHECK(!cpu_pipe_take(&scene.pipe, scene.got, 2 * PAGE, &len, NULL) && len == 2 * PAGE);
		CHECK_MEM(scene.got, len, scene.written, 2 * PAGE);
		memset(scene.got, 0xff, PAGE);
		CHECK(!io_write(scene.kernel, "partly", 6));
		CHECK(cpu_pipe_read(&scene.pipe, scene.got, NULL) == 1);
		CHECK(!memcmp(scene.got, "partly\0", 8) && !scene.got[PAGE - 1]);
		CHECK(cpu_pipe_read(&scene.pipe, scene.got, NULL) == 0);
	}
	end(&scene);
}

TEST(cpu_pipe_moves_sub_buffers_into_a_file_with_and_without_splice)
{
	for (int copied = 0; copied < 2; copied++) {
		cleanup_fd int file = memfd_create("spool", MFD_CLOEXEC);
		struct scene scene;
		size_t len, all = 0;

		if (begin(&scene)) {
			scene.pipe.no_splice = scene.pipe.no_splice_out = copied;
			write_pages(&scene, 4);
			do
				CHECK(!cpu_pipe_move(&scene.pipe, file, 4 * PAGE, &len, NULL));
			while (len && (all += len) < 4 * PAGE);
			CHECK(all == 4 * PAGE);
			CHECK(io_pread(file, scene.got, sizeof(scene.got), 0) == 4 * PAGE);
			CHECK_MEM(scene.got, all, scene.written, 4 * PAGE);
		}
		end(&scene);
	}
}

TEST(cpu_pipe_fetches_first_and_sends_what_is_wanted)
{
	cleanup_fd int file = memfd_create("spool", MFD_CLOEXEC);
	struct scene scene;
	size_t len = 0;

	if (begin(&scene)) {
		write_pages(&scene, 3);
		CHECK(!cpu_pipe_fetch(&scene.pipe, &len, NULL) && len == 3 * PAGE && scene.pipe.waiting == len);
		CHECK(!cpu_pipe_send(&scene.pipe, file, PAGE, NULL));
		CHECK(scene.pipe.waiting == 2 * PAGE);
		CHECK(!cpu_pipe_take(&scene.pipe, scene.got, sizeof(scene.got), &len, NULL) && len == 2 * PAGE);
		CHECK_MEM(scene.got, len, scene.written + PAGE, 2 * PAGE);
		CHECK(io_pread(file, scene.got, sizeof(scene.got), 0) == PAGE &&
		      !memcmp(scene.got, scene.written, PAGE));
	}
	end(&scene);
}

TEST(cpu_pipe_says_when_the_output_is_full)
{
	cleanup_fd int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct scene scene;
	size_t len = 0;

	if (begin(&scene)) {
		scene.pipe.no_splice = true;
		write_pages(&scene, 1);
		CHECK(cpu_pipe_move(&scene.pipe, full, PAGE, &len, NULL) == -ENOSPC);
	}
	end(&scene);
}

TEST(cpu_pipe_waits_for_data_for_a_wake_up_or_for_the_time)
{
	cleanup_fd int wake = eventfd(0, EFD_CLOEXEC);
	const uint64_t one = 1;
	struct scene scene;

	if (begin(&scene)) {
		CHECK(cpu_pipe_wait(&scene.pipe, wake, 0, NULL) == 0);
		CHECK(cpu_pipe_wait(&scene.pipe, -1, 1, NULL) == 0);
		CHECK(!cpu_pipe_is_ready(&scene.pipe));
		write_pages(&scene, 1);
		CHECK(cpu_pipe_is_ready(&scene.pipe));
		CHECK(cpu_pipe_wait(&scene.pipe, wake, -1, NULL) == 1);
		CHECK(!io_write(wake, &one, sizeof(one)));
		CHECK(cpu_pipe_wait(&scene.pipe, wake, -1, NULL) == 0);
	}
	end(&scene);
}

TEST(cpu_pipe_names_the_file_that_it_cannot_open)
{
	struct fail fail = FAIL_INIT;
	struct scene scene;
	struct cpu_pipe none = CPU_PIPE_INIT;

	if (begin(&scene)) {
		CHECK(cpu_pipe_open(&scene.fake.top, 3, PAGE, &none, &fail) == -ENOENT);
		CHECK(strstr(fail.text, "per_cpu/cpu3/trace_pipe_raw") != NULL);
		CHECK(none.fd == -1);
	}
	end(&scene);
}
