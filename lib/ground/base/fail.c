// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/fail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int fail_set(struct fail *fail, int err, const char *format, ...)
{
	va_list args;

	if (!fail)
		return err;
	fail->usage = false;
	fail->err = err;
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

int fail_usage(struct fail *fail, int err)
{
	if (fail)
		fail->usage = true;
	return err;
}

int fail_writing(struct fail *fail, int err, const char *path)
{
	const size_t len = sizeof(FAIL_WRITE) - 1;
	struct fail why;

	if (!err || !fail || strncmp(fail->text, FAIL_WRITE, len) != 0)
		return err;
	why = *fail;
	if (!strcmp(path, "-"))
		return fail_set(fail, err, FAIL_WRITE_OUT "%s", why.text + len);
	return fail_set(fail, err, "cannot write '%s': %s", path, why.text + len);
}

int fail_without(struct fail *fail, const char *library, const char *who, const char *instead)
{
	return fail_set(fail, -ENOTSUP, "weft was built without %s, which %s needs; %s", library, who, instead);
}

int fail_memory(struct fail *fail)
{
	return fail_set(fail, -ENOMEM, "out of memory");
}

int fail_first(int first, int err, struct fail *fail, const struct fail *later)
{
	if (first || !err)
		return first;
	fail_set(fail, err, "%s", later->text);
	return later->usage ? fail_usage(fail, err) : err;
}
