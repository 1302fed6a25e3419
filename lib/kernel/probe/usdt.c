// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/probe/usdt.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/probe/elf_symbol_internal.h"

int usdt_path(const char *name, char *path, struct fail *fail)
{
	static const char *const folders[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					       "/usr/bin",        "/sbin",          "/bin" };

	if (strchr(name, '/'))
		return realpath(name, path) ? 0 : fail_set(fail, -errno, "cannot find '%s': %s", name, strerror(errno));
	for (size_t i = 0; i < array_size(folders); i++) {
		cleanup_free char *whole = NULL;

		if (asprintf(&whole, "%s/%s", folders[i], name) < 0) {
			whole = NULL;
			return fail_memory(fail);
		}
		if (realpath(whole, path))
			return 0;
	}
	return fail_set(fail, -ENOENT, "there is no program '%s' in /usr/bin and the like: write its path", name);
}

/* The arguments. */

size_t usdt_argument(const char *arguments, size_t index, const char **ret)
{
	size_t nr = 0;

	*ret = "";
	while (*(arguments += strspn(arguments, " "))) {
		if (nr++ == index)
			*ret = arguments;
		/* Of arm64, "4@[sp, 60]", a blank is inside. */
		while (*arguments && *arguments != ' ') {
			if (*arguments == '[')
				arguments += strcspn(arguments, "]");
			arguments += *arguments != '\0';
		}
	}
	return nr;
}

/* The kernel's name of a register of x86-64, from any of its parts that begins with the lowest bit. */
static bool x86_register(const char *name, size_t len, char into[8])
{
	static const char *const old[] = { "ax", "bx", "cx", "dx", "si", "di", "bp", "sp" };

	if (len >= 2 && name[0] == 'r' && name[1] >= '0' && name[1] <= '9') {
		size_t digits = len > 2 && name[2] >= '0' && name[2] <= '9' ? 2 : 1;

		if (len > digits + 2 || (len == digits + 2 && !strchr("dwb", name[len - 1])))
			return false;
		snprintf(into, 8, "%.*s", (int)digits + 1, name);
		return true;
	}
	for (size_t i = 0; i < array_size(old); i++) {
		bool legacy = i < 4; /* al is the low byte of ax, sil that of si */
		char low[4];

		snprintf(low, sizeof(low), legacy ? "%.1sl" : "%sl", old[i]);
		if ((len == 2 && !memcmp(name, old[i], 2)) ||
		    (len == 3 && strchr("re", *name) && !memcmp(name + 1, old[i], 2)) ||
		    (len == strlen(low) && !memcmp(name, low, len))) {
			snprintf(into, 8, "%s", old[i]);
			return true;
		}
	}
	return false;
}

/* "%rax", "$-5", "-8(%rbp)", "(%rax)". */
static bool x86_operand(const char *at, size_t len, char into[64])
{
	const char *open = memchr(at, '(', len);
	int64_t number = 0;
	char name[8];

	if (*at == '$') {
		at++;
		if (!number_s64(&at, &number) || (*at && *at != ' '))
			return false;
		snprintf(into, 64, "\\%" PRId64, number);
		return true;
	}
	if (!open) {
		if (*at != '%' || !x86_register(at + 1, len - 1, name))
			return false;
		snprintf(into, 64, "%%%s", name);
		return true;
	}
	/* An index, or a symbol with its place relative to the code, has no form in the kernel. */
	if (len < 4 || at[len - 1] != ')' || open[1] != '%' ||
	    !x86_register(open + 2, (size_t)(at + len - 1 - (open + 2)), name))
		return false;
	if (open > at && (!number_s64(&at, &number) || at != open))
		return false;
	snprintf(into, 64, "%+" PRId64 "(%%%s)", number, name);
	return true;
}

/* "x0", "w3", "sp", a number, "[sp, 60]", "[x1]". */
static bool arm64_register(const char *at, size_t len, char into[8])
{
	if (len == 2 && !memcmp(at, "sp", 2)) {
		snprintf(into, 8, "sp");
		return true;
	}
	if (len < 2 || len > 3 || !strchr("xw", *at) || strspn(at + 1, "0123456789") < len - 1)
		return false;
	snprintf(into, 8, "x%.*s", (int)len - 1, at + 1);
	return true;
}

static bool arm64_operand(const char *at, size_t len, char into[64])
{
	size_t reg = *at == '[' ? strcspn(at + 1, ",]") : 0;
	int64_t number = 0;
	char name[8];

	if (*at == '-' || (*at >= '0' && *at <= '9')) {
		if (!number_s64(&at, &number) || (*at && *at != ' '))
			return false;
		snprintf(into, 64, "\\%" PRId64, number);
		return true;
	}
	if (*at != '[') {
		if (!arm64_register(at, len, name))
			return false;
		snprintf(into, 64, "%%%s", name);
		return true;
	}
	if (!arm64_register(at + 1, reg, name))
		return false;
	at += 1 + reg;
	if (*at == ',') {
		at += 1 + strspn(at + 1, " ");
		if (!number_s64(&at, &number) || *at != ']')
			return false;
	}
	snprintf(into, 64, "%+" PRId64 "(%%%s)", number, name);
	return true;
}

