// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/progress.h"
#include "lib/kernel/record/recovery.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/stage.h"
#include "tests/unit/test.h"

/* Recordings of an instance "box" whose events the test supplies, each with another option. */
struct scene {
	struct loom loom;
	struct trace *played;
	struct stage stage;
	struct record_options options;
	struct setup_instance *box;
	struct record_result result;
	struct fail fail;
	char output[FAKE_PATH];
	unsigned looks;
	int fd;
};

/* look() of the options takes no argument. */
static struct scene *recorded;

static bool begin(struct scene *scene, unsigned events)
{
	char path[FAKE_PATH], line[128];

	*scene = (struct scene){ .options = { .version = 7, .compress = true, .level = 1, .mode = 0600, .look_ms = 1 },
				 .fail = FAIL_INIT,
				 .fd = -1 };
	recorded = scene;
	loom_init(&scene->loom);
	loom_task(&scene->loom, 7, "sh");
	for (unsigned i = 0; i < events; i++) {
		snprintf(line, sizeof(line), "0 %u 7 sched_waking comm=ls pid=%u prio=120 target_cpu=1\n",
			 1000000 + i * 100, 8 + i);
		loom_play(&scene->loom, line);
	}
	scene->played = loom_trace(&scene->loom);
	if (!scene->played || !stage_begin(&scene->stage, &scene->loom))
		return false;
	fake_mkdir(&scene->stage.fake, "out");
	fake_write(&scene->stage.fake, "proc/sys/kernel/random/boot_id", "0dd1-loom\n");
	scene->options.output = fake_path(&scene->stage.fake, "out/r.dat", scene->output);
	scene->box = setup_add_instance(&scene->options.setup, NULL) ?
			     setup_add_instance(&scene->options.setup, "box") :
			     NULL;
	return CHECK(scene->box && setup_add_event(scene->box, "sched:sched_waking") &&
		     !mkdir(fake_path(&scene->stage.fake, "instances/box", path), 0700));
}

static void end(struct scene *scene)
{
	char left[512];

	CHECK_STR(stage_left(&scene->stage, "journals", left, sizeof(left)), "");
	record_result_release(&scene->result);
	setup_release(&scene->options.setup);
	stage_end(&scene->stage);
	trace_free(scene->played);
	loom_release(&scene->loom);
}

/* The loom makes pages of a 64-bit kernel, and a recording has pages of this machine's kernel. */
static bool is_like_the_loom(void)
{
	return sizeof(long) == 8;
}

static void write_box(const struct scene *scene, const char *file, const char *text)
{
	char path[FAKE_PATH];

	snprintf(path, sizeof(path), "instances/box/%s", file);
	fake_write(&scene->stage.fake, path, text);
}

static bool box_holds(const struct scene *scene, const char *file, const char *text)
{
	char path[FAKE_PATH];

	snprintf(path, sizeof(path), "instances/box/%s", file);
	return fake_holds(&scene->stage.fake, path, text);
}

static void write_stats(const struct scene *scene, unsigned entries, unsigned overrun)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "entries: %u\noverrun: %u\ncommit overrun: 0\nbytes: 900\noldest event ts: 0.0\nnow ts: 0.0\n"
		 "dropped events: 0\nread events: 0\n",
		 entries, overrun);
	write_box(scene, "per_cpu/cpu0/stats", text);
}

static int run(struct scene *scene)
{
	return session_run(&scene->options, &scene->result, &scene->fail);
}

static bool runs(struct scene *scene)
{
	int err = run(scene);

	CHECK_STR(scene->fail.text, "");
	return CHECK(!err && scene->result.finished);
}

static struct trace *open_file(const struct scene *scene)
{
	struct trace *trace = NULL;

	CHECK(!trace_open(scene->options.output, &trace, NULL) && !trace_damage(trace));
	return trace;
}

/* The fact that the file has about the instance "box", or "". */
static const char *setting(struct trace *trace, const char *name, char into[512])
{
	struct trace_text text = trace ? trace_setting(trace, 1, name) : (struct trace_text){ .text = NULL };

	snprintf(into, 512, "%.*s", text.text ? (int)text.len : 0, text.text ? text.text : "");
	return into;
}

static bool has_format(struct trace *trace, const char *name)
{
	const struct trace_format *formats;
	size_t nr = 0;

	formats = trace_formats(trace, &nr);
	for (size_t i = 0; i < nr; i++)
		if (formats[i].text.text && memmem(formats[i].text.text, formats[i].text.len, name, strlen(name)))
			return true;
	return false;
}

