// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/refusals/probe.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/probe/btf_internal.h"
#include "lib/kernel/probe/elf_symbol_internal.h"
#include "lib/kernel/probe/probe_define.h"
#include "lib/kernel/probe/probes.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

TEST(probe_prints_what_it_parsed)
{
	static const char *const lines[] = {
		"p:kprobes/myopen do_sys_openat2 dfd=%di:s32 name=+0(%si):ustring",
		"r10:kprobes/myopenret do_sys_openat2 ret=$retval:s64",
		"p:uprobes/x /bin/sh:0x0000000000001234 a=%di",
		"r:uprobes/y /bin/sh:0x1234",
		"e:eprobes/z sched.sched_switch p=$prev_pid",
		"f:fprobes/vfs_read__exit vfs_read%return arg1=$retval",
		"t:tracepoints/sw sched_switch",
		"s:synthetic/lat u64 lat; pid_t pid",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		cleanup_buf struct buf buf = BUF_INIT;
		struct probe probe;

		if (!CHECK(!probe_parse(lines[i], &probe, NULL)))
			continue;
		CHECK(probe_print(&probe, &buf));
		CHECK_STR(buf_str(&buf), lines[i]);
		probe_release(&probe);
	}
}

TEST(probe_refuses_what_is_no_definition)
{
	static const char *const lines[] = { "",
					     "p",
					     "p:",
					     "p:x",
					     "pfoo bar",
					     "r10",
					     "x:y z",
					     ("p:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
					      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa vfs_read") };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct probe probe;

		CHECK(probe_parse(lines[i], &probe, NULL) < 0);
	}
}

/* A fake tracefs that supports all kinds of probes. */
static bool probe_fake_new(struct fake *fake)
{
	if (!fake_new(fake))
		return false;
	fake_mkdir(fake, "events/weft/taken");
	fake_write(fake, "kprobe_events", "");
	fake_write(fake, "uprobe_events", "");
	fake_write(fake, "synthetic_events", "");
	fake_write(fake, "dynamic_events", "");
	fake_write(fake, "README", "f[: t[: e[: $arg<N>");
	/* A kernel of 64 bits, whatever machine runs this test. */
	fake_write(fake, "events/header_page", "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n");
	fake_write(fake, "events/sched/enable", "0\n");
	fake_write(fake, "events/sched/sched_switch/format",
		   "\tfield:char next_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		   "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n");
	return true;
}

static const char *defined(const struct fake *fake, const char *text, bool synthetic, struct buf *buf,
			   struct fail *fail)
{
	struct probe probe;

	buf_clear(buf);
	if (probe_define(&fake->top, text, synthetic, &probe, fail))
		return fail->text;
	CHECK(probe_print(&probe, buf));
	probe_release(&probe);
	return buf_str(buf);
}

TEST(probe_define_takes_the_kernels_syntax_and_gives_it_a_name)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct fake fake;
	struct fail fail;

	REQUIRE(probe_fake_new(&fake));
	CHECK_STR(defined(&fake, "p vfs_read a=%di", false, &buf, &fail), "p:weft/vfs_read vfs_read a=%di");
	CHECK_STR(defined(&fake, "p:mine/x vfs_read+4", false, &buf, &fail), "p:mine/x vfs_read+4");
	CHECK_STR(defined(&fake, "p vfs_read+4", false, &buf, &fail), "p:weft/vfs_read_4 vfs_read+4");
	CHECK_STR(defined(&fake, "p:x vfs_read%return $retval", false, &buf, &fail), "r:weft/x vfs_read $retval");
	CHECK_STR(defined(&fake, "f vfs_read%return", false, &buf, &fail), "f:weft/vfs_read_return vfs_read%return");
	CHECK_STR(defined(&fake, "p taken", false, &buf, &fail), "p:weft/taken_2 taken");
	CHECK_STR(defined(&fake, "p:taken vfs_read", false, &buf, &fail), "there is an event 'weft:taken' already");
	fake_free(&fake);
}

TEST(probe_define_takes_places_and_arguments_by_name)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct fake fake;
	struct fail fail;
	const char *said;

	REQUIRE(probe_fake_new(&fake));
	CHECK_STR(defined(&fake, "x=foo_bar a=$arg2:string arg1 %si comm", false, &buf, &fail),
		  "p:weft/x foo_bar a=+0($arg2):string arg1=$arg1 %si comm=$comm");
	CHECK_STR(defined(&fake, "mine/x=foo_bar+0x10", false, &buf, &fail), "p:mine/x foo_bar+0x10");
	CHECK_STR(defined(&fake, "foo_bar%return ret", false, &buf, &fail),
		  "r:weft/foo_bar_return foo_bar ret=$retval:s64");
	CHECK_STR(defined(&fake, "foo_bar%return why=ret:u32", false, &buf, &fail),
		  "r:weft/foo_bar_return foo_bar why=$retval:u32");
	CHECK_STR(defined(&fake, "kernel:foo_bar", false, &buf, &fail), "p:weft/kernel_foo_bar kernel:foo_bar");
	CHECK(strstr(defined(&fake, "nothing:foo_bar", false, &buf, &fail), "as in './nothing:foo_bar'"));
	CHECK(strstr(defined(&fake, "foo_bar =:", false, &buf, &fail), "does not say what to fetch"));
	CHECK_STR(defined(&fake, "fprobe:foo_bar%return", false, &buf, &fail), "f:weft/foo_bar_return foo_bar%return");
	CHECK_STR(defined(&fake, "tracepoint:sched_switch prev", false, &buf, &fail),
		  "t:weft/sched_switch sched_switch prev=prev");
	CHECK_STR(defined(&fake, "sched:sched_switch next_comm p=prev_pid:u32 if prev_pid > 3", false, &buf, &fail),
		  "e:weft/sched_switch sched.sched_switch next_comm=$next_comm:string p=$prev_pid:u32 if prev_pid > 3");
	said = defined(&fake, "foo_bar filename:ustring", false, &buf, &fail);
	/* Without /proc/kallsyms weft cannot know whether the function exists. */
	CHECK(strstr(said, "no function 'foo_bar'") || strstr(said, "say which one, as in 'filename=$arg1:ustring'"));
	CHECK(strstr(defined(&fake, "/bin/sh:no_such_function_here", false, &buf, &fail),
		     "no function 'no_such_function_here'"));
	CHECK(strstr(defined(&fake, "sched:sched_switch%return", false, &buf, &fail), "has no return"));
	CHECK_STR(defined(&fake, "lat u64 lat; pid_t pid", true, &buf, &fail), "s:synthetic/lat u64 lat; pid_t pid");
	CHECK(strstr(defined(&fake, "lat", true, &buf, &fail), "has no fields"));
	CHECK(strstr(defined(&fake, "", false, &buf, &fail), "without a place"));
	fake_free(&fake);
}

