/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_PROBE_USDT_H
#define WEFT_KERNEL_PROBE_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;

/*
 * The probes that a program's or library's authors put into it (USDT, SDT_PROBE of sys/sdt.h): notes of the section
 * .note.stapsdt say where in the file each one is, where its semaphore is, a number that is above 0 while somebody
 * traces it, and where its arguments are. A probe may be in several places, as of a function that was inlined.
 */
struct usdt_place {
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* in the file; 0: there is none */
	char *arguments;    /* "-4@112(%rsp) 8@%rdi", as the note has them */
};

struct usdt {
	char *provider, *name;
	struct usdt_place *places;
	size_t nr_places;
};

struct usdt_list {
	struct usdt *items; /* in the order of the notes */
	size_t nr;
	uint16_t machine; /* EM_... of elf.h */
};

enum { USDT_MAX = 1 << 16, USDT_ARGUMENTS_MAX = 12 };

/*
 * The whole path of a program or library: what has no slash is looked for where the system has its programs. -ENOENT.
 * `path` has room for PATH_MAX.
 */
int must_check usdt_path(const char *name, char *path, struct fail *fail);

/* -ENOEXEC: it is no ELF file. A file without such probes has none. */
int must_check usdt_read(const char *path, struct usdt_list *ret, struct fail *fail);
void usdt_list_release(struct usdt_list *list);

/* "NAME" or "PROVIDER:NAME". -ENOENT with similar names; -ENOTUNIQ: several providers have it. */
int must_check usdt_find(const struct usdt_list *list, const char *path, const char *name, const struct usdt **ret,
			 struct fail *fail);

/*
 * The sizes of the arguments in bytes, those of signed ones below 0; 0: the kernel cannot fetch it at all places of the
 * probe as the same type, which it must be because one event has one format. A constant takes the type that the
 * argument has elsewhere.
 */
struct usdt_types {
	int8_t size[USDT_ARGUMENTS_MAX];
};
void usdt_types(const struct usdt *usdt, uint16_t machine, struct usdt_types *ret);

/* Adds the arguments of one place as the kernel fetches them: " arg1=+112(%sp):s32 arg2=%di:u64". False: no memory. */
bool must_check usdt_fetch(const char *arguments, uint16_t machine, const struct usdt_types *types, struct buf *into);
/* The number of arguments; *ret: the text of one, which ends with a blank or a NUL; "" if there are fewer. */
size_t usdt_argument(const char *arguments, size_t index, const char **ret);

/* One note, without its head: for usdt_read(), and to be tested. False: it is none. Texts are borrowed. */
struct usdt_note {
	uint64_t pc, base, semaphore;
	const char *provider, *name, *arguments;
};
bool usdt_note(const uint8_t *at, size_t len, bool is_64, bool swap, struct usdt_note *ret);

#endif
