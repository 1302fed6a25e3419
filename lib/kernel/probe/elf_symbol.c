// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/probe/elf_symbol_internal.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/readable.h"

/* The best match so far. A global function is preferred to a local function of the same name. */
struct search {
	const char *symbol;
	struct near near;
	GElf_Sym found;
	unsigned matches;
	bool global, differ, has_table;
};

static void consider(struct search *search, const GElf_Sym *symbol, const char *name)
{
	bool global = GELF_ST_BIND(symbol->st_info) != STB_LOCAL;
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF || !symbol->st_value)
		return;
	if (strcmp(name, search->symbol) != 0) {
		near_offer(&search->near, name);
		return;
	}
	if (search->matches && search->global && !global)
		return;
	if (search->matches && search->global == global && search->found.st_value != symbol->st_value)
		search->differ = true;
	if (!search->matches || (global && !search->global)) {
		search->found = *symbol;
		search->global = global;
		search->differ = false;
	}
	search->matches++;
}

static void search_section(struct search *search, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	if (!data || !header->sh_entsize)
		return;
	search->has_table |= header->sh_type == SHT_SYMTAB;
	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (name && *name)
			consider(search, &symbol, name);
	}
}

/* Converts the symbol's address to an offset in the file, using the loaded segment that contains the address. */
static int to_offset(Elf *elf, const char *path, const struct search *search, uint64_t plus, uint64_t *ret,
		     struct fail *fail)
{
	uint64_t value = search->found.st_value;
	size_t nr;

	if (search->found.st_size && plus >= search->found.st_size)
		return fail_set(fail, -ERANGE, "'%s' in '%s' is %" PRIu64 " bytes long: +%" PRIu64 " is outside",
				search->symbol, path, (uint64_t)search->found.st_size, plus);
	if (elf_getphdrnum(elf, &nr))
		nr = 0;
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || value < segment.p_vaddr ||
		    value - segment.p_vaddr >= segment.p_filesz)
			continue;
		/* A function without a size, as assembly code may have, ends at the end of its segment. */
		if (plus >= segment.p_filesz - (value - segment.p_vaddr))
			return fail_set(fail, -ERANGE, "'%s'+%" PRIu64 " is outside of what is loaded of '%s'",
					search->symbol, plus, path);
		*ret = value - segment.p_vaddr + segment.p_offset + plus;
		return 0;
	}
	return fail_set(fail, -ENOENT, "'%s' in '%s' is in no part of the file that is loaded", search->symbol, path);
}

static int find(Elf *elf, const char *path, const char *symbol, uint64_t plus, uint64_t *ret, struct fail *fail)
{
	struct search search = { .symbol = symbol, .near = near_to(symbol) };
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			search_section(&search, elf, section, &header);
	if (!search.matches)
		return near_fail(&search.near, fail, -ENOENT, "no function '%s' in '%s'%s", symbol, path,
				 search.has_table ? "" : ", which is stripped: only its exported functions have names");
	if (search.differ)
		return fail_set(fail, -ENOTUNIQ, "there are several functions '%s' in '%s': write '%s:0xOFFSET'",
				symbol, path, path);
	if (GELF_ST_TYPE(search.found.st_info) == STT_GNU_IFUNC)
		return fail_set(fail, -EOPNOTSUPP,
				"'%s' in '%s' is chosen when a program starts (ifunc): its code has another name",
				symbol, path);
	return to_offset(elf, path, &search, plus, ret, fail);
}

int elf_symbol_open(const char *path, int *ret_fd, Elf **ret, struct fail *fail)
{
	int err = readable_open(path, ret_fd, fail);

	*ret = NULL;
	if (err)
		return err;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return fail_set(fail, -EIO, "this libelf is too old");
	*ret = elf_begin(*ret_fd, ELF_C_READ_MMAP, NULL);
	if (*ret && elf_kind(*ret) == ELF_K_ELF)
		return 0;
	if (*ret)
		elf_end(*ret);
	*ret = NULL;
	return fail_set(fail, -ENOEXEC, "'%s' is neither a program nor a library", path);
}

int elf_symbol_offset(const char *path, const char *symbol, uint64_t plus, uint64_t *ret, struct fail *fail)
{
	cleanup_fd int fd = -1;
	Elf *elf;
	int err = elf_symbol_open(path, &fd, &elf, fail);

	if (err)
		return err;
	err = find(elf, path, symbol, plus, ret, fail);
	elf_end(elf);
	return err;
}
