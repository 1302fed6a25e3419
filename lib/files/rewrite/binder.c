// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/binder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/writer.h"

/* So many pages of a CPU are compressed together, unless there are many CPUs. */
enum { TOGETHER = 8, TOGETHER_CPUS = 128 };
/* A file of any filesystem that has large files can be so long. */
#define PLACES_END (8ull << 40)

/* Pages that were written together. */
struct group {
	uint64_t first; /* the time of their first record */
	uint32_t pages;
	struct writer_run run;
};

/* The pages of one CPU. */
struct sheets {
	struct page_writer open;
	uint8_t *page;    /* NULL: no record so far; with a part `together` pages */
	uint64_t *places; /* its complete pages, as page numbers in the temporary file */
	size_t nr_places;
	struct group *groups; /* the same in the part or the file */
	size_t nr_groups;
	uint64_t place, end;     /* of binder_place(): where its next pages go, and the end of the room for them */
	uint32_t full, together; /* complete pages in front of the open one */
	uint64_t records, lost;
};

struct binder {
	struct page_shape shape;
	int fd;
	struct part *part; /* of binder_pack() and binder_place(), or NULL */
	int into;          /* of binder_place(), or -1 */
	uint64_t next, span, written_to;
	/* where binder_has() found a record: the group, and the pages read from there */
	struct {
		uint32_t cpus; /* the number of its CPU + 1; 0: nowhere */
		uint32_t nr;
		size_t group;
		struct page page;
		uint8_t *pages;
	} found;
	const struct temporaries *temporaries;
	uint64_t written;    /* complete pages of all CPUs */
	uint64_t begun;      /* number of incomplete pages */
	struct sheets *cpus; /* by CPU number */
	size_t nr_cpus;
};

int binder_new(const struct page_shape *shape, const struct temporaries *temporaries, struct binder **ret,
	       struct fail *fail)
{
	struct binder *binder = calloc(1, sizeof(*binder));

	if (!binder)
		return fail_memory(fail);
	binder->shape = *shape;
	binder->temporaries = temporaries;
	binder->fd = binder->into = -1;
	*ret = binder;
	return 0;
}

void binder_free(struct binder *binder)
{
	if (!binder)
		return;
	for (size_t i = 0; i < binder->nr_cpus; i++) {
		free(binder->cpus[i].page);
		free(binder->cpus[i].places);
		free(binder->cpus[i].groups);
	}
	free(binder->cpus);
	free(binder->found.pages);
	part_free(binder->part);
	input_temporary_back(binder->temporaries, binder->fd);
	free(binder);
}

int binder_pack(struct binder *binder, const struct writer_options *options, struct fail *fail)
{
	return part_new(options, &binder->part, fail);
}

int binder_place(struct binder *binder, int fd, uint64_t base, uint64_t span, const struct writer_options *options,
		 struct fail *fail)
{
	int r = binder_pack(binder, options, fail);

	binder->into = fd;
	binder->next = base;
	binder->span = span;
	return r;
}

static void begin_page(const struct binder *binder, struct sheets *sheets, int64_t lost)
{
	page_writer_begin(&sheets->open, &binder->shape, sheets->page + (size_t)sheets->full * binder->shape.size,
			  lost);
}

static int sheets_of(struct binder *binder, uint32_t cpu, int64_t lost, struct sheets **ret, struct fail *fail)
{
	struct sheets *sheets;

	while (binder->nr_cpus <= cpu)
		if (!vec_push(binder->cpus, binder->nr_cpus))
			return fail_memory(fail);
	sheets = &binder->cpus[cpu];
	if (!sheets->page) {
		sheets->together = binder->part && binder->begun < TOGETHER_CPUS ? TOGETHER : 1;
		sheets->page = malloc((size_t)sheets->together * binder->shape.size);
		if (!sheets->page)
			return fail_memory(fail);
		begin_page(binder, sheets, lost);
		binder->begun++;
	}
	*ret = sheets;
	return 0;
}

static int store_page(struct binder *binder, struct sheets *sheets, struct fail *fail)
{
	uint64_t *place = vec_push(sheets->places, sheets->nr_places);
	int r = place ? 0 : fail_memory(fail);

	if (!r && binder->fd < 0)
		r = input_temporary_from(binder->temporaries, &binder->fd, fail);
	if (r)
		return r;
	*place = binder->written;
	r = io_pwrite(binder->fd, sheets->page, binder->shape.size, binder->written * binder->shape.size);
	if (r)
		return fail_set(fail, r, "cannot write pages to a temporary file: %s", strerror(-r));
	binder->written++;
	return 0;
}

