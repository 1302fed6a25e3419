// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: any text as a filter of an event that has fields of every kind. The bytes after its NUL are a record of that
 * event.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/query/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char format_text[] = "name: all\nID: 300\nformat:\n"
				  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
				  "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
				  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				  "\tfield:char name[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				  "\tfield:__data_loc char[] text;\toffset:24;\tsize:4;\tsigned:0;\n"
				  "\tfield:__rel_loc char[] near;\toffset:28;\tsize:4;\tsigned:0;\n"
				  "\tfield:__data_loc cpumask_t mask;\toffset:32;\tsize:4;\tsigned:0;\n"
				  "\tfield:s8 byte;\toffset:36;\tsize:1;\tsigned:1;\n"
				  "\tfield:u16 word;\toffset:38;\tsize:2;\tsigned:0;\n"
				  "\tfield:long value;\toffset:40;\tsize:8;\tsigned:1;\n"
				  "\tfield:const char * where;\toffset:48;\tsize:8;\tsigned:0;\n"
				  "\tfield:int list[4];\toffset:56;\tsize:16;\tsigned:1;\n\n"
				  "print fmt: \"\"\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct context context = { .abi = { .long_size = 8 } };
	size_t text_len = strnlen((const char *)data, len);
	char *text = strndup((const char *)data, len);
	struct near near = near_to("value");
	struct filter *filter = NULL;
	struct fail fail = FAIL_INIT;

	if (text && !schema_new(&context.abi, &context.schema, NULL) &&
	    !tasks_new("7 sh\n", 5, "", 0, &context.tasks, NULL) &&
	    !schema_add(context.schema, "test", 4, format_text, strlen(format_text), NULL) &&
	    !filter_new(text, schema_format(context.schema, 300, NULL), &context, &near, &filter, &fail)) {
		const uint8_t *record = data + text_len + (text_len < len);
		struct event_type type = { .id = 300 };
		struct event event = {
			.data = record, .len = (uint32_t)(data + len - record), .type = &type, .pid = 7, .cpu = 3
		};

		(void)filter_match(filter, &event);
	} else if (text && !*fail.text) {
		__builtin_trap();
	}
	filter_free(filter);
	tasks_free(context.tasks);
	schema_free(context.schema);
	free(text);
	return 0;
}
