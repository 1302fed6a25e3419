// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/call_text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/schema/format.h"
#include "tests/unit/test.h"

/* Flags as most machines have them; this one may have others. */
enum {
	CREATES = 02000101, /* O_WRONLY, O_CREAT, O_CLOEXEC */
	PRIVATE = 0x22,     /* MAP_PRIVATE, MAP_ANONYMOUS */
};

static const struct schema_abi abi = { .long_size = 8 };

/* The format of kernel 7.2: a separate field has the data that the pointer pointed to. */
static const char open_text[] = "name: sys_enter_openat\nID: 1\nformat:\n"
				"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
				"\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
				"\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
				"\tfield:int flags;\toffset:32;\tsize:8;\tsigned:0;\n"
				"\tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n"
				"\tfield:__data_loc char[] __filename_val;\toffset:48;\tsize:4;\tsigned:0;\n"
				"\nprint fmt: \"x\"\n";

static const char map_text[] = "name: sys_enter_mmap\nID: 2\nformat:\n"
			       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			       "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			       "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
			       "\tfield:unsigned long addr;\toffset:16;\tsize:8;\tsigned:0;\n"
			       "\tfield:unsigned long prot;\toffset:24;\tsize:8;\tsigned:0;\n"
			       "\tfield:unsigned long flags;\toffset:32;\tsize:8;\tsigned:0;\n"
			       "\tfield:unsigned long fd;\toffset:40;\tsize:8;\tsigned:0;\n"
			       "\nprint fmt: \"x\"\n";

static const char exit_text[] = "name: sys_exit_openat\nID: 3\nformat:\n"
				"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
				"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n"
				"\nprint fmt: \"x\"\n";

static const char raw_text[] = "name: sys_enter\nID: 4\nformat:\n"
			       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			       "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			       "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
			       "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"
			       "\nprint fmt: \"x\"\n";

/* Prints an event of a format. */
struct sample {
	struct schema *schema;
	struct call_text call;
	struct event event;
	uint8_t data[128];
	char text[512];
};

static void sample_init(struct sample *sample, const char *system, const char *text, int32_t id)
{
	*sample = (struct sample){ .event = { .kind = EVENT_RECORD, .len = sizeof(sample->data) } };
	sample->event.data = sample->data;
	if (!schema_new(&abi, &sample->schema, NULL) &&
	    !schema_add(sample->schema, system, strlen(system), text, strlen(text), NULL))
		call_text_bind(&sample->call, schema_format(sample->schema, id, NULL), &abi, "x86_64");
}

static void put_u64(struct sample *sample, size_t at, uint64_t value)
{
	memcpy(sample->data + at, &value, sizeof(value));
}

static const char *arguments(struct sample *sample, const char *kernel)
{
	struct out out;

	if (!out_init(&out, 0))
		return "";
	call_text_name(&sample->call, &sample->event, &out);
	out_char(&out, '(');
	call_text_arguments(&sample->call, &sample->event, kernel, kernel ? strlen(kernel) : 0, &out);
	out_char(&out, ')');
	snprintf(sample->text, sizeof(sample->text), "%.*s", (int)out_len(&out), out.start);
	out_release(&out);
	return sample->text;
}

static const char *result(struct sample *sample, int64_t value)
{
	struct out out;

	if (!out_init(&out, 0))
		return "";
	call_text_put_result(&sample->call, value, &out);
	snprintf(sample->text, sizeof(sample->text), "%.*s", (int)out_len(&out), out.start);
	out_release(&out);
	return sample->text;
}

static void put_string(struct sample *sample, const char *string, size_t len)
{
	uint32_t place = (uint32_t)len << 16 | 56;

	memcpy(sample->data + 48, &place, sizeof(place));
	memcpy(sample->data + 56, string, len);
}