/* The recorder has saved some events by now, and the kernel's counts are higher than at the start. */
static void count_and_stop(const struct progress *progress)
{
	if (!recorded->looks++)
		write_stats(recorded, 5, 3);
	if (!progress->bytes || progress->events != 8)
		return;
	CHECK(progress->lost == 3 && progress->lasted_ns && progress->fill <= 100);
	kill(getpid(), SIGTERM);
}

TEST(session_that_is_watched_tells_how_far_it_is_and_ends_by_a_signal)
{
	struct scene scene;

	if (begin(&scene, 4)) {
		scene.options.look = count_and_stop;
		CHECK(runs(&scene));
		CHECK(scene.result.events == 5 && scene.result.lost == 3 && !scene.result.has_status);
	}
	end(&scene);
}

static void enable_another(const struct progress *progress)
{
	(void)progress;
	write_box(recorded, "set_event", "sched:sched_waking\nirq:irq_handler_entry\n");
	kill(getpid(), SIGINT);
}

TEST(session_saves_the_formats_of_events_that_somebody_enabled_meanwhile)
{
	struct scene scene;

	if (begin(&scene, 4)) {
		struct trace *trace;

		scene.options.look = enable_another;
		if (CHECK(runs(&scene)) && (trace = open_file(&scene))) {
			CHECK(has_format(trace, "name: irq_handler_entry\n") &&
			      !has_format(trace, "name: irq_handler_exit\n"));
			trace_free(trace);
		}
	}
	end(&scene);
}

TEST(session_saves_all_formats_where_that_is_asked)
{
	struct scene scene;

	if (begin(&scene, 4)) {
		struct trace *trace;

		scene.options.duration_ns = 1;
		scene.options.all_formats = scene.options.all_symbols = true;
		if (CHECK(runs(&scene)) && (trace = open_file(&scene))) {
			CHECK(has_format(trace, "name: irq_handler_exit\n") &&
			      has_format(trace, "name: sched_switch\n"));
			trace_free(trace);
		}
	}
	end(&scene);
}

TEST(session_saves_the_worst_case_of_a_latency_tracer_and_keeps_it_from_being_replaced)
{
	static const char worst[] =
		"# tracer: wakeup\n#\n# latency: 68 us, #12/12, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n";
	struct scene scene;
	char text[512];

	if (begin(&scene, 4)) {
		const struct fake *fake = &scene.stage.fake;
		struct trace *trace;

		write_box(&scene, "available_tracers", "wakeup nop\n");
		fake_write(fake, "available_tracers", "wakeup nop\n");
		write_box(&scene, "tracing_max_latency", "68\n");
		fake_write(fake, "tracing_thresh", "50\n");
		write_box(&scene, "trace", worst);
		/* Clearing the buffer has no effect here, because the worst case comes later. */
		fake_refuse(fake, "instances/box/trace", "", 0);
		fake_refuse(fake, "instances/box/tracing_max_latency", "0", 0);
		scene.box->tracer = "wakeup";
		scene.options.duration_ns = 1;
		if (CHECK(runs(&scene)) && (trace = open_file(&scene))) {
			CHECK(scene.result.events == 12);
			CHECK_STR(setting(trace, "weft/latency", text), worst);
			CHECK_STR(setting(trace, "tracing_max_latency", text), "68\n");
			trace_free(trace);
		}
		CHECK(box_holds(&scene, "current_tracer", "nop\n") && fake_holds(fake, "tracing_thresh", "50\n"));
	}
	end(&scene);
}

TEST(session_saves_the_histograms_that_it_set)
{
	static const char hist[] = "# event histogram\n#\n{ pid: 8 } hitcount: 4\n";
	struct scene scene;
	char text[512];

	if (begin(&scene, 4)) {
		struct trace *trace;

		CHECK(setup_list_add(&scene.box->events[0].triggers, "hist:keys=pid"));
		write_box(&scene, "events/sched/sched_waking/hist", hist);
		scene.options.duration_ns = 1;
		if (CHECK(runs(&scene)) && (trace = open_file(&scene))) {
			CHECK_STR(setting(trace, "events/sched/sched_waking/hist", text), hist);
			trace_free(trace);
		}
	}
	end(&scene);
}

