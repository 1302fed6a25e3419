// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/analyse_by.h"

#include <stdio.h>
#include <string.h>

#include "lib/answers/frame/slowest.h"

static const struct option_row slowest_rows[] = {
	{ "slowest", 0, "N", 0, "Show the N longest cases one by one, too: whose each was, when, and its cause", 1,
	  OPTION_RANGE(struct row_options, slowest, 1, SLOWEST_MAX) },
	{ "longer", 0, "TIME", 0, "Show the cases longer than TIME in the same way: 500us, 10ms", 1,
	  OPTION_TIME(struct row_options, longer) },
	{ 0 },
};

static error_t parse_slowest(int key, char *arg, struct argp_state *state)
{
	struct row_options *rows = state->input;

	(void)arg;
	if (key != ARGP_KEY_SUCCESS)
		return ARGP_ERR_UNKNOWN;
	if (rows->longer && !rows->slowest)
		rows->slowest = SLOWEST_MAX;
	return 0;
}

const struct options analyse_slowest_options = { .rows = slowest_rows, .parser = parse_slowest };

unsigned analyse_by(const char *const *names, const char *name, struct argp_state *state)
{
	char all[256] = "";
	size_t len = 0;

	for (unsigned i = 0; names[i]; i++) {
		const char *between = !i ? "" : !names[i + 1] ? " and " : ", ";

		if (!strcmp(names[i], name))
			return i;
		if (len < sizeof(all))
			len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", between, names[i]);
	}
	argp_error(state, "--by: unknown value '%s'; the values are %s%s", name, all,
		   !strcmp(name, "service") ? "; a service of systemd is a unit" : "");
	return 0;
}

const struct options_child analyse_by_children[] = {
	{ &analyse_options, offsetof(struct analyse_by, analyse), 0, NULL },
	{ &analyse_slowest_options, offsetof(struct analyse_by, chosen), 1, NULL },
	{ 0 },
};

error_t analyse_by_parse(int key, char *arg, struct argp_state *state)
{
	struct analyse_by *arguments = state->input;

	if (key != OPT_ANALYSE_BY)
		return ARGP_ERR_UNKNOWN;
	arguments->chosen.by = analyse_by(arguments->ops->by, arg, state);
	return 0;
}

int analyse_by_run(const struct command *command, const struct analysis_ops *ops, int argc, char **argv)
{
	struct analyse_by arguments = { .analyse = ANALYSE_INIT, .ops = ops };

	command_parse(command, argc, argv, 0, &arguments);
	return analyse_run(&arguments.analyse, ops, &arguments.chosen);
}
