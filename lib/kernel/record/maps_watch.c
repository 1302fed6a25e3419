// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/maps_watch_internal.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"

enum { RING_PAGES = 128, MAPS_OF_ONE = 1024 };

struct ring {
	int fd;
	struct perf_event_mmap_page *head;
	size_t size; /* of the data */
};

/* One executable map, as PERF_RECORD_MMAP2 tells it. */
struct watched_map {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	size_t path, path_len; /* in maps_watch::paths */
};

struct watched {
	uint64_t executed; /* when it began to run its program */
	struct watched_map *maps;
	size_t nr;
};

/* A record that waits for its turn: the buffers of the CPUs are read one after the other. */
struct told {
	uint64_t ts;
	size_t at, len; /* in maps_watch::records */
};

struct maps_watch {
	struct ring *rings;
	size_t nr_rings;
	struct u64_map processes; /* by PID: struct watched */
	struct buf paths, records;
	struct told *told;
	size_t nr_told;
	uint64_t lost;
	bool failed;
};

struct mmap2 {
	struct perf_event_header head;
	uint32_t pid, tid;
	uint64_t start, len, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	/* Then the path, and a NUL. */
};

struct fork_or_comm {
	struct perf_event_header head;
	uint32_t pid, parent;
};

/* Behind each record: the task, and the time. */
struct trailer {
	uint32_t pid, tid;
	uint64_t ts;
};

static int open_event(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.watermark = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void add_ring(struct maps_watch *watch, int cpu)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open_event(cpu);
	struct ring *ring;
	void *at;

	if (fd < 0)
		return;
	at = mmap(NULL, (1 + RING_PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ring = at == MAP_FAILED ? NULL : vec_push(watch->rings, watch->nr_rings);
	if (ring)
		*ring = (struct ring){ fd, at, RING_PAGES * page };
	else
		close(fd);
	if (!ring && at != MAP_FAILED)
		munmap(at, (1 + RING_PAGES) * page);
}

int maps_watch_new(struct maps_watch **ret, struct fail *fail)
{
	struct maps_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return fail_memory(fail);
	u64_map_init(&watch->processes, sizeof(struct watched));
	*ret = watch;
	return 0;
}

int maps_watch_start(struct maps_watch **ret, struct fail *fail)
{
	struct maps_watch *watch = NULL;
	int err = maps_watch_new(&watch, fail);

	if (err)
		return err;
	for (long cpu = 0, nr = sysconf(_SC_NPROCESSORS_CONF); cpu < nr; cpu++)
		add_ring(watch, (int)cpu);
	if (!watch->nr_rings) {
		maps_watch_free(watch);
		watch = NULL;
	}
	*ret = watch;
	return 0;
}

void maps_watch_free(struct maps_watch *watch)
{
	struct watched *process;
	uint64_t pid;

	if (!watch)
		return;
	for (size_t i = 0; i < watch->nr_rings; i++) {
		munmap(watch->rings[i].head, watch->rings[i].size + watch->rings[i].size / RING_PAGES);
		close(watch->rings[i].fd);
	}
	for (size_t at = 0; (process = u64_map_next(&watch->processes, &at, &pid));)
		free(process->maps);
	u64_map_release(&watch->processes);
	buf_release(&watch->paths);
	buf_release(&watch->records);
	free(watch->rings);
	free(watch->told);
	free(watch);
}

static struct watched *process_of(struct maps_watch *watch, uint32_t pid)
{
	struct watched *process = u64_map_find(&watch->processes, pid);

	return process || watch->processes.len >= MAPS_WATCH_NR ? process : u64_map_add(&watch->processes, pid);
}

static void add_map(struct maps_watch *watch, const struct mmap2 *told, const char *path, size_t path_len)
{
	struct watched *process = process_of(watch, told->pid);
	struct watched_map *map;

	if (*path != '/' || !told->len || told->len > UINT64_MAX - told->start || !process ||
	    process->nr >= MAPS_OF_ONE || watch->paths.len > MAPS_WATCH_SIZE)
		return;
	map = vec_push(process->maps, process->nr);
	if (map)
		*map = (struct watched_map){ .start = told->start,
					     .end = told->start + told->len,
					     .offset = told->offset,
					     .inode = told->inode,
					     .major = told->major,
					     .minor = told->minor,
					     .path = watch->paths.len,
					     .path_len = path_len };
	watch->failed |= !map || !buf_add(&watch->paths, path, path_len);
}

/* A process begins with the maps of the one that made it. */
static void inherit(struct maps_watch *watch, uint32_t pid, uint32_t parent, uint64_t ts)
{
	struct watched *process = process_of(watch, pid), *from = u64_map_find(&watch->processes, parent);

	if (!process || pid == parent || process->executed > ts)
		return;
	process->nr = 0;
	for (size_t i = 0; from && i < from->nr; i++) {
		struct watched_map *map = vec_push(process->maps, process->nr);

		watch->failed |= !map;
		if (map)
			*map = from->maps[i];
	}
}

static void see(struct maps_watch *watch, const uint8_t *record, size_t len, uint64_t ts)
{
	struct perf_event_header head;
	struct fork_or_comm task;
	struct mmap2 map;
	struct watched *process;

	memcpy(&head, record, sizeof(head));
	if (head.type == PERF_RECORD_MMAP2 && len > sizeof(map)) {
		const char *path = (const char *)record + sizeof(map);

		memcpy(&map, record, sizeof(map));
		add_map(watch, &map, path, strnlen(path, len - sizeof(map)));
		return;
	}
	if (len < sizeof(task))
		return;
	memcpy(&task, record, sizeof(task));
	if (head.type == PERF_RECORD_FORK) {
		inherit(watch, task.pid, task.parent, ts);
	} else if (head.type == PERF_RECORD_COMM && head.misc & PERF_RECORD_MISC_COMM_EXEC) {
		process = process_of(watch, task.pid);
		if (!process)
			return;
		process->nr = 0;
		process->executed = ts;
	}
}

static uint64_t time_of(const uint8_t *record, size_t len)
{
	struct trailer trailer;

	memcpy(&trailer, record + len - sizeof(trailer), sizeof(trailer));
	return trailer.ts;
}

void maps_watch_see(struct maps_watch *watch, const uint8_t *record, size_t len)
{
	struct perf_event_header head;

	if (len < sizeof(head) + sizeof(struct trailer))
		return;
	memcpy(&head, record, sizeof(head));
	if (head.size == len)
		see(watch, record, len - sizeof(struct trailer), time_of(record, len));
}

/* Copies the records of one CPU, which may reach over the end of its buffer. */
static void read_ring(struct maps_watch *watch, struct ring *ring)
{
	const uint8_t *data = (const uint8_t *)ring->head + ring->size / RING_PAGES;
	uint64_t until = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE), at = ring->head->data_tail;

	while (until - at >= sizeof(struct perf_event_header) && until - at <= ring->size) {
		size_t place = (size_t)(at % ring->size), first = ring->size - place;
		struct perf_event_header head;
		struct told *told;

		/* Records lie at multiples of 8 bytes, so the head is whole. */
		memcpy(&head, data + place, sizeof(head));
		if (head.size < sizeof(head) + sizeof(struct trailer) || head.size > until - at)
			break;
		told = vec_push(watch->told, watch->nr_told);
		if (told)
			*told = (struct told){ .at = watch->records.len, .len = head.size };
		if (!told || !buf_add(&watch->records, data + place, head.size < first ? head.size : first) ||
		    (head.size > first && !buf_add(&watch->records, data, head.size - first))) {
			watch->failed = true;
			break;
		}
		told->ts = time_of((const uint8_t *)watch->records.data + told->at, told->len);
		at += head.size;
	}
	__atomic_store_n(&ring->head->data_tail, until, __ATOMIC_RELEASE);
}

static int compare_told(const void *a, const void *b)
{
	const struct told *one = a, *other = b;

	return one->ts != other->ts ? (one->ts > other->ts) - (one->ts < other->ts) :
				      (one->at > other->at) - (one->at < other->at);
}

void maps_watch_read(struct maps_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < watch->nr_rings; i++)
		read_ring(watch, &watch->rings[i]);
	if (watch->nr_told)
		qsort(watch->told, watch->nr_told, sizeof(*watch->told), compare_told);
	for (size_t i = 0; i < watch->nr_told && !watch->failed; i++)
		maps_watch_see(watch, (const uint8_t *)watch->records.data + watch->told[i].at, watch->told[i].len);
	watch->nr_told = 0;
	buf_clear(&watch->records);
}

