// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/uapi/arguments.h"

#include "lib/base/cleanup.h"
#include "lib/base/out.h"
#include "lib/uapi/argument_sets_internal.h"

#include <string.h>

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; len && (at = strstr(at, word)); at += len)
		if (at > words && at[-1] == ' ' && at[len] == ' ')
			return true;
	return false;
}

static bool starts(const char *machine, const char *const *names)
{
	for (; *names; names++)
		if (!strncmp(machine, *names, strlen(*names)))
			return true;
	return false;
}

static const struct argument_set *set_of(const char *machine, const char *call, const char *name)
{
	static const char *const odd[] = { "mips", "alpha", "parisc", "sparc", NULL }, *const own_open[] = {
		"arm", "aarch64", "ppc", "m68k", NULL
	};

	if (!*machine || starts(machine, odd))
		return NULL;
	for (const struct argument_rule *rule = argument_rules; rule->set; rule++)
		if ((!*rule->calls || has_word(rule->calls, call)) && has_word(rule->arguments, name))
			return rule->generic && !starts(machine, own_open) ? rule->generic : rule->set;
	return NULL;
}

static const char *number_of(const struct argument_name *names, uint64_t value)
{
	for (; names->text; names++)
		if (names->value == value)
			return names->text;
	return NULL;
}

bool argument_known(const char *machine, const char *call, const char *name)
{
	return set_of(machine, call, name) != NULL;
}

bool argument_put(const char *machine, const char *call, const char *name, uint64_t value, struct out *out)
{
	const struct argument_set *set = set_of(machine, call, name);
	const char *number = NULL, *between = "";
	uint64_t left;

	/* Most arguments have 32 bits, whatever the upper half of the register contains. */
	value = (uint32_t)value;
	if (!set)
		return false;
	if (!set->numbers && !set->flags) {
		out_f(out, "%#llo", (unsigned long long)value);
		return true;
	}
	left = value & ~set->mask;
	number = set->numbers ? number_of(set->numbers, value & set->mask) : value ? NULL : number_of(set->flags, 0);
	if (number) {
		out_str(out, number);
		between = "|";
	} else if (!set->flags || (value & set->mask)) {
		return false;
	}
	for (const struct argument_name *flag = set->flags; flag && flag->text; flag++) {
		if (!flag->value || (left & flag->value) != flag->value)
			continue;
		out_f(out, "%s%s", between, flag->text);
		left &= ~flag->value;
		between = "|";
	}
	if (left)
		out_f(out, "%s0x%llx", between, (unsigned long long)left);
	else if (!*between)
		out_char(out, '0');
	return true;
}
