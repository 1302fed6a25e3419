// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/siphash.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* What a context knows by each setting of a file, as text with all that is not as in a file without settings. */

static void put(struct buf *text, const char *name, uint64_t value, uint64_t usual)
{
	if (value != usual)
		CHECK(buf_addf(text, " %s=%" PRIu64, name, value));
}

static void put_text(struct buf *text, const char *name, const char *value, const char *usual)
{
	if (!value != !usual || (value && strcmp(value, usual) != 0))
		CHECK(buf_addf(text, " %s=%.*s", name, (int)strcspn(value ?: "(none)", "\n"), value ?: "(none)"));
}

static void tell(const struct context *context, struct buf *text)
{
	put_text(text, "clock", context->clock, "local");
	put(text, "counts", context->unit == CLOCK_UNIT_COUNT, 0);
	put_text(text, "tracer", context->tracer, "nop");
	put(text, "tracer_known", context->tracer_known, 0);
	put_text(text, "release", context->release, "6.12.0");
	put(text, "hz", context->hz, 0);
	put(text, "recorded", context->recorded, 0);
	put(text, "told", context->told, 0);
	put(text, "frozen", context->frozen, 0);
	put_text(text, "self", context->self, NULL);
	put(text, "went_on", context->went_on, 0);
	put_text(text, "latency", context->latency, NULL);
	put_text(text, "switched_on", context->switched_on, NULL);
	put_text(text, "event_pids", context->event_pids, NULL);
	put_text(text, "event_pids_left", context->event_pids_left, NULL);
	put_text(text, "filters", context->filters, NULL);
	put_text(text, "recording", context->recording, NULL);
	put_text(text, "cpumask", context->cpumask, NULL);
	put_text(text, "dynamic_events", context->dynamic_events, NULL);
	put(text, "section", context->section, 0);
	put(text, "event_fork", context->event_fork, 0);
	put(text, "latency_format", context_option(context, OPTION_LATENCY_FORMAT), 0);
	put(text, "online", context->online_cpus, LOOM_CPUS);
	put(text, "time_start_known", context->time_start_known, 0);
	put(text, "time_start", context->time_start, 0);
	put(text, "buffer_cpu", context->buffer_cpu, 0);
	put_text(text, "preempt", context->preempt_model, "unknown");
	put(text, "pid_width", context->columns.pid_width, 0);
	put(text, "flags", context->columns.flags, 0);
	put(text, "has_x", context->columns.has_x, 0);
	put(text, "no_bh", context->columns.no_bh, 0);
	put(text, "old_marks", context->columns.old_marks, 0);
	put(text, "tgid_late", context->columns.tgid_late, 0);
	put(text, "hashes", context_hashes_pointers(context), 1);
	put(text, "page_array", context->abi.page_array, 0);
	put(text, "abi_hz", context->abi.hz, 0);
	if (context->env.hash_key)
		CHECK(buf_addf(text, " key=%" PRIx64 ":%" PRIx64, context->env.hash_key->words[0],
			       context->env.hash_key->words[1]));
	put(text, "entries", context->entries, 0);
	put(text, "written", context->written, 0);
	put(text, "since", context->section_since, 0);
}

