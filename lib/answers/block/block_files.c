// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which file a bio is for: the one that the task which queues it was reading or writing, by events of the page cache
 * and of file systems, which name the inode. What no event tells is BLOCK_NO_FILE.
 */
#include "lib/answers/block/block_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/files.h"
#include "lib/meaning/reader/reader.h"

enum { PAGE = 4096 };
#define UNLIMITED UINT64_MAX

const struct role_name block_file_names[] = {
	{ "filemap", "mm_filemap_add_to_page_cache", BLOCK_FILE_BEGIN },
	{ "ext4", "ext4_writepages", BLOCK_FILE_BEGIN },
	{ "ext4", "ext4_writepages_result", BLOCK_FILE_END },
	{ "ext4", "ext4_readpage", BLOCK_FILE_BEGIN },
	{ "ext4", "ext4_read_folio", BLOCK_FILE_BEGIN },
	{ "ext4", "ext4_da_write_pages_extent", BLOCK_FILE_BEGIN },
	{ "iomap", "iomap_readahead", BLOCK_FILE_BEGIN },
	{ "iomap", "iomap_readpage", BLOCK_FILE_BEGIN },
	{ "iomap", "iomap_iter", BLOCK_FILE_BEGIN },
	{ "iomap", "iomap_writepage", BLOCK_FILE_BEGIN },
	{ "iomap", "iomap_writeback_folio", BLOCK_FILE_BEGIN },
	{ "iomap", "iomap_add_to_ioend", BLOCK_FILE_BEGIN },
	{ "iomap", "iomap_dio_rw_begin", BLOCK_FILE_BEGIN },
	{ "iomap", "iomap_dio_complete", BLOCK_FILE_END },
	{ "xfs", "xfs_file_direct_read", BLOCK_FILE_BEGIN },
	{ "xfs", "xfs_file_direct_write", BLOCK_FILE_BEGIN },
	{ "f2fs", "f2fs_submit_page_bio", BLOCK_FILE_BEGIN },
	{ "f2fs", "f2fs_submit_folio_bio", BLOCK_FILE_BEGIN },
	{ "f2fs", "f2fs_submit_page_write", BLOCK_FILE_BEGIN },
	{ "f2fs", "f2fs_submit_folio_write", BLOCK_FILE_BEGIN },
	{ "f2fs", "f2fs_direct_IO_enter", BLOCK_FILE_BEGIN },
	{ "f2fs", "f2fs_direct_IO_exit", BLOCK_FILE_END },
	{ "btrfs", "extent_writepage", BLOCK_FILE_BEGIN },
	{ "btrfs", "__extent_writepage", BLOCK_FILE_BEGIN },
	{ "writeback", "writeback_single_inode_start", BLOCK_FILE_BEGIN },
	{ "writeback", "writeback_single_inode", BLOCK_FILE_END },
	{ "syscalls", "*", BLOCK_FILE_CALL },
	{ "raw_syscalls", "*", BLOCK_FILE_CALL },
	{ NULL, NULL, 0 },
};

static const struct block_file_places *places_of(struct block_analysis *block, const struct event *event)
{
	struct block_file_places *places;

	while (block->nr_file_places <= event->type->index)
		if (!vec_push(block->file_places, block->nr_file_places))
			return NULL;
	places = &block->file_places[event->type->index];
	if (places->bound)
		return places;
	places->bound = true;
	places->has = inode_place_find(&places->inode, event->type);
	return places;
}

static uint32_t file_of(struct block_analysis *block, uint32_t device, uint64_t ino)
{
	const uint64_t both[] = { device, ino };
	uint32_t *known = u64_map_add(&block->inode_numbers, xxh64(both, sizeof(both)));
	struct block_inode *inode;

	if (known && *known)
		return *known;
	inode = known ? vec_push(block->inodes, block->nr_inodes) : NULL;
	if (!inode) {
		block->pass->failed = true;
		return BLOCK_NO_FILE;
	}
	*inode = (struct block_inode){ ino, device };
	return *known = BLOCK_FILES + (uint32_t)block->nr_inodes - 1;
}

static void want(struct block_user *user, uint32_t file, uint64_t bytes)
{
	user->left = file == user->file && user->left < UNLIMITED ? user->left + bytes : bytes;
	user->file = file;
}

