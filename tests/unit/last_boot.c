// SPDX-License-Identifier: GPL-2.0-only
#include "lib/event/last_boot.h"

#include "lib/trace/trace.h"
#include "tests/unit/test.h"

#include <string.h>

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
