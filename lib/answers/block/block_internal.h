/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_BLOCK_BLOCK_INTERNAL_H
#define WEFT_ANSWERS_BLOCK_BLOCK_INTERNAL_H

#include "lib/answers/block/block.h"
#include "lib/answers/frame/extreme.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/slowest.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/inode.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"

/*
 * The data of the analysis `block`, shared by block.c, which follows requests from queue to completion, and
 * block_tables.c. A request is identified by its disk and first sector. Events of bios name the partition, with sectors
 * of the whole disk. The disk of a partition is learned from the first request that begins where one of the partition's
 * bios waits.
 */
enum { BLOCK_DEVICES_MAX = 4096, BLOCK_ROLES = 11 };
/* Of a key of a bio or request; the index of the device is above them, and of a request the operation above that. */
enum { BLOCK_SECTOR_BITS = 48, BLOCK_OPERATION_SHIFT = 61 };
_Static_assert(BLOCK_DEVICES_MAX <= 1 << (BLOCK_OPERATION_SHIFT - BLOCK_SECTOR_BITS) &&
		       BLOCK_OPERATIONS <= 1 << (64 - BLOCK_OPERATION_SHIFT),
	       "a key has room for both");

static inline uint32_t block_request_device(uint64_t key)
{
	return (uint32_t)(key << (64 - BLOCK_OPERATION_SHIFT) >> (64 - BLOCK_OPERATION_SHIFT) >> BLOCK_SECTOR_BITS);
}

/* Sizes are counted by their powers of two. */
enum { BLOCK_SIZES = 64 };

struct block_device {
	uint32_t number; /* the kernel's dev_t: major << 20 | minor */
	uint32_t disk;   /* index of the disk to which the partition belongs; its own index: unknown */
	bool requests;   /* the device has requests of its own, so it is a disk */
	bool stacked;    /* its bios go to other devices */
	uint64_t first_issues, sequential, end; /* end: the sector after the last request */
	uint64_t merges, splits, requeues, reissues, errors;
	uint64_t depth, deepest;       /* number of requests in the driver: now, and at most */
	uint64_t since, busy, weighed; /* ns; busy: time with a depth above 0; weighed: depth times time */
};

/*
 * Whose data a bio has: block_analysis::inodes, from BLOCK_FILES on. BLOCK_METADATA: it is of the file system itself;
 * BLOCK_RAW: of no file system.
 */
enum { BLOCK_NO_FILE, BLOCK_METADATA, BLOCK_RAW, BLOCK_FILES };

struct block_inode {
	uint64_t ino;
	uint32_t device; /* as block_device::number, of the file system; 0: unknown */
};

/* Which file a task is reading or writing, by its events. */
struct block_user {
	uint64_t left;  /* bytes that the next bios may have of it */
	uint64_t last;  /* an inode that may be that of a disk, of which the task wants a page; 0: none */
	uint32_t where; /* the device of `last` */
	uint32_t file;
};

/* A bio that is queued. Its key is block_key(). */
struct block_bio {
	uint64_t queued;
	uint32_t task, file;
	uint8_t operation;
};

/* A request from its first issue on. Its key is request_key(). */
struct block_request {
	uint64_t queued;        /* 0: unknown */
	uint64_t first, last;   /* times of the first and the last issue */
	uint64_t sector;        /* the first */
	uint64_t sectors, done; /* done: sectors of parts that ended before */
	uint64_t paid;          /* what earlier intervals have of its time in the driver */
	uint32_t task, file, cpu, requeues;
	uint32_t beside;   /* number of requests that were in the driver when it came there */
	uint32_t nameless; /* number of requests with this address that were in the driver at once */
	uint8_t operation;
	bool in_driver;
};

struct block_row {
	uint64_t bytes, errors, requeues;
	uint64_t in_driver;         /* d2c of all */
	uint32_t device, task, who; /* who: as pass_group(), or the file */
	uint8_t operation;
	struct samples sizes, q2c, q2d, d2c;
	struct extreme longest; /* by its time in the driver (d2c); if there is none, by q2c */
};

