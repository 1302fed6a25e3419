// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/probe/elf_functions.h"

#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/vec.h"
#ifdef WEFT_LIBIBERTY
#include <libiberty/demangle.h>
#endif

/* A name that is longer is cut: names of C++ templates have no limit. A mangled name may be longer than its text. */
enum { FUNCTIONS_MAX = 1 << 20, NAME_MAX_LEN = 511, MANGLED_MAX = 2048 };

/* Notes. */

struct note_place {
	uint64_t offset, size;
};

static bool copy_at(const struct elf_image *file, uint64_t at, void *into, size_t size)
{
	if (at > file->len || size > file->len - at)
		return false;
	memcpy(into, (const char *)file->data + at, size);
	return true;
}

static bool note_at(const struct elf_image *file, bool is_64, uint64_t at, struct note_place *ret)
{
	Elf64_Phdr large;
	Elf32_Phdr small;

	if (is_64 && copy_at(file, at, &large, sizeof(large)) && large.p_type == PT_NOTE)
		*ret = (struct note_place){ large.p_offset, large.p_filesz };
	else if (!is_64 && copy_at(file, at, &small, sizeof(small)) && small.p_type == PT_NOTE)
		*ret = (struct note_place){ small.p_offset, small.p_filesz };
	else
		return false;
	return true;
}

static bool find_id(const struct elf_image *file, struct note_place place, char into[BUILD_ID_TEXT])
{
	Elf64_Nhdr head; /* the same in files of 32 bits */
	char name[4];
	uint8_t id[(BUILD_ID_TEXT - 1) / 2];
	uint64_t at = place.offset, end = place.offset + place.size;

	while (end >= at && end - at >= sizeof(head) && copy_at(file, at, &head, sizeof(head))) {
		uint64_t text = at + sizeof(head), data = text + ((uint64_t)head.n_namesz + 3) / 4 * 4;

		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && copy_at(file, text, name, 4) &&
		    !memcmp(name, "GNU", 4) && head.n_descsz && head.n_descsz <= sizeof(id) &&
		    copy_at(file, data, id, head.n_descsz)) {
			for (size_t i = 0; i < head.n_descsz; i++) {
				into[2 * i] = "0123456789abcdef"[id[i] >> 4];
				into[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
			}
			into[2 * (size_t)head.n_descsz] = '\0';
			return true;
		}
		at = data + ((uint64_t)head.n_descsz + 3) / 4 * 4;
	}
	return false;
}

void elf_build_id(const struct elf_image *file, char into[BUILD_ID_TEXT])
{
	const uint8_t own = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
	Elf64_Ehdr large;
	Elf32_Ehdr small;
	struct note_place place;
	bool is_64;

	*into = '\0';
	if (!copy_at(file, 0, &small, sizeof(small)) || memcmp(small.e_ident, ELFMAG, SELFMAG) ||
	    small.e_ident[EI_DATA] != own)
		return;
	is_64 = small.e_ident[EI_CLASS] == ELFCLASS64;
	if (is_64 && !copy_at(file, 0, &large, sizeof(large)))
		return;
	for (size_t i = 0; i < (is_64 ? large.e_phnum : small.e_phnum); i++) {
		uint64_t at = is_64 ? large.e_phoff + i * sizeof(Elf64_Phdr) : small.e_phoff + i * sizeof(Elf32_Phdr);

		if (note_at(file, is_64, at, &place) && find_id(file, place, into))
			return;
	}
}

/* Functions. */

struct function {
	uint64_t start, size;
	uint64_t most;    /* without a size: to the end of its section */
	const char *name; /* in the image */
	uint8_t weak;
};

struct functions {
	struct function *at;
	size_t nr;
	const GElf_Phdr *segments;
	size_t nr_segments;
	bool failed;
};

/* The place in the file; *ret_left: from there to the end of the segment. */
static bool place_of(const struct functions *functions, uint64_t address, uint64_t *ret, uint64_t *ret_left)
{
	for (size_t i = 0; i < functions->nr_segments; i++) {
		const GElf_Phdr *segment = &functions->segments[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz)
			continue;
		*ret = address - segment->p_vaddr + segment->p_offset;
		*ret_left = segment->p_filesz - (address - segment->p_vaddr);
		return true;
	}
	return false;
}

/* How many bytes there are from an address to the end of its section. */
static uint64_t left_in_section(Elf *elf, const GElf_Sym *symbol)
{
	Elf_Scn *section = symbol->st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol->st_shndx) : NULL;
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header) || symbol->st_value < header.sh_addr ||
	    symbol->st_value - header.sh_addr > header.sh_size)
		return 0;
	return header.sh_size - (symbol->st_value - header.sh_addr);
}

