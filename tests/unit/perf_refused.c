// SPDX-License-Identifier: GPL-2.0-only
/*
 * A perf.data that is made by hand, as tools/perf/Documentation/perf.data-file-format.txt and
 * include/uapi/linux/perf_event.h describe it: what is read of it, and what is said where it is wrong.
 */
#include "lib/pages/perf/perf_data.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/input.h"
#include "tests/unit/little.h"
#include "tests/unit/test.h"

enum { HEAD = 104, ATTR = 96, ID = 0x1234, PIPE_HEAD = 16 };

struct opened {
	struct input input;
	struct perf_data *data;
};

static int open_made(struct opened *opened, const struct buf *file, struct fail *fail)
{
	cleanup_fd int fd = memfd_create("perf", MFD_CLOEXEC);
	int r;

	opened->data = NULL;
	if (!CHECK(fd >= 0 && write(fd, file->data, file->len) == (ssize_t)file->len))
		return -EIO;
	r = input_init(&opened->input, fd, "made", fail);
	return r ? r : perf_data_open(&opened->input, 1, &opened->data, fail);
}

static void close_made(struct opened *opened)
{
	perf_data_free(opened->data);
	input_release(&opened->input);
}

static void add_attr(struct buf *file, uint64_t sample_type, uint64_t read_format, uint64_t flags)
{
	size_t at = file->len;

	little_add(file, 4, PERF_TYPE_TRACEPOINT);
	little_add(file, 4, ATTR);
	little_add(file, 8, 300);
	little_add(file, 8, 1);
	little_add(file, 8, sample_type);
	little_add(file, 8, read_format);
	little_add(file, 8, flags);
	while (file->len < at + ATTR - 4)
		little_add(file, 4, 0);
	little_add(file, 4, 1);
}

/* A record's head: u32 kind, u16 flags, u16 size; the size is set by end_record(). */
static size_t begin_record(struct buf *file, uint32_t kind)
{
	little_add(file, 4, kind);
	little_add(file, 4, 0);
	return file->len - 8;
}

static void end_record(struct buf *file, size_t at)
{
	little_put(file, at + 6, 2, file->len - at);
}

static void add_comm(struct buf *file, int pid, const char *comm)
{
	size_t at = begin_record(file, PERF_COMM);

	little_add(file, 4, (uint64_t)pid);
	little_add(file, 4, (uint64_t)pid + 1);
	little_name(file, comm);
	end_record(file, at);
}

/* The features of a file, in the order of their bits. */
static const struct {
	unsigned bit;
	const char *bytes;
	size_t len;
} features[] = {
#define STRING(bit, text)                  \
	{                                  \
		bit, "\x08\0\0\0" text, 12 \
	}
	STRING(3, "machine\0"),
	STRING(4, "6.12.0\0\0"),
	STRING(5, "6.12.1\0\0"),
	STRING(6, "x86_64\0\0"),
	{ 7, "\x04\0\0\0\x08\0\0\0", 8 },
	{ 11, "\x02\0\0\0\x08\0\0\0perf\0\0\0\0\x08\0\0\0record\0\0", 28 },
	{ 12, "\x01\0\0\0\x04\0\0\0attr\x01\0\0\0\x08\0\0\0sched:x\0\x34\x12\0\0\0\0\0\0", 36 },
	{ 29, "\x01\0\0\0\x01\0\0\0\x10\x27\0\0\0\0\0\0\xe8\x03\0\0\0\0\0\0", 24 },
#undef STRING
};

/* Head, attribute, its id, a COMM, and the features. */
static void make_file(struct buf *file)
{
	size_t data, list;

	CHECK(buf_add(file, "PERFILE2", 8));
	little_add(file, 8, HEAD);
	little_add(file, 8, ATTR + 16);
	little_add(file, 8, HEAD);
	little_add(file, 8, ATTR + 16);
	for (int i = 0; i < 8; i++)
		little_add(file, 8, 0);
	add_attr(file, PERF_HAS_TID | PERF_HAS_TIME, 0, 0);
	little_add(file, 8, HEAD + ATTR + 16);
	little_add(file, 8, 8);
	little_add(file, 8, ID);
	data = file->len;
	add_comm(file, 7, "weaver");
	little_put(file, 40, 8, data);
	little_put(file, 48, 8, file->len - data);
	list = file->len;
	for (size_t i = 0; i < 2 * array_size(features); i++)
		little_add(file, 8, 0);
	for (size_t i = 0; i < array_size(features); i++) {
		little_put(file, list + 16 * i, 8, file->len);
		little_put(file, list + 16 * i + 8, 8, features[i].len);
		CHECK(buf_add(file, features[i].bytes, features[i].len));
		file->data[72 + features[i].bit / 8] |= (char)(1 << features[i].bit % 8);
	}
}

