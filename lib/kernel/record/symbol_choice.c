// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/symbol_choice_internal.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/kernel/record/assembly_piece_internal.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/spool.h"
#include "lib/kernel/record/symbol_copy_internal.h"
#include "lib/meaning/names/functions.h"
#include "lib/meaning/names/maps.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/names/unwind.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/ring/page.h"

/*
 * If the pages are more than this many times as large as the symbols, the symbols are less than a third of the file,
 * and all are kept.
 */
enum { LITTLE_BESIDE = 2 };

struct choice {
	const struct parts *parts;
	struct symbol_subset *subset;       /* or */
	struct functions_subset *functions; /* of which the pages are searched for addresses */
	struct frame_reader *reader;
	struct buf packed, pages;
};

static void choice_release(struct choice *choice)
{
	symbol_subset_free(choice->subset);
	functions_subset_free(choice->functions);
	frame_reader_free(choice->reader);
	buf_release(&choice->packed);
	buf_release(&choice->pages);
}

static bool is_wanted(const struct parts *parts, const struct assembly_piece *pieces, size_t nr, uint64_t symbols)
{
	const struct ledger_item *item = ledger_find(parts->ledger, LEDGER_SETTING, 0, SYMBOL_CHOICE_SETTING);
	uint64_t size = 0;

	if (!symbols || (item && !strcmp(item->data, SYMBOL_CHOICE_ALL)))
		return false;
	for (size_t i = 0; i < nr; i++) {
		size += pieces[i].size;
		item = ledger_find(parts->ledger, LEDGER_SETTING, pieces[i].buffer, "last_boot_info");
		if (item && item->len)
			return false;
	}
	return nr && size / LITTLE_BESIDE < symbols;
}

static int read_at(const struct assembly_piece *piece, uint64_t at, void *into, size_t len, struct fail *fail)
{
	ssize_t got = pread(piece->fd, into, len, (off_t)(piece->offset + at));

	if (got == (ssize_t)len)
		return 0;
	return fail_set(fail, got < 0 ? -errno : -EBADMSG, "cannot read a spool back: %s",
			got < 0 ? strerror(errno) : "it ends early");
}

static void see_pages(struct choice *choice, const struct page_shape *shape, size_t len)
{
	const uint8_t *data = (const uint8_t *)choice->pages.data;

	if (choice->subset)
		symbol_subset_pages(choice->subset, shape, data, len);
	else
		functions_subset_pages(choice->functions, shape, data, len);
}

/* Reads one chunk, or a run of raw pages. *ret_len: its bytes in the piece. */
static int see_chunk(struct choice *choice, const struct assembly_piece *piece, const struct page_shape *shape,
		     uint64_t at, uint64_t *ret_len, struct fail *fail)
{
	uint64_t left = piece->size - at, max = (uint64_t)shape->size * SPOOL_CHUNK_PAGES;
	size_t len = (size_t)(left < max ? left : max);
	uint32_t packed, size;
	uint8_t head[SPOOL_CHUNK_HEAD];
	int err;

	buf_clear(&choice->pages);
	buf_clear(&choice->packed);
	*ret_len = len;
	if (!choice->parts->file.options.compress) {
		if (!buf_reserve(&choice->pages, len))
			return fail_memory(fail);
		err = read_at(piece, at, choice->pages.data, len, fail);
		if (!err)
			see_pages(choice, shape, len);
		return err;
	}
	err = read_at(piece, at, head, sizeof(head), fail);
	if (err)
		return err;
	packed = load_u32(head, choice->parts->file.swap);
	size = load_u32(head + 4, choice->parts->file.swap);
	if (packed > left - sizeof(head) || size > max)
		return fail_set(fail, -EBADMSG, "a spool was changed while it was recorded");
	if (!buf_reserve(&choice->packed, packed) || !buf_reserve(&choice->pages, size))
		return fail_memory(fail);
	err = read_at(piece, at + sizeof(head), choice->packed.data, packed, fail);
	if (!err)
		err = frame_read(choice->reader, choice->packed.data, packed, choice->pages.data, size, fail);
	if (!err)
		see_pages(choice, shape, size);
	*ret_len = sizeof(head) + packed;
	return err;
}

static int see_piece(struct choice *choice, const struct assembly_piece *piece, struct fail *fail)
{
	const struct ledger_item *item = ledger_find(choice->parts->ledger, LEDGER_BUFFER, piece->buffer, NULL);
	/* The pages are of this machine's kernel. Only the headers of chunks may be in another byte order. */
	struct page_shape shape = { .size = choice->parts->file.options.page_size,
				    .long_size = choice->parts->file.options.long_size };
	const char *clock;
	uint64_t len;
	int err = item ? parts_buffer(item, &shape.size, &clock, fail) : 0;

	for (uint64_t at = 0; !err && at < piece->size; at += len) {
		/* A torn end is also left out of the file. */
		if (piece->size - at < SPOOL_CHUNK_HEAD)
			break;
		err = see_chunk(choice, piece, &shape, at, &len, fail);
	}
	return err;
}

