// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/facts_internal.h"

#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/record/counters_internal.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/record/type_facts_internal.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/stage.h"
#include "tests/unit/test.h"

static const char stats[] =
	"CPU: 1\nentries: 40\noverrun: 7\ncommit overrun: 0\nbytes: 900\ndropped events: 0\nread events: 100\n";

static bool add(struct ledger *ledger, enum ledger_kind kind, const char *key, const char *text)
{
	return CHECK(!ledger_add(ledger,
				 &(struct ledger_item){ .kind = kind, .key = key, .data = text, .len = strlen(text) },
				 NULL));
}

/* The last text of that key; "" if there is none. */
static const char *found(struct ledger *ledger, enum ledger_kind kind, const char *key)
{
	const struct ledger_item *item = NULL;

	if (CHECK(!ledger_load(ledger, NULL)))
		item = ledger_find(ledger, kind, 0, key);
	return item ? item->data : "";
}

TEST(facts_count_events_that_were_given_up_for_the_maximal_size_as_overwritten)
{
	const struct record_cpu cpu = { .cpu = 1, .events = 90, .dropped_events = 50 };
	struct ledger *ledger = NULL;

	REQUIRE(!ledger_new_in_memory(&ledger, NULL));
	if (add(ledger, LEDGER_STATS, "1", stats) && add(ledger, LEDGER_SETTING, "per_cpu/cpu1/stats", stats)) {
		static const char want[] =
			"CPU: 1\nentries: 0\noverrun: 57\ncommit overrun: 0\nbytes: 900\ndropped events: 0\n"
			"read events: 90\n";

		CHECK(!counters_dropped(ledger, &cpu, NULL));
		CHECK_STR(found(ledger, LEDGER_STATS, "1"), want);
		CHECK_STR(found(ledger, LEDGER_SETTING, "per_cpu/cpu1/stats"), want);
		CHECK_STR(found(ledger, LEDGER_SETTING, "weft/per_cpu/cpu1/cleared"), "");
	}
	ledger_free(ledger);
}

TEST(facts_tell_that_a_buffer_was_cleared_and_what_was_counted_nevertheless)
{
	const struct record_cpu cpu = { .cpu = 1, .events = 90, .overrun = 11, .cleared = 2 };
	struct ledger *ledger = NULL;

	REQUIRE(!ledger_new_in_memory(&ledger, NULL));
	if (add(ledger, LEDGER_STATS, "1", stats)) {
		CHECK(!counters_dropped(ledger, &cpu, NULL));
		CHECK(strstr(found(ledger, LEDGER_STATS, "1"), "\noverrun: 11\n"));
		CHECK_STR(found(ledger, LEDGER_SETTING, "weft/per_cpu/cpu1/cleared"), "2");
	}
	ledger_free(ledger);
}

TEST(facts_of_a_cpu_that_lost_nothing_stay_as_the_kernel_told_them)
{
	const struct record_cpu cpu = { .cpu = 1, .events = 140 };
	struct ledger *ledger = NULL;

	REQUIRE(!ledger_new_in_memory(&ledger, NULL));
	if (add(ledger, LEDGER_STATS, "1", stats)) {
		CHECK(!counters_dropped(ledger, &cpu, NULL));
		CHECK_STR(found(ledger, LEDGER_STATS, "1"), stats);
	}
	ledger_free(ledger);
}

TEST(facts_leave_out_type_information_that_cannot_be_read)
{
	static const char *const options[] = { "func-args\n", "print-parent\nfuncgraph-args\n" };
	struct trace *played;
	struct stage stage;
	struct loom loom;

	loom_init(&loom);
	played = loom_trace(&loom);
	if (played && stage_begin(&stage, &loom)) {
		fake_write(&stage.fake, "sys/kernel/btf/vmlinux", "this is no BTF");
		for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
			struct ledger *ledger = NULL;
			struct fail fail = FAIL_INIT;

			REQUIRE(!ledger_new_in_memory(&ledger, NULL));
			if (add(ledger, LEDGER_SETTING, "trace_options", options[i]) &&
			    add(ledger, LEDGER_SETTING, "set_ftrace_filter", "vfs_read\nloom_open [loom]\n")) {
				CHECK(!facts_of_types(ledger, &fail));
				CHECK_STR(fail.text, "");
				CHECK_STR(found(ledger, LEDGER_SETTING, "weft/types"), "");
			}
			ledger_free(ledger);
		}
		stage_end(&stage);
	}
	trace_free(played);
	loom_release(&loom);
}
