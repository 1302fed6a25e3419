// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/ring/page.h"
#include "tests/unit/test.h"

/*
 * Random sub-buffers, written here byte by byte as Documentation/trace/ring-buffer-design.rst and ring_buffer.c say it,
 * of kernels of both byte orders and sizes of a long. The list of what is in them is what page.h has to find.
 */

enum { SIZE = 512, ITEMS = 128, TYPE_PADDING = 29, TYPE_EXTEND = 30, TYPE_STAMP = 31 };

struct item {
	uint64_t ts;
	uint32_t at, size; /* in the page, behind its head */
	uint32_t len, more;
	uint8_t data[128];
	bool record;
};

struct model {
	uint64_t seed;
	struct page_shape shape;
	bool big; /* the traced kernel's byte order */
	uint8_t page[SIZE];
	bool heads[SIZE]; /* which bytes are no payload */
	uint32_t head, used;
	uint64_t first_ts, ts;
	int64_t lost;
	struct item items[ITEMS];
	size_t nr_items;
};

static uint64_t pick(struct model *model, uint64_t below)
{
	model->seed ^= model->seed << 13;
	model->seed ^= model->seed >> 7;
	model->seed ^= model->seed << 17;
	return (model->seed >> 8) % below;
}

static void put(const struct model *model, uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[model->big ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void put_word(struct model *model, uint32_t word)
{
	put(model, model->page + model->head + model->used, word, 4);
	memset(model->heads + model->head + model->used, 1, 4);
	model->used += 4;
}

static void put_event(struct model *model, uint32_t type, uint32_t delta)
{
	put_word(model, model->big ? type << 27 | delta : delta << 5 | type);
}

static uint32_t left(const struct model *model)
{
	return SIZE - model->head - model->used;
}

static struct item *add_item(struct model *model)
{
	struct item *item = &model->items[model->nr_items++];

	*item = (struct item){ .at = model->used };
	return item;
}

static void end_item(const struct model *model, struct item *item)
{
	item->ts = model->ts;
	item->size = model->used - item->at;
}

/* A time of its own: 59 bits, of which the kernel's word has 27 and 32. */
static void add_time(struct model *model, uint32_t type, uint64_t value)
{
	struct item *item = add_item(model);

	put_event(model, type, (uint32_t)(value & 0x7ffffff));
	put_word(model, (uint32_t)(value >> 27));
	model->ts = type == TYPE_EXTEND ? model->ts + value : (model->ts & ~((UINT64_C(1) << 59) - 1)) | value;
	end_item(model, item);
}

static void add_payload(struct model *model, struct item *item, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		item->data[i] = (uint8_t)(1 + pick(model, 255));
	memcpy(model->page + model->head + model->used, item->data, len);
	item->len = len;
	item->record = true;
	model->used += (len + 3) / 4 * 4;
}

/* `wordy`: the length stands in a word of its own, which some kernels do for short events, too. */
static void add_record(struct model *model, uint32_t len, uint32_t delta, bool wordy)
{
	struct item *item = add_item(model);

	wordy |= !len || len > 112 || len % 4;
	put_event(model, wordy ? 0 : len / 4, delta);
	if (wordy)
		put_word(model, len + 4);
	model->ts += delta;
	add_payload(model, item, len);
	item->more = wordy && len <= 112 ? 4 : 0;
	end_item(model, item);
}

static void add_discarded(struct model *model, uint32_t len)
{
	struct item *item = add_item(model);

	put_event(model, TYPE_PADDING, 1 + (uint32_t)pick(model, 1000));
	put_word(model, len + 4);
	add_payload(model, item, len);
	item->record = false;
	end_item(model, item);
}

static void add_any(struct model *model)
{
	uint32_t len = 4 + (uint32_t)pick(model, 120);

	switch (pick(model, 10)) {
	case 0:
		if (left(model) >= 8)
			add_time(model, TYPE_EXTEND, pick(model, UINT64_C(1) << (20 + pick(model, 30))));
		return;
	case 1:
		if (left(model) >= 8)
			add_time(model, TYPE_STAMP, pick(model, UINT64_C(1) << 50));
		return;
	case 2:
		if (left(model) >= 12)
			add_discarded(model, 4);
		return;
	default:
		if (pick(model, 3))
			len = 4 * (1 + (uint32_t)pick(model, 6));
		if (left(model) >= len + 12)
			add_record(model, len, (uint32_t)pick(model, 1 << 20), pick(model, 6) == 0);
		return;
	}
}

static void put_commit(struct model *model)
{
	uint32_t commit = model->used;
	unsigned bytes = model->shape.long_size;

	memset(model->heads, 1, model->head);
	put(model, model->page, model->first_ts, 8);
	if (model->lost)
		commit |= 1u << 31;
	if (model->lost > 0) {
		commit |= 1u << 30;
		put(model, model->page + model->head + model->used, (uint64_t)model->lost, bytes);
		memset(model->heads + model->head + model->used, 1, bytes);
	}
	put(model, model->page + 8, commit, bytes);
}

static void begin(struct model *model, uint64_t seed)
{
	*model = (struct model){ .seed = seed * 0x9e3779b97f4a7c15u,
				 .shape = { .size = SIZE, .long_size = seed & 1 ? 8 : 4, .swap = seed & 2 } };
	model->big = HOST_BIG_ENDIAN != model->shape.swap;
	model->head = 8 + model->shape.long_size;
	model->first_ts = model->ts = pick(model, UINT64_C(1) << 60);
}

static void make(struct model *model, uint64_t seed)
{
	begin(model, seed);
	for (uint64_t wanted = 1 + pick(model, 40), i = 0; i < wanted && left(model) > 20; i++)
		add_any(model);
	if (pick(model, 3) == 0)
		model->lost = -1;
	else if (pick(model, 2) && left(model) >= model->shape.long_size)
		model->lost = 1 + (int64_t)pick(model, 1000);
	put_commit(model);
}

/* What the words and the payload of an item are, for a page that was read. */
static void check_page(const struct model *model, const uint8_t *bytes, uint32_t len)
{
	struct page page, plain;
	struct record record;
	uint32_t at = 0;

	REQUIRE(!page_init(&page, &model->shape, bytes, len, NULL));
	CHECK(page.lost == model->lost && page.commit == model->used && page.ts == model->first_ts);
	for (size_t i = 0; i < model->nr_items; i++) {
		const struct item *item = &model->items[i];

		CHECK(item->at == at && (page_record_size(&page, at) == item->size || page.commit - at < 8));
		at += item->size;
		if (!item->record)
			continue;
		plain = page;
		REQUIRE(page_next(&page, &record, NULL) == 1);
		CHECK(record.ts == item->ts && record.len >= item->len && record.more == item->more);
		CHECK_MEM(record.data, item->len, item->data, item->len);
		CHECK(record.data == page.data + item->at + item->size - (record.len + 3) / 4 * 4 &&
		      page.next == item->at + item->size);
		/* The fast way gives the same record, or none. */
		if (page_next_plain(&plain, &record)) {
			CHECK(!model->shape.swap && plain.next == page.next && plain.ts == page.ts);
			CHECK(record.len == item->len && !record.more && record.ts == item->ts);
			CHECK_MEM(record.data, item->len, item->data, item->len);
		} else {
			CHECK(model->shape.swap || item->more || item->len > 112 || item->len % 4 ||
			      (i && !model->items[i - 1].record) || HOST_BIG_ENDIAN);
		}
	}
	CHECK(page_next(&page, &record, NULL) == 0 && !page_record_size(&page, at));
}

TEST(page_model_has_the_records_that_were_put_there)
{
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct model model;

		make(&model, seed);
		check_page(&model, model.page, SIZE);
		/* A page of a file need not have more than what is committed. */
		if (model.lost <= 0)
			check_page(&model, model.page, model.head + model.used);
		CHECK(page_init(&(struct page){ .data = NULL }, &model.shape, model.page, model.head + model.used - 1,
				NULL) == -EBADMSG);
	}
}

TEST(page_model_tells_its_byte_order_and_that_more_was_lost)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct model model;
		struct page_shape shape;
		struct page page;
		uint64_t ts;
		uint32_t commit;
		bool swap;

		make(&model, seed);
		shape = model.shape;
		shape.swap = !shape.swap;
		if (model.used % 4 == 0 && model.used)
			CHECK(page_order(&shape, model.page, model.head, &swap) && swap == model.shape.swap);
		CHECK(!page_order(&shape, model.page, model.head - 1, &swap));
		CHECK(!page_head(&model.shape, model.page, model.head, &ts, &commit, NULL) && ts == model.first_ts &&
		      commit == model.used);
		CHECK(page_head(&model.shape, model.page, model.head - 1, &ts, &commit, NULL) == -EBADMSG);
		page_set_lost(&model.shape, model.page);
		CHECK(!page_init(&page, &model.shape, model.page, SIZE, NULL) && page.lost == -1 &&
		      page.commit == model.used);
	}
}

