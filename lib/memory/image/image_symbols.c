// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/memory/image/image_symbols.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/vec.h"
#include "lib/memory/image/memory.h"
#include "lib/memory/image/note.h"

enum {
	TOKENS = 256,
	TOKEN_TABLE_MAX = 64 << 10,
	WINDOW = 4096,
	MARKED = 256,            /* names for each marker */
	IMAGE_MAX = 96 << 20,    /* of an image in which the table is searched */
	TOKEN_PLACES = 32 << 10, /* behind the digits, within so many bytes */
};

struct table {
	struct memory *memory;
	uint64_t names, offsets, base;
	uint32_t nr;
	uint16_t index[TOKENS];
	char tokens[TOKEN_TABLE_MAX + 1];
	/* The bytes of the names that were read last. */
	uint8_t window[WINDOW];
	uint64_t window_at;
};

static bool next_byte(struct table *table, uint8_t *ret)
{
	uint64_t start = table->names / WINDOW * WINDOW;

	if (table->window_at != start) {
		if (!memory_read(table->memory, start, table->window, WINDOW))
			return false;
		table->window_at = start;
	}
	*ret = table->window[table->names++ % WINDOW];
	return true;
}

/* A name is a number of tokens, and these; the first character that they make is the type. */
static bool next_name(struct table *table, char name[IMAGE_SYMBOL_NAME_MAX])
{
	uint8_t byte, more = 0;
	unsigned nr;
	size_t len = 0;

	if (!next_byte(table, &byte))
		return false;
	nr = byte;
	if (nr & 0x80) {
		if (!next_byte(table, &more))
			return false;
		nr = (nr & 0x7f) | (unsigned)more << 7;
	}
	for (unsigned i = 0; i < nr; i++) {
		const char *token;
		size_t token_len;

		if (!next_byte(table, &byte))
			return false;
		token = table->tokens + table->index[byte];
		token_len = strlen(token);
		if (token_len >= IMAGE_SYMBOL_NAME_MAX - len)
			return false;
		memcpy(name + len, token, token_len);
		len += token_len;
	}
	name[len] = '\0';
	return len > 1;
}

static bool find(struct table *table)
{
	uint64_t number, tokens, index, at;
	size_t len = TOKEN_TABLE_MAX;
	const char *note = table->memory->note;

	if (!note_symbol(note, "kallsyms_names", &table->names) || !note_symbol(note, "kallsyms_num_syms", &number) ||
	    !note_symbol(note, "kallsyms_token_table", &tokens) || !note_symbol(note, "kallsyms_token_index", &index) ||
	    !note_symbol(note, "kallsyms_offsets", &table->offsets))
		return false;
	if (!memory_u32(table->memory, number, &table->nr) || !table->nr || table->nr > IMAGE_SYMBOLS_MAX ||
	    !memory_read(table->memory, index, table->index, sizeof(table->index)))
		return false;
	/* Addresses that are relative to their places have no base. */
	if (note_symbol(note, "kallsyms_relative_base", &at) && !memory_u64(table->memory, at, &table->base))
		return false;
	/* What follows the tokens may be unmapped. */
	while (len && !memory_read(table->memory, tokens, table->tokens, len))
		len /= 2;
	return len > table->index[TOKENS - 1];
}

/*
 * Kernels before 6.0 do not say where the table is. It is found by its shape: scripts/kallsyms gives each digit a token
 * of its own, so their texts stand side by side, and behind all tokens stand their places. In front of the tokens stand
 * markers, the places of each 256th name, and in front of these the names, their number, the base and the addresses.
 */
static const char digits[] = "0\0001\0002\0003\0004\0005\0006\0007\0008\0009";

struct shape {
	struct table *table;
	uint8_t *image; /* a copy of the kernel's image */
	size_t len;
	uint64_t address; /* of its first byte */
};

static uint32_t image_u32(const struct shape *shape, size_t at)
{
	uint32_t value;

	memcpy(&value, shape->image + at, sizeof(value));
	return value;
}

