// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/perf/perf_data_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/input.h"

/* Limits of what a file may claim. A record has at most 64 KiB. */
enum {
	WINDOW = 1 << 20,
	AT_ONCE = 1 << 17, /* what is read of it, unless more is wanted: it stays in a cache of the CPU */
	INFLATED = 1 << 18,
	ATTRS_MAX = 1 << 16,
	IDS_MAX = 1 << 20,
	TEXT_MAX = 1 << 16,
	TRACING_MAX = 1 << 28,
	FORMATS_MAX = 1 << 16,
	EXPANDS_MAX = 1000,
	ATTR_MIN = 64, /* PERF_ATTR_SIZE_VER0 */
};

/* Features (tools/perf/util/header.h). */
enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_CLOCK_DATA = 29,
	FEATURES = 256,
};

/* Records that perf itself makes (enum perf_user_event_type of tools/lib/perf/include/perf/event.h). */
enum {
	KIND_ATTR = 64,
	KIND_TRACING_DATA = 66,
	KIND_FINISHED_ROUND = 68,
	KIND_ID_INDEX = 69,
	KIND_AUXTRACE = 71,
	KIND_UPDATE = 78,
	KIND_FEATURE = 80,
	KIND_COMPRESSED = 81,
	KIND_COMPRESSED2 = 83,
	KIND_SIMPLEPERF_TRACING = 32777, /* record.h of Android's simpleperf */
};

static const char little[] = "PERFILE2", big[] = "2ELIFREP";

bool perf_data_is(const uint8_t magic[PERF_MAGIC_SIZE])
{
	return !memcmp(magic, little, PERF_MAGIC_SIZE) || !memcmp(magic, big, PERF_MAGIC_SIZE);
}

bool perf_data_swaps(const struct perf_data *data)
{
	return data->swap;
}

const struct perf_attr *perf_data_attrs(const struct perf_data *data, size_t *ret_nr)
{
	*ret_nr = data->nr_attrs;
	return data->attrs;
}

const struct perf_facts *perf_data_facts(const struct perf_data *data)
{
	return &data->facts;
}

const struct perf_formats *perf_data_formats(const struct perf_data *data)
{
	return &data->formats;
}

/* --- the file --- */

/* Points at bytes of the present input, which are at most WINDOW. */
static int see(struct perf_data *data, uint64_t at, size_t len, const uint8_t **ret, struct fail *fail)
{
	const struct input *input = &data->inputs[data->input];
	bool there = data->window_input == data->input && at >= data->window_at &&
		     at - data->window_at <= data->window_len && len <= data->window_len - (at - data->window_at);
	size_t size = len > AT_ONCE ? len : AT_ONCE;
	int r;

	if (!there) {
		if (at > input->size || len > input->size - at)
			return fail_set(fail, -EBADMSG,
					"the file ends at %" PRIu64 ", inside the %zu bytes at %" PRIu64, input->size,
					len, at);
		if (size > input->size - at)
			size = (size_t)(input->size - at);
		data->window_len = 0;
		r = input_read(input, at, data->window, size, fail);
		if (r)
			return r;
		data->window_input = data->input;
		data->window_at = at;
		data->window_len = size;
	}
	*ret = data->window + (at - data->window_at);
	return 0;
}

/* The whole bytes of a section, in memory of its own; `max` bytes at most. */
static int load(struct perf_data *data, uint64_t at, uint64_t len, size_t max, uint8_t **ret, struct fail *fail)
{
	const struct input *input = &data->inputs[data->input];
	cleanup_free uint8_t *bytes = NULL;
	int r;

	if (at > input->size || len > input->size - at || len > max)
		return fail_set(fail, -EBADMSG, "a section of %" PRIu64 " bytes at %" PRIu64 " does not fit", len, at);
	bytes = malloc((size_t)len + 1);
	if (!bytes)
		return fail_memory(fail);
	r = input_read(input, at, bytes, (size_t)len, fail);
	if (r)
		return r;
	bytes[len] = 0;
	*ret = take(bytes);
	return 0;
}

