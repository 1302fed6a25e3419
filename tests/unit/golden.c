// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/golden.h"

#include <string.h>

#include "lib/pages/trace/trace.h"

bool golden_open(struct golden *golden, const char *name)
{
	const struct events_options options = { .until = UINT64_MAX };
	char path[256];

	memset(golden, 0, sizeof(*golden));
	snprintf(path, sizeof(path), "tests/fixtures/golden/%s.txt", name);
	golden->text = fopen(path, "re");
	snprintf(path, sizeof(path), "tests/fixtures/golden/%s.dat", name);
	if (golden->text && !trace_open(path, &golden->trace, NULL) &&
	    !context_new(golden->trace, 0, &golden->context, NULL) &&
	    !events_open(golden->context, &options, &golden->events, NULL))
		return true;
	golden_close(golden);
	return false;
}

void golden_close(struct golden *golden)
{
	events_free(golden->events);
	context_free(golden->context);
	if (golden->trace)
		trace_free(golden->trace);
	if (golden->text)
		fclose(golden->text);
}

const char *golden_line(struct golden *golden, const char *word)
{
	while (fgets(golden->line, sizeof(golden->line), golden->text)) {
		golden->line[strcspn(golden->line, "\n")] = '\0';
		if (strstr(golden->line, word))
			return golden->line;
	}
	return NULL;
}
