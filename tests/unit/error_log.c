// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/refusals/error_log.h"

#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/refusals/precheck.h"
#include "lib/kernel/tracefs/event_fields.h"
#include "lib/kernel/tracefs/instance.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

#define OLD                                                                       \
	"[    2.838740] event filter parse error: error: Illegal integer value\n" \
	"  Command: dfd == -100 && common_pid > 1\n"                              \
	"                   ^\n"
#define HIST                                                                   \
	"[   14.000100] hist:sched:sched_wakeup: error: Couldn't find field\n" \
	"  Command: hist:keys=pidd:vals=hitcount\n"                            \
	"                     ^\n"
#define OTHER                                                                              \
	"[   14.000200] trace_kprobe: error: Probe point is not an instruction boundary\n" \
	"  Command: p:kprobes/off vfs_write+4\n"                                           \
	"                         ^\n"

static const char *printed(const struct error_entry *entry, struct buf *buf)
{
	buf_clear(buf);
	CHECK(error_entry_print(entry, buf));
	return buf_str(buf);
}

TEST(error_log_shows_the_entry_of_this_write_with_its_caret)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct error_entry entry;

	REQUIRE(error_log_find(OLD, OLD HIST, "hist:keys=pidd:vals=hitcount", &entry));
	CHECK_STR(printed(&entry, &buf), "Couldn't find field\n  hist:keys=pidd:vals=hitcount\n            ^");
	CHECK(text_word_is(entry.where, "hist:sched:sched_wakeup"));
}

TEST(error_log_does_not_take_an_older_entry_for_ours)
{
	struct error_entry entry;

	CHECK(!error_log_find(OLD, OLD, "dfd == -100 && common_pid > 1", &entry));
	CHECK(!error_log_find("", "", "x", &entry));
	/* The log has room for eight entries: the oldest has gone, and there is no new entry. */
	CHECK(!error_log_find(OLD HIST, HIST, "dfd == -100 && common_pid > 1", &entry));
}

TEST(error_log_tells_our_entry_from_that_of_somebody_else)
{
	struct error_entry entry;

	REQUIRE(error_log_find(OLD, HIST OTHER, "hist:keys=pidd:vals=hitcount", &entry));
	CHECK(text_word_is(entry.text, "Couldn't find field"));
	REQUIRE(error_log_find(OLD, OLD HIST OTHER, "p:kprobes/off  vfs_write+4", &entry));
	CHECK(text_word_is(entry.text, "Probe point is not an instruction boundary"));
	/*
	 * The log has another command, which the kernel made from this one. The last new entry is the only candidate.
	 */
	REQUIRE(error_log_find(OLD, OLD HIST, "hist:keys=next_pid:onmatch(a.b).c(d)", &entry));
	CHECK(text_word_is(entry.text, "Couldn't find field"));
}

TEST(error_log_finds_the_filter_of_a_trigger)
{
	struct error_entry entry;

	REQUIRE(error_log_find("", OLD, "traceoff:1 if dfd == -100 && common_pid > 1", &entry));
	CHECK(entry.caret == 8);
}

TEST(error_log_names_the_culprit_at_the_caret_or_before_it)
{
	struct error_entry entry = { .command = { .at = "prev_pidd == 1", .len = 14 }, .caret = 9 };
	char word[32];

	error_entry_culprit(&entry, word, sizeof(word));
	CHECK_STR(word, "prev_pidd");
	entry.caret = 0;
	error_entry_culprit(&entry, word, sizeof(word));
	CHECK_STR(word, "prev_pidd");
	entry = (struct error_entry){ .command = { .at = "p f a=$retvl", .len = 12 }, .caret = 6 };
	error_entry_culprit(&entry, word, sizeof(word));
	CHECK_STR(word, "retvl");
	entry = (struct error_entry){ .command = { .at = "  ", .len = 2 }, .caret = 2 };
	error_entry_culprit(&entry, word, sizeof(word));
	CHECK_STR(word, "");
}

TEST(error_log_shows_the_part_of_a_long_command_around_the_caret)
{
	cleanup_buf struct buf buf = BUF_INIT;
	char command[500];
	struct error_entry entry = { .text = { .at = "E", .len = 1 },
				     .command = { .at = command, .len = sizeof(command) },
				     .caret = 400 };
	const char *shown, *caret;

	memset(command, 'a', sizeof(command));
	command[400] = 'X';
	shown = printed(&entry, &buf);
	caret = strrchr(shown, '\n') + 1;
	CHECK(buf.len < 400);
	CHECK(shown[2 + strlen(caret) - 1] == 'X' || strchr(shown + 2, 'X') - (shown + 2) == (long)strlen(caret) - 1);
}

TEST(error_log_of_any_bytes_does_no_harm)
{
	static const char *const logs[] = {
		"[",
		"[ ",
		"[ 1",
		"[ 1]",
		"[1.0] x",
		"[1.0] : error: ",
		"[1.0] a: error: b",
		"[1.0] a: error: b\n",
		"[1.0] a: error: b\n  Command: ",
		"[1.0] a: error: b\n  Command: ^",
		"[1.0] a: error: b\n  Command: \n^",
		"[1.0] a: error: b\n  Command: c\n^\n",
		"[1.0] a: error: b\n  Command: c\n                      ^\n",
		"\n\n[1.0]\n",
	};

	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		cleanup_buf struct buf buf = BUF_INIT;
		struct error_entry entry;

		if (error_log_find("", logs[i], "c", &entry)) {
			CHECK(entry.caret <= entry.command.len);
			CHECK(error_entry_print(&entry, &buf));
		}
	}
}

