// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/latency/latency.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom->version = 6;
	loom_type(loom, "ftrace", "osnoise",
		  "u64 noise; u64 runtime; u64 max_sample; u32 hw_count; u32 nmi_count; u32 irq_count; "
		  "u32 softirq_count; u32 thread_count",
		  "\"\"");
	loom_type(loom, "osnoise", "sample_threshold", "u64 start; u64 duration; u64 interference", "\"\"");
	loom_type(loom, "osnoise", "nmi_noise", "u64 start; u64 duration", "\"\"");
	loom_type(loom, "osnoise", "irq_noise", "u64 start; u64 duration; __data_loc char[] desc; int vector", "\"\"");
	loom_type(loom, "osnoise", "softirq_noise", "u64 start; u64 duration; int vector", "\"\"");
	loom_type(loom, "osnoise", "thread_noise", "char comm[16]; u64 start; u64 duration; pid_t pid", "\"\"");
}

/*
 * A period of 100 us on CPU 0. At 10000 comes a noise of 9000: an interrupt took 2000 besides the NMI of 500 that hit
 * it, a softirq 1000, a task 3000; the remaining 2500 were the way into and out of them. At 30000 the hardware took
 * 6000. At 50000 comes a noise of 7000 in which the kernel counted two interruptions, of which one was recorded.
 * Between the noises came an interrupt that was too short to be a noise. The sum is 22 us.
 */
static const char period[] =
	"0 9000 7 irq_noise start=8000 duration=900 desc=timer vector=236\n"
	"0 12000 7 nmi_noise common_flags=16 start=11500 duration=500\n"
	"0 12900 7 irq_noise common_flags=8 start=10400 duration=2000 desc=timer vector=236\n"
	"0 14000 7 softirq_noise start=13000 duration=1000 vector=9\n"
	"0 18500 8 thread_noise comm=eight start=15000 duration=3000 pid=8\n"
	"0 19100 7 sample_threshold start=10000 duration=9000 interference=4\n"
	"0 36100 7 sample_threshold start=30000 duration=6000 interference=0\n"
	"0 52000 7 irq_noise common_flags=8 start=51000 duration=1000 desc=disk vector=11\n"
	"0 57100 7 sample_threshold start=50000 duration=7000 interference=2\n"
	"0 100000 7 osnoise noise=22 runtime=100 max_sample=9 hw_count=1 nmi_count=1 irq_count=3 softirq_count=1 "
	"thread_count=1\n";

TEST(latency_splits_noises_of_osnoise_into_parts_that_add_up)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types, period))
		return;
	CHECK(analysed_is(&analysed, "noises", "9000", "nmi_ns", "500"));
	CHECK(analysed_is(&analysed, "noises", "9000", "irq_ns", "2000"));
	CHECK(analysed_is(&analysed, "noises", "9000", "softirq_ns", "1000"));
	CHECK(analysed_is(&analysed, "noises", "9000", "thread_ns", "3000"));
	CHECK(analysed_is(&analysed, "noises", "9000", "way_ns", "2500"));
	CHECK(analysed_is(&analysed, "noises", "9000", "unknown_ns", "0"));
	CHECK(analysed_is(&analysed, "noises", "9000", "cause", "thread eight:8"));
	CHECK(analysed_is(&analysed, "noises", "6000", "hardware_ns", "6000"));
	CHECK(analysed_is(&analysed, "noises", "7000", "irq_ns", "1000"));
	CHECK(analysed_is(&analysed, "noises", "7000", "unknown_ns", "6000"));
	analysed_end(&analysed);
}

TEST(latency_adds_noises_of_osnoise_up_to_its_sample)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types, period))
		return;
	CHECK(analysed_is(&analysed, "osnoise", "22000", "irq_ns", "3000"));
	CHECK(analysed_is(&analysed, "osnoise", "22000", "hardware_ns", "6000"));
	CHECK(analysed_is(&analysed, "osnoise", "22000", "way_ns", "2500"));
	CHECK(analysed_is(&analysed, "osnoise", "22000", "unknown_ns", "6000"));
	CHECK(analysed_is(&analysed, "osnoise", "22000", "runtime_ns", "100000"));
	CHECK(analysed_is(&analysed, "osnoise", "22000", "largest_ns", "9000"));
	CHECK(analysed_is(&analysed, "osnoise", "22000", "noises", "3"));
	/* The interrupt between the noises is not a source of noise. */
	CHECK(analysed_is(&analysed, "sources", "irq timer:236", "total_ns", "2000"));
	CHECK(analysed_is(&analysed, "sources", "irq timer:236", "count", "1"));
	CHECK(analysed_is(&analysed, "sources", "irq disk:11", "total_ns", "1000"));
	CHECK(analysed_is(&analysed, "sources", "thread eight:8", "max_ns", "3000"));
	CHECK(analysed_is(&analysed, "sources", "hardware", "count", "1"));
	analysed_end(&analysed);
}

/*
 * The kernel counted 30 us, of which the file has 22: the first sample began before the file, and a later one lost some
 * noise.
 */
TEST(latency_says_what_of_a_sample_of_osnoise_is_not_in_the_file)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 36100 7 sample_threshold start=30000 duration=6000 interference=0\n"
			    "0 100000 7 osnoise noise=30 runtime=100 max_sample=24\n"
			    "0 136100 7 sample_threshold start=130000 duration=5000 interference=0\n"
			    "0 200000 7 osnoise noise=9 runtime=100 max_sample=5\n"
			    "0 236100 7 sample_threshold start=230000 duration=5000 interference=0\n"))
		return;
	CHECK(analysed_is(&analysed, "osnoise", "30000", "hardware_ns", "6000"));
	CHECK(analysed_is(&analysed, "osnoise", "30000", "unknown_ns", "24000"));
	CHECK(analysed_is(&analysed, "osnoise", "9000", "unknown_ns", "4000"));
	/* The first noise, and the last, which has no end. */
	CHECK_MEM(analysed.findings.cut.data, analysed.findings.cut.len, "2 samples of osnoise", 20);
	CHECK_MEM(analysed.findings.broken.data, analysed.findings.broken.len, "1 sample of osnoise", 19);
	analysed_end(&analysed);
}
