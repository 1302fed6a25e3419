// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/schema/format.h"
#include "tests/unit/plugged.h"
#include "tests/unit/test.h"

#define COMMON PLUGGED_COMMON

static const char sys_enter[] =
	"name: sys_enter\nID: 20\nformat:\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n\nprint fmt: \"NR %ld\", REC->id\n";
static const char sys_exit[] =
	"name: sys_exit\nID: 21\nformat:\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\nprint fmt: \"NR %ld = %ld\", REC->id, REC->ret\n";
static const char probe_event[] =
	"name: event_one\nID: 22\nformat:\n" COMMON "\tfield:s16 small;\toffset:8;\tsize:2;\tsigned:1;\n"
	"\tfield:u16 array[2];\toffset:10;\tsize:4;\tsigned:0;\n"
	"\tfield:char text[4];\toffset:14;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";
static const char needs_more[] = "name: needs_more\nID: 23\nformat:\n" COMMON "\nprint fmt: \"\"\n";

struct syscall_record {
	uint8_t common[8];
	int64_t id, ret;
};

static void check_exit(const char *machine, int64_t id, int64_t ret, const char *want)
{
	struct syscall_record record = { .id = id, .ret = ret };
	struct plugged fixture;

	if (CHECK(plugged_init(&fixture, "plugins", machine, "raw_syscalls", sys_exit)))
		CHECK_STR(plugged_decode(&fixture, 21, &record, sizeof(record)), want);
	plugged_release(&fixture);
}

TEST(plugin_raw_syscalls_names_the_call_and_its_error)
{
	check_exit("x86_64", 257, -2, " {syscall=openat error=ENOENT}");
	check_exit("x86_64", 0, -512, " {syscall=read error=ERESTARTSYS}");
	check_exit("aarch64", 56, -13, " {syscall=openat error=EACCES}");
	check_exit("s390x", 288, -2, " {syscall=openat error=ENOENT}");
	check_exit("mips64", 5247, -145, " {syscall=openat error=ETIMEDOUT}");
}

TEST(plugin_raw_syscalls_names_no_error_where_there_is_none)
{
	check_exit("x86_64", 257, 3, " {syscall=openat}");
	check_exit("x86_64", 9, -4096, " {syscall=mmap}");
}

TEST(plugin_raw_syscalls_says_nothing_about_numbers_and_machines_it_does_not_know)
{
	check_exit("x86_64", 1000000, 0, "");
	check_exit("x86_64", -1, 0, "");
	check_exit("x86_64", 400, 0, "");
	check_exit("vax", 5, 0, "");
	check_exit("", 5, 0, "");
}

TEST(plugin_raw_syscalls_names_the_call_on_entry)
{
	const struct {
		struct syscall_record head;
		uint64_t args[5];
	} record = { .head.id = 39 };
	struct plugged fixture;

	if (CHECK(plugged_init(&fixture, "plugins", "x86_64", "raw_syscalls", sys_enter)))
		CHECK_STR(plugged_decode(&fixture, 20, &record, sizeof(record)), " {syscall=getpid}");
	plugged_release(&fixture);
}

TEST(plugin_reads_nothing_behind_a_record_cut_short)
{
	uint8_t record[10] = { 0 };
	struct plugged fixture;

	if (CHECK(plugged_init(&fixture, "tests/plugins", "", "probe", probe_event)))
		CHECK_STR(plugged_decode(&fixture, 22, record, sizeof(record)),
			  " {small=0 count=0 second=0x0 behind=0 missing=0 no_such_field=0}");
	plugged_release(&fixture);
}

TEST(plugin_gets_signed_fields_array_elements_and_bytes)
{
	const struct {
		uint8_t common[8];
		int16_t small;
		uint16_t array[2];
		char text[4];
	} record = { .small = -2, .array = { 0, 0x1234 }, .text = { 'a', '\n', 'b', 'c' } };
	struct plugged fixture;

	if (CHECK(plugged_init(&fixture, "tests/plugins", "", "probe", probe_event)))
		CHECK_STR(plugged_decode(&fixture, 22, &record, sizeof(record)),
			  " {small=-2 count=2 second=0x1234 behind=0 missing=0 no_such_field=0 text=a?bc}");
	plugged_release(&fixture);
}

static void sum_up(void *arg, const struct decoded *decoded)
{
	char *text = arg;
	size_t len = strlen(text), left = 128 - len;

	if (decoded->kind == DECODED_TEXT)
		snprintf(text + len, left, "%s:%zu;", decoded->name, decoded->len);
	else
		snprintf(text + len, left, "%s:%" PRId64 ";", decoded->name, (int64_t)decoded->value);
}

/* Analyses and tables take a decoder's result as fields, not as text. */
TEST(plugin_hands_out_fields)
{
	const struct {
		uint8_t common[8];
		int16_t small;
		uint16_t array[2];
		char text[4];
	} record = { .small = -2, .array = { 0, 0x1234 }, .text = { 'a', '\n', 'b', 'c' } };
	struct plugged fixture;
	char text[128] = "";

	if (CHECK(plugged_init(&fixture, "tests/plugins", "", "probe", probe_event))) {
		const struct format *format = schema_format(fixture.schema, 22, NULL);
		const struct decoder *decoder = plugins_decoder(fixture.plugins, format);

		if (CHECK(decoder))
			CHECK(decoder_each(decoder, (const uint8_t *)&record, sizeof(record), sum_up, text));
		CHECK_STR(text, "small:-2;count:2;second:4660;behind:0;missing:0;no_such_field:0;text:4;");
	}
	plugged_release(&fixture);
}

