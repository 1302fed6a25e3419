// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/btf.h"

#include "lib/base/buf.h"
#include "lib/base/bytes.h"
#include "lib/base/fail.h"
#include "lib/kernel/tracing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	BTF_MAGIC = 0xeb9f,
	TYPES_MAX = 4 << 20,
	CHAIN_MAX = 32,                 /* typedef of const of typedef... */
};

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
	uint32_t name, info, size;      /* size, or the number of another type */
	const uint8_t *rest;            /* checked: rest_len bytes */
	size_t rest_len;
};

struct btf {
	struct bytes types, strings;
	uint32_t *offsets;              /* of each type into types; [0] is void */
	uint32_t nr, size;
};

static enum btf_kind kind_of(const struct btf_type *type)
{
	return (enum btf_kind)(type->info >> 24 & 0x1f);
}

static uint32_t count_of(const struct btf_type *type)
{
	return type->info & 0xffff;
}

/* What follows the head of a type. False: a kind that is not known, and then nothing behind it is. */
static bool rest_size(const struct btf_type *type, size_t *ret)
{
	size_t nr = count_of(type);

	switch (kind_of(type)) {
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

static const char *string_at(const struct btf *btf, uint32_t offset)
{
	const uint8_t *at = btf->strings.at;

	if (offset >= btf->strings.left || !memchr(at + offset, 0, btf->strings.left - offset))
		return "";
	return (const char *)at + offset;
}

static bool type_at(const struct btf *btf, uint32_t id, struct btf_type *ret)
{
	struct bytes in = btf->types;
	const uint8_t *skipped;

	return id && id < btf->nr && bytes_take(&in, btf->offsets[id], &skipped) && take_type(&in, ret);
}

static int index_types(struct btf *btf, struct fail *fail)
{
	struct bytes in = btf->types;
	struct btf_type type;

	btf->nr = 1;
	while (in.left && btf->nr < TYPES_MAX) {
		uint32_t offset = (uint32_t)(in.at - btf->types.at);

		if (btf->nr >= btf->size) {
			uint32_t size = btf->size ? btf->size * 2 : 1 << 16;
			uint32_t *grown = reallocarray(btf->offsets, size, sizeof(*grown));

			if (!grown)
				return fail_memory(fail);
			btf->offsets = grown;
			btf->size = size;
		}
		if (!take_type(&in, &type))
			break;
		btf->offsets[btf->nr++] = offset;
	}
	return 0;
}

/* The parts of the header that count: magic, its own length, where types and strings are. */
static int open_parts(const void *data, size_t len, struct btf *btf, struct fail *fail)
{
	struct bytes in = bytes_of(data, len, false), body;
	uint32_t header, type_at_, type_len, string_at_, string_len;
	const uint8_t *skipped;
	uint16_t magic;
	uint8_t version, flags;

	if (!bytes_u16(&in, &magic) || !bytes_u8(&in, &version) || !bytes_u8(&in, &flags) || !bytes_u32(&in, &header) ||
	    !bytes_u32(&in, &type_at_) || !bytes_u32(&in, &type_len) || !bytes_u32(&in, &string_at_) ||
	    !bytes_u32(&in, &string_len) || magic != BTF_MAGIC || version != 1)
		return fail_set(fail, -EBADMSG, "this is no type information that weft knows");
	body = bytes_of(data, len, false);
	if (!bytes_take(&body, header, &skipped))
		return fail_set(fail, -EBADMSG, "the type information is cut");
	btf->types = btf->strings = body;
	if (!bytes_take(&btf->types, type_at_, &skipped) || type_len > btf->types.left ||
	    !bytes_take(&btf->strings, string_at_, &skipped) || string_len > btf->strings.left)
		return fail_set(fail, -EBADMSG, "the type information is cut");
	btf->types.left = type_len;
	btf->strings.left = string_len;
	return 0;
}

/* How a probe would name the type: whole numbers only. */
static void describe(const struct btf *btf, uint32_t id, struct prototype_value *value)
{
	struct btf_type type;

	value->type[0] = '\0';
	for (unsigned i = 0; i < CHAIN_MAX && type_at(btf, id, &type); i++) {
		switch (kind_of(&type)) {
		case KIND_TYPEDEF:
		case KIND_VOLATILE:
		case KIND_CONST:
		case KIND_RESTRICT:
		case KIND_TYPE_TAG:
			id = type.size;
			continue;
		case KIND_INT:
		case KIND_ENUM:
			break;
		default:
			return;
		}
		if (type.size != 1 && type.size != 2 && type.size != 4 && type.size != 8)
			return;
		/* Bit 24 of what follows an integer: it is signed. A bool is none. */
		snprintf(value->type, sizeof(value->type), "%c%u",
			 kind_of(&type) == KIND_ENUM || load_u32(type.rest, false) >> 24 & 1 ? 's' : 'u', type.size * 8);
		return;
	}
}

static void fill(const struct btf *btf, const struct btf_type *proto, struct prototype *ret)
{
	*ret = (struct prototype){ .nr = count_of(proto) };
	ret->returns_nothing = !proto->size;
	describe(btf, proto->size, &ret->value);
	if (ret->nr > PROTOTYPE_PARAMETERS)
		ret->nr = PROTOTYPE_PARAMETERS;
	for (size_t i = 0; i < ret->nr; i++) {
		const uint8_t *at = proto->rest + i * 8;

		snprintf(ret->parameters[i].name, PROTOTYPE_NAME, "%s", string_at(btf, load_u32(at, false)));
		describe(btf, load_u32(at + 4, false), &ret->parameters[i]);
	}
}

int prototype_parse(const void *data, size_t len, const char *function, struct prototype *ret, struct fail *fail)
{
	struct btf btf = { .nr = 0 };
	struct btf_type type;
	int err = open_parts(data, len, &btf, fail), found = 0;

	if (!err)
		err = index_types(&btf, fail);
	for (uint32_t id = 1; !err && !found && id < btf.nr; id++) {
		if (!type_at(&btf, id, &type) || kind_of(&type) != KIND_FUNC || strcmp(string_at(&btf, type.name), function))
			continue;
		if (type_at(&btf, type.size, &type) && kind_of(&type) == KIND_FUNC_PROTO) {
			fill(&btf, &type, ret);
			found = 1;
		}
	}
	free(btf.offsets);
	return err ? err : found;
}

/* For kernels that were built without type information: functions that kept their parameters since 5.6. */
static int well_known(const char *function, struct prototype *ret)
{
	static const struct {
		const char *function;
		struct prototype prototype;
	} known[] = {
		{ "do_sys_openat2", { .parameters = { { "dfd", "s32" }, { "filename", "" }, { "how", "" } }, .nr = 3,
				      .value = { "", "s64" } } },
		{ "do_sys_open", { .parameters = { { "dfd", "s32" }, { "filename", "" }, { "flags", "s32" }, { "mode", "u16" } },
				   .nr = 4, .value = { "", "s64" } } },
		{ "vfs_read", { .parameters = { { "file", "" }, { "buf", "" }, { "count", "u64" }, { "pos", "" } }, .nr = 4,
				.value = { "", "s64" } } },
		{ "vfs_write", { .parameters = { { "file", "" }, { "buf", "" }, { "count", "u64" }, { "pos", "" } }, .nr = 4,
				 .value = { "", "s64" } } },
		{ "do_exit", { .parameters = { { "code", "s64" } }, .nr = 1, .returns_nothing = true } },
	};

	for (size_t i = 0; i < array_size(known); i++) {
		if (strcmp(known[i].function, function) != 0)
			continue;
		*ret = known[i].prototype;
		return 1;
	}
	return 0;
}

int prototype_find(const char *function, struct prototype *ret, struct fail *fail)
{
	cleanup_buf struct buf btf = BUF_INIT;
	int found = 0;

	if (!tracing_read_path("/sys/kernel/btf/vmlinux", &btf, NULL))
		found = prototype_parse(btf.data, btf.len, function, ret, fail);
	/* Type information that weft cannot read is as good as none. */
	return found > 0 ? found : well_known(function, ret);
}
