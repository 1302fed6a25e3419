// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/ledger_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/trust.h"
#include "lib/ground/base/vec.h"

static const char file_name[] = "metadata";

enum { ITEM_MAGIC = 0x74666577, KEY_MAX = 4096 };

/* The header of an item. Its key and its data follow, each with a NUL. */
struct item_head {
	uint32_t magic;
	uint32_t kind;
	uint32_t buffer;
	uint32_t key_len;
	uint64_t len;
};

struct ledger {
	int fd;
	pthread_mutex_t lock;
	void *map;
	size_t map_len;
	struct ledger_item *items;
	size_t nr;
	uint64_t torn;
};

static int ledger_of(int *fd, struct ledger **ret, struct fail *fail)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));

	if (!ledger)
		return fail_memory(fail);
	pthread_mutex_init(&ledger->lock, NULL);
	ledger->fd = fd_take(fd);
	*ret = ledger;
	return 0;
}

static int ledger_at_fd(int dir, int flags, struct ledger **ret, struct fail *fail)
{
	cleanup_fd int fd =
		openat(dir, file_name, flags | O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int err;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", file_name, strerror(errno));
	err = trust_check(fd, S_IFREG, file_name, fail);
	if (err)
		return err;
	if (flock(fd, LOCK_EX | LOCK_NB))
		return fail_set(fail, errno == EWOULDBLOCK ? -EBUSY : -errno, "%s",
				errno == EWOULDBLOCK ? "its recording is still running" : strerror(errno));
	return ledger_of(&fd, ret, fail);
}

int ledger_new_in_memory(struct ledger **ret, struct fail *fail)
{
	cleanup_fd int fd = memfd_create(file_name, MFD_CLOEXEC);

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make a file in memory: %s", strerror(errno));
	return ledger_of(&fd, ret, fail);
}

int ledger_new(int dir, struct ledger **ret, struct fail *fail)
{
	return ledger_at_fd(dir, O_CREAT | O_EXCL, ret, fail);
}

int ledger_open(int dir, struct ledger **ret, struct fail *fail)
{
	struct ledger *ledger;
	int err = ledger_at_fd(dir, 0, &ledger, fail);

	if (err)
		return err;
	err = ledger_load(ledger, fail);
	/*
	 * Torn bytes at the end are cut off, because the next item must not follow them. A file without any valid item
	 * may belong to another program and is not truncated.
	 */
	if (!err && ledger->nr && ledger->torn && ftruncate(ledger->fd, (off_t)(ledger->map_len - ledger->torn)))
		err = fail_set(fail, -errno, "cannot shorten '%s': %s", file_name, strerror(errno));
	if (err) {
		ledger_free(ledger);
		return err;
	}
	*ret = ledger;
	return 0;
}

static void ledger_unload(struct ledger *ledger)
{
	if (ledger->map)
		munmap(ledger->map, ledger->map_len);
	free(ledger->items);
	ledger->map = NULL;
	ledger->map_len = 0;
	ledger->items = NULL;
	ledger->nr = 0;
	ledger->torn = 0;
}

void ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	ledger_unload(ledger);
	pthread_mutex_destroy(&ledger->lock);
	close(ledger->fd);
	free(ledger);
}

