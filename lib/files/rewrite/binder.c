// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/binder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/writer.h"

/* So many pages of a CPU are compressed together, unless there are many CPUs. */
enum { TOGETHER = 8, TOGETHER_CPUS = 128 };

/* The pages of one CPU. */
struct sheets {
	struct page_writer open;
	uint8_t *page;    /* NULL: no record so far; with a part `together` pages */
	uint64_t *places; /* its complete pages, as page numbers in the temporary file */
	size_t nr_places;
	struct writer_run *runs; /* the same in the part */
	size_t nr_runs;
	uint32_t full, together; /* complete pages in front of the open one */
	uint64_t records, lost;
};

struct binder {
	struct page_shape shape;
	int fd;
	struct part *part; /* of binder_pack(), or NULL */
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
	binder->fd = -1;
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
		free(binder->cpus[i].runs);
	}
	free(binder->cpus);
	part_free(binder->part);
	input_temporary_back(binder->temporaries, binder->fd);
	free(binder);
}

int binder_pack(struct binder *binder, const struct writer_options *options, struct fail *fail)
{
	return part_new(options, &binder->part, fail);
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

/* Passes the complete pages of a CPU to the part. */
static int pack_pages(struct binder *binder, struct sheets *sheets, struct fail *fail)
{
	uint32_t size = binder->shape.size;
	struct writer_run run, *last;
	int r = part_add_run(binder->part, sheets->page, (size_t)sheets->full * size, size, &run, fail);

	if (r)
		return r;
	sheets->full = 0;
	last = sheets->nr_runs ? &sheets->runs[sheets->nr_runs - 1] : NULL;
	if (last && last->offset + last->size == run.offset) {
		last->size += run.size;
		last->chunks += run.chunks;
		return 0;
	}
	last = vec_push(sheets->runs, sheets->nr_runs);
	if (!last)
		return fail_memory(fail);
	*last = run;
	return 0;
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

static int write_cpu(struct binder *binder, uint32_t cpu, struct part *part, struct writer *writer, struct fail *fail)
{
	struct sheets *sheets = &binder->cpus[cpu];
	uint32_t size = binder->shape.size;
	int r = turn(binder, sheets, PAGE_LOST_NONE, fail);

	if (!r && binder->part && sheets->full)
		r = pack_pages(binder, sheets, fail);
	if (r || binder->part)
		return r ? r : writer_cpu(writer, cpu, sheets->runs, sheets->nr_runs, fail);
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

	for (size_t cpu = 0; !r && cpu < binder->nr_cpus; cpu++)
		if (binder->cpus[cpu].records)
			r = write_cpu(binder, (uint32_t)cpu, part, writer, fail);
	return r;
}
