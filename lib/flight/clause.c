// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/flight/clause_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/fail.h"

int clause_wrong(const struct clause *clause, const char *at, const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return fail_set(clause->fail, -EINVAL, "%s\n  %s\n  %*s^", message, clause->text, (int)(at - clause->text), "");
}

void clause_skip(struct clause *clause)
{
	while (text_is_blank(*clause->at))
		clause->at++;
}

bool clause_word(struct clause *clause, const char *ends, struct text_word *ret)
{
	clause_skip(clause);
	ret->at = clause->at;
	while (*clause->at && !text_is_blank(*clause->at) && !strchr(ends, *clause->at))
		clause->at++;
	ret->len = (size_t)(clause->at - ret->at);
	return ret->len;
}

bool clause_letter(struct clause *clause, char letter)
{
	if (*clause->at != letter)
		return false;
	clause->at++;
	return true;
}

int clause_end(struct clause *clause)
{
	clause_skip(clause);
	return *clause->at ? clause_wrong(clause, clause->at, "nothing more is expected here") : 0;
}

int clause_copy(const struct clause *clause, struct text_word word, char **ret)
{
	*ret = strndup(word.at, word.len);
	return *ret ? 0 : fail_memory(clause->fail);
}

int clause_number(struct clause *clause, struct text_word word, uint64_t max, uint64_t *ret)
{
	cleanup_free char *text = NULL;
	struct fail why;
	int err = clause_copy(clause, word, &text);

	if (!err && text_parse_range(text, 0, max, ret, &why))
		return clause_wrong(clause, word.at, "%s", why.text);
	return err;
}

int clause_time(struct clause *clause, struct text_word word, uint64_t min, uint64_t max, uint64_t *ret)
{
	char least[TEXT_HUMAN], most[TEXT_HUMAN];
	cleanup_free char *text = NULL;
	struct fail why;
	int err = clause_copy(clause, word, &text);

	if (err)
		return err;
	if (text_parse_time(text, ret, &why))
		return clause_wrong(clause, word.at, "%s", why.text);
	if (*ret < min || *ret > max)
		return clause_wrong(clause, word.at, "this time is from %s to %s", text_time(least, min),
				    text_time(most, max));
	return 0;
}
