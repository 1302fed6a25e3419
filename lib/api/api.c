// SPDX-License-Identifier: LGPL-2.1-or-later
/* What all functions of the library share: its version, results, and structures that may grow. */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int weft_version_number(void)
{
	return WEFT_VERSION_NUMBER;
}

const char *weft_version(void)
{
	return WEFT_VERSION;
}

void weft_free(void *memory)
{
	free(memory);
}

int api_result(struct weft_error *error, int r, const struct fail *fail)
{
	const char *text = fail->text[0] ? fail->text : strerror(-r);
	size_t len = strnlen(text, sizeof(error->text) - 1);

	if (r >= 0 || !error)
		return r;
	error->code = r;
	memcpy(error->text, text, len);
	error->text[len] = '\0';
	return r;
}

int api_options(const void *options, void *ret, size_t known, struct fail *fail)
{
	const uint8_t *at = options;
	size_t size;

	memset(ret, 0, known);
	if (!options)
		return 0;
	memcpy(&size, options, sizeof(size));
	if (size < sizeof(size) || size > INT32_MAX)
		return fail_set(fail, -EINVAL, "a structure of options has no size");
	for (size_t i = known; i < size; i++)
		if (at[i])
			return fail_set(fail, -E2BIG,
					"this version of the library does not know an option that is set");
	memcpy(ret, options, size < known ? size : known);
	return 0;
}

void api_fill(void *ret, const void *from, size_t known)
{
	size_t size;

	memcpy(&size, ret, sizeof(size));
	if (size < sizeof(size))
		return;
	memcpy((uint8_t *)ret + sizeof(size), (const uint8_t *)from + sizeof(size),
	       (size < known ? size : known) - sizeof(size));
	if (size > known)
		memset((uint8_t *)ret + known, 0, size - known);
}
