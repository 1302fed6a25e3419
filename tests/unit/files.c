// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/query/file_calls.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

struct scene {
	struct loom loom;
	struct trace *trace;
	struct context *context;
};

/* `+` in front of a line: it is of the buffer weft/files. */
static bool begin(struct scene *scene, const char *open_files, const char *mounts, const char *script)
{
	struct loom *loom = &scene->loom;

	*scene = (struct scene){ .trace = NULL };
	loom_init(loom);
	loom->other = "weft/files";
	loom_type(loom, "weft", "fd_install",
		  "u32 fd; u64 ino; u16 mode; u32 dev; __data_loc char[] n0; __data_loc char[] n1; "
		  "__data_loc char[] n2; __data_loc char[] n3",
		  "\"\"");
	loom_type(loom, "weft", "file_close_fd", "u32 fd", "\"\"");
	loom_type(loom, "weft", "getname", "u64 from; __data_loc char[] name", "\"\"");
	loom_type(loom, "weft", "sock_alloc_file", "u64 sk; u64 ino", "\"\"");
	loom_type(loom, "weft", "do_accept", "u64 sk; u64 ino; u16 family; u16 sport; u16 peer; u32 saddr; u32 daddr",
		  "\"\"");
	loom_type(loom, "weft", "unix_socketpair", "u64 ino; u64 pino", "\"\"");
	loom_type(loom, "weft", "do_accept_return_2",
		  "u64 sk; u64 ino; u16 family; u16 sport; u64 to; u64 tosk; u64 addr; u64 pino; u32 len; "
		  "__data_loc char[] path; __data_loc char[] abstract",
		  "\"\"");
	loom_type(loom, "weft", "unix_dgram_connect_return",
		  "u32 ret; u64 ino; u64 to; u64 tosk; u64 addr; u64 pino; u32 len; __data_loc char[] path; "
		  "__data_loc char[] abstract",
		  "\"\"");
	loom_type(loom, "weft", "unix_dgram_connect", "u64 ino", "\"\"");
	loom_type(loom, "weft", "unix_bind", "u64 ino; u32 len; __data_loc char[] path; __data_loc char[] abstract",
		  "\"\"");
	loom_type(loom, "weft", "unix_bind_return", "u32 ret", "\"\"");
	loom_type(loom, "weft", "ip4_datagram_release_cb",
		  "u64 socket; u64 ino; u16 family; u16 sport; u16 peer; u32 saddr; u32 daddr", "\"\"");
	loom_type(loom, "io_uring", "io_uring_submit_req", "u64 req; u32 opcode; u64 flags; __data_loc char[] op_str",
		  "\"\"");
	loom_type(loom, "io_uring", "io_uring_file_get", "u64 req; u32 fd", "\"\"");
	loom_type(loom, "io_uring", "io_uring_complete", "u64 req; int res; u32 cflags", "\"\"");
	loom_type(loom, "weft", "io_file_get_fixed", "u64 req", "\"\"");
	loom_type(loom, "weft", "io_file_get_fixed_return",
		  "u64 ret; u64 ino; u16 mode; u32 dev; __data_loc char[] n0; __data_loc char[] n1", "\"\"");
	loom_type(loom, "sock", "inet_sock_set_state",
		  "u64 skaddr; int newstate; u16 family; u16 sport; u16 dport; u32 saddr; u32 daddr", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_close_range", "u64 fd; u64 max_fd; u64 flags", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_read", "int nr; u64 fd", "\"\"");
	loom_type(loom, "syscalls", "sys_exit_read", "int nr; u64 ret", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_openat", "int nr; u64 dfd", "\"\"");
	loom_type(loom, "syscalls", "sys_exit_openat", "int nr; u64 ret", "\"\"");
	loom_type(loom, "syscalls", "x", "u64 fd", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_enter", "long id; u64 args[6]", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom->uname = "Linux loom 6.12.0 #1 SMP x86_64 GNU/Linux";
	loom_type(loom, "ext4", "ext4_request_inode", "u32 dev; u64 ino", "\"\"");
	loom_type(loom, "task", "task_newtask", "pid_t pid; u64 clone_flags", "\"\"");
	loom_type(loom, "sched", "sched_process_exec", "pid_t pid", "\"\"");
	if (open_files)
		loom_setting(loom, "weft/open_files", open_files);
	if (mounts)
		loom_setting(loom, "weft/mounts", mounts);
	loom_play(loom, script);
	scene->trace = loom_trace(loom);
	return CHECK(scene->trace && !context_new(scene->trace, 0, &scene->context, NULL));
}

static void end(struct scene *scene)
{
	context_free(scene->context);
	trace_free(scene->trace);
	loom_release(&scene->loom);
}

static const char *text_at(const struct scene *scene, int32_t pid, int32_t fd, uint64_t ts)
{
	return files_text(scene->context, files_is(scene->context, pid, fd, ts));
}

struct asked {
	int32_t pid, fd;
	uint64_t ts;
	const char *want;
};

static void ask(const struct scene *scene, const struct asked *asked, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		CHECK_STR(text_at(scene, asked[i].pid, asked[i].fd, asked[i].ts), asked[i].want);
}

#define ASK(scene, ...)                                   \
	ask(scene, (const struct asked[]){ __VA_ARGS__ }, \
	    sizeof((struct asked[]){ __VA_ARGS__ }) / sizeof(struct asked))

/* 02000000 is O_CLOEXEC, as /proc/PID/fdinfo prints it. */
TEST(files_are_those_of_the_list_until_an_event_says_another)
{
	struct scene scene;

	if (begin(&scene,
		  "7 0 0100002\t/dev/pts/1\n7 3 02100000\t/tmp/a\\x0ab\n7 4 0\tsocket:[12]\n8\nno number\n9 x\n", NULL,
		  "+0 100 7 fd_install fd=5 ino=9 mode=0100644 dev=1 n0=passwd n1=etc n2=/ n3=/\n"
		  "+0 200 7 file_close_fd fd=0\n"
		  "+0 300 7 fd_install fd=0 ino=44 mode=0010600\n"
		  "+0 400 7 sched_process_exec pid=7\n")) {
		CHECK(files_are_known(scene.context));
		ASK(&scene, { 7, 0, 50, "/dev/pts/1" }, { 7, 0, 199, "/dev/pts/1" }, { 7, 0, 200, "(closed)" },
		    { 7, 0, 299, "(closed)" }, { 7, 0, 300, "pipe:[44]" }, { 7, 0, 500, "pipe:[44]" },
		    { 7, 3, 399, "/tmp/a\nb" }, { 7, 3, 400, "(closed)" }, { 7, 4, 500, "socket:[12]" },
		    { 7, 5, 99, "(closed)" }, { 7, 5, 100, "/etc/passwd" }, { 7, 5, 999, "/etc/passwd" },
		    { 7, 6, 500, "(closed)" }, { 8, 0, 500, "(closed)" }, { 9, 0, 500, "(closed)" },
		    { 10, 0, 500, "(unknown)" }, { 7, -1, 500, "(unknown)" });
		CHECK(files_is(scene.context, 7, 6, 500) == FILES_CLOSED &&
		      files_is(scene.context, 10, 0, 5) == FILES_UNKNOWN);
		CHECK_STR(files_text(scene.context, 1000000), "(unknown)");
	}
	end(&scene);
}

/* CLONE_FILES is 0x400, CLONE_THREAD 0x10000; a process without them gets a copy. */
TEST(files_of_a_thread_are_those_of_its_process_and_of_a_child_a_copy)
{
	struct scene scene;

	if (begin(&scene, "7 3 0\t/a\n", NULL,
		  "+0 100 7 task_newtask pid=8 clone_flags=0x10f00\n"
		  "+0 200 7 task_newtask pid=9 clone_flags=0x11\n"
		  "+0 250 7 task_newtask pid=10 clone_flags=0x400\n"
		  "+0 300 8 file_close_fd fd=3\n"
		  "+0 400 9 fd_install fd=4 n0=b n1=/\n"
		  "+0 500 9 sched_process_exec pid=9\n"
		  "+0 600 9 file_close_fd fd=3\n"))
		ASK(&scene, { 7, 3, 299, "/a" }, { 8, 3, 299, "/a" }, { 7, 3, 300, "(closed)" },
		    { 10, 3, 300, "(closed)" }, { 9, 3, 300, "/a" }, { 9, 3, 599, "/a" }, { 9, 3, 600, "(closed)" },
		    { 9, 4, 399, "(closed)" }, { 9, 4, 400, "/b" }, { 9, 4, 550, "/b" }, { 7, 4, 450, "(closed)" });
	end(&scene);
}

/* include/uapi/linux/close_range.h: 2 is CLOSE_RANGE_UNSHARE, 4 CLOSE_RANGE_CLOEXEC. */
TEST(files_of_a_range_are_closed_now_or_by_an_exec)
{
	struct scene scene;

	if (begin(&scene, "7 3 0\t/a\n7 4 0\t/b\n7 5 0\t/c\n7 6 0\t/d\n7 9 0\t/e\n", NULL,
		  "+0 50 7 task_newtask pid=8 clone_flags=0x400\n"
		  "+0 100 7 sys_enter_close_range fd=4 max_fd=5 flags=0\n"
		  "+0 110 7 sys_enter_close_range fd=9 max_fd=8 flags=0\n"
		  "+0 120 7 sys_enter_close_range fd=6 max_fd=9 flags=8\n"
		  "+0 200 7 sys_enter_close_range fd=6 max_fd=6 flags=4\n"
		  "+0 300 8 sys_enter_close_range fd=9 max_fd=0xffffffff flags=2\n"
		  "+0 400 7 sched_process_exec pid=7\n"
		  "+0 500 7 fd_install fd=5 n0=new n1=/\n"))
		ASK(&scene, { 7, 3, 450, "/a" }, { 7, 4, 99, "/b" }, { 7, 4, 100, "(closed)" },
		    { 7, 5, 100, "(closed)" }, { 8, 5, 100, "(closed)" }, { 7, 6, 150, "/d" }, { 7, 6, 399, "/d" },
		    { 7, 6, 400, "(closed)" }, { 8, 6, 450, "/d" }, { 7, 9, 350, "/e" }, { 7, 9, 450, "/e" },
		    { 8, 9, 299, "/e" }, { 8, 9, 300, "(closed)" }, { 7, 5, 499, "(closed)" }, { 7, 5, 500, "/new" });
	end(&scene);
}

TEST(files_are_unknown_from_a_loss_on_until_an_event_says_them)
{
	struct scene scene;

	if (begin(&scene, "7 3 0\t/a\n", NULL,
		  "+0 100 7 fd_install fd=4 n0=b n1=/\n"
		  "+0 lost 3\n"
		  "+0 200 7 fd_install fd=5 n0=c n1=/\n"
		  "+0 300 7 file_close_fd fd=4\n"
		  "+0 310 7 getname from=0x1000 name=/etc/x\n"))
		ASK(&scene, { 7, 3, 150, "/a" }, { 7, 3, 250, "(unknown)" }, { 7, 4, 150, "/b" },
		    { 7, 4, 250, "(unknown)" }, { 7, 4, 300, "(closed)" }, { 7, 5, 199, "(closed)" },
		    { 7, 5, 250, "/c" }, { 7, 6, 199, "(closed)" }, { 7, 6, 200, "(unknown)" });
	CHECK(!files_name(scene.context, 7, 0x1000, 150));
	end(&scene);
}

/* A line of /proc/self/mountinfo: ID, parent, major:minor, root, place. 8:1 is 0x800001. */
TEST(files_have_the_path_at_which_their_device_is_mounted)
{
	struct scene scene;

	if (begin(&scene, NULL,
		  "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		  "21 20 8:2 / /home\\040x rw - ext4 /dev/sda2 rw\n"
		  "22 20 8:3 /sub /srv rw - btrfs /dev/sda3 rw\n"
		  "23 20 bad / /no\n24 20 8:4 / /whole rw\n25 20 8:4 /part /part rw\n",
		  "+0 100 7 fd_install fd=1 dev=0x800001 n0=passwd n1=etc n2=/\n"
		  "+0 101 7 fd_install fd=2 dev=0x800002 n0=me n1=/\n"
		  "+0 102 7 fd_install fd=3 dev=0x800003 n0=x n1=sub n2=/\n"
		  "+0 103 7 fd_install fd=4 dev=0x800003 n0=x n1=subs n2=/\n"
		  "+0 104 7 fd_install fd=5 dev=0x800003 n0=sub n1=/\n"
		  "+0 105 7 fd_install fd=6 dev=0x800001 n0=/ n1=/\n"
		  "+0 106 7 fd_install fd=7 dev=0x800004 n0=f n1=part n2=/\n"
		  "+0 107 7 fd_install fd=8 dev=0x800009 n0=f n1=/\n"
		  "+0 108 7 getname from=0x1 name=/far/down/in/a/tree\n"
		  "+0 109 7 fd_install fd=9 dev=0x800001 n0=tree n1=a n2=in n3=down\n"
		  "+0 110 7 fd_install fd=10 dev=0x800001 n0=tree n1=b n2=in n3=down\n"
		  "+0 111 7 fd_install fd=11 n0=[eventpoll] n1=[eventpoll]\n"
		  "+0 112 7 fd_install fd=12 n0=memfd:x n1=memfd:x\n"
		  "+0 113 7 fd_install fd=13 mode=0140777 ino=55 n0=TCP n1=TCP\n"
		  "+0 114 7 fd_install fd=14 mode=0140777 ino=56\n"
		  "+0 115 7 fd_install fd=15 mode=0010600 ino=57 n0=fifo n1=/\n"
		  "+0 116 7 fd_install fd=16 mode=0100600 ino=58\n"
		  "+0 117 7 fd_install fd=17 n0=dma n1=dma\n"))
		ASK(&scene, { 7, 1, 200, "/etc/passwd" }, { 7, 2, 200, "/home x/me" }, { 7, 3, 200, "/srv/x" },
		    { 7, 4, 200, "/subs/x" }, { 7, 5, 200, "/srv" }, { 7, 6, 200, "/" }, { 7, 7, 200, "/whole/part/f" },
		    { 7, 8, 200, "/f" }, { 7, 9, 200, "/far/down/in/a/tree" }, { 7, 10, 200, ".../down/in/b/tree" },
		    { 7, 11, 200, "anon_inode:[eventpoll]" }, { 7, 12, 200, "/memfd:x (deleted)" },
		    { 7, 13, 200, "TCP:[55]" }, { 7, 14, 200, "socket:[56]" }, { 7, 15, 200, "/fifo" },
		    { 7, 16, 200, "anon_inode:[58]" }, { 7, 17, 200, "dma" });
	CHECK(files_is(scene.context, 7, 3, 200) != files_is(scene.context, 7, 4, 200));
	CHECK(files_with_inode(scene.context, 0x800001, 1) == FILES_UNKNOWN);
	end(&scene);
}

TEST(files_know_the_names_that_a_call_copied)
{
	struct scene scene;

	if (begin(&scene, NULL, NULL,
		  "+0 100 7 getname from=0x10 name=/a\n"
		  "+0 101 7 getname from=0x20 name=/b\n"
		  "+0 102 7 getname from=0x30 name=(fault)\n"
		  "+0 103 8 getname from=0x10 name=/other\n"
		  "+0 200 7 getname from=0x10 name=/c\n"
		  "+0 201 7 getname from=0x10 name=/d\n"
		  "+0 202 7 getname from=0x40 name=/e\n"
		  "+0 203 7 getname from=0x50 name=/f\n"
		  "+0 204 7 getname from=0x60 name=/g\n")) {
		const struct context *context = scene.context;

		CHECK_STR(files_name(context, 7, 0x10, 100), "/a");
		CHECK_STR(files_name(context, 7, 0x20, 90), "/b");
		CHECK_STR(files_name(context, 7, 0x10, 101), "/c");
		CHECK_STR(files_name(context, 7, 0x50, 200), "/f");
		/* A call copies at most four names. */
		CHECK(!files_name(context, 7, 0x60, 200));
		CHECK_STR(files_name(context, 7, 0x60, 201), "/g");
		CHECK(!files_name(context, 7, 0x30, 100) && !files_name(context, 7, 0, 100) &&
		      !files_name(context, 9, 0x10, 1));
		CHECK_STR(files_name(context, 8, 0x10, 0), "/other");
		CHECK(!files_name(context, 8, 0x10, 104));
		CHECK_STR(files_name_in(context, 7, 101, 203, 0), "/b");
		CHECK_STR(files_name_in(context, 7, 101, 203, 4), "/f");
		CHECK(!files_name_in(context, 7, 101, 203, 5) && !files_name_in(context, 7, 205, 300, 0));
		CHECK(!files_name_in(context, 8, 100, 300, 1) && !files_name_in(context, 9, 0, 300, 0));
	}
	end(&scene);
}

/* 127.0.0.1 as a number of this machine; the port of a peer in our own event is in the order of the network. */
TEST(files_tell_between_which_addresses_a_socket_is)
{
	struct scene scene;
	char script[1024];
	const unsigned home = HOST_BIG_ENDIAN ? 0x7f000001 : 0x0100007f, peer = HOST_BIG_ENDIAN ? 8080 : 0x901f;

	snprintf(
		script, sizeof(script),
		"+0 100 7 sock_alloc_file sk=0x1000 ino=55\n"
		"+0 101 7 fd_install fd=3 mode=0140777 ino=55 n0=TCP n1=TCP\n"
		"+0 200 7 inet_sock_set_state skaddr=0x1000 newstate=2 family=2 sport=4000 dport=80 saddr=%u daddr=%u\n"
		"+0 210 7 inet_sock_set_state skaddr=0x1000 newstate=1 family=2 sport=4000 dport=80 saddr=%u daddr=%u\n"
		"+0 220 7 inet_sock_set_state skaddr=0x2000 newstate=1 family=2 sport=1 dport=2 saddr=%u daddr=%u\n"
		"+0 300 7 do_accept sk=0x3000 ino=66 family=2 sport=22 peer=%u saddr=%u daddr=%u\n"
		"+0 301 7 fd_install fd=4 mode=0140777 ino=66 n0=TCP n1=TCP\n"
		"+0 400 7 sock_alloc_file sk=0x4000 ino=77\n"
		"+0 401 7 fd_install fd=5 mode=0140777 ino=77 n0=TCP n1=TCP\n"
		"+0 410 7 inet_sock_set_state skaddr=0x4000 newstate=10 family=2 sport=443 dport=0 saddr=0 daddr=0\n",
		home, home, home, home, home, home, peer, home, home);
	if (begin(&scene, NULL, NULL, script))
		ASK(&scene, { 7, 3, 150, "TCP:[55]" }, { 7, 3, 209, "TCP:[55]" },
		    { 7, 3, 210, "TCP:[127.0.0.1:4000->127.0.0.1:80]" },
		    { 7, 3, 999, "TCP:[127.0.0.1:4000->127.0.0.1:80]" },
		    { 7, 4, 301, "TCP:[127.0.0.1:22->127.0.0.1:8080]" }, { 7, 5, 405, "TCP:[77]" },
		    { 7, 5, 410, "TCP:[0.0.0.0:443]" });
	end(&scene);
}

/* As strace -yy prints them. A pointer that is null says that the numbers behind it were not read. */
TEST(files_tell_which_unix_sockets_are_connected)
{
	struct scene scene;

	if (begin(&scene,
		  "7 3 02 0:8:10\tUNIX-STREAM:[10->11,\"/run/x\"]\n7 4 02 0:8:11\tUNIX-STREAM:[11->10]\n"
		  "7 5 02 0:8:12\tUNIX:[12->(unknown)]\n7 6 02 8:1:13\t/a\n",
		  NULL,
		  "+0 100 7 unix_socketpair ino=20 pino=21\n"
		  "+0 101 7 sock_alloc_file sk=0x1000 ino=20\n"
		  "+0 102 7 sock_alloc_file sk=0x2000 ino=21\n"
		  "+0 103 7 fd_install fd=8 mode=0140777 ino=20 n0=UNIX-STREAM n1=UNIX-STREAM\n"
		  "+0 104 7 fd_install fd=9 mode=0140777 ino=21 n0=UNIX-STREAM n1=UNIX-STREAM\n"
		  "+0 200 7 fd_install fd=20 mode=0140777 ino=30 n0=UNIX-STREAM n1=UNIX-STREAM\n"
		  "+0 201 7 unix_bind ino=30 len=9 path=/run/a abstract=run/a\n"
		  "+0 202 7 unix_bind_return ret=0\n"
		  "+0 203 7 unix_bind_return ret=0\n"
		  "+0 300 7 fd_install fd=21 mode=0140777 ino=31 n0=UNIX-STREAM n1=UNIX-STREAM\n"
		  "+0 301 7 do_accept_return_2 sk=0x3000 ino=32 family=1 to=1 tosk=1 addr=1 pino=31 len=9 path=/run/a "
		  "abstract=run/a\n"
		  "+0 302 7 fd_install fd=22 mode=0140777 ino=32 n0=UNIX-STREAM n1=UNIX-STREAM\n"
		  "+0 400 7 fd_install fd=23 mode=0140777 ino=40 n0=UNIX n1=UNIX\n"
		  "+0 401 7 unix_dgram_connect ino=40\n"
		  "+0 402 7 unix_dgram_connect_return ret=0 ino=40 to=1 tosk=1 addr=0 pino=12 len=9 path=y abstract=y\n"
		  "+0 403 7 unix_dgram_connect_return ret=0 ino=40 to=0 tosk=0 addr=1 pino=12 len=6 abstract=abc\n"))
		ASK(&scene, { 7, 3, 50, "UNIX-STREAM:[10->11,\"/run/x\"]" }, { 7, 4, 50, "UNIX-STREAM:[11->10]" },
		    { 7, 5, 50, "UNIX:[12->(unknown)]" }, { 7, 6, 50, "/a" }, { 7, 8, 103, "UNIX-STREAM:[20->21]" },
		    { 7, 9, 104, "UNIX-STREAM:[21->20]" }, { 7, 20, 201, "UNIX-STREAM:[30]" },
		    { 7, 20, 202, "UNIX-STREAM:[30,\"/run/a\"]" }, { 7, 21, 300, "UNIX-STREAM:[31]" },
		    { 7, 21, 301, "UNIX-STREAM:[31->32]" }, { 7, 22, 302, "UNIX-STREAM:[32->31,\"/run/a\"]" },
		    { 7, 23, 400, "UNIX:[40]" }, { 7, 23, 401, "UNIX:[40->(unknown)]" },
		    { 7, 23, 402, "UNIX:[40->12]" }, { 7, 23, 403, "UNIX:[40,@\"abc\"]" });
	end(&scene);
}

TEST(files_tell_which_addresses_a_socket_of_udp_has_got)
{
	struct scene scene;
	char script[1024];
	const unsigned home = HOST_BIG_ENDIAN ? 0x7f000001 : 0x0100007f, peer = HOST_BIG_ENDIAN ? 53 : 0x3500;

	snprintf(script, sizeof(script),
		 "+0 100 7 ip4_datagram_release_cb socket=1 ino=10 family=2 sport=53 peer=%u saddr=%u daddr=%u\n"
		 "+0 200 7 sock_alloc_file sk=0x1000 ino=20\n"
		 "+0 201 7 fd_install fd=4 mode=0140777 ino=20 n0=UDP n1=UDP\n"
		 "+0 202 7 ip4_datagram_release_cb socket=1 ino=20 family=2 sport=4000 peer=0 saddr=0 daddr=0\n"
		 "+0 203 7 ip4_datagram_release_cb socket=0 ino=20 family=2 sport=4001 peer=0 saddr=0 daddr=0\n"
		 "+0 204 7 ip4_datagram_release_cb socket=1 ino=20 family=2 sport=0 peer=0 saddr=0 daddr=0\n",
		 peer, home, home);
	/* Two sockets are called the same at the start, and only one of them is connected. */
	if (begin(&scene, "7 2 02 0:8:9\tUDP:[0.0.0.0:53]\n7 3 02 0:8:10\tUDP:[0.0.0.0:53]\n", NULL, script))
		ASK(&scene, { 7, 2, 50, "UDP:[0.0.0.0:53]" }, { 7, 3, 50, "UDP:[0.0.0.0:53]" },
		    { 7, 2, 150, "UDP:[0.0.0.0:53]" }, { 7, 3, 150, "UDP:[127.0.0.1:53->127.0.0.1:53]" },
		    { 7, 4, 201, "UDP:[20]" }, { 7, 4, 202, "UDP:[0.0.0.0:4000]" }, { 7, 4, 203, "UDP:[0.0.0.0:4000]" },
		    { 7, 4, 204, "UDP:[20]" });
	end(&scene);
}

/* A number of an inode belongs to a device; the last name that a program used for it is taken. */
TEST(files_have_a_name_by_device_and_inode)
{
	struct scene scene;

	if (begin(&scene, "7 3 02 8:1:12\t/a\n7 4 02 0:8:13\tsocket:[13]\n7 5 02\t/old\n", NULL,
		  "+0 100 7 fd_install fd=5 ino=9 mode=0100644 dev=0x800002 n0=passwd n1=etc n2=/ n3=/\n"
		  "+0 101 7 fd_install fd=6 ino=9 mode=0100644 dev=0x800003 n0=other n1=/\n"
		  "+0 102 7 fd_install fd=7 ino=9 mode=0100644 dev=0x800003 n0=name n1=/\n")) {
		CHECK_STR(files_text(scene.context, files_with_inode(scene.context, 0x800001, 12)), "/a");
		CHECK_STR(files_text(scene.context, files_with_inode(scene.context, 0x800002, 9)), "/etc/passwd");
		CHECK_STR(files_text(scene.context, files_with_inode(scene.context, 0x800003, 9)), "/name");
		CHECK(files_with_inode(scene.context, 0x800001, 9) == FILES_UNKNOWN);
		CHECK(files_with_inode(scene.context, 8, 13) == FILES_UNKNOWN);
	}
	end(&scene);
}

/* IOSQE_FIXED_FILE is 1, IORING_CQE_F_MORE 2. A kernel may name an operation only by its number. */
TEST(files_of_requests_of_io_uring)
{
	static const struct {
		uint64_t since, until;
		int64_t result;
		const char *file, *operation;
	} want[] = {
		{ 200, 210, 64, "/a", "READ" },        { 220, 240, 30, "/etc", "22" },
		{ 250, 260, -9, "(closed)", "WRITE" }, { 270, 290, 7, "TCP:[9]", "RECV" },
		{ 300, 310, 5, "(unknown)", "READ" },
	};
	struct files_request request;
	struct scene scene;

	if (begin(&scene, "7 3 02 8:1:12\t/a\n7 4 02 0:8:9\tTCP:[9]\n", NULL,
		  "+0 100 7 task_newtask pid=8 clone_flags=0x10f00\n"
		  "+0 200 7 io_uring_submit_req req=1 op_str=READ\n"
		  "+0 201 8 io_uring_file_get req=1 fd=3\n"
		  "+0 210 8 io_uring_complete req=1 res=64\n"
		  "+0 220 7 io_uring_submit_req req=1 flags=1 opcode=22\n"
		  "+0 230 7 io_file_get_fixed req=1\n"
		  "+0 231 7 io_file_get_fixed_return ret=1 mode=0100644 n0=etc n1=/\n"
		  "+0 240 0 io_uring_complete req=1 res=30\n"
		  "+0 241 0 io_uring_complete req=1 res=31\n"
		  "+0 250 7 io_uring_submit_req req=2 op_str=WRITE\n"
		  "+0 251 7 io_uring_file_get req=2 fd=99\n"
		  "+0 260 7 io_uring_complete req=2 res=-9\n"
		  "+0 270 7 io_uring_submit_req req=3 op_str=RECV\n"
		  "+0 271 7 io_uring_file_get req=3 fd=4\n"
		  "+0 280 7 io_uring_complete req=3 res=3 cflags=2\n"
		  "+0 290 7 io_uring_complete req=3 res=4\n"
		  "+0 300 7 io_uring_submit_req req=4 flags=1 op_str=READ\n"
		  "+0 310 7 io_uring_complete req=4 res=5\n"
		  "+0 320 7 io_uring_submit_req req=5 op_str=NOP\n")) {
		for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
			REQUIRE(files_request(scene.context, i, &request));
			CHECK(request.done && request.since == want[i].since && request.until == want[i].until &&
			      request.result == want[i].result && request.pid == 7);
			CHECK_STR(files_text(scene.context, request.file), want[i].file);
			CHECK_STR(request.operation, want[i].operation);
		}
		CHECK(files_request(scene.context, 5, &request) && !request.done && request.file == FILES_CLOSED);
		CHECK(!files_request(scene.context, 6, &request));
	}
	end(&scene);
}

