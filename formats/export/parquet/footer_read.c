// SPDX-License-Identifier: LGPL-2.1-or-later
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/parquet/file_internal.h"
#include "formats/export/parquet/read_internal.h"
#include "formats/export/parquet/thrift_internal.h"
#include "formats/export/parquet/thrift_read_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"

enum { MAGIC = 4, TAIL = 8 };

struct footing {
	struct parquet_footer *footer;
	const struct column_shape *shapes;
	size_t nr;
	uint64_t end; /* of the pages: where the footer begins */
	bool starved;
};

/* An element of the schema. */
struct element {
	int64_t type, repetition, children;
	struct bytes name;
};

static bool take_int(struct bytes *in, unsigned type, int64_t *ret)
{
	return (type == THRIFT_I32 || type == THRIFT_I64) && thrift_read_int(in, ret);
}

static bool element_field(void *arg, uint32_t field, unsigned type, struct bytes *in, bool *skip)
{
	struct element *element = arg;

	switch (field) {
	case 1:
		return take_int(in, type, &element->type);
	case 3:
		return take_int(in, type, &element->repetition);
	case 4:
		return type == THRIFT_BINARY && thrift_read_bytes(in, &element->name);
	case 5:
		return take_int(in, type, &element->children);
	default:
		*skip = true;
		return true;
	}
}

static bool is_column(const struct element *element, const struct column_shape *shape)
{
	return element->type == parquet_column_type(shape) && element->repetition == shape->optional &&
	       !element->children && element->name.left == strlen(shape->name) &&
	       !memcmp(element->name.at, shape->name, element->name.left);
}

static bool read_schema(struct footing *footing, struct bytes *in)
{
	unsigned type;
	size_t nr;

	if (!thrift_read_list(in, &type, &nr) || type != THRIFT_STRUCT || nr < 2 || nr - 1 > footing->nr)
		return false;
	for (size_t i = 0; i < nr; i++) {
		struct element element = { .type = -1 };

		if (!thrift_read_struct(in, element_field, &element))
			return false;
		if (i ? !is_column(&element, &footing->shapes[i - 1]) : element.children != (int64_t)nr - 1)
			return false;
	}
	for (size_t i = nr - 1; i < footing->nr; i++)
		if (!footing->shapes[i].optional)
			return false;
	footing->footer->nr_columns = nr - 1;
	return true;
}

/* A ColumnMetaData. */
struct chunk {
	int64_t codec, values, packed, pages, dictionary;
	struct bytes most;
};

static bool statistics_field(void *arg, uint32_t field, unsigned type, struct bytes *in, bool *skip)
{
	*skip = field != 5;
	return *skip || (type == THRIFT_BINARY && thrift_read_bytes(in, arg));
}

static bool meta_field(void *arg, uint32_t field, unsigned type, struct bytes *in, bool *skip)
{
	struct chunk *chunk = arg;

	switch (field) {
	case 4:
		return take_int(in, type, &chunk->codec);
	case 5:
		return take_int(in, type, &chunk->values);
	case 7:
		return take_int(in, type, &chunk->packed);
	case 9:
		return take_int(in, type, &chunk->pages);
	case 11:
		return take_int(in, type, &chunk->dictionary);
	case 12:
		return type == THRIFT_STRUCT && thrift_read_struct(in, statistics_field, &chunk->most);
	default:
		*skip = true;
		return true;
	}
}

static bool chunk_field(void *arg, uint32_t field, unsigned type, struct bytes *in, bool *skip)
{
	*skip = field != 3;
	return field != 3 || (type == THRIFT_STRUCT && thrift_read_struct(in, meta_field, arg));
}

struct grouping {
	struct footing *footing;
	struct parquet_read_group *group;
	struct chunk chunks[PARQUET_READ_COLUMNS];
	size_t nr;
	int64_t rows;
};

