// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random perf.data of machines of both byte orders, as files and as what was written to a pipe: written here as
 * perf.data-file-format.txt and perf_event.h say it, and read by lib/pages/perf.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/perf/perf_data.h"
#include "lib/pages/trace/input.h"
#include "tests/unit/test.h"

enum { ATTRS = 3, IDS = 4, RECORDS = 120, INPUTS = 2, FILE_HEAD = 104, PIPE_HEAD = 16 };
/* Kinds of records that perf itself writes (enum perf_user_event_type, from 64 on). */
enum { ATTR_RECORD = 64, ROUND = 68, ID_INDEX = 69, AUXTRACE = 71, UPDATE = 78 };

struct attr {
	uint64_t config, period, sample_type, read_format, flags, ids[IDS];
	uint32_t type, clock, cpus[IDS];
};

struct wanted {
	struct perf_record record;
	uint64_t chain[8];
	uint8_t raw[64], comm[16];
	int attr;
};

struct model {
	uint64_t seed;
	bool big, pipe, indexed, torn;
	size_t attr_len; /* older kernels have fewer bytes, newer ones more */
	struct attr attrs[ATTRS];
	struct buf files[INPUTS];
	struct wanted wanted[INPUTS * RECORDS];
	size_t nr_wanted;
	uint32_t rounds;
};

static uint64_t pick(struct model *model, uint64_t below)
{
	model->seed ^= model->seed << 13;
	model->seed ^= model->seed >> 7;
	model->seed ^= model->seed << 17;
	return (model->seed >> 4) % below;
}

static void put_at(struct model *model, struct buf *file, size_t at, unsigned size, uint64_t value)
{
	for (unsigned i = 0; i < size; i++)
		file->data[at + (model->big ? size - 1 - i : i)] = (char)(value >> 8 * i);
}

static void put(struct model *model, struct buf *file, unsigned size, uint64_t value)
{
	static const char zeros[8];

	if (CHECK(buf_add(file, zeros, size)))
		put_at(model, file, file->len - size, size, value);
}

static size_t begin(struct model *model, struct buf *file, uint32_t kind)
{
	put(model, file, 4, kind);
	put(model, file, 2, 0);
	put(model, file, 2, 0);
	return file->len - 8;
}

static void end(struct model *model, struct buf *file, size_t at)
{
	put_at(model, file, at + 6, 2, file->len - at);
}

/* The flags are bit fields: the first one is the lowest bit, or on other machines the highest one of each byte. */
static void put_flags(struct model *model, struct buf *file, uint64_t flags)
{
	for (unsigned byte = 0; byte < 8; byte++) {
		unsigned value = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			if (flags >> (8 * byte + bit) & 1)
				value |= 1u << (model->big ? 7 - bit : bit);
		CHECK(buf_add(file, &(char){ (char)value }, 1));
	}
}

static void put_attr(struct model *model, struct buf *file, const struct attr *attr)
{
	size_t at = file->len;

	put(model, file, 4, attr->type);
	put(model, file, 4, model->attr_len);
	put(model, file, 8, attr->config);
	put(model, file, 8, attr->period);
	put(model, file, 8, attr->sample_type);
	put(model, file, 8, attr->read_format);
	put_flags(model, file, attr->flags);
	while (file->len < at + model->attr_len)
		put(model, file, 4, file->len == at + 92 ? attr->clock : 0);
}

/* The fields of a sample in the order of perf_event.h; those of the trailer are a part of them. */
static const uint64_t order[] = { PERF_HAS_IDENTIFIER, PERF_HAS_IP,   PERF_HAS_TID,    PERF_HAS_TIME,
				  PERF_HAS_ADDR,       PERF_HAS_ID,   PERF_HAS_STREAM, PERF_HAS_CPU,
				  PERF_HAS_PERIOD,     PERF_HAS_READ, PERF_HAS_CHAIN,  PERF_HAS_RAW };
static const uint64_t trailer[] = { PERF_HAS_TID,    PERF_HAS_TIME, PERF_HAS_ID,
				    PERF_HAS_STREAM, PERF_HAS_CPU,  PERF_HAS_IDENTIFIER };

static void put_read(struct model *model, struct buf *file, uint64_t format)
{
	uint64_t each = 1 + (format >> 2 & 1) + (format >> 4 & 1), nr = format & 8 ? 1 + pick(model, 3) : 1;

	if (format & 8)
		put(model, file, 8, nr);
	for (uint64_t i = (format & 1) + (format >> 1 & 1) + nr * each; i > 0; i--)
		put(model, file, 8, pick(model, 1000));
}

