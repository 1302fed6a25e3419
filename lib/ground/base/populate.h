/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_POPULATE_H
#define WEFT_GROUND_BASE_POPULATE_H

#include <stddef.h>

/*
 * Makes the kernel map all pages of memory that will soon be written. Otherwise it maps each when it is first written,
 * by a fault, which costs up to 20 times as much on a virtual machine. Only for what is most probably used: each page
 * counts as memory of the process from then on. The bytes stay as they are.
 */
void populate(void *memory, size_t size);

/*
 * realloc() of memory that is filled from its start and grows as it is filled: `used` bytes of it are kept, and the
 * next ones are populated.
 */
void *populate_grown(void *memory, size_t used, size_t size);

#endif
