// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/trust.h"
#include "lib/pages/codec/frame.h"

enum { SPOOL_MAGIC = 0x74706677 };

/* The header at the start of the file, in this machine's byte order. */
struct spool_head {
	uint32_t magic;
	uint32_t version;
	uint64_t begin;
	uint64_t dropped;
};

/* When the cap is reached, this fraction of it is given up at once. */
enum { CAP_STEPS = 16 };

const char *spool_name(char into[SPOOL_NAME], uint32_t buffer, uint32_t cpu)
{
	snprintf(into, SPOOL_NAME, "%u.%u", buffer, cpu);
	return into;
}

static int head_write(int fd, uint64_t begin, uint64_t dropped, struct fail *fail)
{
	struct spool_head head = { SPOOL_MAGIC, 1, begin, dropped };
	ssize_t done = pwrite(fd, &head, sizeof(head), 0);

	if (done == (ssize_t)sizeof(head))
		return 0;
	return fail_set(fail, done < 0 ? -errno : -ENOSPC, FAIL_WRITE "%s", strerror(done < 0 ? errno : ENOSPC));
}

int spool_new(int dir, uint32_t buffer, uint32_t cpu, const struct spool_options *options, struct spool *ret,
	      struct fail *fail)
{
	char name[SPOOL_NAME];
	struct spool spool = { .options = *options, .begin = SPOOL_HEAD_SIZE, .end = SPOOL_HEAD_SIZE };
	int err;

	spool.fd = openat(dir, spool_name(name, buffer, cpu), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (spool.fd < 0)
		return fail_set(fail, -errno, "cannot make spool '%s': %s", name, strerror(errno));
	err = head_write(spool.fd, spool.begin, 0, fail);
	if (!err && lseek(spool.fd, SPOOL_HEAD_SIZE, SEEK_SET) < 0)
		err = fail_set(fail, -errno, "cannot seek in spool '%s': %s", name, strerror(errno));
	if (!err && options->cap &&
	    fallocate(spool.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, SPOOL_HEAD_SIZE, 4096))
		err = fail_set(fail, -errno,
			       "the filesystem of the parts cannot free blocks inside a file (%s), which -m needs; "
			       "choose another with --temp-dir",
			       strerror(errno));
	if (err) {
		close(spool.fd);
		return err;
	}
	*ret = spool;
	return 0;
}

int spool_new_in_memory(const struct spool_options *options, struct spool *ret, struct fail *fail)
{
	struct spool spool = { .options = *options, .begin = SPOOL_HEAD_SIZE, .end = SPOOL_HEAD_SIZE };

	spool.fd = memfd_create("weft-spool", MFD_CLOEXEC);
	if (spool.fd < 0)
		return fail_set(fail, -errno, "cannot make a file in memory: %s", strerror(errno));
	if (lseek(spool.fd, SPOOL_HEAD_SIZE, SEEK_SET) < 0) {
		int err = fail_set(fail, -errno, "cannot seek in memory: %s", strerror(errno));

		spool_release(&spool);
		return err;
	}
	*ret = spool;
	return 0;
}

void spool_release(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	spool->fd = -1;
	free(spool->last);
	spool->last = NULL;
}

void spool_chunk_head(const struct spool_options *options, uint32_t size, uint32_t usize, void *into)
{
	uint32_t head[2] = { size, usize };

	if (options->swap) {
		head[0] = __builtin_bswap32(size);
		head[1] = __builtin_bswap32(usize);
	}
	memcpy(into, head, sizeof(head));
}

/*
 * The bytes of pages in the oldest chunk or page, which is at `begin`; 0: it cannot be read. *ret_size: its bytes in
 * the file.
 */
static uint32_t oldest_size(const struct spool *spool, uint64_t begin, uint64_t *ret_size)
{
	uint8_t head[SPOOL_CHUNK_HEAD];

	if (!spool->options.compressed) {
		*ret_size = spool->options.shape.size;
		return spool->options.shape.size;
	}
	if (pread(spool->fd, head, sizeof(head), (off_t)begin) != (ssize_t)sizeof(head))
		return 0;
	*ret_size = SPOOL_CHUNK_HEAD + (uint64_t)load_u32(head, spool->options.swap);
	return load_u32(head + 4, spool->options.swap);
}

int spool_give_up(int fd, uint64_t from, uint64_t begin, uint64_t dropped, struct fail *fail)
{
	uint64_t end = begin / SPOOL_BLOCK * SPOOL_BLOCK;
	int err = head_write(fd, begin, dropped, fail);

	from = from < SPOOL_HEAD_SIZE ? SPOOL_HEAD_SIZE : from / SPOOL_BLOCK * SPOOL_BLOCK;
	if (err || end <= from)
		return err;
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(end - from)))
		return fail_set(fail, -errno, "cannot free space of a spool: %s", strerror(errno));
	return 0;
}