static void put_field(struct model *model, struct buf *file, uint64_t bit, const struct attr *attr, unsigned id,
		      struct wanted *wanted)
{
	struct perf_record *record = &wanted->record;

	switch (bit) {
	case PERF_HAS_IP:
		put(model, file, 8, record->ip = pick(model, UINT64_C(1) << 60));
		return;
	case PERF_HAS_TID:
		record->pid = (int32_t)pick(model, 1000);
		record->tid = (int32_t)pick(model, 1000);
		put(model, file, 4, (uint32_t)record->pid);
		put(model, file, 4, (uint32_t)record->tid);
		return;
	case PERF_HAS_TIME:
		record->has_time = true;
		put(model, file, 8, record->time = pick(model, UINT64_C(1) << 50));
		return;
	case PERF_HAS_CPU:
		record->has_cpu = pick(model, 4);
		record->cpu = record->has_cpu ? (uint32_t)pick(model, 9) : UINT32_MAX;
		put(model, file, 4, record->cpu);
		put(model, file, 4, 77);
		return;
	case PERF_HAS_ID:
	case PERF_HAS_IDENTIFIER:
		put(model, file, 8, attr->ids[id]);
		return;
	case PERF_HAS_PERIOD:
		put(model, file, 8, record->period = pick(model, 1 << 30));
		return;
	case PERF_HAS_READ:
		put_read(model, file, attr->read_format);
		return;
	case PERF_HAS_CHAIN:
		put(model, file, 8, record->nr_chain = (size_t)pick(model, 8));
		for (size_t i = 0; i < record->nr_chain; i++)
			put(model, file, 8, wanted->chain[i] = pick(model, UINT64_C(1) << 62));
		return;
	case PERF_HAS_RAW:
		record->raw_len = 4 + 8 * (size_t)pick(model, 7);
		put(model, file, 4, record->raw_len);
		for (size_t i = 0; i < record->raw_len; i++) {
			wanted->raw[i] = (uint8_t)pick(model, 256);
			CHECK(buf_add(file, &(char){ (char)wanted->raw[i] }, 1));
		}
		return;
	default:
		put(model, file, 8, pick(model, 1000));
	}
}

static struct wanted *add_wanted(struct model *model, uint32_t kind, int attr)
{
	struct wanted *wanted = &model->wanted[model->nr_wanted++];

	*wanted = (struct wanted){ .record = { .kind = kind, .round = model->rounds }, .attr = attr };
	return wanted;
}

static void set_cpu(const struct model *model, struct wanted *wanted, unsigned id)
{
	if (wanted->record.has_cpu || !model->indexed)
		return;
	wanted->record.has_cpu = true;
	wanted->record.cpu = model->attrs[wanted->attr].cpus[id];
}

static void add_sample(struct model *model, struct buf *file)
{
	int number = (int)pick(model, ATTRS);
	const struct attr *attr = &model->attrs[number];
	struct wanted *wanted = add_wanted(model, PERF_SAMPLE, number);
	unsigned id = (unsigned)pick(model, IDS);
	size_t at = begin(model, file, PERF_SAMPLE);

	for (size_t i = 0; i < array_size(order); i++)
		if (attr->sample_type & order[i])
			put_field(model, file, order[i], attr, id, wanted);
	end(model, file, at);
	set_cpu(model, wanted, id);
}

static void put_trailer(struct model *model, struct buf *file, unsigned id, struct wanted *wanted)
{
	const struct attr *attr = &model->attrs[wanted->attr];
	struct wanted copy = { .record = { .cpu = UINT32_MAX } };

	if (!(model->attrs[0].flags & PERF_ID_ALL))
		return;
	for (size_t i = 0; i < array_size(trailer); i++)
		if (attr->sample_type & trailer[i])
			put_field(model, file, trailer[i], attr, id, &copy);
	wanted->record.has_cpu = copy.record.has_cpu;
	wanted->record.cpu = copy.record.cpu;
	if (attr->sample_type & PERF_HAS_TIME)
		wanted->record.time = copy.record.time;
	wanted->record.has_time |= (attr->sample_type & PERF_HAS_TIME) != 0;
}

