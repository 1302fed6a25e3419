// SPDX-License-Identifier: GPL-2.0-only
/* Filters on fields that a plugin decodes. The event is an "out" to port 0x3f8 on an Intel processor. */
#include "lib/meaning/query/filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/near.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/schema/format.h"
#include "tests/unit/plugged.h"
#include "tests/unit/test.h"

enum { ID = 77 };

static const char format[] = "name: kvm_exit\nID: 77\nformat:\n" PLUGGED_COMMON
			     "\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
			     "\tfield:u32 isa;\toffset:12;\tsize:4;\tsigned:0;\n"
			     "\tfield:u64 info1;\toffset:16;\tsize:8;\tsigned:0;\n"
			     "\tfield:u64 size;\toffset:24;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n";

static const struct record {
	uint16_t type;
	uint8_t flags, count;
	int32_t pid;
	uint32_t reason, isa;
	uint64_t info1, size;
} record = { .type = ID, .reason = 30, .isa = 1, .info1 = 0x3f8 << 16 | 1, .size = 99 };

static int ask(struct plugged *plugged, const char *text, struct near *near, bool *ret_met)
{
	const struct context context = { .abi = *schema_abi(plugged->schema),
					 .schema = plugged->schema,
					 .plugins = plugged->plugins };
	const struct event event = { .data = (const uint8_t *)&record, .len = sizeof(record) };
	struct filter *filter;
	int err = filter_new(text, schema_format(plugged->schema, ID, NULL), &context, near, &filter, NULL);

	if (err)
		return err;
	*ret_met = filter_match(filter, &event);
	filter_free(filter);
	return 0;
}

TEST(filter_compares_fields_that_a_plugin_decodes)
{
	static const struct {
		const char *filter;
		bool met;
	} rows[] = {
		{ "port == 0x3f8", true },
		{ "port == 1016 && access == \"out\"", true },
		{ "port > 0xffffffffffff", false },
		{ "port & 0x8", true },
		{ "access ~ \"o*\"", true },
		{ "access == 'in'", false },
		{ "access != 'in'", true },
		/* The plugin says nothing of it: no comparison with it is met, and so the negated ones are. */
		{ "allowed == 'read'", false },
		{ "allowed != 'read'", false },
		{ "!(allowed == 'read')", true },
		/* A field of the event is before that of the plugin. */
		{ "size == 99", true },
		{ "decoded.size == 99", false },
		{ "decoded.size == 2", true },
		{ "decoded.size >= -1 && decoded.port == 0x3f8", true },
	};
	struct plugged plugged;

	if (CHECK(plugged_init(&plugged, "plugins", "x86_64", "kvm", format))) {
		for (size_t i = 0; i < array_size(rows); i++) {
			bool met = !rows[i].met;

			if (!CHECK(!ask(&plugged, rows[i].filter, NULL, &met)) || !CHECK(met == rows[i].met))
				fprintf(stderr, "%s\n", rows[i].filter);
		}
	}
	plugged_release(&plugged);
}

TEST(filter_refuses_what_does_not_fit_a_decoded_field)
{
	static const struct {
		const char *filter;
		int err;
	} rows[] = {
		{ "port == \"x\"", -EINVAL },  { "port ~ 3", -EINVAL },         { "access == 3", -EINVAL },
		{ "access < \"x\"", -EINVAL }, { "port & CPUS{1}", -EINVAL },   { "decoded.port == 3x", -EINVAL },
		{ "decoded. == 3", -EINVAL },  { "decoded.isa == 1", -ENOENT }, { "decoded.prot == 1", -ENOENT },
		{ "prot == 1", -ENOENT },      { "decoded == 1", -ENOENT },
	};
	struct plugged plugged;
	bool met;

	if (CHECK(plugged_init(&plugged, "plugins", "x86_64", "kvm", format))) {
		for (size_t i = 0; i < array_size(rows); i++) {
			struct near near = near_to("prot");
			char hint[3 * NEAR_NAME_SIZE];

			if (!CHECK(ask(&plugged, rows[i].filter, &near, &met) == rows[i].err))
				fprintf(stderr, "%s\n", rows[i].filter);
			near_hint(&near, hint, sizeof(hint));
			if (rows[i].err == -ENOENT)
				CHECK(strstr(hint, "'port'"));
		}
		/* Without plugins there is no such field. */
		plugins_free(plugged.plugins);
		plugged.plugins = NULL;
		CHECK(ask(&plugged, "port == 0x3f8", NULL, &met) == -ENOENT);
		CHECK(ask(&plugged, "decoded.port == 0x3f8", NULL, &met) == -ENOENT);
	}
	plugged_release(&plugged);
}
