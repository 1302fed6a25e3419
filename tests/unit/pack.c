// SPDX-License-Identifier: GPL-2.0-only
#include "lib/files/pack/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

static const char script[] =
	"0 1000000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
	"0 1002500 7 sched_switch prev_comm=sh prev_pid=7 prev_prio=120 prev_state=1 next_comm=swapper/0 "
	"next_prio=120\n"
	"1 1001000 0 irq_handler_entry irq=9 name=acpi\n"
	"1 lost 5\n"
	"1 3000001000 8 sched_wakeup comm=shuttle pid=9 prio=-51 target_cpu=3\n";

/* Makes a directory with copies of a recording's files, and the report of the recording. */
struct scene {
	struct loom loom;
	struct fake fake;
	struct trace *played;
	struct buf want;
	struct pack_options options;
};

static void write_bytes(const struct fake *fake, const char *file, const void *data, size_t len)
{
	char path[FAKE_PATH];
	cleanup_fd int fd = -1;

	fake_write(fake, file, "");
	fd = open(fake_path(fake, file, path), O_WRONLY | O_TRUNC | O_CLOEXEC);
	CHECK(fd >= 0 && !io_write(fd, data, len));
}

static void write_copies(struct scene *scene, const char *dir, const char *pages)
{
	char file[FAKE_PATH];

	for (size_t i = 0; i < scene->loom.nr_types; i++) {
		snprintf(file, sizeof(file), "%sevents/%s/%s/format", dir, scene->loom.types[i].system,
			 scene->loom.types[i].name);
		fake_write(&scene->fake, file, buf_str(&scene->loom.types[i].format));
	}
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		snprintf(file, sizeof(file), pages, cpu);
		write_bytes(&scene->fake, file, scene->loom.cpus[cpu].pages.data, scene->loom.cpus[cpu].pages.len);
	}
	snprintf(file, sizeof(file), "%sevents/header_page", dir);
	fake_write(&scene->fake, file,
		   "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n");
	snprintf(file, sizeof(file), "%ssaved_cmdlines", dir);
	fake_write(&scene->fake, file, buf_str(&scene->loom.names));
	snprintf(file, sizeof(file), "%strace_clock", dir);
	fake_write(&scene->fake, file, "local global [mono]\n");
}

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .want = BUF_INIT };
	loom_init(&scene->loom);
	scene->loom.clock = "mono";
	loom_task(&scene->loom, 7, "sh");
	loom_task(&scene->loom, 8, "ls");
	loom_play(&scene->loom, script);
	scene->played = loom_trace(&scene->loom);
	scene->options = (struct pack_options){ .version = 7, .weft_version = "weft test" };
	if (!CHECK(scene->played && fake_new(&scene->fake)))
		return false;
	scene->options.dir = scene->fake.dir;
	return CHECK(!printed_trace(scene->played, &(struct printed){ .format = "ftrace" }, &scene->want, NULL));
}

static void end(struct scene *scene)
{
	fake_free(&scene->fake);
	trace_free(scene->played);
	buf_release(&scene->want);
	loom_release(&scene->loom);
}

static struct trace *packed(struct scene *scene, int fd, struct pack_summary *summary)
{
	struct trace *trace = NULL;
	struct fail fail = FAIL_INIT;

	CHECK(!pack(&scene->options, fd, summary, &fail));
	CHECK_STR(fail.text, "");
	CHECK(summary->size == (uint64_t)lseek(fd, 0, SEEK_END));
	CHECK(!trace_open_fd(fd, "packed", &trace, &fail));
	return trace;
}

static bool has_setting(struct trace *trace, const char *name, const char *text)
{
	struct trace_text got = trace_setting(trace, 0, name);

	return got.text && !strcmp(got.text, text);
}

static bool prints(struct scene *scene, struct trace *trace, size_t buffer)
{
	cleanup_buf struct buf got = BUF_INIT;

	CHECK(trace && !printed_trace(trace, &(struct printed){ .format = "ftrace", .buffer = buffer }, &got, NULL));
	return CHECK_STR(printed_body(&got), printed_body(&scene->want));
}

TEST(pack_makes_a_recording_of_copies_of_tracefs)
{
	static const char *const pages[] = { "per_cpu/cpu%u/trace_pipe_raw", "raw_main/cpu%u.raw", "raw_main/cpu%u" };

	for (size_t i = 0; i < array_size(pages); i++) {
		cleanup_fd int fd = memfd_create("packed", MFD_CLOEXEC);
		struct pack_summary summary;
		struct trace *trace;
		struct scene scene;

		if (begin(&scene)) {
			write_copies(&scene, "", pages[i]);
			scene.options.version = i == 1 ? 6 : 7;
			scene.options.compress = i == 2;
			scene.options.level = 1;
			trace = packed(&scene, fd, &summary);
			CHECK(summary.cpus == 2 && summary.buffers == 1 && summary.formats == scene.loom.nr_types &&
			      !summary.damaged);
			CHECK(summary.pages == scene.loom.cpus[0].pages.len + scene.loom.cpus[1].pages.len);
			CHECK_STR(trace_buffer(trace, 0)->clock.text, "mono");
			prints(&scene, trace, 0);
			trace_free(trace);
		}
		end(&scene);
	}
}

