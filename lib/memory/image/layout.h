/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEMORY_IMAGE_LAYOUT_H
#define WEFT_MEMORY_IMAGE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/memory/image/btf_types.h"

struct fail;
struct memory;

/*
 * Where the members of the kernel's structures are, by its own type information (BTF): layouts differ between kernels
 * in both directions, so nothing follows from a version.
 */
struct layout_member {
	bool found;
	bool is_signed;
	uint32_t offset;     /* bytes */
	uint32_t size;       /* bytes of the member; of a bit-field, of the number that holds it */
	uint8_t bits, shift; /* of a bit-field; bits 0: it is none */
};

/* Searches all types for a structure. */
bool layout_structure(const struct btf *btf, const char *name, struct btf_type *ret);

/*
 * Finds a member of a structure by its name, also inside unnamed structures and unions; "event.type" is a member of a
 * member.
 */
struct layout_member layout_find(const struct btf *btf, const struct btf_type *structure, const char *member);

/* The value of an enumerator. */
bool layout_enumerator(const struct btf *btf, const char *name, uint64_t *ret);

/* Reads an integer or a pointer of the structure at this address. False: not found, or not readable. */
bool layout_read(struct memory *memory, uint64_t structure, const struct layout_member *member, uint64_t *ret);

#endif
