// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/probe/btf_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/memory/image/btf_types.h"

/* Sets the name that probes have for this type. Only integers and enums have one. */
static void describe(const struct btf *btf, uint32_t id, struct prototype_value *value)
{
	struct btf_type type;

	value->type[0] = '\0';
	if (!btf_resolve(btf, id, &type) || (btf_kind(&type) != KIND_INT && btf_kind(&type) != KIND_ENUM))
		return;
	if (type.size != 1 && type.size != 2 && type.size != 4 && type.size != 8)
		return;
	/* Bit 24 of the word after an integer type is set for a signed type. A bool is unsigned. */
	snprintf(value->type, sizeof(value->type), "%c%u",
		 btf_kind(&type) == KIND_ENUM || btf_word(btf, &type, 0) >> 24 & 1 ? 's' : 'u', type.size * 8);
}

static void fill(const struct btf *btf, const struct btf_type *proto, struct prototype *ret)
{
	*ret = (struct prototype){ .nr = btf_count(proto) };
	ret->returns_nothing = !proto->size;
	describe(btf, proto->size, &ret->value);
	if (ret->nr > PROTOTYPE_PARAMETERS)
		ret->nr = PROTOTYPE_PARAMETERS;
	for (size_t i = 0; i < ret->nr; i++) {
		snprintf(ret->parameters[i].name, PROTOTYPE_NAME, "%s", btf_string(btf, btf_word(btf, proto, i * 2)));
		describe(btf, btf_word(btf, proto, i * 2 + 1), &ret->parameters[i]);
	}
}

static int find(const struct btf *btf, uint32_t first, const char *function, struct prototype *ret)
{
	struct btf_type type;

	for (uint32_t id = first; id < btf->nr; id++) {
		if (!btf_type_at(btf, id, &type) || btf_kind(&type) != KIND_FUNC ||
		    strcmp(btf_string(btf, type.name), function))
			continue;
		if (!btf_type_at(btf, type.size, &type) || btf_kind(&type) != KIND_FUNC_PROTO)
			continue;
		fill(btf, &type, ret);
		return 1;
	}
	return 0;
}

int prototype_parse(const void *data, size_t len, const char *function, struct prototype *ret, struct fail *fail)
{
	struct btf btf = { .nr = 0 };
	int r = btf_open(&btf, data, len, fail);

	if (!r)
		r = find(&btf, 1, function, ret);
	btf_release(&btf);
	return r;
}

int prototype_parse_module(const struct buf *kernel, const struct buf *module, const char *function,
			   struct prototype *ret, struct fail *fail)
{
	struct btf base = { .nr = 0 }, btf = { .nr = 0 };
	int r = btf_open(&base, kernel->data, kernel->len, fail);

	if (!r)
		r = btf_open_module(&btf, &base, module->data, module->len, fail);
	if (!r)
		r = find(&btf, btf.first, function, ret);
	btf_release(&btf);
	btf_release(&base);
	return r;
}

/* "long" and "ulong" become what a probe calls them. */
static void size_long(struct prototype_value *value, unsigned long_size)
{
	bool is_unsigned = !strcmp(value->type, "ulong");

	if (is_unsigned || !strcmp(value->type, "long"))
		snprintf(value->type, sizeof(value->type), "%c%d", is_unsigned ? 'u' : 's', long_size == 4 ? 32 : 64);
}

/* For kernels built without type information: functions whose parameters have not changed since 5.6. */
static int well_known(const char *function, unsigned long_size, struct prototype *ret)
{
	static const struct {
		const char *function;
		struct prototype prototype;
	} known[] = {
		{ "do_sys_openat2",
		  { .parameters = { { "dfd", "s32" }, { "filename", "" }, { "how", "" } },
		    .nr = 3,
		    .value = { "", "long" } } },
		{ "do_sys_open",
		  { .parameters = { { "dfd", "s32" }, { "filename", "" }, { "flags", "s32" }, { "mode", "u16" } },
		    .nr = 4,
		    .value = { "", "long" } } },
		{ "vfs_read",
		  { .parameters = { { "file", "" }, { "buf", "" }, { "count", "ulong" }, { "pos", "" } },
		    .nr = 4,
		    .value = { "", "long" } } },
		{ "vfs_write",
		  { .parameters = { { "file", "" }, { "buf", "" }, { "count", "ulong" }, { "pos", "" } },
		    .nr = 4,
		    .value = { "", "long" } } },
		{ "do_exit", { .parameters = { { "code", "long" } }, .nr = 1, .returns_nothing = true } },
	};

	for (size_t i = 0; i < array_size(known); i++) {
		if (strcmp(known[i].function, function) != 0)
			continue;
		*ret = known[i].prototype;
		size_long(&ret->value, long_size);
		for (size_t j = 0; j < ret->nr; j++)
			size_long(&ret->parameters[j], long_size);
		return 1;
	}
	return 0;
}

static int find_in_modules(const struct buf *kernel, const char *function, struct prototype *ret, struct fail *fail)
{
	cleanup_buf struct buf module = BUF_INIT;
	DIR *folder = opendir(BTF_FOLDER);
	int found = 0;

	while (found <= 0 && tracing_next_btf(folder, &module))
		if (memmem(module.data, module.len, function, strlen(function) + 1))
			found = prototype_parse_module(kernel, &module, function, ret, fail);
	if (folder)
		closedir(folder);
	return found;
}

int prototype_find(const char *function, unsigned long_size, struct prototype *ret, struct fail *fail)
{
	cleanup_buf struct buf btf = BUF_INIT;
	int found = 0;

	if (!tracing_read_path(BTF_FOLDER "vmlinux", &btf, NULL)) {
		found = prototype_parse(btf.data, btf.len, function, ret, fail);
		if (!found)
			found = find_in_modules(&btf, function, ret, fail);
	}
	/* Type information that weft cannot read is treated as missing. */
	return found > 0 ? found : well_known(function, long_size, ret);
}
