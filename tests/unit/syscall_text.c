// SPDX-License-Identifier: GPL-2.0-only
/* What kernel/trace/trace_syscalls.c prints of system calls: print_syscall_enter(), print_syscall_exit(). */
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

#define READ "u64 fd; u64 buf; u64 count"
#define OPEN "u64 dfd; u64 filename; u64 flags; u64 mode; __data_loc char[] __filename_val"
#define FLAGS                                                                                                        \
	"\"\", __print_flags(REC->flags, \"|\", { 0x1, \"O_WRONLY\" }, { 0x2, \"O_RDWR\" }, { 0x40, \"O_CREAT\" }, " \
	"{ 0x200, \"O_TRUNC\" }, { 0x10000, \"O_DIRECTORY\" }, { 0x80000, \"O_CLOEXEC\" })"

static const struct {
	const char *uname, *option, *type, *fields, *print, *values, *want;
} rows[] = {
	{ "Linux x 6.12.0", NULL, "sys_enter_read", READ, "\"\"", "fd=3 buf=0x7ffd count=400",
	  "sys_read(fd: 3, buf: 7ffd, count: 190)" },
	{ "Linux x 6.12.0", NULL, "sys_enter_read", READ, "\"\"", "fd=10 buf=-1 count=0",
	  "sys_read(fd: a, buf: ffffffffffffffff, count: 0)" },
	{ "Linux x 6.12.0", "verbose", "sys_enter_read", READ, "\"\"", "fd=3 buf=0x7ffd count=400",
	  "sys_read(u64 fd: 3, u64 buf: 7ffd, u64 count: 190)" },
	/* Since 6.18 a number of more than one digit has 0x in front. */
	{ "Linux x 6.17.0", NULL, "sys_enter_read", READ, "\"\"", "fd=9 buf=10 count=16",
	  "sys_read(fd: 9, buf: a, count: 10)" },
	{ "Linux x 6.18.0", NULL, "sys_enter_read", READ, "\"\"", "fd=9 buf=10 count=16",
	  "sys_read(fd: 9, buf: 0xa, count: 0x10)" },
	{ "Linux x 6.18.0", "verbose", "sys_enter_read", READ, "\"\"", "fd=9 buf=10 count=16",
	  "sys_read(u64 fd: 9, u64 buf: 0xa, u64 count: 0x10)" },
	{ "Linux x 6.12.0", NULL, "sys_enter_getpid", NULL, "\"\"", "", "sys_getpid()" },
	{ "Linux x 6.12.0", NULL, "sys_enter_six", "u64 a; u64 b; u64 c; u64 d; u64 e; u64 f", "\"\"",
	  "a=1 b=2 c=3 d=4 e=5 f=6", "sys_six(a: 1, b: 2, c: 3, d: 4, e: 5, f: 6)" },
	/* The registers of a machine of 32 bits have no sign. */
	{ "Linux x 6.12.0", NULL, "sys_enter_close", "u32 fd", "\"\"", "fd=0xffffffff", "sys_close(fd: ffffffff)" },
	{ "Linux x 6.12.0", NULL, "sys_enter_close", "int fd", "\"\"", "fd=-1", "sys_close(fd: ffffffff)" },
	{ "Linux x 6.12.0", NULL, "sys_exit_read", "long ret", "\"\"", "ret=400", "sys_read -> 0x190" },
	{ "Linux x 6.12.0", NULL, "sys_exit_read", "long ret", "\"\"", "ret=-4", "sys_read -> 0xfffffffffffffffc" },
	{ "Linux x 6.12.0", NULL, "sys_exit_read", "long ret", "\"\"", "ret=0", "sys_read -> 0x0" },
	/* Since 6.19 a record has a copy of what an argument points to. */
	{ "Linux x 6.19.0", NULL, "sys_enter_chdir", "u64 filename; __data_loc char[] __filename_val", "\"\"",
	  "filename=0x1000 __filename_val=/tmp", "sys_chdir(filename: 0x1000 \"/tmp\")" },
	{ "Linux x 6.19.0", "verbose", "sys_enter_chdir", "u64 filename; __data_loc char[] __filename_val", "\"\"",
	  "filename=0x1000 __filename_val=/tmp", "sys_chdir(u64 filename: 0x1000 \"/tmp\")" },
	{ "Linux x 6.19.0", NULL, "sys_enter_openat", OPEN, FLAGS,
	  "dfd=3 filename=4096 flags=0x241 mode=0x1a4 __filename_val=/tmp/x",
	  "sys_openat(dfd: 3, filename: 4096 \"/tmp/x\", flags: O_WRONLY|O_CREAT|O_TRUNC, mode: 0644)" },
	{ "Linux x 6.19.0", NULL, "sys_enter_openat", OPEN, FLAGS,
	  "dfd=3 filename=4096 flags=0 mode=0x1a4 __filename_val=/",
	  "sys_openat(dfd: 3, filename: 4096 \"/\", flags: O_RDONLY)" },
	{ "Linux x 6.19.0", NULL, "sys_enter_openat", OPEN, FLAGS, "dfd=3 filename=4096 flags=0x80000 __filename_val=/",
	  "sys_openat(dfd: 3, filename: 4096 \"/\", flags: O_RDONLY|O_CLOEXEC)" },
	{ "Linux x 6.19.0", NULL, "sys_enter_openat", OPEN, FLAGS,
	  "dfd=3 filename=4096 flags=0x40000002 __filename_val=/",
	  "sys_openat(dfd: 3, filename: 4096 \"/\", flags: O_RDWR|0x40000000)" },
	{ "Linux x 6.19.0", NULL, "sys_enter_openat", OPEN, FLAGS,
	  "dfd=3 filename=4096 flags=0x20000000 __filename_val=/",
	  "sys_openat(dfd: 3, filename: 4096 \"/\", flags: O_RDONLY|0x20000000)" },
	/* __O_TMPFILE with O_DIRECTORY is O_TMPFILE, which needs a mode as O_CREAT does. */
	{ "Linux x 6.19.0", NULL, "sys_enter_openat", OPEN, FLAGS,
	  "dfd=3 filename=4096 flags=0x410002 mode=0x180 __filename_val=/",
	  "sys_openat(dfd: 3, filename: 4096 \"/\", flags: O_TMPFILE|O_RDWR, mode: 0600)" },
	{ "Linux x 6.19.0", "verbose", "sys_enter_openat", OPEN, FLAGS,
	  "dfd=3 filename=0x1000 flags=1 mode=0 __filename_val=/",
	  "sys_openat(u64 dfd: 3, u64 filename: 0x1000 \"/\", u64 flags: 1, u64 mode: 0)" },
	/* The copy ends with a NUL here: four bytes of `count`. */
	{ "Linux x 6.19.0", NULL, "sys_enter_write", READ "; __data_loc char[] __buf_val",
	  "\"%s\", __print_dynamic_array(__buf_val, 1)",
	  "fd=1 buf=0x1000 count=4 __buf_val=a\x7f"
	  "c",
	  "sys_write(fd: 1, buf: 0x1000 (61:7f:63:00) \"a.c.\", count: 4)" },
	{ "Linux x 6.19.0", NULL, "sys_enter_write", READ "; __data_loc char[] __buf_val",
	  "\"%s\", __print_dynamic_array(__buf_val, 1)", "fd=1 buf=0x1000 count=5 __buf_val=abc",
	  "sys_write(fd: 1, buf: 0x1000 (61:62:63:00, ...) \"abc.\"..., count: 5)" },
	{ "Linux x 6.19.0", NULL, "sys_enter_write", READ "; __data_loc char[] __buf_val",
	  "\"%s\", __print_dynamic_array(__buf_val, 1)", "fd=1 buf=0x1000 count=3 __buf_val=\x01\x02",
	  "sys_write(fd: 1, buf: 0x1000 (01:02:00), count: 3)" },
};