uint64_t spool_backlog(const struct spool *spool)
{
	struct spool_head head;

	if (pread(spool->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) || head.begin > spool->end)
		return spool_size(spool);
	return spool->end - head.begin;
}

static int cap_keep(struct spool *spool, struct fail *fail)
{
	uint64_t keep = spool->options.cap - spool->options.cap / CAP_STEPS;
	uint64_t from = spool->begin;

	if (spool->raw <= spool->options.cap)
		return 0;
	while (spool->raw > keep) {
		uint64_t size = 0;
		uint32_t raw = oldest_size(spool, spool->begin, &size);

		if (!raw || size > spool_size(spool))
			return fail_set(fail, -EIO, "cannot read back a spool");
		spool->begin += size;
		spool->raw -= raw;
		spool->dropped += raw;
		spool->chunks -= spool->options.compressed;
	}
	return spool_give_up(spool->fd, from, spool->begin, spool->dropped, fail);
}

static int appended(struct spool *spool, size_t len, uint32_t chunks, uint64_t raw, struct fail *fail)
{
	spool->end += len;
	spool->chunks += chunks;
	spool->raw += raw;
	return spool->options.cap ? cap_keep(spool, fail) : 0;
}

/* Removes torn bytes at the end, which a reader of the spool would take for a chunk. */
void spool_cut(struct spool *spool)
{
	if (ftruncate(spool->fd, (off_t)spool->end) || lseek(spool->fd, (off_t)spool->end, SEEK_SET) < 0)
		spool->torn = 1;
}

bool spool_reserve(const struct spool *spool, size_t len)
{
	return !fallocate(spool->fd, FALLOC_FL_KEEP_SIZE, (off_t)spool->end, (off_t)len) ||
	       (errno != ENOSPC && errno != ENOMEM);
}

int spool_put(struct spool *spool, const void *data, size_t len, struct fail *fail)
{
	int err = io_write(spool->fd, data, len);

	return err ? fail_set(fail, err, FAIL_WRITE "%s", strerror(-err)) : 0;
}

int spool_append(struct spool *spool, const void *data, size_t len, uint32_t chunks, uint64_t raw, struct fail *fail)
{
	int err = spool_put(spool, data, len, fail);

	if (err) {
		spool_cut(spool);
		return err;
	}
	return appended(spool, len, chunks, raw, fail);
}

size_t spool_chunk_max(const struct spool_options *options, size_t max)
{
	uint64_t pages = options->cap / CAP_STEPS / options->shape.size;

	if (!options->cap || pages >= max / options->shape.size)
		return max;
	return pages ? (size_t)pages * options->shape.size : options->shape.size;
}

int spool_stored(struct spool *spool, size_t len, uint64_t raw, struct fail *fail)
{
	return appended(spool, len, 1, raw, fail);
}

int spool_moved(struct spool *spool, size_t len, struct fail *fail)
{
	return appended(spool, len, 0, len, fail);
}

