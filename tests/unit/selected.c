// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/query/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* System calls of two tasks, one of them a recorder, which an interrupt hits; some have no beginning or no end. */
static const char calls[] = "0 100 7 sys_enter_read fd=3\n"
			    "0 150 8 sys_enter_write fd=4\n"
			    "0 170 7 sys_exit_read ret=5\n"
			    "0 180 7 irq_handler_entry irq=9 name=acpi common_flags=8\n"
			    "0 190 7 irq_handler_exit irq=9 ret=1 common_flags=8\n"
			    "0 250 8 sys_exit_write ret=-4\n"
			    "0 260 9 sys_exit_read ret=1\n"
			    "0 300 7 sys_enter_read fd=3\n"
			    "0 lost 2\n"
			    "0 400 7 sys_exit_read ret=6\n"
			    "0 500 7 sys_enter_read fd=3\n"
			    "0 501 7 sys_exit_read ret=7\n";

struct scene {
	struct loom loom;
	struct trace *trace;
	struct context *context;
	struct selection *selection;
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .trace = NULL };
	loom_init(&scene->loom);
	loom_type(&scene->loom, "syscalls", "sys_enter_read", "u64 fd", "\"\"");
	loom_type(&scene->loom, "syscalls", "sys_exit_read", "long ret", "\"\"");
	loom_type(&scene->loom, "syscalls", "sys_enter_write", "u64 fd", "\"\"");
	loom_type(&scene->loom, "syscalls", "sys_exit_write", "long ret", "\"\"");
	loom_setting(&scene->loom, "weft/self", "x 7 4103\n");
	loom_play(&scene->loom, calls);
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

/* The times of the kept events; behind the end of something its duration, and the time of what began it, if known. */
static void kept(struct scene *scene, char *into, size_t size)
{
	struct events_options options = { .until = UINT64_MAX };
	struct events *events = NULL;
	struct event event, from;
	uint64_t lasted;
	size_t len = 0;

	*into = '\0';
	REQUIRE(!events_open(scene->context, &options, &events, NULL));
	while (len < size && events_next(events, &event, NULL) > 0) {
		if (event.kind == EVENT_LOST) {
			selection_gap(scene->selection, &event);
			continue;
		}
		if (!selection_keep(scene->selection, &event))
			continue;
		len += (size_t)snprintf(into + len, size - len, "%" PRIu64, event.ts);
		if (selection_ended(scene->selection, &event, &lasted, &from)) {
			len += (size_t)snprintf(into + len, size - len, "(%" PRIu64 "ns", lasted);
			if (from.data)
				len += (size_t)snprintf(into + len, size - len, " from %" PRIu64, from.ts);
			len += (size_t)snprintf(into + len, size - len, ")");
		}
		len += (size_t)snprintf(into + len, size - len, " ");
	}
	events_free(events);
}

/* The first read takes 70 ns, the write 100, the last read 1; the one in between lost its time. */
TEST(selection_by_duration_knows_what_began_a_system_call)
{
	static const struct {
		const char *filter, *negated, *events, *times;
	} rows[] = {
		{ "duration > 1ns", NULL, NULL, "170(70ns from 100) 190(10ns) 250(100ns from 150) " },
		{ "duration >= 1ns", NULL, NULL,
		  "170(70ns from 100) 190(10ns) 250(100ns from 150) 501(1ns from 500) " },
		{ "duration > 70ns", NULL, NULL, "250(100ns from 150) " },
		{ "duration >= 70ns", NULL, NULL, "170(70ns from 100) 250(100ns from 150) " },
		{ "duration < 10ns", NULL, NULL, "501(1ns from 500) " },
		{ "duration <= 10ns", NULL, NULL, "190(10ns) 501(1ns from 500) " },
		{ "syscalls: duration > 1ns", NULL, NULL, "170(70ns from 100) 250(100ns from 150) " },
		{ "sys_exit_w*: duration > 1ns", NULL, NULL, "250(100ns from 150) " },
		{ "syscalls:sys_exit_r*: duration > 1ns", NULL, NULL, "170(70ns from 100) " },
		{ "syscalls/sys_exit_r*: duration > 1ns", NULL, NULL, "170(70ns from 100) " },
		{ "irq:sys_exit_r*: duration > 1ns", NULL, NULL, "" },
		{ "duration > 1ns && ret == 5", NULL, NULL, "170(70ns from 100) " },
		{ "ret < 0 && duration > 1ns", NULL, NULL, "250(100ns from 150) " },
		{ "syscalls: ret != 5 && duration > 1ns", NULL, NULL, "250(100ns from 150) " },
		/* What a negated filter takes away does not come back by another. */
		{ "duration > 1ns", "duration > 80ns", NULL, "170(70ns from 100) 190(10ns) " },
		{ "duration > 1ns", "syscalls: duration > 1ns", NULL, "190(10ns) " },
		{ NULL, "duration > 1ns", NULL, "100 150 180 260 300 400 500 501 " },
		/* Of those that are named, the ones that lasted; the duration is measured with all. */
		{ "duration > 1ns", NULL, "sys_exit_read", "170(70ns from 100) " },
		{ "duration > 1ns", NULL, "irq", "190(10ns) " },
		/* Several filters add up, of a duration and of none. */
		{ "duration > 70ns", NULL, NULL, "250(100ns from 150) " },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		struct scene scene;
		char text[400];

		if (begin(&scene)) {
			if (rows[i].filter)
				CHECK(!selection_add_filter(scene.selection, rows[i].filter, false, &fail));
			if (rows[i].negated)
				CHECK(!selection_add_filter(scene.selection, rows[i].negated, true, &fail));
			if (rows[i].events)
				CHECK(!selection_add_events(scene.selection, rows[i].events, &fail));
			CHECK_STR(fail.text, "");
			CHECK(selection_asks_duration(scene.selection) && !selection_empty(scene.selection));
			CHECK(!selection_can_enter(scene.selection) && !selection_follows_calls(scene.selection));
			kept(&scene, text, sizeof(text));
			if (!CHECK(!strcmp(text, rows[i].times)))
				fprintf(stderr, "%s, not %s: %s\n", rows[i].filter ? rows[i].filter : "",
					rows[i].negated ? rows[i].negated : "", text);
		}
		end(&scene);
	}
}

