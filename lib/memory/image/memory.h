/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEMORY_IMAGE_MEMORY_H
#define WEFT_MEMORY_IMAGE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct dump;
struct fail;

/*
 * The virtual memory of a kernel, by its own page tables in a dump (x86-64 with 4 and 5 levels, arm64 with pages of 4,
 * 16 and 64 KiB). Memory that is not mapped, or not in the dump, is an ordinary answer: false.
 */
enum { MEMORY_SEATS = 1024, MEMORY_PAGES = 64, MEMORY_PAGE = 4096 };

struct memory {
	struct dump *dump; /* borrowed */
	const char *note;  /* VMCOREINFO; borrowed from the dump or from `found` */
	char *found;       /* owned: VMCOREINFO that was found in memory, because the dump has no note */
	/* Private: */
	bool is_arm64;
	uint64_t top, address_bits, work;
	unsigned levels, page_shift, first_bits;
	struct memory_seat {
		uint64_t page, frame; /* of 4 KiB; page + 1, 0: nobody's */
	} seats[MEMORY_SEATS];
	struct memory_page {
		uint64_t at; /* physical address + 1, 0: nobody's */
		uint8_t bytes[MEMORY_PAGE];
	} pages[MEMORY_PAGES]; /* of which small pieces were read last */
};

/* -ENODATA: the dump has no VMCOREINFO, or what it says is of no use; -EOPNOTSUPP: another machine. */
int must_check memory_init(struct memory *memory, struct dump *dump, struct fail *fail);
void memory_release(struct memory *memory);

bool memory_read(struct memory *memory, uint64_t address, void *into, size_t len);
/* Numbers of the kernel's size. */
bool memory_u64(struct memory *memory, uint64_t address, uint64_t *ret);
bool memory_u32(struct memory *memory, uint64_t address, uint32_t *ret);
/* A text with its NUL. False: it cannot be read, or has no NUL within `size` bytes. */
bool memory_text(struct memory *memory, uint64_t address, char *into, size_t size);

#endif