TEST(pack_takes_texts_from_meta_and_each_small_text_becomes_a_setting)
{
	cleanup_fd int fd = memfd_create("packed", MFD_CLOEXEC);
	struct pack_summary summary;
	struct trace_text text;
	struct trace *trace;
	struct scene scene;

	if (begin(&scene)) {
		write_copies(&scene, "meta/", "raw_main/cpu%u.raw");
		fake_write(&scene.fake, "meta/tracing_thresh", "1\n");
		fake_write(&scene.fake, "meta/per_cpu/cpu1/stats", "overrun: 0\n");
		fake_write(&scene.fake, "meta/uname", "Linux loom 6.12.0\n");
		fake_write(&scene.fake, "meta/kallsyms", "ffffffff81000000 T loom_start\n");
		scene.options.facts[scene.options.nr_facts++] = (struct pack_fact){ "weft/host", "loom" };
		trace = packed(&scene, fd, &summary);
		CHECK(has_setting(trace, "tracing_thresh", "1\n"));
		CHECK(has_setting(trace, "weft/mode", "pack"));
		CHECK(has_setting(trace, "weft/host", "loom"));
		CHECK(!trace_meta(trace, TRACE_KALLSYMS, &text, NULL) && strstr(text.text, "loom_start"));
		CHECK(!trace_meta(trace, TRACE_UNAME, &text, NULL) && !strcmp(text.text, "Linux loom 6.12.0"));
		CHECK(!trace_meta(trace, TRACE_CPUSTAT, &text, NULL) && strstr(text.text, "CPU: 1\noverrun: 0\n"));
		prints(&scene, trace, 0);
		trace_free(trace);
	}
	end(&scene);
}

TEST(pack_takes_instances_with_their_own_pages)
{
	cleanup_fd int fd = memfd_create("packed", MFD_CLOEXEC);
	struct pack_summary summary;
	struct trace *trace;
	struct scene scene;

	if (begin(&scene)) {
		write_copies(&scene, "", "instances/weaver/per_cpu/cpu%u/trace_pipe_raw");
		fake_write(&scene.fake, "instances/weaver/trace_clock", "[mono]\n");
		trace = packed(&scene, fd, &summary);
		REQUIRE(summary.buffers == 2 && trace_buffers(trace) == 2);
		CHECK_STR(trace_buffer(trace, 1)->name.text, "weaver");
		CHECK_STR(trace_buffer(trace, 1)->clock.text, "mono");
		CHECK(!trace_buffer(trace, 0)->nr_cpus);
		prints(&scene, trace, 1);
		trace_free(trace);
	}
	end(&scene);
}

TEST(pack_takes_pages_of_a_recording_and_formats_of_another_directory)
{
	cleanup_buf struct buf want = BUF_INIT, got = BUF_INIT;
	cleanup_fd int fd = memfd_create("packed", MFD_CLOEXEC);
	struct pack_summary summary;
	struct trace *trace;
	struct scene scene;
	char path[FAKE_PATH];
	const char *more;

	if (begin(&scene)) {
		more = fake_path(&scene.fake, "more", path);
		fake_write(&scene.fake, "more/loom/loom_shot/format",
			   "name: loom_shot\nID: 9\nformat:\n\nprint fmt: \"shot\"\n");
		fake_write(&scene.fake, "more/sched/sched_switch/format",
			   "name: sched_switch\nID: 9\nformat:\n\nprint fmt: \"no\"\n");
		scene.options.pages = "tests/fixtures/golden/6.12-events-sched.dat";
		scene.options.events = &more;
		scene.options.nr_events = 1;
		CHECK(!tracing_read_path("tests/fixtures/golden/6.12-events-sched.txt", &want, NULL));
		scene.options.dir = scene.fake.dir;
		trace = packed(&scene, fd, &summary);
		CHECK(!printed_trace(trace, &(struct printed){ .format = "ftrace" }, &got, NULL));
		CHECK_STR(buf_str(&got), buf_str(&want));
		trace_free(trace);
	}
	end(&scene);
}

TEST(pack_says_what_is_missing_and_follows_no_link)
{
	cleanup_fd int fd = memfd_create("packed", MFD_CLOEXEC);
	struct pack_summary summary;
	char path[FAKE_PATH], to[FAKE_PATH];
	struct fail fail = FAIL_INIT;
	struct scene scene;

	if (begin(&scene)) {
		CHECK(pack(&scene.options, fd, &summary, &fail) == -ENOENT);
		CHECK(strstr(fail.text, "events/header_page"));
		write_copies(&scene, "", "per_cpu/cpu%u/trace_pipe_raw");
		fake_path(&scene.fake, "per_cpu/cpu0/trace_pipe_raw", path);
		fake_path(&scene.fake, "per_cpu/cpu1/trace_pipe_raw", to);
		CHECK(!unlink(path) && !symlink(to, path));
		CHECK(pack(&scene.options, fd, &summary, &fail) == -EPERM);
		CHECK(strstr(fail.text, "per_cpu/cpu0/trace_pipe_raw"));
		scene.options.dir = path;
		CHECK(pack(&scene.options, fd, &summary, &fail) < 0);
		scene.options.dir = "/nosuch/directory";
		CHECK(pack(&scene.options, fd, &summary, &fail) == -ENOENT);
		CHECK(strstr(fail.text, "/nosuch/directory"));
	}
	end(&scene);
}