static int compare_maps(const void *a, const void *b)
{
	const struct watched_map *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

/* A map that a later one covers is gone: the kernel does not tell of its end. */
static void put_in_order(struct watched *process)
{
	size_t nr = process->nr, from = nr;

	while (nr--) {
		struct watched_map map = process->maps[nr];
		bool covered = false;

		for (size_t i = from; i < process->nr && !covered; i++)
			covered = process->maps[i].start < map.end && map.start < process->maps[i].end;
		if (!covered)
			process->maps[--from] = map;
	}
	process->nr -= from;
	memmove(process->maps, process->maps + from, process->nr * sizeof(*process->maps));
	qsort(process->maps, process->nr, sizeof(*process->maps), compare_maps);
}

int maps_watch_put(struct maps_watch *watch, struct buf *into, struct fail *fail)
{
	struct watched *process;
	uint64_t pid;
	bool ok = true;

	maps_watch_read(watch);
	for (size_t at = 0; ok && (process = u64_map_next(&watch->processes, &at, &pid));) {
		if (!process->nr || into->len > MAPS_WATCH_SIZE)
			continue;
		put_in_order(process);
		ok = buf_addf(into, "p %" PRIu64 "\n", pid);
		for (size_t i = 0; ok && i < process->nr; i++) {
			const struct watched_map *map = &process->maps[i];

			ok = buf_addf(into, "%" PRIx64 "-%" PRIx64 " r-xp %08" PRIx64 " %02x:%02x %" PRIu64 " %.*s\n",
				      map->start, map->end, map->offset, map->major, map->minor, map->inode,
				      (int)map->path_len, watch->paths.data + map->path);
		}
	}
	return ok && !watch->failed ? 0 : fail_memory(fail);
}
