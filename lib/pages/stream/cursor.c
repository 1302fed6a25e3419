// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/stream/cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/ring/remains.h"
#include "lib/pages/stream/source.h"

void cursor_init(struct cursor *cursor, struct source *source, size_t cpu_index, struct chain *retired)
{
	*cursor = (struct cursor){ .source = source,
				   .cpu = (uint16_t)source->cpus[cpu_index],
				   .cpu_index = (uint16_t)cpu_index,
				   .retired = retired };
}

static void cursor_retire(struct cursor *cursor)
{
	struct block *block = cursor->block;

	if (!block)
		return;
	cursor->block = NULL;
	/* The block may be reused before the live source is asked again. */
	cursor->page.next = cursor->page.commit;
	if (!cursor->held) {
		source_release(cursor->source, block);
		return;
	}
	cursor->held = false;
	block->next = NULL;
	*cursor->retired->tail = block;
	cursor->retired->tail = &block->next;
	cursor->retired->size += block->size;
}

void cursor_release(struct cursor *cursor)
{
	cursor_retire(cursor);
	cursor->live = false;
	free(cursor->remains);
	cursor->remains = NULL;
}

/* Opens the page after the current one. */
static int cursor_turn(struct cursor *cursor, struct fail *fail)
{
	const struct page_shape *shape = &cursor->source->shape;
	size_t left;
	int r;

	if (cursor->remains && cursor->block)
		remains_take(cursor->remains, &cursor->page, cursor->page.commit);
	if (cursor->block && cursor->next_page >= cursor->block->len)
		cursor_retire(cursor);
	if (!cursor->block) {
		r = cursor->source->ops->next(cursor->source, cursor->cpu_index, &cursor->block, fail);
		if (r <= 0)
			return r;
		cursor->next_page = 0;
	}
	left = cursor->block->len - cursor->next_page;
	r = page_init(&cursor->page, shape, cursor->block->data + cursor->next_page,
		      left < shape->size ? left : shape->size, fail);
	if (r < 0)
		return r;
	cursor->next_page += shape->size;
	if (cursor->remains)
		remains_turn(cursor->remains);
	return 1;
}

static int cursor_end(struct cursor *cursor, int r, struct fail *fail)
{
	cursor_release(cursor);
	cursor->dry = r == -EAGAIN;
	cursor->broken = r < 0 && !cursor->dry;
	if (cursor->dry)
		return 0;
	return r < 0 ? fail_in(fail, r, "CPU %u", (unsigned)cursor->cpu) : 0;
}

static int cursor_lacks_memory(struct cursor *cursor, struct fail *fail)
{
	/* The CPU looks damaged; this tells the true reason. */
	if (cursor->source->ops->lacks_memory)
		cursor->source->ops->lacks_memory(cursor->source);
	return cursor_end(cursor, fail_memory(fail), fail);
}

/* Gives the head the bytes that the kernel found behind it. */
static int cursor_read_more(struct cursor *cursor, struct fail *fail)
{
	struct record *head = &cursor->head;
	uint8_t *copy;

	if (!cursor->source->prints_more) {
		head->more = 0;
		return 1;
	}
	if (!cursor->remains && !(cursor->remains = remains_new(&cursor->source->shape)))
		return cursor_lacks_memory(cursor, fail);
	remains_take(cursor->remains, &cursor->page, cursor->page.next);
	copy = source_copy(cursor->block, head->len + REMAINS_ROOM);
	if (!copy)
		return cursor_lacks_memory(cursor, fail);
	remains_copy(cursor->remains, head, copy);
	head->data = copy;
	return 1;
}

int cursor_next_slowly(struct cursor *cursor, struct fail *fail)
{
	int r = page_next(&cursor->page, &cursor->head, fail);

	if (__builtin_expect(r > 0, 1))
		return __builtin_expect(cursor->head.more != 0, 0) ? cursor_read_more(cursor, fail) : r;
	while (!r) {
		bool fresh = !cursor->live && !cursor->page.data;

		r = cursor_turn(cursor, fail);
		if (r <= 0)
			break;
		cursor->first = fresh && !cursor->block->later;
		cursor->live = true;
		/* An empty page may also report lost events. */
		if (cursor->page.lost > 0 && cursor->lost > 0)
			cursor->lost += cursor->page.lost;
		else if (cursor->page.lost)
			cursor->lost = cursor->page.lost;
		r = page_next(&cursor->page, &cursor->head, fail);
	}
	if (r <= 0)
		return cursor_end(cursor, r, fail);
	cursor->held = true;
	return cursor->head.more ? cursor_read_more(cursor, fail) : r;
}

bool cursor_followed(const struct cursor *cursor)
{
	struct page page = cursor->page;
	struct record record;

	return cursor->live && page_next(&page, &record, NULL) > 0;
}

void cursor_place(const struct cursor *cursor, struct cursor_place *ret)
{
	*ret = (struct cursor_place){ .piece = UINT64_MAX };
	if (!cursor->live)
		return;
	ret->piece = cursor->block->piece;
	ret->page = cursor->block->offset + cursor->next_page;
	ret->record = cursor->page.next;
	ret->lost = cursor->lost;
}
