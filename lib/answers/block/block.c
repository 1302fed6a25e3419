// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/block/block_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"

/*
 * Follows disk requests: from the queueing of their first bio (block_bio_queue), over each issue to the driver, to
 * their completion.
 */

static const struct analysis_want wants[] = {
	{ "block:block_rq_issue", NULL, "when the driver gets a request" },
	{ "block:block_rq_complete", NULL, "when the device has done it" },
	{ "block:block_bio_queue", NULL, "since when it waited, and who wanted it" },
	{ "block:block_rq_requeue,block:block_rq_merge,block:block_split,block:block_bio_backmerge,"
	  "block:block_bio_frontmerge,block:block_bio_remap,block:block_bio_complete",
	  "block:*", "what was merged, split, queued anew or for a partition" },
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

enum role { QUEUE = 1, SPLIT, BACK_MERGE, FRONT_MERGE, REMAP, RQ_MERGE, ISSUE, REQUEUE, COMPLETE, BIO_COMPLETE };
_Static_assert(BIO_COMPLETE + 1 == BLOCK_ROLES, "as many as there is room for, and those of block_files.c come behind");

static const struct role_name names[] = {
	{ "block", "block_bio_queue", QUEUE },
	{ "block", "block_split", SPLIT },
	{ "block", "block_bio_backmerge", BACK_MERGE },
	{ "block", "block_bio_frontmerge", FRONT_MERGE },
	{ "block", "block_bio_remap", REMAP },
	{ "block", "block_rq_merge", RQ_MERGE },
	{ "block", "block_rq_issue", ISSUE },
	{ "block", "block_rq_requeue", REQUEUE },
	{ "block", "block_rq_complete", COMPLETE },
	{ "block", "block_bio_complete", BIO_COMPLETE },
	{ NULL, NULL, 0 },
};

enum { JOIN_LINES_MAX = 1 << 20, SECTOR_BITS = BLOCK_SECTOR_BITS, NO_DEVICE = UINT32_MAX };

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct block_analysis *block = arg;

	block->pass = pass;
	if (options)
		block->options = *(const struct block_options *)options;
	block->by = block->options.rows.by < BLOCK_BY_WHO ? (enum block_by)block->options.rows.by : BLOCK_BY_WHO;
	block->part = block->by == BLOCK_BY_WHO ? (enum who_part)(block->options.rows.by - BLOCK_BY_WHO) : WHO_PROCESS;
	block->of_files = block->by == BLOCK_BY_FILE || block->pass->files;
	roles_init(&block->roles, names);
	roles_init(&block->file_roles, block_file_names);
	u64_map_init(&block->numbers, sizeof(uint32_t));
	u64_map_init(&block->bios, sizeof(struct block_bio));
	u64_map_init(&block->requests, sizeof(struct block_request));
	u64_map_init(&block->rows, sizeof(struct block_row));
	u64_map_init(&block->sizes, sizeof(struct block_sizes));
	u64_map_init(&block->inode_numbers, sizeof(uint32_t));
	u64_map_init(&block->users, sizeof(struct block_user));
	slowest_init_rows(&block->slowest, sizeof(struct block_slow), &block->options.rows);
	return true;
}

static void release(void *arg)
{
	struct block_analysis *block = arg;
	struct block_row *row;
	size_t at = 0;
	uint64_t key;

	while ((row = u64_map_next(&block->rows, &at, &key))) {
		samples_release(&row->sizes);
		samples_release(&row->q2c);
		samples_release(&row->q2d);
		samples_release(&row->d2c);
	}
	u64_map_release(&block->rows);
	u64_map_release(&block->sizes);
	slowest_release(&block->slowest);
	u64_map_release(&block->requests);
	u64_map_release(&block->bios);
	u64_map_release(&block->numbers);
	free(block->devices);
	block_files_release(block);
	roles_release(&block->roles);
}

/* As in blk_fill_rwbs(), an F in front of another operation means a flush before it. */
static enum block_operation operation_of(const struct place *rwbs, const struct event *event)
{
	const char *text;
	size_t len;

	if (!place_string(rwbs, event, &text, &len) || !len)
		return BLOCK_OTHER;
	if (len > 1 && text[0] == 'F' && strchr("RWDFNZ", text[1])) {
		text++;
		len--;
	}
	switch (*text) {
	case 'R':
		return BLOCK_READ;
	case 'W':
		return BLOCK_WRITE;
	case 'D':
		return BLOCK_DISCARD;
	case 'F':
		return BLOCK_FLUSH;
	}
	return BLOCK_OTHER;
}

