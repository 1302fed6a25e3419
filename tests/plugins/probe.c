// SPDX-License-Identifier: GPL-2.0-only
/* Says what every call of the host answers. */
#include "include/weft/plugin.h"

enum { SMALL, ARRAY, TEXT, MISSING };

static const char *const fields[] = { "small", "array", "text", "?missing", NULL };
static const char *const needy_fields[] = { "missing", NULL };
static const char *const facts[] = { "#small",   "#count",         "#second", "#behind",
				     "#missing", "#no_such_field", "text",    NULL };

static void format_probe(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	const char *text;
	size_t len;

	host->put_integer(output, "small", (int64_t)host->integer(record, SMALL, 0));
	host->put_integer(output, "count", (int64_t)host->count(record, ARRAY));
	host->put_hex(output, "second", host->integer(record, ARRAY, 1));
	host->put_integer(output, "behind", (int64_t)host->integer(record, ARRAY, 2));
	host->put_integer(output, "missing", (int64_t)host->integer(record, MISSING, 0));
	host->put_integer(output, "no_such_field", (int64_t)host->integer(record, 99, 0));
	text = host->bytes(record, TEXT, &len);
	if (text)
		host->put_text(output, "text", text, len);
}

static const struct weft_handler handlers[] = {
	{ "needs_more", needy_fields, format_probe, NULL },
	{ "event_*", fields, format_probe, facts },
};

WEFT_PLUGIN("probe", handlers);