/* --- what the features say --- */

/* Replaces a text by u32 length, bytes. */
static bool take_string(struct bytes *in, char **ret)
{
	const uint8_t *at;
	uint32_t len;
	char *text;

	if (!bytes_u32(in, &len) || len > TEXT_MAX || !bytes_take(in, len, &at))
		return false;
	text = strndup((const char *)at, len);
	if (!text)
		return false;
	free(*ret);
	*ret = text;
	return true;
}

static bool take_command(struct bytes *in, char **ret)
{
	cleanup_buf struct buf words = BUF_INIT;
	uint32_t nr;
	bool ok = bytes_u32(in, &nr);

	for (uint32_t i = 0; ok && i < nr && words.len < TEXT_MAX; i++) {
		char *word = NULL;

		ok = take_string(in, &word) && (!words.len || buf_add_str(&words, " ")) && buf_add_str(&words, word);
		free(word);
	}
	if (ok) {
		free(*ret);
		*ret = strdup(buf_str(&words));
	}
	return ok && *ret;
}

/* The names of the events, in the order of the attributes. */
static bool take_names(struct perf_data *data, struct bytes *in)
{
	uint32_t nr, size, nr_ids;
	const uint8_t *skipped;
	bool ok = bytes_u32(in, &nr) && bytes_u32(in, &size);

	for (uint32_t i = 0; ok && i < nr; i++) {
		char *name = NULL;

		ok = bytes_take(in, size, &skipped) && bytes_u32(in, &nr_ids) && take_string(in, &name) &&
		     nr_ids <= in->left / sizeof(uint64_t) && bytes_take(in, nr_ids * sizeof(uint64_t), &skipped);
		if (ok && i < data->nr_attrs && !data->attrs[i].name)
			data->attrs[i].name = take(name);
		free(name);
	}
	return ok;
}

static bool take_tracing(struct perf_data *data, struct bytes *in);

/* What is damaged in a feature is not known; the records are read without it. */
static void take_feature(struct perf_data *data, unsigned feature, struct bytes in)
{
	struct perf_facts *facts = &data->facts;
	uint32_t version, clock;

	switch (feature) {
	case FEATURE_HOSTNAME:
		(void)take_string(&in, &facts->host);
		break;
	case FEATURE_OSRELEASE:
		(void)take_string(&in, &facts->release);
		break;
	case FEATURE_VERSION:
		(void)take_string(&in, &facts->version);
		break;
	case FEATURE_ARCH:
		(void)take_string(&in, &facts->arch);
		break;
	case FEATURE_CMDLINE:
		(void)take_command(&in, &facts->command);
		break;
	case FEATURE_NRCPUS:
		(void)bytes_u32(&in, &facts->cpus);
		break;
	case FEATURE_EVENT_DESC:
		(void)take_names(data, &in);
		break;
	case FEATURE_CLOCK_DATA:
		facts->has_wall = bytes_u32(&in, &version) && bytes_u32(&in, &clock) &&
				  bytes_u64(&in, &facts->wall_ns) && bytes_u64(&in, &facts->clock_ns);
		break;
	}
}

/* --- the formats of tracepoints: the first half of a trace.dat of version 6 --- */

/* Takes u64 or u32 size and as many bytes. A NUL must follow texts that are used as strings; these have their own. */
static bool take_sized(struct bytes *in, bool wide, const char **ret, size_t *ret_len)
{
	const uint8_t *at;
	uint64_t size = 0;
	uint32_t small = 0;

	if (wide ? !bytes_u64(in, &size) : !bytes_u32(in, &small))
		return false;
	size += small;
	if (size > in->left || !bytes_take(in, (size_t)size, &at))
		return false;
	*ret = (const char *)at;
	*ret_len = (size_t)size;
	return true;
}