/* What -b and trace-cmd's -m count, too: bytes of pages, however well they compress. */
static void keep_four_pages(bool compress)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct scene scene;

	if (begin(&scene, 800)) {
		const size_t pages = scene.loom.cpus[0].pages.len / LOOM_PAGE;
		struct trace *trace;

		scene.options.version = compress ? 7 : 6;
		scene.options.compress = compress;
		scene.options.all_formats = true;
		scene.options.max_size = (uint64_t)4 * LOOM_PAGE;
		scene.options.duration_ns = 1;
		if (CHECK(pages >= 8) && CHECK(runs(&scene)) && CHECK(scene.result.nr_cpus >= 1)) {
			const struct record_cpu *cpu = &scene.result.cpus[0];

			CHECK(cpu->dropped_bytes + scene.result.raw == pages * LOOM_PAGE && scene.result.raw &&
			      scene.result.raw <= 4 * LOOM_PAGE);
			trace = open_file(&scene);
			CHECK(trace &&
			      !printed_trace(trace, &(struct printed){ .format = "ftrace", .buffer = 1 }, &text, NULL));
			trace_free(trace);
			CHECK(strstr(buf_str(&text), " pid=807 ") && !strstr(buf_str(&text), " pid=8 "));
		}
	}
	end(&scene);
}

TEST(session_with_a_maximal_size_keeps_the_newest_pages)
{
	if (!is_like_the_loom())
		return;
	keep_four_pages(false);
	keep_four_pages(true);
}

TEST(session_writes_to_a_device_from_parts_that_lie_elsewhere)
{
	char dir[FAKE_PATH], left[512];
	struct scene scene;

	if (begin(&scene, 4)) {
		scene.options.output = "/dev/null";
		scene.options.temp_dir = fake_path(&scene.stage.fake, "out", dir);
		scene.options.duration_ns = 1;
		CHECK(runs(&scene));
		CHECK(scene.result.file_size > 0);
		CHECK_STR(stage_left(&scene.stage, "out", left, sizeof(left)), "");
	}
	end(&scene);
}

TEST(session_that_syncs_does_so_while_it_records)
{
	struct scene scene;

	if (begin(&scene, 4)) {
		scene.options.look = count_and_stop;
		scene.options.sync_ns = 4000000;
		CHECK(runs(&scene));
		CHECK(scene.result.raw == scene.loom.cpus[0].pages.len);
	}
	end(&scene);
}

TEST(session_refuses_recorders_on_cpus_that_are_not_there)
{
	struct scene scene;
	char left[512];

	if (begin(&scene, 4)) {
		scene.options.has_recorder_cpus = true;
		CHECK(cpus_add(&scene.options.recorder_cpus, CPUS_MAX - 1));
		scene.options.duration_ns = 1;
		CHECK(run(&scene) < 0);
		CHECK_STR(scene.fail.text, "a recorder cannot run on these CPUs: none of these CPUs is online");
		CHECK_STR(stage_left(&scene.stage, "out", left, sizeof(left)), "");
	}
	end(&scene);
}

static void let_child_end(const struct progress *progress)
{
	(void)progress;
	if (recorded->fd >= 0)
		close(recorded->fd);
	recorded->fd = -1;
}

/* A process that ends when the pipe is closed. */
static pid_t start_child(int *ret_fd)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (!CHECK(!pipe2(ends, O_CLOEXEC)))
		return -1;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	close(ends[0]);
	*ret_fd = ends[1];
	return pid;
}

TEST(session_of_tasks_ends_with_the_last_of_them)
{
	struct scene scene;
	int status;

	if (begin(&scene, 4)) {
		pid_t pid = start_child(&scene.fd);

		scene.options.look = let_child_end;
		CHECK(setup_add_pid(&scene.options.setup, pid));
		CHECK(runs(&scene));
		CHECK(scene.fd < 0);
		CHECK(waitpid(pid, &status, 0) == pid && !status);
		/* The only traced process has ended before this recording begins. */
		record_result_release(&scene.result);
		CHECK(!unlink(scene.output));
		CHECK(runs(&scene));
	}
	end(&scene);
}

TEST(session_copies_the_maps_of_its_command_where_addresses_of_it_are_recorded)
{
	char *argv[] = { "sh", "-c", "exit 3", NULL };
	struct scene scene;

	if (begin(&scene, 4)) {
		fake_write(&scene.stage.fake, "options/userstacktrace", "1\n");
		write_box(&scene, "options/userstacktrace", "1\n");
		scene.options.argv = argv;
		CHECK(runs(&scene));
		CHECK(scene.result.has_status && scene.result.status == 3);
	}
	end(&scene);
}

/* What happens after a kill. */

static void die(const struct progress *progress)
{
	(void)progress;
	_exit(0);
}

/*
 * The state that a recorder with an instance of its own leaves when it is killed while it records. Returns the path of
 * its parts.
 */
