// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/memory/image/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/memory/dump/dump.h"
#include "lib/memory/image/note.h"

enum { PAGE = 4096, NOTE_PAGE_MAX = 4096, LEVELS_MAX = 5, PIECE_MAX = 1024 };

/*
 * More reads than any kernel that is in order needs: lists that lead in circles, or through each other, must end. What
 * the dump itself must do is limited there.
 */
enum { WORK_MAX = 8 << 20 };

/* The kernel's image is mapped from here on, x86-64 (__START_KERNEL_map). */
#define KERNEL_MAP UINT64_C(0xffffffff80000000)

/* VMCOREINFO lies in a page of its own and begins with its release. */
static int search_note(struct memory *memory, struct fail *fail)
{
	static const char begin[] = "OSRELEASE=";
	uint64_t from, to, at = 0;
	char page[NOTE_PAGE_MAX + 1];

	while (!dump_is_spent(memory->dump) && dump_range(memory->dump, at, &from, &to) && to > at) {
		for (at = (from + PAGE - 1) & ~(uint64_t)(PAGE - 1); at < to && at >= from; at += PAGE) {
			if (dump_is_spent(memory->dump))
				return 0;
			if (!dump_read(memory->dump, at, page, sizeof(begin) - 1) ||
			    memcmp(page, begin, sizeof(begin) - 1) || !dump_read(memory->dump, at, page, PAGE))
				continue;
			page[PAGE] = '\0';
			if (!strstr(page, "SYMBOL(swapper_pg_dir)="))
				continue;
			memory->note = memory->found = strdup(page);
			return memory->found ? 0 : fail_memory(fail);
		}
		at = to;
	}
	return 0;
}

static int init_x86(struct memory *memory, struct fail *fail)
{
	uint64_t table, base = 0, five = 0, encrypted = 0;

	if (!note_symbol(memory->note, "swapper_pg_dir", &table) || !note_number(memory->note, "phys_base", &base))
		return fail_set(fail, -ENODATA, "its VMCOREINFO does not say where the kernel's page tables are");
	(void)note_number(memory->note, "pgtable_l5_enabled", &five);
	(void)note_number(memory->note, "sme_mask", &encrypted);
	memory->page_shift = 12;
	memory->levels = five ? 5 : 4;
	memory->first_bits = 9;
	memory->address_bits = UINT64_C(0x000ffffffffff000) & ~encrypted;
	memory->top = table - KERNEL_MAP + base;
	return 0;
}

static int init_arm64(struct memory *memory, struct fail *fail)
{
	uint64_t table, offset, size, bits = 48;
	char text[16];

	if (!note_symbol(memory->note, "swapper_pg_dir", &table) ||
	    !note_number(memory->note, "kimage_voffset", &offset) ||
	    !note_text(memory->note, "PAGESIZE", text, sizeof(text)))
		return fail_set(fail, -ENODATA, "its VMCOREINFO does not say where the kernel's page tables are");
	(void)note_number(memory->note, "VA_BITS", &bits);
	if (note_number(memory->note, "TCR_EL1_T1SZ", &size) && size < 64)
		bits = 64 - size;
	size = strtoull(text, NULL, 10);
	memory->page_shift = size == 65536 ? 16 : size == 16384 ? 14 : 12;
	if (bits <= memory->page_shift || bits > 52)
		return fail_set(fail, -ENODATA, "its VMCOREINFO says that addresses have %u bits", (unsigned)bits);
	memory->levels = (unsigned)((bits - memory->page_shift + memory->page_shift - 4) / (memory->page_shift - 3));
	memory->first_bits = (unsigned)(bits - memory->page_shift - (memory->levels - 1) * (memory->page_shift - 3));
	memory->address_bits = UINT64_C(0x0000ffffffffffff) & ~((UINT64_C(1) << memory->page_shift) - 1);
	memory->top = table - offset;
	return 0;
}

