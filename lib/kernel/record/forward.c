// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/forward.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/trust.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/spool.h"

/* Chunks of so many bytes are found before they are read; the space behind them is given back together. */
enum { AHEAD = 1 << 20 };

struct reading {
	struct forward_spool of;
	int fd;
	uint32_t page_size;
	uint64_t from;  /* the space before it was given back */
	uint64_t read;  /* offset behind what was read */
	uint64_t whole; /* offset behind the chunks that were found */
};

struct forward {
	char *place; /* what the path of the parts begins with */
	pid_t recorder;
	char *path; /* NULL: they are not there yet */
	int dir, ledger;
	struct buf meta;
	size_t meta_whole, meta_read; /* of `meta`: the end of the last whole item, and of what was read */
	bool compressed;
	uint32_t *page_sizes; /* of each buffer */
	size_t nr_buffers;
	struct reading *spools;
	size_t nr;
};

int forward_new(const char *dir, pid_t recorder, struct forward **ret, struct fail *fail)
{
	struct forward *forward = calloc(1, sizeof(*forward));

	if (!forward)
		return fail_memory(fail);
	forward->dir = forward->ledger = -1;
	forward->recorder = recorder;
	if (asprintf(&forward->place, "%s/", dir) < 0) {
		free(forward);
		return fail_memory(fail);
	}
	*ret = forward;
	return 0;
}

void forward_free(struct forward *forward)
{
	if (!forward)
		return;
	for (size_t i = 0; i < forward->nr; i++)
		close(forward->spools[i].fd);
	free(forward->spools);
	free(forward->page_sizes);
	cleanup_fd_close(&forward->dir);
	cleanup_fd_close(&forward->ledger);
	buf_release(&forward->meta);
	free(forward->path);
	free(forward->place);
	free(forward);
}

