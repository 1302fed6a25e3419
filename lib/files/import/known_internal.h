/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_KNOWN_INTERNAL_H
#define WEFT_FILES_IMPORT_KNOWN_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/*
 * The formats of events that analyses need, as kernels since 6.1 have them. For other kernels, and for events with more
 * fields, there must be a file of the kernel. Addresses are numbers here, which print as in the text: %p would hash
 * them once more.
 */
struct known {
	const char *system, *name;
	const char *fields, *print; /* as import_kinds_make() takes them */
	const char *has;            /* the text has this part; NULL: any text */
};

/* The formats that each file gets. */
const struct known *known_always(size_t *ret_nr);

/* One of them, by the name of its event; NULL: there is none. */
const struct known *known_named(const char *name, size_t len);

/* Those that a file gets when a text has the event. Several of one name are tried in their order. */
const struct known *known_rarely(size_t *ret_nr);

/* Returns the size of the type of a field such as "u32 pid", with more fields behind it; 0: there is no such type. */
uint32_t known_size(const char *field);

#endif
