// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/memory/image/layout.h"

#include <string.h>

#include "lib/memory/image/memory.h"

enum { DEPTH_MAX = 8, WORD = 8 };

static bool is_compound(const struct btf_type *type)
{
	return btf_kind(type) == KIND_STRUCT || btf_kind(type) == KIND_UNION;
}

bool layout_structure(const struct btf *btf, const char *name, struct btf_type *ret)
{
	for (uint32_t id = 1; id < btf->nr; id++)
		if (btf_type_at(btf, id, ret) && is_compound(ret) && ret->name &&
		    !strcmp(btf_string(btf, ret->name), name))
			return true;
	return false;
}

/* Describes an integer, an enumeration or a pointer; of anything else only its size is of use. */
static void describe(const struct btf *btf, uint32_t id, struct layout_member *ret)
{
	struct btf_type type;

	if (!btf_resolve(btf, id, &type))
		return;
	ret->size = btf_kind(&type) == KIND_PTR ? WORD : btf_kind(&type) == KIND_ARRAY ? 0 : type.size;
	ret->is_signed = btf_kind(&type) == KIND_INT && btf_word(btf, &type, 0) >> 24 & 1;
}

/* Finds the first word of a path, up to `len` characters, in this structure. *ret_id is its type. */
static bool find_member(const struct btf *btf, const struct btf_type *structure, const char *name, size_t len,
			unsigned depth, struct layout_member *ret, uint32_t *ret_id)
{
	bool has_bits = structure->info >> 31;

	for (size_t i = 0; i < btf_count(structure) && depth < DEPTH_MAX; i++) {
		const char *called = btf_string(btf, btf_word(btf, structure, i * 3));
		uint32_t id = btf_word(btf, structure, i * 3 + 1), place = btf_word(btf, structure, i * 3 + 2);
		uint32_t at = has_bits ? place & 0xffffff : place, bits = has_bits ? place >> 24 : 0;
		struct btf_type inner;

		if (!*called) {
			if (!btf_resolve(btf, id, &inner) || !is_compound(&inner) ||
			    !find_member(btf, &inner, name, len, depth + 1, ret, ret_id))
				continue;
			ret->offset += at / 8;
			return true;
		}
		if (strncmp(called, name, len) != 0 || called[len])
			continue;
		*ret = (struct layout_member){ .found = true };
		describe(btf, id, ret);
		ret->bits = (uint8_t)bits;
		/* A bit-field is read with the aligned number that holds it. */
		ret->offset = bits && ret->size ? at / (ret->size * 8) * ret->size : at / 8;
		ret->shift = (uint8_t)(bits ? at - ret->offset * 8 : 0);
		*ret_id = id;
		return true;
	}
	return false;
}

struct layout_member layout_find(const struct btf *btf, const struct btf_type *structure, const char *member)
{
	struct layout_member ret = { .found = false };
	struct btf_type type = *structure;
	uint32_t before = 0, id;

	for (;;) {
		size_t len = strcspn(member, ".");

		if (!find_member(btf, &type, member, len, 0, &ret, &id))
			return (struct layout_member){ .found = false };
		ret.offset += before;
		if (!member[len])
			return ret;
		before = ret.offset;
		member += len + 1;
		if (!btf_resolve(btf, id, &type) || !is_compound(&type))
			return (struct layout_member){ .found = false };
	}
}

bool layout_enumerator(const struct btf *btf, const char *name, uint64_t *ret)
{
	struct btf_type type;

	for (uint32_t id = 1; id < btf->nr; id++) {
		if (!btf_type_at(btf, id, &type) || btf_kind(&type) != KIND_ENUM)
			continue;
		for (size_t i = 0; i < btf_count(&type); i++)
			if (!strcmp(btf_string(btf, btf_word(btf, &type, i * 2)), name)) {
				*ret = btf_word(btf, &type, i * 2 + 1);
				return true;
			}
	}
	return false;
}

bool layout_read(struct memory *memory, uint64_t structure, const struct layout_member *member, uint64_t *ret)
{
	uint64_t value = 0;

	if (!member->found || !member->size || member->size > sizeof(value) ||
	    !memory_read(memory, structure + member->offset, &value, member->size))
		return false;
	if (member->bits)
		value = value >> member->shift & ((UINT64_C(1) << member->bits) - 1);
	else if (member->is_signed && member->size < sizeof(value) && value >> (member->size * 8 - 1))
		value |= ~UINT64_C(0) << member->size * 8;
	*ret = value;
	return true;
}
