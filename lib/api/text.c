// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_text: what the file knows about the traced kernel, and a text of an event. */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/event_text.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/plugin/plugins.h"

static bool is_of(const weft_reader *reader, const struct weft_event *event)
{
	const weft_reader *owner = event->type->reader;

	return reader->types && event->buffer < reader->reader.nr_buffers && (!owner || owner == reader);
}

/* Makes what prints the texts of a buffer, and room for a text. */
static int texts_of(weft_reader *reader, size_t buffer, struct event_text **ret, struct fail *fail)
{
	size_t nr = reader->reader.nr_buffers;
	int r = 0;

	if (!reader->texts)
		reader->texts = calloc(nr, sizeof(struct event_text *));
	if (!reader->texts || (!reader->text.start && !out_init(&reader->text, 1 << 12)))
		return fail_memory(fail);
	if (!reader->texts[buffer])
		r = event_text_new(reader->reader.buffers[buffer].context, &reader->texts[buffer], fail);
	*ret = reader->texts[buffer];
	return r;
}

int api_texts_prepare(weft_reader *reader, struct fail *fail)
{
	struct event_text *text;
	int r = 0;

	for (size_t i = 0; !r && i < reader->reader.nr_buffers; i++)
		r = texts_of(reader, i, &text, fail);
	return r;
}

static int copy_text(const struct out *out, char *buffer, size_t size)
{
	size_t len = out_len(out), part = len < size ? len : size ? size - 1 : 0;

	if (out->failed)
		return -ENOMEM;
	if (size) {
		memcpy(buffer, out->start, part);
		buffer[part] = '\0';
	}
	return len > INT32_MAX ? -EOVERFLOW : (int)len;
}

int weft_event_text(weft_reader *reader, const struct weft_event *event, enum weft_text kind, char *buffer, size_t size)
{
	static const enum event_text_kind kinds[] = { [WEFT_TEXT_BODY] = EVENT_TEXT_BODY,
						      [WEFT_TEXT_LINE] = EVENT_TEXT_LINE,
						      [WEFT_TEXT_JSON] = EVENT_TEXT_JSON };
	struct event_text *text = NULL;
	struct event inside;
	int r;

	if (!is_of(reader, event) || kind < WEFT_TEXT_BODY || kind > WEFT_TEXT_JSON)
		return -EINVAL;
	r = texts_of(reader, event->buffer, &text, NULL);
	if (r)
		return r;
	api_event_inside(event, &inside);
	out_clear(&reader->text);
	reader->text.failed = false;
	event_text_put(text, &inside, kinds[kind], &reader->text);
	if (event->type->handler && kind != WEFT_TEXT_JSON && (r = api_handler_text(reader, event, text, kind)) < 0)
		return r;
	return copy_text(&reader->text, buffer, size);
}

static const struct context *context_of(const weft_reader *reader, size_t buffer)
{
	return buffer < reader->reader.nr_buffers ? reader->reader.buffers[buffer].context : NULL;
}

int weft_event_comm(const weft_reader *reader, const struct weft_event *event, const char **ret, size_t *ret_len)
{
	struct task_name name = { .text = "" };

	if (!is_of(reader, event))
		return -EINVAL;
	if (event->kind != WEFT_LOST)
		name = context_comm(context_of(reader, event->buffer), event->pid, event->ts);
	*ret = name.text;
	*ret_len = name.len;
	return 0;
}

int weft_wall(const weft_reader *reader, size_t buffer, uint64_t ts, int64_t *ret_ns, uint64_t *ret_bound)
{
	const struct context *context = context_of(reader, buffer);

	if (!context)
		return -ERANGE;
	return wall_of(context->wall, ts, ret_ns, ret_bound) ? 0 : -ENODATA;
}

int weft_reader_task(const weft_reader *reader, size_t buffer, int32_t pid, struct weft_task_info *ret)
{
	const struct context *context = context_of(reader, buffer);
	struct task_name name;

	if (!context)
		return -ERANGE;
	name = context_comm(context, pid, COMMS_LAST);
	api_fill(ret,
		 &(struct weft_task_info){ .comm = name.text,
					   .comm_len = name.len,
					   .tgid = who_process(context, pid, UINT64_MAX, NULL),
					   .known = context_names(context, pid) },
		 sizeof(*ret));
	return 0;
}

void api_symbol_fill(const struct symbol *symbol, struct weft_symbol *ret)
{
	api_fill(ret,
		 &(struct weft_symbol){ .name = symbol->name,
					.name_len = symbol->name_len,
					.module = symbol->module,
					.module_len = symbol->module ? symbol->module_len : 0,
					.address = symbol->address,
					.bytes = symbol->size },
		 sizeof(*ret));
}

int weft_symbol_find(weft_reader *reader, size_t buffer, uint64_t address, struct weft_symbol *ret)
{
	const struct context *context = context_of(reader, buffer);
	struct symbol symbol;

	if (!context)
		return -ERANGE;
	if (!symbols_find(context->symbols, address, &symbol))
		return 0;
	api_symbol_fill(&symbol, ret);
	return 1;
}

/* Runs the plugin for an event, unless it was the last one. */
static int decode(weft_reader *reader, const struct weft_event *event, struct fail *fail)
{
	struct plugins *plugins = event->type->event ? event->type->event->context->plugins : NULL;
	const struct format *format = plugins ? event->type->event->format : NULL;
	const struct decoder *decoder = format ? plugins_decoder(plugins, format) : NULL;
	const char *why = plugins ? plugins_failure(plugins) : NULL;

	if (reader->decoded == event->data && event->data)
		return 0;
	reader->decoded = NULL;
	if (why)
		return fail_set(fail, -ENOEXEC, "%s", why);
	if (!decoded_row_fill(&reader->row, decoder, event->data, event->len))
		return fail_memory(fail);
	reader->decoded = event->data;
	return 0;
}

static void fill_decoded(const struct decoded *decoded, struct weft_decoded *ret)
{
	static const enum weft_decoded_kind kinds[] = { [DECODED_TEXT] = WEFT_DECODED_TEXT,
							[DECODED_INTEGER] = WEFT_DECODED_INTEGER,
							[DECODED_HEX] = WEFT_DECODED_HEX };
	bool is_text = decoded->kind == DECODED_TEXT;

	api_fill(ret,
		 &(struct weft_decoded){ .name = decoded->name,
					 .kind = kinds[decoded->kind],
					 .value = is_text ? 0 : (int64_t)decoded->value,
					 .text = is_text ? decoded->text : "",
					 .text_len = is_text ? decoded->len : 0 },
		 sizeof(*ret));
}

int weft_event_decoded(weft_reader *reader, const struct weft_event *event, size_t index, struct weft_decoded *ret,
		       struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = is_of(reader, event) ? decode(reader, event, &fail) :
				       fail_set(&fail, -EINVAL, "the event is of another reader");

	if (r)
		return api_result(error, r, &fail);
	if (index >= reader->row.nr)
		return 0;
	fill_decoded(&reader->row.at[index], ret);
	return 1;
}
