// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"

int cpus_next(const struct cpus *cpus, int cpu)
{
	for (unsigned at = cpu < 0 ? 0 : (unsigned)cpu; at < CPUS_MAX; at = (at / 64 + 1) * 64) {
		uint64_t rest = cpus->bits[at / 64] >> at % 64;

		if (rest)
			return (int)at + __builtin_ctzll(rest);
	}
	return -1;
}

uint32_t cpus_count(const struct cpus *cpus)
{
	uint32_t count = 0;

	for (size_t i = 0; i < array_size(cpus->bits); i++)
		count += (uint32_t)__builtin_popcountll(cpus->bits[i]);
	return count;
}

void cpus_keep(struct cpus *cpus, const struct cpus *others)
{
	for (size_t i = 0; i < array_size(cpus->bits); i++)
		cpus->bits[i] &= others->bits[i];
}

static int parse_number(struct text_word word, uint32_t *ret)
{
	uint32_t value = 0;

	if (!word.len)
		return -EINVAL;
	for (size_t i = 0; i < word.len; i++) {
		if (!isdigit((unsigned char)word.at[i]))
			return -EINVAL;
		value = value * 10 + (uint32_t)(word.at[i] - '0');
		if (value >= CPUS_MAX)
			return -ERANGE;
	}
	*ret = value;
	return 0;
}

static int parse_range(struct text_word word, struct cpus *cpus)
{
	const char *dash = memchr(word.at, '-', word.len);
	uint32_t first, last;
	int err;

	if (!dash) {
		err = parse_number(word, &first);
		last = first;
	} else {
		size_t len = (size_t)(dash - word.at);

		err = parse_number((struct text_word){ word.at, len }, &first);
		if (!err)
			err = parse_number((struct text_word){ dash + 1, word.len - len - 1 }, &last);
	}
	if (err)
		return err;
	if (first > last)
		return -EINVAL;
	for (uint32_t cpu = first; cpu <= last; cpu++)
		cpus_add(cpus, cpu);
	return 0;
}

static bool is_mask(const char *text)
{
	size_t group = 0;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return true;
	if (strpbrk(text, "abcdefABCDEF"))
		return true;
	/* A CPU list has no numbers of eight digits, so "00000000,0000000f" can only be a mask. */
	for (; *text; text++) {
		if (*text == ',')
			group = 0;
		else if (!isdigit((unsigned char)*text))
			return false;
		else
			group++;
	}
	return group == 8;
}

/* From the last digit to the first; each comma group stands for 32 CPUs, however many digits it has. */
static int parse_mask(const char *text, struct cpus *cpus)
{
	uint32_t base = 0, digit = 0;
	bool grouped = strchr(text, ',') != NULL;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	if (!*text)
		return -EINVAL;
	for (size_t i = strlen(text); i-- > 0;) {
		unsigned char c = (unsigned char)text[i];
		unsigned value;

		if (c == ',') {
			if (!digit)
				return -EINVAL;
			base += 32;
			digit = 0;
			continue;
		}
		if (!isxdigit(c) || (grouped && digit == 8))
			return -EINVAL;
		value = (unsigned)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
		for (uint32_t bit = 0; bit < 4; bit++)
			if (value >> bit & 1 && !cpus_add(cpus, base + digit * 4 + bit))
				return -ERANGE;
		digit++;
	}
	return 0;
}

static int parse_list(const char *text, struct cpus *cpus)
{
	struct text_word word;
	int err;

	while (text_next_word(&text, ", \t\n", &word)) {
		err = parse_range(word, cpus);
		if (err)
			return err;
	}
	return 0;
}

int cpus_parse(const char *text, struct cpus *ret, struct fail *fail)
{
	struct cpus cpus = { 0 };
	int err = 0;

	if (!strcmp(text, "all") || !strcmp(text, "-1"))
		memset(&cpus, 0xff, sizeof(cpus));
	else if (is_mask(text))
		err = parse_mask(text, &cpus);
	else
		err = parse_list(text, &cpus);
	if (err == -ERANGE)
		return fail_set(fail, err, "'%s' has a CPU number above %d", text, CPUS_MAX - 1);
	if (err)
		return fail_set(fail, err, "'%s' is neither a list of CPUs such as 0-3,7 nor a hex mask", text);
	if (!cpus_count(&cpus))
		return fail_set(fail, -EINVAL, "'%s' names no CPU", text);
	*ret = cpus;
	return 0;
}

bool cpus_list(const struct cpus *cpus, struct buf *buf)
{
	bool more = false;

	for (int cpu = cpus_next(cpus, 0); cpu >= 0; more = true) {
		int last = cpu;

		while (cpus_has(cpus, (uint32_t)last + 1))
			last++;
		if (!buf_addf(buf, last > cpu ? "%s%d-%d" : "%s%d", more ? "," : "", cpu, last))
			return false;
		cpu = cpus_next(cpus, last + 1);
	}
	return true;
}

bool cpus_mask(const struct cpus *cpus, struct buf *buf)
{
	bool more = false;

	for (size_t i = array_size(cpus->bits) * 2; i-- > 0;) {
		uint32_t group = (uint32_t)(cpus->bits[i / 2] >> i % 2 * 32);

		if (!group && !more && i)
			continue;
		if (!buf_addf(buf, more ? ",%08x" : "%x", group))
			return false;
		more = true;
	}
	return true;
}
