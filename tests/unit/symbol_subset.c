// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/meaning/names/kallsyms_internal.h"
#include "lib/meaning/names/symbol.h"
#include "lib/meaning/names/symbols.h"
#include "lib/pages/ring/page.h"

enum { FUNCTIONS = 400, SEEN = 40 };

static const struct page_shape shape = { .size = 4096, .long_size = 8 };

/* The kernel's functions, then a module's functions and data, of odd sizes. */
static void make_text(struct buf *text)
{
	uint64_t address = 0xffffffff81000000;

	CHECK(buf_addf(text, "0000000000001000 A percpu\n%016" PRIx64 " T _text\n%016" PRIx64 " T _stext\n", address,
		       address));
	for (unsigned i = 0; i < FUNCTIONS; i++, address += 16 + i * 7 % 200)
		CHECK(buf_addf(text, "%016" PRIx64 " %c function_%u\n", address, i % 9 ? 't' : 'd', i));
	CHECK(buf_addf(text, "%016" PRIx64 " B _end\n", address));
	for (unsigned i = 0; i < FUNCTIONS; i++)
		CHECK(buf_addf(text, "%016" PRIx64 " %c in_mod_%u\t[mod]\n", 0xffffffffa0000000 + i * 1024,
			       i % 2 ? 't' : 'd', i));
}

/* A page without events whose bytes have the addresses at odd offsets: the selection does not depend on records. */
static void see(struct symbol_subset *subset, const uint64_t *addresses, size_t nr)
{
	uint8_t page[4096] = { 0 };
	uint64_t commit = 4080;

	memcpy(page + 8, &commit, sizeof(commit));
	for (size_t i = 0; i < nr; i++)
		memcpy(page + 17 + i * 11, &addresses[i], sizeof(addresses[i]));
	symbol_subset_pages(subset, &shape, page, sizeof(page));
}

static bool find(const struct kallsyms *kallsyms, uint64_t address, struct symbol *ret)
{
	uint32_t index;

	if (!kallsyms_find(kallsyms, address, &index))
		return false;
	kallsyms_symbol(kallsyms, index, ret);
	return true;
}

static bool same(const struct symbol *a, const struct symbol *b)
{
	return a->address == b->address && a->size == b->size && a->name_len == b->name_len &&
	       !memcmp(a->name, b->name, a->name_len) && a->module_len == b->module_len;
}

/* Whether both give the same symbol. With `may_lack` the second may have none. */
static bool agree(const struct kallsyms *all, const struct kallsyms *some, uint64_t address, bool may_lack)
{
	struct symbol a, b;
	bool in_all = find(all, address, &a), in_some = find(some, address, &b);

	return (in_all && in_some && same(&a, &b)) || (!in_all && !in_some) || (may_lack && !in_some);
}

TEST(a_subset_of_symbols_tells_the_same_of_what_it_saw_and_nothing_else_of_the_rest)
{
	struct buf text = BUF_INIT, chosen = BUF_INIT;
	struct symbol_subset *subset;
	struct kallsyms all, some;
	uint64_t seen[SEEN];

	make_text(&text);
	srand(7);
	for (size_t i = 0; i < SEEN; i++)
		seen[i] = (i % 3 ? 0xffffffff81000000 + (uint64_t)rand() % 0xb000 :
				   0xffffffffa0000000 + (uint64_t)rand() % 0x70000);
	REQUIRE(!symbol_subset_new(text.data, text.len, 8, &subset, NULL) && subset);
	see(subset, seen, SEEN);
	REQUIRE(!symbol_subset_take(subset, &chosen, NULL));
	symbol_subset_free(subset);
	CHECK(chosen.len < text.len / 2);
	REQUIRE(kallsyms_read(&all, text.data, text.len) && kallsyms_read(&some, chosen.data, chosen.len));
	for (size_t i = 0; i < SEEN; i++)
		CHECK(agree(&all, &some, seen[i], false) && agree(&all, &some, seen[i] - 1, false));
	for (uint64_t offset = 0; offset < 0xc000; offset++)
		if (!CHECK(agree(&all, &some, 0xffffffff81000000 + offset, true)))
			break;
	for (uint64_t offset = 0; offset < 0x70000; offset += 3)
		if (!CHECK(agree(&all, &some, 0xffffffffa0000000 + offset, true)))
			break;
	kallsyms_release(&all);
	kallsyms_release(&some);
	buf_release(&text);
	buf_release(&chosen);
}

TEST(a_subset_of_symbols_has_the_names_that_print_fmts_ask_for)
{
	struct buf text = BUF_INIT, chosen = BUF_INIT;
	struct symbol_subset *subset;
	struct kallsyms some;
	uint64_t stext = 0, end = 0;

	make_text(&text);
	REQUIRE(!symbol_subset_new(text.data, text.len, 8, &subset, NULL) && subset);
	REQUIRE(!symbol_subset_take(subset, &chosen, NULL));
	symbol_subset_free(subset);
	REQUIRE(kallsyms_read(&some, chosen.data, chosen.len));
	CHECK(kallsyms_address(&some, "_stext", &stext) && stext == 0xffffffff81000000);
	CHECK(kallsyms_address(&some, "_end", &end) && end > stext);
	kallsyms_release(&some);
	buf_release(&text);
	buf_release(&chosen);
}

TEST(a_subset_of_symbols_follows_offsets_of_events_that_count_from_stext)
{
	static const char format[] =
		"name: irq_disable\nID: 77\nprint fmt: \"caller=%pS\", (void *)((unsigned long)(_stext) + REC->offs)";
	uint8_t page[4096] = { 0 };
	uint64_t commit = 16;
	uint32_t head = record_head(3, 0), offset = 0x4321;
	uint16_t type = 77;
	struct buf text = BUF_INIT, chosen = BUF_INIT;
	struct symbol_subset *subset;
	struct kallsyms all, some;

	make_text(&text);
	memcpy(page + 8, &commit, sizeof(commit));
	memcpy(page + 16, &head, sizeof(head));
	memcpy(page + 20, &type, sizeof(type));
	memcpy(page + 28, &offset, sizeof(offset));
	REQUIRE(!symbol_subset_new(text.data, text.len, 8, &subset, NULL) && subset);
	REQUIRE(!symbol_subset_format(subset, format, strlen(format), NULL));
	symbol_subset_pages(subset, &shape, page, sizeof(page));
	REQUIRE(!symbol_subset_take(subset, &chosen, NULL));
	symbol_subset_free(subset);
	REQUIRE(kallsyms_read(&all, text.data, text.len) && kallsyms_read(&some, chosen.data, chosen.len));
	CHECK(agree(&all, &some, 0xffffffff81000000 + offset, false));
	kallsyms_release(&all);
	kallsyms_release(&some);
	buf_release(&text);
	buf_release(&chosen);
}

TEST(a_text_without_addresses_is_no_ground_to_choose_symbols_by)
{
	static const char hidden[] = "0000000000000000 T _stext\n0000000000000000 t first\n";
	struct symbol_subset *subset = (struct symbol_subset *)1;

	CHECK(!symbol_subset_new(hidden, strlen(hidden), 8, &subset, NULL) && !subset);
}
