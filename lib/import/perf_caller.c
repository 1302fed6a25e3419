// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/import/perf_caller_internal.h"

#include "lib/base/buf.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { HEX_MAX = 16 };

/* A part of a line. */
struct part {
	const char *at;
	size_t len;
};

static bool begins(struct part part, const char *text)
{
	return part.len >= strlen(text) && !memcmp(part.at, text, strlen(text));
}

/* Takes the address at the beginning. */
static bool take_address(struct part *part, uint64_t *ret)
{
	size_t len = 0;

	for (*ret = 0; len < part->len && isxdigit((unsigned char)part->at[len]); len++) {
		char c = part->at[len];

		if (len == HEX_MAX || isupper((unsigned char)c))
			return false;
		*ret = *ret << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*part = (struct part){ part->at + len, part->len - len };
	return len && begins(*part, " ");
}

/* Takes " ([kernel.kallsyms])" off the end. */
static struct part take_file(struct part *part)
{
	const char *end = part->at + part->len, *open = part->len && end[-1] == ')' ? part->at : NULL, *last = NULL;
	struct part file = { NULL, 0 };

	while (open && (open = memmem(open, (size_t)(end - open), " (", 2)))
		last = open++;
	if (!last)
		return file;
	file = (struct part){ last + 2, (size_t)(end - last - 3) };
	part->len = (size_t)(last - part->at);
	return file;
}

/* The name of a module: "[ext4]", or "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz". */
static struct part module_of(struct part file)
{
	const char *slash = file.len ? memrchr(file.at, '/', file.len) : NULL, *ko;

	if (begins(file, "[kernel.") || begins(file, "[guest.kernel"))
		return (struct part){ NULL, 0 };
	if (begins(file, "[") && file.len > 2 && file.at[file.len - 1] == ']')
		return (struct part){ file.at + 1, file.len - 2 };
	ko = slash ? memmem(slash, (size_t)(file.at + file.len - slash), ".ko", 3) : NULL;
	return ko ? (struct part){ slash + 1, (size_t)(ko - slash - 1) } : (struct part){ NULL, 0 };
}

static bool add_kernel(struct part name, struct part file, uint64_t address, struct buf *ret)
{
	const char *plus = name.len ? memmem(name.at, name.len, "+0x", 3) : NULL;
	struct part module = module_of(file);

	if (begins(name, "[unknown]"))
		return buf_addf(ret, " => 0x%" PRIx64, address);
	if (plus)
		name.len = (size_t)(plus - name.at);
	if (!buf_add_str(ret, " => ") || !buf_add(ret, name.at, name.len))
		return false;
	if (!module.len)
		return true;
	if (!buf_add_str(ret, " ["))
		return false;
	/* The kernel's names of modules have no "-". */
	for (size_t i = 0; i < module.len; i++)
		if (!buf_add(ret, module.at[i] == '-' ? "_" : &module.at[i], 1))
			return false;
	return buf_add_str(ret, "]");
}

bool perf_caller(const char *line, size_t len, struct buf *ret, bool *ret_user)
{
	struct part name = { line, len }, file;
	uint64_t address;

	while (name.len && text_is_blank(*name.at))
		name = (struct part){ name.at + 1, name.len - 1 };
	while (name.len && text_is_blank(name.at[name.len - 1]))
		name.len--;
	if (name.at == line || !take_address(&name, &address))
		return false;
	name = (struct part){ name.at + 1, name.len - 1 };
	file = take_file(&name);
	if (!name.len)
		return false;
	*ret_user = !(address >> 63) && !begins(file, "[kernel.") && !memmem(file.at ?: "", file.len, ".ko", 3);
	buf_clear(ret);
	return *ret_user ? buf_addf(ret, " =>  <%016" PRIx64 ">", address) : add_kernel(name, file, address, ret);
}
