// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/memory/image/types.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/memory/image/btf_types.h"

enum { NAMES_FIRST = 1024 };

struct name {
	char *text;
	unsigned seen; /* the number of enumerators found so far with that name */
	int64_t value;
};

struct names {
	struct name *slots; /* a hash table; a free slot has no text */
	size_t nr, size;    /* size: a power of two */
};

static size_t hash_of(const char *name, size_t len)
{
	size_t hash = 5381;

	while (len--)
		hash = hash * 33 + (unsigned char)*name++;
	return hash ^ hash >> 15;
}

static struct name *find_slot(const struct names *names, const char *name, size_t len)
{
	size_t at = hash_of(name, len) & (names->size - 1);

	while (names->slots[at].text && (strncmp(names->slots[at].text, name, len) || names->slots[at].text[len]))
		at = (at + 1) & (names->size - 1);
	return &names->slots[at];
}

int names_new(struct names **ret, struct fail *fail)
{
	struct names *names = calloc(1, sizeof(*names));

	if (names)
		names->slots = calloc(NAMES_FIRST, sizeof(*names->slots));
	if (!names || !names->slots) {
		free(names);
		return fail_memory(fail);
	}
	names->size = NAMES_FIRST;
	*ret = names;
	return 0;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->size; i++)
		free(names->slots[i].text);
	free(names->slots);
	free(names);
}

size_t names_count(const struct names *names)
{
	return names->nr;
}

