// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/memory/crash/crash_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/memory/dump/dump.h"
#include "lib/memory/image/image_symbols.h"
#include "lib/memory/image/note.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/writer.h"

enum {
	PAGE = 4096,
	BTF_HEAD = 24,
	BTF_LEAST = 1 << 20, /* bytes of types: a module has fewer */
	BTF_MAX = 64 << 20,
	IMAGE_PAGES = (96 << 20) / PAGE,
};

/* Where type information begins here, and how long it is (struct btf_header of include/uapi/linux/btf.h). */
static bool is_btf(const uint8_t *at, size_t *ret_len)
{
	uint32_t words[6];

	memcpy(words, at, sizeof(words));
	if (words[0] != 0x0001eb9f || words[1] != sizeof(words) || words[2] || words[3] < BTF_LEAST ||
	    words[4] != words[3] || words[3] > BTF_MAX || words[5] > BTF_MAX)
		return false;
	*ret_len = sizeof(words) + words[4] + words[5];
	return true;
}

/* Where the kernel has no symbols for it, it is searched behind the beginning of the kernel. */
static bool search_btf(struct crash *crash, uint64_t *ret, size_t *ret_len)
{
	uint8_t page[PAGE + BTF_HEAD];
	uint64_t text;

	if (!note_symbol(crash->memory.note, "_stext", &text))
		return false;
	text &= ~(uint64_t)(PAGE - 1);
	for (size_t i = 0; i < IMAGE_PAGES; i++, text += PAGE) {
		if (!memory_read(&crash->memory, text, page, sizeof(page)))
			continue;
		for (size_t at = 0; at < PAGE; at += 4)
			if (is_btf(page + at, ret_len)) {
				*ret = text + at;
				return true;
			}
	}
	return false;
}

static bool find_btf(struct crash *crash, uint64_t *ret, size_t *ret_len)
{
	uint64_t to;

	if (!crash_symbol(crash, "__start_BTF", ret) || !crash_symbol(crash, "__stop_BTF", &to) || to <= *ret ||
	    to - *ret > BTF_MAX)
		return search_btf(crash, ret, ret_len);
	*ret_len = (size_t)(to - *ret);
	return true;
}

static int read_btf(struct crash *crash, const void *btf, size_t btf_len, struct fail *fail)
{
	uint64_t from;
	size_t len;

	if (btf)
		return btf_open(&crash->btf, btf, btf_len, fail);
	if (!find_btf(crash, &from, &len))
		return fail_set(
			fail, -ENODATA,
			"its memory has no type information (CONFIG_DEBUG_INFO_BTF): give a copy of that kernel's "
			"/sys/kernel/btf/vmlinux with --btf");
	crash->btf_bytes = malloc(len);
	if (!crash->btf_bytes)
		return fail_memory(fail);
	if (!memory_read(&crash->memory, from, crash->btf_bytes, len))
		return fail_set(fail, -ENODATA,
				"the dump lacks a part of the kernel's type information: give a copy of "
				"/sys/kernel/btf/vmlinux with --btf");
	return btf_open(&crash->btf, crash->btf_bytes, len, fail);
}

/* The kernel's own table, and a file of symbols if one was given; either is enough. */
static int read_symbols(struct crash *crash, const struct crash_help *help, struct fail *fail)
{
	bool given = help->symbols >= 0;
	int r = given ? symbol_file_read(help->symbols, help->symbols_path, &crash->memory, &crash->given, fail) : 0;

	if (r)
		return r;
	r = image_symbols_read(&crash->symbols, &crash->memory, given ? NULL : fail);
	if (r && given) {
		image_symbols_release(&crash->symbols);
		crash->symbols = (struct image_symbols){ .names = BUF_INIT };
		return 0;
	}
	return r;
}

int crash_open(struct dump *dump, const struct crash_help *help, struct crash **ret, struct fail *fail)
{
	static const struct crash_help none = { .symbols = -1 };
	struct crash *crash = calloc(1, sizeof(*crash));
	int r;

	if (!crash)
		return fail_memory(fail);
	if (!help)
		help = &none;
	crash->given.names = (struct buf)BUF_INIT;
	crash->facts.live = dump_is_live(dump);
	r = memory_init(&crash->memory, dump, fail);
	if (!r)
		r = read_symbols(crash, help, fail);
	if (!r)
		r = read_btf(crash, help->btf, help->btf_len, fail);
	if (!r)
		r = crash_layout_find(crash, fail);
	if (!r) {
		crash_search(crash);
		r = crash_rings_read(crash, fail);
	}
	if (r) {
		crash_free(crash);
		return r;
	}
	crash->facts.symbols = crash->symbols.nr ? crash->symbols.nr : crash->given.nr;
	crash_facts_read(crash);
	*ret = crash;
	return 0;
}

