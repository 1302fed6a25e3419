// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/memory/dump/dump_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"

enum { HEADER = 4096, PIECE_HEAD = 16, PIECES_MAX = 4 << 20, OVERLAPS_MAX = 256 };

static const char signature[16] = "makedumpfile";

static uint64_t load_be64(const uint8_t *at)
{
	return load_u64(at, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

static int by_place(const void *a, const void *b)
{
	const struct flat_piece *one = a, *other = b;

	if (one->at != other->at)
		return one->at < other->at ? -1 : 1;
	return one->number < other->number ? -1 : 1;
}

static void order(struct flat *flat)
{
	uint64_t highest = 0;

	if (flat->nr_pieces)
		qsort(flat->pieces, flat->nr_pieces, sizeof(*flat->pieces), by_place);
	for (size_t i = 0; i < flat->nr_pieces; i++) {
		if (flat->pieces[i].end > highest)
			highest = flat->pieces[i].end;
		flat->pieces[i].highest = highest;
	}
	flat->size = highest;
}

/* A list that ends early is one whose transfer was cut off: its pieces count. */
static int index_pieces(struct flat *flat, const char *path, struct fail *fail)
{
	uint64_t from = HEADER;

	while (from + PIECE_HEAD <= flat->input.size) {
		uint8_t head[PIECE_HEAD];
		uint64_t at, len;
		struct flat_piece *piece;
		int r = input_read(&flat->input, from, head, sizeof(head), fail);

		if (r)
			return r;
		at = load_be64(head);
		len = load_be64(head + 8);
		if ((int64_t)at < 0)
			break;
		from += PIECE_HEAD;
		if (len > flat->input.size - from)
			len = flat->input.size - from;
		if (at + len < at || flat->nr_pieces == PIECES_MAX)
			return fail_set(fail, -EBADMSG, "'%s' is flattened by makedumpfile, and damaged", path);
		piece = vec_push(flat->pieces, flat->nr_pieces);
		if (!piece)
			return fail_memory(fail);
		*piece = (struct flat_piece){
			.at = at, .end = at + len, .from = from, .number = (uint32_t)flat->nr_pieces
		};
		from += len;
	}
	order(flat);
	return 0;
}

int flat_open(struct flat *flat, int fd, const char *path, struct fail *fail)
{
	uint8_t head[sizeof(signature)];
	int r = input_init(&flat->input, fd, path, fail);

	if (r)
		return r;
	flat->size = flat->input.size;
	if (flat->size < HEADER)
		return fail_set(fail, -EBADMSG, "'%s' is no dump of a kernel: it is too short", path);
	r = input_read(&flat->input, 0, head, sizeof(head), fail);
	if (r)
		return r;
	flat->flattened = !memcmp(head, signature, sizeof(signature));
	return flat->flattened ? index_pieces(flat, path, fail) : 0;
}

void flat_release(struct flat *flat)
{
	input_release(&flat->input);
	free(flat->pieces);
}

/* The first piece that may reach beyond this place. */
static size_t first_piece(const struct flat *flat, uint64_t at)
{
	return vec_count(flat->nr_pieces, i, flat->pieces[i].highest <= at);
}

static int by_number(const void *a, const void *b)
{
	const struct flat_piece *const *one = a, *const *other = b;

	return (*one)->number < (*other)->number ? -1 : 1;
}

static bool read_pieces(const struct flat *flat, uint64_t at, uint8_t *into, size_t len)
{
	const struct flat_piece *found[OVERLAPS_MAX];
	size_t nr = 0;

	memset(into, 0, len);
	for (size_t i = first_piece(flat, at); i < flat->nr_pieces && flat->pieces[i].at < at + len; i++) {
		if (flat->pieces[i].end <= at)
			continue;
		if (nr == OVERLAPS_MAX)
			return false;
		found[nr++] = &flat->pieces[i];
	}
	qsort(found, nr, sizeof(*found), by_number);
	for (size_t i = 0; i < nr; i++) {
		uint64_t from = found[i]->at > at ? found[i]->at : at;
		uint64_t to = found[i]->end < at + len ? found[i]->end : at + len;

		if (input_read(&flat->input, found[i]->from + (from - found[i]->at), into + (from - at),
			       (size_t)(to - from), NULL))
			return false;
	}
	return true;
}

bool flat_read(const struct flat *flat, uint64_t at, void *into, size_t len)
{
	if (at > flat->size || len > flat->size - at)
		return false;
	return flat->flattened ? read_pieces(flat, at, into, len) : !input_read(&flat->input, at, into, len, NULL);
}

uint64_t flat_data(const struct flat *flat, uint64_t at, uint64_t *ret_end)
{
	off_t data, hole;

	*ret_end = flat->size;
	if (flat->flattened || at >= flat->size)
		return at;
	data = lseek(flat->input.fd, (off_t)at, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? flat->size : at;
	hole = lseek(flat->input.fd, data, SEEK_HOLE);
	if (hole > data)
		*ret_end = (uint64_t)hole;
	return (uint64_t)data;
}