/* Whether the places of the tokens stand here, when the digits stand at `digit`. */
static bool is_index(const struct shape *shape, size_t at, size_t digit)
{
	uint16_t *index = shape->table->index;
	size_t tokens;

	if (at + sizeof(shape->table->index) > shape->len)
		return false;
	memcpy(index, shape->image + at, sizeof(shape->table->index));
	if (index[0] || index['0'] > digit)
		return false;
	tokens = digit - index['0'];
	for (size_t i = 1; i < TOKENS; i++)
		if (index[i] <= index[i - 1] || tokens + index[i] >= at || shape->image[tokens + index[i] - 1])
			return false;
	return true;
}

/* Whether so many names that begin here end where the markers begin. */
static bool are_names(const struct shape *shape, size_t at, size_t markers, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		size_t nr_tokens = shape->image[at];

		if (at + 1 >= markers)
			return false;
		if (nr_tokens & 0x80)
			nr_tokens = (nr_tokens & 0x7f) + ((size_t)shape->image[++at] << 7);
		at += 1 + nr_tokens;
	}
	return at <= markers && markers - at < 16;
}

/* Finds the names in front of the tokens; then everything else has its place. */
static bool find_names(struct shape *shape, size_t tokens)
{
	size_t last = tokens & ~(size_t)3, first, nr_markers, names, least;
	uint32_t nr;

	/* Between the markers and the tokens there may be zeros. */
	while (last >= 4 && !image_u32(shape, last - 4))
		last -= 4;
	for (first = last;
	     first >= 8 && image_u32(shape, first - 4) && image_u32(shape, first - 8) < image_u32(shape, first - 4);)
		first -= 4;
	if (first < 8 || first == last)
		return false;
	first -= 4;
	nr_markers = (last - first) / 4;
	names = image_u32(shape, last - 4);
	if (names > first)
		return false;
	least = first - names > MARKED * IMAGE_SYMBOL_NAME_MAX ? first - names - MARKED * IMAGE_SYMBOL_NAME_MAX : 16;
	for (size_t at = (first - names) & ~(size_t)7; at >= least && at >= 16; at -= 8) {
		nr = image_u32(shape, at - 8);
		if (((size_t)nr + MARKED - 1) / MARKED != nr_markers || !are_names(shape, at, first, nr) ||
		    at - 16 < (size_t)nr * 4 + 8)
			continue;
		shape->table->nr = nr;
		shape->table->names = shape->address + at;
		shape->table->offsets = shape->address + at - 16 - (((size_t)nr * 4 + 7) & ~(size_t)7);
		memcpy(&shape->table->base, shape->image + at - 16, sizeof(shape->table->base));
		return true;
	}
	return false;
}

static bool find_shape(struct shape *shape)
{
	const uint8_t *at = shape->image, *end = shape->image + shape->len;

	while ((at = memmem(at, (size_t)(end - at), digits, sizeof(digits)))) {
		size_t digit = (size_t)(at++ - shape->image);

		for (size_t index = (digit + sizeof(digits) + 1) & ~(size_t)1; index < digit + TOKEN_PLACES;
		     index += 2) {
			size_t tokens;

			if (!is_index(shape, index, digit))
				continue;
			tokens = digit - shape->table->index['0'];
			memcpy(shape->table->tokens, shape->image + tokens, index - tokens);
			if (find_names(shape, tokens))
				return true;
		}
	}
	return false;
}

/* Copies what can be read of the kernel's image behind its beginning; the rest is zeros. */
static bool find_by_shape(struct table *table)
{
	struct shape shape = { .table = table, .len = IMAGE_MAX };
	bool found;

	if (!note_symbol(table->memory->note, "_stext", &shape.address))
		return false;
	shape.address &= ~(uint64_t)(WINDOW - 1);
	shape.image = calloc(1, shape.len);
	if (!shape.image)
		return false;
	for (size_t at = 0; at < shape.len; at += WINDOW)
		(void)memory_read(table->memory, shape.address + at, shape.image + at, WINDOW);
	found = find_shape(&shape);
	free(shape.image);
	return found;
}