TEST(plugin_handler_is_not_used_without_a_field_it_needs)
{
	uint8_t record[8] = { 0 };
	struct plugged fixture;

	if (CHECK(plugged_init(&fixture, "tests/plugins", "", "probe", needs_more))) {
		CHECK_STR(plugged_decode(&fixture, 23, record, sizeof(record)), "");
		CHECK(!plugins_failure(fixture.plugins));
	}
	plugged_release(&fixture);
}

static void check_refused(const char *system, const char *want)
{
	struct plugged fixture;
	const char *failure;

	if (CHECK(plugged_init(&fixture, "tests/plugins", "", system, probe_event))) {
		CHECK_STR(plugged_decode(&fixture, 22, "", 0), "");
		failure = plugins_failure(fixture.plugins);
		CHECK(failure && strstr(failure, want));
	}
	plugged_release(&fixture);
}

TEST(plugin_that_cannot_be_used_is_refused_with_the_reason)
{
	check_refused("other_abi", "ABI 2");
	check_refused("other_system", "is for system 'elsewhere'");
	check_refused("no_plugin", "does not define weft_plugin");
}

TEST(plugin_of_a_system_whose_name_is_a_path_is_not_looked_for)
{
	struct plugged fixture;

	if (CHECK(plugged_init(&fixture, "tests/plugins", "", "../plugins/probe", probe_event))) {
		CHECK_STR(plugged_decode(&fixture, 22, "", 0), "");
		CHECK(!plugins_failure(fixture.plugins));
	}
	plugged_release(&fixture);
}

/* The plugin's result for a record, as report --format json has it. */
static const char *decode_json(struct plugged *fixture, int32_t id, const void *record, size_t len)
{
	const struct format *format = schema_format(fixture->schema, id, NULL);
	const struct decoder *decoder = format ? plugins_decoder(fixture->plugins, format) : NULL;

	out_clear(&fixture->out);
	if (CHECK(decoder))
		decoder_run_json(decoder, record, len, &fixture->out);
	out_char(&fixture->out, '\0');
	return fixture->out.start;
}

TEST(plugin_decodes_into_a_member_of_the_events_json)
{
	struct syscall_record record = { .id = 257, .ret = -2 };
	uint8_t zeros[10] = { 0 };
	struct plugged fixture;

	if (CHECK(plugged_init(&fixture, "plugins", "x86_64", "raw_syscalls", sys_exit))) {
		CHECK_STR(decode_json(&fixture, 21, &record, sizeof(record)),
			  ",\"decoded\":{\"syscall\":\"openat\",\"error\":\"ENOENT\"}");
		record = (struct syscall_record){ .id = -1, .ret = 3 };
		CHECK_STR(decode_json(&fixture, 21, &record, sizeof(record)), "");
	}
	plugged_release(&fixture);
	if (CHECK(plugged_init(&fixture, "tests/plugins", "", "probe", probe_event)))
		CHECK_STR(decode_json(&fixture, 22, zeros, sizeof(zeros)),
			  ",\"decoded\":{\"small\":0,\"count\":0,\"second\":0,\"behind\":0,\"missing\":0,"
			  "\"no_such_field\":0}");
	plugged_release(&fixture);
}

/* Checks why the plugins of a directory are refused. */
static void check_directory(const char *dir, const struct stat *trusted, int want, const char *why)
{
	static const struct schema_abi abi = { .long_size = 8, .big_endian = HOST_BIG_ENDIAN };
	struct plugins *plugins = NULL;
	struct fail fail = FAIL_INIT;
	int r = plugins_new(&(struct plugins_options){ .dir = dir, .machine = "", .abi = &abi, .trusted = trusted },
			    &plugins, &fail);

	CHECK(r == want);
	if (!CHECK(strstr(fail.text, why)))
		fprintf(stderr, "%s\n", fail.text);
	plugins_free(plugins);
}

TEST(plugins_of_a_directory_that_others_may_write_are_refused)
{
	/* The program is root's, and only root may write it. */
	const struct stat trusted = { .st_mode = S_IFREG | 0755 };
	char dir[] = "/tmp/weft-plugins-XXXXXX";

	REQUIRE(mkdtemp(dir));
	check_directory(dir, NULL, -ENOENT, "there is no plugin in");
	CHECK(!chmod(dir, 0777));
	check_directory(dir, &trusted, -EPERM, "everybody may write to it");
	CHECK(!chmod(dir, 0770));
	check_directory(dir, &trusted, -EPERM, "its group may write to it");
	CHECK(!chmod(dir, 0700));
	check_directory(dir, &trusted, -ENOENT, "there is no plugin in");
	CHECK(!rmdir(dir));
	check_directory(dir, &trusted, -ENOENT, "there is no directory of plugins");
	check_directory("/proc/self/exe", NULL, -ENOTDIR, "cannot read the directory of plugins");
}

TEST(plugins_that_cannot_be_used_are_told_though_no_event_needs_them)
{
	struct plugged fixture;
	unsigned abi = 0, nr = 0;
	const char *why;

	if (CHECK(plugged_init(&fixture, "tests/plugins", "", "probe", probe_event)))
		for (; (why = plugins_unused(fixture.plugins, nr)); nr++)
			abi += strstr(why, "ABI 2") != NULL;
	CHECK(nr >= 3 && abi == 1);
	plugged_release(&fixture);
}
