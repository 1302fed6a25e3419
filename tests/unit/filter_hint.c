// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/setup/filter_hint_internal.h"

#include "lib/ground/base/buf.h"
#include "lib/kernel/tracefs/event_fields.h"
#include "tests/unit/test.h"

static const char format[] = "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
			     "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:__data_loc char[] filename;\toffset:24;\tsize:4;\tsigned:0;\n"
			     "\tfield:const char * name;\toffset:28;\tsize:8;\tsigned:0;\n";

TEST(filter_hint_tells_of_ends_of_strings_of_a_fixed_size)
{
	static const struct {
		const char *filter, *hint;
	} cases[] = {
		{ "prev_comm ~ \"*sh\"", "prev_comm ~ \"**sh\"" },
		{ "common_pid > 3 && (comm ~'*sh' || common_pid == 1)", "comm ~ \"**sh\"" },
		{ "filename ~ \"*sh\" || prev_comm~\"*h\"", "prev_comm ~ \"**h\"" },
		{ "prev_comm == \"~ *\" && COMM ~ \"*x\"", "COMM ~ \"**x\"" },
		{ "filename ~ \"*sh\"", "" },
		{ "name ~ \"*sh\"", "" },
		{ "prev_comm ~ \"**sh\"", "" },
		{ "prev_comm ~ \"*sh*\"", "" },
		{ "prev_comm ~ \"*s[h]\"", "" },
		{ "prev_comm ~ \"*\"", "" },
		{ "prev_comm ~ \"sh\"", "" },
		{ "prev_comm == \"~ *sh", "" },
		{ "prev_comm ~", "" },
		{ "~ \"*sh\"", "" },
	};
	struct event_fields fields = { .nr = 0 };

	CHECK(!event_fields_parse(&fields, format, NULL));
	for (size_t i = 0; i < array_size(cases); i++) {
		cleanup_buf struct buf hint = BUF_INIT;

		CHECK(filter_hint(cases[i].filter, &fields, &hint) == (*cases[i].hint != '\0'));
		CHECK_STR(buf_str(&hint), cases[i].hint);
	}
	event_fields_release(&fields);
}
