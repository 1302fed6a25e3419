// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/flight/upload_internal.h"

#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

TEST(upload_puts_the_path_into_the_command_as_an_argument)
{
	static const struct {
		const char *command, *shell;
	} table[] = {
		{ "cp {} /there", "cp \"$1\" /there" },
		{ "{}{}", "\"$1\"\"$1\"" },
		{ "cat > /there", "cat > /there" },
		{ "", "" },
	};

	for (size_t i = 0; i < array_size(table); i++) {
		cleanup_free char *text = upload_command(table[i].command);

		REQUIRE(text);
		CHECK_STR(text, table[i].shell);
	}
}