static bool names_grow(struct names *names)
{
	struct names more = { .nr = names->nr, .size = names->size * 2 };

	more.slots = calloc(more.size, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (size_t i = 0; i < names->size; i++)
		if (names->slots[i].text)
			*find_slot(&more, names->slots[i].text, strlen(names->slots[i].text)) = names->slots[i];
	free(names->slots);
	*names = more;
	return true;
}

int names_add(struct names *names, const char *name, size_t len, struct fail *fail)
{
	struct name *slot = find_slot(names, name, len);

	if (!len || slot->text)
		return 0;
	slot->text = strndup(name, len);
	if (!slot->text || (++names->nr > names->size / 2 && !names_grow(names)))
		return fail_memory(fail);
	return 0;
}

static struct name *find_name(const struct names *names, const char *name)
{
	struct name *slot = find_slot(names, name, strlen(name));

	return slot->text ? slot : NULL;
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_text(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : end;
}

/*
 * Whether a name may name an enumerator: it has a capital letter or is the first word of a table entry. REC (the
 * record) and NULL are not enumerators.
 */
static bool may_be_enumerator(const char *name, size_t len, char before)
{
	if ((len == 3 && !memcmp(name, "REC", 3)) || (len == 4 && !memcmp(name, "NULL", 4)))
		return false;
	for (size_t i = 0; i < len; i++)
		if (isupper((unsigned char)name[i]))
			return true;
	return before == '{';
}

int names_add_format(struct names *names, const char *format, size_t len, struct fail *fail)
{
	const char *at = memmem(format, len, "print fmt:", 10), *end = format + len;
	char before = 0; /* the last character that is neither a blank nor part of a name */
	int err = 0;

	at = at ? at + 10 : end;
	while (!err && at < end) {
		const char *start = at;

		if (*at == '"') {
			at = skip_text(at, end);
			continue;
		}
		while (at < end && in_name(*at))
			at++;
		if (at > start && !isdigit((unsigned char)*start) && before != '.' && before != '>' &&
		    (at == end || *at != '(') && may_be_enumerator(start, (size_t)(at - start), before))
			err = names_add(names, start, (size_t)(at - start), fail);
		if (at > start)
			continue;
		if (!isspace((unsigned char)*at))
			before = *at;
		at++;
	}
	return err;
}

static const char *kind_name(enum btf_kind kind)
{
	static const char *const names[] = {
		[KIND_INT] = "INT",           [KIND_PTR] = "PTR",         [KIND_ARRAY] = "ARRAY",
		[KIND_STRUCT] = "STRUCT",     [KIND_UNION] = "UNION",     [KIND_ENUM] = "ENUM",
		[KIND_FWD] = "FWD",           [KIND_FUNC] = "FUNC",       [KIND_FUNC_PROTO] = "FUNC_PROTO",
		[KIND_VAR] = "VAR",           [KIND_DATASEC] = "DATASEC", [KIND_FLOAT] = "FLOAT",
		[KIND_DECL_TAG] = "DECL_TAG", [KIND_ENUM64] = "ENUM64",
	};

	return kind < array_size(names) && names[kind] ? names[kind] : "UNKNOWN";
}

static bool put_param(const struct btf *btf, const char *name, uint32_t id, uint32_t *ret_enum, struct buf *buf)
{
	struct btf_type type;

	if (!btf_resolve(btf, id, &type))
		return buf_addf(buf, " ?%s", name);
	switch (btf_kind(&type)) {
	case KIND_PTR:
		return buf_addf(buf, " *%s", name);
	case KIND_INT:
		return buf_addf(buf, " %c%s", btf_word(btf, &type, 0) >> 24 & 1 ? 'i' : 'u', name);
	case KIND_ENUM:
		*ret_enum = type.name;
		return true;
	default:
		return buf_addf(buf, " s%u:%s:%s", type.size, kind_name(btf_kind(&type)), name);
	}
}

/* The id of the enum itself, after typedefs and modifiers. Its line is found by this id. */
static uint32_t enum_id(const struct btf *btf, uint32_t id)
{
	struct btf_type type;

	for (unsigned i = 0; i < BTF_CHAIN_MAX && btf_type_at(btf, id, &type) && btf_kind(&type) != KIND_ENUM; i++)
		id = type.size;
	return id;
}

/* What the lines are made of. */
struct making {
	const struct names *functions; /* NULL: all */
	struct names *told;            /* functions that have a line */
	uint8_t *put;                  /* a bit for each id of an enum of the kernel that has a line */
	uint32_t before;               /* so many types of other modules stand before */
	struct buf *buf;
};

/* The types of all modules begin with the same id. */
static uint32_t index_of(const struct making *making, const struct btf *btf, uint32_t id)
{
	return id < btf->first ? id : id + making->before;
}

static bool put_enum(const struct making *making, const struct btf *btf, uint32_t id)
{
	struct buf *buf = making->buf;
	struct btf_type type;

	if (!btf_type_at(btf, id, &type))
		return true;
	if (!buf_addf(buf, "e %u", index_of(making, btf, id)))
		return false;
	for (uint32_t i = 0; i < btf_count(&type); i++)
		if (!buf_addf(buf, " %s=%d", btf_string(btf, btf_word(btf, &type, i * 2)),
			      (int)btf_word(btf, &type, i * 2 + 1)))
			return false;
	return buf_addf(buf, "\n");
}

/* `used` has a bit for each type id; the bits of enums that are the type of a parameter are set. */
static bool put_function(const struct making *making, const struct btf *btf, const char *name,
			 const struct btf_type *proto, uint8_t *used)
{
	struct buf *buf = making->buf;
	bool ok = buf_addf(buf, "f %s", name);

	for (uint32_t i = 0; ok && i < btf_count(proto); i++) {
		const char *param = btf_string(btf, btf_word(btf, proto, i * 2));
		uint32_t id = btf_word(btf, proto, i * 2 + 1), is_enum = UINT32_MAX;

		ok = put_param(btf, param, id, &is_enum, buf);
		if (!ok || is_enum == UINT32_MAX)
			continue;
		id = enum_id(btf, id);
		used[id / 8] |= (uint8_t)(1u << id % 8);
		ok = buf_addf(buf, " e%u:%s", index_of(making, btf, id), param);
	}
	return ok && buf_addf(buf, "\n");
}

static bool put_enums(const struct making *making, const struct btf *btf, const uint8_t *used)
{
	uint32_t kernels = btf->base ? btf->base->nr : btf->nr;

	for (uint32_t id = 1; id < btf->nr; id++) {
		if (!(used[id / 8] >> id % 8 & 1) || (id < kernels && making->put[id / 8] >> id % 8 & 1))
			continue;
		if (!put_enum(making, btf, id))
			return false;
		if (id < kernels)
			making->put[id / 8] |= (uint8_t)(1u << id % 8);
	}
	return true;
}

static bool put_functions(const struct making *making, const struct btf *btf)
{
	cleanup_free uint8_t *used = calloc(btf->nr / 8 + 1, 1);
	struct btf_type func, proto;
	bool ok = used;

	for (uint32_t id = btf->first; ok && id < btf->nr; id++) {
		const char *name;

		if (!btf_type_at(btf, id, &func) || btf_kind(&func) != KIND_FUNC)
			continue;
		name = btf_string(btf, func.name);
		if ((making->functions && !find_name(making->functions, name)) || find_name(making->told, name) ||
		    !btf_type_at(btf, func.size, &proto) || btf_kind(&proto) != KIND_FUNC_PROTO)
			continue;
		ok = !names_add(making->told, name, strlen(name), NULL) &&
		     put_function(making, btf, name, &proto, used);
	}
	return ok && put_enums(making, btf, used);
}

static int put_modules(struct making *making, const struct btf *base, const struct types_modules *modules,
		       struct fail *fail)
{
	cleanup_buf struct buf data = BUF_INIT;
	int err = 0;

	while (!err && (!making->functions || names_count(making->told) < names_count(making->functions)) &&
	       modules->next(modules->arg, &data)) {
		struct btf btf = { .nr = 0 };

		err = btf_open_module(&btf, base, data.data, data.len, fail);
		if (!err && !put_functions(making, &btf))
			err = fail_memory(fail);
		if (!err)
			making->before += btf.nr - btf.first;
		btf_release(&btf);
		err = err == -EBADMSG ? 0 : err;
	}
	return err;
}

static void take_value(const struct names *names, const char *text, int64_t value)
{
	struct name *name = find_name(names, text);

	if (name && !(name->seen && name->value == value)) {
		name->seen++;
		name->value = value;
	}
}

/* An enumerator whose name has several values is left out, because it is not known which value is meant. */
static bool put_enumerators(const struct btf *btf, const struct names *names, struct buf *buf)
{
	struct btf_type type;
	bool ok = true;

	for (uint32_t id = 1; id < btf->nr; id++) {
		if (!btf_type_at(btf, id, &type) || (btf_kind(&type) != KIND_ENUM && btf_kind(&type) != KIND_ENUM64))
			continue;
		for (uint32_t i = 0; i < btf_count(&type); i++) {
			bool wide = btf_kind(&type) == KIND_ENUM64;
			size_t at = (size_t)i * (wide ? 3 : 2);
			uint64_t high = wide ? btf_word(btf, &type, at + 2) : 0;

			uint32_t low = btf_word(btf, &type, at + 1);
			bool is_signed = type.info >> 31;

			take_value(names, btf_string(btf, btf_word(btf, &type, at)),
				   wide      ? (int64_t)(high << 32 | low) :
				   is_signed ? (int32_t)low :
					       (int64_t)low);
		}
	}
	for (size_t i = 0; ok && i < names->size; i++)
		if (names->slots[i].text && names->slots[i].seen == 1)
			ok = buf_addf(buf, "v %s %lld\n", names->slots[i].text, (long long)names->slots[i].value);
	return ok;
}

static int put_lines(const struct btf *btf, struct making *making, const struct types_modules *modules,
		     const struct names *enumerators, struct fail *fail)
{
	cleanup_free uint8_t *put = making->put = calloc(btf->nr / 8 + 1, 1);
	int err = put && put_functions(making, btf) ? 0 : fail_memory(fail);

	if (!err && modules)
		err = put_modules(making, btf, modules, fail);
	return err || put_enumerators(btf, enumerators, making->buf) ? err : fail_memory(fail);
}

int types_lines(const void *data, size_t len, const struct types_modules *modules, const struct names *functions,
		const struct names *enumerators, struct buf *buf, struct fail *fail)
{
	struct making making = { .functions = functions, .buf = buf };
	struct btf btf = { .nr = 0 };
	int err = btf_open(&btf, data, len, fail);

	if (!err)
		err = names_new(&making.told, fail);
	if (!err)
		err = put_lines(&btf, &making, modules, enumerators, fail);
	names_free(making.told);
	btf_release(&btf);
	return err;
}
