// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/target.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/kernel/record/parts.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

enum { PAGE = 4096, CPUS = 2, PAGES = 12 };

/* An instance of two CPUs whose sub-buffers the test writes, and the target that records the instance. */
struct scene {
	struct fake fake;
	int kernel[CPUS], stop, failed;
	struct setup_instance wanted;
	struct target target;
	struct parts *parts;
};

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static bool begin(struct scene *scene)
{
	static const char *const stats =
		"entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\noldest event ts: 0.0\nnow ts: 0.0\n"
		"dropped events: 0\nread events: 0\n";
	char file[64], output[FAKE_PATH];

	*scene = (struct scene){ .stop = eventfd(0, EFD_CLOEXEC), .failed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	if (!CHECK(fake_new(&scene->fake)))
		return false;
	fake_write(&scene->fake, "events/header_page", header_page);
	fake_write(&scene->fake, "set_event", "");
	fake_write(&scene->fake, "trace_clock", "[local] global\n");
	fake_write(&scene->fake, "current_tracer", "nop\n");
	for (int i = 0; i < CPUS; i++) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", i);
		scene->kernel[i] = fake_pipe(&scene->fake, file);
		snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", i);
		fake_write(&scene->fake, file, stats);
		snprintf(file, sizeof(file), "per_cpu/cpu%d/buffer_size_kb", i);
		fake_write(&scene->fake, file, "1408\n");
	}
	scene->target.wanted = &scene->wanted;
	fake_path(&scene->fake, "loom.dat", output);
	return CHECK(!parts_new(output, NULL, &scene->parts, NULL) &&
		     !target_take(&scene->target, &scene->fake.top, NULL));
}

static void end(struct scene *scene)
{
	target_release(&scene->target);
	parts_free(scene->parts);
	for (int i = 0; i < CPUS; i++)
		cleanup_fd_close(&scene->kernel[i]);
	close(scene->stop);
	close(scene->failed);
	fake_free(&scene->fake);
}

static bool record(struct scene *scene, bool compressed, uint64_t cap)
{
	struct spool_options spool = { .compressed = compressed, .cap = cap };
	struct recorder_options options = { .stop_fd = scene->stop, .failed_fd = scene->failed, .level = 1 };
	struct cpus cpus = { 0 };
	struct fail fail = FAIL_INIT;

	for (uint32_t i = 0; i < CPUS; i++)
		CHECK(cpus_add(&cpus, i));
	if (CHECK(!target_record(&scene->target, scene->parts, &cpus, &spool, &options, &fail)))
		return true;
	fprintf(stderr, "%s\n", fail.text);
	return false;
}

/* Tells the recorders that tracing is off and waits for their end. */
static void stop(struct scene *scene)
{
	const uint64_t one = 1;

	CHECK(!io_write(scene->stop, &one, sizeof(one)));
	for (size_t i = 0; i < scene->target.nr_recorders; i++)
		recorder_join(scene->target.recorders[i]);
}

/* A fully committed sub-buffer that has the same byte everywhere behind its head. */
static void make_page(uint8_t page[PAGE], uint64_t number)
{
	uint64_t head[2] = { number, PAGE - 16 };

	memset(page, (int)number, PAGE);
	memcpy(page, head, sizeof(head));
}

static void write_pages(struct scene *scene, int cpu, unsigned first, unsigned count)
{
	uint8_t page[PAGE];

	for (unsigned i = first; i < first + count; i++) {
		make_page(page, i);
		CHECK(!io_write(scene->kernel[cpu], page, PAGE));
	}
}

TEST(recorder_saves_every_sub_buffer_of_its_cpu_until_tracing_stopped)
{
	struct scene scene;

	if (begin(&scene) && record(&scene, false, 0)) {
		write_pages(&scene, 0, 1, PAGES);
		write_pages(&scene, 1, 101, 3);
		stop(&scene);
		CHECK(scene.target.nr_recorders == CPUS);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			struct recorder *recorder = scene.target.recorders[cpu];
			struct spool *spool = &recorder->spool;
			unsigned count = cpu ? 3 : PAGES, first = cpu ? 101 : 1;
			uint8_t page[PAGE], saved[PAGE];

			CHECK(!recorder->err && recorder->cpu == cpu);
			CHECK(spool->raw == count * PAGE && spool->end - spool->begin == count * PAGE &&
			      !spool->dropped);
			for (unsigned i = 0; i < count; i++) {
				make_page(page, first + i);
				CHECK(io_pread(spool->fd, saved, PAGE, spool->begin + i * PAGE) == PAGE);
				CHECK(!memcmp(page, saved, PAGE));
			}
		}
	}
	end(&scene);
}

TEST(recorder_compresses_what_it_saves)
{
	struct scene scene;

	if (begin(&scene) && record(&scene, true, 0)) {
		write_pages(&scene, 0, 1, PAGES);
		stop(&scene);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			struct spool *spool = &scene.target.recorders[cpu]->spool;

			CHECK(!scene.target.recorders[cpu]->err);
			CHECK(spool->raw == (cpu ? 0 : PAGES * PAGE));
			/* Pages of one repeated byte compress to almost nothing. */
			CHECK(spool->end - spool->begin <= (cpu ? 0 : PAGE));
			CHECK(!cpu == (spool->chunks > 0));
		}
	}
	end(&scene);
}

/* Waits until the recorder has taken all sub-buffers of the CPU. It does so before it looks whether it has to stop. */
static void wait_until_taken(const struct scene *scene, int cpu)
{
	int left = 0;

	while (!ioctl(scene->kernel[cpu], FIONREAD, &left) && left)
		(void)poll(NULL, 0, 1);
}

/* The buffer has room for four sub-buffers, and all of them wait at once. The recorder has no time to compress. */
TEST(recorder_stores_sub_buffers_as_they_are_when_its_buffer_runs_full)
{
	struct scene scene;

	if (begin(&scene)) {
		fake_write(&scene.fake, "per_cpu/cpu0/buffer_size_kb", "16\n");
		write_pages(&scene, 0, 1, PAGES);
		if (record(&scene, true, 0)) {
			struct spool *spool = &scene.target.recorders[0]->spool;

			wait_until_taken(&scene, 0);
			stop(&scene);
			CHECK(!scene.target.recorders[0]->err && spool->raw == PAGES * PAGE);
			/* Pages of one repeated byte compress to almost nothing. */
			CHECK(spool->end - spool->begin > PAGES * PAGE);
		}
	}
	end(&scene);
}

TEST(recorder_that_fails_says_so_at_once)
{
	struct rlimit before, tight;
	struct scene scene;
	uint64_t count = 0;

	REQUIRE(!getrlimit(RLIMIT_FSIZE, &before));
	tight = before;
	tight.rlim_cur = SPOOL_HEAD_SIZE + PAGE;
	if (begin(&scene) && record(&scene, false, 0)) {
		struct recorder *recorder = scene.target.recorders[1];
		void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);

		/* The spool can take one sub-buffer only. */
		CHECK(!setrlimit(RLIMIT_FSIZE, &tight));
		write_pages(&scene, 1, 1, 4);
		stop(&scene);
		CHECK(!setrlimit(RLIMIT_FSIZE, &before));
		signal(SIGXFSZ, handler);
		CHECK(recorder->err < 0);
		CHECK(strstr(recorder->fail.text, "CPU 1") != NULL);
		CHECK(io_read(scene.failed, &count, sizeof(count)) == sizeof(count) && count);
		CHECK(!scene.target.recorders[0]->err);
	}
	end(&scene);
}