static void add_other(struct model *model, struct buf *file, uint32_t kind)
{
	struct wanted *wanted = add_wanted(model, kind, (int)pick(model, ATTRS));
	struct perf_record *record = &wanted->record;
	unsigned id = (unsigned)pick(model, IDS);
	size_t at = begin(model, file, kind);

	switch (kind) {
	case PERF_COMM:
		put(model, file, 4, (uint32_t)(record->pid = (int32_t)pick(model, 999)));
		put(model, file, 4, (uint32_t)(record->tid = (int32_t)pick(model, 999)));
		record->comm_len = 1 + (size_t)pick(model, 15);
		memset(wanted->comm, 'c', record->comm_len);
		CHECK(buf_add(file, wanted->comm, 16));
		break;
	case PERF_FORK:
		put(model, file, 4, (uint32_t)(record->pid = (int32_t)pick(model, 999)));
		put(model, file, 4, (uint32_t)(record->parent_pid = (int32_t)pick(model, 999)));
		put(model, file, 4, (uint32_t)(record->tid = (int32_t)pick(model, 999)));
		put(model, file, 4, (uint32_t)(record->parent_tid = (int32_t)pick(model, 999)));
		put(model, file, 8, record->time = pick(model, UINT64_C(1) << 50));
		record->has_time = true;
		break;
	case PERF_LOST:
		put(model, file, 8, model->attrs[wanted->attr].ids[id]);
		put(model, file, 8, record->lost = pick(model, 999));
		break;
	case PERF_LOST_SAMPLES:
		put(model, file, 8, record->lost = pick(model, 999));
		break;
	default: /* PERF_THROTTLE: time, id, stream */
		for (int i = 0; i < 3; i++)
			put(model, file, 8, pick(model, 999));
	}
	put_trailer(model, file, id, wanted);
	end(model, file, at);
	if (kind == PERF_FORK)
		put_at(model, file, at + 24, 8, record->time);
	/* Without a trailer nothing says whose it is. */
	if (kind == PERF_LOST || (kind == PERF_LOST_SAMPLES && model->attrs[0].flags & PERF_ID_ALL))
		set_cpu(model, wanted, id);
}

/* What perf itself writes in between. */
static void add_own(struct model *model, struct buf *file)
{
	size_t at;

	if (pick(model, 2)) {
		at = begin(model, file, ROUND);
		model->rounds++;
		end(model, file, at);
		return;
	}
	at = begin(model, file, AUXTRACE);
	put(model, file, 8, 24);
	for (int i = 0; i < 4; i++)
		put(model, file, 8, 1);
	end(model, file, at);
	for (int i = 0; i < 3; i++)
		put(model, file, 8, PERF_SAMPLE);
}

static void add_index(struct model *model, struct buf *file)
{
	size_t at = begin(model, file, ID_INDEX);

	put(model, file, 8, ATTRS * IDS);
	for (size_t i = 0; i < ATTRS * IDS; i++) {
		struct attr *attr = &model->attrs[i / IDS];

		attr->cpus[i % IDS] = (uint32_t)pick(model, 64);
		put(model, file, 8, attr->ids[i % IDS]);
		put(model, file, 8, i);
		put(model, file, 8, attr->cpus[i % IDS]);
		put(model, file, 8, UINT64_MAX);
	}
	end(model, file, at);
	model->indexed = true;
}

static void add_records(struct model *model, struct buf *file, unsigned nr)
{
	static const uint32_t others[] = { PERF_LOST, PERF_COMM, PERF_THROTTLE, PERF_FORK, PERF_LOST_SAMPLES };

	for (unsigned i = 0; i < nr; i++) {
		uint64_t which = pick(model, 10);

		if (which == 0)
			add_own(model, file);
		else if (which < 4)
			add_other(model, file, others[pick(model, array_size(others))]);
		else
			add_sample(model, file);
	}
}