/* The "112(%rsp)" of "-4@112(%rsp)" as "+112(%sp)". Returns the size, 0: the kernel cannot fetch it. */
static int8_t fetch_one(const char *text, uint16_t machine, char into[64])
{
	int64_t size = 8;
	const char *at = text;
	size_t len;

	/* Without a size it is a word. */
	if (strchr(text, '@') && number_s64(&at, &size) && *at == '@')
		at++;
	else
		at = text;
	len = *at == '[' ? strcspn(at, "]") + 1 : strcspn(at, " ");
	if (!len ||
	    (size != 1 && size != 2 && size != 4 && size != 8 && size != -1 && size != -2 && size != -4 && size != -8))
		return 0;
	if (!(machine == EM_X86_64  ? x86_operand(at, len, into) :
	      machine == EM_AARCH64 ? arm64_operand(at, len, into) :
				      false))
		return 0;
	return (int8_t)size;
}

/* Whether it is no constant, or one that this size has room for. */
static bool has_room(const char *operand, int8_t size)
{
	int bits = (size < 0 ? -size : size) * 8;
	int64_t number;

	if (*operand++ != '\\' || bits == 64 || !number_s64(&operand, &number))
		return true;
	return number >= -(INT64_C(1) << (bits - 1)) && number < INT64_C(1) << bits;
}

static int8_t type_of(const struct usdt *usdt, uint16_t machine, size_t index)
{
	bool constant = true;
	char operand[64];
	const char *text;
	int8_t size = 0;

	for (size_t i = 0; i < usdt->nr_places; i++) {
		int8_t here;

		(void)usdt_argument(usdt->places[i].arguments, index, &text);
		here = fetch_one(text, machine, operand);
		if (!here || (!constant && *operand != '\\' && here != size))
			return 0;
		if (!i || (constant && *operand != '\\'))
			size = here;
		constant = constant && *operand == '\\';
	}
	for (size_t i = 0; i < usdt->nr_places; i++) {
		(void)usdt_argument(usdt->places[i].arguments, index, &text);
		if (!fetch_one(text, machine, operand) || !has_room(operand, size))
			return 0;
	}
	return size;
}

void usdt_types(const struct usdt *usdt, uint16_t machine, struct usdt_types *ret)
{
	for (size_t i = 0; i < USDT_ARGUMENTS_MAX; i++)
		ret->size[i] = type_of(usdt, machine, i);
}

bool usdt_fetch(const char *arguments, uint16_t machine, const struct usdt_types *types, struct buf *into)
{
	char operand[64];
	const char *text;

	for (size_t i = 0; i < USDT_ARGUMENTS_MAX; i++) {
		int size = types->size[i];

		(void)usdt_argument(arguments, i, &text);
		if (size && fetch_one(text, machine, operand) &&
		    !buf_addf(into, " arg%zu=%s:%c%d", i + 1, operand, size < 0 ? 's' : 'u',
			      (size < 0 ? -size : size) * 8))
			return false;
	}
	return true;
}

/* The notes. */

static bool next_text(struct bytes *bytes, const char **ret)
{
	const uint8_t *end = memchr(bytes->at, '\0', bytes->left);

	if (!end)
		return false;
	*ret = (const char *)bytes->at;
	bytes->left -= (size_t)(end + 1 - bytes->at);
	bytes->at = end + 1;
	return true;
}

bool usdt_note(const uint8_t *at, size_t len, bool is_64, bool swap, struct usdt_note *ret)
{
	struct bytes bytes = bytes_of(at, len, swap);
	uint64_t *const words[] = { &ret->pc, &ret->base, &ret->semaphore };

	*ret = (struct usdt_note){ .pc = 0 };
	for (size_t i = 0; i < array_size(words); i++) {
		uint32_t half = 0;

		if (is_64 ? !bytes_u64(&bytes, words[i]) : !bytes_u32(&bytes, &half))
			return false;
		if (!is_64)
			*words[i] = half;
	}
	return next_text(&bytes, &ret->provider) && next_text(&bytes, &ret->name) &&
	       next_text(&bytes, &ret->arguments) && *ret->name;
}

static bool offset_of(Elf *elf, uint64_t address, uint64_t *ret)
{
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*ret = address - segment.p_vaddr + segment.p_offset;
		return true;
	}
	return false;
}

