// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/memory/crash/crash_internal.h"
#include "lib/pages/ring/page.h"

/*
 * The buffers (kernel/trace/ring_buffer.c): a ring of pages for each CPU, in which the head is the oldest page and the
 * commit page the newest; a page of the reader stands beside the ring. In the link to a page, two bits are flags: the
 * page is the head, or is about to become it.
 */
enum { PAGE = 4096, PAGE_HEAD = 16, LINK_FLAGS = 3, SUB_BUFFER_MAX = 1 << 20, WRITE_MASK = 0xfffff };

static uint32_t sub_buffer_of(struct crash *crash, uint64_t buffer)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t size = layout->buffer_size.found ? crash_at(crash, buffer, &layout->buffer_size) + PAGE_HEAD : 0;

	if (!size && layout->buffer_order.found)
		size = (uint64_t)PAGE << (crash_at(crash, buffer, &layout->buffer_order) & 15);
	return size >= PAGE && size <= SUB_BUFFER_MAX && !(size & (size - 1)) ? (uint32_t)size : PAGE;
}

static uint64_t nr_cpus_of(struct crash *crash, uint64_t buffer)
{
	uint64_t address, nr = 0;
	uint32_t ids;

	if (crash->layout.buffer_cpus.found)
		nr = crash_at(crash, buffer, &crash->layout.buffer_cpus);
	else if (crash_symbol(crash, "nr_cpu_ids", &address) && memory_u32(&crash->memory, address, &ids))
		nr = ids;
	else
		nr = CRASH_CPUS_MAX;
	return nr <= CRASH_CPUS_MAX ? nr : CRASH_CPUS_MAX;
}

/* The next page of the ring. *ret_head: it is the head. 0: the link cannot be read. */
static uint64_t next_page(struct crash *crash, uint64_t page, bool *ret_head)
{
	const struct layout_member *list = &crash->layout.page_list;
	uint64_t link;

	if (!memory_u64(&crash->memory, page + list->offset, &link))
		return 0;
	*ret_head = link & LINK_FLAGS;
	link &= ~(uint64_t)LINK_FLAGS;
	return link ? crash_owner(link, list) : 0;
}

static bool add_page(struct crash *crash, struct crash_cpu *cpu, uint64_t page)
{
	uint64_t *added = vec_push(cpu->pages, cpu->nr_pages);

	if (added)
		*added = crash_at(crash, page, &crash->layout.page_page);
	return added;
}

static uint64_t find_head(struct crash *crash, uint64_t any, uint64_t nr)
{
	uint64_t page = any;
	bool is_head = false;

	for (uint64_t i = 0; i <= nr && page; i++) {
		page = next_page(crash, page, &is_head);
		if (is_head)
			return page;
	}
	return 0;
}

/* Lists the pages in the order of reading. False without memory. */
static bool list_pages(struct crash *crash, struct crash_cpu *cpu)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t reader = crash_at(crash, cpu->address, &layout->cpu_reader);
	uint64_t commit = crash_at(crash, cpu->address, &layout->cpu_commit);
	uint64_t link = crash_at(crash, cpu->address, &layout->cpu_pages);
	uint64_t nr = crash_at(crash, cpu->address, &layout->cpu_nr_pages), page;
	bool ignored;

	nr = nr < CRASH_PAGES_MAX ? nr : CRASH_PAGES_MAX;
	cpu->consumed = crash_at(crash, reader, &layout->page_read);
	if (reader && !add_page(crash, cpu, reader))
		return false;
	if (reader && reader == commit)
		return true;
	page = link ? find_head(crash, crash_owner(link & ~(uint64_t)LINK_FLAGS, &layout->page_list), nr) : 0;
	for (uint64_t i = 0; i < nr && page && crash->pages_left; i++) {
		if (!add_page(crash, cpu, page))
			return false;
		crash->pages_left--;
		if (page == commit)
			return true;
		page = next_page(crash, page, &ignored);
	}
	cpu->broken = true;
	return true;
}

static uint64_t count_events(const uint8_t *data, uint32_t size)
{
	const struct page_shape shape = { .size = size, .long_size = sizeof(uint64_t) };
	struct record record;
	struct page page;
	uint64_t nr = 0;

	if (page_init(&page, &shape, data, size, NULL))
		return 0;
	while (page_next(&page, &record, NULL) > 0)
		nr++;
	return nr;
}

/* Reads all pages once, and takes those off the list that the dump does not have. */
static int look_at_pages(struct crash *crash, struct crash_ring *ring, struct crash_cpu *cpu, struct fail *fail)
{
	cleanup_free uint8_t *data = malloc(ring->page_size);
	size_t kept = 0;

	if (!data)
		return fail_memory(fail);
	for (size_t i = 0; i < cpu->nr_pages; i++) {
		uint64_t commit = 0;

		if (!cpu->pages[i] || !memory_read(&crash->memory, cpu->pages[i], data, ring->page_size)) {
			ring->sum.missing++;
			continue;
		}
		memcpy(&commit, data + sizeof(uint64_t), sizeof(commit));
		if (commit) {
			cpu->nr_events += count_events(data, ring->page_size);
			cpu->pages[kept++] = cpu->pages[i];
		}
	}
	cpu->nr_pages = kept;
	return 0;
}

/* How many of the events of the first page a reader of the pipe has read already. */
static uint64_t consumed_events(struct crash *crash, const struct crash_ring *ring, const struct crash_cpu *cpu)
{
	cleanup_free uint8_t *data = malloc(ring->page_size);
	uint64_t commit;

	if (!data || !cpu->consumed || !cpu->nr_pages ||
	    !memory_read(&crash->memory, cpu->pages[0], data, ring->page_size))
		return 0;
	memcpy(&commit, data + sizeof(uint64_t), sizeof(commit));
	if (cpu->consumed < commit)
		memcpy(data + sizeof(uint64_t), &cpu->consumed, sizeof(cpu->consumed));
	return count_events(data, ring->page_size);
}

