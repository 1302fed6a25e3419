/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FUZZ_DAT_H
#define WEFT_FUZZ_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A trace.dat taken into parts, which can be changed and put together again. Frames are unpacked, and the places that
 * options name are known as parts of the file. The code follows weft-dat(5) and shares only the frames with
 * lib/pages/trace. All memory belongs to one arena, which is freed as a whole.
 */
enum {
	DAT_SECTIONS = 96,
	DAT_OPTIONS = 192,
	DAT_CPUS = 192,
	DAT_CHUNKS = 256,
	DAT_SPANS = 512,
	DAT_FIELDS = 2048,
	DAT_ARENA = 24 << 20
};

struct dat_blob {
	uint8_t *data;
	size_t len, room;
};

/* A text inside a section, and the field with its length. `width` 0: there is no such field. */
struct dat_span {
	size_t at, len, field;
	unsigned width;
};

struct dat_option {
	uint16_t id;
	struct dat_blob data;      /* for a buffer: without its CPUs */
	int section;               /* the section that its first u64 points to; -1: none, the u64 is part of the data */
	size_t first_cpu, nr_cpus; /* of a buffer */
	bool is_buffer;
};

struct dat_cpu {
	uint32_t number;
	int section;
	size_t first_chunk, nr_chunks;
	uint64_t at, size; /* set while the section is written */
};

struct dat_section {
	uint16_t id, flags;
	uint32_t name;
	uint64_t old, at;     /* offsets in the file that was read and in the written file */
	struct dat_blob body; /* unpacked; empty for options and pages */
	size_t first_option, nr_options;
	bool is_options;
	bool opaque; /* compressed otherwise, or broken: the body has the bytes of the file */
	int next;    /* the options section behind it; -1: none */
};

/* A number in the written file. */
struct dat_field {
	size_t at;
	unsigned width;
};

struct dat {
	const uint8_t *in;
	size_t len;
	unsigned version;
	bool big;
	unsigned long_size;
	uint32_t page_size;
	struct dat_blob head; /* the bytes in front of the offset of the options */
	int first_options;    /* the section that the head points to; -1: none */
	struct dat_section sections[DAT_SECTIONS];
	struct dat_option options[DAT_OPTIONS];
	struct dat_cpu cpus[DAT_CPUS];
	struct dat_blob chunks[DAT_CHUNKS];
	size_t nr_sections, nr_options, nr_cpus, nr_chunks;
	struct dat_span spans[DAT_SPANS];
	size_t nr_spans;
	struct dat_field fields[DAT_FIELDS];
	size_t nr_fields;
};

uint64_t dat_load(const struct dat *dat, const uint8_t *at, unsigned width);
void dat_store(const struct dat *dat, uint8_t *at, unsigned width, uint64_t value);
uint8_t *dat_room(size_t size);

/* Returns false if the bytes are no trace.dat, or have more parts of a kind than there is room for. */
bool dat_open(struct dat *dat, const uint8_t *data, size_t len);

/* Version 7 only: writes the whole file into `out`. Returns 0 if it does not fit. */
size_t dat_write(struct dat *dat, uint8_t *out, size_t size);

/* Collects the texts of a section, or of a whole version 6 file, in dat->spans. */
void dat_find_spans(struct dat *dat, const struct dat_blob *body, unsigned section);
size_t dat_find_spans_v6(struct dat *dat);

#endif