/* A header's text, "header_page" or "header_event": with a NUL where its size was. */
static bool take_header(struct bytes *in, const char *name, const char **ret)
{
	const char *found, *text;
	size_t len;
	char *to;

	if (!bytes_cstr(in, &found, &len) || strcmp(found, name) != 0 || !take_sized(in, true, &text, &len))
		return false;
	to = (char *)(uintptr_t)text - 1;
	memmove(to, text, len);
	to[len] = '\0';
	*ret = to;
	return true;
}

static bool take_formats(struct perf_formats *formats, struct bytes *in, const char *system)
{
	const char *text;
	uint32_t nr;
	size_t len;

	if (!bytes_u32(in, &nr))
		return false;
	while (nr--) {
		struct writer_format *added;

		if (formats->nr_formats >= FORMATS_MAX || !take_sized(in, true, &text, &len))
			return false;
		added = vec_push(formats->formats, formats->nr_formats);
		if (!added)
			return false;
		*added = (struct writer_format){ .system = system, .text = text, .len = len };
	}
	return true;
}

static bool take_tracing(struct perf_data *data, struct bytes *in)
{
	static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	struct perf_formats *formats = &data->formats;
	const char *version, *text;
	const uint8_t *found;
	uint32_t systems;
	uint8_t order;
	size_t len;
	bool ok = bytes_take(in, sizeof(magic), &found) && !memcmp(found, magic, sizeof(magic)) &&
		  bytes_cstr(in, &version, &len) && bytes_u8(in, &order) && bytes_u8(in, &formats->long_size);

	if (!ok)
		return false;
	formats->big_endian = order;
	in->swap = order != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	ok = bytes_u32(in, &formats->page_size) && take_header(in, "header_page", &formats->header_page) &&
	     take_header(in, "header_event", &formats->header_event) && take_formats(formats, in, "ftrace") &&
	     bytes_u32(in, &systems);
	while (ok && systems--)
		ok = bytes_cstr(in, &text, &len) && take_formats(formats, in, text);
	/* kallsyms has been empty since 2015: nobody may read the addresses of another kernel from it. */
	ok = ok && take_sized(in, false, &text, &len);
	if (ok && take_sized(in, false, &formats->printk, &formats->printk_len) && in->left)
		(void)!take_sized(in, true, &formats->cmdlines, &formats->cmdlines_len);
	return ok;
}

/* Takes the formats of a section. Damaged ones are none. */
static int load_tracing(struct perf_data *data, uint64_t at, uint64_t len, struct fail *fail)
{
	struct bytes in;
	int r;

	if (data->tracing)
		return 0;
	r = load(data, at, len, TRACING_MAX, &data->tracing, fail);
	if (r)
		return r;
	data->tracing_len = (size_t)len;
	in = bytes_of(data->tracing, data->tracing_len, false);
	if (!take_tracing(data, &in)) {
		free(data->formats.formats);
		data->formats = (struct perf_formats){ .nr_formats = 0 };
		return fail_set(fail, -EBADMSG, "the formats of its tracepoints are damaged");
	}
	return 0;
}

/* --- attributes --- */

static uint8_t mirrored(uint8_t byte)
{
	uint8_t ret = 0;

	for (unsigned bit = 0; bit < 8; bit++)
		ret |= (uint8_t)((byte >> bit & 1) << (7 - bit));
	return ret;
}

/* A machine with the high byte first also has the first bit field in the highest bit of each byte. */
static uint64_t flags_of(const uint8_t at[8], bool big_endian)
{
	uint64_t flags = 0;

	for (unsigned i = 0; i < 8; i++)
		flags |= (uint64_t)(big_endian ? mirrored(at[i]) : at[i]) << 8 * i;
	return flags;
}

