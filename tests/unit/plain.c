// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/plain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/arrival.h"
#include "lib/kernel/record/recovery.h"
#include "lib/kernel/record/result.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/test.h"

/* A machine without weft, whose files come here as they are. */
enum { PAGE = 4096 };

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char clocks[] = "local [global] mono\n";
static const char stats[] = "entries: 3\noverrun: 5\ncommit overrun: 1\nbytes: 60\noldest event ts:     1.000000\n"
			    "now ts:     2.000000\ndropped events: 2\nread events: 4\n";

struct scene {
	char dir[32], output[48];
	struct arrival *arrival;
	struct plain *plain;
};

static bool begin(struct scene *scene, bool compress)
{
	const struct plain_options options = { .version = 7, .compress = compress, .level = 1 };

	*scene = (struct scene){ .dir = "/tmp/weft-unit-XXXXXX" };
	if (!CHECK(mkdtemp(scene->dir)))
		return false;
	snprintf(scene->output, sizeof(scene->output), "%s/far.dat", scene->dir);
	return CHECK(!arrival_new(&(struct arrival_options){ scene->output, NULL, "far" }, &scene->arrival, NULL)) &&
	       CHECK(!plain_new(scene->arrival, &options, &scene->plain, NULL));
}

static void end(struct scene *scene)
{
	char command[64];

	plain_free(scene->plain);
	arrival_free(scene->arrival);
	snprintf(command, sizeof(command), "rm -rf '%s'", scene->dir);
	CHECK(!system(command));
}

static int send(struct scene *scene, const char *name, const char *text, struct fail *fail)
{
	return plain_text(scene->plain, name, text, strlen(text), fail);
}

static bool send_description(struct scene *scene)
{
	uint32_t size = 0;

	plain_order(scene->plain, HOST_BIG_ENDIAN);
	return CHECK(!send(scene, "events/header_page", header_page, NULL)) &&
	       CHECK(!send(scene, "events/header_event", "# compressed entry header\n", NULL)) &&
	       CHECK(!send(scene, "trace_clock", clocks, NULL)) &&
	       CHECK(!send(scene, "weft/possible", "0-2\n", NULL)) &&
	       CHECK(!send(scene, "weft/online", "0,2\n", NULL)) &&
	       CHECK(!send(scene, "uname", "Linux far 6.12.0\n", NULL)) &&
	       CHECK(!plain_begin(scene->plain, &size, NULL)) && CHECK(size == PAGE);
}

/* A page that says that it has no events; its CPU and number stand behind the head. */
static void make_page(uint8_t *page, uint32_t cpu, uint32_t number)
{
	memset(page, 0, PAGE);
	memcpy(page, &(uint64_t){ 1000 + number }, 8);
	memcpy(page + 16, &cpu, 4);
	memcpy(page + 20, &number, 4);
}

static bool pages_are(struct trace *trace, size_t index, uint32_t cpu, uint32_t nr)
{
	cleanup_buf struct buf scratch = BUF_INIT;
	uint8_t got[64 * PAGE], want[PAGE];
	struct frame_reader *reader = NULL;
	struct trace_pages pages;
	uint32_t seen = 0;
	size_t size;
	bool same = !frame_reader_new(&reader, NULL) && !trace_pages_init(&pages, trace, 0, index, NULL) &&
		    pages.cpu->cpu == cpu;

	while (same && trace_pages_size(&pages, PAGE, &size, NULL) > 0) {
		same = size <= sizeof(got) && !trace_pages_read(&pages, reader, &scratch, got, size, NULL);
		for (size_t at = 0; same && at < size; at += PAGE, seen++) {
			make_page(want, cpu, seen);
			same = !memcmp(got + at, want, PAGE);
		}
	}
	frame_reader_free(reader);
	return same && seen == nr;
}

