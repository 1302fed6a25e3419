// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/query/selection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

static const char script[] =
	"0 100 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
	"0 200 7 sched_switch prev_comm=sh prev_pid=7 prev_prio=120 prev_state=1 next_comm=ls next_pid=8 "
	"next_prio=-51\n"
	"1 150 0 irq_handler_entry irq=9 name=acpi\n"
	"1 160 0 irq_handler_exit irq=9 ret=1\n"
	"0 300 8 sched_wakeup comm=shuttle pid=9 prio=100 target_cpu=3\n"
	"1 400 9 sched_waking comm=sh pid=7 prio=99 target_cpu=0\n";

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

/* The times of the events that the filter keeps, each followed by a blank. */
static const char *kept(struct scene *scene, char *into, size_t size)
{
	struct events_options options = { .until = UINT64_MAX };
	struct events *events = NULL;
	struct event event;
	size_t len = 0;

	*into = '\0';
	if (!CHECK(!events_open(scene->context, &options, &events, NULL)))
		return into;
	while (len < size && events_next(events, &event, NULL) > 0)
		if (event.kind == EVENT_RECORD && selection_keep(scene->selection, &event))
			len += (size_t)snprintf(into + len, size - len, "%llu ", (unsigned long long)event.ts);
	events_free(events);
	return into;
}

/* The kernel's filter keeps the same events (Documentation/trace/events.rst, section 5). */
TEST(filter_keeps_what_the_kernels_would)
{
	static const struct {
		const char *filter, *times;
	} rows[] = {
		{ "sched_waking: prio < 100", "400 " },
		{ "sched_waking: prio <= 120 && pid == 8", "100 " },
		{ "sched_waking: prio > 99 || comm == \"sh\"", "100 400 " },
		{ "sched_waking: !(pid == 8)", "400 " },
		{ "sched_waking: !(pid == 8) && !(prio == 99)", "" },
		{ "sched_waking: (pid == 8 || pid == 7) && (prio == 99 || prio == 1)", "400 " },
		/* The task of the sched_switch is called `sh` by the event itself. */
		{ "comm ~ \"s*\"", "200 300 400 " },
		{ "comm ~ \"*s\"", "100 " },
		{ "comm ~ \"*utt*\"", "300 " },
		{ "comm ~ \"s?u*\"", "300 " },
		/* In events without such a field, `comm` is the name of the task. */
		{ "comm != \"ls\"", "150 160 200 300 400 " },
		{ "sched_switch: next_prio < 0", "200 " },
		{ "sched_switch: prev_state & 1", "200 " },
		{ "sched_switch: prev_state & 2", "" },
		{ "irq == 9", "150 160 " },
		{ "irq_handler_entry: name == \"acpi\"", "150 " },
		{ "irq_handler_entry: name ~ \"ac*\"", "150 " },
		{ "irq_handler_exit: ret != 0x1", "" },
		{ "common_pid == 7", "100 200 " },
		{ "target_cpu >= 1", "100 300 " },
		{ "sched_wakeup: pid == 011", "300 " },
		{ "target_cpu & CPUS{0,3}", "300 400 " },
		{ "target_cpu == CPUS{1}", "100 " },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		struct scene scene;
		char text[128];

		if (begin(&scene)) {
			CHECK(!selection_add_filter(scene.selection, rows[i].filter, false, &fail));
			CHECK_STR(fail.text, "");
			if (!CHECK(!strcmp(kept(&scene, text, sizeof(text)), rows[i].times)))
				fprintf(stderr, "%s: %s\n", rows[i].filter, text);
		}
		end(&scene);
	}
}

