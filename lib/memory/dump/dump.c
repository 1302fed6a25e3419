// SPDX-License-Identifier: LGPL-2.1-or-later
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/memory/dump/dump_internal.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/codec/inflate.h"
#include "lib/pages/codec/lzo.h"
#include "lib/pages/codec/snappy.h"

/* An ELF core: a PT_LOAD for each range of memory. */
enum { SEGMENTS_MAX = 10000 };

struct elf {
	struct segment {
		uint64_t at, end; /* physical addresses */
		uint64_t from;    /* in the file */
		uint64_t held;    /* bytes that the file has; the rest is 0 */
	} * segments;
	size_t nr;
	size_t last; /* the one that was read last */
};

static int add_segment(struct elf *elf, const Elf64_Phdr *header, struct fail *fail)
{
	struct segment *segment;

	if (!header->p_filesz || header->p_paddr + header->p_memsz < header->p_paddr ||
	    header->p_offset + header->p_filesz < header->p_offset)
		return 0;
	segment = vec_push(elf->segments, elf->nr);
	if (!segment)
		return fail_memory(fail);
	*segment = (struct segment){ .at = header->p_paddr,
				     .end = header->p_paddr +
					    (header->p_memsz > header->p_filesz ? header->p_memsz : header->p_filesz),
				     .from = header->p_offset,
				     .held = header->p_filesz };
	return 0;
}

static int add_notes(struct dump *dump, const Elf64_Phdr *header, struct fail *fail)
{
	size_t len = header->p_filesz < DUMP_NOTES_MAX ? (size_t)header->p_filesz : DUMP_NOTES_MAX;
	cleanup_free uint8_t *notes = malloc(len + 1);

	if (!notes)
		return fail_memory(fail);
	return flat_read(&dump->file, header->p_offset, notes, len) ? dump_take_notes(dump, notes, len, fail) : 0;
}

/* More headers than 65534 are counted in the first section's header. */
static uint64_t count_headers(const struct dump *dump, const Elf64_Ehdr *head)
{
	Elf64_Shdr first;

	if (head->e_phnum != PN_XNUM)
		return head->e_phnum;
	return flat_read(&dump->file, head->e_shoff, &first, sizeof(first)) ? first.sh_info : 0;
}

static int open_elf(struct dump *dump, struct fail *fail)
{
	Elf64_Ehdr head;
	struct elf *elf;
	uint64_t nr;
	int r = 0;

	if (!flat_read(&dump->file, 0, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG))
		return 0;
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_type != ET_CORE ||
	    head.e_phentsize != sizeof(Elf64_Phdr))
		return fail_set(fail, -EBADMSG, "'%s' is an ELF file, but no core of a 64-bit little-endian machine",
				dump->path);
	dump->machine = head.e_machine == EM_X86_64  ? DUMP_X86_64 :
			head.e_machine == EM_AARCH64 ? DUMP_ARM64 :
						       DUMP_OTHER;
	dump->of_kind = elf = calloc(1, sizeof(*elf));
	if (!elf)
		return fail_memory(fail);
	nr = count_headers(dump, &head);
	for (uint64_t i = 0; !r && i < nr && i < SEGMENTS_MAX; i++) {
		Elf64_Phdr header;

		if (!flat_read(&dump->file, head.e_phoff + i * sizeof(header), &header, sizeof(header)))
			break;
		if (header.p_type == PT_LOAD)
			r = add_segment(elf, &header, fail);
		else if (header.p_type == PT_NOTE)
			r = add_notes(dump, &header, fail);
	}
	if (!r && !elf->nr)
		r = fail_set(fail, -EBADMSG, "'%s' is an ELF core without any memory", dump->path);
	return r ? r : 1;
}

/* To search many segments takes time, too. */
enum { SEGMENTS_WORK = 16 };