/* The file of a stranger may have any name in the system syscalls. */
TEST(files_calls_are_those_of_the_file_whatever_else_the_system_has)
{
	const char *const globs[] = { "/etc/*" };
	struct file_calls *calls = file_calls_new(globs, 1);
	struct scene scene;

	if (CHECK(calls) && begin(&scene, "7 3 0\t/etc/passwd\n7 4 0\t/tmp/a\n", NULL,
				  "0 100 7 x fd=3\n"
				  "0 200 7 sys_enter_read nr=0 fd=3\n"
				  "0 250 7 sys_exit_read nr=0 ret=1\n"
				  "0 300 7 sys_enter_read nr=0 fd=4\n"
				  "0 350 7 sys_exit_read nr=0 ret=1\n")) {
		CHECK(!file_calls_add(calls, scene.context, NULL));
		file_calls_end(calls);
		CHECK(!file_calls_cover(calls, 7, 100, 199) && file_calls_cover(calls, 7, 210, 210) &&
		      !file_calls_cover(calls, 7, 251, 400) && !file_calls_cover(calls, 8, 200, 250));
		end(&scene);
	}
	file_calls_free(calls);
}

/* The times of a thread, 10 apart from 100 on, at which it was in a call with a file that is asked for. */
static const char *times_in_calls(const struct file_calls *calls, int32_t pid, char *into, size_t size)
{
	size_t len = 0;

	*into = '\0';
	for (uint64_t ts = 100; ts < 1000 && len < size; ts += 10)
		if (file_calls_cover(calls, pid, ts, ts))
			len += (size_t)snprintf(into + len, size - len, "%llu ", (unsigned long long)ts);
	return into;
}