/* Whether the file has a place for pages of a CPU. No block is taken of what nobody writes. */
static bool has_place(struct binder *binder, struct sheets *sheets, size_t size)
{
	if (binder->into < 0 || sheets->end - sheets->place >= size)
		return binder->into >= 0;
	if (size > binder->span || binder->next + binder->span > PLACES_END)
		return false;
	sheets->place = binder->next;
	sheets->end = binder->next += binder->span;
	return true;
}

/* -EFBIG: the file cannot be as large. */
static int place_pages(struct binder *binder, struct sheets *sheets, size_t size, struct writer_run *ret,
		       struct fail *fail)
{
	int r = io_pwrite(binder->into, sheets->page, size, sheets->place);

	if (r)
		return fail_set(fail, r, "cannot write pages to a temporary file: %s", strerror(-r));
	*ret = (struct writer_run){ binder->into, sheets->place, size, 0 };
	sheets->place += size;
	binder->written_to = sheets->place > binder->written_to ? sheets->place : binder->written_to;
	return 0;
}

/* Passes the complete pages of a CPU to the part. */
static int pack_pages(struct binder *binder, struct sheets *sheets, struct fail *fail)
{
	uint32_t size = binder->shape.size, commit;
	size_t all = (size_t)sheets->full * size;
	struct group *group = vec_push(sheets->groups, sheets->nr_groups);
	int r;

	if (!group)
		return fail_memory(fail);
	group->pages = sheets->full;
	r = page_head(&binder->shape, sheets->page, size, &group->first, &commit, fail);
	if (r)
		return r;
	r = has_place(binder, sheets, all) ? place_pages(binder, sheets, all, &group->run, fail) : -EFBIG;
	if (r == -EFBIG)
		r = part_add_run(binder->part, sheets->page, all, size, &group->run, fail);
	if (!r)
		sheets->full = 0;
	return r;
}

/* Stores the open page, if it has records, and begins another one. */
static int turn(struct binder *binder, struct sheets *sheets, int64_t lost, struct fail *fail)
{
	int r = 0;

	if (!page_writer_empty(&sheets->open)) {
		page_writer_end(&sheets->open);
		if (!binder->part)
			r = store_page(binder, sheets, fail);
		else if (++sheets->full == sheets->together)
			r = pack_pages(binder, sheets, fail);
	}
	if (!r)
		begin_page(binder, sheets, lost);
	return r;
}

static int add(struct binder *binder, struct sheets *sheets, const struct record *record, int64_t lost,
	       struct fail *fail)
{
	int r = 0;

	if (lost && !page_writer_empty(&sheets->open))
		r = turn(binder, sheets, lost, fail);
	if (r || page_writer_add(&sheets->open, record))
		return r;
	r = turn(binder, sheets, lost, fail);
	if (r || page_writer_add(&sheets->open, record))
		return r;
	/* Only a record that fills a page can lack the room that the number of lost events takes. */
	if (lost > 0) {
		begin_page(binder, sheets, PAGE_LOST_UNKNOWN);
		if (page_writer_add(&sheets->open, record))
			return 0;
	}
	return fail_set(fail, -EFBIG, "a record of %" PRIu32 " bytes fits on no page of %" PRIu32, record->len,
			binder->shape.size);
}

int binder_add(struct binder *binder, uint32_t cpu, const struct record *record, int64_t lost, struct fail *fail)
{
	struct sheets *sheets = NULL;
	int r = sheets_of(binder, cpu, lost, &sheets, fail);

	if (!r)
		r = add(binder, sheets, record, lost, fail);
	if (r)
		return fail_in(fail, r, "CPU %" PRIu32, cpu);
	sheets->records++;
	sheets->lost += lost > 0 ? (uint64_t)lost : 0;
	return 0;
}

/* Writes the open page again, with the record in its place. `copy` has its bytes. */
static int write_again(struct binder *binder, struct sheets *sheets, const struct record *record, const void *copy,
		       struct fail *fail)
{
	struct record kept;
	struct page page;
	bool placed = false;
	int r = page_init(&page, &binder->shape, copy, binder->shape.size, fail);

	if (r)
		return r;
	begin_page(binder, sheets, sheets->open.lost);
	while (!r && (r = page_next(&page, &kept, fail)) > 0) {
		r = !placed && kept.ts > record->ts ? add(binder, sheets, record, PAGE_LOST_NONE, fail) : 0;
		placed |= kept.ts > record->ts;
		if (!r)
			r = add(binder, sheets, &kept, PAGE_LOST_NONE, fail);
	}
	return r || placed ? r : add(binder, sheets, record, PAGE_LOST_NONE, fail);
}

