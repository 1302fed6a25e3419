// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/uapi/call_argument.h"

#include <stdlib.h>
#include <string.h>

#include "lib/meaning/uapi/tables_internal.h"

static int compare(const void *name, const void *signature)
{
	return strcmp(name, ((const struct call_signature *)signature)->name);
}

/* Some machines have an order of their own, and mmap of s390 takes the address of its arguments. */
static bool is_own(const char *machine, const char *call)
{
	return (!strcmp(call, "clone") && strcmp(machine, "x86_64") != 0) ||
	       (!strcmp(call, "mmap") && !strncmp(machine, "s390", 4));
}

/* On 32-bit machines these take two registers. */
static bool has_wide(const char *arguments)
{
	return strstr(arguments, "loff_t ") || strstr(arguments, "u64 ");
}

static bool put(struct call_argument *into, const char *text, size_t len)
{
	const char *name = memrchr(text, *text == '*' ? '*' : ' ', len);
	size_t type_len, name_len;

	if (!name)
		return false;
	name++;
	type_len = *text == '*' ? 0 : (size_t)(name - 1 - text);
	name_len = len - (size_t)(name - text);
	if (type_len >= sizeof(into->type) || name_len >= sizeof(into->name))
		return false;
	*into = (struct call_argument){ .pointer = *text == '*' };
	memcpy(into->type, text, type_len);
	memcpy(into->name, name, name_len);
	return true;
}

int call_arguments(const char *machine, bool wide, const char *call, struct call_argument ret[CALL_ARGUMENTS])
{
	const struct call_signature *found =
		bsearch(call, call_signatures, nr_call_signatures, sizeof(*call_signatures), compare);
	int nr = 0;

	if (!found || is_own(machine, call) || (!wide && has_wide(found->arguments)))
		return -1;
	for (const char *at = found->arguments; *at && nr < CALL_ARGUMENTS; nr++) {
		size_t len = strcspn(at, ",");

		if (!put(&ret[nr], at, len))
			return -1;
		at += len + (at[len] == ',');
	}
	return nr;
}
