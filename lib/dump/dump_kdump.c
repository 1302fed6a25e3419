// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/bytes.h"
#include "lib/base/fail.h"
#include "lib/codec/frame.h"
#include "lib/codec/inflate.h"
#include "lib/codec/lzo.h"
#include "lib/codec/snappy.h"
#include "lib/dump/dump_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A file of makedumpfile: a header, two bitmaps of pages, a descriptor for each page of the second bitmap, and the
 * pages, each compressed alone (diskdump_mod.h of makedumpfile; struct disk_dump_header, kdump_sub_header, page_desc).
 */
enum {
	HEADER_SIZE = 464,
	AT_VERSION = 8,
	AT_MACHINE = 12 + 4 * 65, /* utsname.machine */
	AT_STATUS = 424,
	AT_BLOCK_SIZE = 428,
	AT_SUB_HEADER = 432,
	AT_BITMAPS = 436,
	AT_MAX_PAGE = 440,
	SUB_HEADER_SIZE = 104,
	SUB_SPLIT = 12,
	SUB_FROM = 16,
	SUB_TO = 24,
	SUB_NOTE = 32, /* offset_vmcoreinfo, size_vmcoreinfo */
	SUB_NOTES = 48,
	SUB_FROM_64 = 80,
	SUB_TO_64 = 88,
	SUB_MAX_PAGE = 96,
	VERSION_64 = 6, /* since this version, numbers of pages have 64 bits */
	DESCRIPTOR = 24,
	BLOCK_MIN = 4096,
	BLOCK_MAX = 64 << 10,
	/* Set bits are counted up to each part of the bitmap of this many bytes. */
	PART = 4096,
	CACHE = 256, /* pages; a power of two */
};

enum { PAGE_ZLIB = 1, PAGE_LZO = 2, PAGE_SNAPPY = 4, PAGE_ZSTD = 0x20 };

#define BITMAP_MAX (UINT64_C(1) << 30) /* of 32 TB */

struct kdump {
	uint32_t block_size;
	uint64_t bitmap, bitmap_len; /* place and length of the second bitmap */
	uint64_t descriptors;
	bool is_part; /* the file has only a part of the pages */
	uint64_t from, to, from_rank, max;
	uint32_t *before; /* the set bits before each part of the bitmap */
	size_t nr_parts;
	struct frame_reader *frames;
	uint8_t *packed;        /* room for a compressed page */
	uint8_t *pages;         /* CACHE pages */
	uint64_t cached[CACHE]; /* page number + 1; 0: none */
};

static unsigned bits(const uint8_t *at, size_t len)
{
	unsigned sum = 0;
	size_t i = 0;

	for (; i + 8 <= len; i += 8)
		sum += (unsigned)__builtin_popcountll(load_u64(at + i, false));
	for (; i < len; i++)
		sum += (unsigned)__builtin_popcount(at[i]);
	return sum;
}

static int count_parts(struct dump *dump, struct kdump *kdump, struct fail *fail)
{
	uint8_t part[PART];
	uint32_t sum = 0;

	kdump->nr_parts = (size_t)((kdump->bitmap_len + PART - 1) / PART);
	kdump->before = calloc(kdump->nr_parts + 1, sizeof(*kdump->before));
	if (!kdump->before)
		return fail_memory(fail);
	for (size_t i = 0; i < kdump->nr_parts; i++) {
		uint64_t left = kdump->bitmap_len - i * PART;
		size_t len = left < PART ? (size_t)left : PART;

		kdump->before[i] = sum;
		if (!flat_read(&dump->file, kdump->bitmap + i * PART, part, len))
			return fail_set(fail, -EBADMSG, "'%s' is cut off in the bitmap of its pages", dump->path);
		sum += bits(part, len);
	}
	kdump->before[kdump->nr_parts] = sum;
	return 0;
}

/* A part has descriptors only of its own pages, but the bitmap of all. */
static bool count_before(struct dump *dump, struct kdump *kdump)
{
	uint64_t each = (uint64_t)PART * 8, byte = kdump->from / each * PART;
	uint8_t part[PART];
	size_t len = (size_t)(kdump->from / 8 - byte);

	/* With more files than it has work for, makedumpfile leaves some without pages. */
	if (kdump->from == kdump->to)
		return true;
	if (kdump->from > kdump->to || kdump->from / 8 >= kdump->bitmap_len ||
	    !flat_read(&dump->file, kdump->bitmap + byte, part, len + 1))
		return false;
	kdump->from_rank = kdump->before[kdump->from / each] + bits(part, len) +
			   (unsigned)__builtin_popcount(part[len] & ((1U << kdump->from % 8) - 1));
	return true;
}