/* The interrupt takes 10 ns; a duration is that of what the event ends. */
TEST(filter_of_a_duration_keeps_what_ended_a_pair_that_long)
{
	static const struct {
		const char *filter, *times;
	} rows[] = {
		{ "duration > 9ns", "160 " },
		{ "duration > 10ns", "" },
		{ "duration >= 10ns", "160 " },
		{ "duration >= 11ns", "" },
		{ "duration < 11ns", "160 " },
		{ "duration < 10ns", "" },
		{ "duration <= 10ns", "160 " },
		{ "duration <= 9ns", "" },
		{ "  duration>=0.01us ", "160 " },
		{ "duration < 1s", "160 " },
		{ "duration<1m", "160 " },
		{ "irq_handler_exit: duration > 9ns", "160 " },
		{ "irq: duration > 9ns", "160 " },
		{ "irq:irq_handler_exit: duration > 9ns", "160 " },
		{ "irq/irq_*: duration > 9ns", "160 " },
		{ "sched: duration > 9ns", "" },
		{ "sched:irq_handler_exit: duration > 9ns", "" },
		/* The other terms are about the event that ends. */
		{ "duration > 9ns && ret == 1", "160 " },
		{ "duration > 9ns && ret == 0", "" },
		{ "(irq == 9 || irq == 8) && duration > 9ns && duration < 11ns", "160 " },
		{ "irq_handler_exit: irq == 9&&ret == 1&&duration > 9ns", "160 " },
		{ "irq_handler_exit: (irq == 8 && ret == 1) && duration > 9ns", "" },
		/* What stands in quotes is no term. */
		{ "COMM != \"x\" && duration > 9ns", "160 " },
		{ "COMM != \"x && y\" && duration > 9ns && ret == 1", "160 " },
		{ "COMM != \"(\" && duration > 9ns", "160 " },
		{ "COMM != '\"' && duration > 9ns && COMM != \"'\" && ret == 0", "" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		struct scene scene;
		char text[128];

		if (begin(&scene)) {
			CHECK(!selection_asks_duration(scene.selection));
			CHECK(!selection_add_filter(scene.selection, rows[i].filter, false, &fail));
			CHECK_STR(fail.text, "");
			CHECK(selection_asks_duration(scene.selection));
			if (!CHECK(!strcmp(kept(&scene, text, sizeof(text)), rows[i].times)))
				fprintf(stderr, "%s: %s\n", rows[i].filter, text);
		}
		end(&scene);
	}
}

/* Without a unit, and where it is no comparison with a number, `duration` is the name of a field. */
TEST(filter_of_a_field_called_duration_is_none_of_a_duration)
{
	static const char *const rows[] = { "duration > 5", "duration == 5ns", "duration > xs",
					    "duration >",   "duration",        "durations > 5ns" };

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		struct scene scene;

		if (begin(&scene)) {
			CHECK(selection_add_filter(scene.selection, rows[i], false, &fail) && *fail.text);
			CHECK(!selection_asks_duration(scene.selection));
		}
		end(&scene);
	}
}

TEST(filters_add_up_and_a_negated_one_takes_away)
{
	struct scene scene;
	char text[128];

	if (begin(&scene)) {
		CHECK(!selection_add_filter(scene.selection, "sched_waking: pid == 8", false, NULL));
		CHECK(!selection_add_filter(scene.selection, "sched_waking: pid == 7", false, NULL));
		CHECK(!selection_add_filter(scene.selection, "sched_waking: prio == 99", true, NULL));
		CHECK_STR(kept(&scene, text, sizeof(text)), "100 ");
	}
	end(&scene);
}

TEST(filter_that_the_kernel_would_refuse_is_refused)
{
	static const struct {
		const char *filter;
		int err;
	} rows[] = {
		{ "sched_waking: nosuch == 1", -ENOENT },
		{ "nosuch == 1", -ENOENT },
		{ "no_such_event: pid == 1", -ENOENT },
		{ "sched_waking: pid == ", -EINVAL },
		{ "sched_waking: pid 1", -EINVAL },
		{ "sched_waking: (pid == 1", -EINVAL },
		{ "sched_waking: pid == 1)", -EINVAL },
		{ "sched_waking: pid == 1 &&", -EINVAL },
		{ "sched_waking: && pid == 1", -EINVAL },
		{ "sched_waking: pid ~ \"1\"", -EINVAL },
		{ "sched_waking: comm < \"a\"", -EINVAL },
		{ "sched_waking: comm == \"a", -EINVAL },
		{ "sched_waking: pid == x", -EINVAL },
		{ "irq_handler_entry: name == acpi", -EINVAL },
		{ "sched_waking: ", -EINVAL },
		{ "sched_waking: pid == 1 pid == 2", -EINVAL },
		{ "sched_waking: target_cpu & CPUS{1", -EINVAL },
		{ "sched_waking: target_cpu & CPUS{x}", -EINVAL },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		struct scene scene;

		if (begin(&scene)) {
			int err = selection_add_filter(scene.selection, rows[i].filter, false, &fail);

			if (!CHECK(err == rows[i].err && *fail.text))
				fprintf(stderr, "%s: %d %s\n", rows[i].filter, err, fail.text);
		}
		end(&scene);
	}
}

TEST(filter_is_bounded_in_comparisons_and_parentheses)
{
	cleanup_buf struct buf wide = BUF_INIT, deep = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct scene scene;

	CHECK(buf_add_str(&wide, "sched_waking: pid == 1") && buf_add_str(&deep, "sched_waking: "));
	for (unsigned i = 0; i <= 256; i++)
		CHECK(buf_add_str(&wide, " || pid == 1"));
	for (unsigned i = 0; i < 100; i++)
		CHECK(buf_add_str(&deep, "("));
	CHECK(buf_add_str(&deep, "pid == 1"));
	for (unsigned i = 0; i < 100; i++)
		CHECK(buf_add_str(&deep, ")"));
	if (begin(&scene)) {
		CHECK(selection_add_filter(scene.selection, buf_str(&wide), false, &fail) < 0 && *fail.text);
		CHECK(selection_add_filter(scene.selection, buf_str(&deep), false, &fail) < 0 && *fail.text);
	}
	end(&scene);
}