TEST(page_model_without_payloads_is_a_blanked_page)
{
	for (uint64_t seed = 1; seed <= 400; seed++) {
		uint8_t into[SIZE], wanted[SIZE];
		struct model model;

		make(&model, seed);
		for (size_t i = 0; i < SIZE; i++)
			wanted[i] = model.heads[i] ? model.page[i] : 0;
		memset(into, 0xa5, sizeof(into));
		page_blank(&model.shape, model.page, SIZE, into);
		CHECK_MEM(into, SIZE, wanted, SIZE);
	}
}

/* What follows the end, and what stands behind what is committed, was there before. */
TEST(page_model_that_is_blanked_keeps_nothing_of_an_older_page)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint8_t into[SIZE], wanted[SIZE] = { 0 };
		struct model model;
		uint32_t until;

		make(&model, seed);
		if (left(&model) < 40 || model.lost > 0)
			continue;
		put_event(&model, TYPE_PADDING, 0);
		until = model.head + model.used;
		memset(model.page + until, 0x77, SIZE - until);
		/* The kernel commits all of the page then. */
		model.used = SIZE - model.head;
		put_commit(&model);
		for (size_t i = 0; i < until; i++)
			wanted[i] = model.heads[i] ? model.page[i] : 0;
		page_blank(&model.shape, model.page, SIZE, into);
		CHECK_MEM(into, SIZE, wanted, SIZE);
	}
}