TEST(files_calls_are_those_that_take_return_or_name_the_file)
{
	static const struct {
		const char *script, *want; /* the calls of task 7 */
	} rows[] = {
		/* A descriptor of the file, of another one, of another process, and none. */
		{ "0 200 7 sys_enter_read nr=0 fd=3\n0 230 7 sys_exit_read nr=0 ret=1\n"
		  "0 300 7 sys_enter_read nr=0 fd=4\n0 330 7 sys_exit_read nr=0 ret=3\n"
		  "0 400 8 sys_enter_read nr=0 fd=3\n0 430 8 sys_exit_read nr=0 ret=1\n"
		  "0 500 7 sys_enter_read nr=0 fd=0xffffffff\n0 530 7 sys_exit_read nr=0 ret=1\n",
		  "200 210 220 230 " },
		/* What the register has above the descriptor does not count. */
		{ "0 200 7 sys_enter_read nr=0 fd=0x900000003\n0 210 7 sys_exit_read nr=0 ret=1\n", "200 210 " },
		/* Only a call that returns descriptors does. */
		{ "0 200 7 sys_enter_openat nr=257 dfd=0xffffff9c\n0 220 7 sys_exit_openat nr=257 ret=3\n"
		  "0 300 7 sys_enter_openat nr=257 dfd=0xffffff9c\n0 320 7 sys_exit_openat nr=257 ret=4\n"
		  "0 400 7 sys_enter_openat nr=257 dfd=0xffffff9c\n0 420 7 sys_exit_openat nr=257 ret=0x100000003\n"
		  "0 500 7 sys_enter_openat nr=257 dfd=3\n0 520 7 sys_exit_openat nr=257 ret=0xfffffffffffffffe\n",
		  "200 210 220 500 510 520 " },
		/* The name as the program wrote it, inside of the call. */
		{ "0 200 7 sys_enter_openat nr=257\n+0 210 7 getname from=1 name=/etc/hosts\n"
		  "0 220 7 sys_exit_openat nr=257 ret=0xfffffffffffffffe\n"
		  "0 300 7 sys_enter_openat nr=257\n+0 310 7 getname from=1 name=/tmp/hosts\n"
		  "0 320 7 sys_exit_openat nr=257 ret=9\n",
		  "200 210 220 " },
		/* The exit of another call: what was entered is not known to be over. */
		{ "0 200 7 sys_enter_read nr=0 fd=3\n0 220 7 sys_exit_openat nr=257 ret=1\n"
		  "0 240 7 sys_exit_read nr=0 ret=1\n",
		  "" },
		/* A call without an exit is known up to its entry. */
		{ "0 200 7 sys_enter_read nr=0 fd=3\n0 250 7 sys_enter_read nr=0 fd=4\n"
		  "0 280 7 sys_exit_read nr=0 ret=1\n",
		  "200 " },
		{ "0 200 7 sys_enter_read nr=0 fd=3\n0 lost 3\n0 250 7 sys_exit_read nr=0 ret=1\n", "200 " },
		{ "0 200 7 sys_enter_openat nr=257\n+0 210 7 getname from=1 name=/etc/hosts\n0 lost 3\n"
		  "0 250 7 sys_exit_openat nr=257 ret=9\n",
		  "200 " },
		/* The arguments of raw_syscalls are numbers, of which the call says what they are; 9 is mmap(). */
		{ "0 200 7 sys_enter id=0 args=3,0,9\n0 220 7 sys_exit id=0 ret=1\n"
		  "0 300 7 sys_enter id=1 args=4,3,3\n0 320 7 sys_exit id=1 ret=3\n"
		  "0 400 7 sys_enter id=9 args=0,0,0,0,3\n0 410 7 sys_exit id=9 ret=3\n"
		  "0 500 7 sys_enter id=257 args=4\n0 510 7 sys_exit id=257 ret=3\n"
		  "0 600 7 sys_enter id=9999 args=3\n0 610 7 sys_exit id=9999 ret=3\n"
		  "0 700 7 sys_enter id=257 args=-100\n0 710 7 sys_exit id=257 ret=-2\n",
		  "200 210 220 400 410 500 510 " },
		/* Both systems tell of the call: it is one, from the first event to the last. */
		{ "0 200 7 sys_enter id=0 args=3\n0 205 7 sys_enter_read nr=0 fd=3\n0 220 7 sys_exit_read nr=0 ret=1\n"
		  "0 240 7 sys_exit id=0 ret=1\n0 300 7 sys_exit id=0 ret=1\n",
		  "200 210 220 230 240 " },
		{ "0 200 7 sys_enter_read nr=0 fd=4\n0 205 7 sys_enter id=0 args=3\n0 220 7 sys_exit id=0 ret=1\n"
		  "0 240 7 sys_exit_read nr=0 ret=1\n",
		  "200 210 220 230 240 " },
		/* One that has not ended lasts to the end. */
		{ "0 960 7 sys_enter_read nr=0 fd=3\n", "960 970 980 990 " },
		{ "0 960 7 sys_enter_openat nr=257\n+0 970 7 getname from=1 name=/etc/hosts\n", "960 970 980 990 " },
		{ "0 960 7 sys_enter_read nr=0 fd=4\n", "" },
	};
	const char *const globs[] = { "/dev/*", "/etc/*" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct file_calls *calls = file_calls_new(globs, 2);
		struct scene scene;
		char got[300];

		if (CHECK(calls) &&
		    begin(&scene, "7 3 0\t/etc/passwd\n7 4 0\t/tmp/a\n8 3 0\t/tmp/b\n", NULL, rows[i].script)) {
			CHECK(!file_calls_add(calls, scene.context, NULL));
			file_calls_end(calls);
			CHECK_STR(times_in_calls(calls, 7, got, sizeof(got)), rows[i].want);
			CHECK_STR(times_in_calls(calls, 8, got, sizeof(got)), "");
		}
		end(&scene);
		file_calls_free(calls);
	}
}

