// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/record/edge_internal.h"

#include <errno.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/bytes.h"
#include "lib/base/fail.h"
#include "lib/base/io.h"
#include "lib/codec/frame.h"
#include "lib/record/held_internal.h"
#include "lib/record/spool.h"
#include "lib/ring/page.h"
#include "lib/ring/page_trim.h"

struct edges {
	struct frame_reader *reader;
	struct frame_writer *writer;
	struct spool spool; /* the trimmed chunks */
	struct buf packed, in, out;
};

/* A chunk of a spool: the bytes of its pages, and the times of its events after they were trimmed. */
struct chunk {
	uint32_t size, raw; /* with its head */
	uint64_t first, last;
};

int edges_new(struct edges **ret, struct fail *fail)
{
	static const struct spool_options options = { .compressed = true };
	struct edges *edges = calloc(1, sizeof(*edges));
	int err;

	if (!edges)
		return fail_memory(fail);
	edges->spool.fd = -1;
	err = spool_new_in_memory(&options, &edges->spool, fail);
	if (!err)
		err = frame_reader_new(&edges->reader, fail);
	if (!err)
		err = frame_writer_new(FRAME_LEVEL_DEFAULT, &edges->writer, fail);
	if (err) {
		edges_free(edges);
		return err;
	}
	frame_writer_pages(edges->writer);
	*ret = edges;
	return 0;
}

void edges_free(struct edges *edges)
{
	if (!edges)
		return;
	frame_reader_free(edges->reader);
	frame_writer_free(edges->writer);
	spool_release(&edges->spool);
	buf_release(&edges->packed);
	buf_release(&edges->in);
	buf_release(&edges->out);
	free(edges);
}

static int read_exactly(int fd, void *into, size_t len, uint64_t at, struct fail *fail)
{
	ssize_t got = io_pread(fd, into, len, at);

	return got == (ssize_t)len ? 0 : fail_set(fail, got < 0 ? (int)got : -EIO, "cannot read back a spool");
}

/* Decompresses the chunk at this offset into edges->in. */
static int read_chunk(struct edges *edges, int fd, uint64_t offset, const struct page_shape *shape, struct chunk *ret,
		      struct fail *fail)
{
	uint8_t head[SPOOL_CHUNK_HEAD];
	uint32_t packed, raw;
	int err = read_exactly(fd, head, sizeof(head), offset, fail);

	if (err)
		return err;
	packed = load_u32(head, false);
	raw = load_u32(head + 4, false);
	if (!raw || raw % shape->size || raw > (uint64_t)shape->size * SPOOL_CHUNK_PAGES || packed > frame_bound(raw))
		return fail_set(fail, -EBADMSG, "a spool has a damaged chunk");
	buf_clear(&edges->packed);
	buf_clear(&edges->in);
	if (!buf_reserve(&edges->packed, packed) || !buf_reserve(&edges->in, raw))
		return fail_memory(fail);
	err = read_exactly(fd, edges->packed.data, packed, offset + sizeof(head), fail);
	if (!err)
		err = frame_read(edges->reader, edges->packed.data, packed, edges->in.data, raw, fail);
	*ret = (struct chunk){ .size = (uint32_t)sizeof(head) + packed, .raw = raw };
	return err;
}

/* Copies the pages of edges->in without the events of other times to edges->out. */
static int trim_pages(struct edges *edges, const struct page_shape *shape, uint64_t from, uint64_t to,
		      struct chunk *chunk, struct fail *fail)
{
	uint32_t raw = chunk->raw;

	buf_clear(&edges->out);
	if (!buf_reserve(&edges->out, raw))
		return fail_memory(fail);
	chunk->raw = 0;
	for (uint32_t at = 0; at < raw; at += shape->size) {
		uint64_t first, last;
		int r = page_trim(shape, edges->in.data + at, from, to, edges->out.data + chunk->raw, &first, &last,
				  fail);

		if (r < 0)
			return r;
		if (!r)
			continue;
		chunk->first = chunk->raw ? chunk->first : first;
		chunk->last = last;
		chunk->raw += shape->size;
	}
	return 0;
}

