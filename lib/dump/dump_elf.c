// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/dump/dump_internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
