// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/block/block.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

#define BIO "u32 dev; u64 sector; u32 nr_sector; char rwbs[8]"

static void types(struct loom *loom)
{
	loom_type(loom, "block", "block_bio_queue", BIO, "\"\"");
	loom_type(loom, "block", "block_bio_backmerge", BIO, "\"\"");
	loom_type(loom, "block", "block_bio_frontmerge", BIO, "\"\"");
	loom_type(loom, "block", "block_bio_complete", BIO "; int error", "\"\"");
	loom_type(loom, "block", "block_split", "u32 dev; u64 sector; u64 new_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_issue", BIO, "\"\"");
	loom_type(loom, "block", "block_rq_requeue", BIO, "\"\"");
	loom_type(loom, "block", "block_rq_complete", "u32 dev; u64 sector; u32 nr_sector; int error; char rwbs[8]",
		  "\"\"");
	loom_task(loom, 7, "dd");
}

TEST(block_tells_waits_and_device_times_of_two_requests_and_the_depth)
{
	struct analysed analysed;

	/* Device 0x800000 is 8:0. Of the two reads, the second lies directly behind the first on the disk. */
	if (!analysed_begin(&analysed, &block_analysis, NULL, types,
			    "0 1000 7 block_bio_queue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "0 1100 7 block_rq_issue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "0 1200 7 block_bio_queue dev=0x800000 sector=16 nr_sector=8 rwbs=R\n"
			    "0 1500 7 block_rq_issue dev=0x800000 sector=16 nr_sector=8 rwbs=R\n"
			    "1 2100 0 block_rq_complete dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "1 3500 0 block_rq_complete dev=0x800000 sector=16 nr_sector=8 rwbs=R error=-5\n"))
		return;
	CHECK(analysed_is(&analysed, "requests", "8:0", "operation", "read") &&
	      analysed_is(&analysed, "requests", "8:0", "requests", "2"));
	CHECK(analysed_is(&analysed, "requests", "8:0", "bytes", "8192") &&
	      analysed_is(&analysed, "requests", "8:0", "size_p50_bytes", "4096"));
	CHECK(analysed_is(&analysed, "requests", "8:0", "d2c_ns", "3000") &&
	      analysed_is(&analysed, "requests", "8:0", "d2c_max_ns", "2000"));
	CHECK(analysed_is(&analysed, "requests", "8:0", "q2d_p50_ns", "100") &&
	      analysed_is(&analysed, "requests", "8:0", "q2d_max_ns", "300"));
	CHECK(analysed_is(&analysed, "requests", "8:0", "q2c_max_ns", "2300") &&
	      analysed_is(&analysed, "requests", "8:0", "max_at", "0.000003500"));
	CHECK(analysed_is(&analysed, "requests", "8:0", "max_pid", "7") &&
	      analysed_is(&analysed, "requests", "8:0", "errors", "1"));
	/* The disk is busy from 1100 to 3500 and has two requests from 1500 to 2100: (2400 + 600) / 2400. */
	CHECK(analysed_is(&analysed, "devices", "8:0", "busy", "2400") &&
	      analysed_is(&analysed, "devices", "8:0", "depth_average", "1.25"));
	CHECK(analysed_is(&analysed, "devices", "8:0", "deepest", "2") &&
	      analysed_is(&analysed, "devices", "8:0", "sequential_percent", "50.0"));
	CHECK_STR(buf_str(&analysed.findings.cut), "");
	analysed_end(&analysed);
}

TEST(block_shows_the_longest_requests_with_their_task_and_what_the_device_had_besides)
{
	static const struct block_options longer = { .rows = { .slowest = 5, .longer = 1500 } };
	struct analysed analysed;

	/* Of three requests two took longer than 1500: 2000, with the second and third behind it, and 1900. */
	if (!analysed_begin(&analysed, &block_analysis, &longer, types,
			    "0 1000 7 block_bio_queue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "0 1100 7 block_rq_issue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "0 1200 7 block_bio_queue dev=0x800000 sector=16 nr_sector=8 rwbs=R\n"
			    "0 1600 7 block_rq_issue dev=0x800000 sector=16 nr_sector=8 rwbs=R\n"
			    "1 3100 0 block_rq_complete dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "1 3500 0 block_rq_complete dev=0x800000 sector=16 nr_sector=8 rwbs=R error=-5\n"
			    "0 4000 7 block_bio_queue dev=0x800000 sector=64 nr_sector=8 rwbs=W\n"
			    "0 4000 7 block_rq_issue dev=0x800000 sector=64 nr_sector=8 rwbs=W\n"
			    "0 5500 0 block_rq_complete dev=0x800000 sector=64 nr_sector=8 rwbs=W\n"))
		return;
	CHECK(analysed_is(&analysed, "slowest", "2000", "comm", "dd") &&
	      analysed_is(&analysed, "slowest", "2000", "since", "0.000001100") &&
	      analysed_is(&analysed, "slowest", "2000", "cause", "device"));
	CHECK(analysed_is(&analysed, "slowest", "1900", "sector", "16") &&
	      analysed_is(&analysed, "slowest", "1900", "queued_ns", "400") &&
	      analysed_is(&analysed, "slowest", "1900", "cause", "failed: device with 1 other"));
	CHECK(strstr(buf_str(&analysed.findings.notes), "longer than 1.5 us: 2 requests"));
	analysed_end(&analysed);
}

TEST(block_takes_the_last_of_two_issues_for_the_device_and_the_first_for_the_wait)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &block_analysis, NULL, types,
			    "0 1000 7 block_bio_queue dev=0x800000 sector=8 nr_sector=8 rwbs=WS\n"
			    "0 1100 7 block_rq_issue dev=0x800000 sector=8 nr_sector=8 rwbs=WS\n"
			    "0 1200 7 block_rq_requeue dev=0x800000 sector=8 nr_sector=8 rwbs=WS\n"
			    "0 1900 9 block_rq_issue dev=0x800000 sector=8 nr_sector=8 rwbs=WS\n"
			    "0 2000 9 block_rq_issue dev=0x800000 sector=8 nr_sector=8 rwbs=WS\n"
			    "1 2100 0 block_rq_complete dev=0x800000 sector=8 nr_sector=4 rwbs=WS\n"
			    "1 2500 0 block_rq_complete dev=0x800000 sector=12 nr_sector=4 rwbs=WS\n"))
		return;
	CHECK(analysed_is(&analysed, "requests", "8:0", "q2d_p50_ns", "100") &&
	      analysed_is(&analysed, "requests", "8:0", "d2c_ns", "500"));
	CHECK(analysed_is(&analysed, "requests", "8:0", "requests", "1") &&
	      analysed_is(&analysed, "requests", "8:0", "bytes", "4096"));
	CHECK(analysed_is(&analysed, "requests", "8:0", "q2c_max_ns", "1500") &&
	      analysed_is(&analysed, "requests", "8:0", "requeued", "1"));
	CHECK(analysed_is(&analysed, "devices", "8:0", "requeues", "1") &&
	      analysed_is(&analysed, "devices", "8:0", "reissues", "1"));
	/* Requests are in the driver from 1100 to 1200 and from 1900 to 2500. */
	CHECK(analysed_is(&analysed, "devices", "8:0", "busy", "700"));
	analysed_end(&analysed);
}