static uint32_t device_of(struct block_analysis *block, uint64_t number)
{
	uint32_t *index = u64_map_find(&block->numbers, number);
	struct block_device *device;

	if (index)
		return *index;
	if (block->nr_devices == BLOCK_DEVICES_MAX)
		return NO_DEVICE;
	device = vec_push(block->devices, block->nr_devices);
	index = device ? u64_map_add(&block->numbers, number) : NULL;
	if (!index) {
		block->pass->failed = true;
		return NO_DEVICE;
	}
	*index = (uint32_t)block->nr_devices - 1;
	*device = (struct block_device){ .number = (uint32_t)number, .disk = *index };
	return *index;
}

static uint64_t block_key(uint32_t device, uint64_t sector)
{
	return (uint64_t)device << SECTOR_BITS | (sector & (((uint64_t)1 << SECTOR_BITS) - 1));
}

/*
 * A read of a sector that is being written does not end the write. Requests without sectors, such as flushes, have no
 * address, so all requests of one operation share a key and are told apart by their order.
 */
static uint64_t request_key(uint32_t device, uint64_t sector, uint64_t sectors, enum block_operation operation)
{
	return (uint64_t)operation << BLOCK_OPERATION_SHIFT | block_key(device, sectors ? sector : UINT64_MAX);
}

static void see_queue(struct block_analysis *block, uint32_t device, uint64_t sector, const struct block_bio *bio)
{
	struct block_bio *waiting;

	if (block->bios.len >= JOIN_LINES_MAX) {
		block->forgotten += block->bios.len;
		u64_map_clear(&block->bios);
	}
	waiting = u64_map_add(&block->bios, block_key(block->devices[device].disk, sector));
	block->pass->failed |= !waiting;
	if (waiting && !waiting->queued)
		*waiting = *bio;
}

/*
 * Takes the bio that waits at the start of a request out of the map. The bio waits under its disk, or under a
 * partition, which this request shows to belong to the disk.
 */
static bool take_bio(struct block_analysis *block, uint32_t disk, uint64_t sector, enum block_operation operation,
		     struct block_bio *ret)
{
	struct block_bio *bio = u64_map_find(&block->bios, block_key(disk, sector));
	uint32_t at = disk;

	for (uint32_t i = 0; !bio && i < block->nr_devices; i++) {
		const struct block_device *device = &block->devices[i];

		if (i == disk || device->stacked || device->requests || (device->disk != i && device->disk != disk))
			continue;
		bio = u64_map_find(&block->bios, block_key(i, sector));
		if (bio && bio->operation != operation)
			bio = NULL;
		at = i;
	}
	if (!bio)
		return false;
	block->devices[at].disk = disk;
	*ret = *bio;
	u64_map_remove(&block->bios, block_key(at, sector));
	return true;
}

static void enter_driver(struct block_device *device, struct block_request *request, uint64_t now)
{
	block_settle(device, now);
	request->beside = (uint32_t)device->depth;
	device->depth++;
	if (device->depth > device->deepest)
		device->deepest = device->depth;
	request->in_driver = true;
}

static void leave_driver(struct block_device *device, struct block_request *request, uint64_t now)
{
	if (!request->in_driver)
		return;
	block_settle(device, now);
	device->depth -= device->depth > 0;
	request->in_driver = false;
}

static void begin(struct block_analysis *block, struct block_device *device, struct block_request *request,
		  const struct block_bio *bio, const struct event *event)
{
	uint64_t sector = place_u64(&block->places[ISSUE].sector, event);

	request->queued = bio ? bio->queued : 0;
	request->task = bio ? bio->task : state_running(&block->pass->state, event->cpu);
	request->file = bio ? bio->file : BLOCK_NO_FILE;
	request->first = event->ts;
	request->requeues = 0;
	request->sector = sector;
	request->done = 0;
	if (!request->sectors)
		return;
	device->sequential += device->first_issues && device->end == sector;
	device->first_issues++;
	device->end = sector + request->sectors;
}

static void see_issue(struct block_analysis *block, const struct event *event, uint32_t disk)
{
	const struct block_places *places = &block->places[ISSUE];
	uint64_t sector = place_u64(&places->sector, event), sectors = place_u64(&places->sectors, event);
	enum block_operation operation = operation_of(&places->rwbs, event);
	struct block_device *device = &block->devices[disk];
	struct block_request *request;
	struct block_bio bio;
	bool fresh;

	device->requests = true;
	if (block->requests.len >= JOIN_LINES_MAX) {
		block->forgotten += block->requests.len;
		u64_map_clear(&block->requests);
		device->depth = 0;
	}
	fresh = sectors && take_bio(block, disk, sector, operation, &bio);
	request = u64_map_add(&block->requests, request_key(disk, sector, sectors, operation));
	if (!request) {
		block->pass->failed = true;
		return;
	}
	/* Two requests have the same address, so their ends cannot be told apart. The depth counts them as one. */
	if (request->in_driver && fresh) {
		request->nameless += request->nameless ? 1 : 2;
		return;
	}
	device->reissues += request->in_driver;
	request->sectors = sectors;
	request->operation = (uint8_t)operation;
	request->cpu = event->cpu;
	if (!request->first || fresh)
		begin(block, device, request, fresh ? &bio : NULL, event);
	request->last = event->ts;
	request->paid = 0;
	if (!request->in_driver)
		enter_driver(device, request, event->ts);
}