/* Each field of a sample before those whose sizes differ has 8 bytes. */
static void place_fields(struct perf_attr *attr)
{
	const struct {
		uint64_t bit;
		uint8_t *at;
	} order[] = {
		{ PERF_HAS_IDENTIFIER, NULL },
		{ PERF_HAS_IP, &attr->at.ip },
		{ PERF_HAS_TID, &attr->at.tid },
		{ PERF_HAS_TIME, &attr->at.time },
		{ PERF_HAS_ADDR, NULL },
		{ PERF_HAS_ID, NULL },
		{ PERF_HAS_STREAM, NULL },
		{ PERF_HAS_CPU, &attr->at.cpu },
		{ PERF_HAS_PERIOD, &attr->at.period },
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (!(attr->sample_type & order[i].bit))
			continue;
		if (order[i].at)
			*order[i].at = attr->at.end;
		attr->at.end = (uint8_t)(attr->at.end + sizeof(uint64_t));
	}
}

/* struct perf_event_attr; newer kernels have more behind it. */
static int add_attr(struct perf_data *data, const uint8_t *at, size_t size, struct fail *fail)
{
	bool swap = data->swap, big_endian = swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	struct perf_attr *attr;

	if (size < ATTR_MIN || data->nr_attrs >= ATTRS_MAX)
		return fail_set(fail, -EBADMSG, "an event of %zu bytes cannot be read", size);
	attr = vec_push(data->attrs, data->nr_attrs);
	if (!attr)
		return fail_memory(fail);
	*attr = (struct perf_attr){
		.type = load_u32(at, swap),
		.config = load_u64(at + 8, swap),
		.period = load_u64(at + 16, swap),
		.sample_type = load_u64(at + 24, swap),
		.read_format = load_u64(at + 32, swap),
		.flags = flags_of(at + 40, big_endian),
		.clock = size >= 96 ? (int32_t)load_u32(at + 92, swap) : 0,
	};
	place_fields(attr);
	memset(data->known, 0, sizeof(data->known));
	return 0;
}

/* The ids of the attribute that was added last. */
static int add_ids(struct perf_data *data, struct bytes in, struct fail *fail)
{
	uint64_t id;

	while (bytes_u64(&in, &id)) {
		uint32_t *of;

		if (data->ids.len >= IDS_MAX)
			return fail_set(fail, -EBADMSG, "there are more than %d ids of events", IDS_MAX);
		of = u64_map_add(&data->ids, id);
		if (!of)
			return fail_memory(fail);
		*of = (uint32_t)data->nr_attrs - 1;
	}
	memset(data->known, 0, sizeof(data->known));
	return 0;
}

static int read_attrs(struct perf_data *data, uint64_t at, uint64_t size, uint64_t attr_size, struct fail *fail)
{
	if (attr_size < ATTR_MIN + 16 || attr_size > TEXT_MAX || !size || size % attr_size ||
	    size / attr_size > ATTRS_MAX)
		return fail_set(fail, -EBADMSG, "it has no list of events: it was not finished, or is damaged");
	for (uint64_t i = 0; i < size / attr_size; i++) {
		const uint8_t *entry;
		uint64_t ids, ids_size;
		uint8_t *bytes = NULL;
		int r = see(data, at + i * attr_size, (size_t)attr_size, &entry, fail);

		if (r)
			return r;
		ids = load_u64(entry + attr_size - 16, data->swap);
		ids_size = load_u64(entry + attr_size - 8, data->swap);
		r = add_attr(data, entry, (size_t)attr_size - 16, fail);
		if (!r)
			r = load(data, ids, ids_size, IDS_MAX * sizeof(uint64_t), &bytes, fail);
		if (!r)
			r = add_ids(data, bytes_of(bytes, (size_t)ids_size, data->swap), fail);
		free(bytes);
		if (r)
			return r;
	}
	return 0;
}

/* --- the head --- */

