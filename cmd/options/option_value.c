// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/option_value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/command.h"
#include "cmd/terminal/config.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"

void option_add_word(struct option_words *words, const char *word, struct argp_state *state)
{
	if (words->len == OPTION_WORDS_MAX)
		argp_error(state, "more than %d values of one option", OPTION_WORDS_MAX);
	words->at[words->len++] = word;
}

void option_once(const char *what, const char **ret, const char *arg, struct argp_state *state)
{
	if (*ret)
		argp_error(state, "one %s at a time: '%s' and '%s'", what, *ret, arg);
	*ret = arg;
}

void option_taken(const char *option, int r, const struct fail *fail, struct argp_state *state)
{
	if (r == -ENOMEM)
		option_no_memory(state);
	else if (r < 0)
		argp_error(state, "--%s: %s", option, fail->text);
}

uint64_t option_time(const char *option, const char *arg, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t value = 0;

	if (text_parse_time(arg, &value, &fail))
		argp_error(state, "%s--%s: %s", config_place(state), option, fail.text);
	if (!value)
		argp_error(state, "%s--%s: the time cannot be 0", config_place(state), option);
	return value;
}

int64_t option_signed(const char *option, const char *arg, struct argp_state *state)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(arg, &end, 10);
	if (errno || end == arg || *end)
		argp_error(state, "--%s: '%s' is not a whole number", option, arg);
	return value;
}

void option_no_memory(struct argp_state *state)
{
	if (!state->name)
		state->name = state->argv[0];
	argp_failure(state, EXIT_FAILED, 0, "out of memory");
}

void option_need(bool ok, struct argp_state *state)
{
	if (!ok)
		option_no_memory(state);
}