/* Finds the whole chunks that decompress to whole pages. Stops at the first chunk that does not. */
static int scan_chunks(struct spool *spool, struct bytes in, struct fail *fail)
{
	size_t usize_max = (size_t)spool->options.shape.size * SPOOL_CHUNK_PAGES;
	cleanup_free char *pages = malloc(usize_max);
	cleanup_free char *last = malloc(spool->options.shape.size);
	struct frame_reader *reader;
	int err = pages && last ? frame_reader_new(&reader, fail) : fail_memory(fail);

	if (err)
		return err;
	in.swap = spool->options.swap;
	while (in.left) {
		const uint8_t *frame;
		uint32_t size, usize;

		if (!bytes_u32(&in, &size) || !bytes_u32(&in, &usize) || !size || !usize || usize > usize_max ||
		    usize % spool->options.shape.size || !bytes_take(&in, size, &frame) ||
		    frame_read(reader, frame, size, pages, usize, NULL))
			break;
		memcpy(last, pages + usize - spool->options.shape.size, spool->options.shape.size);
		spool->end += SPOOL_CHUNK_HEAD + (uint64_t)size;
		spool->chunks++;
		spool->raw += usize;
	}
	frame_reader_free(reader);
	if (spool->chunks)
		spool->last = take(last);
	return 0;
}

int spool_scan(struct spool *spool, struct fail *fail)
{
	struct spool_head head;
	struct stat st;
	void *map;
	int err = 0;

	if (fstat(spool->fd, &st))
		return fail_set(fail, -errno, "cannot read a spool: %s", strerror(errno));
	/* The recorder was killed before it wrote the header: the spool has no pages. */
	if (pread(spool->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) || st.st_size <= SPOOL_HEAD_SIZE)
		return 0;
	if (head.magic != SPOOL_MAGIC || head.version != 1 || head.begin < SPOOL_HEAD_SIZE ||
	    head.begin > (uint64_t)st.st_size)
		return fail_set(fail, -EBADMSG, "a spool's head is damaged");
	spool->begin = spool->end = head.begin;
	spool->dropped = head.dropped;
	if (!spool->options.compressed) {
		spool->raw =
			((uint64_t)st.st_size - head.begin) / spool->options.shape.size * spool->options.shape.size;
		spool->end += spool->raw;
	} else if ((uint64_t)st.st_size > head.begin) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, spool->fd, 0);
		if (map == MAP_FAILED)
			return fail_set(fail, -errno, "cannot map a spool: %s", strerror(errno));
		err = scan_chunks(spool,
				  bytes_of((char *)map + head.begin, (size_t)((uint64_t)st.st_size - head.begin),
					   false),
				  fail);
		munmap(map, (size_t)st.st_size);
	}
	spool->torn = (uint64_t)st.st_size - spool->end;
	return err;
}

int spool_open_unread(int dir, uint32_t buffer, uint32_t cpu, const struct spool_options *options, struct spool *ret,
		      struct fail *fail)
{
	char name[SPOOL_NAME];
	struct spool spool = { .options = *options, .begin = SPOOL_HEAD_SIZE, .end = SPOOL_HEAD_SIZE };
	int err;

	spool.fd = openat(dir, spool_name(name, buffer, cpu), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (spool.fd < 0)
		return fail_set(fail, -errno, "cannot open spool '%s': %s", name, strerror(errno));
	err = trust_check(spool.fd, S_IFREG, name, fail);
	if (err) {
		spool_release(&spool);
		return err;
	}
	*ret = spool;
	return 0;
}

int spool_open(int dir, uint32_t buffer, uint32_t cpu, const struct spool_options *options, struct spool *ret,
	       struct fail *fail)
{
	char name[SPOOL_NAME];
	struct spool spool;
	int err = spool_open_unread(dir, buffer, cpu, options, &spool, fail);

	if (err)
		return err;
	spool_name(name, buffer, cpu);
	err = spool_scan(&spool, fail);
	if (!err && spool.torn && ftruncate(spool.fd, (off_t)spool.end))
		err = fail_set(fail, -errno, "cannot shorten spool '%s': %s", name, strerror(errno));
	if (!err && lseek(spool.fd, (off_t)spool.end, SEEK_SET) < 0)
		err = fail_set(fail, -errno, "cannot seek in spool '%s': %s", name, strerror(errno));
	if (err) {
		spool_release(&spool);
		return err;
	}
	*ret = spool;
	return 0;
}