/* The features lie behind the records, and their list directly there. */
static int read_features(struct perf_data *data, const uint8_t bits[32], struct fail *fail)
{
	uint64_t at = data->end;

	for (unsigned i = 0; i < FEATURES; i++) {
		const uint8_t *section;
		uint8_t *bytes = NULL;
		uint64_t offset, size;
		struct fail ignored = FAIL_INIT;
		/* An array of u64, each in the order of the machine. */
		const uint8_t *word = bits + i / 64 * 8;
		int r;

		if (!(load_u64(word, data->swap) >> i % 64 & 1))
			continue;
		r = see(data, at, 16, &section, fail);
		if (r)
			return r;
		at += 16;
		offset = load_u64(section, data->swap);
		size = load_u64(section + 8, data->swap);
		if (i == FEATURE_TRACING_DATA && size) {
			r = load_tracing(data, offset, size, fail);
			if (r)
				return r;
		} else if (size && !load(data, offset, size, WINDOW, &bytes, &ignored)) {
			take_feature(data, i, bytes_of(bytes, (size_t)size, data->swap));
		}
		free(bytes);
	}
	return 0;
}

enum { FILE_HEAD = 104, PIPE_HEAD = 16 };

static int read_head(struct perf_data *data, struct fail *fail)
{
	const uint8_t *head;
	uint8_t bits[32];
	uint64_t size, attr_size, attrs, attrs_size;
	int r = see(data, 0, PIPE_HEAD, &head, fail);

	if (r)
		return r;
	if (!perf_data_is(head))
		return fail_set(fail, -EBADMSG, "it is no perf.data");
	data->swap = !memcmp(head, big, PERF_MAGIC_SIZE) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	size = load_u64(head + 8, data->swap);
	data->at = size;
	data->end = data->inputs[0].size;
	data->pipe = size == PIPE_HEAD;
	if (data->pipe)
		return 0;
	if (size < FILE_HEAD)
		return fail_set(fail, -EBADMSG, "its head has %" PRIu64 " bytes and not %d", size, FILE_HEAD);
	r = see(data, 0, FILE_HEAD, &head, fail);
	if (r)
		return r;
	attr_size = load_u64(head + 16, data->swap);
	attrs = load_u64(head + 24, data->swap);
	attrs_size = load_u64(head + 32, data->swap);
	data->at = load_u64(head + 40, data->swap);
	size = load_u64(head + 48, data->swap);
	memcpy(bits, head + 72, sizeof(bits));
	r = read_attrs(data, attrs, attrs_size, attr_size, fail);
	if (r)
		return r;
	/* perf record writes the size at its end. */
	data->facts.killed = !size;
	if (data->at > data->end || size > data->end - data->at)
		return fail_set(fail, -EBADMSG, "its records end at %" PRIu64 ", and the file at %" PRIu64,
				data->at + size, data->end);
	if (!size)
		return 0;
	data->end = data->at + size;
	return read_features(data, bits, fail);
}

int perf_data_open(const struct input *inputs, size_t nr, struct perf_data **ret, struct fail *fail)
{
	struct perf_data *data = calloc(1, sizeof(*data));
	int r;

	if (!data)
		return fail_memory(fail);
	data->inputs = inputs;
	data->nr_inputs = nr;
	u64_map_init(&data->ids, sizeof(uint32_t));
	u64_map_init(&data->cpus, sizeof(uint32_t));
	for (size_t i = 0; i < nr; i++)
		data->window_size = inputs[i].size > data->window_size ? inputs[i].size : data->window_size;
	data->window_size = data->window_size < WINDOW ? data->window_size : WINDOW;
	data->window = malloc(data->window_size + 1);
	r = data->window ? read_head(data, fail) : fail_memory(fail);
	if (r)
		perf_data_free(data);
	else
		*ret = data;
	return r;
}

void perf_data_free(struct perf_data *data)
{
	if (!data)
		return;
	for (size_t i = 0; i < data->nr_attrs; i++)
		free(data->attrs[i].name);
	free(data->attrs);
	u64_map_release(&data->ids);
	u64_map_release(&data->cpus);
	free(data->facts.host);
	free(data->facts.release);
	free(data->facts.version);
	free(data->facts.arch);
	free(data->facts.command);
	free(data->formats.formats);
	free(data->tracing);
	free(data->window);
	free(data->inflated);
	frame_stream_free(data->stream);
	free(data);
}

/* --- records --- */