static struct usdt *item_of(struct usdt_list *list, const struct usdt_note *note)
{
	struct usdt *item;

	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].name, note->name) && !strcmp(list->items[i].provider, note->provider))
			return &list->items[i];
	item = vec_push(list->items, list->nr);
	if (!item)
		return NULL;
	*item = (struct usdt){ .provider = strdup(note->provider), .name = strdup(note->name) };
	if (item->provider && item->name)
		return item;
	return NULL;
}

/* `moved` is how far the file's addresses were moved after the notes were made (prelink). */
static int add_note(struct usdt_list *list, Elf *elf, const struct usdt_note *note, uint64_t moved, struct fail *fail)
{
	struct usdt_place *place;
	uint64_t offset, semaphore = 0;
	struct usdt *item;

	if (!offset_of(elf, note->pc + moved, &offset))
		return 0;
	if (note->semaphore && !offset_of(elf, note->semaphore + moved, &semaphore))
		return 0;
	item = item_of(list, note);
	place = item && item->nr_places < USDT_MAX ? vec_push(item->places, item->nr_places) : NULL;
	if (!place)
		return fail_memory(fail);
	*place = (struct usdt_place){ .offset = offset, .semaphore = semaphore, .arguments = strdup(note->arguments) };
	return place->arguments ? 0 : fail_memory(fail);
}

static int read_notes(struct usdt_list *list, Elf *elf, Elf_Scn *section, uint64_t base, struct fail *fail)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const char *ident = elf_getident(elf, NULL);
	bool is_64 = ident && ident[EI_CLASS] == ELFCLASS64;
	bool swap = ident && (ident[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	size_t at = 0, name, desc, nr = 0;
	struct usdt_note note;
	GElf_Nhdr head;
	int r = 0;

	while (!r && data && nr < USDT_MAX && (at = gelf_getnote(data, at, &head, &name, &desc))) {
		if (head.n_type != 3 || head.n_namesz != sizeof("stapsdt") || name + head.n_namesz > data->d_size ||
		    memcmp((const char *)data->d_buf + name, "stapsdt", sizeof("stapsdt")) ||
		    desc + head.n_descsz > data->d_size ||
		    !usdt_note((const uint8_t *)data->d_buf + desc, head.n_descsz, is_64, swap, &note))
			continue;
		nr++;
		r = add_note(list, elf, &note, base ? base - note.base : 0, fail);
	}
	return r;
}

static int read_elf(struct usdt_list *list, Elf *elf, struct fail *fail)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Ehdr ehdr;
	uint64_t base = 0;
	size_t names;
	int r = 0;

	if (gelf_getehdr(elf, &ehdr))
		list->machine = ehdr.e_machine;
	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && !strcmp(name, ".stapsdt.base"))
			base = header.sh_addr;
	}
	while (!r && (section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && !strcmp(name, ".note.stapsdt") && header.sh_type == SHT_NOTE)
			r = read_notes(list, elf, section, base, fail);
	}
	return r;
}

int usdt_read(const char *path, struct usdt_list *ret, struct fail *fail)
{
	cleanup_fd int fd = -1;
	Elf *elf;
	int err = elf_symbol_open(path, &fd, &elf, fail);

	*ret = (struct usdt_list){ .nr = 0 };
	if (err)
		return err;
	err = read_elf(ret, elf, fail);
	elf_end(elf);
	if (err)
		usdt_list_release(ret);
	return err;
}

void usdt_list_release(struct usdt_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		for (size_t k = 0; k < list->items[i].nr_places; k++)
			free(list->items[i].places[k].arguments);
		free(list->items[i].places);
		free(list->items[i].provider);
		free(list->items[i].name);
	}
	free(list->items);
	*list = (struct usdt_list){ .nr = 0 };
}

int usdt_find(const struct usdt_list *list, const char *path, const char *name, const struct usdt **ret,
	      struct fail *fail)
{
	const char *colon = strchr(name, ':'), *last = colon ? colon + 1 : name;
	struct near near = near_to(last);

	*ret = NULL;
	for (size_t i = 0; i < list->nr; i++) {
		const struct usdt *item = &list->items[i];

		near_offer(&near, item->name);
		if (strcmp(item->name, last) ||
		    (colon && (strncmp(item->provider, name, (size_t)(colon - name)) || item->provider[colon - name])))
			continue;
		if (*ret)
			return fail_set(fail, -ENOTUNIQ, "'%s' has '%s' of '%s' and of '%s': write PROVIDER:NAME", path,
					last, (*ret)->provider, item->provider);
		*ret = item;
	}
	if (*ret)
		return 0;
	if (!list->nr)
		return fail_set(fail, -ENOENT, "'%s' has no USDT probes", path);
	return near_fail(&near, fail, -ENOENT, "'%s' has no USDT probe '%s'", path, name);
}
