// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/probe/probes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

/* Texts as dyn_event_seq_show() and the kernel's profiles print them. */
static const char dynamic_events[] = "p:kprobes/opened do_sys_openat2 dfd=%di:s32\n"
				     "r8:kprobes/back do_sys_openat2 ret=$retval\n"
				     "p:mine/opened vfs_open\n"
				     "p:uprobes/shell /bin/sh:0x0000000000001234\n"
				     "s:synthetic/lat u64 lat; pid_t pid\n"
				     "?:something/new that weft does not know\n";
static const char kprobe_profile[] = "  opened                                                  41               1\n"
				     "  back                                                    40               2\n"
				     "  opened                                                   9               0\n";
static const char uprobe_profile[] = "  /bin/sh shell                                        7\n";

static bool begin(struct fake *fake, struct probe_list *list)
{
	*list = (struct probe_list){ .nr = 0 };
	if (!CHECK(fake_new(fake)))
		return false;
	fake_write(fake, "dynamic_events", dynamic_events);
	fake_write(fake, "kprobe_profile", kprobe_profile);
	fake_write(fake, "uprobe_profile", uprobe_profile);
	return CHECK(!probe_list_read(&fake->top, list, NULL));
}

static void end(struct fake *fake, struct probe_list *list)
{
	probe_list_release(list);
	fake_free(fake);
}

TEST(probe_list_has_what_the_kernel_lists_with_its_counts)
{
	static const struct {
		const char *group, *name;
		uint64_t hits, missed;
		bool counted;
	} want[] = {
		/* Two groups have a probe of this name: the kernel's counts do not tell them apart. */
		{ "kprobes", "opened", 50, 1, true }, { "kprobes", "back", 40, 2, true },
		{ "mine", "opened", 50, 1, true },    { "uprobes", "shell", 7, 0, true },
		{ "synthetic", "lat", 0, 0, false },
	};
	struct probe_list list;
	struct fake fake;

	if (begin(&fake, &list) && CHECK(list.nr == array_size(want)))
		for (size_t i = 0; i < array_size(want); i++) {
			CHECK_STR(list.probes[i].probe.group, want[i].group);
			CHECK_STR(list.probes[i].probe.name, want[i].name);
			CHECK(list.probes[i].hits == want[i].hits && list.probes[i].missed == want[i].missed);
			CHECK(list.probes[i].counted == want[i].counted && !list.probes[i].ours);
		}
	end(&fake, &list);
}

TEST(probe_list_of_a_kernel_without_dynamic_events_is_empty)
{
	struct probe_list list;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	CHECK(!probe_list_read(&fake.top, &list, NULL) && !list.nr);
	end(&fake, &list);
}

TEST(probe_names_stand_for_the_probes_that_they_match)
{
	/* A digit for each probe of the list: whether `wanted` selects it. NULL: it was refused, with a message. */
	static const struct {
		const char *name, *wanted, *said;
	} table[] = {
		{ "back", "01000", NULL },
		{ "mine:opened", "00100", NULL },
		{ "kprobes/opened", "10000", NULL },
		{ "kprobes:*", "11000", NULL },
		{ "*ed", "10100", NULL },
		{ "*", "11111", NULL },
		{ "opened", NULL, "several groups have a probe 'opened': write GROUP:opened" },
		{ "bakc", NULL, "there is no probe 'bakc'; did you mean 'kprobes:back'?" },
		{ "mine:close", NULL, "there is no probe 'mine:close'" },
	};
	struct probe_list list;
	struct fake fake;

	if (begin(&fake, &list))
		for (size_t i = 0; i < array_size(table); i++) {
			struct fail fail = FAIL_INIT;
			bool wanted[5] = { false };
			char got[6] = "";
			int err = probe_list_find(&list, table[i].name, wanted, &fail);

			for (size_t j = 0; j < 5; j++)
				got[j] = wanted[j] ? '1' : '0';
			CHECK_STR(got, table[i].wanted ? table[i].wanted : "00000");
			CHECK(!err == !table[i].said);
			if (!CHECK(!table[i].said || strstr(fail.text, table[i].said)))
				fprintf(stderr, "said: %s\n", fail.text);
		}
	end(&fake, &list);
}

/* weft must append to dynamic_events: truncating the file would remove other programs' probes. */
TEST(probe_is_added_behind_the_others_and_its_journal_removes_it_alone)
{
	struct probe probe = { .kind = PROBE_KPROBE };
	struct undo *undo = NULL;
	struct instance top;
	struct fake fake;
	char want[1024];

	REQUIRE(fake_new(&fake));
	top = fake.top;
	fake_write(&fake, "dynamic_events", "p:mine/opened vfs_open\n");
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!probe_parse("p:weft/read vfs_read", &probe, NULL));
	CHECK(!probe_add(&top, undo, &probe, NULL));
	snprintf(want, sizeof(want), "p:mine/opened vfs_open\np:weft/read vfs_read\n");
	CHECK(fake_holds(&fake, "dynamic_events", want));
	CHECK(!undo_restore(undo, NULL));
	snprintf(want + strlen(want), sizeof(want) - strlen(want), "-:weft/read\n");
	CHECK(fake_holds(&fake, "dynamic_events", want));
	CHECK(!probe_remove(&top, "mine", "opened", NULL));
	snprintf(want + strlen(want), sizeof(want) - strlen(want), "-:mine/opened\n");
	CHECK(fake_holds(&fake, "dynamic_events", want));
	probe_release(&probe);
	undo_free(undo);
	fake_free(&fake);
}

TEST(probe_on_a_kernel_without_dynamic_events_says_which_option_it_lacks)
{
	struct fail fail = FAIL_INIT;
	struct probe probe;
	struct instance top;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	top = fake.top;
	CHECK(!probe_parse("p:weft/read vfs_read", &probe, NULL));
	CHECK(probe_add(&top, NULL, &probe, &fail) < 0);
	CHECK(strstr(fail.text, "dynamic_events"));
	probe_release(&probe);
	fake_free(&fake);
}