TEST(files_calls_of_a_file_that_is_not_there_say_so)
{
	const char *const globs[] = { "/etc/passwt", "/dev/*" };
	struct fail fail = FAIL_INIT;
	struct scene scene;

	for (size_t nr = 1; nr < 3; nr++) {
		struct file_calls *calls = file_calls_new(globs, nr);

		if (CHECK(calls) && begin(&scene, "7 4 0\t/tmp/a\n7 3 0\t/etc/passwd\n", NULL, "")) {
			CHECK(file_calls_add(calls, scene.context, &fail) == -ENODATA);
			CHECK_STR(fail.text,
				  nr == 1 ? "--file: no file of the recording is called '/etc/passwt'; did you "
					    "mean '/etc/passwd'?" :
					    "--file: no file of the recording is called '/etc/passwt' or as "
					    "another one that is asked for; did you mean '/etc/passwd'?");
		}
		end(&scene);
		loom_init(&scene.loom);
		loom_play(&scene.loom, "0 100 7 sched_waking comm=ls pid=8\n");
		scene.trace = loom_trace(&scene.loom);
		REQUIRE(scene.trace && !context_new(scene.trace, 0, &scene.context, NULL));
		CHECK(file_calls_add(calls, scene.context, &fail) == -ENODATA);
		CHECK(strstr(fail.text, "--file: the recording does not tell which files are behind descriptors: "
					"record it with 'weft record --files', on a kernel with CONFIG_KPROBE_EVENTS"));
		end(&scene);
		file_calls_free(calls);
	}
}

