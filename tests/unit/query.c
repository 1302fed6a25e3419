// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/query/selection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/follow/mark_at.h"
#include "lib/meaning/query/mark_spans.h"
#include "lib/meaning/query/tail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* A file in memory, and the part of it that a selection keeps. */
struct scene {
	struct loom loom;
	struct trace *trace;
	struct context *context;
	struct selection *selection;
};

static bool begin(struct scene *scene, const char *script)
{
	*scene = (struct scene){ .trace = NULL };
	loom_init(&scene->loom);
	loom_task(&scene->loom, 7, "sh");
	loom_task(&scene->loom, 8, "ls");
	loom_task(&scene->loom, 9, "shuttle");
	loom_play(&scene->loom, script);
	scene->trace = loom_trace(&scene->loom);
	return CHECK(scene->trace && !context_new(scene->trace, 0, &scene->context, NULL) &&
		     !selection_new(scene->context, &scene->selection, NULL));
}

static void end(struct scene *scene)
{
	selection_free(scene->selection);
	context_free(scene->context);
	trace_free(scene->trace);
	loom_release(&scene->loom);
}

/* The times of the kept events, each with a blank behind it; a gap is "(lost)". */
static void kept(struct scene *scene, char *into, size_t size)
{
	struct events_options options = { .until = UINT64_MAX };
	struct events *events = NULL;
	struct event event;
	size_t len = 0;

	*into = '\0';
	REQUIRE(!events_open(scene->context, &options, &events, NULL));
	while (len < size && events_next(events, &event, NULL) > 0) {
		if (event.kind == EVENT_LOST)
			len += (size_t)snprintf(into + len, size - len, "(%lld lost) ", (long long)event.lost);
		else if (selection_keep(scene->selection, &event))
			len += (size_t)snprintf(into + len, size - len, "%llu ", (unsigned long long)event.ts);
	}
	events_free(events);
}

static const char two_cpus[] = "0 100 7 sched_waking comm=ls pid=8\n"
			       "0 200 7 sched_switch prev_comm=sh prev_pid=7 next_comm=ls next_pid=8\n"
			       "1 150 0 irq_handler_entry irq=9 name=acpi\n"
			       "1 160 0 irq_handler_exit irq=9 ret=1\n"
			       "0 300 8 sched_wakeup comm=shuttle pid=9\n"
			       "1 lost 5\n"
			       "1 400 9 sched_waking comm=sh pid=7\n";

TEST(selection_of_nothing_keeps_everything)
{
	struct scene scene;
	char text[128];

	if (begin(&scene, two_cpus)) {
		CHECK(selection_empty(scene.selection));
		kept(&scene, text, sizeof(text));
		CHECK_STR(text, "100 150 160 200 300 (5 lost) 400 ");
	}
	end(&scene);
}

TEST(selection_of_events_takes_names_systems_and_globs)
{
	static const struct {
		const char *pattern, *times;
	} choices[] = {
		{ "sched_switch", "200 (5 lost) " },
		{ "sched:sched_switch", "200 (5 lost) " },
		{ "sched/sched_w*", "100 300 (5 lost) 400 " },
		{ "irq", "150 160 (5 lost) " },
		{ "i?q:*_exit", "160 (5 lost) " },
		{ "irq_handler_entry,sched_wakeup", "150 300 (5 lost) " },
	};

	for (size_t i = 0; i < array_size(choices); i++) {
		struct scene scene;
		char text[128];

		if (begin(&scene, two_cpus)) {
			CHECK(!selection_add_events(scene.selection, choices[i].pattern, NULL));
			CHECK(!selection_empty(scene.selection));
			kept(&scene, text, sizeof(text));
			CHECK_STR(text, choices[i].times);
		}
		end(&scene);
	}
}

TEST(selection_names_an_event_that_the_file_does_not_have)
{
	struct fail fail = FAIL_INIT;
	struct scene scene;

	if (begin(&scene, two_cpus)) {
		CHECK(selection_add_events(scene.selection, "sched_swich", &fail) == -ENOENT);
		CHECK(strstr(fail.text, "sched_swich") != NULL);
		CHECK(selection_add_events(scene.selection, "irq,nosuch:*", NULL) == -ENOENT);
	}
	end(&scene);
}

