// SPDX-License-Identifier: GPL-2.0-only
/* The report of an imported text has no number that the text does not have. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/imported.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"
#include "tests/unit/values.h"

static bool is_strange(const char *text, const char *report)
{
	char told[400] = "";

	return values_find_strange(text, strlen(text), report, strlen(report), told, sizeof(told));
}

TEST(values_that_a_text_does_not_have_are_found)
{
	static const char text[] = "           sh-62      (  60) [001] d.... 2.921018: x: a=0x1f b=7 c=007 d=12abc\n";
	static const char *const same[] = {
		"           sh-62      (  60) [001] d.... 2.921018: x: a=1f b=0x7 d=12ABC c=7\n",
		"# entries-in-buffer/entries-written: 47/47   #P:2\n",
		"  sh-62        1d.... 2921018us : x: b=7\n",
		"           <...>-4194305      [001] d.... 2.921018: x\n",
	};
	static const char *const strange[] = {
		"           sh-62      (  60) [001] d.... 2.921018: x: a=0x1e\n",
		"           sh-63      (  60) [001] d.... 2.921018: x: b=7\n",
		"           sh-62      (  61) [001] d.... 2.921018: x: b=7\n",
		"           sh-62      (  60) [005] d.... 2.921018: x: b=7\n",
		"           sh-62      (  60) [001] d.... 2.921019: x: b=7\n",
		"           sh-62      (  60) [001] d.... 3.921018: x: b=7\n",
		"           sh-62      (  60) [001] d.... 2.921018: x: d=12\n",
		" 0)   1.500 us    |  } /* x = 0x0 */\n",
		" => x+0x10\n",
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		if (!CHECK(!is_strange(text, same[i])))
			fprintf(stderr, "%s", same[i]);
	for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++)
		if (!CHECK(is_strange(text, strange[i])))
			fprintf(stderr, "%s", strange[i]);
}

static void check_file(const char *dir, const char *name)
{
	cleanup_buf struct buf text = BUF_INIT, report = BUF_INIT;
	struct trace *trace = NULL;
	struct import_counts counts;
	struct fail fail = FAIL_INIT;
	char path[512], told[400];
	cleanup_fd int fd = -1;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* A text with NUL, as of the option bin, is one for tests/fuzz. */
	if (fd < 0 || !CHECK(!io_read_all(fd, 1 << 22, &text)) || memchr(text.data, '\0', text.len))
		return;
	if (!imported(buf_str(&text), NULL, &trace, &counts, &fail) &&
	    CHECK(!printed_trace(trace, &(struct printed){ .format = "ftrace" }, &report, &fail)) &&
	    !CHECK(!values_find_strange(text.data, text.len, report.data, report.len, told, sizeof(told))))
		fprintf(stderr, "%s: %s\n", path, told);
	trace_free(trace);
}

static unsigned check_dir(const char *path)
{
	DIR *dir = opendir(path);
	unsigned nr = 0;

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		const char *end = strrchr(entry->d_name, '.');

		if (!end || (strcmp(end, ".txt") && strcmp(end, ".html")))
			continue;
		check_file(path, entry->d_name);
		nr++;
	}
	if (dir)
		closedir(dir);
	return nr;
}

TEST(import_invents_no_value_of_any_text_at_hand)
{
	CHECK(check_dir("tests/fixtures/golden") > 20);
	(void)check_dir("../shared/reports");
}
