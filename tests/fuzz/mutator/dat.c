// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fuzz/mutator/dat.h"

#include <string.h>

#include "lib/pages/codec/frame.h"

enum { HEAD = 16, PACKED = 1, BUFFER = 3, FIRST_SECTION = 16, LAST_SECTION = 25, INITIAL = 18, UNPACKED_MAX = 2 << 20 };

static uint8_t arena[DAT_ARENA];
static size_t arena_used;
static struct frame_reader *reader;

uint8_t *dat_room(size_t size)
{
	uint8_t *room = arena + arena_used;

	size = (size + 15) & ~(size_t)15;
	if (size > sizeof(arena) - arena_used)
		return NULL;
	arena_used += size;
	return room;
}

uint64_t dat_load(const struct dat *dat, const uint8_t *at, unsigned width)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < width; i++)
		value = value << 8 | at[dat->big ? i : width - 1 - i];
	return value;
}

void dat_store(const struct dat *dat, uint8_t *at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		at[dat->big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* Copies bytes into memory in which they can grow by half their size and some bytes more. */
static bool blob_of(struct dat_blob *blob, const uint8_t *data, size_t len)
{
	blob->room = len + len / 2 + 512;
	blob->data = dat_room(blob->room);
	blob->len = len;
	if (!blob->data)
		return false;
	memcpy(blob->data, data, len);
	return true;
}

/* The frame at `at`: u32 size, u32 unpacked size, then the frame. *ret_used is the length of the three together. */
static bool unpack(const struct dat *dat, size_t at, size_t end, struct dat_blob *ret, size_t *ret_used)
{
	size_t packed, size;

	if (at > end || end - at < 8)
		return false;
	packed = (size_t)dat_load(dat, dat->in + at, 4);
	size = (size_t)dat_load(dat, dat->in + at + 4, 4);
	if (packed > end - at - 8 || size > UNPACKED_MAX)
		return false;
	ret->room = size + size / 2 + 512;
	ret->data = dat_room(ret->room);
	ret->len = size;
	*ret_used = packed + 8;
	return ret->data && !frame_read(reader, dat->in + at + 8, packed, ret->data, size, NULL);
}

static bool add_chunks(struct dat *dat, struct dat_cpu *cpu, uint64_t at, uint64_t size, bool packed)
{
	size_t used, end;
	uint32_t count;

	if (at > dat->len || size > dat->len - at)
		return false;
	cpu->first_chunk = dat->nr_chunks;
	end = (size_t)(at + size);
	if (!packed || size < 4) {
		if (dat->nr_chunks == DAT_CHUNKS ||
		    !blob_of(&dat->chunks[dat->nr_chunks++], dat->in + at, (size_t)size))
			return false;
		cpu->nr_chunks = 1;
		return true;
	}
	count = (uint32_t)dat_load(dat, dat->in + at, 4);
	for (at += 4; count--; at += used) {
		if (dat->nr_chunks == DAT_CHUNKS || !unpack(dat, (size_t)at, end, &dat->chunks[dat->nr_chunks], &used))
			break;
		dat->nr_chunks++;
		cpu->nr_chunks++;
	}
	return true;
}

static int section_at(const struct dat *dat, uint64_t offset)
{
	for (size_t i = 0; i < dat->nr_sections; i++)
		if (dat->sections[i].old == offset)
			return (int)i;
	return -1;
}

/* The fixed part and both names, then { u32 cpu, u64 offset, u64 size } for each CPU. */
static bool add_buffer(struct dat *dat, struct dat_option *option, const uint8_t *data, size_t len)
{
	size_t at = 8;
	uint32_t count;

	for (int names = 0; names < 2; names++) {
		const uint8_t *end = at < len ? memchr(data + at, 0, len - at) : NULL;

		if (!end)
			return blob_of(&option->data, data, len);
		at = (size_t)(end - data) + 1;
	}
	if (len - at < 8)
		return blob_of(&option->data, data, len);
	count = (uint32_t)dat_load(dat, data + at + 4, 4);
	option->is_buffer = true;
	option->first_cpu = dat->nr_cpus;
	for (const uint8_t *entry = data + at + 8;
	     count-- && (size_t)(data + len - entry) >= 20 && dat->nr_cpus < DAT_CPUS; entry += 20) {
		struct dat_cpu *cpu = &dat->cpus[dat->nr_cpus];

		*cpu = (struct dat_cpu){ .number = (uint32_t)dat_load(dat, entry, 4), .section = option->section };
		if (!add_chunks(dat, cpu, dat_load(dat, entry + 4, 8), dat_load(dat, entry + 12, 8),
				option->section >= 0 && dat->sections[option->section].flags & PACKED))
			continue;
		dat->nr_cpus++;
		option->nr_cpus++;
	}
	return blob_of(&option->data, data, at + 4);
}

static bool add_options(struct dat *dat, struct dat_section *section, const uint8_t *data, size_t len)
{
	section->is_options = true;
	section->next = -1;
	section->first_option = dat->nr_options;
	for (size_t at = 0; len - at >= 6;) {
		uint16_t id = (uint16_t)dat_load(dat, data + at, 2);
		size_t size = (size_t)dat_load(dat, data + at + 2, 4);
		struct dat_option *option = &dat->options[dat->nr_options];

		at += 6;
		if (size > len - at || dat->nr_options == DAT_OPTIONS)
			return false;
		if (!id) {
			section->next = size >= 8 ? section_at(dat, dat_load(dat, data + at, 8)) : -1;
			return true;
		}
		*option = (struct dat_option){ .id = id, .section = -1 };
		if (size >= 8 && (id == BUFFER || (id >= FIRST_SECTION && id <= LAST_SECTION)))
			option->section = section_at(dat, dat_load(dat, data + at, 8));
		if (id == BUFFER ? !add_buffer(dat, option, data + at, size) : !blob_of(&option->data, data + at, size))
			return false;
		at += size;
		dat->nr_options++;
		section->nr_options++;
	}
	return true;
}

static bool add_section(struct dat *dat, size_t at)
{
	struct dat_section *section = &dat->sections[dat->nr_sections];
	uint64_t size = dat_load(dat, dat->in + at + 8, 8), left = dat->len - at - HEAD;
	size_t used;

	*section = (struct dat_section){ .id = (uint16_t)dat_load(dat, dat->in + at, 2),
					 .flags = (uint16_t)dat_load(dat, dat->in + at + 2, 2),
					 .name = (uint32_t)dat_load(dat, dat->in + at + 4, 4),
					 .old = at,
					 .next = -1 };
	if (size > left)
		size = left;
	dat->nr_sections++;
	if (section->id == BUFFER)
		return true;
	if (section->flags & PACKED && unpack(dat, at + HEAD, at + HEAD + (size_t)size, &section->body, &used))
		return true;
	section->opaque = section->flags & PACKED;
	return blob_of(&section->body, dat->in + at + HEAD, (size_t)size);
}

static bool open_v7(struct dat *dat)
{
	size_t at = INITIAL;
	uint64_t first;

	for (int names = 0; names < 2; names++) {
		const uint8_t *end = memchr(dat->in + at, 0, dat->len - at);

		if (!end || (size_t)(end - dat->in) + 10 > dat->len)
			return false;
		at = (size_t)(end - dat->in) + 1;
	}
	if (!blob_of(&dat->head, dat->in, at))
		return false;
	first = dat_load(dat, dat->in + at, 8);
	for (at += 8; dat->len - at >= HEAD && dat->nr_sections < DAT_SECTIONS;) {
		uint64_t size = dat_load(dat, dat->in + at + 8, 8);

		if (!add_section(dat, at))
			return false;
		if (size > dat->len - at - HEAD)
			break;
		at += HEAD + (size_t)size;
	}
	dat->first_options = section_at(dat, first);
	for (size_t i = 0; i < dat->nr_sections; i++)
		if (!dat->sections[i].id && !dat->sections[i].opaque &&
		    !add_options(dat, &dat->sections[i], dat->sections[i].body.data, dat->sections[i].body.len))
			return false;
	return true;
}

bool dat_open(struct dat *dat, const uint8_t *data, size_t len)
{
	arena_used = 0;
	if (!reader && frame_reader_new(&reader, NULL))
		return false;
	memset(dat, 0, sizeof(*dat));
	if (len < 64 || memcmp(data, "\x17\x08\x44tracing", 10) || (data[10] != '6' && data[10] != '7') || data[11])
		return false;
	dat->in = data;
	dat->len = len;
	dat->version = data[10] - '0';
	dat->big = data[12];
	dat->long_size = data[13];
	dat->page_size = (uint32_t)dat_load(dat, data + 14, 4);
	return dat->version == 6 || open_v7(dat);
}