static bool is_packed(uint32_t kind)
{
	return kind == KIND_COMPRESSED || kind == KIND_COMPRESSED2;
}

/* Decompresses some of what the last compressed record has. */
static int inflate_some(struct perf_data *data, struct fail *fail)
{
	size_t got, left, room;
	int r;

	memmove(data->inflated, data->inflated + data->inflated_at, data->inflated_len - data->inflated_at);
	data->inflated_len -= data->inflated_at;
	data->inflated_at = 0;
	left = data->packed_len;
	room = INFLATED - data->inflated_len;
	r = frame_stream_read(data->stream, &data->packed, &data->packed_len, data->inflated + data->inflated_len, room,
			      &got, fail);
	if (r)
		return r;
	data->inflated_len += got;
	data->inflated_total += got;
	data->packed_total += left - data->packed_len;
	data->more = got == room;
	if (!got && left == data->packed_len)
		return fail_set(fail, -EBADMSG, "damaged compressed data: its end is missing");
	/* What perf compresses becomes about ten times smaller. */
	if (data->inflated_total > WINDOW + data->packed_total * EXPANDS_MAX)
		return fail_set(fail, -EBADMSG, "compressed data becomes more than %d times as large", EXPANDS_MAX);
	return 0;
}

/* A record of the file that has others in it. */
static int begin_packed(struct perf_data *data, uint32_t kind, const uint8_t *at, size_t size, struct fail *fail)
{
	size_t head = kind == KIND_COMPRESSED ? PERF_HEAD : PERF_HEAD + sizeof(uint64_t);
	uint64_t len = size - PERF_HEAD;

	if (kind == KIND_COMPRESSED2) {
		if (size < head)
			return fail_set(fail, -EBADMSG, "a compressed record of %zu bytes has no size", size);
		len = load_u64(at + PERF_HEAD, data->swap);
		if (len > size - head)
			return fail_set(fail, -EBADMSG, "a compressed record of %zu bytes says %" PRIu64, size, len);
	}
	if (!data->stream) {
		int r = frame_stream_new(&data->stream, fail);

		if (r)
			return r;
	}
	if (!data->inflated)
		data->inflated = malloc(INFLATED);
	if (!data->inflated)
		return fail_memory(fail);
	data->packed = at + head;
	data->packed_len = (size_t)len;
	return 0;
}

/*
 * The number of bytes of a record. In perf 6.16 the size of a COMPRESSED2 is that of 16 bits, which may be too small:
 * then its own size of the data counts.
 */
static int size_of(struct perf_data *data, uint32_t kind, uint64_t *ret, struct fail *fail)
{
	const uint8_t *at;
	uint64_t len;
	int r;

	if (kind != KIND_COMPRESSED2)
		return 0;
	r = see(data, data->at, PERF_HEAD + sizeof(len), &at, fail);
	if (r)
		return r;
	len = load_u64(at + PERF_HEAD, data->swap);
	if (len < WINDOW / 2 && PERF_HEAD + sizeof(len) + (len + 7) / 8 * 8 > *ret)
		*ret = PERF_HEAD + sizeof(len) + (len + 7) / 8 * 8;
	return 0;
}

/* Bytes that follow behind a record: the formats, in a pipe, and what a CPU's own tracer wrote. */
static int skip_behind(struct perf_data *data, uint32_t kind, const uint8_t *at, uint64_t size, struct fail *fail)
{
	uint64_t len, begin;
	int r = 0;

	if ((kind == KIND_TRACING_DATA || kind == KIND_SIMPLEPERF_TRACING) && size >= PERF_HEAD + sizeof(uint32_t)) {
		len = load_u32(at + PERF_HEAD, data->swap);
		begin = data->at;
		/* simpleperf has them inside of the record. */
		if (len <= size - PERF_HEAD - sizeof(uint32_t))
			begin -= size - PERF_HEAD - sizeof(uint32_t);
		else
			data->at += (len + 7) / 8 * 8 < data->end - data->at ? (len + 7) / 8 * 8 : data->end - data->at;
		r = load_tracing(data, begin, len, fail);
	} else if (kind == KIND_AUXTRACE && size >= PERF_HEAD + sizeof(uint64_t)) {
		len = load_u64(at + PERF_HEAD, data->swap);
		if (len > data->end - data->at)
			return fail_set(fail, -EBADMSG, "%" PRIu64 " bytes behind a record are more than there are",
					len);
		data->at += len;
	}
	return r;
}