static void make_attrs(struct model *model)
{
	/* Where the id is is the same in all of them, and so is the trailer. */
	uint64_t shared = PERF_HAS_IDENTIFIER | (pick(model, 2) ? PERF_HAS_ID : 0) |
			  (pick(model, 2) ? PERF_HAS_TID : 0) | (pick(model, 2) ? PERF_HAS_TIME : 0) |
			  (pick(model, 2) ? PERF_HAS_CPU : 0) | (pick(model, 2) ? PERF_HAS_STREAM : 0);
	uint64_t all = pick(model, 2) ? PERF_ID_ALL : 0;

	for (unsigned i = 0; i < ATTRS; i++) {
		struct attr *attr = &model->attrs[i];

		*attr = (struct attr){ .type = (uint32_t)pick(model, 5),
				       .config = pick(model, UINT64_C(1) << 40),
				       .period = pick(model, UINT64_C(1) << 40),
				       .sample_type = shared,
				       .read_format = pick(model, 32),
				       .flags = pick(model, UINT64_C(1) << 38),
				       .clock = (uint32_t)pick(model, 11) };
		attr->flags = (attr->flags & ~(uint64_t)PERF_ID_ALL) | all;
		for (size_t bit = 0; bit < array_size(order); bit++)
			if (!(order[bit] & (PERF_HAS_IDENTIFIER | PERF_HAS_ID | PERF_HAS_TID | PERF_HAS_TIME |
					    PERF_HAS_CPU | PERF_HAS_STREAM)) &&
			    pick(model, 2))
				attr->sample_type |= order[bit];
		for (unsigned id = 0; id < IDS; id++)
			attr->ids[id] = 1000 * (i + 1) + 7 * id;
	}
}

static void make_pipe(struct model *model)
{
	struct buf *file = &model->files[0];
	size_t at;

	CHECK(buf_add(file, model->big ? "2ELIFREP" : "PERFILE2", 8));
	put(model, file, 8, PIPE_HEAD);
	for (unsigned i = 0; i < ATTRS; i++) {
		at = begin(model, file, ATTR_RECORD);
		put_attr(model, file, &model->attrs[i]);
		for (unsigned id = 0; id < IDS; id++)
			put(model, file, 8, model->attrs[i].ids[id]);
		end(model, file, at);
		at = begin(model, file, UPDATE);
		put(model, file, 8, 2);
		put(model, file, 8, model->attrs[i].ids[1]);
		CHECK(buf_add(file, i ? "sys:two\0" : "sys:one\0", 8));
		end(model, file, at);
	}
	if (pick(model, 2))
		add_index(model, file);
	add_records(model, file, RECORDS / 2);
	/* Its recorder was killed while it wrote the head of a record. */
	model->torn = pick(model, 2);
	if (model->torn)
		put(model, file, 4, PERF_SAMPLE);
}

static void make_file(struct model *model)
{
	struct buf *file = &model->files[0];
	size_t ids, data;

	CHECK(buf_add(file, model->big ? "2ELIFREP" : "PERFILE2", 8));
	put(model, file, 8, FILE_HEAD);
	put(model, file, 8, model->attr_len + 16);
	while (file->len < FILE_HEAD)
		put(model, file, 8, 0);
	ids = file->len;
	for (unsigned i = 0; i < ATTRS * IDS; i++)
		put(model, file, 8, model->attrs[i / IDS].ids[i % IDS]);
	put_at(model, file, 24, 8, file->len);
	put_at(model, file, 32, 8, ATTRS * (model->attr_len + 16));
	for (unsigned i = 0; i < ATTRS; i++) {
		put_attr(model, file, &model->attrs[i]);
		put(model, file, 8, ids + 8 * IDS * i);
		put(model, file, 8, 8 * IDS);
	}
	data = file->len;
	put_at(model, file, 40, 8, data);
	if (pick(model, 2))
		add_index(model, file);
	add_records(model, file, RECORDS / 2);
	put_at(model, file, 48, 8, file->len - data);
	/* Behind the records are features: here nothing that could be one. */
	put(model, file, 8, UINT64_MAX);
	/* perf record --threads: the records of others lie in files of their own. */
	if (pick(model, 2))
		add_records(model, &model->files[1], RECORDS / 2);
}