static void check_recording(bool compress)
{
	struct record_result result = { .at_most = false };
	struct recovery recovery = { .output = NULL };
	const struct trace_format *formats;
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	uint8_t page[PAGE];
	struct scene scene;
	char path[128];
	size_t nr;

	if (begin(&scene, compress) && send_description(&scene)) {
		CHECK(!send(&scene, "events/sched/sched_waking/format", "name: sched_waking\nID: 7\n", &fail));
		CHECK(!send(&scene, "saved_cmdlines", "7 weaver\n", &fail));
		CHECK(!send(&scene, "printk_formats", "0x1 : \"a\"\n", &fail));
		CHECK(!send(&scene, "kallsyms", "ffffffff81000000 T one\n", &fail));
		CHECK(!send(&scene, "set_event", "sched:sched_waking\n", &fail));
		/* Pieces of any size; those of a CPU go on where it stopped, and what is no whole page is dropped. */
		for (uint32_t number = 0; number < 3; number++)
			for (uint32_t cpu = 0; cpu < 3; cpu += 2) {
				make_page(page, cpu, number);
				for (size_t at = 0; at < PAGE; at += 1000)
					CHECK(!plain_pages(scene.plain, cpu, page + at,
							   PAGE - at < 1000 ? PAGE - at : 1000, &fail));
			}
		CHECK(!plain_pages_end(scene.plain, &fail));
		CHECK(!send(&scene, "per_cpu/cpu0/stats", stats, &fail) &&
		      !send(&scene, "per_cpu/cpu2/stats", stats, &fail) &&
		      !send(&scene, "per_cpu/cpu1/stats", "entries: 0\n", &fail));
		CHECK(!plain_count(scene.plain, &result, &fail) && !result.at_most);
		CHECK(result.nr_cpus == 3 && result.cpus[0].events == 7 && result.cpus[0].overrun == 5 &&
		      result.cpus[0].lost == 8 && !result.cpus[1].events && result.cpus[2].cpu == 2 &&
		      result.cpus[2].lost == 8);
		CHECK_STR(fail.text, "");
		CHECK(arrival_has_begun(scene.arrival));
		snprintf(path, sizeof(path), "%s", arrival_path(scene.arrival));
		plain_free(scene.plain);
		arrival_free(scene.arrival);
		scene.plain = NULL;
		scene.arrival = NULL;
		/* What came is read by a process of its own. */
		CHECK(!recovery_run(path, scene.output, 0600, &recovery, &fail));
		CHECK_STR(fail.text, "");
		recovery_release(&recovery);
		if (CHECK(!trace_open(scene.output, &trace, &fail)) && CHECK(trace_buffers(trace) == 1)) {
			CHECK(!trace_damage(trace) && trace_buffer(trace, 0)->nr_cpus == 2);
			CHECK(pages_are(trace, 0, 0, 3) && pages_are(trace, 1, 2, 3));
			CHECK_STR(trace_buffer(trace, 0)->clock.text, "global");
			CHECK(trace_info(trace)->cpu_count == 3 && trace_info(trace)->page_size == PAGE);
			formats = trace_formats(trace, &nr);
			CHECK(nr == 1 && !strcmp(formats[0].system.text, "sched"));
			CHECK_STR(trace_setting(trace, 0, "weft/mode").text, "record");
			CHECK_STR(trace_setting(trace, 0, "set_event").text, "sched:sched_waking\n");
			CHECK_STR(trace_setting(trace, 0, "trace_clock").text, clocks);
			CHECK_STR(trace_setting(trace, 0, "per_cpu/cpu0/stats").text, stats);
			/* It was not online. */
			CHECK(!trace_setting(trace, 0, "per_cpu/cpu1/stats").text);
		}
		trace_free(trace);
		free(result.cpus);
	}
	end(&scene);
}

TEST(plain_files_of_another_machine_become_a_recording)
{
	check_recording(true);
	check_recording(false);
}

TEST(plain_pages_that_are_not_whole_make_a_count_one_at_most)
{
	struct record_result result = { .at_most = false }, other = { .at_most = false };
	struct fail fail = FAIL_INIT;
	uint8_t page[PAGE];
	struct scene scene;

	if (begin(&scene, false) && send_description(&scene)) {
		make_page(page, 1, 0);
		CHECK(!plain_pages(scene.plain, 1, page, PAGE, &fail) && !plain_pages_end(scene.plain, &fail));
		/* No counters of this CPU have come. */
		CHECK(!plain_count(scene.plain, &result, &fail) && result.at_most);
		CHECK(!send(&scene, "per_cpu/cpu1/stats", stats, &fail));
		CHECK(!plain_pages(scene.plain, 1, page, 100, &fail) && !plain_pages_end(scene.plain, &fail));
		CHECK(!plain_count(scene.plain, &other, &fail) && other.at_most);
		free(result.cpus);
		free(other.cpus);
	}
	end(&scene);
}

