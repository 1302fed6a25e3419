// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/tally/tally_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/query/filter.h"
#include "lib/meaning/reader/reader.h"

enum {
	ROWS_DEFAULT = 2048,
	BEGUN_MAX = 1 << 17, /* at most so many first events wait for their second event */
	BEGUN_VALUES = 4,
};

/* The option func-no-repeats: one event stands for calls of a function by the same caller, each behind the other. */
static void see_repeats(struct tally *tally, const struct tally_buffer *buffer, const struct event *event)
{
	uint64_t times = place_u64(&buffer->times, event);

	/* The kernel's field is of 16 bits. */
	if (times && times <= UINT16_MAX && (!buffer->repeats.filter || filter_match(buffer->repeats.filter, event)))
		tally_count(tally, &buffer->repeats, NULL, 0, event, times);
}

/* Events with one name count only in the first buffer that has such an event. */
static bool owns(size_t *owner, const struct event *event)
{
	if (*owner == SIZE_MAX)
		*owner = event->buffer;
	return *owner == event->buffer;
}

static void see_lost(struct tally *tally, const struct event *event)
{
	if (!context_is_loss(tally->buffers[event->buffer].last.context, event->first))
		return;
	tally->losses++;
	if (tally->wanted.alarm)
		tally_pair_lost(tally);
	if (tally->program.stacks && event->buffer == tally->owner)
		tally_stack_lost(tally, event);
}

void tally_see(void *arg, const struct event *event)
{
	struct tally *tally = arg;
	const struct tally_buffer *buffer = &tally->buffers[event->buffer];
	bool last;

	if (!tally->any)
		tally->first_ts = event->ts;
	tally->any = true;
	tally->last_ts = event->ts;
	tally->rows.now++;
	if (event->kind == EVENT_LOST) {
		see_lost(tally, event);
		return;
	}
	if (tally->program.stacks && event->buffer == tally->owner)
		tally_stack_see(tally, buffer, event);
	last = event->id == buffer->last.id && owns(&tally->owner, event);
	if (last && tally->wanted.second)
		tally_pair_see_last(tally, &buffer->last, event);
	else if (last && (!buffer->last.filter || filter_match(buffer->last.filter, event)))
		tally_count(tally, &buffer->last, NULL, 0, event, 1);
	else if (event->id == buffer->repeats.id && owns(&tally->owner, event))
		see_repeats(tally, buffer, event);
	/* If both events have the same name, an event first ends a latency and then begins the next one. */
	if (tally->wanted.second && event->id == buffer->first.id && owns(&tally->first_owner, event))
		tally_pair_see_first(tally, &buffer->first, event);
}

/* Returns the id in this buffer of "system:event" or an event; -1: there is none. */
static int32_t find_id(const struct context *context, const char *name)
{
	char system[TALLY_NAME_SIZE];
	size_t len = strcspn(name, ":/");
	int32_t id;

	if (!name[len]) {
		id = schema_find(context->schema, NULL, name);
	} else {
		if (len >= sizeof(system))
			return -1;
		memcpy(system, name, len);
		system[len] = '\0';
		id = schema_find(context->schema, system, name + len + 1);
	}
	return id < 0 || id >= EVENT_TYPES_MAX || !schema_format(context->schema, id, NULL) ? -1 : id;
}

static const struct format *format_of(const struct tally_bound *bound)
{
	return bound->id < 0 ? NULL : schema_format(bound->context->schema, bound->id, NULL);
}

static int no_event(const struct tally *tally, const char *name, struct fail *fail)
{
	struct near near = near_to(name);

	for (size_t i = 0; i < tally->nr_buffers; i++)
		schema_offer(tally->buffers[i].last.context->schema, false, &near);
	return near_fail(&near, fail, -ENOENT, "the file knows no event '%s'", name);
}

