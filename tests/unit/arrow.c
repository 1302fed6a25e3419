// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/columns/arrow.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/columns/batch.h"
#include "lib/meaning/columns/filler.h"
#include "lib/meaning/columns/shape.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

static const char script[] = "0 1000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
			     "0 2000 7 sched_switch prev_comm=sh prev_pid=7 next_comm=l\xffs next_pid=8\n"
			     "1 lost 12\n"
			     "1 3000 8 sched_switch prev_comm=ls prev_pid=8 next_comm=sh next_pid=-1\n";

/* What a test needs to fill columns with the events of a script. */
struct filled {
	struct loom loom;
	struct trace *trace;
	struct reader reader;
	struct filler *filler;
	struct fail fail;
};

static int fill(struct filled *filled, const char *const *names, size_t nr, const char *pattern)
{
	struct query query = QUERY_INIT;
	struct event event;
	int r;

	*filled = (struct filled){ .fail = FAIL_INIT };
	loom_init(&filled->loom);
	loom_play(&filled->loom, script);
	filled->trace = loom_trace(&filled->loom);
	reader_init(&filled->reader);
	r = pattern ? query_add_word(&query.events, pattern, &filled->fail) : 0;
	if (!r)
		r = query_add(&query, &(struct query_manner){ .prepare = NULL }, filled->trace, &filled->reader,
			      &filled->fail);
	if (!r)
		r = filler_new(&filled->reader, names, nr, &(struct filler_options){ .rows = 16 }, &filled->filler,
			       &filled->fail);
	if (!r)
		r = reader_start(&filled->reader, &(struct reader_options){ .pool = NULL }, &filled->fail);
	while (!r && reader_next(&filled->reader, &event, &filled->fail) > 0)
		if (!CHECK(filler_add(filled->filler, &event)))
			break;
	query_release(&query);
	return r;
}

static void release(struct filled *filled)
{
	filler_free(filled->filler);
	reader_release(&filled->reader);
	trace_free(filled->trace);
	loom_release(&filled->loom);
}

static bool is_valid(const struct ArrowArray *array, int64_t row)
{
	const uint8_t *bits = array->buffers[0];

	return !bits || bits[row / 8] >> row % 8 & 1;
}

static bool is_text(const struct ArrowArray *array, int64_t row, const char *want)
{
	const int32_t *at = array->buffers[1];
	const char *text = array->buffers[2];

	return (size_t)(at[row + 1] - at[row]) == strlen(want) && !memcmp(text + at[row], want, strlen(want));
}

TEST(arrow_has_a_column_for_each_name_and_null_where_an_event_has_no_such_field)
{
	static const char *const names[] = { "ts", "next_pid", "next_comm", "event" };
	struct filled filled;
	struct ArrowSchema schema;
	struct ArrowArray array, texts;
	size_t nr;

	if (CHECK(!fill(&filled, names, array_size(names), NULL))) {
		const struct column_shape *shapes = filler_shapes(filled.filler, &nr);

		CHECK(nr == 4 && arrow_schema(shapes, nr, &schema));
		CHECK_STR(schema.format, "+s");
		CHECK_STR(schema.children[0]->format, "l");
		CHECK_STR(schema.children[1]->format, "i");
		CHECK_STR(schema.children[2]->format, "u");
		CHECK_STR(schema.children[2]->name, "next_comm");
		CHECK(schema.children[1]->flags == ARROW_FLAG_NULLABLE && !schema.children[0]->flags);
		schema.release(&schema);
		CHECK(!schema.release);
		CHECK(filler_gaps(filled.filler) == 1);
		CHECK(arrow_array(filler_take(filled.filler), &array));
		CHECK(array.length == 3 && array.n_children == 4 && array.null_count == 0);
		CHECK(((const int64_t *)array.children[0]->buffers[1])[1] == 2000);
		CHECK(array.children[1]->null_count == 1 && !is_valid(array.children[1], 0));
		CHECK(is_valid(array.children[1], 1) && ((const int32_t *)array.children[1]->buffers[1])[2] == -1);
		CHECK(is_text(array.children[2], 0, "") && is_text(array.children[2], 1, "l\xef\xbf\xbds"));
		CHECK(is_text(array.children[3], 0, "sched_waking"));
		/* A child that was moved outlives the rest. */
		texts = *array.children[2];
		array.children[2]->release = NULL;
		array.release(&array);
		CHECK(is_text(&texts, 2, "sh"));
		texts.release(&texts);
		CHECK(!filler_take(filled.filler));
	}
	release(&filled);
}