static int read_names(struct table *table, struct image_symbols *symbols, struct fail *fail)
{
	char name[IMAGE_SYMBOL_NAME_MAX];

	symbols->items = calloc(table->nr, sizeof(*symbols->items));
	if (!symbols->items)
		return fail_memory(fail);
	while (symbols->nr < table->nr && next_name(table, name)) {
		symbols->items[symbols->nr].type = *name;
		symbols->items[symbols->nr].name = (uint32_t)symbols->names.len;
		if (!buf_add(&symbols->names, name + 1, strlen(name)))
			return fail_memory(fail);
		symbols->nr++;
	}
	return symbols->nr == table->nr ? 0 : fail_set(fail, -EBADMSG, "the kernel's table of symbols is damaged");
}

/*
 * Addresses have been written in these ways: relative to a base; on x86 before 6.15 the same, but those of variables of
 * each CPU as they are; since 7.0 relative to the place of the number itself.
 */
enum { RELATIVE, PER_CPU, OF_PLACE, ENCODINGS };

static uint64_t decode(const struct table *table, unsigned encoding, size_t at, int32_t offset)
{
	if (encoding == PER_CPU)
		return offset >= 0 ? (uint64_t)offset : table->base - 1 - (uint64_t)(int64_t)offset;
	if (encoding == OF_PLACE)
		return table->offsets + at * sizeof(offset) + (uint64_t)(int64_t)offset;
	return table->base + (uint32_t)offset;
}

/* The right way is the one that gives the address that VMCOREINFO has. */
static bool is_right(const struct table *table, const struct image_symbols *symbols, const int32_t *offsets,
		     unsigned encoding)
{
	uint64_t stext;

	if (!note_symbol(table->memory->note, "_stext", &stext))
		return false;
	for (size_t i = 0; i < symbols->nr; i++)
		if (decode(table, encoding, i, offsets[i]) == stext &&
		    !strcmp(image_symbol_name(symbols, &symbols->items[i]), "_stext"))
			return true;
	return false;
}

static int read_addresses(struct table *table, struct image_symbols *symbols, struct fail *fail)
{
	cleanup_free int32_t *offsets = calloc(symbols->nr, sizeof(*offsets));

	if (!offsets)
		return fail_memory(fail);
	if (!memory_read(table->memory, table->offsets, offsets, symbols->nr * sizeof(*offsets)))
		return fail_set(fail, -ENODATA, "the dump lacks addresses of the kernel's symbols");
	for (unsigned encoding = 0; encoding < ENCODINGS; encoding++) {
		if (!is_right(table, symbols, offsets, encoding))
			continue;
		for (size_t i = 0; i < symbols->nr; i++)
			symbols->items[i].address = decode(table, encoding, i, offsets[i]);
		return 0;
	}
	return fail_set(fail, -EBADMSG, "the addresses of the kernel's symbols are written in an unknown way");
}

int image_symbols_read(struct image_symbols *symbols, struct memory *memory, struct fail *fail)
{
	struct table *table = calloc(1, sizeof(*table));
	int r;

	*symbols = (struct image_symbols){ .names = BUF_INIT };
	if (!table)
		return fail_memory(fail);
	table->memory = memory;
	table->window_at = UINT64_MAX;
	if (find(table) || find_by_shape(table))
		r = read_names(table, symbols, fail);
	else
		r = fail_set(fail, -ENODATA,
			     "the kernel's symbols are not found in its memory: give its System.map with --symbols");
	if (!r)
		r = read_addresses(table, symbols, fail);
	free(table);
	return r;
}

void image_symbols_release(struct image_symbols *symbols)
{
	free(symbols->items);
	buf_release(&symbols->names);
}

bool image_symbol(const struct image_symbols *symbols, const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < symbols->nr; i++)
		if (!strcmp(image_symbol_name(symbols, &symbols->items[i]), name)) {
			*ret = symbols->items[i].address;
			return true;
		}
	return false;
}

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