/* Goes on with the next file of a directory; its compressed data is a stream of its own. */
static bool next_input(struct perf_data *data)
{
	if (data->input + 1 >= data->nr_inputs)
		return false;
	data->input++;
	data->at = 0;
	data->end = data->inputs[data->input].size;
	frame_stream_free(data->stream);
	data->stream = NULL;
	data->inflated_at = data->inflated_len = 0;
	return true;
}

/* 1: a record of the decompressed ones. 0: these have no more that is whole. */
static int next_inflated(struct perf_data *data, const uint8_t **ret, size_t *ret_size, struct fail *fail)
{
	const uint8_t *at;
	size_t left = data->inflated_len - data->inflated_at, size;

	if (left < PERF_HEAD)
		return 0;
	at = data->inflated + data->inflated_at;
	size = load_u16(at + 6, data->swap);
	if (size < PERF_HEAD || is_packed(load_u32(at, data->swap)))
		return fail_set(fail, -EBADMSG, "a compressed record has a damaged one inside");
	if (left < size)
		return 0;
	data->inflated_at += size;
	*ret = at;
	*ret_size = size;
	return 1;
}

/* The next record, if it is one that lies whole in the window, and nothing has to be done about it. */
static bool next_plain(struct perf_data *data, const uint8_t **ret, size_t *ret_size)
{
	uint64_t from = data->at - data->window_at, left = data->window_len - from;
	const uint8_t *at;
	size_t size;

	if (data->inflated_at != data->inflated_len || data->packed_len || data->more ||
	    data->window_input != data->input || data->at < data->window_at || from > data->window_len ||
	    left < PERF_HEAD || data->end - data->at < PERF_HEAD)
		return false;
	at = data->window + from;
	size = load_u16(at + 6, data->swap);
	if (load_u32(at, data->swap) >= KIND_ATTR || size < PERF_HEAD || size > left || size > data->end - data->at)
		return false;
	data->at += size;
	*ret = at;
	*ret_size = size;
	return true;
}

/* 1: the next record as it is. */
static int next_bytes(struct perf_data *data, const uint8_t **ret, size_t *ret_size, struct fail *fail)
{
	for (;;) {
		const uint8_t *at;
		uint64_t size;
		uint32_t kind;
		int r = next_inflated(data, ret, ret_size, fail);

		if (r)
			return r;
		if (data->packed_len || data->more) {
			r = inflate_some(data, fail);
			if (r)
				return r;
			continue;
		}
		if (data->end - data->at < PERF_HEAD) {
			if (data->at < data->end)
				data->facts.killed = true;
			if (!next_input(data))
				return 0;
			continue;
		}
		r = see(data, data->at, PERF_HEAD, &at, fail);
		if (r)
			return r;
		kind = load_u32(at, data->swap);
		size = load_u16(at + 6, data->swap);
		if (size < PERF_HEAD)
			return fail_set(fail, -EBADMSG, "the record at %" PRIu64 " has %" PRIu64 " bytes", data->at,
					size);
		if (data->end - data->at >= PERF_HEAD + sizeof(uint64_t))
			r = size_of(data, kind, &size, fail);
		if (r)
			return r;
		/* The last record of a recorder that was killed, or what another program wrote behind a pipe's. */
		if (size > data->end - data->at) {
			data->facts.killed = true;
			data->at = data->end;
			continue;
		}
		r = see(data, data->at, (size_t)size, &at, fail);
		if (r)
			return r;
		data->at += size;
		if (is_packed(kind)) {
			r = begin_packed(data, kind, at, (size_t)size, fail);
			if (r)
				return r;
			continue;
		}
		r = skip_behind(data, kind, at, size, fail);
		if (r)
			return r;
		*ret = at;
		*ret_size = (size_t)size;
		return 1;
	}
}