/* Finds the first format of the event in any buffer. */
static int find_formats(struct tally *tally, const struct format **ret_last, const struct format **ret_first,
			const struct context **ret_context, struct fail *fail)
{
	const char *name = tally->wanted.second ? tally->wanted.second : tally->wanted.event;

	*ret_last = *ret_first = NULL;
	for (size_t i = 0; i < tally->nr_buffers; i++) {
		struct tally_buffer *buffer = &tally->buffers[i];

		buffer->last.context = buffer->first.context = buffer->repeats.context =
			tally->reader->buffers[i].context;
		buffer->repeats.id = -1;
		buffer->last.id = find_id(buffer->last.context, name);
		buffer->first.id = tally->wanted.second ? find_id(buffer->last.context, tally->wanted.event) : -1;
		buffer->stack_id = find_id(buffer->last.context, "ftrace:kernel_stack");
		if (!*ret_last && buffer->last.id >= 0)
			*ret_context = buffer->last.context;
		*ret_last = *ret_last ? *ret_last : format_of(&buffer->last);
		*ret_first = *ret_first ? *ret_first : format_of(&buffer->first);
	}
	if (!*ret_last)
		return no_event(tally, name, fail);
	return tally->wanted.second && !*ret_first ? no_event(tally, tally->wanted.event, fail) : 0;
}

static void bind(const struct tally *tally, struct tally_bound *bound, const struct format *format, bool first)
{
	const struct tally_program *program = &tally->program;
	const struct schema_abi *abi = &bound->context->abi;

	if (bound->context->plugins && !first)
		bound->decoder = plugins_decoder(bound->context->plugins, format);
	for (size_t i = 0; i < tally->nr_match; i++)
		(void)!place_bind(&bound->match[i], format, abi,
				  first ? tally->first_match[i].name : tally->match[i].name);
	for (size_t i = 0; i < program->nr_keys; i++)
		if (program->keys[i].of_first == first)
			(void)!place_bind(&bound->keys[i], format, abi, program->keys[i].name);
	for (size_t i = 0; i < program->nr_values; i++)
		if (program->values[i].of_first == first)
			(void)!place_bind(&bound->values[i], format, abi, program->values[i].name);
}

static int bind_filter(const struct tally *tally, struct tally_bound *bound, const struct format *format,
		       struct fail *fail)
{
	struct near near = near_to("");
	int err = filter_new(tally->wanted.filter, format, bound->context, &near, &bound->filter, fail);

	return err ? fail_in(fail, err, tally->wanted.alarm ? "its filter" : "--filter") : 0;
}

/* A stack follows each event that it is of, and none of several. A filter by a field that these lack lets none pass. */
static int bind_repeats(struct tally *tally, struct tally_buffer *buffer, const struct format *last, struct fail *fail)
{
	int32_t id = find_id(buffer->last.context, "ftrace:func_repeats");
	const struct format *format = id < 0 ? NULL : schema_format(buffer->last.context->schema, id, NULL);
	struct fail why = FAIL_INIT;
	int err = 0;

	if (!format || tally->wanted.second || tally->program.stacks || strcmp(last->system, "ftrace") ||
	    strcmp(last->name, "function"))
		return 0;
	if (tally->wanted.filter)
		err = bind_filter(tally, &buffer->repeats, format, &why);
	if (err)
		return err == -ENOMEM ? fail_memory(fail) : 0;
	buffer->repeats.id = id;
	(void)!place_bind(&buffer->times, format, &buffer->last.context->abi, "count");
	bind(tally, &buffer->repeats, format, false);
	return 0;
}

static int bind_buffer(struct tally *tally, struct tally_buffer *buffer, struct fail *fail)
{
	const struct format *last = format_of(&buffer->last), *first = format_of(&buffer->first);
	int err = 0;

	if (first)
		bind(tally, &buffer->first, first, true);
	if (buffer->stack_id >= 0)
		(void)!place_bind(&buffer->caller, schema_format(buffer->last.context->schema, buffer->stack_id, NULL),
				  &buffer->last.context->abi, "caller");
	if (!last)
		return 0;
	bind(tally, &buffer->last, last, false);
	if (first || tally->wanted.second)
		err = tally_pair_bind(tally, &buffer->last, last, first, fail);
	if (!err && tally->wanted.filter)
		err = bind_filter(tally, &buffer->last, buffer->last.with_lat ? buffer->last.with_lat : last, fail);
	return err ? err : bind_repeats(tally, buffer, last, fail);
}