/* What the second header has: notes, and VMCOREINFO. */
static int take_sub_header(struct dump *dump, const uint8_t *sub, struct fail *fail)
{
	uint64_t at = load_u64(sub + SUB_NOTE, false), len = load_u64(sub + SUB_NOTE + 8, false);
	cleanup_free uint8_t *text = NULL, *notes = NULL;
	int r = 0;

	if (len && len <= DUMP_NOTE_MAX) {
		text = malloc((size_t)len);
		if (!text)
			return fail_memory(fail);
		if (flat_read(&dump->file, at, text, (size_t)len))
			r = dump_keep_note(dump, text, (size_t)len, fail);
	}
	at = load_u64(sub + SUB_NOTES, false);
	len = load_u64(sub + SUB_NOTES + 8, false);
	if (!r && len && len <= DUMP_NOTES_MAX) {
		notes = malloc((size_t)len);
		if (!notes)
			return fail_memory(fail);
		if (flat_read(&dump->file, at, notes, (size_t)len))
			r = dump_take_notes(dump, notes, (size_t)len, fail);
	}
	return r;
}

static enum dump_machine machine_of(const uint8_t *head)
{
	const char *machine = (const char *)head + AT_MACHINE;

	return !strncmp(machine, "x86_64", 65)  ? DUMP_X86_64 :
	       !strncmp(machine, "aarch64", 65) ? DUMP_ARM64 :
						  DUMP_OTHER;
}

/* Finds the places in the file. */
static int place(struct dump *dump, struct kdump *kdump, const uint8_t *head, struct fail *fail)
{
	uint64_t sub = load_u32(head + AT_SUB_HEADER, false), blocks = load_u32(head + AT_BITMAPS, false);
	uint64_t max = load_u32(head + AT_MAX_PAGE, false), all;
	uint8_t more[SUB_HEADER_SIZE] = { 0 };
	int r = 0;

	kdump->block_size = load_u32(head + AT_BLOCK_SIZE, false);
	if (kdump->block_size < BLOCK_MIN || kdump->block_size > BLOCK_MAX ||
	    (kdump->block_size & (kdump->block_size - 1)))
		return fail_set(fail, -EBADMSG, "'%s': its pages have %u bytes, which cannot be", dump->path,
				kdump->block_size);
	if (flat_read(&dump->file, kdump->block_size, more, sizeof(more))) {
		bool wide = load_u32(head + AT_VERSION, false) >= VERSION_64;
		uint64_t max_64 = load_u64(more + SUB_MAX_PAGE, false);

		if (wide && max_64)
			max = max_64;
		kdump->is_part = load_u32(more + SUB_SPLIT, false);
		kdump->from = load_u64(more + (wide ? SUB_FROM_64 : SUB_FROM), false);
		kdump->to = load_u64(more + (wide ? SUB_TO_64 : SUB_TO), false);
		r = take_sub_header(dump, more, fail);
	}
	kdump->max = max;
	all = blocks * kdump->block_size;
	kdump->bitmap_len = (max + 7) / 8;
	if (kdump->bitmap_len > all / 2)
		kdump->bitmap_len = all / 2;
	if (!r && (!kdump->bitmap_len || kdump->bitmap_len > BITMAP_MAX))
		return fail_set(fail, -EBADMSG, "'%s': the bitmap of its pages cannot have this size", dump->path);
	kdump->bitmap = (1 + sub) * kdump->block_size + all / 2;
	kdump->descriptors = (1 + sub) * kdump->block_size + all;
	return r;
}

static int open_kdump(struct dump *dump, struct fail *fail)
{
	uint8_t head[HEADER_SIZE];
	struct kdump *kdump;
	int r;

	if (!flat_read(&dump->file, 0, head, sizeof(head)) || memcmp(head, "KDUMP   ", 8))
		return 0;
	dump->machine = machine_of(head);
	dump->of_kind = kdump = calloc(1, sizeof(*kdump));
	if (!kdump)
		return fail_memory(fail);
	r = place(dump, kdump, head, fail);
	if (!r)
		r = count_parts(dump, kdump, fail);
	if (!r)
		r = frame_reader_new(&kdump->frames, fail);
	if (r)
		return r;
	/* A page that does not get smaller is stored as it is. */
	kdump->packed = malloc(kdump->block_size);
	kdump->pages = malloc((size_t)CACHE * kdump->block_size);
	if (!kdump->packed || !kdump->pages)
		return fail_memory(fail);
	if (kdump->is_part && !count_before(dump, kdump))
		return fail_set(fail, -EBADMSG, "'%s' is a part of a dump, and does not say which", dump->path);
	return 1;
}