/* --- records that tell what a file has in its head --- */

static int take_id_index(struct perf_data *data, struct bytes in, struct fail *fail)
{
	uint64_t nr, id, index, cpu, tid;

	if (!bytes_u64(&in, &nr))
		return 0;
	while (nr-- && bytes_u64(&in, &id) && bytes_u64(&in, &index) && bytes_u64(&in, &cpu) && bytes_u64(&in, &tid)) {
		uint32_t *of;

		data->facts.has_index = true;
		data->facts.of_tasks |= tid != UINT64_MAX;

		if (data->cpus.len >= IDS_MAX)
			return 0;
		of = u64_map_add(&data->cpus, id);
		if (!of)
			return fail_memory(fail);
		*of = cpu < UINT32_MAX ? (uint32_t)cpu + 1 : 0;
	}
	return 0;
}

/* The records that perf makes: in a pipe, those that have what a file has in its head and its features. */
static int take_meta(struct perf_data *data, uint32_t kind, struct bytes in, struct fail *fail)
{
	const uint8_t *attr = in.at;
	uint64_t what, id;
	uint32_t size;
	int r;

	switch (kind) {
	case KIND_ATTR:
		if (in.left < ATTR_MIN)
			return fail_set(fail, -EBADMSG, "an event of %zu bytes cannot be read", in.left);
		size = load_u32(attr + 4, data->swap);
		if (size < ATTR_MIN || size > in.left)
			return fail_set(fail, -EBADMSG, "an event of %" PRIu32 " bytes cannot be read", size);
		r = add_attr(data, attr, size, fail);
		return r ? r : add_ids(data, bytes_of(attr + size, in.left - size, data->swap), fail);
	case KIND_FEATURE:
		if (bytes_u64(&in, &what) && what < FEATURES)
			take_feature(data, (unsigned)what, in);
		return 0;
	case KIND_UPDATE:
		if (bytes_u64(&in, &what) && what == 2 && bytes_u64(&in, &id) && u64_map_find(&data->ids, id)) {
			struct perf_attr *named = (struct perf_attr *)(uintptr_t)perf_attr_of(data, id);

			free(named->name);
			named->name = strndup((const char *)in.at, in.left);
		}
		return 0;
	case KIND_FINISHED_ROUND:
		data->rounds++;
		return 0;
	case KIND_ID_INDEX:
		return take_id_index(data, in, fail);
	}
	return 0;
}

static bool is_told(uint32_t kind)
{
	return kind == PERF_LOST || kind == PERF_COMM || kind == PERF_THROTTLE || kind == PERF_FORK ||
	       kind == PERF_SAMPLE || kind == PERF_LOST_SAMPLES;
}

int perf_data_next(struct perf_data *data, struct perf_record *ret, struct fail *fail)
{
	while (!data->done) {
		const uint8_t *at = NULL;
		size_t size = 0;
		uint32_t kind;
		int r = next_plain(data, &at, &size) ? 1 : next_bytes(data, &at, &size, fail);

		/* Nothing is read behind damage, because nothing says where the next record begins. */
		if (r <= 0) {
			data->done = true;
			return r;
		}
		kind = load_u32(at, data->swap);
		if (!is_told(kind)) {
			r = take_meta(data, kind, bytes_of(at + PERF_HEAD, size - PERF_HEAD, data->swap), fail);
			if (r)
				return r;
			continue;
		}
		if (kind == PERF_SAMPLE && !data->nr_attrs)
			return fail_set(fail, -EBADMSG, "a sample comes before any event");
		if (perf_record_read(data, kind, at, size, ret))
			return 1;
		data->done = true;
		return fail_set(fail, -EBADMSG, "a record of %zu bytes is too short for what it has", size);
	}
	return 0;
}
