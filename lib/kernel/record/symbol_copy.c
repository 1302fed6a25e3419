// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/symbol_copy_internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/tracefs/settings.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/pages/codec/frame.h"

enum { SYMBOLS_MAX = 1 << 30 };

struct symbol_copy {
	struct ledger *ledger;
	pthread_t thread;
	bool joined;
	struct buf modules; /* the list of modules before kallsyms was read */
	bool hidden;
	int err;
	struct fail fail;
};

/* Reads names and addresses of the modules, without the use counts, which change often. */
static int read_modules(struct buf *buf, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;

	/* A kernel without modules does not have this file. */
	if (tracing_read_path("/proc/modules", &text, NULL))
		return 0;
	at = buf_str(&text);
	left = text.len;
	while (text_next_line(&at, &left, &line)) {
		const char *word = line.at, *end = line.at + line.len;

		for (int field = 0; word < end; field++) {
			const char *blank = memchr(word, ' ', (size_t)(end - word));
			const char *stop = blank ? blank : end;

			if ((field == 0 || field == 5) && !buf_addf(buf, "%.*s ", (int)(stop - word), word))
				return fail_memory(fail);
			word = stop + 1;
		}
	}
	return 0;
}

int symbol_copy_compress(struct buf *body, bool swap, struct symbol_copy_item *ret, struct fail *fail)
{
	struct frame_writer *writer;
	uint32_t text_len = (uint32_t)(body->len - SYMBOL_COPY_HEAD);
	size_t size = frame_bound(body->len), len;
	cleanup_free char *frame = malloc(size);
	int err =
		body->len > SYMBOLS_MAX ?
			fail_set(fail, -EFBIG, "%zu bytes of kernel symbols are more than any kernel has", body->len) :
		frame ? frame_writer_new(FRAME_LEVEL_DEFAULT, &writer, fail) :
			fail_memory(fail);

	if (err)
		return err;
	text_len = load_u32(&text_len, swap);
	memcpy(body->data, &text_len, SYMBOL_COPY_HEAD);
	frame_writer_checksum(writer);
	err = frame_write(writer, body->data, body->len, frame, size, &len, fail);
	frame_writer_free(writer);
	if (err)
		return err;
	snprintf(ret->key, sizeof(ret->key), "%zu", body->len);
	ret->frame = take(frame);
	ret->len = len;
	return 0;
}

/* Adds it in the form that the file will have, so that it is not compressed again at the end. */
static int add_compressed(struct ledger *ledger, struct buf *body, struct fail *fail)
{
	struct symbol_copy_item made;
	/* The parts are in the byte order of the traced kernel, which this machine has. */
	int err = symbol_copy_compress(body, false, &made, fail);

	if (err)
		return err;
	err = ledger_add(ledger,
			 &(struct ledger_item){
				 .kind = LEDGER_KALLSYMS, .key = made.key, .data = made.frame, .len = made.len },
			 fail);
	free(made.frame);
	return err;
}

/*
 * Reads 8 bytes of the running kernel's memory. /proc/kcore lists its segments as an ELF core does (fs/proc/kcore.c). A
 * kernel that is locked down, or has no such file, tells nothing.
 */
static bool read_kernel_u64(uint64_t address, uint64_t *ret)
{
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	bool found = false;

	if (fd < 0)
		return false;
	if (pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) && head.e_ident[EI_CLASS] == ELFCLASS64)
		for (unsigned i = 0; !found && i < head.e_phnum; i++) {
			off_t at = (off_t)(head.e_phoff + i * sizeof(segment));

			if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
				break;
			if (segment.p_type != PT_LOAD || segment.p_memsz < sizeof(*ret) || address < segment.p_vaddr ||
			    address - segment.p_vaddr > segment.p_memsz - sizeof(*ret))
				continue;
			at = (off_t)(segment.p_offset + (address - segment.p_vaddr));
			found = pread(fd, ret, sizeof(*ret), at) == (ssize_t)sizeof(*ret);
		}
	close(fd);
	return found;
}

/*
 * Where the array of struct page begins: events print the address of a page and have only its number. On x86-64 it is
 * the variable vmemmap_base (arch/x86/include/asm/pgtable_64_types.h), whose value no file of tracefs has.
 */
