// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/tracefs/boot_instance.h"

#include "lib/base/buf.h"
#include "lib/base/text.h"
#include "lib/tracefs/tracing.h"

#include <string.h>

/* The end of a parameter: the next blank outside quotes, as in next_arg() of the kernel's lib/cmdline.c. */
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

	/* Quotes may enclose the value or the whole parameter. */
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
		/* The words after "--" are arguments of init. */
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
