// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/release.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "tests/unit/test.h"

static struct context *of_release(const char *release, const char *uname)
{
	struct context *context = calloc(1, sizeof(*context));

	context->release = release;
	release_read(context, uname);
	return context;
}

TEST(release_is_read_from_the_numbers_of_uname_and_of_debian)
{
	static const struct {
		const char *release, *uname;
		unsigned major, minor, patch;
		bool rt;
	} rows[] = {
		{ "6.12.9", NULL, 6, 12, 9, false },
		{ "6.12", NULL, 6, 12, 0, false },
		{ "6", NULL, 0, 0, 0, false },
		{ "unknown", NULL, 0, 0, 0, false },
		{ "6.1.0-17-amd64", "Linux x 6.1.0-17-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.69-1 (2023-12-30) x86_64",
		  6, 1, 69, false },
		/* The number of another kernel is not this one's. */
		{ "6.12.4", "Linux x 6.12.4 #1 SMP Debian 6.1.69-1", 6, 12, 4, false },
		{ "6.1.4", "Linux x 6.1.4 #1 SMP Debian 5.1.69-1", 6, 1, 4, false },
		{ "6.1.4", "Linux x 6.1.4 #1 SMP Debian 6.1", 6, 1, 4, false },
		{ "6.1.4", "Linux x 6.1.4 #1 SMP PREEMPT_RT Debian 6.1.90-1", 6, 1, 90, true },
		{ "6.1.4-rt11", NULL, 6, 1, 4, true },
		{ "6.1.4", "Linux x 6.1.4 #1 SMP PREEMPT x86_64", 6, 1, 4, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct context *context = of_release(rows[i].release, rows[i].uname);

		if (!CHECK(context->release_major == rows[i].major && context->release_minor == rows[i].minor &&
			   context->release_patch == rows[i].patch && context->preempt_rt == rows[i].rt))
			fprintf(stderr, "%s: %u %u %u\n", rows[i].release, context->release_major,
				context->release_minor, context->release_patch);
		free(context);
	}
}

/* The first stable releases with the two commits, and the release of Linus that has them. */
TEST(release_says_what_a_kernel_without_a_commit_does)
{
	static const struct {
		const char *release;
		bool shifts, prints_more;
	} rows[] = {
		{ "7.3.0", false, false },   { "7.2.0", true, false },     { "7.2.12", true, false },
		{ "7.2.13", false, false },  { "7.1.4", true, true },      { "7.1.5", true, false },
		{ "7.0.99", true, true },    { "8.0.0", false, false },    { "6.18.39", true, true },
		{ "6.18.40", true, false },  { "6.12.96", true, true },    { "6.12.97", true, false },
		{ "6.12.113", true, false }, { "6.12.114", false, false }, { "6.6.144", true, true },
		{ "6.6.145", true, false },  { "6.1.177", true, true },    { "6.1.178", true, false },
		{ "6.1.190", true, false },  { "6.1.191", false, false },  { "5.15.211", true, true },
		{ "5.15.212", true, false }, { "5.10.260", true, true },   { "5.10.261", true, false },
		{ "6.11.200", true, true },  { "5.12.999", true, true },   { "unknown", false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct context *context = of_release(rows[i].release, NULL);

		if (!CHECK(release_shifts_log2(context) == rows[i].shifts &&
			   release_prints_more(context) == rows[i].prints_more))
			fprintf(stderr, "%s\n", rows[i].release);
		free(context);
	}
}
