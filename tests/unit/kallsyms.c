// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <string.h>

#include "lib/meaning/names/kallsyms_internal.h"
#include "lib/meaning/names/symbols.h"

static const char text[] = "0000000000000000 A percpu\n"
			   "0000000000001000 A cpu_debug\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T alias\n"
			   "ffffffff81000100 t first\n"
			   "ffffffff81000180 t second\n"
			   "ffffffff81000200 B _end\n"
			   "ffffffffa0002040 d data\t[mod]\n"
			   "ffffffffa0000020 t in_mod\t[mod]\n"
			   "ffffffffa0000010 t low_in_mod\t[mod]\n"
			   "ffffffffa0000010 t .Llabel\t[mod]\n"
			   "ffffffffa0008000 t ftrace_trampoline\t[__builtin__ftrace]\n"
			   "ffffffffa0009000 t bpf_prog_1\t[bpf]\n";

static bool find(const struct kallsyms *kallsyms, uint64_t address, struct symbol *ret)
{
	uint32_t index;

	if (!kallsyms_find(kallsyms, address, &index))
		return false;
	kallsyms_symbol(kallsyms, index, ret);
	return true;
}

static bool named(const struct kallsyms *kallsyms, uint64_t address, const char *name, uint64_t size)
{
	struct symbol symbol;

	return find(kallsyms, address, &symbol) && symbol.name_len == strlen(name) &&
	       !memcmp(symbol.name, name, symbol.name_len) && symbol.size == size;
}

TEST(kallsyms_finds_the_first_name_of_an_address_and_its_distance_to_the_next)
{
	struct kallsyms kallsyms;

	kallsyms_read(&kallsyms, text, sizeof(text) - 1);
	CHECK(named(&kallsyms, 0xffffffff81000000, "_stext", 0x100));
	CHECK(named(&kallsyms, 0xffffffff810000ff, "_stext", 0x100));
	CHECK(named(&kallsyms, 0xffffffff81000100, "first", 0x80));
	CHECK(named(&kallsyms, 0xffffffff810001ff, "second", 0x80));
	kallsyms_release(&kallsyms);
}

TEST(kallsyms_finds_nothing_outside_the_kernel_and_its_modules)
{
	struct kallsyms kallsyms;
	struct symbol symbol;

	kallsyms_read(&kallsyms, text, sizeof(text) - 1);
	CHECK(!find(&kallsyms, 0, &symbol));
	CHECK(!find(&kallsyms, 0x1000, &symbol));
	CHECK(!find(&kallsyms, 0xffffffff80ffffff, &symbol));
	CHECK(!find(&kallsyms, 0xffffffff81000200, &symbol));
	CHECK(!find(&kallsyms, 0xffffffffa0008000, &symbol));
	CHECK(!find(&kallsyms, UINT64_MAX, &symbol));
	kallsyms_release(&kallsyms);
}

TEST(kallsyms_sorts_modules_and_ends_their_text_with_its_page)
{
	struct kallsyms kallsyms;
	struct symbol symbol;

	kallsyms_read(&kallsyms, text, sizeof(text) - 1);
	CHECK(named(&kallsyms, 0xffffffffa0000011, "low_in_mod", 0x10));
	CHECK(named(&kallsyms, 0xffffffffa0000020, "in_mod", 0xfe0));
	CHECK(!find(&kallsyms, 0xffffffffa0001000, &symbol));
	REQUIRE(find(&kallsyms, 0xffffffffa0000020, &symbol));
	CHECK_MEM(symbol.module, (size_t)symbol.module_len, "mod", (size_t)3);
	kallsyms_release(&kallsyms);
}

/* ppc64 lists a module's per-CPU variables this way. The kernel does not find them. */
TEST(kallsyms_finds_no_symbol_of_a_module_inside_the_kernel)
{
	static const char strays[] =
		"c000000000000000 T _stext\nc000000000001000 T own\nc000000000001800 a stray\t[ext4]\n"
		"c000000000002000 T other\nc000000000003000 B _end\nc000000000004000 t module\t[ext4]\n";
	struct kallsyms kallsyms;

	REQUIRE(kallsyms_read(&kallsyms, strays, sizeof(strays) - 1));
	CHECK(named(&kallsyms, 0xc000000000001900, "own", 0x1000));
	CHECK(named(&kallsyms, 0xc000000000004010, "module", 0x1000));
	kallsyms_release(&kallsyms);
}

TEST(kallsyms_gives_programs_of_bpf_no_module)
{
	struct kallsyms kallsyms;
	struct symbol symbol;

	kallsyms_read(&kallsyms, text, sizeof(text) - 1);
	REQUIRE(find(&kallsyms, 0xffffffffa0009004, &symbol));
	CHECK(!symbol.module);
	kallsyms_release(&kallsyms);
}

