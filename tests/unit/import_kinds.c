// SPDX-License-Identifier: GPL-2.0-only
/* Formats, records and names that are made of the text of an event. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/files/import/column_layout_internal.h"
#include "lib/files/import/graph_internal.h"
#include "lib/files/import/head_internal.h"
#include "lib/files/import/kinds_internal.h"
#include "lib/files/import/names_internal.h"
#include "lib/files/import/records_internal.h"
#include "lib/files/import/syscall_internal.h"
#include "lib/ground/base/buf.h"
#include "tests/unit/test.h"

/* The bytes of a record are those of a little-endian kernel. */
static uint64_t number_at(const struct buf *record, size_t at, size_t size)
{
	uint64_t value = 0;

	if (!CHECK(at + size <= record->len))
		return 0;
	while (size--)
		value = value << 8 | (uint8_t)record->data[at + size];
	return value;
}

static int make(struct import_kinds *kinds, const char *name, const char *text, struct buf *record, bool *whole)
{
	bool known;

	return import_kinds_record(kinds, name, strlen(name), text, strlen(text), record, whole, &known);
}

/* The format of a record, as the file has it; "" if there is none. */
static const char *format_of(const struct import_kinds *kinds, const struct buf *record)
{
	size_t nr;
	const struct writer_format *formats = import_kinds_formats(kinds, &nr);
	char id[32];

	snprintf(id, sizeof(id), "\nID: %u\n", (unsigned)number_at(record, 0, 2));
	for (size_t i = 0; i < nr; i++)
		if (memmem(formats[i].text, formats[i].len, id, strlen(id)))
			return formats[i].text;
	return "";
}

