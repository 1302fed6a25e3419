// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "kmem", "kmalloc", "u64 call_site; u64 ptr; u64 bytes_req; u64 bytes_alloc", "\"\"");
	loom_type(loom, "kmem", "kmem_cache_alloc", "u64 ptr; u64 call_site; u64 bytes_req; u64 bytes_alloc", "\"\"");
	loom_type(loom, "kmem", "kfree", "u64 call_site; u64 ptr", "\"\"");
	loom_type(loom, "kmem", "mm_page_alloc", "u64 pfn; u32 order", "\"\"");
	loom_type(loom, "kmem", "mm_page_free", "u64 pfn; u32 order", "\"\"");
	loom_type(loom, "vmscan", "mm_vmscan_direct_reclaim_begin", "int order", "\"\"");
	loom_type(loom, "vmscan", "mm_vmscan_direct_reclaim_end", "u64 nr_reclaimed", "\"\"");
	loom_type(loom, "exceptions", "page_fault_user", "u64 address", "\"\"");
	loom_type(loom, "oom", "mark_victim", "int pid", "\"\"");
	loom_task(loom, 7, "ls");
}

TEST(memory_tells_what_is_alive_at_the_end_by_who_asked)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &memory_analysis, NULL, types,
			    "0 1000 7 kmalloc call_site=0x50 ptr=0x1000 bytes_req=20 bytes_alloc=32\n"
			    "0 1100 7 kmalloc call_site=0x50 ptr=0x2000 bytes_req=30 bytes_alloc=32\n"
			    "0 1200 7 kmem_cache_alloc call_site=0x60 ptr=0x3000 bytes_req=100 bytes_alloc=128\n"
			    "0 1250 7 kmalloc call_site=0x60 ptr=0 bytes_req=100 bytes_alloc=128\n"
			    "1 1300 8 kfree call_site=0x70 ptr=0x1000\n"
			    "1 1400 8 kfree call_site=0x70 ptr=0x9000\n"
			    "1 1500 8 kfree call_site=0x70 ptr=0\n"
			    "0 1600 7 kmem_cache_alloc call_site=0x60 ptr=0x3000 bytes_req=100 bytes_alloc=128\n"
			    "0 2100 7 mm_page_alloc pfn=1 order=2\n"
			    "0 2200 7 mm_page_free pfn=1 order=2\n"
			    "0 2300 7 mm_page_alloc pfn=9 order=0\n"))
		return;
	CHECK(analysed_is(&analysed, "callers", "0x50", "allocs", "2") &&
	      analysed_is(&analysed, "callers", "0x50", "asked", "50"));
	CHECK(analysed_is(&analysed, "callers", "0x50", "given", "64") &&
	      analysed_is(&analysed, "callers", "0x50", "freed", "1"));
	CHECK(analysed_is(&analysed, "callers", "0x50", "alive", "1") &&
	      analysed_is(&analysed, "callers", "0x50", "alive_bytes", "32"));
	CHECK(analysed_is(&analysed, "callers", "0x50", "oldest_age_ns", "1200") &&
	      analysed_is(&analysed, "callers", "0x50", "freed_on_other_cpu", "1"));
	CHECK(analysed_is(&analysed, "callers", "0x60", "alive", "1") &&
	      analysed_is(&analysed, "callers", "0x60", "failed", "1"));
	CHECK(analysed_is(&analysed, "pages", "2", "difference", "0") &&
	      analysed_is(&analysed, "pages", "0", "allocated", "1"));
	CHECK_STR(buf_str(&analysed.findings.cut), "1 free of what was allocated before the start");
	CHECK_STR(buf_str(&analysed.findings.notes),
		  "1 time an address was allocated again without an event that freed it\n");
	analysed_end(&analysed);
}

TEST(memory_charges_stalls_and_faults_to_the_task_that_waits)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &memory_analysis, NULL, types,
			    "0 1000 7 mm_vmscan_direct_reclaim_begin order=0\n"
			    "0 1100 7 page_fault_user address=5\n"
			    "0 4000 7 mm_vmscan_direct_reclaim_end nr_reclaimed=64\n"
			    "1 4500 8 mm_vmscan_direct_reclaim_end nr_reclaimed=64\n"
			    "0 5000 7 mm_vmscan_direct_reclaim_begin order=0\n"
			    "0 6000 7 mark_victim pid=99\n"))
		return;
	CHECK(analysed_is(&analysed, "stalls", "direct reclaim", "total", "3000") &&
	      analysed_is(&analysed, "stalls", "direct reclaim", "pages", "64"));
	CHECK(analysed_is(&analysed, "stalls", "direct reclaim", "pid", "7") &&
	      analysed_is(&analysed, "faults", "ls", "user", "1"));
	CHECK_STR(buf_str(&analysed.findings.cut), "1 stall that began before the start, 1 stall under way at the end");
	CHECK_STR(buf_str(&analysed.findings.notes), "out of memory at 0.000006000: the kernel chose the process 99\n");
	analysed_end(&analysed);
}

TEST(memory_does_not_call_alive_what_lost_events_may_have_freed)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &memory_analysis, NULL, types,
			    "0 1000 7 kmalloc call_site=0x50 ptr=0x1000 bytes_req=20 bytes_alloc=32\n"
			    "1 1100 8 kfree call_site=0x70 ptr=0\n"
			    "1 lost 2\n"
			    "1 1500 8 kfree call_site=0x70 ptr=0\n"))
		return;
	CHECK(analysed_is(&analysed, "callers", "0x50", "allocs", "1") &&
	      analysed_is(&analysed, "callers", "0x50", "alive", "0"));
	CHECK_STR(buf_str(&analysed.findings.broken), "1 allocation that may be alive or not, 1 gap");
	analysed_end(&analysed);
}

TEST(memory_sorts_rows_that_are_equal_by_the_name_of_the_caller)
{
	static const char *const rows[] = { "0x10", "0x20", "0x30", "0x40", "0x50", "0x60" };
	const struct findings_options options = { .top = UINT64_MAX };
	struct analysed analysed;
	const struct table *table;

	if (!analysed_begin(&analysed, &memory_analysis, NULL, types,
			    "0 1000 7 kmalloc call_site=0x60 ptr=0x1000 bytes_req=32 bytes_alloc=32\n"
			    "0 1010 7 kmalloc call_site=0x20 ptr=0x2000 bytes_req=32 bytes_alloc=32\n"
			    "0 1020 7 kmalloc call_site=0x50 ptr=0x3000 bytes_req=32 bytes_alloc=32\n"
			    "0 1030 7 kmalloc call_site=0x10 ptr=0x4000 bytes_req=32 bytes_alloc=32\n"
			    "0 1040 7 kmalloc call_site=0x40 ptr=0x5000 bytes_req=32 bytes_alloc=32\n"
			    "0 1050 7 kmalloc call_site=0x30 ptr=0x6000 bytes_req=32 bytes_alloc=32\n"))
		return;
	CHECK(!findings_arrange(&analysed.findings, &options, NULL));
	table = &analysed.findings.items[0].table;
	for (size_t i = 0; i < array_size(rows); i++)
		CHECK(!strcmp(table_text_at(table, i, 0), rows[i]));
	analysed_end(&analysed);
}