/* One of the longest requests. */
struct block_slow {
	uint64_t lasted; /* in the driver (d2c); of a bio that is no request, as a whole (q2c) */
	uint64_t at, sector, bytes;
	uint64_t queued; /* the time before it came to the driver (q2d), if `known` */
	uint32_t device, task, cpu, beside;
	char comm[TASK_COMM_LEN]; /* of the task, when it ended */
	uint8_t operation;
	bool failed, known;
};

struct block_sizes {
	uint32_t device, task, who;
	uint8_t operation;
	struct {
		uint64_t requests, bytes;
	} of[BLOCK_SIZES]; /* [i]: of at least 2^i bytes and less than twice that; [0]: also of no bytes */
};

struct block_analysis {
	struct pass *pass;
	struct block_options options;
	enum block_by by;
	enum who_part part; /* of BLOCK_BY_WHO */
	struct roles roles, file_roles;
	struct block_places {
		struct place device, sector, sectors, bytes, rwbs, other, error;
	} places[BLOCK_ROLES];  /* by role */
	struct u64_map numbers; /* by device number: uint32_t, index + 1 */
	struct block_device *devices;
	size_t nr_devices;
	struct u64_map bios, requests, rows;
	struct u64_map sizes;   /* by the row's key: struct block_sizes */
	struct slowest slowest; /* struct block_slow */
	uint64_t seen, cut, broken, nameless, forgotten;
	uint64_t by_workers; /* bios that a kworker queued */
	/* block_files.c, with `of_files` */
	bool of_files;              /* for which file a request is, is asked for */
	struct block_inode *inodes; /* from BLOCK_FILES on */
	size_t nr_inodes;
	struct u64_map inode_numbers; /* by both numbers: uint32_t, the index, from BLOCK_FILES on */
	struct u64_map users;         /* by PID: struct block_user */
	struct block_file_places {
		bool bound, has;
		struct inode_place inode;
	} * file_places; /* by event_type::index */
	size_t nr_file_places;
	uint64_t file_events;
};

/* block_files.c */
enum block_file_role { BLOCK_FILE_BEGIN = BLOCK_ROLES, BLOCK_FILE_END, BLOCK_FILE_CALL };
extern const struct role_name block_file_names[];
/* An event of a file system or of the page cache, or one that ends what it said. */
void block_see_file(struct block_analysis *block, const struct event *event, enum block_file_role role);
/* The file for which the task of the event queues a bio of so many bytes. */
uint32_t block_file_of(struct block_analysis *block, const struct event *event, const struct place *rwbs,
		       uint64_t bytes);
/* Whether the user asked for requests for this file. */
bool block_wants_file(const struct block_analysis *block, uint32_t file);
void block_put_file(struct table *table, const struct block_analysis *block, uint32_t file);
void block_files_release(struct block_analysis *block);

/* Adds the time up to now to the device's time at its depth. */
static inline void block_settle(struct block_device *device, uint64_t now)
{
	uint64_t lasted = now > device->since ? now - device->since : 0;

	if (device->depth)
		device->busy += lasted;
	device->weighed += device->depth * lasted;
	device->since = now;
}

/* Counts a request or bio that has ended, in its row if the user asked for it. */
void block_count(struct block_analysis *block, uint32_t disk, const struct block_request *request, uint64_t sectors,
		 bool failed, uint64_t now);
/* The row of a request, if the user asked for it; NULL: he did not, or there is no memory. */
struct block_row *block_row(struct block_analysis *block, uint32_t disk, const struct block_request *request);

/* block_divide.c: what the end of an interval cuts. */
void block_divide(void *arg);
void block_carry(void *arg, void *before);

extern const struct table_column block_columns[];
extern const struct analysis_slow block_slow[];
int must_check block_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
