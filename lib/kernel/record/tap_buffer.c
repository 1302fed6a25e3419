// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/tap_buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/buffer/cpu_pipe.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/buffer/ring_watch.h"
#include "lib/kernel/record/target.h"
#include "lib/kernel/tracefs/event_select.h"

enum { LOOK_NS = 100 * 1000 * 1000 };

static void put_cpu(struct tap_buffer *buffer, uint32_t cpu)
{
	const struct ring_buffer_stats *start = &buffer->target->start[cpu];

	buffer->pipes[buffer->nr_cpus] = (struct cpu_pipe)CPU_PIPE_INIT;
	buffer->pipes[buffer->nr_cpus].absent = true;
	buffer->watches[buffer->nr_cpus] = (struct ring_watch){ .fd = -1, .base = *start, .last = *start };
	buffer->cpus[buffer->nr_cpus++] = cpu;
}

static int open_cpu(struct tap_buffer *buffer, size_t cpu_index, struct fail *fail)
{
	const struct target *target = buffer->target;
	uint32_t cpu = buffer->cpus[cpu_index];
	int err = cpu_pipe_open(target->instance, cpu, target->shape.size, &buffer->pipes[cpu_index], fail);

	if (!err)
		buffer->watches[cpu_index] = ring_watch_open(target->instance, cpu, &target->start[cpu]);
	return err;
}

int tap_buffer_open(struct tap_buffer *buffer, struct target *target, struct fail *fail)
{
	*buffer = (struct tap_buffer){
		.target = target,
		.cpus = calloc(target->nr_cpus, sizeof(*buffer->cpus)),
		.pipes = calloc(target->nr_cpus, sizeof(*buffer->pipes)),
		.watches = calloc(target->nr_cpus, sizeof(*buffer->watches)),
	};
	if (!buffer->cpus || !buffer->pipes || !buffer->watches)
		return fail_memory(fail);
	for (uint32_t cpu = 0; cpu < target->nr_cpus; cpu++) {
		const bool there = cpus_has(&target->cpus, cpu);
		char file[64];
		int err;

		snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
		if (there && !instance_has(target->instance, file))
			continue;
		put_cpu(buffer, cpu);
		err = there ? open_cpu(buffer, buffer->nr_cpus - 1, fail) : 0;
		if (err)
			return err;
	}
	return 0;
}

void tap_buffer_close(struct tap_buffer *buffer)
{
	for (size_t i = 0; i < buffer->nr_cpus; i++) {
		cpu_pipe_close(&buffer->pipes[i]);
		ring_watch_close(&buffer->watches[i]);
	}
	buffer->nr_cpus = 0;
}

void tap_buffer_release(struct tap_buffer *buffer)
{
	tap_buffer_close(buffer);
	free(buffer->cpus);
	free(buffer->pipes);
	free(buffer->watches);
}

const char *tap_buffer_name(const struct tap_buffer *buffer)
{
	return buffer->target->wanted->name;
}

struct page_shape tap_buffer_shape(const struct tap_buffer *buffer)
{
	return buffer->target->shape;
}

int tap_buffer_read(void *arg, size_t cpu_index, void *into, struct fail *fail)
{
	struct tap_buffer *buffer = arg;
	struct cpu_pipe *pipe = &buffer->pipes[cpu_index];
	int err = 0;

	if (!cpu_index && now_ns() >= buffer->look_ns) {
		target_add_cpus(buffer->target);
		buffer->look_ns = now_ns() + LOOK_NS;
	}
	if (pipe->fd < 0 && !cpus_has(&buffer->target->cpus, buffer->cpus[cpu_index]))
		return 0;
	if (pipe->fd < 0)
		err = open_cpu(buffer, cpu_index, fail);
	return err ? err : cpu_pipe_read(pipe, into, fail);
}

int tap_buffer_overrun(void *arg, size_t cpu_index, uint64_t taken, uint64_t *ret, struct fail *fail)
{
	struct tap_buffer *buffer = arg;
	struct ring_watch *watch = &buffer->watches[cpu_index];

	(void)fail;
	ring_watch_look(watch, taken);
	*ret = ring_watch_overrun(watch, &watch->last);
	return 0;
}

void tap_buffer_look(struct tap_buffer *buffer, size_t cpu_index, uint64_t taken)
{
	if (!cpu_index)
		target_add_cpus(buffer->target);
	ring_watch_look(&buffer->watches[cpu_index], taken);
}

bool tap_buffer_keeps_oldest(const struct tap_buffer *buffer)
{
	char word[16];

	return !instance_read_word(buffer->target->instance, "options/overwrite", word, sizeof(word), NULL) &&
	       !strcmp(word, "0");
}

uint64_t tap_buffer_dropped(const struct tap_buffer *buffer, size_t cpu_index)
{
	const struct ring_watch *watch = &buffer->watches[cpu_index];

	return ring_watch_dropped(watch, &watch->last);
}

uint64_t tap_buffer_events(const struct tap_buffer *buffer, size_t cpu_index)
{
	const struct ring_watch *watch = &buffer->watches[cpu_index];

	return watch->taken + watch->last.entries;
}

uint64_t tap_buffer_lost(const struct tap_buffer *buffer, size_t cpu_index)
{
	const struct ring_watch *watch = &buffer->watches[cpu_index];

	return ring_watch_lost(watch, &watch->last);
}

unsigned tap_buffer_cleared(const struct tap_buffer *buffer, size_t cpu_index)
{
	return buffer->watches[cpu_index].cleared;
}

bool tap_buffer_clears_itself(const struct tap_buffer *buffer)
{
	return buffer->target->keeps_worst;
}

/* Whether events/SYSTEM/NAME/id has that id. False if the event no longer exists. */
static bool has_id(const struct instance *instance, const char *system, const char *name, uint16_t id)
{
	cleanup_buf struct buf file = BUF_INIT;
	char word[16];

	return buf_addf(&file, "events/%s/%s/id", system, name) &&
	       !instance_read_word(instance, buf_str(&file), word, sizeof(word), NULL) && number_of(word, 0) == id;
}

int tap_buffer_format(const struct tap_buffer *buffer, uint16_t id, struct buf *system, struct buf *text,
		      struct fail *fail)
{
	const struct instance *instance = buffer->target->instance;
	cleanup_buf struct buf enabled = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;
	int err = instance_read(instance, "set_event", &enabled, fail);

	at = buf_str(&enabled);
	left = enabled.len;
	while (!err && text_next_line(&at, &left, &line)) {
		/* "SYSTEM:EVENT" */
		const char *colon = memchr(line.at, ':', line.len);
		cleanup_free char *name = NULL;

		if (!colon)
			continue;
		name = strndup(colon + 1, line.len - (size_t)(colon - line.at) - 1);
		buf_clear(system);
		if (!name || !buf_add(system, line.at, (size_t)(colon - line.at)))
			return fail_memory(fail);
		if (has_id(instance, buf_str(system), name, id))
			return event_format(instance, buf_str(system), name, text, NULL) ? 0 : 1;
	}
	return err;
}
