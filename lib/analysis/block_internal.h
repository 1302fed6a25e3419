/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_BLOCK_INTERNAL_H
#define WEFT_ANALYSIS_BLOCK_INTERNAL_H

#include "lib/analysis/block.h"
#include "lib/analysis/extreme.h"
#include "lib/analysis/pass.h"
#include "lib/base/table.h"
#include "lib/base/u64_map.h"
#include "lib/event/place.h"
#include "lib/event/roles.h"

/*
 * What the analysis `block` knows, between block.c, which follows requests from queue to completion, and
 * block_tables.c. A request is known by its disk and first sector. Events of bios name the partition, with sectors of
 * the whole disk; which disk that is the first request tells that begins where such a bio waits.
 */
enum { BLOCK_COLUMNS = 23, BLOCK_DEVICES_MAX = 4096, BLOCK_ROLES = 11 };
enum block_operation { BLOCK_READ, BLOCK_WRITE, BLOCK_DISCARD, BLOCK_FLUSH, BLOCK_OTHER };

struct block_device {
	uint32_t number; /* the kernel's dev_t: major << 20 | minor */
	uint32_t disk;   /* index of the disk that it is a partition of; its own index: unknown */
	bool requests;   /* it has requests of its own: it is a disk */
	bool stacked;    /* its bios go to other devices */
	uint64_t first_issues, sequential, end; /* end: the sector after the last request */
	uint64_t merges, splits, requeues, reissues, errors;
	uint64_t depth, deepest;       /* requests that are in the driver */
	uint64_t since, busy, weighed; /* busy: while the depth was not 0; weighed: the depth over that time */
};

/* A bio that is queued, by block_key(). */
struct block_bio {
	uint64_t queued;
	uint32_t task;
	uint8_t operation;
};

/* A request from its first issue on, by block_key(). */
struct block_request {
	uint64_t queued;        /* 0: not known */
	uint64_t first, last;   /* issues */
	uint64_t sectors, done; /* done: of parts that ended before */
	uint32_t task, cpu, requeues;
	uint32_t nameless; /* so many requests of this place were in the driver at once: which ends is not known */
	uint8_t operation;
	bool in_driver;
};

struct block_row {
	uint64_t bytes, errors, requeues;
	uint32_t device, task;
	uint8_t operation;
	struct samples sizes, q2c, q2d, d2c;
	struct extreme longest; /* of d2c; without any, of q2c */
};

struct analysis {
	struct pass *pass;
	struct block_options options;
	struct roles roles;
	struct block_places {
		struct place device, sector, sectors, bytes, rwbs, other, error;
	} places[BLOCK_ROLES];  /* by role */
	struct u64_map numbers; /* of devices: uint32_t, index + 1 */
	struct block_device *devices;
	size_t nr_devices;
	struct u64_map bios, requests, rows;
	uint64_t seen, cut, broken, nameless, forgotten;
	struct table_column columns[BLOCK_COLUMNS];
};

/* Counts the time at the depth that was up to now. */
void block_settle(struct block_device *device, uint64_t now);
/* Counts a request or bio that has ended, in its row if that is asked for. */
void block_count(struct analysis *block, uint32_t disk, const struct block_request *request, uint64_t sectors,
		 bool failed, uint64_t now);
int must_check block_finish(struct analysis *block, struct findings *findings, struct fail *fail);

#endif