/* The event reports the end of the request's first part; the rest continues behind that part. */
static void go_on(struct block_analysis *block, uint32_t disk, uint64_t sector, uint64_t sectors, uint64_t key)
{
	struct block_request rest = *(struct block_request *)u64_map_find(&block->requests, key);
	struct block_request *moved;

	u64_map_remove(&block->requests, key);
	rest.sectors -= sectors;
	rest.done += sectors;
	moved = u64_map_add(&block->requests,
			    request_key(disk, sector + sectors, rest.sectors, (enum block_operation)rest.operation));
	block->pass->failed |= !moved;
	if (moved)
		*moved = rest;
}

static void see_complete(struct block_analysis *block, const struct event *event, uint32_t disk)
{
	const struct block_places *places = &block->places[COMPLETE];
	uint64_t sector = place_u64(&places->sector, event), sectors = place_u64(&places->sectors, event);
	uint64_t key = request_key(disk, sector, sectors, operation_of(&places->rwbs, event));
	struct block_request *request = u64_map_find(&block->requests, key);
	bool failed = place_u64(&places->error, event) != 0;

	if (!request) {
		/* A request that came with a flush completes once more, without sectors. */
		if (sectors && block->pass->state.losses)
			block->broken++;
		else if (sectors)
			block->cut++;
		return;
	}
	if (request->nameless) {
		block->nameless++;
		if (--request->nameless)
			return;
		leave_driver(&block->devices[disk], request, event->ts);
		u64_map_remove(&block->requests, key);
		return;
	}
	block->devices[disk].errors += failed;
	if (sectors < request->sectors) {
		go_on(block, disk, sector, sectors, key);
		return;
	}
	leave_driver(&block->devices[disk], request, event->ts);
	block_count(block, disk, request, request->done + sectors, failed, event->ts);
	u64_map_remove(&block->requests, key);
}

static void see_requeue(struct block_analysis *block, const struct event *event, uint32_t disk)
{
	const struct block_places *places = &block->places[REQUEUE];
	uint64_t sectors = place_u64(&places->sectors, event);
	struct block_request *request =
		u64_map_find(&block->requests, request_key(disk, place_u64(&places->sector, event), sectors,
							   operation_of(&places->rwbs, event)));

	block->devices[disk].requeues++;
	if (!request)
		return;
	request->requeues++;
	leave_driver(&block->devices[disk], request, event->ts);
}

/* Counts a bio of a device that has no requests, such as one of dm or md. */
static void see_bio_complete(struct block_analysis *block, const struct event *event, uint32_t device)
{
	const struct block_places *places = &block->places[BIO_COMPLETE];
	uint64_t key = block_key(block->devices[device].disk, place_u64(&places->sector, event));
	struct block_bio *bio = u64_map_find(&block->bios, key);
	struct block_request request = { .cpu = event->cpu };

	if (!bio)
		return;
	request.queued = bio->queued;
	request.task = bio->task;
	request.file = bio->file;
	request.operation = bio->operation;
	request.sector = place_u64(&places->sector, event);
	block_count(block, device, &request, place_u64(&places->sectors, event), place_u64(&places->error, event) != 0,
		    event->ts);
	u64_map_remove(&block->bios, key);
}

/* A bio that joins a request waits as a part of it. A bio that joins at the front becomes the request's first. */
static void see_merge(struct block_analysis *block, uint32_t device, uint64_t sector, uint64_t sectors, bool front)
{
	uint32_t disk = block->devices[device].disk;
	struct block_bio *behind = front ? u64_map_find(&block->bios, block_key(disk, sector + sectors)) : NULL;
	struct block_bio first;

	block->devices[disk].merges++;
	u64_map_remove(&block->bios, block_key(disk, sector));
	if (!behind)
		return;
	first = *behind;
	u64_map_remove(&block->bios, block_key(disk, sector + sectors));
	see_queue(block, device, sector, &first);
}

static void see_split(struct block_analysis *block, const struct event *event, uint32_t device, uint64_t sector)
{
	const struct block_bio *bio = u64_map_find(&block->bios, block_key(block->devices[device].disk, sector));
	struct block_bio rest;

	block->devices[block->devices[device].disk].splits++;
	if (!bio)
		return;
	rest = *bio;
	see_queue(block, device, place_u64(&block->places[SPLIT].other, event), &rest);
}

