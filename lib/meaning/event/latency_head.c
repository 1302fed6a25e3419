// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/latency_head.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if the line begins with `start`; the text after it, up to the mark if there is one, is copied if it fits. */
static bool take_after(const char *line, size_t len, const char *start, const char *mark, char *ret, size_t size)
{
	size_t skip = strlen(start);
	const char *end;

	if (len < skip || memcmp(line, start, skip))
		return false;
	line += skip;
	len -= skip;
	end = mark ? memmem(line, len, mark, strlen(mark)) : line + len;
	if (end && (size_t)(end - line) < size) {
		memcpy(ret, line, (size_t)(end - line));
		ret[end - line] = '\0';
	}
	return true;
}

/* "# latency: 0 us, #4/4, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)" */
static void take_first(struct latency_head *head, const char *line, size_t len)
{
	char text[256];
	const char *cpu, *model;
	size_t model_len;

	if (len >= sizeof(text))
		return;
	memcpy(text, line, len);
	text[len] = '\0';
	cpu = strstr(text, ", CPU#");
	model = cpu ? strstr(cpu, "(M:") : NULL;
	if (!model)
		return;
	head->cpu_known = sscanf(cpu, ", CPU#%9u", &head->cpu) == 1;
	/* "PREEMPT(lazy)" on newer kernels */
	model_len = strcspn(model + 3, " ");
	if (model_len < sizeof(head->preempt_model)) {
		memcpy(head->preempt_model, model + 3, model_len);
		head->preempt_model[model_len] = '\0';
	}
}

/* The address of "NAME <ffffffff81000000>". */
static uint64_t address_of(const char *symbol)
{
	const char *open = strrchr(symbol, '<');

	return open ? strtoull(open + 1, NULL, 16) : 0;
}

void latency_head_take(struct latency_head *head, const char *line, size_t len)
{
	if (!len || *line != '#')
		return;
	if (take_after(line, len, "# latency: ", " us, ", head->latency, sizeof(head->latency))) {
		take_first(head, line, len);
		return;
	}
	if (take_after(line, len, "#    | task: ", NULL, head->task, sizeof(head->task)))
		return;
	if (take_after(line, len, "#  => started at: ", NULL, head->started, sizeof(head->started)))
		head->started_at = address_of(head->started);
	else if (take_after(line, len, "#  => ended at:   ", NULL, head->ended, sizeof(head->ended)))
		head->ended_at = address_of(head->ended);
}