static bool is_text(const char *got, const char *want)
{
	return want ? got && !strcmp(got, want) : !got;
}

TEST(perf_data_tells_what_its_head_and_its_features_say)
{
	cleanup_buf struct buf file = BUF_INIT;
	struct fail fail = FAIL_INIT;
	const struct perf_facts *facts;
	const struct perf_attr *attrs;
	struct perf_record record;
	struct opened opened;
	size_t nr;

	make_file(&file);
	CHECK(!open_made(&opened, &file, &fail));
	CHECK_STR(fail.text, "");
	REQUIRE(opened.data);
	attrs = perf_data_attrs(opened.data, &nr);
	REQUIRE(nr == 1);
	CHECK(attrs->type == PERF_TYPE_TRACEPOINT && attrs->config == 300 && attrs->period == 1 && attrs->clock == 1);
	CHECK(attrs->sample_type == (PERF_HAS_TID | PERF_HAS_TIME) && is_text(attrs->name, "sched:x"));
	facts = perf_data_facts(opened.data);
	CHECK(is_text(facts->host, "machine") && is_text(facts->release, "6.12.0") &&
	      is_text(facts->version, "6.12.1"));
	CHECK(is_text(facts->arch, "x86_64") && is_text(facts->command, "perf record") && facts->cpus == 4);
	CHECK(facts->has_wall && facts->wall_ns == 10000 && facts->clock_ns == 1000 && !facts->killed);
	CHECK(perf_data_next(opened.data, &record, &fail) == 1 && record.kind == PERF_COMM);
	CHECK(record.pid == 7 && record.tid == 8 && record.comm_len == 6 && !memcmp(record.comm, "weaver", 6));
	CHECK(perf_data_next(opened.data, &record, &fail) == 0);
	close_made(&opened);
}

/* What is damaged in one feature is not known; all else is. */
TEST(perf_data_with_a_damaged_feature_is_read_without_it)
{
	for (size_t i = 0; i < array_size(features); i++) {
		unsigned bit = features[i].bit;
		cleanup_buf struct buf file = BUF_INIT;
		struct fail fail = FAIL_INIT;
		const struct perf_facts *facts;
		const struct perf_attr *attrs;
		struct opened opened;
		size_t list, nr;

		make_file(&file);
		/* A byte less than it needs, and 2 for a number. */
		list = HEAD + ATTR + 16 + 8 + 8 + 8 + 7 + 16 * i;
		little_put(&file, list + 8, 8, features[i].len - (bit == 7 ? 5 : 1));
		CHECK(!open_made(&opened, &file, &fail));
		CHECK_STR(fail.text, "");
		if (!CHECK(opened.data))
			continue;
		facts = perf_data_facts(opened.data);
		attrs = perf_data_attrs(opened.data, &nr);
		CHECK(is_text(facts->host, bit == 3 ? NULL : "machine") &&
		      is_text(facts->release, bit == 4 ? NULL : "6.12.0"));
		CHECK(is_text(facts->version, bit == 5 ? NULL : "6.12.1") &&
		      is_text(facts->arch, bit == 6 ? NULL : "x86_64"));
		CHECK(facts->cpus == (bit == 7 ? 0 : 4) && is_text(facts->command, bit == 11 ? NULL : "perf record"));
		CHECK(facts->has_wall == (bit != 29) && is_text(attrs->name, bit == 12 ? NULL : "sched:x"));
		close_made(&opened);
	}
}

