// SPDX-License-Identifier: GPL-2.0-only
/* Takes the place of lib/analysis/analyses.c and cmd/commands.c. */
#include "tests/examples/analyses.h"

#include "cmd/command.h"
#include "lib/analysis/analysis.h"

#include <string.h>

#define COMMAND_ENTRY(name) &name##_command,
#define ANALYSIS_ENTRY(name) &name##_analysis,

const struct command *const commands[] = { COMMANDS(COMMAND_ENTRY) NULL };

static const struct analysis_ops *const analyses[] = { ANALYSES(ANALYSIS_ENTRY) };

const struct analysis_ops *analysis_at(size_t index)
{
	return index < array_size(analyses) ? analyses[index] : NULL;
}

const struct analysis_ops *analysis_named(const char *name)
{
	for (size_t i = 0; i < array_size(analyses); i++)
		if (!strcmp(analyses[i]->name, name))
			return analyses[i];
	return NULL;
}
