/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_KNOWN_INTERNAL_H
#define WEFT_IMPORT_KNOWN_INTERNAL_H

#include <stddef.h>

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

/* Those that a file gets when a text has the event. Several of one name are tried in their order. */
const struct known *known_rarely(size_t *ret_nr);

#endif