#define FORMAT                                                                 \
	"name: sched_switch\nID: 1\nformat:\n"                                 \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"           \
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"        \
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"            \
	"\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n"    \
	"\tfield:const char * ptr;\toffset:32;\tsize:8;\tsigned:0;\n\n"        \
	"print fmt: \"%s\", REC->prev_comm\n"

TEST(event_fields_are_the_names_and_types_of_a_format)
{
	struct event_fields fields = { .nr = 0 };

	REQUIRE(!event_fields_parse(&fields, FORMAT, NULL));
	CHECK(fields.nr == 6);
	CHECK_STR(event_fields_find(&fields, "prev_comm")->array, "16");
	CHECK_STR(event_fields_find(&fields, "prev_comm")->type, "char");
	CHECK_STR(event_fields_find(&fields, "name")->type, "__data_loc char[]");
	CHECK_STR(event_fields_find(&fields, "ptr")->type, "const char *");
	CHECK(event_fields_find(&fields, "prev_pid")->size == 4);
	CHECK(!event_fields_find(&fields, "nothing"));
	event_fields_release(&fields);
}

/* The message of precheck() about a value for the file; "" if it finds no fault. */
static const char *checked(const char *file, const char *value, struct fail *fail)
{
	struct fake fake;

	fail->text[0] = '\0';
	if (!CHECK(fake_new(&fake)))
		return "";
	fake_write(&fake, "events/sched/sched_switch/format", FORMAT);
	fake_write(&fake, "events/sched/sched_switch/enable", "");
	if (!precheck(&fake.top, file, value, fail))
		CHECK_STR(fail->text, "");
	fake_free(&fake);
	return fail->text;
}

#define EVENT "events/sched/sched_switch/"

TEST(precheck_names_the_field_that_an_event_does_not_have)
{
	struct fail fail;

	CHECK_STR(
		checked(EVENT "filter", "prev_pid > 1 && (prev_pidd == 2)", &fail),
		"'sched:sched_switch' has no field 'prev_pidd'\n  prev_pid > 1 && (prev_pidd == 2)\n                   "
		"^\n"
		"did you mean 'prev_pid'?\nthe fields are prev_comm, prev_pid, name, ptr, common_type, common_pid");
	CHECK(strstr(checked(EVENT "trigger", "hist:keys=prev_pid,nam:vals=hitcount", &fail), "did you mean 'name'?"));
	CHECK(strstr(checked(EVENT "trigger", "stacktrace if prev_com == 3", &fail), "did you mean 'prev_comm'"));
	CHECK(strstr(checked("events/sched/filter", "nam ~ \"x\"", &fail), "'sched' has no field 'nam'"));
}

TEST(precheck_leaves_to_the_kernel_what_it_does_not_know_for_sure)
{
	static const char *const filters[] = {
		"0",  "prev_pid == 1", "!(prev_pid & 3) || COMM == \"a && b == c\"", "CPU == 1", "prev_comm ~ 'x*'", "",
		"((", "prev_pid",      "common_pid != 3 && common_cpu & CPUS{0-3}",
	};
	static const char *const triggers[] = {
		"traceoff:3 if prev_pid == 1",
		"hist:keys=common_pid.execname,prev_pid.log2:vals=hitcount,prev_pid:sort=hitcount",
		"hist:keys=common_stacktrace:ts0=common_timestamp.usecs",
		"!hist:keys=gone",
		"enable_event:sched:sched_switch",
		"hist:keys=prev_pid:vals=$x:onmatch(a.b).c($d)",
		"snapshot",
		"hist:keys=prev_pid+1",
	};
	struct fail fail;

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		CHECK_STR(checked(EVENT "filter", filters[i], &fail), "");
	for (size_t i = 0; i < sizeof(triggers) / sizeof(triggers[0]); i++)
		CHECK_STR(checked(EVENT "trigger", triggers[i], &fail), "");
	CHECK_STR(checked("events/gone/gone/filter", "x == 1", &fail), "");
	CHECK_STR(checked("kprobe_events", "p:x vfs_read", &fail), "");
}

TEST(precheck_looks_at_the_events_of_triggers_and_of_event_probes)
{
	struct fail fail;

	CHECK(strstr(checked(EVENT "trigger", "enable_event:sched:nothing:1", &fail), "no event 'sched:nothing'"));
	CHECK(strstr(checked("dynamic_events", "e:mine sched.sched_swich $x", &fail), "no event 'sched.sched_swich'"));
	CHECK(strstr(checked("dynamic_events", "e:mine sched/sched_switch a=$prev_pidd:u32", &fail),
		     "did you mean 'prev_pid'?"));
	CHECK_STR(checked("dynamic_events", "e:mine sched.sched_switch a=$prev_pid c=$comm +0($name):string", &fail),
		  "");
}

TEST(fitting_knows_which_names_a_text_of_the_kernel_asks_for)
{
	CHECK(fitting_for((struct text_word){ .at = "Field not found", .len = 15 }) == FITTING_FIELD);
	CHECK(fitting_for((struct text_word){ .at = "Unknown type is specified", .len = 25 }) == FITTING_PROBE_TYPE);
	CHECK(fitting_for((struct text_word){ .at = "No closing paren found", .len = 22 }) == FITTING_NONE);
}
