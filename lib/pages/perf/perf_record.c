// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/perf/perf_data_internal.h"

#include <string.h>

const struct perf_attr *perf_attr_of(const struct perf_data *data, uint64_t id)
{
	const uint32_t *index = u64_map_find(&data->ids, id);

	return index && *index < data->nr_attrs ? &data->attrs[*index] : data->nr_attrs ? &data->attrs[0] : NULL;
}

bool perf_attr_is_event(const struct perf_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT && attr->sample_type & PERF_HAS_RAW;
}

static void set_cpu(const struct perf_data *data, uint64_t id, struct perf_record *record)
{
	const uint32_t *cpu = u64_map_find(&data->cpus, id);

	if (record->has_cpu || !cpu || !*cpu)
		return;
	record->has_cpu = true;
	record->cpu = *cpu - 1;
}

/* The id of the attribute whose sample this is. */
static uint64_t id_of_sample(const struct perf_data *data, struct bytes in)
{
	uint64_t id = 0, type = data->attrs[0].sample_type;

	if (type & PERF_HAS_IDENTIFIER)
		return bytes_u64(&in, &id) ? id : 0;
	if (!(type & PERF_HAS_ID))
		return 0;
	for (unsigned bit = 0; bit < 4; bit++)
		if (type >> bit & 1 && !bytes_u64(&in, &id))
			return 0;
	return bytes_u64(&in, &id) ? id : 0;
}

static bool skip_words(struct bytes *in, uint64_t nr)
{
	const uint8_t *at;

	return nr <= in->left / sizeof(uint64_t) && bytes_take(in, (size_t)nr * sizeof(uint64_t), &at);
}

/* PERF_SAMPLE_READ: the counters, as read_format says. */
static bool skip_read(struct bytes *in, uint64_t format)
{
	uint64_t nr = 1, times = (format & 1) + (format >> 1 & 1), each = 1 + (format >> 2 & 1) + (format >> 4 & 1);

	if (!(format >> 3 & 1))
		return skip_words(in, times + each);
	return bytes_u64(in, &nr) && skip_words(in, times) && nr <= in->left && skip_words(in, nr * each);
}

static bool take_pair(struct bytes *in, int32_t *first, int32_t *second)
{
	uint32_t a, b;

	if (!bytes_u32(in, &a) || !bytes_u32(in, &b))
		return false;
	*first = (int32_t)a;
	*second = (int32_t)b;
	return true;
}

static const struct perf_attr *attr_of_sample(struct perf_data *data, uint64_t id)
{
	size_t at = id % PERF_KNOWN_IDS;

	if (!data->known[at].attr || data->known[at].id != id) {
		data->known[at].attr = data->nr_attrs == 1 ? data->attrs : perf_attr_of(data, id);
		data->known[at].id = id;
	}
	return data->known[at].attr;
}

/* As an initializer would, which compilers make a slow instruction of. */
static void clear(struct perf_record *record, uint32_t kind)
{
	record->kind = kind;
	record->time = record->lost = record->ip = record->period = 0;
	record->has_time = record->has_cpu = false;
	record->cpu = 0;
	record->pid = record->tid = record->parent_pid = record->parent_tid = 0;
	record->attr = NULL;
	record->comm = NULL;
	record->chain = record->raw = NULL;
	record->comm_len = record->nr_chain = record->raw_len = 0;
}

