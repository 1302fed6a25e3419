// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

/* buffer_size_kb reads "X" where the CPUs have buffers of different sizes (tracing_entries_read()). */
TEST(undo_puts_back_the_size_of_each_cpu_where_they_differ)
{
	struct instance *top;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "buffer_size_kb", "X\n");
	fake_write(&fake, "per_cpu/cpu0/buffer_size_kb", "7 (expanded: 1408)\n");
	fake_write(&fake, "per_cpu/cpu1/buffer_size_kb", "512\n");
	fake_write(&fake, "per_cpu/cpu11/buffer_size_kb", "64\n");
	fake_write(&fake, "per_cpu/other/buffer_size_kb", "3\n");
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	REQUIRE(!instance_open_top(&fake.tracing, undo, &top, NULL));
	CHECK(!instance_set(top, "buffer_size_kb", "4096", NULL));
	for (unsigned i = 0; i < 4; i++) {
		static const char *const files[] = { "per_cpu/cpu0/buffer_size_kb", "per_cpu/cpu1/buffer_size_kb",
						     "per_cpu/cpu11/buffer_size_kb", "per_cpu/other/buffer_size_kb" };

		fake_write(&fake, files[i], "4096\n");
	}
	CHECK(!undo_restore(undo, NULL));
	CHECK(fake_holds(&fake, "buffer_size_kb", "4096\n"));
	CHECK(fake_holds(&fake, "per_cpu/cpu0/buffer_size_kb", "1408\n"));
	CHECK(fake_holds(&fake, "per_cpu/cpu1/buffer_size_kb", "512\n"));
	CHECK(fake_holds(&fake, "per_cpu/cpu11/buffer_size_kb", "64\n"));
	CHECK(fake_holds(&fake, "per_cpu/other/buffer_size_kb", "4096\n"));
	instance_close(top, NULL);
	undo_free(undo);
	fake_free(&fake);
}

TEST(undo_removes_the_probes_that_were_made_and_not_those_that_are_gone)
{
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "dynamic_events", "");
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_remember_probe(undo, "weft/one", NULL) && !undo_remember_probe(undo, "weft/two", NULL));
	CHECK(!undo_remember_probe(undo, "weft/three", NULL));
	undo_forget_probe(undo, "weft/two");
	undo_forget_probe(undo, "weft/never");
	CHECK(!undo_restore(undo, NULL));
	/* What is appended, the last one first. */
	CHECK(fake_holds(&fake, "dynamic_events", "-:weft/three\n-:weft/one\n") ||
	      fake_holds(&fake, "dynamic_events", "-:weft/three-:weft/one"));
	undo_free(undo);
	fake_free(&fake);
}

TEST(undo_says_which_probe_another_process_has_switched_on)
{
	struct fail fail = FAIL_INIT;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "dynamic_events", "");
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_remember_probe(undo, "weft/one", NULL));
	fake_refuse(&fake, "dynamic_events", "", EBUSY);
	CHECK(undo_restore(undo, &fail) == -EBUSY);
	CHECK(strstr(fail.text, "cannot remove the probe 'weft/one': another process has switched it on"));
	undo_free(undo);
	fake_free(&fake);
}

/* The claims end with the restoring, and not before. */
TEST(undo_restore_ends_the_claims)
{
	struct claim_manner now = { .waits = false };
	struct claim claim;
	struct undo *undo;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	REQUIRE(!undo_new(&fake.tracing, fake.journals, &undo, NULL));
	CHECK(!undo_claim(undo, "one", &now, NULL) && !undo_claim(undo, "", &now, NULL) &&
	      !undo_claim(undo, "one", &now, NULL));
	CHECK(claim_find(fake.journals, "one", &claim) && claim.owner.pid == getpid());
	CHECK(claim_find(fake.journals, "", &claim));
	CHECK(!claim_find(fake.journals, "two", &claim));
	CHECK(!undo_restore(undo, NULL));
	CHECK(!claim_find(fake.journals, "one", &claim) && !claim_find(fake.journals, "", &claim));
	undo_free(undo);
	fake_free(&fake);
}

