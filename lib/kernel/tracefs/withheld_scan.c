// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/withheld_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/task_scan.h"
#include "lib/kernel/tracefs/tracing.h"

/* A list that is longer ends here. */
enum { WITHHELD_SIZE = 4 << 20 };

static bool read_at(int dir, const char *name, char *into, size_t size)
{
	cleanup_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, into, size - 1);

	into[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static bool has_word(const char *text, const char *wanted)
{
	struct text_word word;

	while (text_next_word(&text, " \n", &word))
		if (text_word_is(word, wanted))
			return true;
	return false;
}

static int see_group(const char *path, int dir, void *arg)
{
	struct buf *into = arg;
	char text[4096];
	uint64_t times, usec;
	struct stat st;

	/* Else the quotas are in the hierarchy of another version. */
	if (!strcmp(path, "/") && read_at(dir, "cgroup.controllers", text, sizeof(text)) && has_word(text, "cpu"))
		return buf_add_str(into, "groups\n") ? 0 : -ENOMEM;
	/* Most groups have no quota, and the kernel adds up all CPUs for a cpu.stat. */
	if (into->len > WITHHELD_SIZE || !read_at(dir, "cpu.max", text, sizeof(text)) || !strncmp(text, "max", 3) ||
	    !read_at(dir, "cpu.stat", text, sizeof(text)) || fstat(dir, &st) ||
	    !number_after(text, "nr_throttled ", &times) || !number_after(text, "throttled_usec ", &usec))
		return 0;
	return buf_addf(into, "group %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (uint64_t)st.st_ino, times, usec) ?
		       0 :
		       -ENOMEM;
}

static bool put_stolen(struct buf *into, const char *text, size_t len)
{
	uint64_t tick = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	struct text_word line;

	while (text_next_line(&text, &len, &line)) {
		char copy[256];
		uint64_t stolen;
		unsigned cpu;

		snprintf(copy, sizeof(copy), "%.*s", (int)(line.len < sizeof(copy) ? line.len : 0), line.at);
		if (sscanf(copy, "cpu%u %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &cpu, &stolen) == 2 && stolen &&
		    !buf_addf(into, "cpu %u %" PRIu64 "\n", cpu, stolen * tick))
			return false;
	}
	return true;
}

bool withheld_scan(struct buf *into)
{
	cleanup_buf struct buf stat = BUF_INIT;

	return !cgroups_each(see_group, into) &&
	       (tracing_read_path("/proc/stat", &stat, NULL) || put_stolen(into, buf_str(&stat), stat.len));
}