/* The fields stand in the order of PERF_RECORD_SAMPLE of include/uapi/linux/perf_event.h. */
static bool take_sample(struct perf_data *data, struct bytes in, struct perf_record *record)
{
	uint64_t id = id_of_sample(data, in), type, nr;
	const struct perf_attr *attr = attr_of_sample(data, id);
	const uint8_t *at;
	uint32_t len;

	type = attr->sample_type;
	if (!bytes_take(&in, attr->at.end, &at))
		return false;
	record->attr = attr;
	if (type & PERF_HAS_IP)
		record->ip = load_u64(at + attr->at.ip, in.swap);
	if (type & PERF_HAS_TID) {
		record->pid = (int32_t)load_u32(at + attr->at.tid, in.swap);
		record->tid = (int32_t)load_u32(at + attr->at.tid + 4, in.swap);
	}
	if (type & PERF_HAS_TIME) {
		record->has_time = true;
		record->time = load_u64(at + attr->at.time, in.swap);
	}
	if (type & PERF_HAS_CPU) {
		record->cpu = load_u32(at + attr->at.cpu, in.swap);
		record->has_cpu = record->cpu != UINT32_MAX;
	}
	if (type & PERF_HAS_PERIOD)
		record->period = load_u64(at + attr->at.period, in.swap);
	if (type & PERF_HAS_READ && !skip_read(&in, attr->read_format))
		return false;
	if (!record->has_cpu)
		set_cpu(data, id, record);
	if (type & PERF_HAS_CHAIN) {
		if (!bytes_u64(&in, &nr) || nr > in.left / sizeof(uint64_t))
			return false;
		record->nr_chain = (size_t)nr;
		(void)!bytes_take(&in, (size_t)nr * sizeof(uint64_t), &record->chain);
	}
	if (!(type & PERF_HAS_RAW))
		return true;
	record->raw_len = bytes_u32(&in, &len) ? len : 0;
	if (!bytes_take(&in, record->raw_len, &at))
		return false;
	record->raw = (uint8_t *)(uintptr_t)at;
	return true;
}

/* What stands behind the other records if sample_id_all was asked for, read from its end. Returns its length. */
static size_t take_trailer(const struct perf_data *data, const uint8_t *end, size_t left, struct perf_record *record,
			   uint64_t *ret_id)
{
	static const uint64_t order[] = { PERF_HAS_IDENTIFIER, PERF_HAS_CPU,  PERF_HAS_STREAM,
					  PERF_HAS_ID,         PERF_HAS_TIME, PERF_HAS_TID };
	const uint8_t *at = end;

	*ret_id = 0;
	if (!data->nr_attrs || !(data->attrs[0].flags & PERF_ID_ALL))
		return 0;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (!(data->attrs[0].sample_type & order[i]))
			continue;
		if (left < (size_t)(end - at) + sizeof(uint64_t))
			return 0;
		at -= sizeof(uint64_t);
		if (order[i] == PERF_HAS_IDENTIFIER || order[i] == PERF_HAS_ID)
			*ret_id = load_u64(at, data->swap);
		if (order[i] == PERF_HAS_CPU) {
			record->cpu = load_u32(at, data->swap);
			record->has_cpu = record->cpu != UINT32_MAX;
		}
		if (order[i] == PERF_HAS_TIME) {
			record->time = load_u64(at, data->swap);
			record->has_time = true;
		}
	}
	return (size_t)(end - at);
}

static bool take_other(const struct perf_data *data, const uint8_t *at, size_t size, struct perf_record *record)
{
	uint64_t id, own;
	size_t behind = take_trailer(data, at + size, size - PERF_HEAD, record, &id);
	struct bytes in = bytes_of(at + PERF_HEAD, size - PERF_HEAD - behind, data->swap);

	switch (record->kind) {
	case PERF_COMM:
		if (!take_pair(&in, &record->pid, &record->tid))
			return false;
		record->comm = (const char *)in.at;
		record->comm_len = strnlen(record->comm, in.left);
		return true;
	case PERF_FORK:
		record->has_time = true;
		return take_pair(&in, &record->pid, &record->parent_pid) &&
		       take_pair(&in, &record->tid, &record->parent_tid) && bytes_u64(&in, &record->time);
	case PERF_LOST:
		if (!bytes_u64(&in, &own) || !bytes_u64(&in, &record->lost))
			return false;
		record->attr = perf_attr_of(data, own);
		set_cpu(data, own, record);
		return true;
	case PERF_LOST_SAMPLES:
		record->attr = perf_attr_of(data, id);
		set_cpu(data, id, record);
		return bytes_u64(&in, &record->lost);
	default:
		record->attr = perf_attr_of(data, id);
		return true;
	}
}

bool perf_record_read(struct perf_data *data, uint32_t kind, const uint8_t *at, size_t size, struct perf_record *ret)
{
	clear(ret, kind);
	ret->round = data->rounds;
	if (kind == PERF_SAMPLE)
		return take_sample(data, bytes_of(at + PERF_HEAD, size - PERF_HEAD, data->swap), ret);
	return take_other(data, at, size, ret);
}