static const struct segment *segment_of(struct dump *dump, uint64_t address)
{
	struct elf *elf = dump->of_kind;

	if (elf->last < elf->nr && address >= elf->segments[elf->last].at && address < elf->segments[elf->last].end)
		return &elf->segments[elf->last];
	dump->work += elf->nr / SEGMENTS_WORK;
	for (size_t i = 0; i < elf->nr; i++)
		if (address >= elf->segments[i].at && address < elf->segments[i].end) {
			elf->last = i;
			return &elf->segments[i];
		}
	return NULL;
}

static bool read_elf(struct dump *dump, uint64_t address, void *into, size_t len)
{
	uint8_t *to = into;

	while (len) {
		const struct segment *segment = segment_of(dump, address);
		uint64_t inside = segment ? address - segment->at : 0;
		size_t some;

		if (!segment)
			return false;
		some = segment->end - address < len ? (size_t)(segment->end - address) : len;
		if (inside >= segment->held) {
			memset(to, 0, some);
		} else {
			some = segment->held - inside < some ? (size_t)(segment->held - inside) : some;
			if (!flat_read(&dump->file, segment->from + inside, to, some))
				return false;
		}
		address += some;
		to += some;
		len -= some;
	}
	return true;
}

/* The first segment that ends above `from`. */
static const struct segment *next_segment(const struct elf *elf, uint64_t from)
{
	const struct segment *best = NULL;

	for (size_t i = 0; i < elf->nr; i++)
		if (elf->segments[i].at + elf->segments[i].held > from && (!best || elf->segments[i].at < best->at))
			best = &elf->segments[i];
	return best;
}

/* What is a hole in the file was all zeros. */
static bool range_elf(const struct dump *dump, uint64_t from, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct segment *segment;

	while ((segment = next_segment(dump->of_kind, from))) {
		uint64_t begin = segment->at > from ? segment->at : from, inside = begin - segment->at;
		uint64_t end, data = flat_data(&dump->file, segment->from + inside, &end) - segment->from;

		end -= segment->from;
		if (data < segment->held) {
			*ret_from = segment->at + data;
			*ret_to = segment->at + (end > data && end < segment->held ? end : segment->held);
			return true;
		}
		from = segment->at + segment->held;
	}
	return false;
}

static uint64_t pages_elf(const struct dump *dump)
{
	return dump->file.size / 4096;
}

static void release_elf(struct dump *dump)
{
	struct elf *elf = dump->of_kind;

	free(elf->segments);
	free(elf);
}

const struct dump_ops dump_elf = { .name = "ELF core",
				   .open = open_elf,
				   .read = read_elf,
				   .range = range_elf,
				   .pages = pages_elf,
				   .release = release_elf };

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

/* A dump in several files (makedumpfile --split): each has the header and the bitmap of all, and some of the pages. */
enum { PARTS_MAX = 1024 };

struct split {
	struct part {
		struct dump *dump;
		struct dump_part is;
	} * parts; /* by their pages */
	size_t nr;
	uint64_t page_size;
};

static int by_pages(const void *a, const void *b)
{
	const struct part *one = a, *other = b;

	return one->is.from < other->is.from ? -1 : one->is.from > other->is.from;
}

/* The parts must be of one crash, and have all of its pages. */
static int check(const struct split *split, struct fail *fail)
{
	const struct part *first = &split->parts[0], *last = &split->parts[split->nr - 1];

	for (size_t i = 1; i < split->nr; i++) {
		const struct part *part = &split->parts[i], *before = part - 1;

		if (memcmp(part->is.origin, first->is.origin, DUMP_ORIGIN) != 0 ||
		    part->is.page_size != first->is.page_size || part->is.pages != first->is.pages)
			return fail_set(fail, -EBADMSG, "'%s' and '%s' are parts of different dumps", first->dump->path,
					part->dump->path);
		if (part->is.from < before->is.to)
			return fail_set(fail, -EBADMSG, "'%s' and '%s' are parts of a dump that have the same pages",
					before->dump->path, part->dump->path);
	}
	for (size_t i = 0; i <= split->nr; i++) {
		uint64_t from = i ? split->parts[i - 1].is.to : 0,
			 to = i < split->nr ? split->parts[i].is.from : last->is.pages;

		if (from < to)
			return fail_set(fail, -EBADMSG,
					"'%s' is a part of a dump of several files: the pages from 0x%" PRIx64
					" to 0x%" PRIx64 " are in none of the files that were given; give all of them",
					first->dump->path, from, to);
	}
	return 0;
}