/* Another user may have made a directory of such a name: its own are this user's. */
static int find(const char *path, void *data)
{
	struct forward *forward = data;
	cleanup_fd int above = -1, dir = -1;

	if (parts_owner(path) != forward->recorder || dir_open(AT_FDCWD, forward->place, path, &above, NULL))
		return 0;
	dir = openat(above, parts_leaf(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || trust_check(dir, S_IFDIR, path, NULL))
		return 0;
	forward->ledger = openat(dir, "metadata", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (forward->ledger < 0)
		return 0;
	forward->path = strdup(path);
	forward->dir = fd_take(&dir);
	return forward->path ? 1 : -ENOMEM;
}

static int open_spool(struct forward *forward, const struct ledger_item *item, struct fail *fail)
{
	struct reading *added;
	char name[SPOOL_NAME];
	struct reading reading = {
		.of = { item->buffer, (uint32_t)number_of(item->key, 0) },
		.page_size = item->buffer < forward->nr_buffers ? forward->page_sizes[item->buffer] : 0,
		.from = SPOOL_HEAD_SIZE,
		.read = SPOOL_HEAD_SIZE,
		.whole = SPOOL_HEAD_SIZE,
	};

	spool_name(name, reading.of.buffer, reading.of.cpu);
	reading.fd = openat(forward->dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (reading.fd < 0)
		return fail_set(fail, -errno, "cannot open '%s/%s': %s", forward->path, name, strerror(errno));
	added = vec_push(forward->spools, forward->nr);
	if (!added) {
		close(reading.fd);
		return fail_memory(fail);
	}
	*added = reading;
	return 0;
}

static int note_buffer(struct forward *forward, const struct ledger_item *item, struct fail *fail)
{
	const char *clock;
	uint32_t size, *added;
	int err = parts_buffer(item, &size, &clock, fail);

	while (!err && forward->nr_buffers <= item->buffer && item->buffer < LEDGER_BUFFERS_MAX) {
		added = vec_push(forward->page_sizes, forward->nr_buffers);
		if (!added)
			return fail_memory(fail);
	}
	if (!err && item->buffer < forward->nr_buffers)
		forward->page_sizes[item->buffer] = size;
	return err;
}

/* What it has to know itself of the metadata that it passes on. */
static int note(struct forward *forward, const struct ledger_item *item, struct fail *fail)
{
	switch (item->kind) {
	case LEDGER_FILE:
		forward->compressed = strstr(item->data, " compress=1 ");
		return 0;
	case LEDGER_BUFFER:
		return note_buffer(forward, item, fail);
	case LEDGER_SPOOL:
		return open_spool(forward, item, fail);
	default:
		return 0;
	}
}

static int look_at_meta(struct forward *forward, struct fail *fail)
{
	struct buf *meta = &forward->meta;
	struct ledger_item item;
	struct bytes in;
	int err;

	if (forward->meta_read == forward->meta_whole && meta->len) {
		meta->len -= forward->meta_read;
		memmove(meta->data, meta->data + forward->meta_read, meta->len);
		forward->meta_read = forward->meta_whole = 0;
	}
	err = io_read_all(forward->ledger, SIZE_MAX / 2, meta);
	if (err)
		return fail_set(fail, err, "cannot read the metadata of the recording: %s", strerror(-err));
	in = bytes_of(meta->data + forward->meta_whole, meta->len - forward->meta_whole, false);
	while (!err && meta->len && ledger_take(&in, &item)) {
		forward->meta_whole = meta->len - in.left;
		err = note(forward, &item, fail);
	}
	return err;
}

int forward_look(struct forward *forward, struct fail *fail)
{
	if (!forward->path && parts_each(forward->place, find, forward) < 0)
		return fail_memory(fail);
	return forward->path ? look_at_meta(forward, fail) : 0;
}

int forward_meta(struct forward *forward, void *into, size_t size, size_t *ret_len, struct fail *fail)
{
	size_t left = forward->meta_whole - forward->meta_read;

	(void)fail;
	*ret_len = left < size ? left : size;
	if (*ret_len)
		memcpy(into, forward->meta.data + forward->meta_read, *ret_len);
	forward->meta_read += *ret_len;
	return 0;
}

size_t forward_spools(const struct forward *forward)
{
	return forward->nr;
}

struct forward_spool forward_spool(const struct forward *forward, size_t index)
{
	return forward->spools[index].of;
}

/* Finds whole chunks behind those that were read. */
static int find_chunks(const struct forward *forward, struct reading *reading, struct fail *fail)
{
	uint8_t head[SPOOL_CHUNK_HEAD];
	struct stat st;
	uint64_t end, size;

	if (fstat(reading->fd, &st))
		return fail_set(fail, -errno, "cannot read a spool: %s", strerror(errno));
	end = (uint64_t)st.st_size;
	size = reading->page_size;
	while (!forward->compressed && size && reading->whole < reading->read + AHEAD && reading->whole + size <= end)
		reading->whole += size;
	while (forward->compressed && reading->whole < reading->read + AHEAD && reading->whole + sizeof(head) < end) {
		if (io_pread(reading->fd, head, sizeof(head), reading->whole) != (ssize_t)sizeof(head))
			return fail_set(fail, -EIO, "cannot read back a spool");
		size = sizeof(head) + (uint64_t)load_u32(head, false);
		if (size > end - reading->whole)
			break;
		reading->whole += size;
	}
	return 0;
}

static int give_up(struct reading *reading, struct fail *fail)
{
	int err = spool_give_up(reading->fd, reading->from, reading->read, reading->read - SPOOL_HEAD_SIZE, fail);

	reading->from = reading->read;
	return err;
}

int forward_pages(struct forward *forward, size_t index, void *into, size_t size, size_t *ret_len, struct fail *fail)
{
	struct reading *reading = &forward->spools[index];
	uint64_t left;
	ssize_t got = 0;
	int err = 0;

	if (reading->read == reading->whole)
		err = find_chunks(forward, reading, fail);
	left = reading->whole - reading->read;
	if (!err && left)
		got = io_pread(reading->fd, into, left < size ? (size_t)left : size, reading->read);
	if (err)
		return err;
	if (got < 0 || (left && !got))
		return fail_set(fail, got ? (int)got : -EIO, "cannot read back a spool");
	reading->read += (uint64_t)got;
	*ret_len = (size_t)got;
	/* The space is given back at the end of a chunk, so that the spool can be recovered at any time. */
	return got && reading->read == reading->whole ? give_up(reading, fail) : 0;
}

void forward_give_up(struct forward *forward)
{
	for (size_t i = 0; i < forward->nr; i++) {
		struct reading *reading = &forward->spools[i];

		do {
			reading->read = reading->whole;
			(void)!find_chunks(forward, reading, NULL);
		} while (reading->read != reading->whole);
		(void)!give_up(reading, NULL);
	}
}

int forward_remove(struct forward *forward, struct fail *fail)
{
	struct parts *parts = NULL;
	int err;

	if (!forward->path)
		return 0;
	err = parts_open(forward->path, &parts, fail);
	if (!err)
		err = parts_remove(parts, fail);
	else if (err == -ENODATA)
		err = parts_discard(forward->path, fail);
	parts_free(parts);
	/* -ENOENT: a recording that had not begun has removed them itself. */
	return err == -ENOENT ? 0 : err;
}
