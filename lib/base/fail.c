// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/fail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int fail_set(struct fail *fail, int err, const char *format, ...)
{
	va_list args;

	if (!fail)
		return err;
	va_start(args, format);
	vsnprintf(fail->text, sizeof(fail->text), format, args);
	va_end(args);
	return err;
}

int fail_in(struct fail *fail, int err, const char *format, ...)
{
	char inner[sizeof(fail->text)];
	va_list args;
	size_t used;
	int len;

	if (!fail)
		return err;
	memcpy(inner, fail->text, sizeof(inner));
	va_start(args, format);
	len = vsnprintf(fail->text, sizeof(fail->text), format, args);
	va_end(args);
	used = len < 0 ? 0 : (size_t)len;
	/* Text that does not fit is cut. */
	if (used < sizeof(fail->text) && snprintf(fail->text + used, sizeof(fail->text) - used, ": %s", inner) < 0)
		fail->text[used] = 0;
	return err;
}

int fail_hint(struct fail *fail, int err, const char *hint)
{
	size_t used = fail ? strlen(fail->text) : 0;

	if (fail)
		snprintf(fail->text + used, sizeof(fail->text) - used, "%s", hint);
	return err;
}

int fail_memory(struct fail *fail)
{
	return fail_set(fail, -ENOMEM, "out of memory");
}

int fail_first(int first, int err, struct fail *fail, const struct fail *later)
{
	if (first || !err)
		return first;
	return fail_set(fail, err, "%s", later->text);
}