/* As on arm, where the kernel does not support $argN. */
TEST(probe_define_names_registers_where_the_kernel_knows_no_arguments)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct fake fake;
	struct fail fail;

	REQUIRE(probe_fake_new(&fake));
	fake_write(&fake, "README", "$stack<index>, $stack, $retval, $comm,\n");
	CHECK(!strstr(defined(&fake, "foo_bar a=$arg1:string", false, &buf, &fail), "$arg"));
	CHECK(!strncmp(buf_str(&buf), "p:weft/foo_bar foo_bar a=+0(", 28));
	CHECK_STR(defined(&fake, "x=foo_bar+4 a=$arg1", false, &buf, &fail), "p:weft/x foo_bar+4 a=$arg1");
	fake_free(&fake);
}

/*
 * Casts, per-CPU variables and the current task (Linux 7.3); parameters by name (6.6). Only the kernel can resolve
 * these.
 */
TEST(probe_define_hands_on_what_only_the_kernel_understands)
{
	static const char *const fetches[] = {
		"$current",
		"pid=$current->pid:s32",
		"n=(file,f_inode)$arg1->i_ino:u64",
		"(task_struct)$arg1->comm",
		"this_cpu_read(runqueues)",
		"n=this_cpu_read(rq->nr_running):u32",
		"this_cpu_ptr(runqueues)->cpu:s32",
		"file->f_inode->i_ino:u64",
		"+0(+8(%di)):x8[4]",
	};
	cleanup_buf struct buf buf = BUF_INIT;
	struct fake fake;
	struct fail fail;
	char text[128], want[128];

	REQUIRE(probe_fake_new(&fake));
	fake_write(&fake, "README", "e[: $arg<N>, $current [(structname[,field])]<argname> this_cpu_read(<fetcharg>)");
	for (size_t i = 0; i < array_size(fetches); i++) {
		snprintf(text, sizeof(text), "foo_bar %s", fetches[i]);
		snprintf(want, sizeof(want), "p:weft/foo_bar foo_bar %s", fetches[i]);
		CHECK_STR(defined(&fake, text, false, &buf, &fail), want);
	}
	fake_free(&fake);
}