static size_t rows_of(unsigned size)
{
	size_t rows = 1;

	while (rows < size)
		rows *= 2;
	return size ? rows : ROWS_DEFAULT;
}

static int start(struct tally *tally, struct fail *fail)
{
	const struct format *last, *first;
	const struct context *context = NULL;
	int err = find_formats(tally, &last, &first, &context, fail);

	if (!err)
		err = tally_parse(tally, last, first, context, fail);
	for (size_t i = 0; !err && i < tally->nr_buffers; i++)
		err = bind_buffer(tally, &tally->buffers[i], fail);
	tally_map_init(&tally->rows, rows_of(tally->wanted.size), 1 + tally->program.nr_values,
		       tally->program.samples ? TALLY_STORES * (1 + tally->program.nr_values) : 0);
	tally_map_init(&tally->begun, BEGUN_MAX, BEGUN_VALUES, 0);
	return err;
}

int tally_new(const struct reader *reader, const struct tally_wanted *wanted, struct tally **ret, struct fail *fail)
{
	struct tally *tally = calloc(1, sizeof(*tally));
	int err;

	if (!tally)
		return fail_memory(fail);
	*tally = (struct tally){ .reader = reader,
				 .wanted = *wanted,
				 .owner = SIZE_MAX,
				 .first_owner = SIZE_MAX,
				 .budget = { .left = SAMPLES_BUDGET } };
	tally->buffers = calloc(reader->nr_buffers ? reader->nr_buffers : 1, sizeof(*tally->buffers));
	tally->nr_buffers = tally->buffers ? reader->nr_buffers : 0;
	err = tally->buffers ? start(tally, fail) : fail_memory(fail);
	if (err) {
		tally_free(tally);
		return err;
	}
	*ret = tally;
	return 0;
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	for (size_t i = 0; i < tally->nr_buffers; i++) {
		filter_free(tally->buffers[i].last.filter);
		filter_free(tally->buffers[i].repeats.filter);
		free(tally->buffers[i].last.fields);
		free(tally->buffers[i].last.with_lat);
	}
	for (size_t i = 0; i < tally->nr_waiting; i++)
		free(tally->waiting[i].key);
	free(tally->waiting);
	free(tally->buffers);
	free(tally->record);
	event_copies_release(&tally->ended);
	tally_map_release(&tally->rows);
	tally_map_release(&tally->begun);
	free(tally);
}

bool tally_needs_task(const struct tally *tally)
{
	for (size_t i = 0; i < tally->nr_buffers; i++)
		if (tally->buffers[i].last.filter && filter_needs_task(tally->buffers[i].last.filter))
			return true;
	return false;
}

static bool is_signed(const struct tally_column *column)
{
	return column->of == TALLY_NUMBER && column->is_signed;
}

bool tally_key_is_signed(const struct tally *tally, size_t index)
{
	const struct tally_column *column = index < tally->program.nr_keys ? &tally->program.keys[index] : NULL;

	return column && (column->how == TALLY_PLAIN || column->how == TALLY_SYSCALL) && is_signed(column);
}

bool tally_key_is_narrow(const struct tally *tally, size_t index)
{
	return tally_key_is_signed(tally, index) && tally->program.keys[index].size <= 4;
}

bool tally_value_is_signed(const struct tally *tally, size_t index)
{
	const struct tally_column *column =
		index && index <= tally->program.nr_values ? &tally->program.values[index - 1] : NULL;

	return column && (column->how == TALLY_PLAIN || tally_is_of_samples(column)) && is_signed(column);
}

bool tally_has_events(const struct tally *tally)
{
	return tally->any;
}

uint64_t tally_span(const struct tally *tally)
{
	return tally->last_ts - tally->first_ts;
}

bool tally_is_rough(const struct tally *tally)
{
	for (size_t i = 0; i < tally->rows.nr; i++)
		for (size_t j = 0; tally->rows.rows[i].samples && j < tally->rows.nr_samples; j++)
			if (!samples_exact(&tally->rows.rows[i].samples[j]))
				return true;
	return false;
}

bool tally_lacks_stacks(const struct tally *tally)
{
	return tally->program.stacks && tally->rows.hits && !tally->stacks;
}

uint64_t tally_losses(const struct tally *tally)
{
	return tally->losses;
}