TEST(claim_is_what_was_printed)
{
	static const struct {
		const char *text;
		int32_t pid;
		uint64_t start, boot;
		int32_t session;
		const char *command;
	} rows[] = {
		{ "12 34 56 78 90 weft start -p function", 12, 34, 90, 56, "weft start -p function" },
		{ "12 34 56 78 90 weft\nmore", 12, 34, 90, 56, "weft" },
		{ "12 34 56 78 90 ", 12, 34, 90, 56, "" },
		{ "12 34 56 78 90", 12, 34, 90, 56, "" },
		{ "12 34 56 78", 0, 0, 0, 0, NULL },
		{ "", 0, 0, 0, 0, NULL },
		{ "x 34 56 78 90 weft", 0, 0, 0, 0, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct claim claim = { .held = true };

		CHECK(claim_parse(rows[i].text, &claim) == (rows[i].command != NULL));
		if (!rows[i].command) {
			CHECK(claim.held && !claim.owner.pid);
			continue;
		}
		CHECK(claim.owner.pid == rows[i].pid && claim.owner.start == rows[i].start &&
		      claim.boot_ns == rows[i].boot);
		CHECK(claim.session.pid == rows[i].session && claim.session.start == 78 && !claim.held);
		CHECK_STR(claim.command, rows[i].command);
	}
}

TEST(instance_that_is_there_is_opened_by_its_name_and_no_other_is)
{
	static const char *const no_names[] = { "", ".", "..", "a/b", "/" };
	struct instance *instance = NULL;
	char want[FAKE_PATH], text[64];
	struct fail fail = FAIL_INIT;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_mkdir(&fake, "instances/kitchen");
	fake_mkdir(&fake, "instances/.hidden");
	for (size_t i = 0; i < array_size(no_names); i++) {
		CHECK(instance_open(&fake.tracing, no_names[i], true, NULL, &instance, &fail) == -EINVAL);
		snprintf(text, sizeof(text), "'%s' cannot be the name of an instance", no_names[i]);
		CHECK_STR(fail.text, text);
	}
	CHECK(instance_open(&fake.tracing, "kitchem", false, NULL, &instance, &fail) == -ENOENT);
	CHECK(strstr(fail.text, "no instance 'kitchem'") && strstr(fail.text, "'kitchen'"));
	CHECK(!instance_open(&fake.tracing, ".hidden", false, NULL, &instance, &fail));
	CHECK(!instance_close(instance, &fail));
	REQUIRE(!instance_open(&fake.tracing, "kitchen", true, NULL, &instance, &fail));
	CHECK_STR(instance->name, "kitchen");
	CHECK_STR(instance->dir, fake_path(&fake, "instances/kitchen", want));
	/* It is somebody's, also if a new one would have been made. */
	CHECK(instance->kind == INSTANCE_EXISTING && !instance_close(instance, &fail));
	CHECK(!access(want, F_OK));
	CHECK(!instance_close(NULL, &fail));
	fake_free(&fake);
}

TEST(instance_write_says_why_the_kernel_refuses_it)
{
	static const struct {
		const char *file, *value;
		int error;
		const char *want;
	} rows[] = {
		{ "set_graph_function", "nope", EINVAL,
		  "cannot write 'nope' to 'set_graph_function': the kernel has no function of this name that can be "
		  "traced, or not what follows it; 'weft list functions' has the names (available_filter_functions)" },
		{ "set_ftrace_filter", "nope", EINVAL,
		  "cannot write 'nope' to 'set_ftrace_filter': the kernel has no function of this name that can be "
		  "traced, or not what follows it; 'weft list functions' has the names (available_filter_functions)" },
		{ "set_ftrace_pid", "nope", EINVAL, "cannot write 'nope' to 'set_ftrace_pid': Invalid argument" },
		{ "tracing_thresh", "nope", EINVAL, "cannot write 'nope' to 'tracing_thresh': Invalid argument" },
		{ "current_tracer", "nop", EBUSY,
		  "cannot write 'nop' to 'current_tracer': the buffer is busy: a process reads it (trace_pipe) or has "
		  "mapped it" },
		{ "tracing_thresh", "1", EBUSY, "cannot write '1' to 'tracing_thresh': Device or resource busy" },
	};
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "available_tracers", "function nop\n");
	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;

		fake_write(&fake, rows[i].file, "");
		fake_refuse(&fake, rows[i].file, rows[i].value, rows[i].error);
		CHECK(instance_write(&fake.top, rows[i].file, rows[i].value, &fail) == -rows[i].error);
		CHECK_STR(fail.text, rows[i].want);
	}
	fake_free(&fake);
}

TEST(instance_restore_puts_a_text_back_or_names_the_file)
{
	struct fail fail = FAIL_INIT;
	char path[FAKE_PATH], want[2 * FAKE_PATH];
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_thresh", "5\n");
	CHECK(!instance_restore(&fake.top, "tracing_thresh", "7\n", &fail));
	CHECK(fake_holds(&fake, "tracing_thresh", "7\n") || fake_holds(&fake, "tracing_thresh", "7"));
	CHECK(instance_restore(&fake.top, "no/trace_clock", "9\n", &fail) == -ENOENT);
	snprintf(want, sizeof(want), "cannot put back '%s': No such file or directory",
		 fake_path(&fake, "no/trace_clock", path));
	CHECK_STR(fail.text, want);
	fake_free(&fake);
}

/* What is so already is not written, and what is written can be put back. */
TEST(instance_set_writes_what_differs_and_remembers_what_was)
{
	struct fail fail = FAIL_INIT;
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "tracing_on", "0\n");
	fake_refuse(&fake, "tracing_on", "0", EIO);
	CHECK(!instance_set(&fake.top, "tracing_on", "0", &fail) && !instance_turn(&fake.top, false, &fail));
	/* The top instance of a fake has no journal. */
	CHECK(instance_turn(&fake.top, true, &fail) == -EINVAL);
	CHECK(strstr(fail.text, "/tracing_on' would be changed without an entry in the journal"));
	CHECK(fake_holds(&fake, "tracing_on", "0\n"));
	fake_write(&fake, "trace", "old\n");
	CHECK(!instance_clear(&fake.top, &fail));
	fake_free(&fake);
}
