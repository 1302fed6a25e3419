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

/* Options of the commands that texts of the rooms below name, and what stands for them in weft.h. */
static const struct word {
	const char *option, *here;
} words[] = {
	{ "--trust-size", "trust_sizes" },
	{ "with -B", "with WEFT_QUERY_INSTANCE" },
	{ "--sort", "sort" },
	{ "--comm", "WEFT_QUERY_COMM" },
	{ "--mark", "WEFT_QUERY_MARK" },
	{ "--file:", "WEFT_QUERY_FILE:" },
	{ "--since", "since" },
	{ "--until", "until" },
	{ "say --task PID", "say its PID as name" },
	{ "; record with -p function_graph, -e syscalls, -e irq or -e sched_switch", "" },
	{ "use +1s from its first event", "take +1s from its first event" },
};

void api_say(const char *text, char *into, size_t size)
{
	size_t len = 0;

	while (*text && len < size - 1) {
		const struct word *word = NULL;

		for (size_t i = 0; i < array_size(words) && !word; i++)
			if (!strncmp(text, words[i].option, strlen(words[i].option)))
				word = &words[i];
		if (!word) {
			into[len++] = *text++;
			continue;
		}
		text += strlen(word->option);
		for (const char *at = word->here; *at && len < size - 1; at++)
			into[len++] = *at;
	}
	into[len] = '\0';
}

int api_result(struct weft_error *error, int r, const struct fail *fail)
{
	if (r >= 0 || !error)
		return r;
	error->code = r;
	api_say(fail->text[0] ? fail->text : strerror(-r), error->text, sizeof(error->text));
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