TEST(block_charges_the_task_that_queued_and_knows_partitions_merges_splits_and_flushes)
{
	struct analysed analysed;

	/* 8:1 is a partition of 8:0; its bios have the sectors of the whole disk. */
	if (!analysed_begin(&analysed, &block_analysis, &(struct block_options){ .rows.by = BLOCK_BY_TASK }, types,
			    "0 1000 7 block_bio_queue dev=0x800001 sector=100 nr_sector=16 rwbs=W\n"
			    "0 1010 7 block_split dev=0x800001 sector=100 new_sector=108 rwbs=W\n"
			    "0 1100 7 block_bio_queue dev=0x800001 sector=116 nr_sector=8 rwbs=W\n"
			    "0 1110 7 block_bio_backmerge dev=0x800001 sector=116 nr_sector=8 rwbs=W\n"
			    "0 2000 9 block_rq_issue dev=0x800000 sector=100 nr_sector=8 rwbs=W\n"
			    "0 2100 9 block_rq_issue dev=0x800000 sector=108 nr_sector=16 rwbs=W\n"
			    "0 2200 9 block_rq_complete dev=0x800000 sector=100 nr_sector=8 rwbs=W\n"
			    "0 2300 9 block_rq_complete dev=0x800000 sector=108 nr_sector=16 rwbs=W\n"
			    "0 2400 9 block_rq_issue dev=0x800000 sector=0 nr_sector=0 rwbs=FF\n"
			    "0 2500 9 block_rq_complete dev=0x800000 sector=0xffffffffffffffff nr_sector=0 rwbs=FF\n"
			    "0 2600 9 block_rq_complete dev=0x800000 sector=100 nr_sector=0 rwbs=W\n"
			    "0 3000 7 block_bio_queue dev=0xfd00000 sector=4 nr_sector=2 rwbs=R\n"
			    "0 3400 9 block_bio_complete dev=0xfd00000 sector=4 nr_sector=2 rwbs=R\n"))
		return;
	/* A row for each operation: sorted, the one that took longest in the device comes first. */
	CHECK(analysed_is(&analysed, "requests", "dd", "operation", "read") &&
	      analysed_is(&analysed, "requests", "dd", "q2c_max_ns", "400"));
	CHECK(!findings_arrange(&analysed.findings, &(struct findings_options){ .top = UINT64_MAX }, NULL));
	CHECK(analysed_is(&analysed, "requests", "dd", "operation", "write") &&
	      analysed_is(&analysed, "requests", "dd", "requests", "2") &&
	      analysed_is(&analysed, "requests", "dd", "d2c_ns", "400"));
	CHECK(analysed_is(&analysed, "requests", "dd", "q2c_max_ns", "1300") &&
	      analysed_is(&analysed, "requests", "dd", "q2c_p50_ns", "1200"));
	CHECK(analysed_is(&analysed, "requests", "<...>", "pid", "9") &&
	      analysed_is(&analysed, "requests", "<...>", "d2c_ns", "100"));
	CHECK(analysed_is(&analysed, "devices", "8:0", "sequential_percent", "50.0"));
	CHECK_STR(buf_str(&analysed.findings.cut), "");
	CHECK_STR(buf_str(&analysed.findings.notes), "");
	analysed_end(&analysed);
}