void crash_free(struct crash *crash)
{
	if (!crash)
		return;
	for (size_t i = 0; i < crash->nr_rings; i++) {
		for (size_t j = 0; j < crash->rings[i].nr_cpus; j++)
			free(crash->rings[i].cpus[j].pages);
		free(crash->rings[i].cpus);
		free(crash->rings[i].name);
	}
	for (size_t i = 0; i < crash->nr_formats; i++) {
		free((char *)(uintptr_t)crash->formats[i].system);
		free((char *)(uintptr_t)crash->formats[i].text);
	}
	free(crash->rings);
	free(crash->formats);
	buf_release(&crash->names);
	buf_release(&crash->printk);
	buf_release(&crash->kallsyms);
	buf_release(&crash->version_text);
	btf_release(&crash->btf);
	free(crash->btf_bytes);
	image_symbols_release(&crash->symbols);
	image_symbols_release(&crash->given);
	memory_release(&crash->memory);
	free(crash);
}

void crash_facts(const struct crash *crash, struct crash_facts *ret)
{
	*ret = crash->facts;
}

bool crash_buffer_at(const struct crash *crash, size_t index, struct crash_buffer *ret)
{
	if (index >= crash->nr_rings)
		return false;
	*ret = crash->rings[index].sum;
	ret->name = crash->rings[index].name;
	ret->snapshot = crash->rings[index].snapshot;
	ret->sub_buffer = crash->rings[index].page_size;
	return true;
}

/* What is written: the rings in the order of the file, and the texts made for it. */
struct writing {
	struct crash *crash;
	const struct crash_ring **rings;
	size_t nr_rings;
	struct writer_metadata metadata;
	struct writer_setting *settings;
	char **owned;
	size_t nr_owned;
	const char **stats;
	size_t nr_stats;
};

bool crash_is_chosen(const struct crash_choice *choice, const struct crash_buffer *buffer)
{
	if (buffer->snapshot != choice->snapshot)
		return false;
	for (size_t i = 0; i < choice->nr; i++)
		if (!strcmp(choice->names[i], buffer->name))
			return true;
	return !choice->nr && (!*buffer->name || buffer->events);
}

static int choose(struct writing *writing, const struct crash_choice *choice, struct fail *fail)
{
	struct crash *crash = writing->crash;
	struct crash_buffer buffer;

	for (size_t i = 0; i < choice->nr; i++) {
		size_t j = 0;

		while (j < crash->nr_rings && (strcmp(crash->rings[j].name, choice->names[i]) != 0 ||
					       crash->rings[j].snapshot != choice->snapshot))
			j++;
		if (j == crash->nr_rings)
			return fail_set(fail, -ENOENT, "the dump has no %s of an instance '%s'",
					choice->snapshot ? "snapshot" : "buffer", choice->names[i]);
	}
	for (size_t i = 0; crash_buffer_at(crash, i, &buffer); i++) {
		const struct crash_ring **ring;

		if (!crash_is_chosen(choice, &buffer))
			continue;
		ring = vec_push(writing->rings, writing->nr_rings);
		if (!ring)
			return fail_memory(fail);
		*ring = &crash->rings[i];
	}
	return writing->nr_rings ? 0 : fail_set(fail, -ENODATA, "the dump has no snapshot");
}

/* Keeps a text until the end. It takes ownership. */
static bool own(struct writing *writing, char *text)
{
	char **owned = text ? vec_push(writing->owned, writing->nr_owned) : NULL;

	if (owned)
		*owned = text;
	else
		free(text);
	return owned;
}

static bool add_setting(struct writing *writing, size_t buffer, const char *name, const char *text, size_t len)
{
	struct writer_setting *setting;
	char *key = strdup(name), *copy = strndup(text, len);

	if (!own(writing, key)) {
		free(copy);
		return false;
	}
	if (!own(writing, copy))
		return false;
	setting = vec_push(writing->settings, writing->metadata.nr_settings);
	if (!setting)
		return false;
	*setting = (struct writer_setting){ .buffer = (uint32_t)buffer, .name = key, .text = copy, .len = len };
	writing->metadata.settings = writing->settings;
	return true;
}

