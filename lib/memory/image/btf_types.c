// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/memory/image/btf_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"

enum {
	BTF_MAGIC = 0xeb9f,
	TYPES_MAX = 4 << 20,
};

/*
 * The size of the data after the head of a type. False: the kind is unknown, so the types after it cannot be read
 * either.
 */
static bool rest_size(const struct btf_type *type, size_t *ret)
{
	size_t nr = btf_count(type);

	switch (btf_kind(type)) {
	case KIND_INT:
	case KIND_VAR:
	case KIND_DECL_TAG:
		*ret = 4;
		return true;
	case KIND_ARRAY:
		*ret = 12;
		return true;
	case KIND_STRUCT:
	case KIND_UNION:
	case KIND_DATASEC:
	case KIND_ENUM64:
		*ret = nr * 12;
		return true;
	case KIND_ENUM:
	case KIND_FUNC_PROTO:
		*ret = nr * 8;
		return true;
	case KIND_PTR:
	case KIND_FWD:
	case KIND_TYPEDEF:
	case KIND_VOLATILE:
	case KIND_CONST:
	case KIND_RESTRICT:
	case KIND_FUNC:
	case KIND_FLOAT:
	case KIND_TYPE_TAG:
		*ret = 0;
		return true;
	}
	return false;
}

static bool take_type(struct bytes *in, struct btf_type *ret)
{
	return bytes_u32(in, &ret->name) && bytes_u32(in, &ret->info) && bytes_u32(in, &ret->size) &&
	       rest_size(ret, &ret->rest_len) && bytes_take(in, ret->rest_len, &ret->rest);
}

const char *btf_string(const struct btf *btf, uint32_t offset)
{
	const uint8_t *at = btf->strings.at;

	if (btf->base && offset < btf->base->strings.left)
		return btf_string(btf->base, offset);
	offset -= btf->base ? (uint32_t)btf->base->strings.left : 0;
	if (offset >= btf->strings.left || !memchr(at + offset, 0, btf->strings.left - offset))
		return "";
	return (const char *)at + offset;
}

bool btf_type_at(const struct btf *btf, uint32_t id, struct btf_type *ret)
{
	struct bytes in = btf->types;
	const uint8_t *skipped;

	if (btf->base && id < btf->first)
		return btf_type_at(btf->base, id, ret);
	return id && id < btf->nr && bytes_take(&in, btf->offsets[id - btf->first], &skipped) && take_type(&in, ret);
}

static int index_types(struct btf *btf, struct fail *fail)
{
	struct bytes in = btf->types;
	struct btf_type type;

	btf->first = btf->nr = btf->base ? btf->base->nr : 1;
	while (in.left && btf->nr < TYPES_MAX) {
		uint32_t offset = (uint32_t)(in.at - btf->types.at);

		if (btf->nr - btf->first >= btf->size) {
			uint32_t size = btf->size ? btf->size * 2 : btf->base ? 1 << 10 : 1 << 16;
			uint32_t *grown = reallocarray(btf->offsets, size, sizeof(*grown));

			if (!grown)
				return fail_memory(fail);
			btf->offsets = grown;
			btf->size = size;
		}
		if (!take_type(&in, &type))
			break;
		btf->offsets[btf->nr++ - btf->first] = offset;
	}
	return 0;
}

/* Reads these parts of the header: the magic number, the length of the header, the places of types and strings. */
static int open_parts(const void *data, size_t len, struct btf *btf, struct fail *fail)
{
	const uint8_t *start = data;
	bool swap = len > 1 && load_u16(start, false) == __builtin_bswap16(BTF_MAGIC);
	struct bytes in = bytes_of(data, len, swap), body;
	uint32_t header, type_at_, type_len, string_at_, string_len;
	const uint8_t *skipped;
	uint16_t magic;
	uint8_t version, flags;

	if (!bytes_u16(&in, &magic) || !bytes_u8(&in, &version) || !bytes_u8(&in, &flags) || !bytes_u32(&in, &header) ||
	    !bytes_u32(&in, &type_at_) || !bytes_u32(&in, &type_len) || !bytes_u32(&in, &string_at_) ||
	    !bytes_u32(&in, &string_len) || magic != BTF_MAGIC || version != 1)
		return fail_set(fail, -EBADMSG, "this is not type information (BTF) that weft knows");
	body = bytes_of(data, len, swap);
	if (!bytes_take(&body, header, &skipped))
		return fail_set(fail, -EBADMSG, "the type information (BTF) is cut short");
	btf->types = btf->strings = body;
	if (!bytes_take(&btf->types, type_at_, &skipped) || type_len > btf->types.left ||
	    !bytes_take(&btf->strings, string_at_, &skipped) || string_len > btf->strings.left)
		return fail_set(fail, -EBADMSG, "the type information (BTF) is cut short");
	btf->types.left = type_len;
	btf->strings.left = string_len;
	return 0;
}

int btf_open(struct btf *btf, const void *data, size_t len, struct fail *fail)
{
	int err = open_parts(data, len, btf, fail);

	return err ? err : index_types(btf, fail);
}

int btf_open_module(struct btf *btf, const struct btf *base, const void *data, size_t len, struct fail *fail)
{
	int err = open_parts(data, len, btf, fail);

	if (err)
		return err;
	if (btf->types.swap != base->types.swap)
		return fail_set(fail, -EBADMSG, "the type information (BTF) of the module has another byte order");
	btf->base = base;
	return index_types(btf, fail);
}

void btf_release(struct btf *btf)
{
	free(btf->offsets);
	*btf = (struct btf){ .nr = 0 };
}

bool btf_resolve(const struct btf *btf, uint32_t id, struct btf_type *ret)
{
	for (unsigned i = 0; i < BTF_CHAIN_MAX && btf_type_at(btf, id, ret); i++) {
		switch (btf_kind(ret)) {
		case KIND_TYPEDEF:
		case KIND_VOLATILE:
		case KIND_CONST:
		case KIND_RESTRICT:
		case KIND_TYPE_TAG:
			id = ret->size;
			continue;
		default:
			return true;
		}
	}
	return false;
}