int memory_init(struct memory *memory, struct dump *dump, struct fail *fail)
{
	uint64_t number;
	int r = 0;

	*memory = (struct memory){ .dump = dump, .note = dump_note(dump) };
	if (!memory->note)
		r = search_note(memory, fail);
	if (r)
		return r;
	if (!memory->note)
		return fail_set(fail, -ENODATA, "it has no VMCOREINFO, neither as a note nor in its memory");
	/* The header of some files does not name the machine, but only arm64 and x86-64 have these numbers. */
	memory->is_arm64 = dump_machine(dump) == DUMP_ARM64 ||
			   (dump_machine(dump) == DUMP_OTHER && note_number(memory->note, "kimage_voffset", &number));
	if (memory->is_arm64)
		return init_arm64(memory, fail);
	if (dump_machine(dump) == DUMP_X86_64 || note_number(memory->note, "phys_base", &number))
		return init_x86(memory, fail);
	return fail_set(fail, -EOPNOTSUPP, "it is of a machine other than x86-64 and arm64");
}

void memory_release(struct memory *memory)
{
	free(memory->found);
}

/* Whether the entry maps memory itself instead of naming the next table. */
static bool is_block(const struct memory *memory, uint64_t entry, unsigned level)
{
	if (memory->is_arm64)
		return level && (entry & 3) == 1;
	return level && level < 3 && entry & 0x80;
}

/* Small pieces often are near each other, so the page around one is read with it. */
static bool read_piece(struct memory *memory, uint64_t at, void *into, size_t len)
{
	uint64_t begin = at & ~(uint64_t)(MEMORY_PAGE - 1);
	struct memory_page *page = &memory->pages[begin / MEMORY_PAGE % MEMORY_PAGES];

	if (len > PIECE_MAX || at - begin + len > MEMORY_PAGE)
		return dump_read(memory->dump, at, into, len);
	if (page->at != begin + 1) {
		page->at = 0;
		/* The dump may have a part of the page. */
		if (!dump_read(memory->dump, begin, page->bytes, MEMORY_PAGE))
			return dump_read(memory->dump, at, into, len);
		page->at = begin + 1;
	}
	memcpy(into, page->bytes + (at - begin), len);
	return true;
}

/* Walks the page tables to the physical address of an address. */
static bool walk(struct memory *memory, uint64_t address, uint64_t *ret)
{
	unsigned each = memory->page_shift - 3, bits = memory->first_bits;
	uint64_t table = memory->top;

	for (unsigned level = memory->levels; level-- > 0; bits = each) {
		unsigned shift = memory->page_shift + level * each;
		uint64_t entry, index = address >> shift & ((UINT64_C(1) << bits) - 1), inside;

		if (!read_piece(memory, table + index * sizeof(entry), &entry, sizeof(entry)) || !(entry & 1))
			return false;
		inside = (UINT64_C(1) << shift) - 1;
		if (!level || is_block(memory, entry, level)) {
			*ret = (entry & memory->address_bits & ~inside) | (address & inside);
			return true;
		}
		table = entry & memory->address_bits;
	}
	return false;
}

/* The physical address of a page of 4 KiB. */
static bool frame_of(struct memory *memory, uint64_t page, uint64_t *ret)
{
	struct memory_seat *seat = &memory->seats[page % MEMORY_SEATS];

	if (seat->page != page + 1) {
		if (!walk(memory, page * PAGE, &seat->frame)) {
			seat->page = 0;
			return false;
		}
		seat->page = page + 1;
	}
	*ret = seat->frame;
	return true;
}

bool memory_read(struct memory *memory, uint64_t address, void *into, size_t len)
{
	uint8_t *to = into;

	if (memory->work == WORK_MAX)
		return false;
	memory->work++;
	while (len) {
		size_t inside = (size_t)(address % PAGE), some = PAGE - inside < len ? PAGE - inside : len;
		uint64_t frame;

		if (!frame_of(memory, address / PAGE, &frame) || !read_piece(memory, frame + inside, to, some))
			return false;
		address += some;
		to += some;
		len -= some;
	}
	return true;
}

bool memory_u64(struct memory *memory, uint64_t address, uint64_t *ret)
{
	return memory_read(memory, address, ret, sizeof(*ret));
}

bool memory_u32(struct memory *memory, uint64_t address, uint32_t *ret)
{
	return memory_read(memory, address, ret, sizeof(*ret));
}

bool memory_text(struct memory *memory, uint64_t address, char *into, size_t size)
{
	size_t nr = 0;

	while (nr < size) {
		size_t some = PAGE - (size_t)((address + nr) % PAGE);

		some = some < size - nr ? some : size - nr;
		if (!memory_read(memory, address + nr, into + nr, some))
			return false;
		if (memchr(into + nr, 0, some))
			return true;
		nr += some;
	}
	return false;
}