TEST(files_calls_name_events_with_the_inode_of_the_file)
{
	const struct events_options options = { .until = UINT64_MAX };
	const char *const globs[] = { "/etc/*" };
	struct file_calls *calls = file_calls_new(globs, 1);
	struct events *events = NULL;
	struct event event;
	struct scene scene;
	char got[64] = "";

	if (CHECK(calls) && begin(&scene, "7 4 0\t/tmp/a\n", NULL,
				  "+0 100 7 fd_install fd=5 ino=9 mode=0100644 dev=1 n0=passwd n1=etc n2=/ n3=/\n"
				  "+0 110 7 fd_install fd=6 ino=10 mode=0100644 dev=1 n0=a n1=tmp n2=/ n3=/\n"
				  "0 1 7 ext4_request_inode dev=1 ino=9\n"
				  "0 2 7 ext4_request_inode dev=1 ino=10\n"
				  "0 3 7 ext4_request_inode dev=2 ino=9\n"
				  "0 4 7 ext4_request_inode dev=0 ino=9\n"
				  "0 5 7 sys_enter_read nr=0 fd=5\n"
				  "0 6 7 ext4_request_inode dev=1 ino=9\n")) {
		CHECK(!file_calls_add(calls, scene.context, NULL));
		file_calls_end(calls);
		REQUIRE(!events_open(scene.context, &options, &events, NULL));
		while (events_next(events, &event, NULL) > 0)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%d", file_calls_names(calls, &event));
		CHECK_STR(got, "100001");
		events_free(events);
	}
	end(&scene);
	file_calls_free(calls);
}