static void add(struct functions *functions, Elf *elf, const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
	struct function function = { .size = symbol->st_size, .name = name };
	struct function *added;
	uint64_t left;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF || !*name ||
	    functions->nr >= FUNCTIONS_MAX || !place_of(functions, symbol->st_value, &function.start, &left))
		return;
	if (function.size > left)
		function.size = left;
	if (!function.size)
		function.most = left_in_section(elf, symbol);
	function.weak = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
	added = vec_push(functions->at, functions->nr);
	if (added)
		*added = function;
	else
		functions->failed = true;
}

static void add_all(struct functions *functions, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && header.sh_entsize && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (name)
				add(functions, elf, &symbol, name);
		}
	}
}

/* The first of several names for one place is the one that people know: write, not __write or __libc_write. */
static int compare(const void *a, const void *b)
{
	const struct function *one = a, *other = b;
	size_t left = strspn(one->name, "_"), right = strspn(other->name, "_");

	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	if (!one->size != !other->size)
		return one->size ? -1 : 1;
	if (left != right)
		return left < right ? -1 : 1;
	if (one->weak != other->weak)
		return one->weak < other->weak ? -1 : 1;
	left = strlen(one->name);
	right = strlen(other->name);
	return left != right ? (left < right ? -1 : 1) : strcmp(one->name, other->name);
}

/* A function of the assembler may have no size: it reaches to the next one of its section. */
static void give_sizes(struct functions *functions)
{
	size_t nr = 0;

	for (size_t i = 0; i < functions->nr; i++)
		if (!nr || functions->at[nr - 1].start != functions->at[i].start)
			functions->at[nr++] = functions->at[i];
	functions->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		struct function *function = &functions->at[i];
		uint64_t until = i + 1 < nr ? functions->at[i + 1].start - function->start : UINT64_MAX;

		if (!function->size)
			function->size = function->most;
		if (function->size > until)
			function->size = until;
	}
}

static char *readable(const char *name)
{
#ifdef WEFT_LIBIBERTY
	return strlen(name) <= MANGLED_MAX ? cplus_demangle(name, DMGL_AUTO) : NULL;
#else
	(void)name;
	return NULL;
#endif
}

static bool put(const struct function *function, struct buf *into)
{
	cleanup_free char *text = readable(function->name);
	const char *name = text ? text : function->name;
	size_t len = text ? strlen(name) : strcspn(name, "@"), from = into->len;

	if (len > NAME_MAX_LEN)
		len = NAME_MAX_LEN;
	if (!buf_addf(into, "%" PRIx64 " %" PRIx64 " ", function->start, function->size))
		return false;
	from = into->len;
	if (!buf_add(into, name, len) || !buf_add(into, "\n", 1))
		return false;
	for (size_t i = from; i + 1 < into->len; i++)
		if ((unsigned char)into->data[i] < ' ')
			into->data[i] = '?';
	return true;
}

/* NULL: it is no ELF file. */
static Elf *open_image(const struct elf_image *image)
{
	Elf *elf = image->data && image->len && elf_version(EV_CURRENT) != EV_NONE ?
			   elf_memory((char *)(uintptr_t)image->data, image->len) :
			   NULL;

	if (elf && elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return NULL;
	}
	return elf;
}

/* False: no memory. */
static bool read_segments(struct functions *functions, Elf *elf, GElf_Phdr **ret)
{
	size_t nr;

	if (elf_getphdrnum(elf, &nr) || nr > UINT16_MAX)
		nr = 0;
	*ret = calloc(nr + 1, sizeof(**ret));
	if (!*ret)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!gelf_getphdr(elf, (int)i, &(*ret)[i]))
			(*ret)[i].p_type = PT_NULL;
	functions->segments = *ret;
	functions->nr_segments = nr;
	return true;
}

bool elf_functions_put(const struct elf_image *file, const struct elf_image *debug, size_t most, struct buf *into,
		       bool *ret_cut)
{
	struct functions functions = { .nr = 0 };
	cleanup_free GElf_Phdr *segments = NULL;
	Elf *elf = open_image(file), *other = open_image(debug);
	size_t from = into->len;
	bool ok = true;

	*ret_cut = false;
	if (elf && (ok = read_segments(&functions, elf, &segments))) {
		add_all(&functions, elf);
		if (other)
			add_all(&functions, other);
		if (functions.nr)
			qsort(functions.at, functions.nr, sizeof(*functions.at), compare);
		give_sizes(&functions);
		*ret_cut = functions.nr >= FUNCTIONS_MAX;
		for (size_t i = 0; ok && i < functions.nr; i++) {
			if (into->len - from > most) {
				*ret_cut = true;
				break;
			}
			ok = put(&functions.at[i], into);
		}
	}
	free(functions.at);
	if (other)
		elf_end(other);
	if (elf)
		elf_end(elf);
	return ok && !functions.failed;
}