TEST(probe_define_names_the_option_that_a_kernel_lacks)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct fake fake;
	struct fail fail;
	char path[128];

	REQUIRE(probe_fake_new(&fake));
	snprintf(path, sizeof(path), "%s/kprobe_events", fake.dir);
	CHECK(!unlink(path));
	CHECK(strstr(defined(&fake, "vfs_read", false, &buf, &fail), "CONFIG_KPROBE_EVENTS"));
	fake_write(&fake, "README", "nothing");
	CHECK(strstr(defined(&fake, "f vfs_read", false, &buf, &fail), "CONFIG_FPROBE_EVENTS"));
	fake_free(&fake);
}

/* int open(struct x *a, const unsigned char n) in the types of include/uapi/linux/btf.h. */
static size_t make_btf(uint8_t *into)
{
	static const char strings[] = "\0int\0open\0a\0n\0unsigned char\0f";
	const uint32_t types[] = {
		1,  1 << 24,      4, 1 << 24 | 32, /* 1: int, signed */
		14, 1 << 24,      1, 8,            /* 2: unsigned char */
		0,  10 << 24,     2,               /* 3: const 2 */
		0,  2 << 24,      1,               /* 4: pointer */
		0,  13 << 24 | 2, 1, 10,
		4,  12,           3, /* 5: the prototype */
		5,  12 << 24,     5, /* 6: open */
		28, 12 << 24,     1, /* 7: f, without a prototype */
	};
	const uint32_t head[] = {
		HOST_BIG_ENDIAN ? 0xeb9f0100 : 0x0001eb9f, 24, 0, sizeof(types), sizeof(types), sizeof(strings)
	};

	memcpy(into, head, sizeof(head));
	memcpy(into + sizeof(head), types, sizeof(types));
	memcpy(into + sizeof(head) + sizeof(types), strings, sizeof(strings));
	return sizeof(head) + sizeof(types) + sizeof(strings);
}

TEST(prototype_has_the_names_and_the_sizes_of_the_parameters)
{
	struct prototype prototype;
	uint8_t btf[512];
	size_t len = make_btf(btf);

	REQUIRE(prototype_parse(btf, len, "open", &prototype, NULL) == 1);
	CHECK(prototype.nr == 2);
	CHECK_STR(prototype.parameters[0].name, "a");
	CHECK_STR(prototype.parameters[0].type, "");
	CHECK_STR(prototype.parameters[1].name, "n");
	CHECK_STR(prototype.parameters[1].type, "u8");
	CHECK_STR(prototype.value.type, "s32");
	CHECK(prototype_parse(btf, len, "close", &prototype, NULL) == 0);
	CHECK(prototype_parse(btf, len, "f", &prototype, NULL) == 0);
}

/* static void hook(int first, struct x *second) of a module, whose types follow the kernel's. */
TEST(prototype_of_a_function_of_a_module_has_types_of_the_kernel)
{
	enum { KERNEL_TYPES = 7, KERNEL_STRINGS = sizeof("\0int\0open\0a\0n\0unsigned char\0f") };
	static const char strings[] = "\0hook\0first\0second";
	const uint32_t types[] = {
		0,
		13 << 24 | 2,
		0,
		KERNEL_STRINGS + 6,
		1,
		KERNEL_STRINGS + 12,
		4, /* 8: the prototype */
		KERNEL_STRINGS + 1,
		12 << 24,
		KERNEL_TYPES + 1, /* 9: hook */
	};
	const uint32_t head[] = {
		HOST_BIG_ENDIAN ? 0xeb9f0100 : 0x0001eb9f, 24, 0, sizeof(types), sizeof(types), sizeof(strings)
	};
	cleanup_buf struct buf kernel = BUF_INIT, module = BUF_INIT;
	struct prototype prototype;
	uint8_t btf[512];

	REQUIRE(buf_add(&kernel, btf, make_btf(btf)) && buf_add(&module, head, sizeof(head)) &&
		buf_add(&module, types, sizeof(types)) && buf_add(&module, strings, sizeof(strings)));
	REQUIRE(prototype_parse_module(&kernel, &module, "hook", &prototype, NULL) == 1);
	CHECK(prototype.nr == 2 && prototype.returns_nothing);
	CHECK_STR(prototype.parameters[0].name, "first");
	CHECK_STR(prototype.parameters[0].type, "s32");
	CHECK_STR(prototype.parameters[1].name, "second");
	CHECK_STR(prototype.parameters[1].type, "");
	/* The kernel's own functions are not the module's. */
	CHECK(prototype_parse_module(&kernel, &module, "open", &prototype, NULL) == 0);
	for (size_t cut = 0; cut < module.len; cut++) {
		struct buf part = { .data = module.data, .len = cut };

		CHECK(prototype_parse_module(&kernel, &part, "hook", &prototype, NULL) < 0);
	}
}