TEST(syscall_is_printed_as_its_kernel_does)
{
	for (size_t i = 0; i < array_size(rows); i++) {
		struct printed how = { .format = "ftrace", .option = rows[i].option };
		cleanup_buf struct buf text = BUF_INIT;
		char fields[200], script[200], want[300];
		struct fail fail = FAIL_INIT;
		const char *body, *at;
		struct trace *trace;
		struct loom loom;

		loom_init(&loom);
		loom.uname = rows[i].uname;
		snprintf(fields, sizeof(fields), "int __syscall_nr%s%s", rows[i].fields ? "; " : "",
			 rows[i].fields ? rows[i].fields : "");
		loom_type(&loom, "syscalls", rows[i].type, fields, rows[i].print);
		snprintf(script, sizeof(script), "0 1000 7 %s %s\n", rows[i].type, rows[i].values);
		snprintf(want, sizeof(want), ": %s\n", rows[i].want);
		loom_play(&loom, script);
		trace = loom_trace(&loom);
		if (CHECK(trace) && CHECK(!printed_trace(trace, &how, &text, &fail))) {
			body = printed_body(&text);
			at = strstr(body, ": sys_");
			CHECK_STR(at ? at : body, want);
		}
		CHECK_STR(fail.text, "");
		trace_free(trace);
		loom_release(&loom);
	}
}