TEST(page_model_whose_records_are_written_again_is_the_same)
{
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct page_writer writer;
		uint8_t into[SIZE];
		struct model model;
		uint64_t last = 0;

		begin(&model, seed);
		model.lost = pick(&model, 3) ? (int64_t)pick(&model, 50) : -1;
		memset(into, 0xa5, sizeof(into));
		page_writer_begin(&writer, &model.shape, into, model.lost);
		CHECK(page_writer_empty(&writer));
		while (model.nr_items < ITEMS - 2) {
			uint32_t len = 4 + (uint32_t)pick(&model, 116),
				 room = model.lost > 0 ? model.shape.long_size : 0;
			uint64_t ts = !model.used     ? model.first_ts :
				      pick(&model, 4) ? last + pick(&model, 1 << 20) :
				      pick(&model, 2) ? last + pick(&model, UINT64_C(1) << 40) :
							last - pick(&model, 1000);
			bool far = model.used && (ts < last || ts - last >= 1 << 27);
			uint32_t need = (len + 3) / 4 * 4 + (len % 4 || len > 112 ? 8 : 4) + (far ? 8 : 0);
			struct record record = { .ts = ts, .data = NULL, .len = len };

			if (pick(&model, 2))
				record.len = len = len / 4 * 4;
			need = (len + 3) / 4 * 4 + (len % 4 || len > 112 ? 8 : 4) + (far ? 8 : 0);
			if (need + room > left(&model)) {
				uint8_t data[128] = { 0 };

				record.data = data;
				CHECK(!page_writer_add(&writer, &record));
				break;
			}
			if (far)
				add_time(&model, ts < last ? TYPE_STAMP : TYPE_EXTEND,
					 ts < last ? ts & ((UINT64_C(1) << 59) - 1) : ts - last);
			add_record(&model, len, far || !model.used ? 0 : (uint32_t)(ts - last), false);
			record.data = model.items[model.nr_items - 1].data;
			CHECK(page_writer_add(&writer, &record) && !page_writer_empty(&writer));
			last = ts;
		}
		page_writer_end(&writer);
		put_commit(&model);
		CHECK_MEM(into, SIZE, model.page, SIZE);
		check_page(&model, into, SIZE);
	}
}