static void check(const struct loom_setting *settings, const char *script, const char *wanted)
{
	struct buf text = BUF_INIT;
	struct context *context = NULL;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	loom_graph(&loom);
	loom_type(&loom, "ftrace", "function", "long ip; long parent_ip", "\"\"");
	for (size_t i = 0; i < 3 && settings[i].name; i++) {
		if (!strcmp(settings[i].name, "uname"))
			loom.uname = settings[i].text;
		else if (!strcmp(settings[i].name, "clock"))
			loom.clock = settings[i].text;
		else
			loom_setting(&loom, settings[i].name, settings[i].text);
	}
	if (script)
		loom_play(&loom, script);
	trace = loom_trace(&loom);
	if (CHECK(trace && !context_new(trace, 0, &context, NULL))) {
		tell(context, &text);
		CHECK_STR(buf_str(&text), wanted);
	}
	buf_release(&text);
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

TEST(context_settings_say_what_they_say)
{
	/* clang-format off */
	static const struct {
		struct loom_setting settings[3];
		const char *want;
	} rows[] = {
		{ { { NULL, NULL } }, "" },
		{ { { "clock", "mono" } }, " clock=mono" },
		{ { { "clock", "local global [counter] uptime" } }, " clock=counter counts=1" },
		{ { { "current_tracer", "function_graph\n" } }, " tracer=function_graph tracer_known=1" },
		{ { { "current_tracer", "\n" } }, "" },
		{ { { "weft/hz", "250\n" } }, " hz=250 abi_hz=250" },
		{ { { "weft/hz", "4294967296\n" } }, " hz=4294967296" },
		{ { { "weft/mode", "record\n" } }, " recorded=1" },
		{ { { "weft/mode", "record told\n" } }, " recorded=1" },
		{ { { "weft/mode", "recor" } }, "" },
		{ { { "weft/mode", "import\n" } }, " recorded=1" },
		{ { { "weft/mode", "import told" } }, " recorded=1 told=1" },
		{ { { "weft/mode", "import tolt" } }, " recorded=1" },
		{ { { "weft/mode", "extract\n" } }, "" },
		{ { { "trace_options", "nosym-offset\n" } }, " frozen=1" },
		{ { { "trace_options", "event-fork\n" } }, " frozen=1 event_fork=1" },
		{ { { "trace_options", "noevent-fork\nnohash-ptr\n" } }, " frozen=1 hashes=0" },
		{ { { "weft/mode", "record\n" }, { "trace_options", "event-fork\n" } }, " recorded=1 event_fork=1" },
		{ { { "weft/section", "1\n" }, { "weft/mode", "record\n" } }, " frozen=1 section=1" },
		/* tracing_snapshot_open() ignores the option; the printer of function_graph does not. */
		{ { { "trace_options", "latency-format\n" } }, " frozen=1 latency_format=1" },
		{ { { "trace_options", "latency-format\n" }, { "weft/entries", "3\n" } }, " frozen=1" },
		{ { { "trace_options", "latency-format\n" },
		    { "weft/entries", "3\n" },
		    { "current_tracer", "function_graph\n" } },
		  " tracer=function_graph tracer_known=1 frozen=1 latency_format=1" },
		{ { { "trace_options", "latency-format\n" }, { "weft/entries", "3\n" }, { "weft/section", "1\n" } },
		  " frozen=1 section=1 latency_format=1" },
		/* preempt_model_str() of kernel/sched/core.c, from 6.15 on. */
		{ { { "uname", "Linux loom 6.15.0 #1 SMP PREEMPT_DYNAMIC x86_64" },
		    { "weft/sched_preempt", "none voluntary (full) lazy\n" } },
		  " release=6.15.0 preempt=PREEMPT(full)" },
		{ { { "uname", "Linux loom 6.15.0 #1 SMP PREEMPT_RT x86_64" },
		    { "weft/sched_preempt", "(full) lazy\n" } },
		  " release=6.15.0 preempt=PREEMPT_{RT,(full)}" },
		{ { { "uname", "Linux loom 6.15.0 #1 SMP PREEMPT x86_64" } }, " release=6.15.0" },
		{ { { "uname", "Linux loom 6.14.0 #1 SMP PREEMPT_DYNAMIC x86_64" },
		    { "weft/sched_preempt", "none (full)\n" } },
		  " release=6.14.0 preempt=preempt" },
		{ { { "weft/self", "7\n" } }, " self=7" },
		{ { { "weft/went_on", "1\n" } }, " went_on=1" },
		{ { { "weft/latency", "# x\n" } }, " latency=# x" },
		{ { { "set_event", "a:b\n" } }, " switched_on=a:b" },
		{ { { "weft/event_pids", "5\n" } }, " event_pids=5" },
		{ { { "set_event_pid", "5\n" } }, " event_pids_left=5" },
		{ { { "set_event_pid", "" } }, "" },
		{ { { "weft/filters", "a\n" } }, " filters=a" },
		{ { { "weft/recording", "web\n" } }, " recording=web" },
		{ { { "weft/kernel", "6\n" } }, " release= recording=" },
		{ { { "weft/kernel", "6\n" }, { "weft/recording", "db\n" } }, " release= recording=db" },
		{ { { "tracing_cpumask", "f\n" } }, " cpumask=f" },
		{ { { "dynamic_events", "p:x\n" } }, " dynamic_events=p:x" },
		{ { { "weft/online", "0-1\n" } }, " online=2" },
		{ { { "weft/online", "0,2-3\nrest" } }, " online=3" },
		{ { { "weft/online", "none\n" } }, "" },
		{ { { "weft/time_start", "1234\n" } }, " time_start_known=1 time_start=1234" },
		{ { { "weft/time_start", "0\n" } }, " time_start_known=1" },
		{ { { "weft/buffer_cpu", "3\n" } }, " buffer_cpu=3" },
		{ { { "weft/preempt_model", "PREEMPT_LAZY x\n" } }, " preempt=PREEMPT_LAZY" },
		{ { { "weft/columns", "pid=5\n" } }, " pid_width=5" },
		{ { { "weft/columns", "pid=6\nflags=4\n" } }, " flags=4" },
		{ { { "weft/columns", "flags=7\nx=1\n" } }, " flags=7 has_x=1" },
		{ { { "weft/columns", "flags=3\nbh=0\n" } }, " no_bh=1" },
		{ { { "weft/columns", "flags=8\nold-marks=1\n" } }, " old_marks=1" },
		{ { { "weft/columns", "flags=55\ntgid-late=1\nx=0\nbh=1\n" } }, " tgid_late=1" },
		{ { { "weft/page_array", "ffffea0000000000\n" } }, " page_array=18446719884453740544" },
		{ { { "weft/hash_key", "00000000000000ab00000000000000cd\n" } }, " key=ab:cd" },
		{ { { "weft/hash_key", "ab" } }, "" },
		{ { { "uname", "Linux loom 4.9.0" } }, " release=4.9.0 hashes=0" },
		{ { { "uname", "Linux loom 5.10.190" } }, " release=5.10.190 hashes=0" },
		{ { { "uname", "Linux loom 5.10.189" } }, " release=5.10.189" },
		{ { { "uname", "Linux loom 5.10.190" }, { "trace_options", "hash-ptr\n" } },
		  " release=5.10.190 frozen=1" },
		{ { { "uname", "Linux" }, { "weft/release", "4.4.0 x\n" } }, " release=4.4.0 hashes=0" },
		{ { { "uname", "Linux loom 6.1.0" }, { "weft/release", "4.4.0\n" } }, " release=6.1.0" },
		{ { { "weft/uname", "Linux loom 6.12.0 #1 SMP PREEMPT x\n" } }, " preempt=preempt" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check(rows[i].settings, NULL, rows[i].want);
}

/* Of a file that does not say its tracer: by the first entry that only one tracer writes, if it comes early. */
TEST(context_settings_without_a_tracer_are_guessed_by_the_first_entries)
{
	static const struct loom_setting none[1], nop[] = { { "current_tracer", "nop\n" }, { NULL, NULL } };
	struct buf late = BUF_INIT;

	check(none, "0 1 1 sched_waking pid=2\n0 2 1 function ip=1\n", " tracer=function");
	check(none, "0 1 1 sched_waking pid=2\n0 2 1 funcgraph_entry depth=0\n0 3 1 function ip=1\n",
	      " tracer=function_graph");
	check(none, "0 2 1 funcgraph_exit depth=0\n", " tracer=function_graph");
	check(nop, "0 2 1 function ip=1\n", " tracer_known=1");
	for (int i = 0; i < 63; i++)
		CHECK(buf_addf(&late, "0 %d 1 sched_waking pid=2\n", i + 1));
	CHECK(buf_addf(&late, "0 99 1 function ip=1\n"));
	check(none, buf_str(&late), " tracer=function");
	buf_clear(&late);
	for (int i = 0; i < 64; i++)
		CHECK(buf_addf(&late, "0 %d 1 sched_waking pid=2\n", i + 1));
	CHECK(buf_addf(&late, "0 99 1 function ip=1\n"));
	check(none, buf_str(&late), "");
	buf_release(&late);
}

TEST(context_settings_of_the_user_are_options_of_the_kernel_or_refused)
{
	struct fail fail = FAIL_INIT;
	struct context *context = NULL;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	trace = loom_trace(&loom);
	if (CHECK(trace && !context_new(trace, 0, &context, NULL))) {
		CHECK(!context_option(context, OPTION_SYM_OFFSET) && context_option(context, OPTION_CONTEXT_INFO));
		CHECK(!context_set_option(context, "sym-offset", &fail) && context_option(context, OPTION_SYM_OFFSET));
		CHECK(!context_set_option(context, "nosym-offset", &fail) &&
		      !context_option(context, OPTION_SYM_OFFSET));
		CHECK(!context_set_option(context, "blk_classic", &fail) &&
		      !context_option(context, OPTION_CONTEXT_INFO));
		CHECK(!context_set_option(context, "noblk_classic", &fail) &&
		      context_option(context, OPTION_CONTEXT_INFO));
		CHECK(!context_set_option(context, "nohash-ptr", &fail) && !context->env.hash_pointers);
		CHECK(!context_set_option(context, "bitmask-list", &fail) && context->env.bitmask_list);
		CHECK(context_set_option(context, "sym-ofset", &fail) < 0);
		CHECK(strstr(fail.text, "no trace option 'sym-ofset' that the output depends on") &&
		      strstr(fail.text, "'sym-offset'") && strstr(fail.text, ", bitmask-list"));
		CHECK(context_set_option(context, "nosym-ofset", &fail) < 0 && strstr(fail.text, "'sym-offset'"));
		CHECK(context_set_option(context, "no", &fail) < 0 && context_set_option(context, "", &fail) < 0);
	}
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}