TEST(import_fills_the_fields_of_a_known_event)
{
	cleanup_buf struct buf record = BUF_INIT;
	struct import_kinds *kinds = NULL;
	bool whole;

	REQUIRE(!import_kinds_new(NULL, false, NULL, &kinds, NULL));
	CHECK(import_kinds_common(kinds) == 8);
	REQUIRE(!make(kinds, "sched_waking", "comm=cat pid=70 prio=-1 target_cpu=001", &record, &whole));
	CHECK(!whole && number_at(&record, 0, 2) == import_kinds_id(kinds, "sched", "sched_waking"));
	CHECK_MEM(record.data + 8, 16, "cat\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	CHECK(number_at(&record, 24, 4) == 70 && number_at(&record, 28, 4) == UINT32_MAX);
	CHECK(number_at(&record, 32, 4) == 1);
	/* A number with fewer digits than the format prints is no text of this format. */
	REQUIRE(!make(kinds, "sched_waking", "comm=cat pid=70 prio=-1 target_cpu=1", &record, &whole));
	CHECK(!whole && number_at(&record, 0, 2) != import_kinds_id(kinds, "sched", "sched_waking"));
	CHECK(strstr(format_of(kinds, &record), "field:s64 target_cpu;"));
	/* A name that does not fit into its field, and a number that does not. */
	REQUIRE(!make(kinds, "sched_waking", "comm=a-task-with-a-long-name pid=70 prio=1 target_cpu=001", &record,
		      &whole));
	CHECK(number_at(&record, 0, 2) != import_kinds_id(kinds, "sched", "sched_waking"));
	REQUIRE(!make(kinds, "sched_waking", "comm=cat pid=4294967366 prio=1 target_cpu=001", &record, &whole));
	CHECK(number_at(&record, 0, 2) != import_kinds_id(kinds, "sched", "sched_waking"));
	import_kinds_free(kinds);
}

static uint64_t state_of(struct import_kinds *kinds, const char *state)
{
	cleanup_buf struct buf record = BUF_INIT, text = BUF_INIT;
	bool whole;

	CHECK(buf_addf(&text,
		       "prev_comm=sh prev_pid=62 prev_prio=120 prev_state=%s ==> next_comm=cat next_pid=70 "
		       "next_prio=120",
		       state));
	if (!CHECK(!make(kinds, "sched_switch", buf_str(&text), &record, &whole)) ||
	    number_at(&record, 0, 2) != import_kinds_id(kinds, "sched", "sched_switch"))
		return UINT64_MAX;
	return number_at(&record, 32, 8);
}

TEST(import_reads_the_states_of_a_switch)
{
	struct import_kinds *kinds = NULL;

	REQUIRE(!import_kinds_new(NULL, false, NULL, &kinds, NULL));
	CHECK(state_of(kinds, "R") == 0 && state_of(kinds, "R+") == 0x100);
	CHECK(state_of(kinds, "S") == 1 && state_of(kinds, "D|Z") == 0x22 && state_of(kinds, "I") == 0x80);
	/* Letters of kernels before 4.14 */
	CHECK(state_of(kinds, "x") == 0x200 && state_of(kinds, "D|K") == 0x402 && state_of(kinds, "W") == 0x800);
	CHECK(state_of(kinds, "Q") == UINT64_MAX && state_of(kinds, "S|") == UINT64_MAX);
	CHECK(state_of(kinds, "Z|D") == UINT64_MAX && state_of(kinds, "") == UINT64_MAX);
	import_kinds_free(kinds);
}

/* Makes a format and the record of a text; returns the value of the field behind the common ones, or UINT64_MAX. */
static uint64_t value_of(const char *field, const char *print, const char *text)
{
	cleanup_buf struct buf record = BUF_INIT;
	struct import_kinds *kinds = NULL;
	uint64_t value = UINT64_MAX;
	bool whole;
	uint16_t id;

	if (!CHECK(!import_kinds_new(NULL, false, NULL, &kinds, NULL)))
		return value;
	id = import_kinds_make(kinds, "test", "event", field, print);
	if (CHECK(id) && CHECK(!make(kinds, "event", text, &record, &whole)) && number_at(&record, 0, 2) == id)
		value = number_at(&record, 8, 4);
	import_kinds_free(kinds);
	return value;
}

TEST(import_recovers_what_a_print_fmt_printed)
{
	static const char names[] = "\"[%s]\", __print_symbolic(REC->x, { 0, \"HI\" }, { 0x11, \"TIMER\" })";
	static const char choice[] = "\"%s\", REC->x ? \"yes\" : \"no\"";

	CHECK(value_of("int x", "\"%5d\", REC->x", "   -3") == (uint32_t)-3);
	CHECK(value_of("int x", "\"%5d\", REC->x", "-3") == UINT64_MAX);
	CHECK(value_of("u32 x", "\"100%% 0x%08x\", (unsigned int)REC->x", "100% 0x0000beef") == 0xbeef);
	CHECK(value_of("u32 x", "\"%X\", REC->x", "BEEF") == 0xbeef);
	CHECK(value_of("u32 x", "\"%X\", REC->x", "BEEG") == UINT64_MAX);
	CHECK(value_of("u32 x", names, "[TIMER]") == 0x11 && value_of("u32 x", names, "[HI]") == 0);
	CHECK(value_of("u32 x", names, "[NONE]") == UINT64_MAX);
	CHECK(value_of("u32 x", choice, "yes") == 1 && value_of("u32 x", choice, "no") == 0);
	CHECK(value_of("u32 x", choice, "maybe") == UINT64_MAX);
	/* The place and the length of a text behind the fields. */
	CHECK(value_of("__data_loc char[] x", "\"x=%s\", __get_str(x)", "x=a b") == (4u << 16 | 12));
	CHECK(value_of("char x[4]", "\"x=%s\", REC->x", "x=abc") == ('a' | 'b' << 8 | 'c' << 16));
	CHECK(value_of("char x[4]", "\"x=%s\", REC->x", "x=abcd") == UINT64_MAX);
}

TEST(import_keeps_the_text_where_a_print_fmt_is_not_simple)
{
	static const char *const prints[] = {
		"\"%d\\n\", REC->x",
		"\"%d\", REC->none",
		"\"%d\", REC->x + 1",
		"\"%d\"",
		"\"%c\", REC->x",
		"\"%s\", REC->x",
		"\"%s\", __get_str(x)",
		"\"%s\", __print_symbolic(REC->x, { ONE, \"5\" })",
		"\"%s\", __print_symbolic(REC->x)",
		"\"%s\", REC->x ? \"5\"",
		"\"%s\", \"5\"",
		"\"%d\", 5",
		"\"%p\", REC->x",
		"REC->x",
	};

	for (size_t i = 0; i < array_size(prints); i++)
		if (!CHECK(value_of("int x", prints[i], "5") == UINT64_MAX))
			fprintf(stderr, "print fmt %s\n", prints[i]);
}

TEST(import_bounds_the_search_in_a_hostile_text)
{
	static const char print[] = "\"%s %s %s %s %s %s %s %s!\", REC->a, REC->a, REC->a, REC->a, REC->a, REC->a, "
				    "REC->a, REC->a";
	char text[600];

	memset(text, ' ', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK(value_of("char a[256]", print, text) == UINT64_MAX);
}

TEST(import_makes_a_format_for_an_unknown_event)
{
	cleanup_buf struct buf record = BUF_INIT;
	struct import_kinds *kinds = NULL;
	uint64_t pairs;
	bool whole;

	REQUIRE(!import_kinds_new(NULL, true, NULL, &kinds, NULL));
	CHECK(import_kinds_common(kinds) == 12);
	REQUIRE(!make(kinds, "odd", "a=-5 b=0x1f c=x y", &record, &whole));
	pairs = number_at(&record, 0, 2);
	CHECK(!whole && number_at(&record, 16, 8) == (uint64_t)-5 && number_at(&record, 24, 8) == 0x1f);
	CHECK(strstr(format_of(kinds, &record), "name: odd\n"));
	CHECK(strstr(format_of(kinds, &record), "field:unsigned char common_preempt_lazy_count;\toffset:8;"));
	CHECK(strstr(format_of(kinds, &record), "field:s64 a;\toffset:16;\tsize:8;\tsigned:1;"));
	CHECK(strstr(format_of(kinds, &record), "field:__data_loc char[] c;\toffset:32;\tsize:4;\tsigned:0;"));
	CHECK(strstr(format_of(kinds, &record), "print fmt: \"a=%lld b=0x%llx c=%s\""));
	/* The same shape has the same format, another one its own. */
	REQUIRE(!make(kinds, "odd", "a=7 b=0x0 c=", &record, &whole));
	CHECK(!whole && number_at(&record, 0, 2) == pairs);
	REQUIRE(!make(kinds, "odd", "text \"only\"", &record, &whole));
	CHECK(whole && number_at(&record, 0, 2) != pairs);
	REQUIRE(!make(kinds, "odd", "another", &record, &whole));
	CHECK(whole && strstr(format_of(kinds, &record), "__get_str(text)"));
	import_kinds_free(kinds);
}

TEST(import_refuses_what_no_record_can_hold)
{
	static char text[13000], name[200];
	cleanup_buf struct buf record = BUF_INIT;
	struct import_kinds *kinds = NULL;
	bool whole, known;

	REQUIRE(!import_kinds_new(NULL, false, NULL, &kinds, NULL));
	memset(text, 'x', sizeof(text) - 1);
	memset(name, 'n', sizeof(name) - 1);
	CHECK(make(kinds, "odd", text, &record, &whole) == -E2BIG);
	CHECK(make(kinds, name, "a=1", &record, &whole) == -E2BIG);
	CHECK(make(kinds, "", "a=1", &record, &whole) == -E2BIG);
	CHECK(import_kinds_record(kinds, "odd", 3, "a=\0", 3, &record, &whole, &known) == -E2BIG);
	CHECK(!import_kinds_make(kinds, "test", "bad", "strange x", "\"\""));
	CHECK(!import_kinds_make(kinds, "test", "bad", "int", "\"\""));
	memcpy(text, "int ", 4);
	CHECK(!import_kinds_make(kinds, "test", "bad", text, "\"\""));
	CHECK(!import_kinds_id(kinds, "test", "bad"));
	import_kinds_free(kinds);
}

TEST(import_bounds_the_formats_of_one_name)
{
	cleanup_buf struct buf record = BUF_INIT;
	struct import_kinds *kinds = NULL;
	bool whole;

	REQUIRE(!import_kinds_new(NULL, false, NULL, &kinds, NULL));
	for (int i = 0; i < 64; i++) {
		char text[32];

		snprintf(text, sizeof(text), "field_%d=1", i);
		REQUIRE(!make(kinds, "odd", text, &record, &whole) && !whole);
	}
	REQUIRE(!make(kinds, "odd", "one_more=1", &record, &whole));
	CHECK(whole);
	REQUIRE(!make(kinds, "even", "one_more=1", &record, &whole));
	CHECK(!whole);
	import_kinds_free(kinds);
}

static bool syscall_record(struct import_kinds *kinds, const char *text, struct buf *record)
{
	return import_syscall(kinds, text, strlen(text), record);
}

TEST(import_reads_system_calls)
{
	cleanup_buf struct buf record = BUF_INIT;
	struct import_kinds *kinds = NULL;

	REQUIRE(!import_kinds_new(NULL, false, NULL, &kinds, NULL));
	REQUIRE(syscall_record(kinds, "sys_openat(dfd: ffffff9c, filename: 1c9690a8, flags: 241, mode: 1b6)", &record));
	CHECK(number_at(&record, 0, 2) == import_kinds_id(kinds, "syscalls", "sys_enter_openat"));
	CHECK(number_at(&record, 8, 4) == 257 && number_at(&record, 16, 8) == 0xffffff9c);
	CHECK(number_at(&record, 40, 8) == 0x1b6 && record.len == 48);
	CHECK(strstr(format_of(kinds, &record), "field:u64 filename;\toffset:24;"));
	REQUIRE(syscall_record(kinds, "sys_openat -> 0xfffffffffffffffe", &record));
	CHECK(number_at(&record, 0, 2) == import_kinds_id(kinds, "syscalls", "sys_exit_openat"));
	CHECK(number_at(&record, 8, 4) == 257 && number_at(&record, 16, 8) == (uint64_t)-2 && record.len == 24);
	/* A call that x86_64 does not have has no number. */
	REQUIRE(syscall_record(kinds, "sys_strange()", &record));
	CHECK(number_at(&record, 8, 4) == UINT32_MAX && record.len == 16);
	import_kinds_free(kinds);
}

TEST(import_takes_no_text_for_a_system_call_that_is_none)
{
	static const char *const texts[] = {
		"",
		"sys_",
		"sys_(",
		"sys_open",
		"sys_open(",
		"sys_open(dfd: 3",
		"sys_open(dfd: 3)x",
		"sys_nonesuch(dfd: -3)",
		"sys_nonesuch(dfd: 03)",
		"sys_nonesuch(dfd: 1F)",
		"sys_nonesuch(dfd: 11111111111111111)",
		"sys_nonesuch(dfd:3)",
		"sys_nonesuch(: 3)",
		"sys_nonesuch(dfd: )",
		"sys_nonesuch(dfd: 3,mode: 3)",
		"sys_nonesuch(a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1)",
		"sys_open -> 3",
		"sys_open -> 0x",
		"sys_open -> 0x3 ",
		"vfs_open(dfd: 3)",
	};
	cleanup_buf struct buf record = BUF_INIT;
	struct import_kinds *kinds = NULL;

	REQUIRE(!import_kinds_new(NULL, false, NULL, &kinds, NULL));
	for (size_t i = 0; i < array_size(texts); i++)
		if (!CHECK(!syscall_record(kinds, texts[i], &record)))
			fprintf(stderr, "text '%s'\n", texts[i]);
	import_kinds_free(kinds);
}

TEST(import_keeps_names_of_tasks_as_the_kernel_does)
{
	cleanup_buf struct buf cmdlines = BUF_INIT, tgids = BUF_INIT;
	static const char long_name[80] = "x";
	struct import_names names;

	import_names_init(&names);
	CHECK(import_names_task(&names, 62, "sh", 2, 0));
	CHECK(import_names_task(&names, 62, "cat a", 5, 60));
	/* These are no names, or shorter ones than the known name. */
	CHECK(import_names_task(&names, 62, "<...>", 5, 0));
	CHECK(import_names_task(&names, 62, long_name, sizeof(long_name), 0));
	CHECK(import_names_task_short(&names, 62, "cat", 3));
	CHECK(import_names_task(&names, 0, "<idle>", 6, 0));
	REQUIRE(import_names_texts(&names, &cmdlines, &tgids));
	CHECK_STR(buf_str(&cmdlines), "62 cat a\n");
	CHECK_STR(buf_str(&tgids), "62 60\n");
	CHECK(import_names_task_short(&names, 70, "dd", 2));
	buf_clear(&cmdlines);
	REQUIRE(import_names_texts(&names, &cmdlines, &tgids));
	CHECK(strstr(buf_str(&cmdlines), "70 dd\n"));
	import_names_release(&names);
}

TEST(import_gives_each_function_an_address_of_its_own)
{
	static const char *const none[] = { "",     " ",   "a b",     "a [b", "a b]", "a []",
					    " [b]", "a@b", "a [b] c", "a+b",  "a\n",  "\xc3\xa4" };
	struct import_names names;
	uint64_t one, other, module;
	char text[201];

	import_names_init(&names);
	one = import_names_symbol(&names, "vfs_read", 8);
	other = import_names_symbol(&names, "vfs_write.isra.0", 16);
	module = import_names_symbol(&names, "sync [ext4]", 11);
	CHECK(one && other && module && one != other && module != one && module != other);
	/* Not in the page of a function of the kernel, which may reach up to its end. */
	CHECK(module >> 12 != one >> 12);
	CHECK(import_names_symbol(&names, "vfs_read", 8) == one && import_names_symbol(&names, "sync", 4) != module);
	CHECK(strstr(buf_str(&names.kallsyms), " T vfs_write.isra.0\n"));
	CHECK(strstr(buf_str(&names.kallsyms), " T sync\t[ext4]\n"));
	for (size_t i = 0; i < array_size(none); i++)
		if (!CHECK(!import_names_symbol(&names, none[i], strlen(none[i]))))
			fprintf(stderr, "name '%s'\n", none[i]);
	memset(text, 'x', sizeof(text));
	CHECK(import_names_symbol(&names, text, 200) && !import_names_symbol(&names, text, 201));
	import_names_release(&names);
}

TEST(import_makes_the_records_that_the_kernel_prints_without_a_print_fmt)
{
	cleanup_buf struct buf record = BUF_INIT, addresses = BUF_INIT;
	struct head head = { .body = "vfs_read <-ksys_read", .body_len = 20 };
	struct import_kinds *kinds = NULL;
	struct import_names names;
	struct column_layout shape = { .tracer = "" };
	struct records all = { .names = &names, .shape = &shape, .record = &record };

	REQUIRE(!import_kinds_new(NULL, false, NULL, &kinds, NULL));
	import_names_init(&names);
	all.kinds = kinds;
	REQUIRE(records_function(&all, &head));
	CHECK(number_at(&record, 0, 2) == 1 && record.len == 24);
	CHECK(number_at(&record, 8, 8) == import_names_symbol(&names, "vfs_read", 8));
	CHECK(number_at(&record, 16, 8) == import_names_symbol(&names, "ksys_read", 9));
	CHECK(records_caller(&all, " => vfs_read+0x1/0x2 <ffff>", 27, &addresses));
	CHECK(records_caller(&all, " => [FTRACE TRAMPOLINE]", 23, &addresses));
	CHECK(!records_caller(&all, " => ", 4, &addresses) && !records_caller(&all, "vfs_read", 8, &addresses));
	REQUIRE(records_stack(&all, &addresses));
	CHECK(number_at(&record, 0, 2) == 4 && number_at(&record, 8, 4) == 2 && record.len == 32);
	CHECK(number_at(&record, 16, 8) ==
	      import_names_place(&names, &(struct import_place){
						 .name = "vfs_read", .len = 8, .module = "", .offset = 1, .size = 2 }));
	CHECK(number_at(&record, 24, 8) == INT32_MAX);
	buf_clear(&addresses);
	for (int i = 0; i < 9; i++)
		CHECK(records_user_caller(" =>  <0000000000473bf3>", 23, &addresses));
	CHECK(!records_user_caller(" => vfs_read", 12, &addresses));
	/* The kernel's field has room for eight. */
	REQUIRE(records_user_stack(&all, 60, &addresses));
	CHECK(number_at(&record, 0, 2) == 12 && number_at(&record, 8, 4) == 60 && record.len == 80);
	CHECK(number_at(&record, 72, 8) == 0x473bf3);
	import_names_release(&names);
	import_kinds_free(kinds);
}
