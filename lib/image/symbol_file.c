// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/image/symbol_file.h"

#include "lib/base/fail.h"
#include "lib/base/io.h"
#include "lib/base/vec.h"
#include "lib/image/image_symbols.h"
#include "lib/image/memory.h"
#include "lib/image/note.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS_MAX = 1024, TABLE_MAX = 128 << 20 };

static bool read_at(int fd, uint64_t at, void *into, size_t len)
{
	char *to = into;

	while (len) {
		ssize_t got = io_pread(fd, to, len, at);

		if (got <= 0)
			return false;
		to += got;
		at += (uint64_t)got;
		len -= (size_t)got;
	}
	return true;
}

static int add(struct image_symbols *symbols, uint64_t address, char type, const char *name, size_t len,
	       struct fail *fail)
{
	struct image_symbol *symbol;

	if (!len || len >= IMAGE_SYMBOL_NAME_MAX || symbols->nr == IMAGE_SYMBOLS_MAX)
		return 0;
	symbol = vec_push(symbols->items, symbols->nr);
	if (!symbol)
		return fail_memory(fail);
	*symbol = (struct image_symbol){ .address = address, .name = (uint32_t)symbols->names.len, .type = type };
	return buf_add(&symbols->names, name, len) && buf_add(&symbols->names, "", 1) ? 0 : fail_memory(fail);
}

/* A line is an address, a type and a name; a symbol of a module has the module's name behind it, and is left out. */
static int read_text(int fd, struct image_symbols *symbols, struct fail *fail)
{
	cleanup_free char *line = NULL;
	size_t room = 0;
	FILE *file;
	int r = 0, own = dup(fd);

	file = own < 0 ? NULL : fdopen(own, "r");
	if (!file)
		return fail_memory(fail);
	for (ssize_t len; !r && (len = getline(&line, &room, file)) > 0 && len < TABLE_MAX;) {
		char *end;
		uint64_t address = strtoull(line, &end, 16);
		const char *name;

		if (end == line || *end != ' ' || !isalpha((unsigned char)end[1]) || end[2] != ' ')
			continue;
		name = end + 3;
		if (!strchr(name, '\t'))
			r = add(symbols, address, end[1], name, strcspn(name, "\n"), fail);
	}
	fclose(file);
	return r;
}

static int add_elf(struct image_symbols *symbols, const Elf64_Sym *table, size_t nr, const char *strings, size_t size,
		   struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < nr; i++) {
		const Elf64_Sym *symbol = &table[i];
		unsigned type = ELF64_ST_TYPE(symbol->st_info);

		if (symbol->st_name < size && symbol->st_shndx != SHN_UNDEF &&
		    (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE))
			r = add(symbols, symbol->st_value, type == STT_OBJECT ? 'D' : 'T', strings + symbol->st_name,
				strlen(strings + symbol->st_name), fail);
	}
	return r;
}

/* The symbol table of a vmlinux, and its names. */
static int read_elf(int fd, const Elf64_Ehdr *head, struct image_symbols *symbols, struct fail *fail)
{
	cleanup_free Elf64_Shdr *sections = calloc(SECTIONS_MAX, sizeof(*sections));
	size_t nr = head->e_shnum < SECTIONS_MAX ? head->e_shnum : SECTIONS_MAX;

	if (!sections)
		return fail_memory(fail);
	if (head->e_shentsize != sizeof(*sections) || !read_at(fd, head->e_shoff, sections, nr * sizeof(*sections)))
		return 0;
	for (size_t i = 0; i < nr; i++) {
		const Elf64_Shdr *table = &sections[i], *names;
		cleanup_free Elf64_Sym *items = NULL;
		cleanup_free char *strings = NULL;
		size_t table_size, names_size;

		if (table->sh_type != SHT_SYMTAB || table->sh_link >= nr)
			continue;
		names = &sections[table->sh_link];
		if (table->sh_size > TABLE_MAX || names->sh_size > TABLE_MAX)
			continue;
		table_size = (size_t)table->sh_size;
		names_size = (size_t)names->sh_size;
		items = malloc(table_size + 1);
		strings = malloc(names_size + 1);
		if (!items || !strings)
			return fail_memory(fail);
		strings[names_size] = '\0';
		if (!read_at(fd, table->sh_offset, items, table_size) ||
		    !read_at(fd, names->sh_offset, strings, names_size))
			continue;
		return add_elf(symbols, items, table_size / sizeof(*items), strings, names_size, fail);
	}
	return 0;
}

/* Moves the symbols to where the kernel is. */
static int move(struct image_symbols *symbols, const struct memory *memory, const char *path, struct fail *fail)
{
	uint64_t there, here;

	if (!symbols->nr)
		return fail_set(
			fail, -ENODATA,
			"'%s' has no symbols: give the System.map of that kernel, a copy of its /proc/kallsyms, or "
			"its vmlinux",
			path);
	if (!image_symbol(symbols, "_stext", &here) || !note_symbol(memory->note, "_stext", &there))
		return fail_set(fail, -ENODATA, "'%s' does not have the symbols of a kernel: there is no _stext", path);
	if (!here)
		return fail_set(fail, -ENODATA, "'%s' has no addresses: a copy of /proc/kallsyms must be made by root",
				path);
	for (size_t i = 0; i < symbols->nr; i++)
		symbols->items[i].address += there - here;
	return 0;
}

int symbol_file_read(int fd, const char *path, const struct memory *memory, struct image_symbols *ret,
		     struct fail *fail)
{
	Elf64_Ehdr head;
	int r;

	*ret = (struct image_symbols){ .names = BUF_INIT };
	if (read_at(fd, 0, &head, sizeof(head)) && !memcmp(head.e_ident, ELFMAG, SELFMAG))
		r = head.e_ident[EI_CLASS] == ELFCLASS64 ? read_elf(fd, &head, ret, fail) : 0;
	else
		r = read_text(fd, ret, fail);
	return r ? r : move(ret, memory, path, fail);
}
