// SPDX-License-Identifier: GPL-2.0-only
#include "lib/tracefs/boot_instance.h"

#include "lib/base/buf.h"
#include "lib/base/text.h"
#include "lib/tracefs/tracing.h"

#include <string.h>

/* The end of a parameter: a blank that is not between quotes, as next_arg() of lib/cmdline.c has it. */
static const char *parameter_end(const char *at)
{
	bool quoted = false;

	for (; *at && (quoted || !strchr(" \t\n", *at)); at++)
		if (*at == '"')
			quoted = !quoted;
	return at;
}

static const char *value_of(const char *at, const char *end, const char *name)
{
	size_t len = strlen(name);

	/* Quotes may stand around the value or around all of it. */
	at += *at == '"';
	if ((size_t)(end - at) <= len || strncmp(at, name, len))
		return NULL;
	return at[len] == '"' ? at + len + 1 : at + len;
}

bool boot_instance_in(const char *cmdline, const char *name)
{
	const char *at = cmdline;

	for (;;) {
		const char *end, *value;

		at += strspn(at, " \t\n");
		if (!*at)
			return false;
		end = parameter_end(at);
		/* What follows is for init. */
		if (end - at == 2 && !memcmp(at, "--", 2))
			return false;
		value = value_of(at, end, "trace_instance=");
		if (value) {
			struct text_word word = { value, strcspn(value, "=^@,\" \t\n") };

			if (text_word_is(word, name))
				return true;
		}
		at = end;
	}
}

bool boot_instance_is(const char *name)
{
	cleanup_buf struct buf text = BUF_INIT;

	return !tracing_read_path("/proc/cmdline", &text, NULL) && boot_instance_in(buf_str(&text), name);
}
