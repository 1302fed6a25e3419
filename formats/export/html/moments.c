// SPDX-License-Identifier: LGPL-2.1-or-later
/* The events as moments in the bands of their CPUs, with their texts. */
#include "formats/export/html/html_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/kernel/ftrace.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"

/*
 * The event that will begin a slice of a folded band is held until the next one of its CPU is there: if both lie in the
 * same part of time, neither needs a text.
 */
struct html_cpu {
	uint32_t band; /* index + 1 */
	bool holds;
	struct slice slice;
	struct event event;
	uint8_t data[HTML_HELD];
};

/* Adds the words "COMM-PID" to the packed text. Returns the length of their text and of the blank after it. */
static size_t put_owner(struct html_buffer *buffer, const struct event *event)
{
	struct html *html = buffer->html;
	int32_t pid = event->pid;
	struct html_owner *owner = &buffer->owners[(uint32_t)pid % HTML_OWNERS];
	bool saved = task_known(buffer->context->tasks, pid), numbered = saved && html_numbers_words(html);
	size_t from = out_len(&html->text), len;
	struct task_name name;

	if (numbered && owner->text_len && owner->pid == pid) {
		out_mem(&html->text, owner->packed, owner->len);
		return owner->text_len;
	}
	name = context_comm(buffer->context, pid, event->ts);
	out_clear(&html->body);
	out_mem(&html->body, name.text, name.len < HTML_NAME_MAX ? name.len : HTML_NAME_MAX);
	out_char(&html->body, '-');
	out_s64(&html->body, pid);
	html_pack_body(html, SIZE_MAX, &html->text);
	len = out_len(&html->text) - from;
	owner->text_len = 0;
	if (numbered && html_numbers_words(html) && len <= HTML_OWNER && !html->text.failed) {
		owner->pid = pid;
		owner->text_len = (uint16_t)(out_len(&html->body) + 1);
		owner->len = (uint8_t)len;
		memcpy(owner->packed, html->text.start + from, len);
	}
	return out_len(&html->body) + 1;
}

/* Packs "COMM-PID TEXT" into html::text; the slice has the rest of the kernel's line in other places. */
static void pack_event(struct html_buffer *buffer, const struct event *event)
{
	struct html *html = buffer->html;
	struct ftrace *ftrace = (struct ftrace *)buffer->sink;
	const struct binding *binding = ftrace_bind(ftrace, event->type);
	struct out *body = &html->body;
	size_t before;

	out_clear(&html->text);
	before = put_owner(buffer, event);
	out_clear(body);
	if (!binding->renderer)
		ftrace_body(ftrace, event, body);
	else if (!binding->renderer->settle)
		ftrace_body(ftrace, &(struct sink_event){ .event = *event }.event, body);
	if (out_len(body) && body->at[-1] == '\n')
		body->at--;
	html_pack_body(html, before < HTML_TEXT_MAX ? HTML_TEXT_MAX - before : 0, &html->text);
	if (html->text.failed || body->failed)
		export_no_memory(&html->export);
}

/* NULL without memory. */
static struct html_cpu *cpu_of(struct html_buffer *buffer, uint32_t number)
{
	struct bands *bands = &buffer->html->bands;
	struct bands_item *item;

	if (number < buffer->nr_cpus && buffer->cpus[number].band)
		return &buffer->cpus[number];
	item = bands_item(bands, BAND_EVENTS, buffer->index, number, 0);
	while (item && buffer->nr_cpus <= number)
		if (!vec_push(buffer->cpus, buffer->nr_cpus)) {
			bands->failed = true;
			return NULL;
		}
	if (!item)
		return NULL;
	buffer->cpus[number].band = (uint32_t)(item - bands->items) + 1;
	return &buffer->cpus[number];
}

static void put(struct html_buffer *buffer, struct bands_item *item, const struct event *event, struct slice *slice,
		bool with_text)
{
	struct html *html = buffer->html;

	if (with_text) {
		pack_event(buffer, event);
		slice->text = html->text.start;
		slice->text_len = out_len(&html->text);
	}
	bands_put(&html->bands, item, slice);
}

static bool hold(struct html_cpu *cpu, const struct event *event, const struct slice *slice)
{
	size_t size = (size_t)event->len + event->more;

	if (size > sizeof(cpu->data))
		return false;
	memcpy(cpu->data, event->data, size);
	cpu->event = *event;
	cpu->event.data = cpu->data;
	cpu->slice = *slice;
	cpu->holds = true;
	return true;
}

/* `next`: when the next event is; UINT64_MAX: there is none. */
static void put_held(struct html_buffer *buffer, struct html_cpu *cpu, struct bands_item *item, uint64_t next)
{
	const struct band *band = &item->band;
	uint64_t start = cpu->slice.start;

	cpu->holds = false;
	put(buffer, item, &cpu->event, &cpu->slice, !band_merges(band, start) && !band_joins(band, start, next));
}

void html_add_moment(struct html_buffer *buffer, const struct event *event, uint64_t start, uint32_t name)
{
	struct slice slice = { .start = start, .name = name };
	struct html_cpu *cpu = cpu_of(buffer, event->cpu);
	struct bands_item *item;
	bool merges;

	if (!cpu)
		return;
	item = &buffer->html->bands.items[cpu->band - 1];
	if (cpu->holds)
		put_held(buffer, cpu, item, start);
	merges = band_merges(&item->band, start);
	if (merges || !item->band.fold || !hold(cpu, event, &slice))
		put(buffer, item, event, &slice, !merges);
}

void html_end_moments(struct html *html)
{
	for (size_t i = 0; i < html->nr_buffers; i++) {
		struct html_buffer *buffer = &html->buffers[i];

		for (size_t at = 0; at < buffer->nr_cpus; at++) {
			struct html_cpu *cpu = &buffer->cpus[at];

			if (cpu->holds)
				put_held(buffer, cpu, &html->bands.items[cpu->band - 1], UINT64_MAX);
		}
	}
}

void html_free_moments(struct html_buffer *buffer)
{
	free(buffer->cpus);
}
