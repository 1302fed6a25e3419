// SPDX-License-Identifier: GPL-2.0-only
#include "lib/query/selection.h"
#include "lib/query/tail.h"

#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/events.h"
#include "lib/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