static int read_cpu(struct crash *crash, struct crash_ring *ring, uint64_t address, uint32_t number, struct fail *fail)
{
	const struct crash_layout *layout = &crash->layout;
	struct crash_cpu *cpu = vec_push(ring->cpus, ring->nr_cpus);
	uint64_t tail, commit, write, consumed;
	int r;

	if (!cpu)
		return fail_memory(fail);
	*cpu = (struct crash_cpu){ .cpu = number,
				   .address = address,
				   .entries = crash_at(crash, address, &layout->cpu_entries),
				   .overrun = crash_at(crash, address, &layout->cpu_overrun),
				   .read = crash_at(crash, address, &layout->cpu_read) };
	if (!list_pages(crash, cpu))
		return fail_memory(fail);
	r = look_at_pages(crash, ring, cpu, fail);
	if (r)
		return r;
	consumed = consumed_events(crash, ring, cpu);
	ring->sum.nr_cpus++;
	ring->sum.pages += (uint64_t)cpu->nr_pages * ring->page_size;
	ring->sum.events += cpu->nr_events;
	ring->sum.consumed += consumed;
	ring->sum.counted += cpu->entries - cpu->overrun - cpu->read + consumed;
	ring->sum.overwritten += cpu->overrun;
	ring->sum.broken += cpu->broken;
	tail = crash_at(crash, address, &layout->cpu_tail);
	commit = crash_at(crash, crash_at(crash, crash_at(crash, address, &layout->cpu_commit), &layout->page_page),
			  &(struct layout_member){ .found = true, .offset = 8, .size = 8 });
	write = crash_at(crash, tail, &layout->page_write) & WRITE_MASK;
	if (tail == crash_at(crash, address, &layout->cpu_commit) && write > commit && write <= ring->page_size)
		ring->sum.unfinished += write - commit;
	return 0;
}

static int read_ring(struct crash *crash, uint64_t array, const char *name, bool snapshot, struct fail *fail)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t buffer = crash_at(crash, array, snapshot ? &layout->array_max : &layout->array_buffer);
	struct crash_ring *ring;
	uint64_t buffers, nr;
	int r = 0;

	if (!buffer)
		return 0;
	ring = vec_push(crash->rings, crash->nr_rings);
	if (!ring)
		return fail_memory(fail);
	*ring = (struct crash_ring){
		.name = strdup(name), .array = array, .snapshot = snapshot, .page_size = sub_buffer_of(crash, buffer)
	};
	if (!ring->name)
		return fail_memory(fail);
	ring->sum.remote = layout->buffer_remote.found && crash_at(crash, buffer, &layout->buffer_remote);
	buffers = crash_at(crash, buffer, &layout->buffer_buffers);
	nr = ring->sum.remote ? 0 : nr_cpus_of(crash, buffer);
	for (uint64_t cpu = 0; !r && buffers && cpu < nr; cpu++) {
		uint64_t address;

		if (!memory_u64(&crash->memory, buffers + cpu * sizeof(address), &address))
			break;
		/* A CPU that was never online has none. Behind the last one stands something else. */
		if (address && crash_at(crash, address, &layout->cpu_cpu) != cpu)
			break;
		if (address)
			r = read_cpu(crash, ring, address, (uint32_t)cpu, fail);
	}
	return r;
}

/* An instance is a directory of tracefs, so its name has no slash. */
static bool read_name(struct crash *crash, uint64_t array, char name[CRASH_NAME_MAX])
{
	uint64_t at = crash_at(crash, array, &crash->layout.array_name);

	*name = '\0';
	return !at || (crash_text(crash, at, name, CRASH_NAME_MAX) && !strchr(name, '/'));
}

static int read_array(struct crash *crash, uint64_t array, struct fail *fail)
{
	char name[CRASH_NAME_MAX];
	int r;

	if (!read_name(crash, array, name))
		return 0;
	r = read_ring(crash, array, name, false, fail);
	if (!r && crash->layout.array_max.found)
		r = read_ring(crash, array, name, true, fail);
	return r;
}

/* The top instance comes first. */
static int by_name(const void *a, const void *b)
{
	const struct crash_ring *one = a, *other = b;
	int order = strcmp(one->name, other->name);

	return order ? order : one->snapshot - other->snapshot;
}

int crash_rings_read(struct crash *crash, struct fail *fail)
{
	struct crash_walk walk;
	uint64_t head, array;
	int r = 0;

	crash->pages_left = CRASH_PAGES_MAX;
	if (!crash_symbol(crash, "ftrace_trace_arrays", &head))
		return fail_set(fail, -ENODATA,
				"the kernel's symbols have no ftrace_trace_arrays, and no such list was found in its "
				"memory: it has no tracing, or give its System.map with --symbols");
	if (!crash_walk_begin(&walk, crash, head, &crash->layout.array_list, CRASH_INSTANCES_MAX))
		return fail_set(fail, -ENODATA, "the dump does not have the kernel's list of trace instances");
	while (!r && crash_walk_next(&walk, &array))
		r = read_array(crash, array, fail);
	if (!r && !crash->nr_rings)
		r = fail_set(fail, -ENODATA, "the dump does not have the kernel's trace buffers");
	if (!r)
		qsort(crash->rings, crash->nr_rings, sizeof(*crash->rings), by_name);
	return r;
}