int binder_insert(struct binder *binder, uint32_t cpu, const struct record *record, struct fail *fail)
{
	struct sheets *sheets = cpu < binder->nr_cpus ? &binder->cpus[cpu] : NULL;
	cleanup_free uint8_t *copy = NULL;
	uint64_t first;
	uint32_t commit;
	int r;

	if (!sheets || !sheets->page || page_writer_empty(&sheets->open))
		return -EAGAIN;
	page_writer_end(&sheets->open);
	r = page_head(&binder->shape, sheets->open.page, binder->shape.size, &first, &commit, fail);
	if (r || record->ts < first)
		return r ? r : -EAGAIN;
	copy = malloc(binder->shape.size);
	if (!copy)
		return fail_memory(fail);
	memcpy(copy, sheets->open.page, binder->shape.size);
	r = write_again(binder, sheets, record, copy, fail);
	if (r)
		return fail_in(fail, r, "CPU %" PRIu32, cpu);
	sheets->records++;
	return 0;
}

/* 1: the page has the record. 0: a later one comes, and *page is before that, or the page ends. */
static int find_in_page(struct page *page, const struct record *record, bool *ret_later, struct fail *fail)
{
	struct record next;
	struct page before;
	int r;

	*ret_later = false;
	for (before = *page; (r = page_next(page, &next, fail)) > 0; before = *page) {
		if (next.ts > record->ts) {
			*page = before;
			*ret_later = true;
			return 0;
		}
		if (next.ts == record->ts && next.len == record->len && !memcmp(next.data, record->data, next.len))
			return 1;
	}
	return r;
}

static uint64_t first_time(const struct binder *binder, const struct sheets *sheets, uint32_t nr)
{
	return load_u64(sheets->page + (size_t)nr * binder->shape.size, binder->shape.swap);
}

/* Among the pages that are in memory, of which there are `nr`. */
static int find_in_open(const struct binder *binder, const struct sheets *sheets, uint32_t nr,
			const struct record *record, struct fail *fail)
{
	uint32_t size = binder->shape.size, at = 0;
	struct page page;
	bool later = false;
	int r = 0;

	while (at + 1 < nr && first_time(binder, sheets, at + 1) < record->ts)
		at++;
	for (; !r && !later && at < nr; at++) {
		r = page_init(&page, &binder->shape, sheets->page + (size_t)at * size, size, fail);
		if (!r)
			r = find_in_page(&page, record, &later, fail);
	}
	return r;
}

/* Goes to a page of a group, which is read with its first page. */
static int go_to(struct binder *binder, uint32_t cpu, size_t group, uint32_t nr, struct fail *fail)
{
	const struct group *of = &binder->cpus[cpu].groups[group];
	size_t size = binder->shape.size;
	int r = 0;

	binder->found.cpus = 0;
	if (!binder->found.pages)
		binder->found.pages = malloc(TOGETHER * size);
	if (!binder->found.pages)
		return fail_memory(fail);
	if (!nr)
		r = part_read_run(binder->part, &of->run, binder->found.pages, of->pages * size, fail);
	if (!r)
		r = page_init(&binder->found.page, &binder->shape, binder->found.pages + nr * size, size, fail);
	if (r)
		return r;
	binder->found.cpus = cpu + 1;
	binder->found.group = group;
	binder->found.nr = nr;
	return 0;
}

/* The last group that begins before a time; 0 if none does. */
static size_t group_before(const struct sheets *sheets, uint64_t ts)
{
	size_t from = 0, to = sheets->nr_groups;

	while (to - from > 1) {
		size_t middle = from + (to - from) / 2;

		if (sheets->groups[middle].first < ts)
			from = middle;
		else
			to = middle;
	}
	return from;
}

/* Among the pages that were written. *ret_later: no later page can have it. */
static int find_in_groups(struct binder *binder, uint32_t cpu, const struct record *record, bool *ret_later,
			  struct fail *fail)
{
	const struct sheets *sheets = &binder->cpus[cpu];
	int r = 0;

	*ret_later = false;
	if (binder->found.cpus != cpu + 1 || binder->found.page.ts >= record->ts)
		r = go_to(binder, cpu, group_before(sheets, record->ts), 0, fail);
	while (!r) {
		size_t group = binder->found.group;
		uint32_t nr = binder->found.nr + 1;

		r = find_in_page(&binder->found.page, record, ret_later, fail);
		if (r || *ret_later)
			return r;
		group += nr == sheets->groups[group].pages;
		if (group == sheets->nr_groups)
			break;
		r = go_to(binder, cpu, group, group == binder->found.group ? nr : 0, fail);
	}
	/* The next pages are not written yet. */
	binder->found.cpus = 0;
	return r;
}