TEST(block_counts_what_the_start_the_end_and_lost_events_hide)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &block_analysis, NULL, types,
			    "0 1000 7 block_rq_complete dev=0x800000 sector=1 nr_sector=1 rwbs=R\n"
			    "0 1100 7 block_rq_issue dev=0x800000 sector=2 nr_sector=1 rwbs=R\n"
			    "1 lost 3\n"
			    "1 1500 7 block_rq_complete dev=0x800000 sector=2 nr_sector=1 rwbs=R\n"
			    "0 1600 7 block_rq_issue dev=0x800000 sector=3 nr_sector=1 rwbs=R\n"))
		return;
	CHECK_STR(buf_str(&analysed.findings.cut),
		  "1 request issued before the start, 1 request in the driver or queue at the end");
	CHECK_STR(buf_str(&analysed.findings.broken), "2 requests, 1 gap");
	analysed_end(&analysed);
}

/* Two reads of the same sectors at the same time, without the page cache. */
TEST(block_tells_of_requests_of_one_place_that_it_cannot_tell_apart)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &block_analysis, NULL, types,
			    "0 1000 7 block_bio_queue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "0 1100 7 block_rq_issue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "0 1200 9 block_bio_queue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "0 1500 9 block_rq_issue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "1 2100 0 block_rq_complete dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "1 3500 0 block_rq_complete dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"))
		return;
	CHECK_STR(
		buf_str(&analysed.findings.notes),
		"2 requests are not counted: another request for the same sector was in the driver at the same time\n");
	CHECK_STR(buf_str(&analysed.findings.cut), "");
	analysed_end(&analysed);
}