TEST(plain_files_that_nobody_asked_for_are_refused)
{
	static const struct {
		const char *name, *text, *want; /* NULL: it is taken */
	} rows[] = {
		{ "secret", "x", "it sends 'secret', which nobody has asked for" },
		{ "weft/mode", "x", "it sends 'weft/mode', which nobody has asked for" },
		{ "../../etc/passwd", "x", "it sends '../../etc/passwd', which nobody has asked for" },
		{ "events/sched/format", "x", "it sends 'events/sched/format', which nobody has asked for" },
		{ "events//x/format", "x", "it sends 'events//x/format', which nobody has asked for" },
		{ "events/x//format", "x", "it sends 'events/x//format', which nobody has asked for" },
		{ "events/a/b/c/format", "x", "it sends 'events/a/b/c/format', which nobody has asked for" },
		{ "events/a/b/format", "x", NULL },
		{ "events/a/b/filter", "x", "it sends 'events/a/b/filter', which nobody has asked for" },
		{ "per_cpu/cpu3/stats", "entries: 1\n", "it names CPU 3, which it does not have" },
		{ "per_cpu/cpu01/stats", "entries: 1\n", "it sends 'per_cpu/cpu01/stats', which nobody has asked for" },
		{ "per_cpu/cpu1/stats/x", "x", "it sends 'per_cpu/cpu1/stats/x', which nobody has asked for" },
		{ "events/header_page", header_page, "it says twice how its buffers are" },
		{ "trace_clock", "local global\n", "its trace clock has no name" },
		{ "trace_clock", "[local global\n", "its trace clock has no name" },
		{ "trace_clock", "[]\n", "its trace clock has no name" },
		{ "trace_clock", "[../x]\n", "its trace clock has no name" },
		{ "trace_clock", "[mono]", NULL },
		{ "weft/possible", "\n", "it does not say which CPUs it has" },
		{ "weft/possible", "0-x\n", "" },
		{ "weft/possible", "0-9\n", NULL },
		{ "weft/online", "nonsense\n", NULL },
		{ "uname", "\n", NULL },
		{ "kallsyms", "", NULL },
		{ "weft/uname", "x", NULL },
		{ "weft/filters", "x", NULL },
		{ "current_tracer", "nop\n", NULL },
	};
	struct scene scene;

	if (begin(&scene, false) && send_description(&scene))
		for (size_t i = 0; i < array_size(rows); i++) {
			struct fail fail = FAIL_INIT;
			int err = send(&scene, rows[i].name, rows[i].text, &fail);

			if (!CHECK(!err == !rows[i].want))
				CHECK_STR(fail.text, rows[i].name);
			if (rows[i].want && *rows[i].want)
				CHECK_STR(fail.text, rows[i].want);
		}
	end(&scene);
}

TEST(plain_recording_begins_when_all_is_known_that_a_reader_needs)
{
	static const char *const texts[][2] = {
		{ "events/header_page", header_page },
		{ "events/header_event", "x" },
		{ "trace_clock", clocks },
		{ "weft/possible", "0-1\n" },
	};

	for (size_t missing = 0; missing <= array_size(texts); missing++) {
		struct fail fail = FAIL_INIT;
		struct scene scene;
		uint32_t size = 0;

		if (begin(&scene, false)) {
			plain_order(scene.plain, HOST_BIG_ENDIAN);
			for (size_t i = 0; i < array_size(texts); i++)
				if (i != missing)
					CHECK(!send(&scene, texts[i][0], texts[i][1], &fail));
			CHECK(plain_pages(scene.plain, 0, "x", 1, &fail) == -EBADMSG);
			CHECK_STR(fail.text, "sub-buffers come before the recording has begun");
			CHECK(plain_begin(scene.plain, &size, &fail) == (missing == array_size(texts) ? 0 : -EBADMSG));
			if (missing < array_size(texts))
				CHECK_STR(fail.text, "it does not say what a reader of its buffers has to know");
			else
				CHECK(plain_begin(scene.plain, &size, &fail) == -EBADMSG &&
				      plain_pages(scene.plain, 2, "x", 1, &fail) == -EBADMSG);
		}
		end(&scene);
	}
}

TEST(plain_sub_buffers_of_a_size_that_no_kernel_has_are_refused)
{
	struct fail fail = FAIL_INIT;
	struct scene scene;

	if (begin(&scene, false)) {
		CHECK(send(&scene, "events/header_page", "nonsense", &fail) < 0);
		CHECK(send(&scene, "events/header_page",
			   "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			   "\tfield: char data;\toffset:16;\tsize:4000;\tsigned:1;\n",
			   &fail) == -EBADMSG);
		CHECK_STR(fail.text, "no kernel has sub-buffers of 4016 bytes");
	}
	end(&scene);
}
