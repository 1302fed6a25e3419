// SPDX-License-Identifier: GPL-2.0-only
/*
 * For each line of standard input, prints a file as weft report does, and compares what it prints with a text of the
 * kernel. One process for all lines: a start of weft and the formats of a file take longer than most texts.
 *
 *   build/tests/captures/variants < LINES
 *
 * A line has these words, with tabs between: a name; a file, which does not change meanwhile; the path of the kernel's
 * text; where to store what was printed if it differs; the trace options, with a comma behind each. Prints for each
 * line its name and "identical", "differs" or "failed", with a tab between; then the number of lines, or the message of
 * a failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/report_print.h"
#include "formats/sink.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/pages/trace/trace.h"

enum { TEXT_MAX = 1 << 30 };

/* report_print() writes to standard output, so that is a file in memory meanwhile. */
static int print(struct trace *trace, char *options, int fd, struct fail *fail)
{
	uint64_t printed = 0;
	struct report_options report = { .query = QUERY_INIT, .format = sink_at(0), .printed = &printed };
	char *rest = NULL;
	int out = dup(STDOUT_FILENO), r;

	report.query.instance = "";
	for (char *word = strtok_r(options, ",", &rest); word && report.options.len < OPTION_WORDS_MAX;
	     word = strtok_r(NULL, ",", &rest))
		report.options.at[report.options.len++] = word;
	report.threads = 1;
	fflush(stdout);
	if (out < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return fail_set(fail, -errno, "standard output cannot be changed");
	r = report_print(&report, trace, fail);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	if (!r && trace_damage(trace))
		r = fail_set(fail, -EBADMSG, "%s", trace_damage(trace));
	return r;
}

static int store(const char *path, const struct buf *text)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -errno;
	fwrite(text->data, 1, text->len, file);
	return fclose(file) ? -errno : 0;
}

static int read_path(const char *path, struct buf *ret)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : io_read_all(fd, TEXT_MAX, ret);
}

/* 1: identical; 0: it differs, and is stored; -errno */
static int judge(struct trace *trace, const char *path, const char *store_as, char *options, size_t *ret_lines,
		 struct fail *fail)
{
	cleanup_fd int fd = memfd_create("printed", MFD_CLOEXEC);
	cleanup_buf struct buf want = BUF_INIT, got = BUF_INIT;
	int r = print(trace, options, fd, fail);

	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) || io_read_all(fd, TEXT_MAX, &got) || read_path(path, &want))
		return fail_set(fail, -EIO, "the texts cannot be read");
	*ret_lines = 0;
	for (size_t i = 0; i < want.len; i++)
		*ret_lines += want.data[i] == '\n';
	if (got.len == want.len && !memcmp(got.data, want.data, got.len))
		return 1;
	return store(store_as, &got) ? fail_set(fail, -EIO, "cannot write '%s'", store_as) : 0;
}

/* The files of neighbouring lines are often the same. */
static int open_other(const char *path, char *opened, size_t size, struct trace **trace, struct fail *fail)
{
	if (*trace && !strcmp(path, opened))
		return 0;
	trace_free(*trace);
	*trace = NULL;
	snprintf(opened, size, "%s", path);
	return trace_open(path, trace, fail);
}

int main(void)
{
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	char line[8192], opened[4096] = "";

	while (fgets(line, sizeof(line), stdin)) {
		char *rest = line, *name = strsep(&rest, "\t"), *file = strsep(&rest, "\t"),
		     *text = strsep(&rest, "\t");
		char *store_as = strsep(&rest, "\t"), *options = strsep(&rest, "\n");
		size_t lines = 0;
		int r;

		if (!options) {
			fprintf(stderr, "variants: a line has fewer than five words\n");
			return 2;
		}
		fail = (struct fail)FAIL_INIT;
		r = open_other(file, opened, sizeof(opened), &trace, &fail);
		if (!r)
			r = judge(trace, text, store_as, options, &lines, &fail);
		if (r < 0)
			printf("%s\tfailed\t%s\n", name, fail.text);
		else
			printf("%s\t%s\t%zu\n", name, r ? "identical" : "differs", lines);
	}
	trace_free(trace);
	return 0;
}
