// SPDX-License-Identifier: GPL-2.0-only
/*
 * A probe's arguments depend on the size of the kernel's long, not on that of this program. Each test has a 64-bit and
 * a 32-bit kernel.
 */
#include "lib/kernel/probe/probe_define.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/probe/btf_internal.h"
#include "lib/kernel/probe/parameter_place_internal.h"
#include "lib/kernel/refusals/probe.h"
#include "lib/kernel/tracefs/word.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

static bool word_fake_new(struct fake *fake, unsigned long_size)
{
	char header[128];

	if (!fake_new(fake))
		return false;
	fake_write(fake, "kprobe_events", "");
	fake_write(fake, "uprobe_events", "");
	fake_write(fake, "dynamic_events", "");
	fake_write(fake, "README", "$arg<N>");
	snprintf(header, sizeof(header),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n",
		 long_size);
	fake_write(fake, "events/header_page", header);
	return true;
}

/* The arguments in the kernel's line, or the message. */
static const char *fetched(const struct fake *fake, const char *text, struct buf *buf, struct fail *fail)
{
	const char *space;
	struct probe probe;

	buf_clear(buf);
	if (probe_define(&fake->top, text, false, &probe, fail))
		return fail->text;
	CHECK(probe_print(&probe, buf));
	probe_release(&probe);
	space = strchr(buf_str(buf), ' ');
	space = space ? strchr(space + 1, ' ') : NULL;
	return space ? space + 1 : "";
}

/* A file that begins as a program of that ELF class does. */
static void fake_program(const struct fake *fake, const char *name, char class)
{
	char path[FAKE_PATH], head[EI_NIDENT] = ELFMAG;
	FILE *file = fopen(fake_path(fake, name, path), "w");

	head[EI_CLASS] = class;
	if (!CHECK(file != NULL))
		return;
	CHECK(fwrite(head, sizeof(head), 1, file) == 1);
	fclose(file);
}

TEST(kernel_long_size_is_that_of_header_page)
{
	struct fake fake;

	REQUIRE(fake_new(&fake));
	CHECK(kernel_long_size(&fake.top) == sizeof(long));
	fake_free(&fake);
	for (unsigned size = 4; size <= 8; size += 4) {
		REQUIRE(word_fake_new(&fake, size));
		CHECK(kernel_long_size(&fake.top) == size);
		fake_free(&fake);
	}
	CHECK(!header_page_long_size("\tfield: local_t commit;\toffset:8;\tsize:3;"));
	CHECK(!header_page_long_size(""));
}

TEST(probe_returns_a_long_of_the_kernel)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct fake fake;
	struct fail fail;

	for (unsigned size = 4; size <= 8; size += 4) {
		REQUIRE(word_fake_new(&fake, size));
		CHECK_STR(fetched(&fake, "foo_bar%return ret", &buf, &fail),
			  size == 4 ? "ret=$retval:s32" : "ret=$retval:s64");
		fake_free(&fake);
	}
}

TEST(well_known_prototypes_have_longs_of_the_kernel)
{
	struct prototype prototype;

	/*
	 * A machine with type information has that of its own kernel, which is used: there the word is this
	 * machine's.
	 */
	for (unsigned size = access("/sys/kernel/btf/vmlinux", R_OK) ? 4 : sizeof(long); size <= 8; size += 4) {
		REQUIRE(prototype_find("vfs_read", size, &prototype, NULL) == 1);
		CHECK_STR(prototype.value.type, size == 4 ? "s32" : "s64");
		CHECK_STR(prototype.parameters[2].type, size == 4 ? "u32" : "u64");
		CHECK_STR(prototype.parameters[1].type, "");
	}
}

TEST(probe_of_a_program_returns_a_long_of_the_program)
{
	static const struct {
		unsigned kernel;
		char program;
		const char *fetched;
	} cases[] = {
		{ 8, ELFCLASS64, "ret=$retval:s64" },
		{ 8, ELFCLASS32, "ret=$retval:s32" },
		{ 4, ELFCLASS32, "ret=$retval:s32" },
	};
	cleanup_buf struct buf buf = BUF_INIT;
	struct fake fake;
	struct fail fail;
	char text[128];

	for (size_t i = 0; i < array_size(cases); i++) {
		REQUIRE(word_fake_new(&fake, cases[i].kernel));
		fake_program(&fake, "program", cases[i].program);
		snprintf(text, sizeof(text), "%s/program:0x10%%return ret", fake.dir);
		CHECK_STR(fetched(&fake, text, &buf, &fail), cases[i].fetched);
		fake_free(&fake);
	}
}

