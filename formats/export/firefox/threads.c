// SPDX-License-Identifier: LGPL-2.1-or-later
/* The threads of a profile and the names in it. */
#include "formats/export/firefox/firefox_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/names/symbols.h"

uint32_t firefox_label(struct firefox *firefox, const char *text, size_t len)
{
	bool fresh;
	uint32_t number = labels_add(&firefox->labels, text, len, &fresh);

	if (number != LABEL_NONE)
		return number;
	export_no_memory(&firefox->export);
	return 0;
}

static uint32_t add_thread(struct firefox_buffer *buffer, enum thread_kind kind, int32_t pid, uint16_t cpu)
{
	struct firefox *firefox = buffer->firefox;
	struct firefox_thread *thread = vec_push(firefox->threads, firefox->nr_threads);
	const char *instance = buffer->context->instance;
	struct task_name name = context_comm(buffer->context, pid, COMMS_LAST);
	int32_t tgid = kind == THREAD_TASK ? who_process(buffer->context, pid, UINT64_MAX, NULL) : 0;
	char text[512];
	int len;

	if (!thread) {
		export_no_memory(&firefox->export);
		return 0;
	}
	if (kind == THREAD_TASK)
		len = snprintf(text, sizeof(text), "%.*s-%d", (int)(name.len < 200 ? name.len : 200), name.text, pid);
	else
		len = snprintf(text, sizeof(text), "CPU %u %s", cpu, kind == THREAD_IDLE ? "idle" : "interrupts");
	if (*instance && !own_buffer(instance))
		len += snprintf(text + len, sizeof(text) - (size_t)len, " (%.200s)", instance);
	*thread = (struct firefox_thread){ .name = firefox_label(firefox, text, (size_t)len),
					   .pid = kind == THREAD_TASK ? pid : 0,
					   .tgid = kind != THREAD_TASK ? 0 :
						   tgid                ? tgid :
									 pid,
					   .first = firefox->last,
					   .last = firefox->last };
	return (uint32_t)(firefox->nr_threads - 1);
}

uint32_t firefox_thread_of(struct firefox_buffer *buffer, enum thread_kind kind, int32_t pid, uint16_t cpu)
{
	uint64_t key = (uint64_t)kind << 32 | (kind == THREAD_TASK ? (uint32_t)pid : cpu);
	uint32_t *place = u64_map_get(&buffer->of_tasks->threads, key);

	if (!place) {
		export_no_memory(&buffer->firefox->export);
		return 0;
	}
	if (!*place)
		*place = add_thread(buffer->of_tasks, kind, pid, cpu) + 1;
	return *place - 1;
}

uint32_t firefox_task_thread(struct firefox_buffer *buffer, int32_t pid, uint16_t cpu)
{
	return firefox_thread_of(buffer, pid ? THREAD_TASK : THREAD_IDLE, pid, cpu);
}

uint32_t firefox_function_of(struct firefox_buffer *buffer, uint64_t address)
{
	uint32_t *number = u64_map_get(&buffer->functions, address);
	struct symbol symbol;
	char text[STACK_NAME];

	if (!number) {
		export_no_memory(&buffer->firefox->export);
		return 0;
	}
	if (*number)
		return *number - 1;
	stack_name(buffer->context->symbols, address, text, &symbol);
	*number = firefox_label(buffer->firefox, symbol.name, symbol.name_len) + 1;
	return *number - 1;
}

uint32_t firefox_root_of(struct firefox *firefox, enum firefox_weight weight, uint32_t thread)
{
	return firefox->nr_threads ? timed_root(&firefox->samples[weight], thread, firefox->threads[thread].name) :
				     TIMED_NO_NODE;
}

uint32_t firefox_task_root(struct firefox_buffer *buffer, enum firefox_weight weight, int32_t pid)
{
	return firefox_root_of(buffer->firefox, weight, firefox_task_thread(buffer, pid, 0));
}

void firefox_task_since(struct firefox_buffer *buffer, int32_t pid, uint64_t ts)
{
	struct firefox *firefox = buffer->firefox;
	uint32_t index = firefox_task_thread(buffer, pid, 0);

	if (firefox->nr_threads && ts < firefox->threads[index].first)
		firefox->threads[index].first = ts;
}