TEST(page_model_that_is_trimmed_has_the_records_of_that_time)
{
	size_t trimmed = 0;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		const struct item *first = NULL, *last = NULL;
		uint64_t from, to, got_first = 0, got_last = 0;
		bool left_out = false, first_stays = false;
		uint8_t into[SIZE];
		struct record record;
		struct model model;
		struct page page;
		size_t at = 0;
		int r;

		make(&model, seed);
		from = model.items[pick(&model, model.nr_items)].ts;
		to = model.items[pick(&model, model.nr_items)].ts;
		for (size_t i = 0; i < model.nr_items; i++) {
			const struct item *item = &model.items[i];

			if (!item->record)
				continue;
			if (item->ts < from || item->ts > to) {
				left_out = true;
				continue;
			}
			if (!first)
				first_stays = !left_out;
			first = first ?: item;
			last = item;
		}
		memset(into, 0xa5, sizeof(into));
		r = page_trim(&model.shape, model.page, from, to, into, &got_first, &got_last, NULL);
		CHECK(r == (first != NULL));
		if (!first)
			continue;
		CHECK(got_first == first->ts && got_last == last->ts);
		if (!left_out) {
			CHECK_MEM(into, SIZE, model.page, SIZE);
			continue;
		}
		REQUIRE(!page_init(&page, &model.shape, into, SIZE, NULL));
		/* Times too far apart for one page: it is copied. */
		if (!memcmp(into, model.page, SIZE))
			continue;
		trimmed++;
		CHECK(page.lost == (first_stays ? model.lost : 0));
		for (; at < model.nr_items; at++) {
			const struct item *item = &model.items[at];

			if (!item->record || item->ts < from || item->ts > to)
				continue;
			REQUIRE(page_next(&page, &record, NULL) == 1);
			CHECK(record.ts == item->ts && record.len >= item->len);
			CHECK_MEM(record.data, item->len, item->data, item->len);
		}
		CHECK(page_next(&page, &record, NULL) == 0);
	}
	CHECK(trimmed > 100);
}

/* Each page is cut at each place: what comes before is whole, and nothing behind it is read. */
TEST(page_model_that_is_cut_has_the_records_before_the_cut)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct model model;

		make(&model, seed);
		model.lost = 0;
		for (uint32_t cut = model.used; cut-- > 0;) {
			struct record record;
			struct page page;
			uint32_t end = 0;
			size_t nr = 0, got = 0;
			int r;

			model.used = cut;
			put_commit(&model);
			REQUIRE(!page_init(&page, &model.shape, model.page, model.head + cut, NULL));
			for (size_t i = 0; i < model.nr_items; i++) {
				const struct item *item = &model.items[i];

				/* The last bytes of its last word may be missing. */
				if (item->at + item->size > cut + 3 ||
				    (item->len % 4 == 0 && item->at + item->size > cut) ||
				    (item->len % 4 && item->at + item->size - (4 - item->len % 4) > cut))
					break;
				nr += item->record;
				end = item->at + item->size;
			}
			while ((r = page_next(&page, &record, NULL)) > 0)
				got++;
			CHECK(got == nr);
			CHECK(r == (cut >= end + 4 ? -EBADMSG : 0));
			for (size_t i = 0; i < model.nr_items; i++)
				CHECK(page_record_size(&page, model.items[i].at) <= cut - model.items[i].at ||
				      model.items[i].at >= cut);
		}
	}
}