static int see_ledger(struct choice *choice, struct fail *fail)
{
	const struct ledger_item *item;
	int err = 0;

	for (size_t i = 0; !err && (item = ledger_at(choice->parts->ledger, i)); i++) {
		if (item->kind == LEDGER_FORMAT)
			err = symbol_subset_format(choice->subset, item->data, item->len, fail);
		else if ((item->kind == LEDGER_SETTING && strcmp(item->key, SETTING_FUNCTIONS) != 0 &&
			  strcmp(item->key, SETTING_UNWIND) != 0) ||
			 item->kind == LEDGER_LATENCY)
			symbol_subset_text(choice->subset, item->data, item->len);
	}
	return err;
}

/* Chooses from `text`, which has all symbols. *ret stays empty if the choice cannot be made. */
static int choose(struct choice *choice, const struct assembly_piece *pieces, size_t nr, const struct buf *text,
		  struct buf *ret, struct fail *fail)
{
	int err =
		symbol_subset_new(text->data, text->len, choice->parts->file.options.long_size, &choice->subset, fail);

	if (err || !choice->subset)
		return err;
	err = frame_reader_new(&choice->reader, fail);
	if (!err)
		err = see_ledger(choice, fail);
	for (size_t i = 0; !err && i < nr; i++)
		err = see_piece(choice, &pieces[i], fail);
	return err ? err : symbol_subset_take(choice->subset, ret, fail);
}

int symbol_choice_keep_all(struct ledger *ledger, struct fail *fail)
{
	return ledger_add(ledger,
			  &(struct ledger_item){ .kind = LEDGER_SETTING,
						 .key = SYMBOL_CHOICE_SETTING,
						 .data = SYMBOL_CHOICE_ALL,
						 .len = strlen(SYMBOL_CHOICE_ALL) },
			  fail);
}

int symbol_choice_load(const struct parts *parts, const struct assembly_piece *pieces, size_t nr,
		       struct symbol_body *ret, bool *ret_chosen, struct fail *fail)
{
	struct choice choice = { .parts = parts, .packed = BUF_INIT, .pages = BUF_INIT };
	struct symbol_body all = { .text = BUF_INIT };
	struct buf chosen = BUF_INIT;
	int err = symbol_copy_load(parts->ledger, parts->file.options.compress, ret, fail);

	if (err || !is_wanted(parts, pieces, nr, parts->file.options.compress ? ret->frame_len : ret->text.len))
		return err;
	err = symbol_copy_load(parts->ledger, false, &all, fail);
	if (!err)
		err = choose(&choice, pieces, nr, &all.text, &chosen, fail);
	choice_release(&choice);
	buf_release(&all.text);
	if (err || !chosen.len) {
		buf_release(&chosen);
		return err;
	}
	buf_release(&ret->text);
	*ret = (struct symbol_body){ .text = chosen };
	*ret_chosen = true;
	return 0;
}

static int see_maps(struct choice *choice, struct fail *fail)
{
	const struct ledger_item *item;
	int err = 0;

	for (size_t i = 0; !err && (item = ledger_at(choice->parts->ledger, i)); i++)
		if (item->kind == LEDGER_SETTING &&
		    (!strncmp(item->key, "proc/", 5) || !strcmp(item->key, SETTING_MAPS)))
			err = functions_subset_maps(choice->functions, item->data, item->len, fail);
	return err;
}

int symbol_choice_functions(const struct parts *parts, const char *setting, const struct assembly_piece *pieces,
			    size_t nr, struct buf *ret, struct fail *fail)
{
	const struct ledger_item *item = ledger_find(parts->ledger, LEDGER_SETTING, 0, setting);
	struct choice choice = { .parts = parts, .packed = BUF_INIT, .pages = BUF_INIT };
	int err;

	if (!item || !is_wanted(parts, pieces, nr, item->len))
		return 0;
	err = functions_subset_new(item->data, item->len, &choice.functions, fail);
	if (!err)
		err = frame_reader_new(&choice.reader, fail);
	if (!err)
		err = see_maps(&choice, fail);
	for (size_t i = 0; !err && i < nr; i++)
		err = see_piece(&choice, &pieces[i], fail);
	if (!err)
		err = functions_subset_take(choice.functions, ret, fail);
	/* None of them is needed: an empty text would keep all. */
	if (!err && !ret->len && !buf_add(ret, "\n", 1))
		err = fail_memory(fail);
	choice_release(&choice);
	return err;
}