/* The C library is the oracle for the numbers. */
TEST(a_call_is_written_with_names_of_directories_flags_and_modes_and_its_string)
{
	struct sample sample;

	sample_init(&sample, "syscalls", open_text, 1);
	CHECK(sample.call.side == CALL_ENTER);
	put_u64(&sample, 16, (uint32_t)AT_FDCWD);
	put_u64(&sample, 24, 0x7ffe1000);
	put_u64(&sample, 32, CREATES);
	put_u64(&sample, 40, 0640);
	put_string(&sample, "/etc/pass\"wd\n\0332", 16);
	CHECK_STR(arguments(&sample, NULL),
		  "openat(AT_FDCWD, \"/etc/pass\\\"wd\\n\\0332\", O_WRONLY|O_CREAT|O_CLOEXEC, 0640)");
	put_u64(&sample, 16, 7);
	put_u64(&sample, 32, O_RDONLY);
	put_u64(&sample, 40, 0);
	CHECK_STR(arguments(&sample, NULL), "openat(7, \"/etc/pass\\\"wd\\n\\0332\", O_RDONLY, 0)");
	schema_free(sample.schema);
}

TEST(a_number_that_has_no_name_stays_one_and_a_machine_of_its_own_numbers_names_none)
{
	struct sample sample;

	sample_init(&sample, "syscalls", map_text, 2);
	put_u64(&sample, 16, 0);
	put_u64(&sample, 24, PROT_READ | PROT_WRITE);
	put_u64(&sample, 32, PRIVATE | 0x2000000);
	put_u64(&sample, 40, (uint64_t)-1);
	CHECK_STR(arguments(&sample, NULL), "mmap(0, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|0x2000000, -1)");
	put_u64(&sample, 24, 0);
	CHECK_STR(arguments(&sample, NULL), "mmap(0, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|0x2000000, -1)");
	sample.call.machine = "mips64";
	CHECK_STR(arguments(&sample, NULL), "mmap(0, 0, 0x2000022, -1)");
	CHECK_STR(arguments(&sample, "sys_mmap(addr: 0, prot: 0, flags: MAP_PRIVATE|MAP_ODD, fd: ffff)"),
		  "mmap(0, 0, MAP_PRIVATE|MAP_ODD, -1)");
	schema_free(sample.schema);
}

TEST(a_result_is_a_number_an_error_by_name_or_an_address)
{
	struct sample sample;
	int64_t ret;

	sample_init(&sample, "syscalls", exit_text, 3);
	CHECK(sample.call.side == CALL_EXIT);
	put_u64(&sample, 16, (uint64_t)-ENOENT);
	CHECK(call_text_result(&sample.call, &sample.event, &ret) && ret == -ENOENT);
	CHECK_STR(result(&sample, ret), "-1 ENOENT");
	put_u64(&sample, 16, 3);
	CHECK(!call_text_result(&sample.call, &sample.event, &ret) && ret == 3);
	CHECK_STR(result(&sample, ret), "3");
	CHECK_STR(result(&sample, 0x7f1234567000), "0x7f1234567000");
	schema_free(sample.schema);
}

TEST(a_raw_call_has_its_name_by_the_number_and_a_record_that_is_cut_short_is_not_read_past)
{
	struct sample sample;

	sample_init(&sample, "raw_syscalls", raw_text, 4);
	put_u64(&sample, 8, 257);
	put_u64(&sample, 16, 0xffffff9c);
	CHECK_STR(arguments(&sample, NULL), "openat(AT_FDCWD, NULL, O_RDONLY, 0)");
	put_u64(&sample, 8, 99999);
	CHECK(!strncmp(arguments(&sample, NULL), "syscall_99999(", 14));
	sample.event.len = 12;
	CHECK_STR(arguments(&sample, NULL), "read()");
	schema_free(sample.schema);
}

TEST(a_call_is_one_of_the_two_systems_and_has_the_fields_of_its_side)
{
	static const struct {
		const char *system, *text;
		int32_t id;
		int side;
	} rows[] = {
		{ "syscalls", open_text, 1, CALL_ENTER },       { "syscalls", exit_text, 3, CALL_EXIT },
		{ "raw_syscalls", raw_text, 4, CALL_ENTER },    { "sched", open_text, 1, CALL_NEITHER },
		{ "sched", raw_text, 4, CALL_NEITHER },         { "syscalls", raw_text, 4, CALL_NEITHER },
		{ "raw_syscalls", open_text, 1, CALL_NEITHER },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sample sample;

		sample_init(&sample, rows[i].system, rows[i].text, rows[i].id);
		CHECK((int)sample.call.side == rows[i].side);
		if (rows[i].side == CALL_EXIT)
			CHECK_STR(arguments(&sample, NULL), "openat()");
		schema_free(sample.schema);
	}
}
