// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/names/last_boot_internal.h"

#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/names/symbols.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

static bool boot_of(struct last_boot *boot, const char *info, const char *modules)
{
	*boot = (struct last_boot){ .nr = 0 };
	return last_boot_read(boot, (struct trace_text){ .text = info, .len = strlen(info) },
			      (struct trace_text){ .text = modules, .len = strlen(modules) });
}

TEST(last_boot_of_linux_6_12_tells_the_distance)
{
	struct last_boot boot;

	CHECK(boot_of(&boot, "text delta:\t-268435456\ndata delta:\t-268435456\n", ""));
	CHECK(boot.delta == (uint64_t)-268435456);
	CHECK(!boot.text_then && !boot.nr);
	last_boot_text_now(&boot, 0xffffffff81000000);
	CHECK(boot.delta == (uint64_t)-268435456);
	last_boot_release(&boot);
}

TEST(last_boot_of_later_kernels_tells_where_everything_was)
{
	struct last_boot boot;

	CHECK(boot_of(
		&boot,
		"ffffffff81000000\t[kernel]\nffffffffc0200000\text4\nffffffffc0100000\tjbd2\nffffffffc0300000\tgone\n",
		"ext4 1155072 1 - Live 0xffffffffc0a00000\njbd2 196608 1 ext4, Live 0xffffffffc0900000\n"
		"ext 1 0 - Live 0x1\n"));
	last_boot_text_now(&boot, 0xffffffff92000000);
	CHECK(boot.delta == 0x11000000);
	CHECK(last_boot_module_delta(&boot, 0xffffffffc0100010) == 0x800000);
	CHECK(last_boot_module_delta(&boot, 0xffffffffc0200000) == 0x800000);
	CHECK(last_boot_module_delta(&boot, 0xffffffffc0300000) == 0);
	CHECK(last_boot_module_delta(&boot, 0xffffffffc00fffff) == 0);
	last_boot_release(&boot);
}

TEST(last_boot_of_a_running_buffer_moves_nothing)
{
	static const char *const texts[] = { "# Current\n",    "",     "text delta:\t0\ndata delta:\t0\n",
					     "zz\t[kernel]\n", "\t\n", "ffff" };
	struct last_boot boot;

	for (size_t i = 0; i < array_size(texts); i++) {
		CHECK(boot_of(&boot, texts[i], "ext4 1 0\n"));
		last_boot_text_now(&boot, 0xffffffff92000000);
		CHECK(!boot.delta && !boot.nr);
		last_boot_release(&boot);
	}
}

static bool is_named(const struct symbols *symbols, uint64_t address, const char *name, uint64_t now)
{
	struct symbol symbol;
	bool found = symbols_find(symbols, address, &symbol);

	return CHECK(found == (name != NULL)) &&
	       (!name || CHECK(symbol.name_len == strlen(name) && !memcmp(symbol.name, name, symbol.name_len))) &&
	       CHECK(symbols_now(symbols, address) == now);
}

/* The kernel is at 0x80000000 in both boots; the modules move. */
static struct trace *moved_trace(struct loom *loom, const char *info, const char *modules)
{
	loom_init(loom);
	loom->kallsyms = "0000000002500000 t in_fs\t[fs]\n"
			 "0000000002600000 t in_net\t[net]\n"
			 "0000000080000000 T _text\n"
			 "0000000080000000 T _stext\n"
			 "0000000080001000 T one\n"
			 "0000000080002000 T two\n"
			 "0000000080003000 B _end\n";
	loom_setting(loom, "last_boot_info", info);
	loom_setting(loom, "weft/modules", modules);
	return loom_trace(loom);
}

TEST(last_boot_takes_what_lies_above_a_module_for_a_module_as_the_kernel_does)
{
	struct fail fail = FAIL_INIT;
	struct symbols *symbols = NULL;
	struct loom loom;
	struct trace *trace = moved_trace(&loom, "80000000\t[kernel]\n2501000\tfs\n2601000\tnet\n",
					  "fs 4096 0 - Live 0x2500000\nnet 4096 0 - Live 0x2600000\n");

	REQUIRE(trace);
	if (CHECK(!symbols_new(trace, 0, &symbols, &fail))) {
		CHECK(is_named(symbols, 0x2501010, "in_fs", 0x2500010));
		CHECK(is_named(symbols, 0x2601010, "in_net", 0x2600010));
		CHECK(is_named(symbols, 0x80002010, "one", 0x80001010));
	}
	symbols_free(symbols);
	trace_free(trace);
	loom_release(&loom);
}

TEST(last_boot_moves_the_kernel_below_its_modules)
{
	struct fail fail = FAIL_INIT;
	struct symbols *symbols = NULL;
	struct loom loom;
	struct trace *trace =
		moved_trace(&loom, "7ffff000\t[kernel]\nffff0000\tnet\n", "net 4096 0 - Live 0x2600000\n");

	REQUIRE(trace);
	if (CHECK(!symbols_new(trace, 0, &symbols, &fail))) {
		CHECK(is_named(symbols, 0x80000010, "one", 0x80001010));
		CHECK(is_named(symbols, 0xffff0010, "in_net", 0x2600010));
		CHECK(is_named(symbols, 0x10, NULL, 0x10));
	}
	symbols_free(symbols);
	trace_free(trace);
	loom_release(&loom);
}