TEST(selection_of_one_kind_adds_up_and_of_two_kinds_narrows)
{
	struct scene scene;
	char text[128];

	if (begin(&scene, two_cpus)) {
		CHECK(!selection_add_pid(scene.selection, 8, NULL) && !selection_add_pid(scene.selection, 9, NULL));
		kept(&scene, text, sizeof(text));
		CHECK_STR(text, "300 (5 lost) 400 ");
		CHECK(!selection_add_events(scene.selection, "sched_waking", NULL));
		kept(&scene, text, sizeof(text));
		CHECK_STR(text, "(5 lost) 400 ");
	}
	end(&scene);
}

TEST(selection_of_tasks_by_name_takes_globs)
{
	struct scene scene;
	char text[128];

	if (begin(&scene, two_cpus)) {
		CHECK(!selection_add_comm(scene.selection, "sh*", NULL));
		kept(&scene, text, sizeof(text));
		CHECK_STR(text, "100 200 (5 lost) 400 ");
	}
	end(&scene);
}

/* The number of events of pid 7 from there on, without the events that are left out. */
static uint64_t count_from(struct scene *scene, const struct tail *tail)
{
	struct events_options options = { .since = tail->since, .until = UINT64_MAX };
	struct events *events = NULL;
	struct event event;
	uint64_t count = 0;

	if (!CHECK(!events_open(scene->context, &options, &events, NULL)))
		return 0;
	while (events_next(events, &event, NULL) > 0)
		count += event.kind == EVENT_RECORD && selection_keep(scene->selection, &event);
	events_free(events);
	return count - tail->skip;
}

TEST(tail_begins_where_the_last_events_that_were_selected_begin)
{
	static const uint64_t wanted[] = { 1, 2, 10, 499, 500, 501, 5000 };
	struct events_options options = { .until = UINT64_MAX };
	struct scene scene;
	char line[96];

	if (!begin(&scene, "")) {
		end(&scene);
		return;
	}
	/* The first events are three milliseconds apart, the later ones three seconds. Every fourth is of PID 7. */
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(line, sizeof(line), "%u %llu %u sched_waking pid=%u", i % 2,
			 1000 + i * 3000000ULL + (i > 1900 ? (i - 1900) * 3000000000ULL : 0), 7 + i % 4, i);
		loom_play(&scene.loom, line);
	}
	selection_free(scene.selection);
	context_free(scene.context);
	trace_free(scene.trace);
	scene.trace = loom_trace(&scene.loom);
	if (CHECK(scene.trace && !context_new(scene.trace, 0, &scene.context, NULL) &&
		  !selection_new(scene.context, &scene.selection, NULL) &&
		  !selection_add_pid(scene.selection, 7, NULL))) {
		for (size_t i = 0; i < array_size(wanted); i++) {
			struct tail tail;

			CHECK(!tail_find(scene.context, &options, wanted[i], selection_keep, scene.selection, &tail,
					 NULL));
			CHECK(count_from(&scene, &tail) == (wanted[i] < 500 ? wanted[i] : 500));
		}
	}
	end(&scene);
}

/* Whether the thread (of a process) is inside a span at each of the times, as letters. */
static const char *covered(const struct mark_spans *spans, int32_t pid, int32_t tgid, const uint64_t *times, size_t nr,
			   char *into)
{
	for (size_t i = 0; i < nr; i++)
		into[i] = mark_spans_cover(spans, pid, tgid, times[i], times[i]) ? 'x' : '.';
	into[nr] = '\0';
	return into;
}