static bool is_worker(const struct block_analysis *block, uint32_t task)
{
	return task != STATE_NO_TASK &&
	       !strncmp(pass_comm(block->pass, &block->pass->state.tasks[task]), "kworker/", strlen("kworker/"));
}

static void see_bio(struct block_analysis *block, const struct event *event, enum role role, uint32_t device)
{
	const struct block_places *places = &block->places[role];
	uint64_t sector = place_u64(&places->sector, event), sectors = place_u64(&places->sectors, event);
	struct block_bio bio = { .queued = event->ts, .task = state_running(&block->pass->state, event->cpu) };
	uint32_t below;

	if (role == QUEUE && sectors) {
		bio.operation = (uint8_t)operation_of(&places->rwbs, event);
		if (block->of_files)
			bio.file = block_file_of(block, event, &places->rwbs, sectors * 512);
		block->by_workers += is_worker(block, bio.task);
		see_queue(block, device, sector, &bio);
	} else if (role == SPLIT) {
		see_split(block, event, device, sector);
	} else if (role == REMAP) {
		/*
		 * The bio moves to another device. Since 5.12, the move from a partition to its disk names the
		 * partition on both sides.
		 */
		below = device_of(block, place_u64(&places->other, event));
		if (below != NO_DEVICE && below != device)
			block->devices[below].stacked = true;
	} else if (role != QUEUE) {
		see_merge(block, device, sector, sectors, role == FRONT_MERGE);
	}
}

/* Any request may have ended while events were lost. */
static void see_lost(struct block_analysis *block, const struct event *event)
{
	block->broken += block->requests.len;
	u64_map_clear(&block->requests);
	u64_map_clear(&block->bios);
	u64_map_clear(&block->users);
	for (size_t i = 0; i < block->nr_devices; i++) {
		/* What it did since the CPU's last event is unknown. */
		if (block->pass->state.step.since > block->devices[i].since)
			block_settle(&block->devices[i], block->pass->state.step.since);
		block->devices[i].since = event->ts;
		block->devices[i].depth = 0;
	}
}

static void bind(struct block_analysis *block, const struct event *event, enum role role)
{
	struct block_places *places = &block->places[role];

	(void)place_find(&places->device, event->type, "dev");
	(void)place_find(&places->sector, event->type, "sector");
	(void)place_find(&places->sectors, event->type, "nr_sector");
	(void)place_find(&places->rwbs, event->type, "rwbs");
	(void)place_find(&places->error, event->type, "error");
	(void)place_find(&places->other, event->type, role == REMAP ? "old_dev" : "new_sector");
}

static uint8_t look(void *arg, const struct event *event)
{
	struct block_analysis *block = arg;
	bool fresh;
	uint8_t role = roles_of(&block->roles, event, &fresh);

	if (fresh)
		bind(block, event, (enum role)role);
	return role || !block->of_files ? role : roles_of(&block->file_roles, event, &fresh);
}

static void see(void *arg, const struct event *event, uint8_t number)
{
	struct block_analysis *block = arg;
	enum role role = (enum role)number;
	uint32_t device;

	if (event->kind == EVENT_LOST) {
		see_lost(block, event);
		return;
	}
	if (number >= BLOCK_FILE_BEGIN) {
		block_see_file(block, event, (enum block_file_role)number);
		return;
	}
	block->seen++;
	device = device_of(block, place_u64(&block->places[role].device, event));
	if (device == NO_DEVICE) {
		block->forgotten++;
		return;
	}
	if (role == ISSUE)
		see_issue(block, event, device);
	else if (role == COMPLETE)
		see_complete(block, event, device);
	else if (role == REQUEUE)
		see_requeue(block, event, device);
	else if (role == RQ_MERGE)
		block->devices[device].merges++;
	else if (role == BIO_COMPLETE)
		see_bio_complete(block, event, device);
	else
		see_bio(block, event, role, device);
}

static const char *const by[] = {
	[BLOCK_BY_DEVICE] = "device", [BLOCK_BY_OPERATION] = "operation", [BLOCK_BY_TASK] = "task",
	[BLOCK_BY_FILE] = "file",     [BLOCK_BY_WHO] = WHO_WORDS,         NULL
};

const struct analysis_ops block_analysis = {
	.name = "block",
	.summary = "show how long block requests waited and took",
	.columns = block_columns,
	.by = by,
	.compared_by = by,
	.options_size = sizeof(struct block_options),
	.slow = block_slow,
	.wants = wants,
	.nothing = "there are no block requests among the events",
	.recorded_by = "-e block",
	.essential = 2,
	.in_summary = true,
	.size = sizeof(struct block_analysis),
	.init = init,
	.look = look,
	.across = true,
	.see = see,
	.divide = block_divide,
	.carry = block_carry,
	.finish = block_finish,
	.release = release,
};
