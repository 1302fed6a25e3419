/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEMORY_DUMP_DUMP_INTERNAL_H
#define WEFT_MEMORY_DUMP_DUMP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/memory/dump/dump.h"
#include "lib/pages/trace/input.h"

struct fail;

/*
 * A file as it would be after makedumpfile -R: a flattened one is a list of pieces, each with its place in the file
 * that it stands for (struct makedumpfile_data_header of makedumpfile, big-endian). The pieces come in any order, and
 * later ones replace what earlier ones wrote.
 */
struct flat {
	struct input input;
	bool flattened;
	struct flat_piece {
		uint64_t at, end; /* in the file that is meant */
		uint64_t from;    /* in the flattened file */
		uint64_t highest; /* the highest end of this piece and of those before it in the array */
		uint32_t number;  /* its place in the flattened file */
	} * pieces;               /* by `at` */
	size_t nr_pieces;
	uint64_t size; /* of the file that is meant */
};

/* The caller calls flat_release() also after an error. */
int must_check flat_open(struct flat *flat, int fd, const char *path, struct fail *fail);
void flat_release(struct flat *flat);

/*
 * The first place from here on that is not in a hole of a sparse file, or the end of the file; *ret_end: where the next
 * hole begins.
 */
uint64_t flat_data(const struct flat *flat, uint64_t at, uint64_t *ret_end);

/* Bytes that no piece wrote are 0. False: they are beyond the end, or cannot be read. */
bool flat_read(const struct flat *flat, uint64_t at, void *into, size_t len);

/* Bytes of a header of makedumpfile that tell one crash from another: machine, kernel, time. */
enum { DUMP_ORIGIN = 420 };

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

/* Which pages a file of a split dump has, and what is the same in all of its files. */
struct dump_part {
	uint64_t from, to; /* numbers of pages */
	uint64_t pages;    /* numbers below this one exist */
	uint32_t page_size;
	uint8_t origin[DUMP_ORIGIN];
};
/* False: it is a whole dump. */
bool dump_kdump_part(const struct dump *dump, struct dump_part *ret);

struct dump {
	struct flat file;
	char *path; /* owned */
	const struct dump_ops *ops;
	enum dump_machine machine;
	bool live;
	char *note;    /* owned */
	void *of_kind; /* owned by the kind */
	uint64_t damaged;
	uint64_t work, work_max; /* reads so far, and how many a kernel that is in order can need */
};

/* Keeps a copy of VMCOREINFO, unless there is one already. */
int must_check dump_keep_note(struct dump *dump, const void *text, size_t len, struct fail *fail);

/* Takes what is of use from notes of an ELF file (Elf64_Nhdr, name and bytes each padded to 4). */
int must_check dump_take_notes(struct dump *dump, const void *notes, size_t len, struct fail *fail);

/*
 * Lists that lead in circles, or through the same memory again and again, must end some time: so the number of reads is
 * limited, by the size of the dump and this.
 */
enum { DUMP_WORK_MAX = 8 << 20 };

/* What reading and decompressing a page costs beside a read. */
enum { DUMP_PAGE_WORK = 16, DUMP_PIECE = 512 };

enum { DUMP_NOTES_MAX = 16 << 20, DUMP_NOTE_MAX = 1 << 20 };

#endif
