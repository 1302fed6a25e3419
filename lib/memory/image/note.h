/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEMORY_IMAGE_NOTE_H
#define WEFT_MEMORY_IMAGE_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * VMCOREINFO: lines KEY=VALUE that a kernel leaves for readers of its memory (Documentation/admin-guide/kdump/
 * vmcoreinfo.rst). The text is NUL-terminated and of unknown origin.
 */
/* Copies the value of a key such as "OSRELEASE". False: there is none, or it is longer. */
bool note_text(const char *note, const char *key, char *ret, size_t size);
/* NUMBER(NAME), decimal or hexadecimal; *ret stays as it is if there is none. */
bool note_number(const char *note, const char *name, uint64_t *ret);
/* SYMBOL(NAME): an address. */
bool note_symbol(const char *note, const char *name, uint64_t *ret);

#endif