static int write_all(int fd, struct iovec *iov, int count)
{
	while (count) {
		ssize_t done = writev(fd, iov, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		while (count && (size_t)done >= iov->iov_len) {
			done -= (ssize_t)iov->iov_len;
			iov++;
			count--;
		}
		if (count) {
			iov->iov_base = (char *)iov->iov_base + done;
			iov->iov_len -= (size_t)done;
		}
	}
	return 0;
}

int ledger_add(struct ledger *ledger, const struct ledger_item *item, struct fail *fail)
{
	const char *key = item->key ? item->key : "";
	struct item_head head = {
		.magic = ITEM_MAGIC,
		.kind = (uint32_t)item->kind,
		.buffer = item->buffer,
		.key_len = (uint32_t)strlen(key),
		.len = item->len,
	};
	struct iovec iov[] = {
		{ &head, sizeof(head) },
		{ (void *)(uintptr_t)key, head.key_len + 1 },
		{ (void *)(uintptr_t)item->data, item->len },
		{ (void *)(uintptr_t) "", 1 },
	};
	int err;

	if (head.key_len > KEY_MAX)
		return fail_set(fail, -ENAMETOOLONG, "a name of %u bytes is too long", head.key_len);
	pthread_mutex_lock(&ledger->lock);
	err = write_all(ledger->fd, iov, (int)array_size(iov));
	pthread_mutex_unlock(&ledger->lock);
	return err ? fail_set(fail, err, FAIL_WRITE "%s", strerror(-err)) : 0;
}

int ledger_add_text(struct ledger *ledger, enum ledger_kind kind, const char *text, struct fail *fail)
{
	return ledger_add(ledger, &(struct ledger_item){ .kind = kind, .data = text, .len = strlen(text) }, fail);
}

static bool items_add(struct ledger *ledger, const struct ledger_item *item)
{
	struct ledger_item *added = vec_push(ledger->items, ledger->nr);

	if (added)
		*added = *item;
	return added;
}

bool ledger_take(struct bytes *in, struct ledger_item *ret)
{
	struct bytes at = *in;
	uint32_t magic, kind, key_len;
	const uint8_t *key, *data;
	struct ledger_item item;
	uint64_t len;

	if (!bytes_u32(&at, &magic) || !bytes_u32(&at, &kind) || !bytes_u32(&at, &item.buffer) ||
	    !bytes_u32(&at, &key_len) || !bytes_u64(&at, &len))
		return false;
	if (magic != ITEM_MAGIC || !kind || kind >= LEDGER_KIND_END || key_len > KEY_MAX)
		return false;
	if (!bytes_take(&at, key_len + (size_t)1, &key) || key[key_len])
		return false;
	if (len >= at.left || !bytes_take(&at, (size_t)len + 1, &data) || data[len])
		return false;
	item.kind = (enum ledger_kind)kind;
	item.key = (const char *)key;
	item.data = (const char *)data;
	item.len = (size_t)len;
	*ret = item;
	*in = at;
	return true;
}

bool ledger_may_take(struct bytes in, size_t max)
{
	uint32_t magic, kind, buffer, key_len;
	uint64_t len;

	if (!bytes_u32(&in, &magic))
		return true;
	if (magic != ITEM_MAGIC)
		return false;
	if (!bytes_u32(&in, &kind) || !bytes_u32(&in, &buffer) || !bytes_u32(&in, &key_len) || !bytes_u64(&in, &len))
		return true;
	return kind && kind < LEDGER_KIND_END && key_len <= KEY_MAX && len <= max && in.left < key_len + len + 2;
}

int ledger_sync(const struct ledger *ledger, struct fail *fail)
{
	return fdatasync(ledger->fd) ?
		       fail_set(fail, -errno, "cannot sync '%s' to the disk: %s", file_name, strerror(errno)) :
		       0;
}

int ledger_load(struct ledger *ledger, struct fail *fail)
{
	struct ledger_item item;
	struct stat st;
	struct bytes in;

	ledger_unload(ledger);
	if (fstat(ledger->fd, &st))
		return fail_set(fail, -errno, "cannot read '%s': %s", file_name, strerror(errno));
	if (!st.st_size)
		return 0;
	ledger->map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, ledger->fd, 0);
	if (ledger->map == MAP_FAILED) {
		ledger->map = NULL;
		return fail_set(fail, -errno, "cannot map '%s': %s", file_name, strerror(errno));
	}
	ledger->map_len = (size_t)st.st_size;
	in = bytes_of(ledger->map, ledger->map_len, false);
	while (ledger_take(&in, &item))
		if (!items_add(ledger, &item))
			return fail_memory(fail);
	ledger->torn = in.left;
	return 0;
}

const struct ledger_item *ledger_at(const struct ledger *ledger, size_t index)
{
	return index < ledger->nr ? &ledger->items[index] : NULL;
}

const struct ledger_item *ledger_find(const struct ledger *ledger, enum ledger_kind kind, uint32_t buffer,
				      const char *key)
{
	for (size_t i = ledger->nr; i-- > 0;) {
		const struct ledger_item *item = &ledger->items[i];

		if (item->kind == kind && item->buffer == buffer && (!key || !strcmp(item->key, key)))
			return item;
	}
	return NULL;
}

const char *ledger_text(const struct ledger *ledger, enum ledger_kind kind)
{
	const struct ledger_item *item = ledger_find(ledger, kind, 0, NULL);

	return item ? item->data : NULL;
}

uint64_t ledger_torn(const struct ledger *ledger)
{
	return ledger->torn;
}