static bool read_split(struct dump *dump, uint64_t address, void *into, size_t len)
{
	struct split *split = dump->of_kind;
	uint8_t *to = into;

	while (len) {
		uint64_t page = address / split->page_size, inside = address % split->page_size;
		size_t some = split->page_size - inside < len ? (size_t)(split->page_size - inside) : len;
		struct part *part = NULL;

		for (size_t i = 0; i < split->nr && !part; i++)
			if (page >= split->parts[i].is.from && page < split->parts[i].is.to)
				part = &split->parts[i];
		if (!part || !part->dump->ops->read(part->dump, address, to, some))
			return false;
		dump->work += part->dump->work;
		dump->damaged += part->dump->damaged;
		part->dump->work = part->dump->damaged = 0;
		address += some;
		to += some;
		len -= some;
	}
	return true;
}

/* Each part has the bitmap of all. */
static bool range_split(const struct dump *dump, uint64_t from, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct split *split = dump->of_kind;

	return split->parts[0].dump->ops->range(split->parts[0].dump, from, ret_from, ret_to);
}

static uint64_t pages_split(const struct dump *dump)
{
	const struct split *split = dump->of_kind;
	uint64_t pages = 0;

	for (size_t i = 0; i < split->nr; i++)
		pages += split->parts[i].dump->ops->pages(split->parts[i].dump);
	return pages;
}

static void release_split(struct dump *dump)
{
	struct split *split = dump->of_kind;

	for (size_t i = 0; i < split->nr; i++)
		dump_free(split->parts[i].dump);
	free(split->parts);
	free(split);
}

static const struct dump_ops dump_split = { .name = "kdump-compressed, of several files",
					    .read = read_split,
					    .range = range_split,
					    .pages = pages_split,
					    .release = release_split };

static int join(struct dump *dump, struct dump **parts, size_t nr, struct fail *fail)
{
	struct split *split = calloc(1, sizeof(*split));

	if (!split)
		return fail_memory(fail);
	dump->ops = &dump_split;
	dump->of_kind = split;
	split->parts = calloc(nr, sizeof(*split->parts));
	if (!split->parts)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++) {
		struct part *part = &split->parts[i];

		if (!dump_kdump_part(parts[i], &part->is))
			return fail_set(fail, -EBADMSG, "'%s' is not a part of a dump of several files: give it alone",
					parts[i]->path);
		part->dump = parts[i];
		parts[i] = NULL;
		split->nr++;
	}
	qsort(split->parts, nr, sizeof(*split->parts), by_pages);
	split->page_size = split->parts[0].is.page_size;
	dump->machine = split->parts[0].dump->machine;
	dump->work_max = DUMP_WORK_MAX + (DUMP_PAGE_WORK + 16) * pages_split(dump);
	for (size_t i = 0; i < nr; i++)
		if (split->parts[i].dump->note)
			return check(split, fail) ?:
						    dump_keep_note(dump, split->parts[i].dump->note,
								   strlen(split->parts[i].dump->note), fail);
	return check(split, fail);
}

int dump_join(struct dump **parts, size_t nr, struct dump **ret, struct fail *fail)
{
	struct dump *dump = NULL;
	struct dump_part ignored;
	int r = 0;

	if (nr == 1 && !dump_kdump_part(parts[0], &ignored)) {
		dump = parts[0];
		parts[0] = NULL;
	} else if (nr > PARTS_MAX) {
		r = fail_set(fail, -EBADMSG, "a dump of more than %d files is not supported", PARTS_MAX);
	} else {
		dump = calloc(1, sizeof(*dump));
		r = dump ? join(dump, parts, nr, fail) : fail_memory(fail);
	}
	for (size_t i = 0; i < nr; i++) {
		dump_free(parts[i]);
		parts[i] = NULL;
	}
	if (r)
		dump_free(dump);
	else
		*ret = dump;
	return r;
}

