// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/undo/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/journal.h"
#include "lib/kernel/undo/undo_internal.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

TEST(undo_puts_back_what_was_there_the_last_change_first)
{
	struct instance *top;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "trace_clock", "local [global] mono\n");
	fake_write(&fake, "tracing_cpumask", "3\n");
	fake_write(&fake, "buffer_size_kb", "7 (expanded: 1408)\n");
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	REQUIRE(!instance_open_top(&fake.tracing, undo, &top, NULL));
	CHECK(!instance_set(top, "trace_clock", "mono", NULL));
	CHECK(!instance_set(top, "tracing_cpumask", "1", NULL));
	CHECK(!instance_set(top, "tracing_cpumask", "2", NULL));
	CHECK(!instance_set(top, "buffer_size_kb", "4096", NULL));
	CHECK(fake_holds(&fake, "tracing_cpumask", "2\n"));
	CHECK(!undo_restore(undo, NULL));
	CHECK(fake_holds(&fake, "trace_clock", "global\n"));
	CHECK(fake_holds(&fake, "tracing_cpumask", "3\n"));
	CHECK(fake_holds(&fake, "buffer_size_kb", "1408\n"));
	instance_close(top, NULL);
	undo_free(undo);
	fake_free(&fake);
}

/* Writing trace_clock empties the kernel's buffer, whatever it had. */
TEST(instance_set_does_not_write_what_is_so_already)
{
	static const struct {
		const char *file, *text, *same, *other, *written;
	} cases[] = {
		{ "trace_clock", "local [global] mono\n", "global", "mono", "mono\n" },
		{ "tracing_cpumask", "3\n", "3", "1", "1\n" },
		{ "buffer_size_kb", "1408\n", "1408", "4096", "4096\n" },
		{ "current_tracer", "nop\n", "nop", "function", "function\n" },
		{ "tracing_on", "1\n", "1", "0", "0\n" },
	};

	for (size_t i = 0; i < array_size(cases); i++) {
		struct instance *top;
		struct undo *undo;
		struct fake fake;

		REQUIRE(fake_new(&fake));
		fake_write(&fake, cases[i].file, cases[i].text);
		REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
		REQUIRE(!instance_open_top(&fake.tracing, undo, &top, NULL));
		fake_refuse(&fake, cases[i].file, cases[i].same, EINVAL);
		CHECK(!instance_set(top, cases[i].file, cases[i].same, NULL));
		CHECK(fake_holds(&fake, cases[i].file, cases[i].text));
		CHECK(!instance_set(top, cases[i].file, cases[i].other, NULL));
		CHECK(fake_holds(&fake, cases[i].file, cases[i].written));
		instance_close(top, NULL);
		undo_free(undo);
		fake_free(&fake);
	}
}

TEST(undo_writes_a_list_anew_without_the_lines_that_are_no_names)
{
	struct instance *top;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "set_ftrace_filter", "vfs_read\next4_sync [ext4]\nschedule:traceoff:unlimited\n");
	fake_write(&fake, "set_ftrace_pid", "no pid\n");
	fake_write(&fake, "set_graph_function", "#### all functions enabled ####\n");
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	REQUIRE(!instance_open_top(&fake.tracing, undo, &top, NULL));
	CHECK(!instance_set(top, "set_ftrace_filter", "schedule", NULL));
	CHECK(!instance_add(top, "set_ftrace_pid", "12", NULL));
	CHECK(!instance_set(top, "set_graph_function", "schedule", NULL));
	CHECK(!undo_restore(undo, NULL));
	CHECK(fake_holds(&fake, "set_ftrace_filter", "vfs_read\next4_sync:mod:ext4\nschedule:traceoff\n"));
	CHECK(fake_holds(&fake, "set_ftrace_pid", ""));
	CHECK(fake_holds(&fake, "set_graph_function", ""));
	instance_close(top, NULL);
	undo_free(undo);
	fake_free(&fake);
}