static void check_record(const struct model *model, const struct wanted *wanted, const struct perf_record *got,
			 const struct perf_attr *attrs)
{
	const struct perf_record *want = &wanted->record;
	bool sample = want->kind == PERF_SAMPLE,
	     whose = sample || want->kind == PERF_LOST || (want->kind != PERF_COMM && want->kind != PERF_FORK);

	CHECK(got->kind == want->kind && got->round == want->round && got->lost == want->lost);
	CHECK(got->has_time == want->has_time && got->time == want->time);
	CHECK(got->has_cpu == want->has_cpu && (!got->has_cpu || got->cpu == want->cpu));
	CHECK(got->pid == want->pid && got->tid == want->tid && got->parent_pid == want->parent_pid &&
	      got->parent_tid == want->parent_tid);
	if (whose && (sample || want->kind == PERF_LOST || model->attrs[0].flags & PERF_ID_ALL))
		CHECK(got->attr == &attrs[wanted->attr]);
	CHECK(got->ip == want->ip && got->period == want->period);
	CHECK_MEM(got->comm, got->comm_len, wanted->comm, want->comm_len);
	CHECK_MEM(got->raw, got->raw_len, wanted->raw, want->raw_len);
	CHECK(got->nr_chain == want->nr_chain);
	for (size_t i = 0; i < want->nr_chain && i < got->nr_chain; i++) {
		uint64_t address;

		memcpy(&address, got->chain + 8 * i, 8);
		CHECK((model->big != HOST_BIG_ENDIAN ? __builtin_bswap64(address) : address) == wanted->chain[i]);
	}
}

static void check_attrs(const struct model *model, const struct perf_attr *attrs, size_t nr)
{
	REQUIRE(nr == ATTRS);
	for (unsigned i = 0; i < ATTRS; i++) {
		const struct attr *attr = &model->attrs[i];

		CHECK(attrs[i].type == attr->type && attrs[i].config == attr->config &&
		      attrs[i].period == attr->period && attrs[i].sample_type == attr->sample_type);
		CHECK(attrs[i].read_format == attr->read_format && attrs[i].flags == attr->flags &&
		      attrs[i].clock == (model->attr_len >= 96 ? (int32_t)attr->clock : 0));
		CHECK(perf_attr_is_event(&attrs[i]) ==
		      (attr->type == PERF_TYPE_TRACEPOINT && attr->sample_type & PERF_HAS_RAW));
	}
}

static void read_model(const struct model *model, size_t nr_inputs)
{
	struct input inputs[INPUTS];
	struct fail fail = FAIL_INIT;
	const struct perf_attr *attrs;
	struct perf_record record;
	struct perf_data *data;
	size_t nr, at = 0;
	int r;

	for (size_t i = 0; i < nr_inputs; i++) {
		cleanup_fd int fd = memfd_create("perf", MFD_CLOEXEC);
		const struct buf *file = &model->files[i];

		REQUIRE(fd >= 0 && write(fd, file->data, file->len) == (ssize_t)file->len);
		REQUIRE(!input_init(&inputs[i], fd, "made", &fail));
	}
	REQUIRE(!perf_data_open(inputs, nr_inputs, &data, &fail));
	CHECK(perf_data_swaps(data) == (model->big != HOST_BIG_ENDIAN) && !perf_data_facts(data)->killed);
	CHECK(!perf_data_formats(data)->nr_formats);
	while ((r = perf_data_next(data, &record, &fail)) > 0 && CHECK(at < model->nr_wanted)) {
		attrs = perf_data_attrs(data, &nr);
		check_record(model, &model->wanted[at++], &record, attrs);
	}
	CHECK(r == 0 && at == model->nr_wanted && perf_data_next(data, &record, &fail) == 0);
	CHECK(perf_data_facts(data)->killed == model->torn);
	attrs = perf_data_attrs(data, &nr);
	check_attrs(model, attrs, nr);
	if (model->pipe && nr == ATTRS) {
		CHECK_STR(attrs[0].name, "sys:one");
		CHECK_STR(attrs[1].name, "sys:two");
	}
	CHECK(perf_data_facts(data)->has_index == model->indexed && !perf_data_facts(data)->host);
	perf_data_free(data);
	for (size_t i = 0; i < nr_inputs; i++)
		input_release(&inputs[i]);
}

TEST(perf_model_has_the_records_that_were_put_there)
{
	/* PERF_ATTR_SIZE_VER0, 1, 5 and 8 */
	static const size_t lens[] = { 64, 72, 112, 136 };

	for (uint64_t seed = 1; seed <= 80; seed++) {
		struct model *model = calloc(1, sizeof(*model));

		REQUIRE(model);
		model->seed = seed * 0x9e3779b97f4a7c15u;
		model->big = seed & 1;
		model->pipe = seed & 2;
		model->attr_len = lens[seed / 4 % array_size(lens)];
		make_attrs(model);
		if (model->pipe)
			make_pipe(model);
		else
			make_file(model);
		read_model(model, model->files[1].len ? 2 : 1);
		for (size_t i = 0; i < INPUTS; i++)
			buf_release(&model->files[i]);
		free(model);
	}
}