static bool record_and_die(struct scene *scene, char parts[FAKE_PATH])
{
	char left[512], file[FAKE_PATH];
	int status;
	pid_t pid;

	scene->options.look = die;
	scene->options.all_formats = true;
	scene->options.setup.nr_instances = 1;
	if (!CHECK(setup_add_event(&scene->options.setup.instances[0], "sched:sched_waking")))
		return false;
	pid = fork();
	if (!pid)
		_exit(run(scene) ? 1 : 2);
	/* end() releases the instance "box", too. */
	scene->options.setup.nr_instances = 2;
	if (!CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status))
		return false;
	stage_left(&scene->stage, "out", left, sizeof(left));
	snprintf(file, sizeof(file), "out/%.200s", left + 1);
	fake_path(&scene->stage.fake, file, parts);
	return CHECK(strstr(left, ".parts") != NULL);
}

/* The data that the kernel still holds in the dead recorder's instance: the fake's pipe keeps its pages. */
static bool fill_instance(struct scene *scene, char name[128])
{
	char file[FAKE_PATH], path[FAKE_PATH], left[512];
	/* The instance "box" is there, too, and weft-PID-2, which tells the time of the clock. */
	const char *at = stage_left(&scene->stage, "instances", left, sizeof(left));
	struct text_word word;
	bool ok;
	int fd;

	while (text_next_word(&at, " ", &word))
		if (!text_word_is(word, "box") && memchr(word.at, '-', word.len) == memrchr(word.at, '-', word.len))
			snprintf(name, 128, "%.*s", (int)word.len, word.at);
	snprintf(file, sizeof(file), "instances/%s/per_cpu/cpu0/trace_pipe_raw", name);
	fd = open(fake_path(&scene->stage.fake, file, path), O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ok = CHECK(fd >= 0 && scene->stage.nr_pipes < sizeof(scene->stage.pipes) / sizeof(*scene->stage.pipes));
	if (!ok)
		return false;
	scene->stage.pipes[scene->stage.nr_pipes++] = fd;
	return CHECK(write(fd, scene->loom.cpus[0].pages.data, scene->loom.cpus[0].pages.len) ==
		     (ssize_t)scene->loom.cpus[0].pages.len);
}

static char waits_for[FAKE_PATH];

static void note_parts(const char *parts, uint64_t events)
{
	CHECK(!events);
	snprintf(waits_for, sizeof(waits_for), "%s", parts);
}

TEST(recovery_takes_what_the_kernel_still_holds_of_a_killed_recording_and_then_restores_the_kernel)
{
	char parts[FAKE_PATH], name[128] = "", left[512];
	struct recovery recovery = { .output = NULL };
	struct scene scene;
	unsigned nr = 9;

	if (!is_like_the_loom())
		return;
	if (begin(&scene, 4) && record_and_die(&scene, parts) && fill_instance(&scene, name)) {
		cleanup_buf struct buf got = BUF_INIT, want = BUF_INIT;

		*waits_for = '\0';
		CHECK(!recovery_undo(NULL, note_parts, &nr, &scene.fail) && !nr);
		CHECK_STR(waits_for, parts);
		CHECK(strstr(stage_left(&scene.stage, "instances", left, sizeof(left)), name));
		CHECK(!recovery_run(parts, NULL, 0600, &recovery, &scene.fail));
		CHECK_STR(scene.fail.text, "");
		REQUIRE(recovery.output != NULL);
		CHECK_STR(recovery.output, scene.output);
		CHECK(recovery.drained == scene.loom.cpus[0].pages.len && recovery.cpus >= 1 && !recovery.torn);
		CHECK(!printed(scene.output, "ftrace", NULL, &got, NULL));
		CHECK(!printed_trace(scene.played, &(struct printed){ .format = "ftrace" }, &want, NULL));
		CHECK(strstr(printed_body(&got), printed_body(&want)));
		CHECK(!recovery_undo(&recovery, note_parts, &nr, &scene.fail) && nr == 1);
		CHECK(!strstr(stage_left(&scene.stage, "instances", left, sizeof(left)), name));
	}
	recovery_release(&recovery);
	end(&scene);
}

TEST(recovery_does_not_replace_a_file_that_was_not_named)
{
	struct recovery recovery = { .output = NULL };
	char parts[FAKE_PATH];
	struct scene scene;
	unsigned nr = 0;

	if (begin(&scene, 4) && record_and_die(&scene, parts)) {
		fake_write(&scene.stage.fake, "out/r.dat", "another recording");
		CHECK(recovery_run(parts, NULL, 0600, &recovery, &scene.fail) == -EEXIST);
		CHECK(strstr(scene.fail.text, "r.dat' exists; choose another file with -o"));
		CHECK(fake_holds(&scene.stage.fake, "out/r.dat", "another recording"));
		CHECK(!recovery_run(parts, scene.output, 0600, &recovery, &scene.fail));
		CHECK(!recovery_undo(&recovery, note_parts, &nr, NULL) && nr == 1);
		recovery_release(&recovery);
	}
	end(&scene);
}