static bool group_field(void *arg, uint32_t field, unsigned type, struct bytes *in, bool *skip)
{
	struct grouping *grouping = arg;
	unsigned of;

	if (field == 3)
		return take_int(in, type, &grouping->rows);
	*skip = field != 1;
	if (field != 1)
		return true;
	if (type != THRIFT_LIST || grouping->nr || !thrift_read_list(in, &of, &grouping->nr) || of != THRIFT_STRUCT ||
	    grouping->nr != grouping->footing->footer->nr_columns)
		return false;
	for (size_t i = 0; i < grouping->nr; i++)
		if (!thrift_read_struct(in, chunk_field, &grouping->chunks[i]))
			return false;
	return true;
}

/* Where the pages of a column lie: inside the file, before the footer. */
static bool place_chunk(const struct footing *footing, const struct grouping *grouping, size_t column,
			struct parquet_span *ret)
{
	const struct chunk *chunk = &grouping->chunks[column];
	bool texts = column_is_text(&footing->shapes[column]);
	int64_t start = texts ? chunk->dictionary : chunk->pages;

	if (chunk->codec != PARQUET_CODEC_ZSTD || chunk->values != grouping->rows || start < MAGIC ||
	    chunk->packed <= 0 || (uint64_t)start > footing->end ||
	    (uint64_t)chunk->packed > footing->end - (uint64_t)start)
		return false;
	*ret = (struct parquet_span){ .start = (uint64_t)start, .size = (uint64_t)chunk->packed };
	return true;
}

static void see_most(const struct footing *footing, const struct grouping *grouping, size_t column)
{
	const struct bytes *most = &grouping->chunks[column].most;
	int64_t *known = &footing->footer->most[column];
	int64_t number;

	if (column_is_text(&footing->shapes[column]) || most->left != sizeof(number))
		return;
	memcpy(&number, most->at, sizeof(number));
	number = (int64_t)le64toh((uint64_t)number);
	*known = number > *known ? number : *known;
}

static bool read_groups(struct footing *footing, struct bytes *in)
{
	struct parquet_footer *footer = footing->footer;
	unsigned type;
	size_t nr;

	if (!footer->nr_columns || footer->nr_groups || !thrift_read_list(in, &type, &nr) || type != THRIFT_STRUCT)
		return false;
	for (size_t i = 0; i < nr; i++) {
		struct grouping grouping = { .footing = footing };
		struct parquet_read_group *group;

		if (!thrift_read_struct(in, group_field, &grouping) || grouping.rows <= 0 || !grouping.nr)
			return false;
		group = vec_push(footer->groups, footer->nr_groups);
		if (!group) {
			footing->starved = true;
			return false;
		}
		group->rows = (uint64_t)grouping.rows;
		for (size_t k = 0; k < grouping.nr; k++) {
			if (!place_chunk(footing, &grouping, k, &group->spans[k]))
				return false;
			see_most(footing, &grouping, k);
		}
	}
	return true;
}

struct fact {
	struct bytes key, value;
};

static bool fact_field(void *arg, uint32_t field, unsigned type, struct bytes *in, bool *skip)
{
	struct fact *fact = arg;

	*skip = field != 1 && field != 2;
	return *skip || (type == THRIFT_BINARY && thrift_read_bytes(in, field == 1 ? &fact->key : &fact->value));
}

static bool read_facts(struct footing *footing, struct bytes *in)
{
	char *order = footing->footer->order;
	unsigned type;
	size_t nr;

	if (!thrift_read_list(in, &type, &nr) || type != THRIFT_STRUCT)
		return false;
	for (size_t i = 0; i < nr; i++) {
		struct fact fact = { .key = { .left = 0 } };

		if (!thrift_read_struct(in, fact_field, &fact))
			return false;
		if (fact.key.left != strlen(PARQUET_ORDER) || memcmp(fact.key.at, PARQUET_ORDER, fact.key.left) ||
		    fact.value.left >= PARQUET_ORDER_MAX)
			continue;
		memcpy(order, fact.value.at, fact.value.left);
		order[fact.value.left] = '\0';
	}
	return true;
}