TEST(selection_with_filters_of_a_duration_and_of_none_keeps_what_meets_one)
{
	struct scene scene;
	char text[400];

	if (begin(&scene)) {
		CHECK(!selection_add_filter(scene.selection, "duration > 70ns", false, NULL));
		CHECK(!selection_add_filter(scene.selection, "fd == 3", false, NULL));
		kept(&scene, text, sizeof(text));
		CHECK_STR(text, "100 250(100ns from 150) 300 500 ");
	}
	end(&scene);
}

/* PID 7 is the recorder's, and so is one with the same hash that has no events. The interrupt is the machine's. */
TEST(selection_without_the_recorder_counts_what_it_leaves_out)
{
	struct scene scene;
	uint64_t *left_out = NULL;
	char text[400];

	if (begin(&scene)) {
		CHECK(selection_can_enter(scene.selection) && !selection_asks_duration(scene.selection));
		CHECK(!selection_leave_out_self(scene.selection, &left_out, NULL));
		REQUIRE(left_out && !*left_out);
		CHECK(!selection_can_enter(scene.selection) && !selection_empty(scene.selection));
		kept(&scene, text, sizeof(text));
		CHECK_STR(text, "150 180 190 250 260 ");
		CHECK(*left_out == 6);
	}
	end(&scene);
}

TEST(selection_leaves_out_what_an_interrupt_did)
{
	struct scene scene;
	char text[400];

	if (begin(&scene)) {
		selection_leave_out_flags(scene.selection, EVENT_HARDIRQ);
		CHECK(selection_can_enter(scene.selection) && !selection_empty(scene.selection));
		kept(&scene, text, sizeof(text));
		CHECK_STR(text, "100 150 170 250 260 300 400 500 501 ");
	}
	end(&scene);
}

/* The parts of a name may be globs; a part without the other is that of a system, or of an event. */
TEST(selection_by_a_filter_is_of_the_events_that_it_names)
{
	static const struct {
		const char *filter, *times;
	} rows[] = {
		{ "sys_exit_read: ret > 0", "170 260 400 501 " },
		{ "syscalls: ret > 0", "170 260 400 501 " },
		{ "syscalls:*: ret > 5", "400 501 " },
		{ "sys*/sys_exit_w*: ret < 0", "250 " },
		{ "ret == 1", "190 260 " },
		{ "irq*: ret == 1", "190 " },
		{ "*: ret == 1", "190 260 " },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		struct scene scene;
		char text[400];

		if (begin(&scene)) {
			CHECK(!selection_add_filter(scene.selection, rows[i].filter, false, &fail));
			CHECK_STR(fail.text, "");
			CHECK(selection_can_enter(scene.selection));
			kept(&scene, text, sizeof(text));
			if (!CHECK(!strcmp(text, rows[i].times)))
				fprintf(stderr, "%s: %s\n", rows[i].filter, text);
			/* A file is not needed to see that it is a filter. */
			CHECK(!selection_check_filter(rows[i].filter, &fail));
		}
		end(&scene);
	}
}

TEST(selection_that_is_none_is_refused)
{
	static const char *const filters[] = { "sys_exit_read: ret >", "ret", "duration > 1ns && ret >",
					       "sys_exit_read: (ret == 1" };
	struct fail fail = FAIL_INIT;
	struct scene scene;

	if (begin(&scene)) {
		for (size_t i = 0; i < array_size(filters); i++)
			CHECK(selection_add_filter(scene.selection, filters[i], false, &fail) == -EINVAL &&
			      fail.text[0]);
		CHECK(selection_check_filter("sys_exit_read: ret >", &fail) == -EINVAL);
		CHECK(!selection_check_filter("no_such_event: field == 1", &fail));
		CHECK(!selection_check_filter("duration > 1ns && ret >", &fail));
		CHECK(selection_add_filter(scene.selection, "duration > 99999999999999999999s", false, &fail) ==
		      -EINVAL);
	}
	end(&scene);
}
