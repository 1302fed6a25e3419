/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PROBE_BTF_TYPES_H
#define WEFT_PROBE_BTF_TYPES_H

#include "lib/base/bytes.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * The types of a kernel's type information by their numbers (include/uapi/linux/btf.h), in either byte order. It borrows the bytes.
 * Any bytes will do: nothing outside them is read, and every loop ends.
 * Not supported: what modules add to the kernel's own.
 */
enum { BTF_CHAIN_MAX = 32 }; /* typedef of const of typedef... */

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
	uint32_t name, info, size; /* size, or the number of another type */
	const uint8_t *rest;       /* checked: rest_len bytes */
	size_t rest_len;
};

struct btf {
	struct bytes types, strings;
	uint32_t *offsets; /* of each type into types; [0] is void */
	uint32_t nr, size;
};

/* *btf is zeroed. -EBADMSG for what is no type information. Release it in any case. */
int must_check btf_open(struct btf *btf, const void *data, size_t len, struct fail *fail);
void btf_release(struct btf *btf);

/* Type 0 is void, and none; false behind the last. */
bool btf_type_at(const struct btf *btf, uint32_t id, struct btf_type *ret);

/* "" where there is none. */
const char *btf_string(const struct btf *btf, uint32_t offset);

/* A number of what follows a type's head: one of rest_len / 4. */
static inline uint32_t btf_word(const struct btf *btf, const struct btf_type *type, size_t index)
{
	return load_u32(type->rest + index * 4, btf->types.swap);
}

/* Behind typedefs, const and the like; false: void, or nothing that is known. */
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
