// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_reader_lives: all tasks over time, as lib/meaning/follow/lives.h follows them. */
#include "lib/api/api_internal.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/follow/lives.h"

/* The tasks of a buffer, and what its types of events say of them, by event_type::index. */
struct buffer_lives {
	struct lives *lives;
	struct role {
		bool looked;
		uint8_t role;
	} * roles;
	size_t nr_roles;
};

struct living {
	struct buffer_lives *buffers;
	size_t nr;
	bool starved;
};

static void see_event(void *arg, const struct event *event)
{
	struct living *living = arg;
	struct buffer_lives *buffer = &living->buffers[event->buffer];
	struct role *role;
	uint32_t number;

	if (event->kind == EVENT_LOST)
		return;
	while (buffer->nr_roles <= event->type->index)
		if (!vec_push(buffer->roles, buffer->nr_roles)) {
			living->starved = true;
			return;
		}
	role = &buffer->roles[event->type->index];
	if (!role->looked)
		*role = (struct role){ true, lives_look(buffer->lives, event) };
	if (role->role)
		(void)lives_see(buffer->lives, event, role->role, &number);
}

static int begin(struct living *living, size_t nr, struct fail *fail)
{
	living->buffers = calloc(nr + 1, sizeof(*living->buffers));
	if (!living->buffers)
		return fail_memory(fail);
	for (living->nr = 0; living->nr < nr; living->nr++) {
		living->buffers[living->nr].lives = lives_new();
		if (!living->buffers[living->nr].lives)
			return fail_memory(fail);
	}
	return 0;
}

static void release(struct living *living)
{
	for (size_t i = 0; i < living->nr; i++) {
		lives_free(living->buffers[i].lives);
		free(living->buffers[i].roles);
	}
	free(living->buffers);
}

static int show_life(const struct lives *lives, uint32_t number, size_t buffer, weft_life_fn *see, void *arg)
{
	const struct life *life = lives_at(lives, number);
	struct weft_life shown = { .size = sizeof(shown),
				   .pid = life->pid,
				   .parent = life->parent_pid,
				   .process = life->known & LIFE_FLAGS ? lives_at(lives, life->leader)->pid : 0,
				   .first = life->first,
				   .last = life->last,
				   .has_begun = life->known & LIFE_BEGAN,
				   .has_ended = life->known & LIFE_ENDED,
				   .was_replaced = life->known & LIFE_REPLACED,
				   .began = life->began,
				   .ended = life->ended,
				   .status = life->status == LIFE_STATUS_UNKNOWN ? -1 : life->status,
				   .execs = life->execs,
				   .started = life->started,
				   .buffer = buffer,
				   .comm = life->name };

	if (life->program != LIFE_NONE)
		shown.program = lives_program(lives, life->program, &shown.program_len);
	return see(arg, &shown);
}

static int show(const struct living *living, weft_life_fn *see, void *arg)
{
	int r = 0;

	for (size_t i = 0; i < living->nr; i++) {
		const struct lives *lives = living->buffers[i].lives;

		for (uint32_t number = 0; !r && number < lives_count(lives); number++)
			if (lives_at(lives, number)->known & LIFE_TOLD)
				r = show_life(lives, number, i, see, arg);
	}
	return r;
}

static bool is_starved(const struct living *living)
{
	bool starved = living->starved;

	for (size_t i = 0; i < living->nr; i++)
		starved |= lives_failed(living->buffers[i].lives);
	return starved;
}

int weft_reader_lives(weft_reader *reader, weft_life_fn *see, void *arg, struct weft_error *error)
{
	struct living living = { .buffers = NULL };
	const struct reader_consumer consumer = { .see = see_event, .arg = &living };
	struct fail fail = FAIL_INIT;
	int r = api_reader_start(reader, API_STATE, NULL, &fail);

	if (!r)
		r = begin(&living, reader->reader.nr_buffers, &fail);
	if (!r)
		r = reader_run(&reader->reader, &consumer, 1, &fail);
	if (!r && is_starved(&living))
		r = fail_memory(&fail);
	r = r ? api_result(error, r, &fail) : show(&living, see, arg);
	release(&living);
	return r;
}
