// SPDX-License-Identifier: GPL-2.0-only
/* What `weft help NAME` explains besides commands: topics, and the guides of guides.h. */
#include <string.h>

#include "cmd/command.h"
#include "cmd/terminal/guides.h"
#include "lib/ground/base/cleanup.h"

/* Manual pages of section 7 that are no command's. */
static const struct topic {
	const char *name;
	const char *about;
} topics[] = {
	{ "tutorial", "questions and their answers, step by step" },
	{ "recipes", "a command line for each of many questions" },
	{ "setup", "what record, start, set and stream can be told to trace" },
	{ "tracefs", "each file of tracefs, and the command for it" },
	{ "crash", "what a kernel that died had traced" },
	{ "fleet", "many machines" },
	{ "exactness", "what is exact, and what is not known" },
};

bool help_topic(size_t index, const char **ret_name, const char **ret_about)
{
	if (index >= array_size(topics))
		return false;
	*ret_name = topics[index].name;
	*ret_about = topics[index].about;
	return true;
}

bool topic_knows(const char *name)
{
	for (size_t i = 0; i < array_size(topics); i++)
		if (!strcmp(topics[i].name, name))
			return true;
	return false;
}

bool help_knows(const char *name)
{
	struct guide guide;

	return topic_knows(name) || !strcmp(name, "guides") || guides_find(name, &guide);
}