TEST(prototype_of_cut_or_changed_type_information_does_no_harm)
{
	struct prototype prototype;
	uint8_t btf[512];
	size_t len = make_btf(btf);

	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *copy = malloc(cut + 1);

		if (!CHECK(copy != NULL))
			return;
		memcpy(copy, btf, cut);
		CHECK(prototype_parse(copy, cut, "open", &prototype, NULL) < 0);
		free(copy);
	}
	for (size_t i = 4; i < len; i++) {
		uint8_t old = btf[i];

		btf[i] ^= 0xff;
		CHECK(prototype_parse(btf, len, "open", &prototype, NULL) <= 1);
		btf[i] = old;
	}
}

/* A function of this program, whose symbols the program has. */
__attribute__((visibility("default"), noinline)) int weft_test_probed_function(int number);
int weft_test_probed_function(int number)
{
	return number + 1;
}

/* A function without a size. */
__asm__(".pushsection .text\n.globl weft_test_endless\n.type weft_test_endless, %function\nweft_test_endless:\n\tnop\n"
	"\tnop\n.popsection");

TEST(elf_symbol_does_not_leave_the_segment_of_a_function_without_a_size)
{
	uint64_t offset = 0, inside = 0;
	struct fail fail = FAIL_INIT;

	REQUIRE(!elf_symbol_offset("/proc/self/exe", "weft_test_endless", 0, &offset, &fail));
	CHECK(!elf_symbol_offset("/proc/self/exe", "weft_test_endless", 1, &inside, &fail));
	CHECK(inside == offset + 1);
	CHECK(elf_symbol_offset("/proc/self/exe", "weft_test_endless", UINT64_MAX, &inside, &fail) == -ERANGE);
	CHECK(elf_symbol_offset("/proc/self/exe", "weft_test_endless", 1u << 30, &inside, &fail) == -ERANGE);
	CHECK(inside == offset + 1);
}

TEST(elf_symbol_finds_functions_and_names_those_that_are_near)
{
	uint64_t offset = 0, inside = 0;
	struct fail fail = FAIL_INIT;

	CHECK(weft_test_probed_function(1) == 2);
	REQUIRE(!elf_symbol_offset("/proc/self/exe", "weft_test_probed_function", 0, &offset, &fail));
	CHECK(offset > 0);
	CHECK(!elf_symbol_offset("/proc/self/exe", "weft_test_probed_function", 1, &inside, &fail));
	CHECK(inside == offset + 1);
	CHECK(elf_symbol_offset("/proc/self/exe", "weft_test_probed_function", 100000, &inside, &fail) < 0);
	CHECK(elf_symbol_offset("/proc/self/exe", "weft_test_probed_functoin", 0, &inside, &fail) < 0);
	CHECK(strstr(fail.text, "did you mean 'weft_test_probed_function'?"));
	CHECK(elf_symbol_offset("/etc/passwd", "x", 0, &inside, &fail) < 0);
	CHECK(elf_symbol_offset("/no/such/file", "x", 0, &inside, &fail) < 0);
}

static void add_name(const char *probe, void *data)
{
	CHECK(buf_addf(data, "%s ", probe));
}

TEST(undo_removes_the_probes_that_it_knows_and_held_ones_stay)
{
	cleanup_buf struct buf names = BUF_INIT;
	struct probe probe;
	struct undo *undo = NULL;
	struct undo_sum sum;
	cleanup_buf struct buf buf = BUF_INIT;
	struct fake fake;
	char path[128];

	REQUIRE(probe_fake_new(&fake));
	snprintf(path, sizeof(path), "%s/dynamic_events", fake.dir);
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	REQUIRE(!probe_define(&fake.top, "x=foo_bar", false, &probe, NULL));
	CHECK(!probe_add(&fake.top, undo, &probe, NULL));
	probe_release(&probe);
	REQUIRE(!probe_define(&fake.top, "y=foo_bar", false, &probe, NULL));
	CHECK(!probe_add(&fake.top, undo, &probe, NULL));
	probe_release(&probe);
	CHECK(!undo_each_probe(fake.journals, add_name, &names, NULL));
	CHECK_STR(buf_str(&names), "weft/x weft/y ");
	CHECK(!undo_hold(undo, NULL));
	undo_drop_probe(fake.journals, "weft/x");
	buf_clear(&names);
	CHECK(!undo_each_probe(fake.journals, add_name, &names, NULL));
	CHECK_STR(buf_str(&names), "weft/y ");
	fake_write(&fake, "dynamic_events", "");
	CHECK(!undo_reset(&fake.tracing, fake.journals, NULL, &sum, NULL));
	CHECK(sum.probes == 1);
	CHECK(!tracing_read_path(path, &buf, NULL));
	CHECK_STR(buf_str(&buf), "-:weft/y\n");
	undo_free(undo);
	fake_free(&fake);
}
