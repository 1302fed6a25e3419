// SPDX-License-Identifier: GPL-2.0-only
#include "formats/render.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/sink.h"
#include "formats/text_end.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/pool.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

static const char script[] =
	"0 1000000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
	"0 1002500 7 sched_switch prev_comm=sh prev_pid=7 prev_prio=120 prev_state=1 next_comm=swapper/0 "
	"next_prio=120\n"
	"1 1001000 0 irq_handler_entry irq=9 name=acpi\n"
	"1 1001500 0 irq_handler_exit irq=9 ret=1\n"
	"1 lost 5\n"
	"1 3000001000 8 sched_wakeup comm=shuttle pid=9 prio=-51 target_cpu=3\n";

static struct trace *played(struct loom *loom, const char *text)
{
	loom_init(loom);
	loom_task(loom, 7, "sh");
	loom_task(loom, 8, "ls");
	loom_play(loom, text);
	return loom_trace(loom);
}

/* The selected part of a trace. */
struct choice {
	uint64_t skip;
	const char *events; /* NULL: all */
};

static bool open_reader(struct trace *trace, const struct choice *choice, struct pool *pool, struct reader *reader)
{
	reader_init(reader);
	if (reader_add(reader, trace, 0, NULL))
		return false;
	reader->skip = choice->skip;
	return (!choice->events || (!selection_new(reader->buffers[0].context, &reader->buffers[0].selection, NULL) &&
				    !selection_add_events(reader->buffers[0].selection, choice->events, NULL))) &&
	       !reader_start(reader, &(struct reader_options){ .pool = pool, .keep_blocks = true }, NULL);
}

/* Renders the trace; returns the value of render(). */
static int print(struct trace *trace, const char *format, const struct render_options *options,
		 const struct choice *choice, int fd, uint64_t *ret_printed)
{
	struct sink_options sink_options = { .color = false };
	const struct sink_ops *ops = sink_find(format);
	struct sink *sink = NULL;
	struct reader reader;
	int r = -EINVAL;

	*ret_printed = 0;
	if (CHECK(open_reader(trace, choice, options->pool, &reader) && ops &&
		  !ops->create(reader.buffers[0].context, &sink_options, &sink, NULL)))
		r = render(&reader, &sink, options, &(struct text_end){ .fd = fd }, ret_printed, NULL);
	if (sink)
		ops->free(sink);
	reader_release(&reader);
	return r;
}

static const struct choice everything;

/* Renders the selected text into `into`. */
static uint64_t text_of_some(struct trace *trace, const char *format, const struct render_options *options,
			     const struct choice *choice, struct buf *into)
{
	cleanup_fd int fd = memfd_create("text", MFD_CLOEXEC);
	uint64_t printed;

	buf_clear(into);
	CHECK(!print(trace, format, options, choice, fd, &printed));
	CHECK(!lseek(fd, 0, SEEK_SET) && !io_read_all(fd, 1 << 28, into));
	return printed;
}

static uint64_t text_of(struct trace *trace, const char *format, const struct render_options *options, struct buf *into)
{
	return text_of_some(trace, format, options, &everything, into);
}

/* The lines of the kernel's text behind the header. */
static const char *behind_header(struct buf *text)
{
	const char *at = buf_str(text);

	while (*at == '#')
		at = strchr(at, '\n') + 1;
	return at;
}

static const struct render_options whole = { .limit = UINT64_MAX };

TEST(render_prints_what_was_played_as_the_kernel_would)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct loom loom;
	struct trace *trace = played(&loom, script);

	if (trace) {
		CHECK(text_of(trace, "ftrace", &whole, &text) == 5);
		CHECK_STR(
			behind_header(&text),
			"              sh-7       [000] .....     0.001000: sched_waking: comm=ls pid=8 prio=120 "
			"target_cpu=001\n"
			"          <idle>-0       [001] .....     0.001001: irq_handler_entry: irq=9 name=acpi\n"
			"          <idle>-0       [001] .....     0.001002: irq_handler_exit: irq=9 ret=handled\n"
			"              sh-7       [000] .....     0.001003: sched_switch: prev_comm=sh prev_pid=7 "
			"prev_prio=120 prev_state=1 ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
			"CPU:1 [LOST 5 EVENTS]\n"
			"              ls-8       [001] .....     3.000001: sched_wakeup: comm=shuttle pid=9 prio=-51 "
			"target_cpu=003\n");
	}
	trace_free(trace);
	loom_release(&loom);
}

TEST(render_selects_skips_and_ends_where_it_was_told_to)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct render_options two = { .limit = 2 };
	const struct choice behind_first = { .skip = 1 }, exits = { .events = "irq_handler_exit" };
	struct loom loom;
	struct trace *trace = played(&loom, script);

	if (trace) {
		CHECK(text_of_some(trace, "trace_pipe", &two, &behind_first, &text) == 2);
		CHECK(strstr(buf_str(&text), "irq_handler_entry") && strstr(buf_str(&text), "irq_handler_exit"));
		CHECK(!strstr(buf_str(&text), "sched_"));
		CHECK(text_of_some(trace, "trace_pipe", &whole, &exits, &text) == 1);
		CHECK(strstr(buf_str(&text), "irq_handler_exit") && !strstr(buf_str(&text), "sched_"));
	}
	trace_free(trace);
	loom_release(&loom);
}

static void play_many(struct loom *loom)
{
	char line[128];

	loom_init(loom);
	for (unsigned i = 0; i < 20000; i++) {
		snprintf(line, sizeof(line), "%u %u %u sched_waking comm=t%u pid=%u prio=%u target_cpu=%u", i % 3,
			 1000 + i * 70, i % 11, i % 11, i, i % 140, i % 4);
		loom_play(loom, line);
	}
}

TEST(render_gives_the_same_bytes_from_any_number_of_threads)
{
	static const char *const formats[] = { "ftrace", "trace_pipe", "json", "pretty" };
	cleanup_buf struct buf one = BUF_INIT, many = BUF_INIT;
	struct trace *trace;
	struct loom loom;

	play_many(&loom);
	trace = loom_trace(&loom);
	for (size_t i = 0; trace && i < array_size(formats); i++) {
		CHECK(text_of(trace, formats[i], &whole, &one) == 20000);
		for (unsigned threads = 1; threads < 4; threads += 2) {
			struct render_options options = { .limit = UINT64_MAX };

			REQUIRE(!pool_new(threads, &options.pool, NULL));
			CHECK(text_of(trace, formats[i], &options, &many) == 20000);
			CHECK(one.len == many.len && !memcmp(one.data, many.data, one.len));
			pool_free(options.pool);
		}
	}
	trace_free(trace);
	loom_release(&loom);
}

TEST(render_says_that_the_output_is_full_or_gone)
{
	cleanup_fd int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct trace *trace;
	struct loom loom;
	uint64_t printed;

	play_many(&loom);
	trace = loom_trace(&loom);
	if (trace) {
		CHECK(print(trace, "ftrace", &whole, &everything, full, &printed) == -ENOSPC);
		CHECK(print(trace, "ftrace", &whole, &everything, -1, &printed) == -EBADF);
	}
	trace_free(trace);
	loom_release(&loom);
}