static void begin(struct block_analysis *block, const struct block_file_places *places, const struct event *event)
{
	struct block_user *user = u64_map_add(&block->users, (uint32_t)event->pid);
	uint64_t ino = inode_of(&places->inode, event), order = place_u64(&places->inode.order, event);
	uint32_t device = inode_device(&places->inode, event);
	bool page = !strcmp(event->type->format->system, "filemap");

	if (!user) {
		block->pass->failed = true;
		return;
	}
	/*
	 * bdev_add() of block/bdev.c: the inode of a disk has the number of the disk, in a file system that is on no
	 * device. Whether there is such a disk is known when a bio goes there; an event of writeback has it, too.
	 */
	user->last = page && !(device >> INODE_MINOR_BITS) && ino >> INODE_MINOR_BITS ? ino : 0;
	user->where = device;
	/* Only pages of the page cache that were asked for are read. What begins otherwise has an end. */
	if (!places->inode.device.field && device && ino >> INODE_MINOR_BITS == device >> INODE_MINOR_BITS)
		want(user, BLOCK_RAW, UNLIMITED);
	else if (!user->last)
		want(user, file_of(block, device, ino), page ? (uint64_t)PAGE << (order & 31) : UNLIMITED);
}

void block_see_file(struct block_analysis *block, const struct event *event, enum block_file_role role)
{
	const struct block_file_places *places = role == BLOCK_FILE_BEGIN ? places_of(block, event) : NULL;

	if (role != BLOCK_FILE_BEGIN) {
		u64_map_remove(&block->users, (uint32_t)event->pid);
	} else if (places && places->has) {
		block->file_events++;
		begin(block, places, event);
	}
}

uint32_t block_file_of(struct block_analysis *block, const struct event *event, const struct place *rwbs,
		       uint64_t bytes)
{
	struct block_user *user = u64_map_find(&block->users, (uint32_t)event->pid);
	bool raw = user && user->last && u64_map_find(&block->numbers, user->last);
	uint32_t file;
	const char *text;
	size_t len;

	if (user && user->last && !raw)
		want(user, file_of(block, user->where, user->last), PAGE);
	if (user)
		user->last = 0;
	/* REQ_META, as blk_fill_rwbs() prints it */
	if (place_string(rwbs, event, &text, &len) && memchr(text, 'M', len))
		return BLOCK_METADATA;
	if (raw)
		return BLOCK_RAW;
	file = user ? user->file : (uint32_t)BLOCK_NO_FILE;
	if (user && user->left <= bytes)
		u64_map_remove(&block->users, (uint32_t)event->pid);
	else if (user && user->left < UNLIMITED)
		user->left -= bytes;
	return file;
}

bool block_wants_file(const struct block_analysis *block, uint32_t file)
{
	const struct context *context = block->pass->reader->buffers[0].context;
	const struct block_inode *inode = file < BLOCK_FILES ? NULL : &block->inodes[file - BLOCK_FILES];
	uint32_t known =
		inode && inode->device ? files_with_inode(context, inode->device, inode->ino) : (uint32_t)FILES_UNKNOWN;

	return files_match(context, known, block->pass->filter.files, block->pass->filter.nr_files);
}

void block_put_file(struct table *table, const struct block_analysis *block, uint32_t file)
{
	static const char *const words[] = {
		[BLOCK_NO_FILE] = "(unknown)",
		[BLOCK_METADATA] = "(metadata)",
		[BLOCK_RAW] = "(the device)",
	};
	const struct context *context = block->pass->reader->buffers[0].context;
	const struct block_inode *inode;
	uint32_t known;

	if (file < BLOCK_FILES) {
		table_cell(table, words[file]);
		return;
	}
	inode = &block->inodes[file - BLOCK_FILES];
	known = inode->device ? files_with_inode(context, inode->device, inode->ino) : FILES_UNKNOWN;
	if (known != FILES_UNKNOWN)
		table_cell(table, files_text(context, known));
	else if (inode->device)
		table_cellf(table, "inode %" PRIu64 " of %" PRIu32 ":%" PRIu32, inode->ino,
			    inode->device >> INODE_MINOR_BITS, inode->device & ((1U << INODE_MINOR_BITS) - 1));
	else
		table_cellf(table, "inode %" PRIu64, inode->ino);
}

void block_files_release(struct block_analysis *block)
{
	roles_release(&block->file_roles);
	u64_map_release(&block->inode_numbers);
	u64_map_release(&block->users);
	free(block->inodes);
	free(block->file_places);
}
