// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests that the end of an interval cuts: each counts where it is done, and its time in the driver in each interval
 * in which it lasts.
 */
#include "lib/answers/block/block_internal.h"

#include "lib/ground/base/vec.h"

static void hold(struct block_analysis *block, uint32_t task)
{
	if (task < block->pass->state.nr_tasks && !block->pass->state.tasks[task].died)
		state_hold(&block->pass->state, task);
}

static void pay(struct block_analysis *block, uint32_t disk, struct block_request *request)
{
	uint64_t lasted = block->pass->state.now - request->last;
	struct block_row *row = request->in_driver && !request->nameless ? block_row(block, disk, request) : NULL;

	if (!row)
		return;
	row->in_driver += lasted - request->paid;
	request->paid = lasted;
}

void block_divide(void *arg)
{
	struct block_analysis *block = arg;
	struct block_request *request;
	struct block_bio *bio;
	uint64_t key;

	for (size_t i = 0; i < block->nr_devices; i++)
		block_settle(&block->devices[i], block->pass->state.now);
	for (size_t at = 0; (bio = u64_map_next(&block->bios, &at, &key));)
		hold(block, bio->task);
	for (size_t at = 0; (request = u64_map_next(&block->requests, &at, &key));) {
		hold(block, request->task);
		pay(block, block_request_device(key), request);
	}
}

static void swap(struct u64_map *one, struct u64_map *other)
{
	struct u64_map map = *one;

	*one = *other;
	*other = map;
}

void block_carry(void *arg, void *earlier)
{
	struct block_analysis *block = arg, *before = earlier;
	const struct state *state = &block->pass->state;
	struct block_request *request;
	struct block_bio *bio;
	uint64_t key;

	for (size_t i = 0; i < before->nr_devices; i++) {
		const struct block_device *from = &before->devices[i];
		struct block_device *device = vec_push(block->devices, block->nr_devices);

		if (!device) {
			block->pass->failed = true;
			return;
		}
		*device = (struct block_device){ .number = from->number,
						 .disk = from->disk,
						 .requests = from->requests,
						 .stacked = from->stacked,
						 .end = from->end,
						 .depth = from->depth,
						 .deepest = from->depth,
						 .since = from->since };
	}
	swap(&block->numbers, &before->numbers);
	swap(&block->bios, &before->bios);
	swap(&block->requests, &before->requests);
	swap(&block->users, &before->users);
	swap(&block->inode_numbers, &before->inode_numbers);
	block->inodes = before->inodes;
	block->nr_inodes = before->nr_inodes;
	before->inodes = NULL;
	before->nr_inodes = 0;
	for (size_t at = 0; (bio = u64_map_next(&block->bios, &at, &key));)
		bio->task = state_moved(state, bio->task);
	for (size_t at = 0; (request = u64_map_next(&block->requests, &at, &key));)
		request->task = state_moved(state, request->task);
}
