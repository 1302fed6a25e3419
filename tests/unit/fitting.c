// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/refusals/fitting.h"

#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/kernel/tracefs/settings.h"
#include "tests/unit/test.h"

static enum fitting kind_of(const char *text)
{
	return fitting_for((struct text_word){ .at = text, .len = strlen(text) });
}

static bool hints(enum fitting fitting, const char *word, const char *want)
{
	cleanup_buf struct buf buf = BUF_INIT;

	return CHECK(fitting_print(fitting, NULL, NULL, NULL, word, &buf)) && CHECK_STR(buf_str(&buf), want);
}

TEST(fitting_knows_from_the_kernels_words_what_was_wrong)
{
	CHECK(kind_of("Field not found") == FITTING_FIELD);
	CHECK(kind_of("Attached event does not exist") == FITTING_EVENT);
	CHECK(kind_of("Invalid probed address or symbol") == FITTING_FUNCTION);
	CHECK(kind_of("Unknown type is specified") == FITTING_PROBE_TYPE);
	CHECK(kind_of("Invalid sort modifier") == FITTING_SORT);
	CHECK(kind_of("Invalid operator") == FITTING_OPERATOR);
	CHECK(kind_of("Out of memory") == FITTING_NONE);
}

TEST(fitting_names_what_is_near_and_all_there_is)
{
	CHECK(hints(FITTING_SORT, "descnding",
		    "\ndid you mean 'descending' or 'ascending'?\nbehind the dot stands ascending, descending"));
	CHECK(hints(FITTING_VARIABLE, "retvl",
		    "\ndid you mean 'retval'?\nbehind $ stand arg1, arg2, retval, comm, stack, stack0, stack1"));
	CHECK(hints(FITTING_MODIFIER, "quux",
		    "\nthe modifiers are hex, sym, sym-offset, execname, syscall, log2, buckets=SIZE, usecs, percent, "
		    "graph, stacktrace"));
	CHECK(hints(FITTING_OPERATOR, "prev_comm", "\nthe operators are ==, !=, <, <=, >, >=, &, ~"));
	CHECK(hints(FITTING_NONE, "anything", ""));
}

TEST(fitting_lists_types_and_is_silent_about_a_name_that_exists)
{
	cleanup_buf struct buf probe = BUF_INIT, synthetic = BUF_INIT;

	CHECK(fitting_print(FITTING_PROBE_TYPE, NULL, NULL, NULL, "strng", &probe));
	CHECK(strstr(buf_str(&probe), "did you mean 'string'"));
	CHECK(strstr(buf_str(&probe), "the types are u8, u16, u32, u64, s8,"));
	CHECK(fitting_print(FITTING_SYNTHETIC_TYPE, NULL, NULL, NULL, "unsigned lng", &synthetic));
	CHECK(strstr(buf_str(&synthetic), "did you mean 'unsigned long'"));
	CHECK(strstr(buf_str(&synthetic), "pid_t, gfp_t, char[]"));
	CHECK(hints(FITTING_PROBE_TYPE, "u64", ""));
}

TEST(fitting_finds_the_event_of_a_file)
{
	char system[EVENT_PART_SIZE], event[EVENT_PART_SIZE];

	CHECK(event_of_file("events/sched/sched_switch/filter", system, event));
	CHECK_STR(system, "sched");
	CHECK_STR(event, "sched_switch");
	CHECK(event_of_file("events/sched/filter", system, event));
	CHECK_STR(system, "sched");
	CHECK_STR(event, "");
	CHECK(!event_of_file("set_event", system, event));
}

TEST(settings_symbol_finds_whole_names)
{
	cleanup_buf struct buf text = BUF_INIT;
	uint64_t address = 1;

	CHECK(!settings_symbol(&text, NULL, "vfs_read", &address));
	CHECK(buf_add_str(&text, "ffffffff81000100 T vfs_readv\nffffffff81000200 T ksys_vfs_read\n"
				 "ffffffff81000300 T vfs_read\nffffffffc0000100 t init\t[loop]\n"
				 "0000000000000000 t init\t[loopback]\nffffffffc0000300 t last"));
	CHECK(settings_symbol(&text, NULL, "vfs_read", &address));
	CHECK(address == 0xffffffff81000300);
	CHECK(settings_symbol(&text, NULL, "vfs_readv", &address));
	CHECK(address == 0xffffffff81000100);
	CHECK(settings_symbol(&text, "loop", "init", &address));
	CHECK(address == 0xffffffffc0000100);
	CHECK(settings_symbol(&text, "loopback", "init", &address));
	CHECK(address == 0);
	CHECK(settings_symbol(&text, NULL, "last", &address));
	CHECK(address == 0xffffffffc0000300);
	CHECK(!settings_symbol(&text, "nbd", "init", &address));
	CHECK(!settings_symbol(&text, "loop", "last", &address));
	CHECK(!settings_symbol(&text, NULL, "vfs", &address));
}
