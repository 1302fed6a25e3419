// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/plugged.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/schema/format.h"
#include "tests/unit/test.h"

void plugged_path(char *path, size_t size, const char *rest)
{
	/* This test is BUILD/tests/unit/run. */
	char self[3072];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[len < 0 ? 0 : len] = '\0';
	for (int i = 0; i < 3 && strrchr(self, '/'); i++)
		*strrchr(self, '/') = '\0';
	snprintf(path, size, "%s/%s", self, rest);
}

bool plugged_init(struct plugged *plugged, const char *dir, const char *machine, const char *system, const char *format)
{
	static const struct schema_abi abi = { .long_size = 8, .big_endian = HOST_BIG_ENDIAN };
	char path[4096];

	plugged_path(path, sizeof(path), dir);
	*plugged = (struct plugged){ .fail = FAIL_INIT };
	return out_init(&plugged->out, 4096) && !schema_new(&abi, &plugged->schema, &plugged->fail) &&
	       !schema_add(plugged->schema, system, strlen(system), format, strlen(format), &plugged->fail) &&
	       !plugins_new(&(struct plugins_options){ .dir = path,
						       .machine = machine,
						       .abi = schema_abi(plugged->schema) },
			    &plugged->plugins, &plugged->fail);
}

void plugged_release(struct plugged *plugged)
{
	plugins_free(plugged->plugins);
	schema_free(plugged->schema);
	out_release(&plugged->out);
}

/* Filters, keys and columns know only the names that the plugin lists. */
static void check_listed(void *arg, const struct decoded *decoded)
{
	const struct decoded_name *name = decoder_find(arg, decoded->name);

	if (!CHECK(name && name->is_number == (decoded->kind != DECODED_TEXT)))
		fprintf(stderr, "the plugin does not list '%s'\n", decoded->name);
}

const char *plugged_decode(struct plugged *plugged, int32_t id, const void *record, size_t len)
{
	const struct format *format = schema_format(plugged->schema, id, NULL);
	const struct decoder *decoder = format ? plugins_decoder(plugged->plugins, format) : NULL;

	out_clear(&plugged->out);
	if (decoder) {
		decoder_run(decoder, record, len, &plugged->out);
		CHECK(decoder_each(decoder, record, len, check_listed, (void *)(uintptr_t)decoder));
	}
	out_char(&plugged->out, '\0');
	return plugged->out.start;
}
