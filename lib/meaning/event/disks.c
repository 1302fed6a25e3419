// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/disks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/pages/trace/trace.h"

enum { MINOR_BITS = 20 };

static int put_number(char into[DISK_NAME], uint32_t device)
{
	return snprintf(into, DISK_NAME, "%" PRIu32 ":%" PRIu32, device >> MINOR_BITS,
			device & ((1U << MINOR_BITS) - 1));
}

const char *disk_name(const struct context *context, uint32_t device, char into[DISK_NAME])
{
	struct trace_text text = own_setting(context->trace, context->buffer, "weft/disks");
	char number[DISK_NAME];
	size_t len = (size_t)put_number(number, device);
	struct text_word line;

	*into = '\0';
	while (text.text && text_next_line(&text.text, &text.len, &line))
		if (line.len > len + 1 && !memcmp(line.at, number, len) && line.at[len] == ' ')
			snprintf(into, DISK_NAME, "%.*s", (int)(line.len - len - 1), line.at + len + 1);
	return into;
}

const char *disk_text(const struct context *context, uint32_t device, char into[DISK_TEXT])
{
	char name[DISK_NAME], number[DISK_NAME];
	bool named = *disk_name(context, device, name);

	put_number(number, device);
	snprintf(into, DISK_TEXT, named ? "%s (%s)" : "%s%s", name, number);
	return into;
}
