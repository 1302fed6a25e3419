// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/event_count_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/spool.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/ring/page.h"

static int count_page(const struct page_shape *shape, const uint8_t *data, struct event_count *kept, struct fail *fail)
{
	struct record record;
	struct page page;
	int r = page_init(&page, shape, data, shape->size, fail);

	if (!r && page.lost > 0)
		kept->lost += (uint64_t)page.lost;
	if (!kept->events)
		kept->first = kept->lost;
	while (!r && (r = page_next(&page, &record, fail)) > 0) {
		kept->events++;
		r = 0;
	}
	return r;
}

static int count_pages(const struct page_shape *shape, const uint8_t *data, uint64_t len, struct event_count *kept,
		       struct fail *fail)
{
	int err = 0;

	for (uint64_t at = 0; !err && len - at >= shape->size; at += shape->size)
		err = count_page(shape, data + at, kept, fail);
	return err;
}

static int count_chunks(const struct page_shape *shape, struct bytes in, struct event_count *kept, struct fail *fail)
{
	size_t size_max = (size_t)shape->size * SPOOL_CHUNK_PAGES;
	cleanup_free uint8_t *pages = malloc(size_max);
	struct frame_reader *reader;
	int err = pages ? frame_reader_new(&reader, fail) : fail_memory(fail);

	if (err)
		return err;
	while (!err && in.left) {
		const uint8_t *frame;
		uint32_t size, usize;

		if (!bytes_u32(&in, &size) || !bytes_u32(&in, &usize) || usize > size_max ||
		    !bytes_take(&in, size, &frame)) {
			err = fail_set(fail, -EBADMSG, "a spool was changed while it was recorded");
			break;
		}
		err = frame_read(reader, frame, size, pages, usize, fail);
		if (!err)
			err = count_pages(shape, pages, usize, kept, fail);
	}
	frame_reader_free(reader);
	return err;
}

int event_count_count(const struct spool *spool, struct event_count *ret, struct fail *fail)
{
	const struct page_shape *shape = &spool->options.shape;
	struct event_count kept = { .events = 0 };
	void *map;
	int err;

	*ret = kept;
	if (!spool_size(spool))
		return 0;
	map = mmap(NULL, (size_t)spool->end, PROT_READ, MAP_PRIVATE, spool->fd, 0);
	if (map == MAP_FAILED)
		return fail_set(fail, -errno, "cannot map a spool: %s", strerror(errno));
	if (spool->options.compressed)
		err = count_chunks(shape,
				   bytes_of((char *)map + spool->begin, (size_t)spool_size(spool), spool->options.swap),
				   &kept, fail);
	else
		err = count_pages(shape, (uint8_t *)map + spool->begin, spool_size(spool), &kept, fail);
	munmap(map, (size_t)spool->end);
	*ret = kept;
	return err;
}
