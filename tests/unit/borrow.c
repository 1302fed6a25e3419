// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/borrow_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

/* A top instance with a user's settings, and the settings during a recording. */
static const struct {
	const char *file, *used, *lent;
} files[] = {
	{ "set_event", "sched:sched_switch\n", "" },
	{ "set_event_pid", "7\n8\n", "" },
	{ "set_ftrace_filter", "vfs_read\nvfs_write\n", "" },
	{ "set_ftrace_notrace", "#### no functions disabled ####\n", "#### no functions disabled ####\n" },
	{ "set_graph_function", "schedule\n", "" },
	{ "max_graph_depth", "3\n", "0\n" },
	{ "options/stacktrace", "1\n", "0\n" },
	{ "options/event-fork", "0\n", "0\n" },
	{ "trace_clock", "local [mono]\n", "local [mono]\n" },
	{ "buffer_percent", "50\n", "50\n" },
};

static const struct {
	const char *file, *text;
} others[] = {
	{ "tracing_on", "1\n" },
	{ "current_tracer", "nop\n" },
	{ "trace_options", "stacktrace\nnoevent-fork\n" },
	{ "trace", "" },
	{ "events/enable", "X\n" },
	{ "events/sched/enable", "X\n" },
	{ "events/sched/sched_switch/enable", "1\n" },
	{ "events/sched/sched_switch/filter", "none\n" },
	{ "events/sched/sched_switch/trigger", "# Available triggers:\n" },
	{ "available_events", "sched:sched_switch\n" },
	{ "saved_cmdlines_size", "128\n" },
	{ "tracing_cpumask", "ff\n" },
};

static bool begin(struct fake *fake)
{
	if (!CHECK(fake_new(fake)))
		return false;
	for (size_t i = 0; i < array_size(files); i++)
		fake_write(fake, files[i].file, files[i].used);
	for (size_t i = 0; i < array_size(others); i++)
		fake_write(fake, others[i].file, others[i].text);
	return true;
}

static void check(const struct fake *fake, size_t i, const char *text)
{
	if (text && !CHECK(fake_holds(fake, files[i].file, text)))
		fprintf(stderr, "%s is not '%s'\n", files[i].file, text);
}

TEST(borrowed_top_instance_is_empty_and_its_journal_knows_what_was_there)
{
	struct instance *top = NULL;
	struct undo *undo = NULL;
	struct fail fail = FAIL_INIT;
	bool found = false;
	struct fake fake;

	if (begin(&fake) && CHECK(!undo_new(&fake.tracing, fake.journals, &undo, NULL) &&
				  !instance_open_top(&fake.tracing, undo, &top, NULL))) {
		CHECK(!instance_borrow(top, false, &found, &fail));
		CHECK_STR(fail.text, "");
		CHECK(found);
		for (size_t i = 0; i < array_size(files); i++)
			check(&fake, i, files[i].lent);
		CHECK(!undo_restore(undo, &fail));
		CHECK_STR(fail.text, "");
		CHECK(fake_holds(&fake, "max_graph_depth", "3\n") && fake_holds(&fake, "options/stacktrace", "1\n"));
		instance_close(top, NULL);
	}
	undo_free(undo);
	fake_free(&fake);
}

TEST(borrowed_top_instance_without_anything_on_is_told_so)
{
	static const char *const empty[] = { "set_event", "set_event_pid", "set_ftrace_filter", "set_graph_function" };
	struct instance *top = NULL;
	struct undo *undo = NULL;
	bool found = true;
	struct fake fake;

	if (begin(&fake) && CHECK(!undo_new(&fake.tracing, fake.journals, &undo, NULL) &&
				  !instance_open_top(&fake.tracing, undo, &top, NULL))) {
		for (size_t i = 0; i < array_size(empty); i++)
			fake_write(&fake, empty[i], "");
		fake_write(&fake, "max_graph_depth", "0\n");
		fake_write(&fake, "options/stacktrace", "0\n");
		CHECK(!instance_borrow(top, false, &found, NULL));
		CHECK(!found);
		instance_close(top, NULL);
	}
	undo_free(undo);
	fake_free(&fake);
}