TEST(arrow_shows_lost_events_as_rows_only_if_a_column_asks_for_them)
{
	static const char *const names[] = { "lost", "event", "pid", "cpu" };
	struct filled filled;
	struct ArrowArray array;

	if (CHECK(!fill(&filled, names, array_size(names), "sched_switch"))) {
		CHECK(arrow_array(filler_take(filled.filler), &array));
		CHECK(array.length == 3 && array.children[0]->null_count == 2);
		CHECK(is_valid(array.children[0], 1) && ((const int64_t *)array.children[0]->buffers[1])[1] == 12);
		CHECK(is_text(array.children[1], 1, "lost") && !is_valid(array.children[2], 1));
		CHECK(((const int32_t *)array.children[3]->buffers[1])[1] == 1);
		array.release(&array);
	}
	release(&filled);
}

TEST(arrow_refuses_a_field_that_no_chosen_event_has)
{
	static const char *const names[] = { "ts", "next_pod" };
	struct filled filled;

	CHECK(fill(&filled, names, array_size(names), "sched_switch") == -ENOENT);
	CHECK_STR(filled.fail.text, "no event has a field 'next_pod'; did you mean 'next_pid', 'next_comm' or "
				    "'next_prio'?");
	release(&filled);
}

TEST(column_shape_widens_only_to_what_has_room_for_both)
{
	static const struct {
		struct column_shape a, b;
		uint8_t bits; /* 0: there is none */
		bool is_signed;
	} known[] = {
		{ { .bits = 8 }, { .bits = 32 }, 32, false },
		{ { .bits = 32 }, { .bits = 32, .is_signed = true }, 64, true },
		{ { .bits = 16 }, { .bits = 32, .is_signed = true }, 32, true },
		{ { .bits = 64 }, { .bits = 32, .is_signed = true }, 0, false },
		{ { .bits = 64, .is_signed = true }, { .bits = 32 }, 64, true },
		{ { .bits = 64 }, { .form = COLUMN_OF_TEXT }, 0, false },
		{ { .form = COLUMN_LIST, .bits = 64 }, { .bits = 64 }, 0, false },
	};

	for (size_t i = 0; i < array_size(known); i++) {
		struct column_shape shape = known[i].a;
		bool ok = column_shape_widen(&shape, &known[i].b);

		CHECK(ok == (known[i].bits > 0));
		CHECK(!ok || (shape.bits == known[i].bits && shape.is_signed == known[i].is_signed));
	}
}

TEST(batch_ends_before_its_texts_outgrow_their_offsets)
{
	const struct column_shape shape = { .name = "text", .form = COLUMN_OF_TEXT };
	struct column_value value = { .kind = VALUE_IS_TEXT };
	struct batch *batch = batch_new(&shape, 1, 1 << 20);
	static const char text[1 << 16];
	struct out scratch;
	size_t rows = 0;

	REQUIRE(batch && out_init(&scratch, 16));
	value.text = text;
	value.len = sizeof(text);
	for (; !batch_is_full(batch); rows++) {
		batch_put(batch, 0, &value, &scratch);
		batch_row(batch);
	}
	CHECK(rows == BATCH_BYTES_MAX / sizeof(text) && !batch->starved);
	out_release(&scratch);
	batch_free(batch);
}
