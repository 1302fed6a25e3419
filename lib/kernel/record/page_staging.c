// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/page_staging_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/trust.h"
#include "lib/kernel/record/spool.h"

enum {
	PAGE_STAGING_MAGIC = 0x6c706677,
	PAGE_STAGING_HEAD = 4096,     /* bytes before the pages */
	PAGE_STAGING_MAX = 256 << 20, /* a larger file is none of weft's */
	PAGE_STAGING_NAME = SPOOL_NAME + 8,
};

/* At the start of the file, in this machine's byte order. */
struct page_staging_head {
	uint32_t magic;
	uint32_t page_size;
	uint32_t fetching;
};

static const char *page_staging_name(char into[PAGE_STAGING_NAME], uint32_t buffer, uint32_t cpu)
{
	char spool[SPOOL_NAME];

	snprintf(into, PAGE_STAGING_NAME, "%s.pages", spool_name(spool, buffer, cpu));
	return into;
}

/* Each byte is written: a hole of a full filesystem would kill the process that touches it. */
static int fill(int fd, size_t size, struct fail *fail)
{
	static const char zeros[PAGE_STAGING_HEAD];
	int err = 0;

	for (size_t at = 0; !err && at < size; at += sizeof(zeros))
		err = io_write(fd, zeros, size - at < sizeof(zeros) ? size - at : sizeof(zeros));
	return err ? fail_set(fail, err, FAIL_WRITE "%s", strerror(-err)) : 0;
}

static int map_new(int dir, const char *name, size_t size, void **ret, struct fail *fail)
{
	int err, fd = openat(dir, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make '%s': %s", name, strerror(errno));
	err = fill(fd, size, fail);
	if (!err) {
		*ret = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (*ret == MAP_FAILED)
			err = fail_set(fail, -errno, "cannot map '%s': %s", name, strerror(errno));
	}
	close(fd);
	return err;
}

int page_staging_new(int dir, uint32_t buffer, uint32_t cpu, uint32_t page_size, size_t size, struct page_staging **ret,
		     struct fail *fail)
{
	struct page_staging *staging = calloc(1, sizeof(*staging));
	char name[PAGE_STAGING_NAME];
	void *memory = NULL;
	int err = 0;

	if (!staging)
		return fail_memory(fail);
	if (dir >= 0)
		err = map_new(dir, page_staging_name(name, buffer, cpu), PAGE_STAGING_HEAD + size, &memory, fail);
	else if (!(memory = calloc(1, PAGE_STAGING_HEAD + size)))
		err = fail_memory(fail);
	if (err) {
		free(staging);
		return err;
	}
	*staging = (struct page_staging){ .pages = (char *)memory + PAGE_STAGING_HEAD,
					  .size = size,
					  .page_size = page_size,
					  .head = memory,
					  .shared = dir >= 0 };
	staging->head->page_size = page_size;
	__atomic_store_n(&staging->head->magic, PAGE_STAGING_MAGIC, __ATOMIC_RELEASE);
	*ret = staging;
	return 0;
}

void page_staging_free(struct page_staging *staging)
{
	if (!staging)
		return;
	if (staging->shared)
		munmap(staging->head, PAGE_STAGING_HEAD + staging->size);
	else
		free(staging->head);
	free(staging);
}

void page_staging_clear(struct page_staging *staging)
{
	/* The first page goes first: a kill in between leaves none. */
	for (size_t at = 0; at < staging->used; at += staging->page_size)
		__atomic_store_n((uint64_t *)(void *)(staging->pages + at), 0, __ATOMIC_RELEASE);
	staging->used = 0;
}

void page_staging_fetching(struct page_staging *staging, bool fetching)
{
	__atomic_store_n(&staging->head->fetching, fetching, __ATOMIC_RELEASE);
}

/* Bytes of pages that have landed. Their heads are plausible. */
static size_t count(const char *pages, size_t size, const struct page_shape *shape)
{
	size_t len = 0;
	uint64_t ts;
	uint32_t commit;

	while (size - len >= shape->size && !page_head(shape, pages + len, shape->size, &ts, &commit, NULL) && ts)
		len += shape->size;
	return len;
}

/* Bytes of the pages that the spool has: they end with its last one. */
static size_t count_spooled(const struct landed *landed, const struct spool *spool)
{
	size_t size = spool->options.shape.size, spooled = 0;

	for (size_t at = 0; spool->last && at < landed->len; at += size)
		if (!memcmp(landed->pages + at, spool->last, size))
			spooled = at + size;
	return spooled;
}

static int read_left(int fd, size_t size, const struct spool *spool, struct landed *ret, struct fail *fail)
{
	struct page_staging_head head;
	struct landed landed = { .pages = malloc(size) };
	size_t spooled;

	if (!landed.pages)
		return fail_memory(fail);
	if (io_pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) || head.magic != PAGE_STAGING_MAGIC ||
	    head.page_size != spool->options.shape.size ||
	    io_pread(fd, landed.pages, size, PAGE_STAGING_HEAD) != (ssize_t)size) {
		free(landed.pages);
		return 0;
	}
	landed.fetching = head.fetching;
	landed.len = count(landed.pages, size, &spool->options.shape);
	spooled = count_spooled(&landed, spool);
	landed.len -= spooled;
	memmove(landed.pages, landed.pages + spooled, landed.len);
	*ret = landed;
	return 0;
}

int page_staging_left(int dir, uint32_t buffer, uint32_t cpu, const struct spool *spool, struct landed *ret,
		      struct fail *fail)
{
	char name[PAGE_STAGING_NAME];
	cleanup_fd int fd =
		openat(dir, page_staging_name(name, buffer, cpu), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int err;

	*ret = (struct landed){ .pages = NULL };
	if (fd < 0)
		return 0;
	err = trust_check(fd, S_IFREG, name, fail);
	if (err)
		return err;
	if (fstat(fd, &st) || st.st_size <= PAGE_STAGING_HEAD || st.st_size > PAGE_STAGING_MAX)
		return 0;
	return read_left(fd, (size_t)st.st_size - PAGE_STAGING_HEAD, spool, ret, fail);
}
