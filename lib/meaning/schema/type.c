// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/type_internal.h"

#include <stddef.h>
#include <string.h>

#include "lib/meaning/schema/token_internal.h"

enum { SIZE_LONG = 100 };

struct type_name {
	const char *name;
	uint8_t size;
	bool is_signed;
};

/* The sizes are from include/linux/types.h and of the subsystems' headers, on any architecture. */
static const struct type_name type_names[] = {
	{ "u8", 1, false },
	{ "u16", 2, false },
	{ "u32", 4, false },
	{ "u64", 8, false },
	{ "s8", 1, true },
	{ "s16", 2, true },
	{ "s32", 4, true },
	{ "s64", 8, true },
	{ "__u8", 1, false },
	{ "__u16", 2, false },
	{ "__u32", 4, false },
	{ "__u64", 8, false },
	{ "__s8", 1, true },
	{ "__s16", 2, true },
	{ "__s32", 4, true },
	{ "__s64", 8, true },
	{ "uint8_t", 1, false },
	{ "uint16_t", 2, false },
	{ "uint32_t", 4, false },
	{ "uint64_t", 8, false },
	{ "int8_t", 1, true },
	{ "int16_t", 2, true },
	{ "int32_t", 4, true },
	{ "int64_t", 8, true },
	{ "__le16", 2, false },
	{ "__le32", 4, false },
	{ "__le64", 8, false },
	{ "__be16", 2, false },
	{ "__be32", 4, false },
	{ "__be64", 8, false },
	{ "bool", 1, false },
	{ "_Bool", 1, false },
	{ "uchar", 1, false },
	{ "ushort", 2, false },
	{ "uint", 4, false },
	{ "access_mask_t", 4, false },
	{ "ulong", SIZE_LONG, false },
	{ "size_t", SIZE_LONG, false },
	{ "ssize_t", SIZE_LONG, true },
	{ "uintptr_t", SIZE_LONG, false },
	{ "ptrdiff_t", SIZE_LONG, true },
	{ "pgoff_t", SIZE_LONG, false },
	{ "off_t", SIZE_LONG, true },
	{ "loff_t", 8, true },
	{ "ino_t", SIZE_LONG, false },
	{ "dev_t", 4, false },
	{ "umode_t", 2, false },
	{ "mode_t", 2, false },
	{ "fmode_t", 4, false },
	{ "gfp_t", 4, false },
	{ "pid_t", 4, true },
	{ "uid_t", 4, false },
	{ "gid_t", 4, false },
	{ "sector_t", 8, false },
	{ "blkcnt_t", 8, false },
	{ "ktime_t", 8, true },
	{ "time64_t", 8, true },
	{ "dma_addr_t", 8, false },
	{ "phys_addr_t", 8, false },
	{ "resource_size_t", 8, false },
	{ "pteval_t", 8, false },
	{ "pmdval_t", 8, false },
	{ "pudval_t", 8, false },
	{ "pgdval_t", 8, false },
	{ "tid_t", 4, false },
	{ "blk_opf_t", 4, false },
	{ "blk_status_t", 1, false },
	{ "errseq_t", 4, false },
	{ "vm_fault_t", 4, false },
	{ "ext4_fsblk_t", 8, false },
	{ "ext4_lblk_t", 4, false },
	{ "ext4_grpblk_t", 4, true },
	{ "clockid_t", 4, true },
	{ "key_t", 4, true },
	{ "slab_flags_t", 4, false },
	{ "qid_t", 4, false },
	{ "xfs_ino_t", 8, false },
	{ "xfs_daddr_t", 8, true },
	{ "xfs_agnumber_t", 4, false },
	{ "xfs_agblock_t", 4, false },
	{ "xfs_fsblock_t", 8, false },
	{ "xfs_fileoff_t", 8, false },
	{ "xfs_filblks_t", 8, false },
	{ "xfs_extlen_t", 4, false },
	{ "xfs_lsn_t", 8, true },
	{ "netdev_features_t", 8, false },
	{ "gpa_t", 8, false },
	{ "gva_t", SIZE_LONG, false },
	{ "gfn_t", 8, false },
	{ "rwf_t", 4, true },
	{ "cputime_t", 8, false },
	{ "compat_ulong_t", 4, false },
};