int dump_keep_note(struct dump *dump, const void *text, size_t len, struct fail *fail)
{
	if (dump->note || !len || len > DUMP_NOTE_MAX)
		return 0;
	dump->note = strndup(text, len);
	return dump->note ? 0 : fail_memory(fail);
}

static int take_note(struct dump *dump, const char *name, size_t name_len, uint32_t type, const uint8_t *bytes,
		     size_t len, struct fail *fail)
{
	/* Only /proc/kcore has a task's structure (fs/proc/kcore.c). */
	if (name_len == sizeof("CORE") && !memcmp(name, "CORE", name_len) && type == NT_TASKSTRUCT)
		dump->live = true;
	if (name_len == sizeof("VMCOREINFO") && !memcmp(name, "VMCOREINFO", name_len))
		return dump_keep_note(dump, bytes, len, fail);
	return 0;
}

int dump_take_notes(struct dump *dump, const void *notes, size_t len, struct fail *fail)
{
	struct bytes in = bytes_of(notes, len, false);
	uint32_t name_len, bytes_len, type;
	const uint8_t *name, *bytes;
	int r = 0;

	while (!r && bytes_u32(&in, &name_len) && bytes_u32(&in, &bytes_len) && bytes_u32(&in, &type) &&
	       name_len < 64 && bytes_len <= DUMP_NOTES_MAX && bytes_take(&in, (name_len + 3) & ~3U, &name) &&
	       bytes_take(&in, (bytes_len + 3) & ~(size_t)3, &bytes))
		r = take_note(dump, (const char *)name, name_len, type, bytes, bytes_len, fail);
	return r;
}

int dump_open(int fd, const char *path, struct dump **ret, struct fail *fail)
{
	static const struct dump_ops *const kinds[] = { &dump_elf, &dump_kdump };
	struct dump *dump = calloc(1, sizeof(*dump));
	int r;

	if (!dump)
		return fail_memory(fail);
	dump->path = strdup(path);
	r = !dump->path ? fail_memory(fail) : flat_open(&dump->file, fd, path, fail);
	for (size_t i = 0; !r && i < array_size(kinds); i++) {
		dump->ops = kinds[i];
		r = kinds[i]->open(dump, fail);
	}
	if (!r)
		r = fail_set(fail, -EBADMSG,
			     "'%s' is no dump of a kernel: neither an ELF core nor a file of makedumpfile", path);
	if (r < 0) {
		dump_free(dump);
		return r;
	}
	dump->work_max = DUMP_WORK_MAX + (DUMP_PAGE_WORK + 16) * dump->ops->pages(dump);
	*ret = dump;
	return 0;
}

void dump_free(struct dump *dump)
{
	if (!dump)
		return;
	if (dump->of_kind)
		dump->ops->release(dump);
	flat_release(&dump->file);
	free(dump->note);
	free(dump->path);
	free(dump);
}

enum dump_machine dump_machine(const struct dump *dump)
{
	return dump->machine;
}

const char *dump_kind(const struct dump *dump)
{
	return dump->file.flattened && dump->ops == &dump_kdump ? "flattened kdump-compressed" : dump->ops->name;
}

bool dump_is_spent(const struct dump *dump)
{
	return dump->work >= dump->work_max;
}

bool dump_read(struct dump *dump, uint64_t address, void *into, size_t len)
{
	if (dump_is_spent(dump))
		return false;
	/* Copying large pieces takes time, too. */
	dump->work += 1 + len / DUMP_PIECE;
	return address + len >= address && dump->ops->read(dump, address, into, len);
}

const char *dump_note(const struct dump *dump)
{
	return dump->note;
}

bool dump_range(const struct dump *dump, uint64_t from, uint64_t *ret_from, uint64_t *ret_to)
{
	return dump->ops->range(dump, from, ret_from, ret_to);
}

bool dump_is_live(const struct dump *dump)
{
	return dump->live;
}

uint64_t dump_damaged(const struct dump *dump)
{
	return dump->damaged;
}