/* Of 512 bytes, of 4 KiB (two), of 6 KiB, and a read, which --operation leaves out. */
TEST(block_counts_sizes_by_powers_of_two_and_only_the_operations_that_are_wanted)
{
	static const struct block_options options = { .operations = 1U << BLOCK_WRITE, .sizes = true };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &block_analysis, &options, types,
			    "0 2000 9 block_rq_issue dev=0x800000 sector=100 nr_sector=1 rwbs=W\n"
			    "0 2100 9 block_rq_complete dev=0x800000 sector=100 nr_sector=1 rwbs=W\n"
			    "0 2200 9 block_rq_issue dev=0x800000 sector=200 nr_sector=8 rwbs=W\n"
			    "0 2300 9 block_rq_complete dev=0x800000 sector=200 nr_sector=8 rwbs=W\n"
			    "0 2400 9 block_rq_issue dev=0x800000 sector=300 nr_sector=8 rwbs=WS\n"
			    "0 2500 9 block_rq_complete dev=0x800000 sector=300 nr_sector=8 rwbs=WS\n"
			    "0 2600 9 block_rq_issue dev=0x800000 sector=400 nr_sector=12 rwbs=W\n"
			    "0 2700 9 block_rq_complete dev=0x800000 sector=400 nr_sector=12 rwbs=W\n"
			    "0 2800 9 block_rq_issue dev=0x800000 sector=500 nr_sector=8 rwbs=R\n"
			    "0 2900 9 block_rq_complete dev=0x800000 sector=500 nr_sector=8 rwbs=R\n"))
		return;
	/* One row, of the writes. */
	CHECK(analysed.findings.items[0].table.nr_items == analysed.findings.items[0].table.nr_columns);
	CHECK(analysed_is(&analysed, "requests", "8:0", "operation", "write") &&
	      analysed_is(&analysed, "requests", "8:0", "requests", "4"));
	CHECK(analysed_is(&analysed, "sizes", "8:0", "at_least_bytes", "512") &&
	      analysed_is(&analysed, "sizes", "8:0", "requests", "1"));
	/* The size with the most requests first: 4 KiB up to 8 KiB. */
	CHECK(table_sort(&analysed.findings.items[1].table, 4));
	CHECK(analysed_is(&analysed, "sizes", "8:0", "at_least_bytes", "4096") &&
	      analysed_is(&analysed, "sizes", "8:0", "requests", "3") &&
	      analysed_is(&analysed, "sizes", "8:0", "bytes", "14336"));
	analysed_end(&analysed);
}

/* As the kernel's lists do, which hold requests and not sectors. */
TEST(block_does_not_end_a_write_by_a_read_of_its_sector)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &block_analysis, NULL, types,
			    "0 1000 7 block_rq_issue dev=0x800000 sector=8 nr_sector=16 rwbs=WS\n"
			    "0 5000 7 block_rq_issue dev=0x800000 sector=8 nr_sector=16 rwbs=R\n"
			    "1 6000 0 block_rq_complete dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "1 7000 0 block_rq_complete dev=0x800000 sector=16 nr_sector=8 rwbs=R\n"))
		return;
	CHECK(analysed_is(&analysed, "requests", "8:0", "operation", "read") &&
	      analysed_is(&analysed, "requests", "8:0", "requests", "1"));
	CHECK(analysed_is(&analysed, "requests", "8:0", "bytes", "8192") &&
	      analysed_is(&analysed, "requests", "8:0", "d2c_max_ns", "2000"));
	CHECK(analysed_is(&analysed, "devices", "8:0", "reissues", "0") &&
	      analysed_is(&analysed, "devices", "8:0", "deepest", "2"));
	CHECK_STR(buf_str(&analysed.findings.cut), "1 request in the driver or queue at the end");
	analysed_end(&analysed);
}

static void types_of_files(struct loom *loom)
{
	types(loom);
	loom_type(loom, "filemap", "mm_filemap_add_to_page_cache",
		  "u64 pfn; u64 i_ino; u64 index; u32 s_dev; u32 order", "\"\"");
	loom_type(loom, "ext4", "ext4_writepages", "u32 dev; u64 ino", "\"\"");
	loom_type(loom, "ext4", "ext4_writepages_result", "u32 dev; u64 ino", "\"\"");
	loom_type(loom, "writeback", "writeback_single_inode_start", "char name[32]; u64 ino", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_enter", "u64 id", "\"\"");
}

