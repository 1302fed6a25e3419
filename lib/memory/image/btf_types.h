/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEMORY_IMAGE_BTF_TYPES_H
#define WEFT_MEMORY_IMAGE_BTF_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * The types in a kernel's type information by their ids (include/uapi/linux/btf.h), in either byte order. Borrows the
 * bytes. They may be malformed: nothing outside them is read, and every loop ends.
 */
/* the longest chain of types that is followed: typedef of const of typedef... */
enum { BTF_CHAIN_MAX = 32 };

enum btf_kind {
	KIND_INT = 1,
	KIND_PTR,
	KIND_ARRAY,
	KIND_STRUCT,
	KIND_UNION,
	KIND_ENUM,
	KIND_FWD,
	KIND_TYPEDEF,
	KIND_VOLATILE,
	KIND_CONST,
	KIND_RESTRICT,
	KIND_FUNC,
	KIND_FUNC_PROTO,
	KIND_VAR,
	KIND_DATASEC,
	KIND_FLOAT,
	KIND_DECL_TAG,
	KIND_TYPE_TAG,
	KIND_ENUM64,
};

struct btf_type {
	uint32_t name, info, size; /* `size` is a size or the id of another type, depending on the kind */
	const uint8_t *rest;       /* the data after the head; checked to have rest_len bytes */
	size_t rest_len;
};

struct btf {
	struct bytes types, strings;
	/* of a module: the kernel's types, whose ids and strings come first; else NULL; borrowed */
	const struct btf *base;
	uint32_t *offsets; /* the offset in `types` of each type from the first one on */
	uint32_t first;    /* the id of its first type: 1 is the kernel's, as 0 is void */
	uint32_t nr, size; /* nr: the id after the last type */
};

/*
 * *btf is zeroed first. -EBADMSG: the bytes are not type information. The caller calls btf_release() also after an
 * error.
 */
int must_check btf_open(struct btf *btf, const void *data, size_t len, struct fail *fail);
/* The same of a module. -EBADMSG also if it has another byte order. */
int must_check btf_open_module(struct btf *btf, const struct btf *base, const void *data, size_t len,
			       struct fail *fail);
void btf_release(struct btf *btf);

/* False: there is no type with this id. Id 0 is void, which has no entry. */
bool btf_type_at(const struct btf *btf, uint32_t id, struct btf_type *ret);

/* "": there is no string at this offset. */
const char *btf_string(const struct btf *btf, uint32_t offset);

/* The 32-bit word `index` of the data after the head of a type; index < rest_len / 4. */
static inline uint32_t btf_word(const struct btf *btf, const struct btf_type *type, size_t index)
{
	return load_u32(type->rest + index * 4, btf->types.swap);
}

/* Follows typedefs, const and the like to the type itself. False: void, or an unknown type. */
bool btf_resolve(const struct btf *btf, uint32_t id, struct btf_type *ret);

static inline enum btf_kind btf_kind(const struct btf_type *type)
{
	return (enum btf_kind)(type->info >> 24 & 0x1f);
}

static inline uint32_t btf_count(const struct btf_type *type)
{
	return type->info & 0xffff;
}

#endif
