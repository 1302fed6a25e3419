// SPDX-License-Identifier: GPL-2.0-only
#include "lib/files/import/unknown_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "tests/unit/test.h"

TEST(unknown_lines_are_told_apart_by_what_they_look_like)
{
	static const struct {
		enum unknown_lines_kind kind;
		const char *line;
	} rows[] = {
		{ UNKNOWN_LINES_OTHER, "" },
		{ UNKNOWN_LINES_OTHER, "hello" },
		{ UNKNOWN_LINES_OTHER, "version 1.234567: it is new" },
		{ UNKNOWN_LINES_OTHER, "1) first, 2) second" },
		{ UNKNOWN_LINES_OTHER, "[001] 12.34567: x: y" },
		{ UNKNOWN_LINES_LOST, "CPU:1 [LOST 5 EVENTS]" },
		{ UNKNOWN_LINES_LOST, "CPU 0: 17 EVENTS DROPPED]" },
		{ UNKNOWN_LINES_EVENT, "    sh-7     [001] d..2. 12.345678: what" },
		{ UNKNOWN_LINES_EVENT, "sh-7 [001] 12.345678912: what: x" },
		{ UNKNOWN_LINES_NO_TASK, "     [001] 12.345678: event: x" },
		{ UNKNOWN_LINES_NO_TASK, "   12.345678: event: x" },
		{ UNKNOWN_LINES_PERF, "sh 7 [001] 12.345678: cycles: ffff" },
		{ UNKNOWN_LINES_PERF, "sh 7 12.345678: cycles: ffff" },
		{ UNKNOWN_LINES_PERF, "sh-7 [01] 12.345678: cycles: ffff" },
		{ UNKNOWN_LINES_OTHER, "sh 7 12.345678: cycles" },
		{ UNKNOWN_LINES_OTHER, "sh 7 12.345678 cycles: ffff" },
		{ UNKNOWN_LINES_VERBOSE, "sh 7 0 0 00000000 00000001 [00000012] 0.018ms (+0.002ms): x (y): z" },
		{ UNKNOWN_LINES_STACK, " => schedule" },
		{ UNKNOWN_LINES_UFTRACE, "# DURATION     TID     FUNCTION" },
		{ UNKNOWN_LINES_OTHER, "# DURATION     FUNCTION" },
		{ UNKNOWN_LINES_UFTRACE, "   1.234 us [ 12345] |   a();" },
		{ UNKNOWN_LINES_UFTRACE, "            [12345] | main() {" },
		{ UNKNOWN_LINES_MMIO, "R 4 1.000123 1 0xfebf0000 0x1 0x0 0" },
		{ UNKNOWN_LINES_MMIO, "MAP 1.000100 1 0xfebf0000 0x1 0x0 0" },
		{ UNKNOWN_LINES_MMIO, "UNMAP 1.000100 1 0x0 0" },
		{ UNKNOWN_LINES_MMIO, "W 4 1.000123 1 0xfebf0000 0x1 0x0 0" },
		{ UNKNOWN_LINES_OTHER, "R 4 1.000123 1" },
		{ UNKNOWN_LINES_OTHER, "W and X" },
		{ UNKNOWN_LINES_MMIO, "PCIDEV 0000 8086 0" },
		{ UNKNOWN_LINES_MMIO, "VERSION 20070824" },
		{ UNKNOWN_LINES_MMIO, "MARK 1.0 here" },
		{ UNKNOWN_LINES_STRACE, "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = 3" },
		{ UNKNOWN_LINES_STRACE, "123 close(3)                            = 0" },
		{ UNKNOWN_LINES_STRACE, "read(3, \"\", 9) = -1 EBADF" },
		{ UNKNOWN_LINES_STRACE, "exit_group(0) = ?" },
		{ UNKNOWN_LINES_OTHER, "(a) = 3" },
		{ UNKNOWN_LINES_OTHER, "f(a) = b" },
		{ UNKNOWN_LINES_OTHER, "a) = 3 (b" },
		{ UNKNOWN_LINES_GRAPH, " 0)   1.234 us    |  a();" },
		{ UNKNOWN_LINES_GRAPH, "10)               |  a() {" },
		{ UNKNOWN_LINES_GRAPH, " 0) a() {" },
		{ UNKNOWN_LINES_GRAPH, " 0) }" },
		{ UNKNOWN_LINES_GRAPH, "  1.234 us |  a();" },
		{ UNKNOWN_LINES_GRAPH, "  1.234 us  |  a();" },
		{ UNKNOWN_LINES_OTHER, "a) b |" },
		{ UNKNOWN_LINES_EVENT, "  <idle>-0       1d.h2.   12us+: do" },
		{ UNKNOWN_LINES_EVENT, "  <idle>-0       1d.h2.   12us : do" },
		{ UNKNOWN_LINES_EVENT, "  <idle>-0       1d.h2.   12us: do" },
		{ UNKNOWN_LINES_EVENT, "a-1us: " },
		{ UNKNOWN_LINES_OTHER, "a-1us+:" },
		{ UNKNOWN_LINES_OTHER, "a-1us:" },
		{ UNKNOWN_LINES_OTHER, "idle 12us: do" },
		{ UNKNOWN_LINES_OTHER, "a-bus: do" },
		{ UNKNOWN_LINES_OTHER, "us: -" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		size_t len = strlen(rows[i].line);
		/* Nothing behind the line is looked at. */
		char *line = malloc(len + 1), *end = line + len;

		memcpy(line, rows[i].line, len);
		for (int behind = 0; behind < 2; behind++) {
			*end = behind ? ' ' : '\n';
			if (!CHECK(unknown_lines_kind_of(line, len) == rows[i].kind))
				CHECK_STR(rows[i].line, unknown_lines_name(unknown_lines_kind_of(line, len)));
		}
		free(line);
	}
}

TEST(unknown_lines_of_each_kind_have_a_name_and_those_that_can_be_mended_advice)
{
	struct unknown_lines told = { .nr_shown = 0 };
	uint64_t of_events = 0;

	for (unsigned i = 0; i < UNKNOWN_LINES_KINDS; i++) {
		const char *name = unknown_lines_name((enum unknown_lines_kind)i);

		CHECK(name && *name);
		for (unsigned k = 0; k < i; k++)
			CHECK(strcmp(unknown_lines_name((enum unknown_lines_kind)k), name) != 0);
		CHECK(!unknown_lines_advice((enum unknown_lines_kind)i) ==
		      (i == UNKNOWN_LINES_OTHER || i == UNKNOWN_LINES_STACK || i == UNKNOWN_LINES_DEEP ||
		       i == UNKNOWN_LINES_LONG));
		unknown_lines_add_as(&told, (enum unknown_lines_kind)i, i, "x", 1);
		of_events += i != UNKNOWN_LINES_OTHER && i != UNKNOWN_LINES_DEEP && i != UNKNOWN_LINES_MMIO &&
			     i != UNKNOWN_LINES_UFTRACE && i != UNKNOWN_LINES_STRACE;
		CHECK(unknown_lines_count(&told) == i + 1 && unknown_lines_events(&told) == of_events);
	}
}

/* Three lines are shown; one that looks like an event takes the place of one that does not. */
TEST(unknown_lines_that_look_like_events_are_shown_first)
{
	static const struct {
		const char *lines, *want; /* e: like an event; o: other text */
	} rows[] = {
		{ "", "" },
		{ "o", "o1 " },
		{ "oe", "e2 o1 " },
		{ "eo", "e1 o2 " },
		{ "oooo", "o1 o2 o3 " },
		{ "oooe", "e4 o1 o2 " },
		{ "oeoe", "e2 e4 o1 " },
		{ "eeee", "e1 e2 e3 " },
		{ "oooeeee", "e4 e5 e6 " },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct unknown_lines told = { .nr_shown = 0 };
		char got[64] = "", line[200];

		for (uint64_t k = 0; rows[i].lines[k]; k++) {
			memset(line, 'x', sizeof(line));
			if (rows[i].lines[k] == 'e')
				memcpy(line, " => ", 4);
			unknown_lines_add(&told, k + 1, line, k % 2 ? sizeof(line) : 10);
		}
		for (unsigned k = 0; k < told.nr_shown; k++) {
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%c%u ",
				 told.shown[k].kind == UNKNOWN_LINES_STACK ? 'e' : 'o', (unsigned)told.shown[k].number);
			CHECK(told.shown[k].len == (told.shown[k].number % 2 ? 10 : UNKNOWN_LINES_WIDTH));
			CHECK((told.shown[k].text[0] == ' ') == (told.shown[k].kind == UNKNOWN_LINES_STACK) &&
			      told.shown[k].text[told.shown[k].len - 1] == 'x');
		}
		CHECK_STR(got, rows[i].want);
	}
}