struct words {
	unsigned longs, any;
	bool is_unsigned, is_signed, is_char, is_short, is_int, is_void;
};

static bool take_word(const struct token *token, struct words *words)
{
	static const char *const ignored[] = {
		"const", "volatile", "__user", "__iomem", "__rcu", "__force", "__bitwise"
	};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		if (token_named(token, ignored[i]))
			return true;
	words->any++;
	if (token_named(token, "long"))
		words->longs++;
	else if (token_named(token, "unsigned"))
		words->is_unsigned = true;
	else if (token_named(token, "signed") || token_named(token, "__signed__"))
		words->is_signed = true;
	else if (token_named(token, "char"))
		words->is_char = true;
	else if (token_named(token, "short"))
		words->is_short = true;
	else if (token_named(token, "int"))
		words->is_int = true;
	else if (token_named(token, "void"))
		words->is_void = true;
	else
		return words->any--, false;
	return true;
}

static void words_type(const struct words *words, uint8_t long_size, struct ctype *type)
{
	type->is_signed = !words->is_unsigned;
	if (words->is_void)
		*type = (struct ctype){ .size = 0 };
	else if (words->is_char)
		type->size = 1;
	else if (words->is_short)
		type->size = 2;
	else if (words->longs)
		type->size = words->longs > 1 ? 8 : long_size;
	else
		type->size = 4;
}

static bool known_name(const struct token *token, uint8_t long_size, struct ctype *type)
{
	for (size_t i = 0; i < sizeof(type_names) / sizeof(*type_names); i++) {
		if (!token_named(token, type_names[i].name))
			continue;
		type->size = type_names[i].size == SIZE_LONG ? long_size : type_names[i].size;
		type->is_signed = type_names[i].is_signed;
		return true;
	}
	return false;
}

static bool take_tagged(struct tokens *tokens, struct ctype *type)
{
	bool is_enum = token_named(&tokens->now, "enum");
	struct token tag;

	if (!is_enum && !token_named(&tokens->now, "struct") && !token_named(&tokens->now, "union"))
		return false;

	tokens_next(tokens);
	if (tokens->now.kind != TOKEN_NAME)
		return false;
	tag = tokens->now;
	tokens_next(tokens);
	/* Arithmetic with pointers to struct page needs its size: 64 bytes on all known kernels. */
	*type = (struct ctype){ .size = is_enum ? 4 : token_named(&tag, "page") ? 64 : 0 };
	return true;
}

bool ctype_take(struct tokens *tokens, uint8_t long_size, bool any_name, struct ctype *ret)
{
	struct tokens ahead = *tokens;
	struct words words = { .any = 0 };
	struct ctype type = { .size = 0 };

	while (ahead.now.kind == TOKEN_NAME && take_word(&ahead.now, &words))
		tokens_next(&ahead);
	if (words.any) {
		words_type(&words, long_size, &type);
	} else if (!take_tagged(&ahead, &type)) {
		if (ahead.now.kind != TOKEN_NAME || (!known_name(&ahead.now, long_size, &type) && !any_name))
			return false;
		tokens_next(&ahead);
	}
	while (ahead.now.kind == TOKEN_NAME && take_word(&ahead.now, &words))
		tokens_next(&ahead);
	while (tokens_take(&ahead, '*')) {
		if (type.stars < 8)
			type.stars++;
		while (ahead.now.kind == TOKEN_NAME && take_word(&ahead.now, &words))
			tokens_next(&ahead);
	}
	*tokens = ahead;
	*ret = type;
	return true;
}

struct ctype ctype_promote(struct ctype type, uint8_t long_size)
{
	if (type.stars)
		return (struct ctype){ .size = long_size };
	if (type.size < 4)
		return (struct ctype){ .size = 4, .is_signed = true };
	return type;
}

struct ctype ctype_common(struct ctype a, struct ctype b, uint8_t long_size)
{
	a = ctype_promote(a, long_size);
	b = ctype_promote(b, long_size);
	if (a.size != b.size)
		return a.size > b.size ? a : b;
	a.is_signed = a.is_signed && b.is_signed;
	return a;
}