TEST(mark_spans_are_of_the_thread_or_of_all_threads_of_the_process)
{
	static const uint64_t times[] = { 999, 1000, 1150, 1200, 1201, 1300, 1399, 1400, 1500, 1600, 1700, 2000, 9000 };
	static const char *const globs[] = { "out*", "req" };
	struct mark_spans *spans = mark_spans_new(globs, array_size(globs));
	struct fail fail = FAIL_INIT;
	struct context *context;
	struct trace *trace;
	struct loom loom;
	char text[16];

	loom_init(&loom);
	loom_type(&loom, "ftrace", "print", "u64 ip; char buf[32]", "\"\"");
	loom_play(&loom, "0 1000 7 print buf=B|6|outer\n"
			 "1 1050 8 print buf=B|6|other\n"
			 "0 1100 7 print buf=B|6|outside\n"
			 "0 1150 7 print buf=E|6\n"
			 "0 1200 7 print buf=E|6\n"
			 "1 1250 8 print buf=E|6\n"
			 "0 1400 7 print buf=S|6|req|1\n"
			 "1 1450 8 print buf=S|6|req|2\n"
			 "1 1500 9 print buf=F|6|req|1\n"
			 "1 1600 9 print buf=F|6|req|2\n"
			 "1 2000 8 print buf=B|6|outer\n");
	trace = loom_trace(&loom);
	REQUIRE(spans && trace && !context_new(trace, 0, &context, &fail));
	CHECK(!mark_spans_add(spans, context, &fail));
	mark_spans_end(spans);
	CHECK(mark_spans_count(spans) == 5);
	CHECK_STR(covered(spans, 7, 6, times, array_size(times), text), ".xxx...xxx...");
	CHECK_STR(covered(spans, 8, 6, times, array_size(times), text), ".......xxx.xx");
	CHECK_STR(covered(spans, 9, 6, times, array_size(times), text), ".......xxx...");
	CHECK_STR(covered(spans, 6, 0, times, array_size(times), text), ".......xxx...");
	CHECK_STR(covered(spans, 9, 9, times, array_size(times), text), ".............");
	/* Of a time that lasts, one moment is enough. */
	CHECK(mark_spans_cover(spans, 7, 6, 0, 1000) && !mark_spans_cover(spans, 7, 6, 0, 999));
	CHECK(mark_spans_cover(spans, 7, 6, 1201, 1400) && !mark_spans_cover(spans, 7, 6, 1201, 1399));
	CHECK(mark_spans_cover(spans, 7, 6, 1600, 1700) && !mark_spans_cover(spans, 7, 6, 1601, 1999));
	mark_spans_free(spans);
	mark_spans_free(NULL);
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

TEST(mark_at_is_the_innermost_span_of_the_thread)
{
	static const struct {
		int32_t pid;
		uint64_t ts;
		const char *want;
	} cases[] = {
		{ 7, 999, NULL },     { 7, 1000, "outer" }, { 7, 1099, "outer" }, { 7, 1100, "inner" },
		{ 7, 1199, "inner" }, { 7, 1200, "outer" }, { 7, 1299, "outer" }, { 7, 1300, NULL },
		{ 7, 1500, NULL },    { 7, 1600, "last" },  { 7, 99999, "last" }, { 8, 1100, NULL },
		{ 8, 1250, "other" }, { 9, 1450, NULL },
	};
	struct context *context;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	loom_type(&loom, "ftrace", "print", "u64 ip; char buf[32]", "\"\"");
	loom_play(&loom, "0 1000 7 print buf=B|6|outer\n"
			 "0 1100 7 print buf=B|6|inner\n"
			 "0 1200 7 print buf=E|6\n"
			 "1 1210 8 print buf=B|6|other\n"
			 "0 1300 7 print buf=E|6\n"
			 "1 1400 9 print buf=S|6|req|1\n"
			 "1 1500 9 print buf=F|6|req|1\n"
			 "0 1600 7 print buf=B|6|last\n");
	trace = loom_trace(&loom);
	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	for (size_t i = 0; i < array_size(cases); i++) {
		const char *got = mark_at(context, cases[i].pid, cases[i].ts);

		if (!CHECK(!got == !cases[i].want && (!got || !strcmp(got, cases[i].want))))
			fprintf(stderr, "%d at %llu: %s\n", cases[i].pid, (unsigned long long)cases[i].ts,
				got ? got : "-");
	}
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}