TEST(perf_data_whose_head_is_wrong_is_refused_and_says_where)
{
	static const struct {
		size_t at, size; /* size 0: the file ends there */
		uint64_t value;
		const char *want;
	} rows[] = {
		{ 0, 1, 'Q', "it is no perf.data" },
		{ 15, 0, 0, "the file ends at 15, inside the 16 bytes at 0" },
		{ 8, 8, 103, "its head has 103 bytes and not 104" },
		{ 8, 8, 17, "its head has 17 bytes and not 104" },
		{ 103, 0, 0, "the file ends at 103, inside the 104 bytes at 0" },
		{ 16, 8, 79, "it has no list of events: it was not finished, or is damaged" },
		{ 16, 8, 111, "it has no list of events: it was not finished, or is damaged" },
		{ 16, 8, (1 << 16) + 1, "it has no list of events: it was not finished, or is damaged" },
		{ 32, 8, 0, "it has no list of events: it was not finished, or is damaged" },
		{ 32, 8, 113, "it has no list of events: it was not finished, or is damaged" },
		{ 32, 8, (uint64_t)112 * 65537, "it has no list of events: it was not finished, or is damaged" },
		{ 24, 8, 1 << 20, "inside the 112 bytes at 1048576" },
		{ HEAD + ATTR, 8, 1 << 20, "a section of 8 bytes at 1048576 does not fit" },
		{ HEAD + ATTR + 8, 8, 1 << 20, "a section of 1048576 bytes at 216 does not fit" },
		{ HEAD + ATTR, 8, UINT64_MAX, "a section of 8 bytes at 18446744073709551615 does not fit" },
		{ 40, 8, 1 << 20, "its records end at 1048599, and the file at " },
		{ 48, 8, 1 << 20, "its records end at 1048800, and the file at " },
		{ HEAD + ATTR + 16 + 8 + 23 + 15, 0, 0, "inside the 16 bytes at 247" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		cleanup_buf struct buf file = BUF_INIT;
		struct fail fail = FAIL_INIT;
		struct opened opened;

		make_file(&file);
		if (rows[i].size)
			little_put(&file, rows[i].at, rows[i].size, rows[i].value);
		else
			file.len = rows[i].at;
		CHECK(open_made(&opened, &file, &fail) == -EBADMSG && !opened.data);
		if (!CHECK(strstr(fail.text, rows[i].want)))
			CHECK_STR(fail.text, rows[i].want);
		close_made(&opened);
	}
}

/* perf record writes the size of the records last. */
TEST(perf_data_without_a_size_was_killed_and_is_read_to_its_end)
{
	cleanup_buf struct buf file = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct perf_record record;
	struct opened opened;

	make_file(&file);
	file.len = HEAD + ATTR + 16 + 8 + 23;
	little_put(&file, 48, 8, 0);
	REQUIRE(!open_made(&opened, &file, &fail));
	CHECK(perf_data_facts(opened.data)->killed && !perf_data_facts(opened.data)->host);
	CHECK(perf_data_next(opened.data, &record, &fail) == 1 && record.pid == 7);
	CHECK(perf_data_next(opened.data, &record, &fail) == 0);
	close_made(&opened);
}

static void make_pipe(struct buf *file, uint64_t sample_type, uint64_t read_format, uint64_t flags)
{
	size_t at;

	CHECK(buf_add(file, "PERFILE2", 8));
	little_add(file, 8, PIPE_HEAD);
	at = begin_record(file, 64);
	add_attr(file, sample_type, read_format, flags);
	little_add(file, 8, ID);
	end_record(file, at);
}

/* The text of what is wrong with the first record that is not whole; "" at the end. */
static const char *said_of(const struct buf *file, struct fail *fail, bool *ret_killed)
{
	struct perf_record record;
	struct opened opened;
	int r = open_made(&opened, file, fail);

	while (!r && (r = perf_data_next(opened.data, &record, fail)) > 0)
		r = 0;
	CHECK(!r == !fail->text[0] && (!r || r == -EBADMSG));
	if (!r)
		CHECK(perf_data_next(opened.data, &record, fail) == 0);
	*ret_killed = opened.data && perf_data_facts(opened.data)->killed;
	close_made(&opened);
	return fail->text;
}

TEST(perf_record_that_is_wrong_is_refused_and_says_why)
{
	/* Of the pipe's head and its attribute. */
	enum { BEFORE = PIPE_HEAD + 8 + ATTR + 8 };
	static const struct {
		uint32_t kind;
		uint16_t size;    /* as it says */
		uint16_t len;     /* as there are */
		uint64_t first;   /* the eight bytes behind its head */
		const char *want; /* "": nothing */
		bool is_killed;
	} rows[] = {
		{ PERF_COMM, 7, 8, 0, "the record at 128 has 7 bytes", false },
		{ PERF_COMM, 0, 8, 0, "the record at 128 has 0 bytes", false },
		{ 200, 8, 8, 0, "", false },
		{ 200, 9, 8, 0, "", true },
		{ 200, 65535, 16, 0, "", true },
		{ PERF_COMM, 15, 16, 0, "a record of 15 bytes is too short for what it has", false },
		{ PERF_COMM, 16, 16, 0, "", false },
		{ PERF_FORK, 31, 32, 0, "a record of 31 bytes is too short for what it has", false },
		{ PERF_FORK, 32, 32, 0, "", false },
		{ PERF_LOST, 23, 24, 0, "a record of 23 bytes is too short for what it has", false },
		{ PERF_LOST, 24, 24, 0, "", false },
		{ PERF_LOST_SAMPLES, 15, 16, 0, "a record of 15 bytes is too short for what it has", false },
		{ PERF_LOST_SAMPLES, 16, 16, 0, "", false },
		{ PERF_SAMPLE, 23, 24, 0, "a record of 23 bytes is too short for what it has", false },
		{ PERF_SAMPLE, 24, 24, 0, "", false },
		{ 64, 71, 72, 0, "an event of 63 bytes cannot be read", false },
		{ 64, 72, 72, (uint64_t)63 << 32, "an event of 63 bytes cannot be read", false },
		{ 64, 72, 72, (uint64_t)65 << 32, "an event of 65 bytes cannot be read", false },
		{ 64, 72, 72, (uint64_t)64 << 32, "", false },
		/* What a CPU's own tracer wrote lies behind its record. */
		{ 71, 16, 24, 8, "", false },
		{ 71, 16, 24, 9, "9 bytes behind a record are more than there are", false },
		{ 83, 8, 8, 0, "a compressed record of 8 bytes has no size", false },
		{ 83, 16, 16, 1 << 20, "a compressed record of 16 bytes says 1048576", false },
		{ 83, 16, 16, 1, "", true },
		{ 83, 24, 24, 8, "damaged compressed data: ", false },
		{ 81, 16, 16, 1, "damaged compressed data: ", false },
		{ 81, 8, 8, 0, "", false },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		cleanup_buf struct buf file = BUF_INIT;
		struct fail fail = FAIL_INIT;
		bool is_killed = false;

		make_pipe(&file, PERF_HAS_TID | PERF_HAS_TIME, 0, 0);
		CHECK(file.len == BEFORE);
		little_add(&file, 4, rows[i].kind);
		little_add(&file, 4, (uint64_t)rows[i].size << 16);
		if (rows[i].len >= 16)
			little_add(&file, 8, rows[i].first);
		while (file.len < BEFORE + (size_t)rows[i].len)
			little_add(&file, 8, 0);
		said_of(&file, &fail, &is_killed);
		if (!CHECK(*rows[i].want ? !!strstr(fail.text, rows[i].want) : !fail.text[0]))
			CHECK_STR(fail.text, rows[i].want);
		if (!CHECK(is_killed == rows[i].is_killed))
			fprintf(stderr, "row %zu\n", i);
	}
}

TEST(perf_sample_before_any_event_is_refused)
{
	cleanup_buf struct buf file = BUF_INIT;
	struct fail fail = FAIL_INIT;
	bool is_killed;

	CHECK(buf_add(&file, "PERFILE2", 8));
	little_add(&file, 8, PIPE_HEAD);
	end_record(&file, begin_record(&file, PERF_SAMPLE));
	CHECK_STR(said_of(&file, &fail, &is_killed), "a sample comes before any event");
}

static void add_packed(struct buf *file, const struct buf *inner, size_t len)
{
	size_t at = begin_record(file, 81), packed;
	struct frame_writer *frames;
	struct fail fail = FAIL_INIT;
	char frame[512];

	if (!CHECK(!frame_writer_new(1, &frames, &fail)))
		return;
	CHECK(!frame_write(frames, inner->data, inner->len, frame, sizeof(frame), &packed, &fail));
	CHECK(buf_add(file, frame, len < packed ? len : packed));
	frame_writer_free(frames);
	end_record(file, at);
}

TEST(perf_records_that_are_compressed_are_read_and_checked)
{
	static const struct {
		uint32_t kind;
		uint16_t size;
		const char *want;
	} rows[] = {
		{ PERF_COMM, 7, "a compressed record has a damaged one inside" },
		{ 81, 16, "a compressed record has a damaged one inside" },
		{ 83, 16, "a compressed record has a damaged one inside" },
		{ PERF_COMM, 16, "" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		cleanup_buf struct buf file = BUF_INIT, inner = BUF_INIT;
		struct fail fail = FAIL_INIT;
		bool is_killed;

		add_comm(&inner, 9, "inside");
		little_add(&inner, 4, rows[i].kind);
		little_add(&inner, 4, (uint64_t)rows[i].size << 16);
		little_add(&inner, 8, 0);
		make_pipe(&file, PERF_HAS_TID, 0, 0);
		add_packed(&file, &inner, SIZE_MAX);
		CHECK_STR(said_of(&file, &fail, &is_killed), rows[i].want);
	}
}

/* The order is that of PERF_RECORD_SAMPLE. */
static const uint64_t order[] = { PERF_HAS_IDENTIFIER, PERF_HAS_IP,   PERF_HAS_TID,    PERF_HAS_TIME,
				  PERF_HAS_ADDR,       PERF_HAS_ID,   PERF_HAS_STREAM, PERF_HAS_CPU,
				  PERF_HAS_PERIOD,     PERF_HAS_READ, PERF_HAS_CHAIN,  PERF_HAS_RAW };

/* struct read_format: PERF_FORMAT_TOTAL_TIME_ENABLED 1, _RUNNING 2, _ID 4, _GROUP 8, _LOST 16. */
static void add_read(struct buf *file, uint64_t format)
{
	size_t nr = format & 8 ? 3 : 1, words = 0;

	words += format & 8 ? 1 : 0;
	words += format & 1 ? 1 : 0;
	words += format & 2 ? 1 : 0;
	words += nr * (1u + (format & 4 ? 1 : 0) + (format & 16 ? 1 : 0));
	little_add(file, 8, format & 8 ? nr : 77);
	for (size_t i = 1; i < words; i++)
		little_add(file, 8, 77);
}

static void add_field(struct buf *file, uint64_t bit, uint64_t format)
{
	switch (bit) {
	case PERF_HAS_IDENTIFIER:
	case PERF_HAS_ID:
		little_add(file, 8, ID);
		break;
	case PERF_HAS_IP:
		little_add(file, 8, 0xffffffff81000010);
		break;
	case PERF_HAS_TID:
		little_add(file, 4, 11);
		little_add(file, 4, 12);
		break;
	case PERF_HAS_TIME:
		little_add(file, 8, 5000000001);
		break;
	case PERF_HAS_CPU:
		little_add(file, 4, 3);
		little_add(file, 4, 99);
		break;
	case PERF_HAS_PERIOD:
		little_add(file, 8, 4000);
		break;
	case PERF_HAS_READ:
		add_read(file, format);
		break;
	case PERF_HAS_CHAIN:
		little_add(file, 8, 2);
		little_add(file, 8, 21);
		little_add(file, 8, 22);
		break;
	case PERF_HAS_RAW:
		little_add(file, 4, 4);
		little_add(file, 4, 0x64636261);
		break;
	default:
		little_add(file, 8, 99);
	}
}

static void check_sample(const struct perf_record *record, uint64_t type)
{
	CHECK(record->kind == PERF_SAMPLE && record->attr && record->attr->config == 300);
	CHECK(record->ip == (type & PERF_HAS_IP ? 0xffffffff81000010 : 0));
	CHECK(type & PERF_HAS_TID ? record->pid == 11 && record->tid == 12 : !record->pid && !record->tid);
	CHECK(record->has_time == !!(type & PERF_HAS_TIME) && record->time == (record->has_time ? 5000000001 : 0));
	CHECK(record->has_cpu == !!(type & PERF_HAS_CPU) && record->cpu == (record->has_cpu ? 3 : 0));
	CHECK(record->period == (type & PERF_HAS_PERIOD ? 4000 : 0));
	CHECK(record->nr_chain == (type & PERF_HAS_CHAIN ? 2 : 0) && record->raw_len == (type & PERF_HAS_RAW ? 4 : 0));
	CHECK(!(type & PERF_HAS_CHAIN) || (record->chain && record->chain[0] == 21 && record->chain[8] == 22));
	CHECK(!(type & PERF_HAS_RAW) || (record->raw && !memcmp(record->raw, "abcd", 4)));
}

/* Each set of fields, and each form of the counters among them; four bytes less are too few for any. */
TEST(perf_sample_has_its_fields_in_the_order_of_the_kernel)
{
	for (unsigned set = 1; set < 1u << array_size(order); set += set < 64 ? 1 : 13) {
		uint64_t type = 0, format = set % 32;
		cleanup_buf struct buf file = BUF_INIT;
		struct perf_record record;
		struct fail fail = FAIL_INIT;
		struct opened opened;
		bool is_killed;
		size_t at;

		for (size_t i = 0; i < array_size(order); i++)
			type |= set >> i & 1 ? order[i] : 0;
		make_pipe(&file, type, format, 0);
		at = begin_record(&file, PERF_SAMPLE);
		for (size_t i = 0; i < array_size(order); i++)
			if (type & order[i])
				add_field(&file, order[i], format);
		end_record(&file, at);
		if (CHECK(!open_made(&opened, &file, &fail)) &&
		    CHECK(perf_data_next(opened.data, &record, &fail) == 1)) {
			check_sample(&record, type);
			CHECK(perf_data_next(opened.data, &record, &fail) == 0);
		}
		close_made(&opened);
		file.len -= 4;
		end_record(&file, at);
		CHECK(strstr(said_of(&file, &fail, &is_killed), " is too short for what it has"));
	}
}

/* With sample_id_all, other records end with the fields that say when and where: perf_event.h, struct sample_id. */
TEST(perf_record_ends_with_when_and_where_it_was)
{
	static const uint64_t trailer[] = { PERF_HAS_TID,    PERF_HAS_TIME, PERF_HAS_ID,
					    PERF_HAS_STREAM, PERF_HAS_CPU,  PERF_HAS_IDENTIFIER };

	for (unsigned set = 0; set < 1u << array_size(trailer); set++)
		for (unsigned all = 0; all < 2; all++) {
			cleanup_buf struct buf file = BUF_INIT;
			struct fail fail = FAIL_INIT;
			struct perf_record record;
			struct opened opened;
			uint64_t type = 0;
			size_t at;

			for (size_t i = 0; i < array_size(trailer); i++)
				type |= set >> i & 1 ? trailer[i] : 0;
			make_pipe(&file, type, 0, all ? PERF_ID_ALL : 0);
			at = begin_record(&file, PERF_COMM);
			little_add(&file, 4, 7);
			little_add(&file, 4, 8);
			CHECK(buf_add(&file, "weaver\0", 8));
			for (size_t i = 0; i < array_size(trailer); i++)
				if (type & trailer[i])
					add_field(&file, trailer[i], 0);
			end_record(&file, at);
			if (!CHECK(!open_made(&opened, &file, &fail)) ||
			    !CHECK(perf_data_next(opened.data, &record, &fail) == 1)) {
				close_made(&opened);
				continue;
			}
			CHECK(record.kind == PERF_COMM && record.pid == 7 && record.tid == 8);
			CHECK(record.comm_len == 6 && !memcmp(record.comm, "weaver", 6));
			CHECK(record.has_time == (all && type & PERF_HAS_TIME));
			CHECK(!record.has_time || record.time == 5000000001);
			CHECK(record.has_cpu == (all && type & PERF_HAS_CPU) && (!record.has_cpu || record.cpu == 3));
			close_made(&opened);
		}
}

/* ID_INDEX says of each id whose CPU it is; 2^32 - 1 is none. */
TEST(perf_sample_without_a_cpu_has_that_of_its_id)
{
	static const struct {
		uint64_t cpu, tid;
		bool has_cpu, of_tasks;
	} rows[] = { { 5, UINT64_MAX, true, false }, { 0, 77, true, true }, { UINT64_MAX, UINT64_MAX, false, false } };

	for (size_t i = 0; i < array_size(rows); i++) {
		cleanup_buf struct buf file = BUF_INIT;
		struct fail fail = FAIL_INIT;
		struct perf_record record;
		struct opened opened;
		size_t at;

		make_pipe(&file, PERF_HAS_IDENTIFIER, 0, 0);
		at = begin_record(&file, 69);
		little_add(&file, 8, 1);
		little_add(&file, 8, ID);
		little_add(&file, 8, 0);
		little_add(&file, 8, rows[i].cpu);
		little_add(&file, 8, rows[i].tid);
		end_record(&file, at);
		at = begin_record(&file, PERF_SAMPLE);
		little_add(&file, 8, ID);
		end_record(&file, at);
		at = begin_record(&file, PERF_LOST);
		little_add(&file, 8, ID);
		little_add(&file, 8, 17);
		end_record(&file, at);
		if (CHECK(!open_made(&opened, &file, &fail)) &&
		    CHECK(perf_data_next(opened.data, &record, &fail) == 1)) {
			CHECK(record.has_cpu == rows[i].has_cpu && (!record.has_cpu || record.cpu == rows[i].cpu));
			CHECK(perf_data_facts(opened.data)->has_index &&
			      perf_data_facts(opened.data)->of_tasks == rows[i].of_tasks);
			CHECK(perf_data_next(opened.data, &record, &fail) == 1 && record.kind == PERF_LOST &&
			      record.lost == 17);
			CHECK(record.has_cpu == rows[i].has_cpu && record.attr && record.attr->config == 300);
		}
		close_made(&opened);
	}
}

/* The formats are the first half of a trace.dat of version 6. */
static void add_tracing(struct buf *file)
{
	CHECK(buf_add(file, "\027\010Dtracing0.6\0\0\x08", 16));
	little_add(file, 4, 4096);
	little_name(file, "header_page");
	little_sized(file, 8, "page");
	little_name(file, "header_event");
	little_sized(file, 8, "event");
	little_add(file, 4, 1);
	little_sized(file, 8, "name: a\n");
	little_add(file, 4, 1);
	little_name(file, "sched");
	little_add(file, 4, 1);
	little_sized(file, 8, "name: b\n");
	little_sized(file, 4, "");
	little_sized(file, 4, "printk");
	little_sized(file, 8, "7 weaver\n");
}

/* In a pipe they follow their record; any cut before the texts that may be missing is damage. */
TEST(perf_data_has_the_formats_of_its_tracepoints_whole_or_says_so)
{
	cleanup_buf struct buf tracing = BUF_INIT;

	add_tracing(&tracing);
	for (size_t len = 0; len <= tracing.len; len++) {
		size_t cmdlines = tracing.len - 17, printk = cmdlines - 10, at;
		cleanup_buf struct buf file = BUF_INIT;
		const struct perf_formats *formats;
		struct fail fail = FAIL_INIT;
		struct perf_record record;
		struct opened opened;
		int r;

		make_pipe(&file, PERF_HAS_TID, 0, 0);
		at = begin_record(&file, 66);
		little_add(&file, 4, len);
		end_record(&file, at);
		CHECK(buf_add(&file, tracing.data, len));
		while ((file.len - at - 12) % 8)
			little_add(&file, 1, 0);
		add_comm(&file, 7, "weaver");
		if (!CHECK(!open_made(&opened, &file, &fail))) {
			close_made(&opened);
			continue;
		}
		r = perf_data_next(opened.data, &record, &fail);
		formats = perf_data_formats(opened.data);
		if (len < printk) {
			CHECK(r == -EBADMSG && !formats->nr_formats);
			CHECK_STR(fail.text, "the formats of its tracepoints are damaged");
		} else if (CHECK(r == 1 && record.kind == PERF_COMM && record.pid == 7 && formats->nr_formats == 2)) {
			CHECK(formats->page_size == 4096 && formats->long_size == 8 && !formats->big_endian);
			CHECK_STR(formats->header_page, "page");
			CHECK_STR(formats->header_event, "event");
			CHECK_STR(formats->formats[0].system, "ftrace");
			CHECK_STR(formats->formats[1].system, "sched");
			CHECK(formats->formats[1].len == 8 && !memcmp(formats->formats[1].text, "name: b\n", 8));
			CHECK(formats->printk_len == (len < cmdlines ? 0 : 6) &&
			      formats->cmdlines_len == (len < tracing.len ? 0 : 9));
		}
		close_made(&opened);
	}
}
