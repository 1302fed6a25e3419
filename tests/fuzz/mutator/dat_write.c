// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fuzz/mutator/dat.h"

#include <string.h>

#include "lib/pages/codec/frame.h"

enum { HEAD = 16, PACKED = 1, DONE = 0, STORED_MAX = 100 << 10 };

static struct frame_writer *frames;

struct pen {
	struct dat *dat;
	uint8_t *out;
	size_t at, size;
	bool full;
};

static void put(struct pen *pen, const void *data, size_t len)
{
	if (len > pen->size - pen->at) {
		pen->full = true;
		return;
	}
	memcpy(pen->out + pen->at, data, len);
	pen->at += len;
}

/* Writes a number that a mutation may change afterwards. */
static void put_field(struct pen *pen, unsigned width, uint64_t value)
{
	struct dat *dat = pen->dat;
	uint8_t bytes[8];

	if (dat->nr_fields < DAT_FIELDS)
		dat->fields[dat->nr_fields++] = (struct dat_field){ pen->at, width };
	dat_store(dat, bytes, width, value);
	put(pen, bytes, width);
}

/*
 * Writes u32 size, u32 unpacked size, frame. A small frame is stored uncompressed, so that its length does not depend
 * on its bytes.
 */
static void put_frame(struct pen *pen, const struct dat_blob *blob, bool stored)
{
	size_t head = pen->at, len = 0;
	uint8_t bytes[16];

	put_field(pen, 4, 0);
	put_field(pen, 4, blob->len);
	if (pen->full)
		return;
	if (stored && blob->len < STORED_MAX) {
		frame_stored_head(bytes);
		frame_stored_block(blob->len, true, bytes + FRAME_HEAD);
		put(pen, bytes, FRAME_HEAD + FRAME_BLOCK_HEAD);
		put(pen, blob->data, blob->len);
		len = FRAME_HEAD + FRAME_BLOCK_HEAD + blob->len;
	} else if (pen->size - pen->at < frame_bound(blob->len) ||
		   frame_write(frames, blob->data, blob->len, pen->out + pen->at, pen->size - pen->at, &len, NULL)) {
		pen->full = true;
	} else {
		pen->at += len;
	}
	if (!pen->full)
		dat_store(pen->dat, pen->out + head, 4, len);
}

static void put_buffer(struct pen *pen, struct dat_option *option)
{
	struct dat *dat = pen->dat;

	put_field(pen, 4, option->nr_cpus);
	for (size_t i = 0; i < option->nr_cpus; i++) {
		const struct dat_cpu *cpu = &dat->cpus[option->first_cpu + i];

		put_field(pen, 4, cpu->number);
		put_field(pen, 8, cpu->at);
		put_field(pen, 8, cpu->size);
	}
}

static void put_option(struct pen *pen, struct dat_option *option)
{
	size_t size = option->data.len + (option->is_buffer ? 4 + 20 * option->nr_cpus : 0);
	uint8_t place[8];

	put_field(pen, 2, option->id);
	put_field(pen, 4, size);
	if (option->section >= 0 && option->data.len >= 8) {
		dat_store(pen->dat, place, 8, pen->dat->sections[option->section].at);
		memcpy(option->data.data, place, 8);
	}
	if (pen->dat->nr_fields < DAT_FIELDS && option->data.len >= 8)
		pen->dat->fields[pen->dat->nr_fields++] = (struct dat_field){ pen->at, 8 };
	put(pen, option->data.data, option->data.len);
	if (option->is_buffer)
		put_buffer(pen, option);
}

static void put_options(struct pen *pen, const struct dat_section *section)
{
	for (size_t i = 0; i < section->nr_options; i++)
		put_option(pen, &pen->dat->options[section->first_option + i]);
	put_field(pen, 2, DONE);
	put_field(pen, 4, 8);
	put_field(pen, 8, section->next >= 0 ? pen->dat->sections[section->next].at : 0);
}

static void put_pages(struct pen *pen, size_t section)
{
	struct dat *dat = pen->dat;
	bool packed = dat->sections[section].flags & PACKED;

	for (size_t i = 0; i < dat->nr_cpus; i++) {
		struct dat_cpu *cpu = &dat->cpus[i];

		if (cpu->section != (int)section)
			continue;
		cpu->at = pen->at;
		if (packed)
			put_field(pen, 4, cpu->nr_chunks);
		for (size_t j = 0; j < cpu->nr_chunks; j++) {
			const struct dat_blob *chunk = &dat->chunks[cpu->first_chunk + j];

			if (packed)
				put_frame(pen, chunk, false);
			else
				put(pen, chunk->data, chunk->len);
		}
		cpu->size = pen->at - cpu->at;
	}
}

/* A compressed options section is stored, so that its length is known before the places in it are. */
static void put_packed_options(struct pen *pen, const struct dat_section *section)
{
	struct pen inner = { .dat = pen->dat, .size = 64 << 10 };
	size_t fields = pen->dat->nr_fields;
	struct dat_blob blob = { 0 };

	inner.out = blob.data = dat_room(inner.size);
	if (!blob.data) {
		pen->full = true;
		return;
	}
	put_options(&inner, section);
	pen->dat->nr_fields = fields;
	blob.len = inner.at;
	pen->full |= inner.full;
	put_frame(pen, &blob, true);
}

static void put_section(struct pen *pen, size_t index)
{
	struct dat_section *section = &pen->dat->sections[index];
	size_t start;

	section->at = pen->at;
	put_field(pen, 2, section->id);
	put_field(pen, 2, section->flags);
	put_field(pen, 4, section->name);
	put_field(pen, 8, 0);
	start = pen->at;
	if (section->is_options && section->flags & PACKED)
		put_packed_options(pen, section);
	else if (section->is_options)
		put_options(pen, section);
	else if (!section->body.data)
		put_pages(pen, index);
	else if (section->flags & PACKED && !section->opaque)
		put_frame(pen, &section->body, section->body.len < 4096);
	else
		put(pen, section->body.data, section->body.len);
	if (!pen->full)
		dat_store(pen->dat, pen->out + section->at + 8, 8, pen->at - start);
}

static void put_all(struct pen *pen)
{
	struct dat *dat = pen->dat;
	uint64_t options = 0;

	pen->at = 0;
	dat->nr_fields = 0;
	if (dat->first_options >= 0)
		options = dat->sections[dat->first_options].at;
	put(pen, dat->head.data, dat->head.len);
	put_field(pen, 8, options);
	for (size_t i = 0; i < dat->nr_sections && !pen->full; i++)
		put_section(pen, i);
}

/* Writes the file twice: the first round finds the places that the second one stores. */
size_t dat_write(struct dat *dat, uint8_t *out, size_t size)
{
	struct pen pen = { .dat = dat, .out = out, .size = size };

	if (!frames && frame_writer_new(FRAME_LEVEL_DEFAULT, &frames, NULL))
		return 0;
	put_all(&pen);
	if (!pen.full)
		put_all(&pen);
	return pen.full ? 0 : pen.at;
}
