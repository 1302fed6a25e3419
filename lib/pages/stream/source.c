// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/stream/source.h"

#include <stdlib.h>

#include "lib/ground/base/populate.h"

/* When more blocks than this are spare, memory is freed. Readers borrow at most about this much at a time. */
enum { SPARE_MAX = 12 << 20 };

static void block_free(struct block *block)
{
	free(block->copies);
	free(block->data);
	free(block);
}

struct block *source_block(struct source *source, size_t size)
{
	struct block *block = source->spare;

	if (block) {
		source->spare = block->next;
		source->spare_size -= block->size;
	} else {
		block = calloc(1, sizeof(*block));
		if (!block)
			return NULL;
	}
	if (block->size < size) {
		free(block->data);
		block->data = malloc(size);
		if (!block->data) {
			block_free(block);
			return NULL;
		}
		populate(block->data, size);
		free(block->copies);
		block->copies = NULL;
		block->size = size;
	}
	block->copies_len = 0;
	block->next = NULL;
	block->len = 0;
	return block;
}

uint8_t *source_copy(struct block *block, size_t len)
{
	uint8_t *at;

	if (!block->copies && !(block->copies = malloc(2 * block->size)))
		return NULL;
	if (len > 2 * block->size - block->copies_len)
		return NULL;
	at = block->copies + block->copies_len;
	block->copies_len += len;
	return at;
}

void source_release(struct source *source, struct block *block)
{
	if (block->size > SPARE_MAX - source->spare_size) {
		block_free(block);
		return;
	}
	source->spare_size += block->size;
	block->next = NULL;
	if (!source->spare)
		source->spare_tail = &source->spare;
	*source->spare_tail = block;
	source->spare_tail = &block->next;
}

void source_free(struct source *source)
{
	struct block *block;

	if (!source)
		return;
	while ((block = source->spare)) {
		source->spare = block->next;
		block_free(block);
	}
	source->ops->free(source);
}