TEST(kallsyms_finds_addresses_of_names_but_not_of_parts_of_names)
{
	struct kallsyms kallsyms;
	uint64_t address = 0;

	kallsyms_read(&kallsyms, text, sizeof(text) - 1);
	CHECK(kallsyms_address(&kallsyms, "alias", &address) && address == 0xffffffff81000000);
	CHECK(kallsyms_address(&kallsyms, "second", &address) && address == 0xffffffff81000180);
	CHECK(!kallsyms_address(&kallsyms, "irst", &address));
	CHECK(!kallsyms_address(&kallsyms, "in_mod", &address));
	kallsyms_release(&kallsyms);
}

TEST(kallsyms_skips_lines_that_are_none_and_an_unfinished_one)
{
	static const char odd[] = "\n\nzz\n1234\n12 T\n12 T \n 5 t x\n11111111111111111 t long\n"
				  "ffffffff81000000 t good\nffffffff81000100 t cut";
	struct kallsyms kallsyms;
	struct symbol symbol;

	kallsyms_read(&kallsyms, odd, sizeof(odd) - 1);
	CHECK(kallsyms.nr_entries == 1);
	CHECK(named(&kallsyms, 0xffffffff81000010, "good", 0x1000));
	CHECK(!find(&kallsyms, 0x5, &symbol));
	kallsyms_release(&kallsyms);
}

TEST(kallsyms_covers_no_address_by_an_index_that_it_does_not_have)
{
	struct kallsyms kallsyms;

	kallsyms_read(&kallsyms, "", 0);
	CHECK(!kallsyms_covers(&kallsyms, 0, 0));
	CHECK(!kallsyms_covers(&kallsyms, UINT32_MAX, 7));
	kallsyms_release(&kallsyms);
}

TEST(kallsyms_merges_modules_that_lie_below_the_kernel_and_keeps_the_first_name_of_an_address)
{
	static const char modules_below[] = "ffffffffa0000000 T _stext\n"
					    "ffffffffa0000100 t first\n"
					    "ffffffffa0000200 B _end\n"
					    "ffffffffc0000000 t high\t[b]\n"
					    "ffffffff81000300 t late\t[a]\n"
					    "ffffffff81000100 t name\t[a]\n"
					    "FFFFFFFF81000100 t second_name\t[a]\n"
					    "ffffffff81000200 t middle\t[a]\n";
	struct kallsyms kallsyms;

	kallsyms_read(&kallsyms, modules_below, sizeof(modules_below) - 1);
	CHECK(named(&kallsyms, 0xffffffff81000100, "name", 0x100));
	CHECK(named(&kallsyms, 0xffffffff81000200, "middle", 0x100));
	CHECK(named(&kallsyms, 0xffffffff81000300, "late", 0xd00));
	CHECK(named(&kallsyms, 0xffffffffa0000000, "_stext", 0x100));
	CHECK(named(&kallsyms, 0xffffffffa0000100, "first", 0x100));
	CHECK(named(&kallsyms, 0xffffffffc0000000, "high", 0x1000));
	kallsyms_release(&kallsyms);
}

/* A kernel without CONFIG_KALLSYMS_ALL lists some symbols of its data, but looks up its text and initial text only. */
TEST(kallsyms_finds_only_text_in_a_kernel_that_does_not_list_all_its_symbols)
{
	static const char some[] = "ffffffff81000000 T _stext\n"
				   "ffffffff81000100 t first\n"
				   "ffffffff81000200 T _etext\n"
				   "ffffffff82000000 D __start_rodata\n"
				   "ffffffff83000000 T _sinittext\n"
				   "ffffffff83000100 t setup\n"
				   "ffffffff83000200 T _einittext\n"
				   "ffffffffa0000020 t in_mod\t[mod]\n";
	struct kallsyms kallsyms;
	struct symbol symbol;

	kallsyms_read(&kallsyms, some, sizeof(some) - 1);
	CHECK(named(&kallsyms, 0xffffffff810001ff, "first", 0x100));
	CHECK(!find(&kallsyms, 0xffffffff81000200, &symbol));
	CHECK(!find(&kallsyms, 0xffffffff82000000, &symbol));
	CHECK(!find(&kallsyms, 0xffffffff82000050, &symbol));
	CHECK(named(&kallsyms, 0xffffffff83000150, "setup", 0x100));
	CHECK(!find(&kallsyms, 0xffffffff83000200, &symbol));
	CHECK(find(&kallsyms, 0xffffffffa0000020, &symbol));
	kallsyms_release(&kallsyms);
}