int binder_has(struct binder *binder, uint32_t cpu, const struct record *record, bool *ret, struct fail *fail)
{
	struct sheets *sheets = cpu < binder->nr_cpus ? &binder->cpus[cpu] : NULL;
	bool later = false;
	uint32_t open;
	int r = 0;

	*ret = false;
	if (!sheets || !sheets->page)
		return 0;
	open = sheets->full + !page_writer_empty(&sheets->open);
	if (!page_writer_empty(&sheets->open))
		page_writer_end(&sheets->open);
	if (sheets->nr_groups && (!open || first_time(binder, sheets, 0) >= record->ts))
		r = find_in_groups(binder, cpu, record, &later, fail);
	if (!r && !later)
		r = find_in_open(binder, sheets, open, record, fail);
	if (r < 0)
		return fail_in(fail, r, "CPU %" PRIu32, cpu);
	*ret = r;
	return 0;
}

bool binder_count(const struct binder *binder, uint32_t cpu, uint64_t *ret_records, uint64_t *ret_lost)
{
	if (cpu >= binder->nr_cpus || !binder->cpus[cpu].records)
		return false;
	*ret_records = binder->cpus[cpu].records;
	*ret_lost = binder->cpus[cpu].lost;
	return true;
}

uint32_t binder_cpus(const struct binder *binder)
{
	return (uint32_t)binder->nr_cpus;
}

uint64_t binder_size(const struct binder *binder)
{
	return (binder->written + binder->begun) * binder->shape.size;
}

/* Into the CPU's page, which is not open any more. */
static int read_back(const struct binder *binder, const struct sheets *sheets, size_t place, struct fail *fail)
{
	uint32_t size = binder->shape.size;
	ssize_t got = io_pread(binder->fd, sheets->page, size, sheets->places[place] * size);

	if (got == (ssize_t)size)
		return 0;
	return fail_set(fail, got < 0 ? (int)got : -EIO, "cannot read a page of the temporary file");
}

int binder_show(struct binder *binder, binder_look *look, void *arg, struct fail *fail)
{
	int r = 0;

	for (size_t cpu = 0; !r && cpu < binder->nr_cpus; cpu++) {
		struct sheets *sheets = &binder->cpus[cpu];

		if (sheets->records)
			r = turn(binder, sheets, PAGE_LOST_NONE, fail);
		for (size_t i = 0; !r && i < sheets->nr_places; i++) {
			r = read_back(binder, sheets, i, fail);
			if (!r)
				look(arg, &binder->shape, sheets->page);
		}
	}
	return r;
}

/* The groups of a CPU in the file; those that follow one another are one run. */
static int write_groups(const struct sheets *sheets, uint32_t cpu, struct writer *writer, struct fail *fail)
{
	cleanup_free struct writer_run *runs = calloc(sheets->nr_groups + 1, sizeof(*runs));
	size_t nr = 0;

	if (!runs)
		return fail_memory(fail);
	for (size_t i = 0; i < sheets->nr_groups; i++) {
		const struct writer_run *run = &sheets->groups[i].run;
		struct writer_run *last = nr ? &runs[nr - 1] : NULL;

		if (last && last->fd == run->fd && last->offset + last->size == run->offset) {
			last->size += run->size;
			last->chunks += run->chunks;
		} else {
			runs[nr++] = *run;
		}
	}
	return writer_cpu(writer, cpu, runs, nr, fail);
}

static int write_cpu(struct binder *binder, uint32_t cpu, struct part *part, struct writer *writer, struct fail *fail)
{
	struct sheets *sheets = &binder->cpus[cpu];
	uint32_t size = binder->shape.size;
	int r = 0;

	if (binder->part)
		return write_groups(sheets, cpu, writer, fail);
	for (size_t i = 0; !r && i < sheets->nr_places; i++) {
		r = read_back(binder, sheets, i, fail);
		if (!r)
			r = part_add(part, sheets->page, size, size, fail);
	}
	return r ? r : part_write(part, writer, cpu, fail);
}

int binder_write(struct binder *binder, struct part *part, struct writer *writer, struct fail *fail)
{
	int r = 0;

	for (size_t cpu = 0; !r && cpu < binder->nr_cpus; cpu++) {
		struct sheets *sheets = &binder->cpus[cpu];

		r = sheets->records ? turn(binder, sheets, PAGE_LOST_NONE, fail) : 0;
		if (!r && sheets->full)
			r = pack_pages(binder, sheets, fail);
	}
	if (!r && binder->written_to)
		r = writer_skip(writer, binder->written_to, fail);
	for (size_t cpu = 0; !r && cpu < binder->nr_cpus; cpu++)
		if (binder->cpus[cpu].records)
			r = write_cpu(binder, (uint32_t)cpu, part, writer, fail);
	return r;
}