/* A request of a bio, queued at AT0, in units of 1 ns. */
#define QUEUED(at, pid, what) "0 " at "0 " pid " block_bio_queue dev=0x800001 " what
#define ONE(at, pid, sector, sectors, rwbs)                                                                     \
	QUEUED(at, pid, "sector=" sector " nr_sector=" sectors " rwbs=" rwbs "\n")                              \
	"0 " at "1 " pid " block_rq_issue dev=0x800000 sector=" sector " nr_sector=" sectors " rwbs=" rwbs "\n" \
	"0 " at "2 0 block_rq_complete dev=0x800000 sector=" sector " nr_sector=" sectors " rwbs=" rwbs "\n"

/* 8:1 has the file system: 0x800001. The inode of a disk has the number of the disk, and no device. */
TEST(block_adds_up_by_file_what_events_tell_and_the_rest_is_unknown)
{
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &block_analysis, &(struct block_options){ .rows.by = BLOCK_BY_FILE }, types_of_files,
		    /* Three pages of one file and the file system's own block between them. */
		    "0 90 7 mm_filemap_add_to_page_cache i_ino=12 s_dev=0x800001 order=1\n"
		    "0 91 7 mm_filemap_add_to_page_cache i_ino=12 s_dev=0x800001 order=0\n"
		    "0 92 7 mm_filemap_add_to_page_cache i_ino=0x800001 s_dev=0x3 order=0\n" ONE("10", "7", "800", "8",
												 "RM")
			    ONE("11", "7", "8", "16", "R") ONE("12", "7", "24", "8", "RA")
		    /* All pages that were wanted have been read: nothing tells what this is. */
		    ONE("13", "7", "64", "8", "R")
		    /* A disk that is read itself. */
		    "0 139 7 mm_filemap_add_to_page_cache i_ino=0x800001 s_dev=0x3 order=0\n" ONE("14", "7", "72", "8",
												  "R")
		    /* What is written back is for the file until that ends. */
		    "0 149 9 ext4_writepages dev=0x800001 ino=13\n" ONE("15", "9", "160", "24", "W")
			    ONE("16", "9", "184", "8",
				"W") "0 169 9 ext4_writepages_result dev=0x800001 ino=13\n" ONE("17", "9", "200", "8",
												"W")
		    /* A file system without events of its own: the disk, by its name. */
		    "0 179 9 writeback_single_inode_start name=8:0 ino=14\n" ONE("18", "9", "300", "8", "W")
		    /* Another call of the task is about another file. */
		    "0 189 7 mm_filemap_add_to_page_cache i_ino=12 s_dev=0x800001 order=0\n"
		    "0 190 7 sys_enter id=0\n" ONE("20", "7", "400", "8", "R")))
		return;
	CHECK(analysed_is(&analysed, "requests", "inode 12 of 8:1", "bytes", "12288") &&
	      analysed_is(&analysed, "requests", "inode 12 of 8:1", "requests", "2"));
	CHECK(analysed_is(&analysed, "requests", "inode 13 of 8:1", "bytes", "16384") &&
	      analysed_is(&analysed, "requests", "inode 13 of 8:1", "operation", "write"));
	CHECK(analysed_is(&analysed, "requests", "inode 14 of 8:0", "bytes", "4096"));
	CHECK(analysed_is(&analysed, "requests", "(metadata)", "bytes", "4096") &&
	      analysed_is(&analysed, "requests", "(the device)", "bytes", "4096"));
	CHECK(analysed_is(&analysed, "requests", "(unknown)", "operation", "read") &&
	      analysed_is(&analysed, "requests", "(unknown)", "bytes", "8192"));
	analysed_end(&analysed);
}

static void named(struct loom *loom)
{
	types(loom);
	loom_setting(loom, "weft/disks", "8:1 sda1\n8:0 sda\n80:0 other\n");
}

TEST(block_names_the_disks_that_the_recording_knows)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &block_analysis, NULL, named,
			    "0 1100 7 block_rq_issue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
			    "0 1200 7 block_rq_issue dev=0x800002 sector=16 nr_sector=8 rwbs=R\n"
			    "1 2100 0 block_rq_complete dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"))
		return;
	CHECK(analysed_is(&analysed, "devices", "8:0", "name", "sda") &&
	      analysed_is(&analysed, "devices", "8:2", "name", ""));
	analysed_end(&analysed);
}