/* The counters of a CPU, as its file "stats" prints them; without the times, of which the kernel's clock knows one. */
static bool add_stats(struct writing *writing, size_t buffer, const struct crash_cpu *cpu)
{
	struct crash *crash = writing->crash;
	const struct crash_layout *layout = &crash->layout;
	char text[512], name[64];
	const char **stats;
	char *copy;
	int len = snprintf(text, sizeof(text),
			   "entries: %" PRIu64 "\noverrun: %" PRIu64 "\ncommit overrun: %" PRIu64 "\nbytes: %" PRIu64
			   "\ndropped events: %" PRIu64 "\nread events: %" PRIu64 "\n",
			   cpu->entries - cpu->overrun - cpu->read, cpu->overrun,
			   crash_at(crash, cpu->address, &layout->cpu_commit_overrun),
			   crash_at(crash, cpu->address, &layout->cpu_bytes),
			   crash_at(crash, cpu->address, &layout->cpu_dropped), cpu->read);

	snprintf(name, sizeof(name), "per_cpu/cpu%" PRIu32 "/stats", cpu->cpu);
	if (!add_setting(writing, buffer, name, text, (size_t)len))
		return false;
	if (buffer)
		return true;
	if (asprintf(&copy, "CPU: %" PRIu32 "\n%s", cpu->cpu, text) < 0)
		return false;
	if (!own(writing, copy))
		return false;
	stats = vec_push(writing->stats, writing->nr_stats);
	if (!stats)
		return false;
	*stats = copy;
	return true;
}

static bool add_moment(struct writing *writing, const struct crash_choice *choice, size_t buffer)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct crash_moment moment;
	char clock[32];

	crash_clock(writing->crash, writing->rings[buffer], clock);
	return !choice->put_moment || !crash_moment(writing->crash, clock, &moment) ||
	       (choice->put_moment(&moment, &text) &&
		add_setting(writing, buffer, choice->moments, buf_str(&text), text.len));
}

static bool add_ring(struct writing *writing, size_t buffer)
{
	const struct crash_ring *ring = writing->rings[buffer];
	struct crash *crash = writing->crash;
	cleanup_buf struct buf options = BUF_INIT;
	char tracer[64];
	bool ok = true;

	if (!crash_put_options(crash, ring, &options))
		return false;
	if (options.len)
		ok = add_setting(writing, buffer, "trace_options", buf_str(&options), options.len);
	if (crash_text(crash,
		       crash_at(crash, crash_at(crash, ring->array, &crash->layout.array_tracer),
				&crash->layout.tracer_name),
		       tracer, sizeof(tracer)))
		ok = ok && add_setting(writing, buffer, "current_tracer", tracer, strlen(tracer));
	for (size_t i = 0; ok && i < ring->nr_cpus; i++) {
		ok = add_stats(writing, buffer, &ring->cpus[i]);
		if (ring->cpus[i].cpu >= writing->metadata.cpu_count)
			writing->metadata.cpu_count = ring->cpus[i].cpu + 1;
	}
	return ok;
}

static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
				   "\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n"
				   "\tdata max type_len  == 28\n";

/* The CPUs that were online, as a list; all of them if the kernel's mask cannot be read. Nothing for a single one. */
static bool put_online(struct crash *crash, uint32_t nr, struct buf *into)
{
	uint64_t mask, word = 0;
	bool known = crash_symbol(crash, "__cpu_online_mask", &mask);

	if (nr < 2)
		return true;
	for (uint32_t cpu = 0; cpu < nr; cpu++) {
		if (known && !(cpu % 64) && !memory_u64(&crash->memory, mask + cpu / 8, &word))
			known = false;
		if ((!known || word >> cpu % 64 & 1) && !buf_addf(into, "%s%" PRIu32, into->len ? "," : "", cpu))
			return false;
	}
	return true;
}