/* t_mod_show() of ftrace.c: functions of a module that is not loaded. */
TEST(undo_takes_away_the_functions_of_a_module_that_is_not_loaded)
{
	static const char *const tables[][2] = {
		{ "#### all functions enabled ####\n", "" },
		{ "schedule:traceoff:unlimited\n", "schedule:traceoff\n" },
		{ "write*:mod:ext3\n", "write*:mod:ext3\n" },
	};
	struct instance *top;
	struct undo *undo;
	struct fake fake;

	for (size_t i = 0; i < array_size(tables); i++) {
		REQUIRE(fake_new(&fake));
		fake_write(&fake, "set_ftrace_filter", tables[i][0]);
		REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
		REQUIRE(!instance_open_top(&fake.tracing, undo, &top, NULL));
		CHECK(!instance_set(top, "set_ftrace_filter", "*:mod:not_there", NULL));
		CHECK(!undo_restore(undo, NULL));
		CHECK(fake_holds(&fake, "set_ftrace_filter", tables[i][1]));
		instance_close(top, NULL);
		undo_free(undo);
		fake_free(&fake);
	}
}

TEST(undo_takes_away_only_the_triggers_that_were_added)
{
	struct instance *top;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "trigger", "traceoff:count=1 if pid == 3\n");
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	REQUIRE(!instance_open_top(&fake.tracing, undo, &top, NULL));
	CHECK(!instance_add(top, "trigger", "stacktrace:unlimited", NULL));
	CHECK(!instance_add(top, "trigger", "hist:keys=pid:vals=hitcount:size=2048 if pid > 1 [active]", NULL));
	CHECK(!instance_add(top, "trigger", "enable_event:sched:sched_switch:unlimited", NULL));
	CHECK(!undo_restore(undo, NULL));
	CHECK(fake_holds(&fake, "trigger",
			 "traceoff:count=1 if pid == 3\nstacktrace:unlimited\n"
			 "hist:keys=pid:vals=hitcount:size=2048 if pid > 1 [active]\n"
			 "enable_event:sched:sched_switch:unlimited\n"
			 "!stacktrace\n!hist:keys=pid:vals=hitcount:size=2048 if pid > 1\n"
			 "!enable_event:sched:sched_switch\n"));
	instance_close(top, NULL);
	undo_free(undo);
	fake_free(&fake);
}

TEST(undo_turns_only_those_events_that_differ)
{
	struct instance *top;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "set_event", "irq:irq_entry\nsched:sched_switch\n");
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	REQUIRE(!instance_open_top(&fake.tracing, undo, &top, NULL));
	REQUIRE(!undo_remember(undo, "", "set_event", NULL));
	fake_write(&fake, "set_event", "sched:sched_switch\nsched:sched_waking\n");
	CHECK(!undo_restore(undo, NULL));
	CHECK(fake_holds(&fake, "set_event",
			 "sched:sched_switch\nsched:sched_waking\n!sched:sched_waking\nirq:irq_entry\n"));
	instance_close(top, NULL);
	undo_free(undo);
	fake_free(&fake);
}

TEST(undo_of_a_killed_process_is_found_and_replayed)
{
	struct undo_pending pending;
	struct undo_sum sum;
	unsigned at = 0;
	struct fake fake;
	int status;
	pid_t child;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_on", "0\n");
	child = fork();
	if (!child) {
		struct instance *top;
		struct undo *undo;

		if (undo_new(&fake.tracing, fake.journals, &undo, NULL) ||
		    instance_open_top(&fake.tracing, undo, &top, NULL) || instance_turn(top, true, NULL) ||
		    undo_remember_instance(undo, "weft-gone", NULL))
			_exit(1);
		_exit(undo_next_pending(fake.journals, &at, &pending, NULL) ? 2 : 0);
	}
	REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == 0);
	CHECK(fake_holds(&fake, "tracing_on", "1\n"));
	CHECK(undo_next_pending(fake.journals, &at, &pending, NULL) == 1);
	CHECK(pending.pid == child && pending.entries == 1 && pending.instances == 1);
	CHECK(!undo_recover(&fake.tracing, fake.journals, NULL, NULL, &sum, NULL));
	CHECK(fake_holds(&fake, "tracing_on", "0\n"));
	at = 0;
	CHECK(undo_next_pending(fake.journals, &at, &pending, NULL) == 0);
	fake_free(&fake);
}