TEST(parameters_of_programs_are_where_the_kernel_has_them)
{
	static const struct {
		unsigned kernel;
		char program;
		const char *fetch, *fetched;
	} cases[] = {
#if defined(__x86_64__) || defined(__i386__)
		{ 8, ELFCLASS64, "a=$arg1:string", "a=+0(%di):string" },
		{ 8, ELFCLASS64, "a=$arg2", "a=%si" },
		{ 8, ELFCLASS32, "a=$arg2", "a=+8(%sp):x32" },
		{ 8, ELFCLASS32, "a=$arg1:u64", "a=+4(%sp):u64" },
		{ 4, ELFCLASS32, "a=$arg1:string", "a=+0($stack1):string" },
		{ 8, ELFCLASS64, "a=$arg7", "'$arg7' is in no register" },
		{ 8, ELFCLASS32, "a=$arg1:string",
		  "'$arg1' is a pointer of a program of 32 bits, which this kernel of 64 bits cannot follow" },
		{ 8, ELFCLASS32, "a=+4(+0($arg1)):u8", "as in '$arg1:x32'" },
#elif defined(__aarch64__) || defined(__arm__)
		{ 8, ELFCLASS64, "a=$arg1:string", "a=+0(%x0):string" },
		{ 4, ELFCLASS32, "a=$arg1:string", "a=+0(%r0):string" },
		{ 4, ELFCLASS32, "a=$arg5", "'$arg5' is in no register" },
#elif defined(__powerpc64__)
		{ 8, ELFCLASS64, "a=$arg1:string", "a=+0(%r3):string" },
#elif defined(__s390x__)
		{ 8, ELFCLASS64, "a=$arg1:string", "a=+0(%r2):string" },
		{ 8, ELFCLASS32, "a=$arg1:string", "a=+0(%r2):string" },
#elif defined(__riscv)
		{ 8, ELFCLASS64, "a=$arg1:string", "a=+0(%a0):string" },
#elif defined(__mips__)
		{ 8, ELFCLASS64, "a=$arg8:string", "a=+0(%r11):string" },
		{ 4, ELFCLASS32, "a=$arg4:string", "a=+0(%r7):string" },
		{ 4, ELFCLASS32, "a=$arg5", "'$arg5' is in no register" },
#elif defined(__loongarch__)
		{ 8, ELFCLASS64, "a=$arg1:string", "a=+0(%r4):string" },
#endif
	};
	cleanup_buf struct buf buf = BUF_INIT;
	struct fake fake;
	struct fail fail;
	char text[128];

	for (size_t i = 0; i < array_size(cases); i++) {
		const char *said;

		REQUIRE(word_fake_new(&fake, cases[i].kernel));
		fake_program(&fake, "program", cases[i].program);
		snprintf(text, sizeof(text), "%s/program:0x10 %s", fake.dir, cases[i].fetch);
		said = fetched(&fake, text, &buf, &fail);
		if (!CHECK(strstr(said, cases[i].fetched)))
			fprintf(stderr, "%s: %s\n", cases[i].fetch, said);
		fake_free(&fake);
	}
}

TEST(a_kernel_whose_readme_has_arguments_for_return_probes_alone_gets_registers)
{
	static const char *const readmes[] = {
		"$stack<index>, $stack, $retval, $comm,\n"
		"\t     kernel return probes support: $retval, $arg<N>, $comm\n",
		"$stack<index>, $stack, $retval, $comm, $arg<N>,\n"
		"\t     kernel return probes support: $retval, $arg<N>, $comm\n",
	};
	const char *place = parameter_place(1, 8, false);
	cleanup_buf struct buf buf = BUF_INIT;
	struct fake fake;
	struct fail fail;
	char want[32];

	for (size_t i = 0; place && i < array_size(readmes); i++) {
		REQUIRE(word_fake_new(&fake, 8));
		fake_write(&fake, "README", readmes[i]);
		fake_write(&fake, "available_filter_functions", "vfs_read\n");
		snprintf(want, sizeof(want), "a=%s", i ? "$arg1" : place);
		CHECK_STR(fetched(&fake, "vfs_read a=$arg1", &buf, &fail), want);
		fake_free(&fake);
	}
}