static bool gather(struct writing *writing, const struct crash_choice *choice)
{
	struct crash *crash = writing->crash;
	struct writer_metadata *metadata = &writing->metadata;
	cleanup_buf struct buf online = BUF_INIT;
	char clock[32], key[40];
	char *page;
	bool ok = true;

	if (asprintf(&page,
		     "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		     "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		     "\tfield: char data;\toffset:16;\tsize:%" PRIu32 ";\tsigned:1;\n",
		     writing->rings[0]->page_size - 16) < 0)
		return false;
	if (!own(writing, page))
		return false;
	metadata->header_page = page;
	metadata->header_event = header_event;
	metadata->formats = crash->formats;
	metadata->nr_formats = crash->nr_formats;
	metadata->kallsyms = buf_str(&crash->kallsyms);
	metadata->kallsyms_len = crash->kallsyms.len;
	metadata->printk = buf_str(&crash->printk);
	metadata->printk_len = crash->printk.len;
	metadata->cmdlines = buf_str(&crash->names);
	metadata->cmdlines_len = crash->names.len;
	metadata->uname = crash->version_text.len ? buf_str(&crash->version_text) : NULL;
	metadata->version = choice->version;
	crash_clock(crash, writing->rings[0], clock);
	page = strdup(clock);
	if (!own(writing, page))
		return false;
	metadata->clock = page;
	for (size_t i = 0; ok && i < writing->nr_rings; i++)
		ok = add_ring(writing, i) && add_moment(writing, choice, i);
	if (crash->version_text.len)
		ok = ok &&
		     add_setting(writing, 0, "weft/uname", buf_str(&crash->version_text), crash->version_text.len);
	ok = ok && put_online(crash, metadata->cpu_count, &online) &&
	     (!online.len || add_setting(writing, 0, "weft/online", buf_str(&online), online.len));
	ok = ok && add_setting(writing, 0, "weft/mode", "dump", 4);
	if (choice->hash_key && crash->facts.hash_key) {
		snprintf(key, sizeof(key), "%016" PRIx64 "%016" PRIx64, crash->hash_key[0], crash->hash_key[1]);
		ok = ok && add_setting(writing, 0, "weft/hash_key", key, strlen(key));
		snprintf(key, sizeof(key), "%" PRIx64, crash->page_array);
		if (crash->page_array)
			ok = ok && add_setting(writing, 0, "weft/page_array", key, strlen(key));
	}
	metadata->cpustats = writing->stats;
	metadata->nr_cpustats = writing->nr_stats;
	return ok;
}

/*
 * A running kernel writes on. Its commit is copied before the data, so that data is whole; but if the page has another
 * time afterwards, it has become another page meanwhile.
 */
static bool copy_page(struct crash *crash, const struct crash_ring *ring, uint64_t address, uint8_t *data,
		      uint8_t *again)
{
	if (!memory_read(&crash->memory, address, data, ring->page_size))
		return false;
	if (!crash->facts.live)
		return true;
	if (memory_read(&crash->memory, address, again, ring->page_size) && !memcmp(data, again, sizeof(uint64_t)))
		return true;
	crash->facts.moved++;
	return false;
}

static int write_cpu(struct crash *crash, const struct crash_ring *ring, const struct crash_cpu *cpu, uint8_t *data,
		     struct part *part, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < cpu->nr_pages; i++)
		if (copy_page(crash, ring, cpu->pages[i], data, data + ring->page_size))
			r = part_add(part, data, ring->page_size, ring->page_size, fail);
	return r;
}

static int write_ring(struct crash *crash, const struct crash_ring *ring, struct part *part, struct writer *writer,
		      struct fail *fail)
{
	cleanup_free uint8_t *data = malloc(2 * (size_t)ring->page_size);
	char clock[32];
	int r;

	if (!data)
		return fail_memory(fail);
	crash_clock(crash, ring, clock);
	r = writer_buffer(writer, ring->name, clock, ring->page_size, fail);
	for (size_t i = 0; !r && i < ring->nr_cpus; i++) {
		r = write_cpu(crash, ring, &ring->cpus[i], data, part, fail);
		if (!r)
			r = part_write(part, writer, ring->cpus[i].cpu, fail);
	}
	return r;
}

static int write_rings(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	const struct writing *writing = arg;
	int r = 0;

	for (size_t i = 0; !r && i < writing->nr_rings; i++)
		r = write_ring(writing->crash, writing->rings[i], part, writer, fail);
	return r;
}

static void writing_release(struct writing *writing)
{
	for (size_t i = 0; i < writing->nr_owned; i++)
		free(writing->owned[i]);
	free(writing->owned);
	free(writing->stats);
	free(writing->settings);
	free(writing->rings);
}

int crash_write(struct crash *crash, const struct crash_choice *choice, const struct writer_options *form, int fd,
		uint64_t *ret_size, struct fail *fail)
{
	struct writing writing = { .crash = crash };
	struct writer_options as = *form;
	int r = choose(&writing, choice, fail);

	if (!r && !crash->nr_formats)
		r = crash_formats_read(crash, fail);
	if (!r && !crash->names.len)
		r = crash_names_read(crash, fail);
	if (!r && !crash->kallsyms.len)
		r = crash_texts_read(crash, fail);
	if (!r && !gather(&writing, choice))
		r = fail_memory(fail);
	as.long_size = sizeof(uint64_t);
	as.big_endian = false;
	as.page_size = r ? 0 : writing.rings[0]->page_size;
	if (!r)
		r = made_file_write(fd, &as, &writing.metadata, write_rings, &writing, ret_size, fail);
	writing_release(&writing);
	return r;
}