/* Appends the pages of edges->out as a chunk to the memory. */
static int write_chunk(struct edges *edges, struct chunk *chunk, struct fail *fail)
{
	size_t room = frame_bound(chunk->raw), size = 0;
	int err;

	buf_clear(&edges->packed);
	if (!buf_reserve(&edges->packed, SPOOL_CHUNK_HEAD + room))
		return fail_memory(fail);
	err = frame_write(edges->writer, edges->out.data, chunk->raw, edges->packed.data + SPOOL_CHUNK_HEAD, room,
			  &size, fail);
	if (err)
		return err;
	chunk->size = (uint32_t)(SPOOL_CHUNK_HEAD + size);
	spool_chunk_head(&edges->spool.options, (uint32_t)size, chunk->raw, edges->packed.data);
	return spool_append(&edges->spool, edges->packed.data, chunk->size, 1, chunk->raw, fail);
}

/* What edges_divide() works on. */
struct division {
	struct edges *edges;
	struct held_piece *piece, left; /* before and after */
	const struct page_shape *shape;
	uint64_t from, to;
	struct assembly_piece *at;
	size_t nr;
};

static void add_run(struct division *division, int fd, uint64_t offset, uint64_t size, uint32_t chunks)
{
	const struct held_piece *piece = division->piece;

	division->at[division->nr] = (struct assembly_piece){
		.buffer = piece->buffer,
		.cpu = piece->cpu,
		.run = (uint32_t)division->nr,
		.fd = fd,
		.offset = offset,
		.size = size,
		.chunks = chunks,
	};
	division->nr++;
	division->left.size += size;
	division->left.chunks += chunks;
}

/* Adds what is left of the chunk at this offset. *ret_size: the bytes that the whole chunk has in the spool. */
static int add_edge(struct division *division, uint64_t offset, uint64_t *ret_size, struct fail *fail)
{
	struct edges *edges = division->edges;
	struct held_piece *left = &division->left;
	struct chunk chunk = { .size = 0 };
	int err = read_chunk(edges, division->piece->fd, offset, division->shape, &chunk, fail);

	if (err)
		return err;
	*ret_size = chunk.size;
	left->raw -= chunk.raw;
	err = trim_pages(edges, division->shape, division->from, division->to, &chunk, fail);
	if (err || !chunk.raw)
		return err;
	err = write_chunk(edges, &chunk, fail);
	if (err)
		return err;
	left->raw += chunk.raw;
	left->first = offset == division->piece->offset ? chunk.first : left->first;
	left->last = offset == division->piece->last_offset ? chunk.last : left->last;
	add_run(division, edges->spool.fd, edges->spool.end - chunk.size, chunk.size, 1);
	return 0;
}

static int divide(struct division *division, struct fail *fail)
{
	const struct held_piece *piece = division->piece;
	uint64_t begin = piece->offset, end = piece->offset + piece->size, size;
	bool cut_first = piece->first<division->from, cut_last = piece->last> division->to;
	uint32_t chunks = piece->chunks;
	int err = 0;

	if (cut_last && begin == piece->last_offset)
		cut_first = true;
	if (cut_first) {
		err = add_edge(division, begin, &size, fail);
		begin += err ? 0 : size;
		chunks--;
	}
	cut_last = cut_last && chunks;
	if (cut_last)
		end = piece->last_offset;
	chunks -= cut_last;
	if (!err && chunks)
		add_run(division, piece->fd, begin, end - begin, chunks);
	return err || !cut_last ? err : add_edge(division, piece->last_offset, &size, fail);
}

int edges_divide(struct edges *edges, struct held_piece *piece, const struct page_shape *shape, uint64_t from,
		 uint64_t to, struct assembly_piece ret[ASSEMBLY_RUNS], size_t *ret_nr, struct fail *fail)
{
	struct division division = {
		.edges = edges, .piece = piece, .left = *piece, .shape = shape, .from = from, .to = to, .at = ret
	};
	int err;

	*ret_nr = 0;
	if (!piece->chunks)
		return 0;
	division.left.size = division.left.chunks = 0;
	division.left.first = piece->first < from ? from : piece->first;
	division.left.last = piece->last > to ? to : piece->last;
	err = divide(&division, fail);
	if (err)
		return err;
	*piece = division.left;
	*ret_nr = division.nr;
	return 0;
}
