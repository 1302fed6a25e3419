// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/options.h"

#include <stdlib.h>

bool record_list_add(struct record_list *list, const char *item)
{
	const char **grown = reallocarray(list->items, list->nr + 1, sizeof(*grown));

	if (!grown)
		return false;
	grown[list->nr++] = item;
	list->items = grown;
	return true;
}

struct record_buffer *record_options_add_buffer(struct record_options *options, const char *instance)
{
	struct record_buffer *grown = reallocarray(options->buffers, options->nr_buffers + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	options->buffers = grown;
	grown += options->nr_buffers++;
	*grown = (struct record_buffer){ .instance = instance };
	return grown;
}

struct record_event *record_buffer_add_event(struct record_buffer *buffer, const char *pattern)
{
	struct record_event *grown = reallocarray(buffer->events, buffer->nr_events + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	buffer->events = grown;
	grown += buffer->nr_events++;
	*grown = (struct record_event){ .pattern = pattern };
	return grown;
}

bool record_options_add_pid(struct record_options *options, pid_t pid)
{
	pid_t *grown = reallocarray(options->pids, options->nr_pids + 1, sizeof(*grown));

	if (!grown)
		return false;
	grown[options->nr_pids++] = pid;
	options->pids = grown;
	return true;
}

static void buffer_release(struct record_buffer *buffer)
{
	for (size_t i = 0; i < buffer->nr_events; i++)
		free(buffer->events[i].triggers.items);
	free(buffer->events);
	free(buffer->functions.items);
	free(buffer->notrace.items);
	free(buffer->graph.items);
	free(buffer->options.items);
}

void record_options_release(struct record_options *options)
{
	for (size_t i = 0; i < options->nr_buffers; i++)
		buffer_release(&options->buffers[i]);
	free(options->buffers);
	free(options->pids);
	*options = (struct record_options){ .nr_buffers = 0 };
}
