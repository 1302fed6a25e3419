/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_DUMP_DUMP_INTERNAL_H
#define WEFT_DUMP_DUMP_INTERNAL_H

#include "lib/dump/dump.h"
#include "lib/dump/flat_internal.h"

/* A kind of dump. `open` returns 0 when the file is not of this kind, 1 when it is, or -errno. */
struct dump_ops {
	const char *name;
	int (*open)(struct dump *dump, struct fail *fail);
	bool (*read)(struct dump *dump, uint64_t address, void *into, size_t len);
	bool (*range)(const struct dump *dump, uint64_t from, uint64_t *ret_from, uint64_t *ret_to);
	uint64_t (*pages)(const struct dump *dump); /* in the file */
	void (*release)(struct dump *dump);
};

extern const struct dump_ops dump_elf, dump_kdump;

struct dump {
	struct flat file;
	const char *path; /* borrowed until dump_open() returns */
	const struct dump_ops *ops;
	enum dump_machine machine;
	char *note;    /* owned */
	void *of_kind; /* owned by the kind */
	uint64_t refused;
	uint64_t work, work_max; /* reads so far, and how many a kernel that is in order can need */
	const char *codec;
};

/* Keeps a copy of VMCOREINFO, unless there is one already. */
int must_check dump_keep_note(struct dump *dump, const void *text, size_t len, struct fail *fail);

/* Takes what is of use from notes of an ELF file (Elf64_Nhdr, name and bytes each padded to 4). */
int must_check dump_take_notes(struct dump *dump, const void *notes, size_t len, struct fail *fail);

/* What reading and decompressing a page costs beside a read. */
enum { DUMP_PAGE_WORK = 16 };

enum { DUMP_NOTES_MAX = 16 << 20, DUMP_NOTE_MAX = 1 << 20 };

#endif