static bool file_field(void *arg, uint32_t field, unsigned type, struct bytes *in, bool *skip)
{
	*skip = field != 2 && field != 4 && field != 5;
	if (*skip)
		return true;
	return type == THRIFT_LIST && (field == 2 ? read_schema(arg, in) :
				       field == 4 ? read_groups(arg, in) :
						    read_facts(arg, in));
}

static int damaged(const char *what, struct fail *fail)
{
	return fail_set(fail, -EBADMSG, "it is not a whole Parquet file of this table: %s", what);
}

static int read_at(int fd, void *into, size_t size, uint64_t at, struct fail *fail)
{
	ssize_t got = io_pread(fd, into, size, at);

	if (got < 0)
		return fail_set(fail, (int)got, "cannot read: %s", strerror((int)-got));
	return (size_t)got == size ? 0 : damaged("it ends too early", fail);
}

/* A file of another writer has no sum; what changes only the name of the sum changes nothing else. */
static bool has_its_sum(const uint8_t *text, size_t len)
{
	static const char name[] = PARQUET_SUM;
	/* the type and the length of the digits are between */
	const size_t begin = sizeof(name) - 1 + 2;
	uint8_t *at = memmem(text, len, name, sizeof(name) - 1);
	char said[PARQUET_SUM_DIGITS], is[PARQUET_SUM_DIGITS + 1];

	if (!at || (size_t)(text + len - at) < begin + sizeof(said))
		return true;
	at += begin;
	memcpy(said, at, sizeof(said));
	memset(at, '0', sizeof(said));
	snprintf(is, sizeof(is), "%016" PRIx64, xxh64(text, len));
	memcpy(at, said, sizeof(said));
	return !memcmp(said, is, sizeof(said));
}

int parquet_footer_read(int fd, uint64_t base, uint64_t size, const struct column_shape *shapes, size_t nr,
			struct parquet_footer *ret, struct fail *fail)
{
	struct parquet_footer footer = { .fd = fd, .base = base };
	struct footing footing = { .footer = &footer, .shapes = shapes, .nr = nr };
	cleanup_free uint8_t *text = NULL;
	uint8_t head[MAGIC], tail[TAIL];
	struct bytes in;
	uint32_t len;
	int r;

	for (size_t i = 0; i < PARQUET_READ_COLUMNS; i++)
		footer.most[i] = INT64_MIN;
	if (size < MAGIC + TAIL || nr > PARQUET_READ_COLUMNS)
		return damaged("it is too short", fail);
	r = read_at(fd, head, sizeof(head), base, fail);
	if (!r)
		r = read_at(fd, tail, sizeof(tail), base + size - sizeof(tail), fail);
	if (r)
		return r;
	if (memcmp(head, PARQUET_MAGIC, MAGIC) || memcmp(tail + sizeof(len), PARQUET_MAGIC, MAGIC))
		return damaged("it does not begin and end with " PARQUET_MAGIC, fail);
	memcpy(&len, tail, sizeof(len));
	len = le32toh(len);
	if (len > size - MAGIC - TAIL || len > PARQUET_READ_FOOTER)
		return damaged("its footer is larger than the file, or than any", fail);
	text = malloc((size_t)len + 1);
	if (!text)
		return fail_memory(fail);
	footing.end = size - TAIL - len;
	r = read_at(fd, text, len, base + footing.end, fail);
	in = bytes_of(text, len, false);
	if (!r && !has_its_sum(text, len))
		r = damaged("its footer has changed since it was written", fail);
	if (!r && (!thrift_read_struct(&in, file_field, &footing) || !footer.nr_columns))
		r = footing.starved ? fail_memory(fail) : damaged("its footer is none of weft", fail);
	if (r)
		parquet_footer_release(&footer);
	else
		*ret = footer;
	return r;
}

void parquet_footer_release(struct parquet_footer *footer)
{
	free(footer->groups);
	footer->groups = NULL;
	footer->nr_groups = 0;
}