static int add_page_array(struct ledger *ledger, const struct buf *symbols, struct fail *fail)
{
	uint64_t address, array;
	char text[20];

	if (!settings_symbol(symbols, NULL, "vmemmap_base", &address) || !address ||
	    !read_kernel_u64(address, &array) || !array)
		return 0;
	snprintf(text, sizeof(text), "%" PRIx64, array);
	return ledger_add(ledger,
			  &(struct ledger_item){
				  .kind = LEDGER_SETTING, .key = "weft/page_array", .data = text, .len = strlen(text) },
			  fail);
}

static int save(struct symbol_copy *symbols, struct fail *fail)
{
	cleanup_buf struct buf body = BUF_INIT;
	uint32_t len = 0;
	int err;

	buf_clear(&symbols->modules);
	if (!buf_add(&body, &len, sizeof(len)))
		return fail_memory(fail);
	err = read_modules(&symbols->modules, fail);
	if (!err)
		err = settings_kallsyms(&body, &symbols->hidden, fail);
	if (err || body.len == sizeof(len))
		return err;
	err = add_page_array(symbols->ledger, &body, fail);
	return err ? err : add_compressed(symbols->ledger, &body, fail);
}

static void *symbol_copy_main(void *data)
{
	struct symbol_copy *symbols = data;

	symbols->err = save(symbols, &symbols->fail);
	return NULL;
}

int symbol_copy_start(struct ledger *ledger, struct symbol_copy **ret, struct fail *fail)
{
	struct symbol_copy *symbols = calloc(1, sizeof(*symbols));
	int err;

	if (!symbols)
		return fail_memory(fail);
	symbols->ledger = ledger;
	err = pthread_create(&symbols->thread, NULL, symbol_copy_main, symbols);
	if (err) {
		free(symbols);
		return fail_set(fail, -err, "cannot start a thread: %s", strerror(err));
	}
	*ret = symbols;
	return 0;
}

int symbol_copy_wait(struct symbol_copy *symbols, struct fail *fail)
{
	if (!symbols->joined)
		pthread_join(symbols->thread, NULL);
	symbols->joined = true;
	return symbols->err ? fail_set(fail, symbols->err, "%s", symbols->fail.text) : 0;
}

static int refresh(struct symbol_copy *symbols, struct fail *fail)
{
	cleanup_buf struct buf now = BUF_INIT;
	int err = read_modules(&now, fail);

	if (err || (now.len == symbols->modules.len && !memcmp(buf_str(&now), buf_str(&symbols->modules), now.len)))
		return err;
	return save(symbols, fail);
}

int symbol_copy_finish(struct symbol_copy *symbols, bool *ret_hidden, struct fail *fail)
{
	int err;

	if (!symbols)
		return 0;
	err = symbol_copy_wait(symbols, fail);
	if (!err)
		err = refresh(symbols, fail);
	*ret_hidden = symbols->hidden;
	buf_release(&symbols->modules);
	free(symbols);
	return err;
}

static int unpack(const struct ledger_item *item, char *into, size_t size, struct fail *fail)
{
	struct frame_reader *reader;
	int err = frame_reader_new(&reader, fail);

	if (err)
		return err;
	err = frame_read(reader, item->data, item->len, into, size, fail);
	frame_reader_free(reader);
	return err ? fail_in(fail, err, "symbols") : 0;
}

int symbol_copy_load(const struct ledger *ledger, bool compressed, struct symbol_body *ret, struct fail *fail)
{
	const struct ledger_item *item = ledger_find(ledger, LEDGER_KALLSYMS, 0, NULL);
	uint64_t claimed;
	size_t size;
	int err;

	if (!item)
		return 0;
	err = text_parse_range(item->key, sizeof(uint32_t) + 1, SYMBOLS_MAX, &claimed, fail);
	if (err)
		return err;
	size = (size_t)claimed;
	if (compressed) {
		ret->frame = item->data;
		ret->frame_len = item->len;
		ret->size = (size_t)size;
		return 0;
	}
	if (!buf_reserve(&ret->text, size))
		return fail_memory(fail);
	err = unpack(item, ret->text.data, size, fail);
	if (err)
		return err;
	ret->text.len = size - sizeof(uint32_t);
	memmove(ret->text.data, ret->text.data + sizeof(uint32_t), ret->text.len);
	return 0;
}