/* The number of the page among those of the dump. False: it is not there. */
static bool rank_of(const struct dump *dump, const struct kdump *kdump, uint64_t page, uint64_t *ret)
{
	uint8_t part[PART];
	size_t inside = (size_t)(page / 8 % PART);

	if (page / 8 >= kdump->bitmap_len ||
	    !flat_read(&dump->file, kdump->bitmap + page / 8 / PART * PART, part, inside + 1) ||
	    !(part[inside] >> page % 8 & 1))
		return false;
	*ret = kdump->before[page / 8 / PART] + bits(part, inside) +
	       (unsigned)__builtin_popcount(part[inside] & ((1U << page % 8) - 1));
	return true;
}

static bool unpack(struct kdump *kdump, uint32_t flags, uint32_t len, uint8_t *into)
{
	if (flags & PAGE_ZLIB)
		return inflate_exactly(kdump->packed, len, into, kdump->block_size);
	if (flags & PAGE_LZO)
		return lzo_read(kdump->packed, len, into, kdump->block_size);
	if (flags & PAGE_SNAPPY)
		return snappy_read(kdump->packed, len, into, kdump->block_size);
	return !frame_read(kdump->frames, kdump->packed, len, into, kdump->block_size, NULL);
}

static bool load_page(struct dump *dump, struct kdump *kdump, uint64_t page, uint8_t *into)
{
	uint8_t descriptor[DESCRIPTOR];
	uint64_t rank, at;
	uint32_t len, flags;

	if (kdump->is_part && (page < kdump->from || page >= kdump->to))
		return false;
	if (!rank_of(dump, kdump, page, &rank) ||
	    !flat_read(&dump->file, kdump->descriptors + (rank - kdump->from_rank) * DESCRIPTOR, descriptor,
		       sizeof(descriptor)))
		return false;
	at = load_u64(descriptor, false);
	len = load_u32(descriptor + 8, false);
	flags = load_u32(descriptor + 12, false);
	/* 0: an incomplete dump has lost the page. */
	if (!at || !len || len > kdump->block_size)
		return false;
	if (!(flags & (PAGE_ZLIB | PAGE_LZO | PAGE_SNAPPY | PAGE_ZSTD)))
		return len == kdump->block_size && flat_read(&dump->file, at, into, len);
	if (!flat_read(&dump->file, at, kdump->packed, len))
		return false;
	if (unpack(kdump, flags, len, into))
		return true;
	dump->damaged++;
	return false;
}

static bool read_kdump(struct dump *dump, uint64_t address, void *into, size_t len)
{
	struct kdump *kdump = dump->of_kind;
	uint8_t *to = into;

	while (len) {
		uint64_t page = address / kdump->block_size;
		size_t inside = (size_t)(address % kdump->block_size), some = kdump->block_size - inside;
		uint64_t *cached = &kdump->cached[page % CACHE];
		uint8_t *held = kdump->pages + (size_t)(page % CACHE) * kdump->block_size;

		if (*cached != page + 1) {
			*cached = 0;
			dump->work += DUMP_PAGE_WORK;
			if (!load_page(dump, kdump, page, held))
				return false;
			*cached = page + 1;
		}
		some = some < len ? some : len;
		memcpy(to, held + inside, some);
		address += some;
		to += some;
		len -= some;
	}
	return true;
}

/* Ranges are parts of the bitmap that have any page. */
static bool range_kdump(const struct dump *dump, uint64_t from, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct kdump *kdump = dump->of_kind;
	uint64_t each = (uint64_t)PART * 8 * kdump->block_size;
	size_t i = from / each < kdump->nr_parts ? (size_t)(from / each) : kdump->nr_parts;

	while (i < kdump->nr_parts && kdump->before[i] == kdump->before[i + 1])
		i++;
	if (i == kdump->nr_parts)
		return false;
	*ret_from = i * each > from ? i * each : from;
	*ret_to = (i + 1) * each;
	return true;
}

static uint64_t pages_kdump(const struct dump *dump)
{
	const struct kdump *kdump = dump->of_kind;
	uint64_t bits = kdump->before[kdump->nr_parts], most = dump->file.size / DESCRIPTOR;

	return bits < most ? bits : most;
}

bool dump_kdump_part(const struct dump *dump, struct dump_part *ret)
{
	const struct kdump *kdump = dump->of_kind;

	if (dump->ops != &dump_kdump || !kdump->is_part)
		return false;
	*ret = (struct dump_part){
		.from = kdump->from, .to = kdump->to, .pages = kdump->max, .page_size = kdump->block_size
	};
	return flat_read(&dump->file, 0, ret->origin, sizeof(ret->origin));
}

static void release_kdump(struct dump *dump)
{
	struct kdump *kdump = dump->of_kind;

	frame_reader_free(kdump->frames);
	free(kdump->before);
	free(kdump->packed);
	free(kdump->pages);
	free(kdump);
}

const struct dump_ops dump_kdump = { .name = "kdump-compressed",
				     .open = open_kdump,
				     .read = read_kdump,
				     .range = range_kdump,
				     .pages = pages_kdump,
				     .release = release_kdump };