/* A process sets the file to `value` and dies without restoring it. */
static void killed(const struct fake *fake, const char *file, const char *value)
{
	pid_t child = fork();
	int status;

	if (!child) {
		struct instance *top;
		struct undo *undo;

		if (undo_new(&fake->tracing, fake->journals, &undo, NULL) ||
		    instance_open_top(&fake->tracing, undo, &top, NULL) ||
		    undo_claim(undo, "", &(struct claim_manner){ 0 }, NULL) || instance_set(top, file, value, NULL))
			_exit(1);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
}

TEST(undo_of_two_killed_processes_goes_back_to_what_the_first_has_found)
{
	struct undo_pending newer, older;
	struct undo_sum sum;
	struct fake fake;
	unsigned at = 0;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_thresh", "1\n");
	killed(&fake, "tracing_thresh", "2");
	killed(&fake, "tracing_thresh", "3");
	/* The newest first, each once. */
	CHECK(undo_next_pending(fake.journals, &at, &newer, NULL) == 1);
	CHECK(undo_next_pending(fake.journals, &at, &older, NULL) == 1);
	CHECK(newer.pid != older.pid && newer.since_ns >= older.since_ns);
	CHECK(!undo_next_pending(fake.journals, &at, &newer, NULL));
	CHECK(!undo_recover(&fake.tracing, fake.journals, NULL, NULL, &sum, NULL));
	CHECK(fake_holds(&fake, "tracing_thresh", "1\n"));
	CHECK(sum.journals == 2 && sum.entries == 1);
	fake_free(&fake);
}

/* Does as one `weft start`: sets the clock to `value` and leaves it so. */
static void hold_clock(const struct fake *fake, const char *instance, const char *file, const char *value)
{
	struct undo *undo = NULL;

	CHECK(!undo_new(&fake->tracing, fake->journals, &undo, NULL));
	CHECK(!undo_remember(undo, instance, "tracing_thresh", NULL));
	fake_write(fake, file, value);
	CHECK(!undo_hold(undo, NULL));
	undo_free(undo);
}

TEST(undo_knows_what_was_set_by_a_process_that_did_not_trace)
{
	struct undo *undo = NULL, *other = NULL;
	struct fake fake;

	fake_new(&fake);
	fake_write(&fake, "tracing_thresh", "1\n");
	fake_write(&fake, "trace_clock", "[local] global\n");
	/* As `weft set` does, and then as `weft start` does. */
	hold_clock(&fake, "", "tracing_thresh", "2\n");
	CHECK(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_claim(undo, "", &(struct claim_manner){ .replaces = true }, NULL));
	CHECK(!undo_remember(undo, "", "trace_clock", NULL) && !undo_hold(undo, NULL));
	CHECK(!undo_new(&fake.tracing, fake.journals, &other, NULL));
	CHECK(undo_is_chosen(other, "", "tracing_thresh"));
	CHECK(!undo_is_chosen(other, "", "trace_clock"));
	CHECK(!undo_is_chosen(other, "other", "tracing_thresh"));
	undo_free(undo);
	undo_free(other);
	fake_free(&fake);
}

static size_t count_journals(const struct fake *fake)
{
	cleanup_free struct undo_pending *items = NULL;
	size_t nr = 0;

	CHECK(!undo_list(fake->journals, &items, &nr, NULL));
	return nr;
}

TEST(undo_takes_back_what_it_has_just_kept)
{
	struct undo *undo = NULL;
	struct fake fake;

	fake_new(&fake);
	fake_write(&fake, "tracing_thresh", "1\n");
	fake_write(&fake, "trace_clock", "[local] global\n");
	/* The value that an earlier start has set is put back, and not the one that it found. */
	hold_clock(&fake, "", "tracing_thresh", "2\n");
	CHECK(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_remember(undo, "", "tracing_thresh", NULL) && !undo_remember(undo, "", "trace_clock", NULL));
	fake_write(&fake, "tracing_thresh", "3\n");
	fake_write(&fake, "trace_clock", "local [global]\n");
	CHECK(!undo_hold(undo, NULL));
	CHECK(count_journals(&fake) == 2);
	CHECK(!undo_unhold(undo, NULL));
	CHECK(count_journals(&fake) == 1);
	CHECK(fake_holds(&fake, "tracing_thresh", "2\n"));
	CHECK(fake_holds(&fake, "trace_clock", "local\n"));
	undo_free(undo);
	fake_free(&fake);
}

static void hold_clock_of_child(const struct fake *fake, const char *value)
{
	pid_t child = fork();
	int status;

	if (!child) {
		/* The kernel gives start times of processes in ticks. */
		nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
		child = fork();
		if (!child) {
			hold_clock(fake, "", "tracing_thresh", value);
			_exit(0);
		}
		waitpid(child, &status, 0);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
}

TEST(undo_that_is_held_is_not_pending_and_reset_goes_to_the_oldest_value)
{
	struct undo_pending pending;
	struct undo_sum sum;
	struct fake fake;
	unsigned at = 0;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_thresh", "1\n");
	hold_clock(&fake, "", "tracing_thresh", "2\n");
	hold_clock(&fake, "", "tracing_thresh", "3\n");
	CHECK(!undo_next_pending(fake.journals, &at, &pending, NULL));
	CHECK(fake_holds(&fake, "tracing_thresh", "3\n"));
	CHECK(!undo_reset(&fake.tracing, fake.journals, NULL, &sum, NULL));
	CHECK(fake_holds(&fake, "tracing_thresh", "1\n"));
	/* The second journal had nothing new. */
	CHECK(sum.journals == 1);
	CHECK(sum.entries == 1);
	fake_free(&fake);
}

TEST(undo_of_a_killed_process_leaves_what_was_asked_for_later_and_reset_goes_to_the_oldest_value)
{
	struct undo_sum sum;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_thresh", "1\n");
	killed(&fake, "tracing_thresh", "2");
	/* The holder is not older than this process, but its claim is. */
	hold_clock_of_child(&fake, "3\n");
	CHECK(!undo_recover(&fake.tracing, fake.journals, NULL, NULL, &sum, NULL));
	CHECK(fake_holds(&fake, "tracing_thresh", "3\n"));
	CHECK(!undo_reset(&fake.tracing, fake.journals, NULL, &sum, NULL));
	CHECK(fake_holds(&fake, "tracing_thresh", "1\n"));
	fake_free(&fake);
}

TEST(undo_restore_leaves_what_was_asked_for_meanwhile_and_reset_goes_to_the_oldest_value)
{
	struct instance *top;
	struct undo_sum sum;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_thresh", "1\n");
	fake_write(&fake, "tracing_on", "1\n");
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	REQUIRE(!instance_open_top(&fake.tracing, undo, &top, NULL));
	CHECK(!undo_claim(undo, "", &(struct claim_manner){ 0 }, NULL));
	CHECK(!instance_set(top, "tracing_on", "0", NULL));
	CHECK(!instance_set(top, "tracing_thresh", "2", NULL));
	hold_clock_of_child(&fake, "3\n");
	CHECK(!undo_restore(undo, NULL));
	CHECK(fake_holds(&fake, "tracing_on", "1\n"));
	CHECK(fake_holds(&fake, "tracing_thresh", "3\n"));
	CHECK(!undo_reset(&fake.tracing, fake.journals, NULL, &sum, NULL));
	CHECK(fake_holds(&fake, "tracing_thresh", "1\n"));
	instance_close(top, NULL);
	undo_free(undo);
	fake_free(&fake);
}

/* A `weft start` that takes the claim; then its process ends. */
static void start(const struct fake *fake, bool new_session, int expected)
{
	pid_t child = fork();
	int status;

	if (!child) {
		struct undo *undo;
		int err;

		if (new_session)
			setsid();
		if (undo_new(&fake->tracing, fake->journals, &undo, NULL))
			_exit(100);
		err = undo_claim(undo, "", &(struct claim_manner){ .replaces = true }, NULL);
		_exit(err ? -err : -undo_hold(undo, NULL));
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

TEST(claim_ends_with_its_process_and_that_of_a_start_with_reset)
{
	struct claim_manner now = { .waits = false }, soon = { .waits = true, .wait_ns = 1 };
	struct fail fail = FAIL_INIT;
	struct undo_sum sum;
	struct claim claim;
	struct fake fake;
	int fd = -1;

	REQUIRE(fake_new(&fake));
	mkdir(fake.journals, 0755);
	CHECK(!claim_find(fake.journals, "", &claim));
	CHECK(!claim_take(fake.journals, "", &now, &fd, NULL));
	CHECK(claim_find(fake.journals, "", &claim) && claim.owner.pid == getpid() && !claim.held);
	start(&fake, false, EBUSY);
	claim_release(fake.journals, "", &fd);
	CHECK(!claim_find(fake.journals, "", &claim));
	start(&fake, false, 0);
	CHECK(claim_find(fake.journals, "", &claim) && claim.held);
	CHECK(claim_take(fake.journals, "", &now, &fd, &fail) == -EBUSY);
	CHECK(strstr(fail.text, "in use"));
	CHECK(claim_take(fake.journals, "", &soon, &fd, &fail) == -ETIMEDOUT);
	/* The same session may start again. */
	start(&fake, false, 0);
	start(&fake, true, EBUSY);
	CHECK(!undo_reset(&fake.tracing, fake.journals, NULL, &sum, NULL));
	CHECK(!claim_find(fake.journals, "", &claim));
	start(&fake, true, 0);
	fake_free(&fake);
}

TEST(claim_is_one_for_each_instance)
{
	struct claim_manner now = { .waits = false };
	struct fail fail = FAIL_INIT;
	int fd = -1, other = -1;
	struct claim claim;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_claim(undo, "one", &now, NULL));
	CHECK(!undo_claim(undo, "one", &now, NULL));
	CHECK(!undo_claim(undo, "two", &now, NULL));
	CHECK(claim_take(fake.journals, "one", &now, &fd, &fail) == -EBUSY);
	CHECK(strstr(fail.text, "the instance 'one' is in use: '"));
	CHECK(claim_find(fake.journals, "two", &claim) && claim.owner.pid == getpid() && !claim.held);
	CHECK(!claim_take(fake.journals, "", &now, &other, NULL));
	claim_release(fake.journals, "", &other);
	/* A start changes settings that the journal holds, and ends; its claim by name ends with it. */
	CHECK(!undo_hold(undo, NULL));
	undo_free(undo);
	CHECK(!claim_find(fake.journals, "one", &claim));
	CHECK(!claim_take(fake.journals, "one", &now, &fd, NULL));
	claim_release(fake.journals, "one", &fd);
	fake_free(&fake);
}

TEST(claim_is_not_waited_for_any_longer_when_a_signal_comes)
{
	struct claim_manner waits = { .waits = true };
	struct fail fail = FAIL_INIT;
	sigset_t blocked, before;
	struct fake fake;
	int fd = -1;

	REQUIRE(fake_new(&fake));
	start(&fake, true, 0);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	raise(SIGTERM);
	CHECK(claim_take(fake.journals, "", &waits, &fd, &fail) == -EINTR);
	CHECK(strstr(fail.text, "SIGTERM"));
	sigwaitinfo(&blocked, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	fake_free(&fake);
}

TEST(undo_sweep_removes_what_a_kill_left_unwritten_and_nothing_else)
{
	struct undo_pending *items = NULL;
	struct fake fake;
	size_t nr = 0;
	char path[256], mine[300];

	REQUIRE(fake_new(&fake));
	mkdir(fake.journals, 0755);
	fake_write(&fake, "journals/undo-99999999-1", "");
	fake_write(&fake, "journals/undo-99999999-2", "weft-un");
	fake_write(&fake, "journals/undo-99999999-3.new", "");
	fake_write(&fake, "journals/undo-99999999-4", "weft-undo 1 99999999 4 -\ns 0 10 1\n\ntracing_on\n1\n");
	fake_write(&fake, "journals/top", "");
	struct process_id self;

	REQUIRE(process_find(getpid(), &self));
	snprintf(mine, sizeof(mine), "journals/undo-%d-%llu", (int)self.pid, (unsigned long long)self.start);
	fake_write(&fake, mine, "");
	CHECK(undo_sweep(fake.journals) == 3);
	CHECK(!access(fake_path(&fake, mine, path), F_OK));
	CHECK(access(fake_path(&fake, "journals/top", path), F_OK));
	CHECK(!undo_list(fake.journals, &items, &nr, NULL));
	CHECK(nr == 1);
	free(items);
	fake_free(&fake);
}

TEST(undo_reset_of_one_instance_leaves_the_others_as_they_are)
{
	struct undo_sum sum;
	char path[128];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	snprintf(path, sizeof(path), "%s/instances/one", fake.dir);
	CHECK(!mkdir(path, 0755));
	fake_write(&fake, "tracing_thresh", "1\n");
	fake_write(&fake, "instances/one/tracing_thresh", "5\n");
	hold_clock(&fake, "", "tracing_thresh", "2\n");
	hold_clock(&fake, "one", "instances/one/tracing_thresh", "6\n");
	CHECK(!undo_reset(&fake.tracing, fake.journals, "one", &sum, NULL));
	CHECK(fake_holds(&fake, "instances/one/tracing_thresh", "5\n"));
	CHECK(fake_holds(&fake, "tracing_thresh", "2\n"));
	CHECK(!undo_reset(&fake.tracing, fake.journals, NULL, &sum, NULL));
	CHECK(fake_holds(&fake, "tracing_thresh", "1\n"));
	fake_free(&fake);
}

TEST(undo_passes_over_a_journal_whose_rewriting_was_cut)
{
	struct undo_pending pending, *items = NULL;
	unsigned at = 0;
	struct fake fake;
	size_t nr = 0;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "journals/undo-99999999-1.new", "weft-undo 1 99999999 1 -\ns 0 10 1\n\ntracing_on\n1\n");
	fake_write(&fake, "journals/held-99999999-1-001.new", "weft-undo 1 99999999 1 -\ns 0 10 1\n\ntracing_on\n1\n");
	CHECK(undo_next_pending(fake.journals, &at, &pending, NULL) == 0);
	CHECK(!undo_list(fake.journals, &items, &nr, NULL));
	CHECK(nr == 0);
	free(items);
	fake_write(&fake, "journals/undo-99999999-1", "weft-undo 1 99999999 1 -\ns 0 10 1\n\ntracing_on\n1\n");
	CHECK(undo_next_pending(fake.journals, &at, &pending, NULL) == 1);
	CHECK(!undo_list(fake.journals, &items, &nr, NULL));
	CHECK(nr == 1);
	free(items);
	fake_free(&fake);
}

TEST(undo_does_not_believe_a_journal_that_others_may_write)
{
	struct undo_pending pending;
	struct undo_sum sum;
	struct fake fake;
	char path[256];
	unsigned at = 0;

	REQUIRE(fake_new(&fake));
	mkdir(fake.journals, 0755);
	fake_write(&fake, "tracing_on", "0\n");
	fake_write(&fake, "journals/undo-1-1", "weft-undo 1 1 1 -\ns 0 10 1\n\ntracing_on\n1\n");
	snprintf(path, sizeof(path), "%s/undo-1-1", fake.journals);
	chmod(path, 0666);
	CHECK(undo_next_pending(fake.journals, &at, &pending, NULL) == 0);
	CHECK(!undo_recover(&fake.tracing, fake.journals, NULL, NULL, &sum, NULL));
	CHECK(fake_holds(&fake, "tracing_on", "0\n"));
	fake_free(&fake);
}

/* Root replays it: no other user may have written it, and no link may lead to another one. */
TEST(undo_reads_a_journal_of_root_that_root_alone_may_write)
{
	static const struct {
		mode_t mode;
		uid_t owner;
		bool trusted;
	} rows[] = {
		{ 0600, 0, true },  { 0644, 0, true },  { 0755, 0, true },  { 0620, 0, false },
		{ 0602, 0, false }, { 0622, 0, false }, { 0600, 1, false }, { 0644, 65534, false },
	};
	char path[256], want[400], boot[BOOT_ID_SIZE];
	struct process_id owner;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	mkdir(fake.journals, 0755);
	fake_write(&fake, "journals/undo-1-1", "weft-undo 1 7 11 here\ns 0 10 1\n\ntracing_on\n1\n");
	snprintf(path, sizeof(path), "%s/undo-1-1", fake.journals);
	for (size_t i = 0; i < array_size(rows); i++) {
		struct journal journal = { 0 };
		struct fail fail = FAIL_INIT;
		cleanup_fd int fd = -1;
		int err;

		/* Only root can give a file away. */
		if (rows[i].owner && geteuid())
			continue;
		REQUIRE(!chmod(path, rows[i].mode) && (geteuid() || !chown(path, rows[i].owner, 0)));
		err = undo_read_journal(path, &fd, &owner, boot, &journal, &fail);
		snprintf(want, sizeof(want), "the journal '%s' is not trusted: others could have written it", path);
		CHECK(err == (rows[i].trusted ? 0 : -EPERM));
		CHECK_STR(fail.text, rows[i].trusted ? "" : want);
		if (!err) {
			CHECK(fd >= 0 && owner.pid == 7 && owner.start == 11 && !strcmp(boot, "here") &&
			      journal.nr == 1);
			journal_release(&journal);
		}
	}
	fake_free(&fake);
}

TEST(undo_reads_a_journal_that_is_a_file_of_its_own)
{
	char path[256], other[256], boot[BOOT_ID_SIZE];
	struct journal journal = { 0 };
	struct fail fail = FAIL_INIT;
	struct process_id owner;
	struct fake fake;
	int fd = -1;

	REQUIRE(fake_new(&fake));
	mkdir(fake.journals, 0755);
	fake_write(&fake, "journals/real", "weft-undo 1 7 11 here\n");
	snprintf(path, sizeof(path), "%s/undo-1-1", fake.journals);
	snprintf(other, sizeof(other), "%s/real", fake.journals);
	CHECK(undo_read_journal(path, &fd, &owner, boot, &journal, &fail) == -ENOENT);
	CHECK(strstr(fail.text, "cannot open the journal '") && strstr(fail.text, "undo-1-1'"));
	REQUIRE(!symlink(other, path));
	CHECK(undo_read_journal(path, &fd, &owner, boot, &journal, &fail) == -ELOOP);
	CHECK(!unlink(path) && fd == -1);
	fake_write(&fake, "journals/undo-1-1", "weft-undo 2 7 11 here\n");
	CHECK(undo_read_journal(path, &fd, &owner, boot, &journal, &fail) == -EBADMSG && fd == -1);
	CHECK(strstr(fail.text, "not a journal of weft"));
	fake_free(&fake);
}

TEST(journal_ignores_an_entry_that_is_cut_short)
{
	struct journal journal;
	struct process_id owner;
	char boot[BOOT_ID_SIZE];
	static const char text[] =
		"weft-undo 1 42 7 boot\ns 0 4 5\n\nfile\nvalue\ni 3 0 0\nabc\n\n\ns 0 4 5\n\nfile\nval";

	REQUIRE(!journal_parse(text, sizeof(text) - 1, &owner, boot, &journal, NULL));
	CHECK(owner.pid == 42 && owner.start == 7);
	CHECK(journal.nr == 2);
	CHECK_STR(journal.entries[0].text, "value");
	CHECK_STR(journal.entries[1].instance, "abc");
	journal_release(&journal);
	for (size_t cut = 23; cut < sizeof(text) - 1; cut++) {
		REQUIRE(!journal_parse(text, cut, &owner, boot, &journal, NULL));
		CHECK(journal.nr <= 2);
		journal_release(&journal);
	}
}

/* The entries as "KIND INSTANCE/FILE=TEXT;" */
static const char *entries_of(const struct journal *journal, char *into, size_t size)
{
	size_t len = 0;

	*into = '\0';
	for (size_t i = 0; i < journal->nr && len < size; i++)
		len += (size_t)snprintf(into + len, size - len, "%c %s/%s=%s;", journal->entries[i].kind,
					journal->entries[i].instance, journal->entries[i].file,
					journal->entries[i].text);
	return into;
}

TEST(journal_that_is_printed_is_read_as_it_was_and_forgets_what_it_says)
{
	static const char want[] = "s /set_event=a:b\nc:d\n;i loom/=;p /probes/x=p:x vfs_read;s loom/a file=;";
	struct journal journal = { 0 }, copy = { 0 }, read;
	cleanup_buf struct buf text = BUF_INIT;
	char got[256], boot[BOOT_ID_SIZE];
	struct process_id owner;

	CHECK(!journal_add(&journal, JOURNAL_SETTING, "", "set_event", "a:b\nc:d\n", NULL));
	CHECK(!journal_add(&journal, JOURNAL_INSTANCE, "loom", "", "", NULL));
	CHECK(!journal_add(&journal, JOURNAL_PROBE, "", "probes/x", "p:x vfs_read", NULL));
	CHECK(!journal_add(&journal, JOURNAL_SETTING, "loom", "a file", "", NULL));
	CHECK(journal_print_head((struct process_id){ 42, UINT64_MAX }, "", &text));
	for (size_t i = 0; i < journal.nr; i++)
		CHECK(journal_print(&journal.entries[i], &text));
	REQUIRE(!journal_parse(text.data, text.len, &owner, boot, &read, NULL));
	CHECK(owner.pid == 42 && owner.start == UINT64_MAX && !strcmp(boot, "-"));
	CHECK_STR(entries_of(&read, got, sizeof(got)), want);
	CHECK(!journal_copy(&read, &copy, NULL));
	CHECK_STR(entries_of(&copy, got, sizeof(got)), want);
	/* An entry is found by all three, and goes alone. */
	CHECK(!journal_find(&copy, JOURNAL_SETTING, "", "a file") &&
	      !journal_find(&copy, JOURNAL_PROBE, "loom", "a file"));
	CHECK(!journal_find(&copy, JOURNAL_SETTING, "loom", "a"));
	CHECK(journal_find(&copy, JOURNAL_SETTING, "loom", "a file") == &copy.entries[3]);
	journal_drop(&copy, &copy.entries[1]);
	CHECK_STR(entries_of(&copy, got, sizeof(got)),
		  "s /set_event=a:b\nc:d\n;p /probes/x=p:x vfs_read;s loom/a file=;");
	journal_release(&copy);
	journal_release(&read);
	/* An instance or a probe that is gone; one that was never there changes nothing. */
	CHECK(!journal_add(&journal, JOURNAL_FORGET, "loom", "", "", NULL));
	CHECK(!journal_add(&journal, JOURNAL_FORGET, "", "probes/x", "", NULL));
	CHECK(!journal_add(&journal, JOURNAL_FORGET, "none", "", "", NULL));
	for (size_t i = 4; i < journal.nr; i++)
		CHECK(journal_print(&journal.entries[i], &text));
	REQUIRE(!journal_parse(text.data, text.len, &owner, boot, &read, NULL));
	CHECK_STR(entries_of(&read, got, sizeof(got)), "s /set_event=a:b\nc:d\n;s loom/a file=;");
	journal_release(&read);
	journal_release(&journal);
}

TEST(journal_refuses_what_is_none)
{
	struct journal journal;
	struct process_id owner;
	char boot[BOOT_ID_SIZE];

	CHECK(journal_parse("", 0, &owner, boot, &journal, NULL) == -EBADMSG);
	CHECK(journal_parse("weft-undo 2 1 1 -\n", 18, &owner, boot, &journal, NULL) == -EBADMSG);
	CHECK(journal_parse("weft-undo 1 x", 13, &owner, boot, &journal, NULL) == -EBADMSG);
	CHECK(journal_parse("weft-undo 1 1 1 -", 17, &owner, boot, &journal, NULL) == -EBADMSG);
	CHECK(journal_parse("weft-undo 1 1 1\n", 16, &owner, boot, &journal, NULL) == -EBADMSG);
	/* Entries of a kind that there is not, and with a NUL, end what is believed. */
	REQUIRE(!journal_parse("weft-undo 1 1 1 -\nx 0 1 0\n\na\n\ns 0 1 0\n\na\n\n", 43, &owner, boot, &journal,
			       NULL));
	CHECK(!journal.nr);
	journal_release(&journal);
	REQUIRE(!journal_parse("weft-undo 1 1 1 -\ns 0 2 0\n\na\0\n\n", 31, &owner, boot, &journal, NULL));
	CHECK(!journal.nr);
	journal_release(&journal);
}

TEST(instance_of_somebody_is_not_changed_without_a_way_back)
{
	struct instance *top;
	struct fail fail = FAIL_INIT;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_on", "1\n");
	REQUIRE(!instance_open_top(&fake.tracing, NULL, &top, NULL));
	CHECK(instance_turn(top, false, &fail) == -EINVAL);
	CHECK(fake_holds(&fake, "tracing_on", "1\n"));
	instance_close(top, NULL);
	fake_free(&fake);
}

TEST(undo_removes_a_histogram_in_words_that_the_kernel_takes)
{
	static const char file
		[] = "trigger",
	    was[] = "# Available triggers:\n# traceon\n",
	    line[] =
		    "hist:keys=lat.log2,pid:vals=hitcount:sort=lat.log2,pid.descending:size=2048:clock=global if lat > "
		    "1 [active]\n";
	cleanup_buf struct buf want = BUF_INIT;
	char path[128];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	snprintf(path, sizeof(path), "%s/%s", fake.dir, file);
	fake_write(&fake, file, line);
	CHECK(!control_restore(path, file, was));
	CHECK(buf_addf(
		&want,
		"%s!hist:keys=lat.log2,pid:vals=hitcount:sort=lat,pid.descending:size=2048:clock=global if lat > 1\n",
		line));
	CHECK(fake_holds(&fake, file, buf_str(&want)));
	fake_free(&fake);
}

TEST(undo_reset_waits_for_a_weft_that_has_changed_the_same_setting)
{
	struct undo *undo = NULL;
	struct undo_sum sum;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_thresh", "1\n");
	hold_clock(&fake, "", "tracing_thresh", "2\n");
	CHECK(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(undo_holds(undo, "", "tracing_thresh"));
	CHECK(!undo_holds(undo, "", "trace_clock"));
	CHECK(!undo_remember(undo, "", "tracing_thresh", NULL));
	fake_write(&fake, "tracing_thresh", "3\n");
	CHECK(undo_reset(&fake.tracing, fake.journals, NULL, &sum, NULL) == -EBUSY);
	CHECK(fake_holds(&fake, "tracing_thresh", "3\n"));
	CHECK(!undo_restore(undo, NULL));
	undo_free(undo);
	CHECK(!undo_reset(&fake.tracing, fake.journals, NULL, &sum, NULL));
	CHECK(fake_holds(&fake, "tracing_thresh", "1\n"));
	fake_free(&fake);
}
