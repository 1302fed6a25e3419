// SPDX-License-Identifier: GPL-2.0-only
/*
 * Imports every text that a kernel printed, reports what was imported and compares both, line by line and without the
 * header.
 *
 *   build/tests/captures/import EXCEPTIONS DIR...
 *
 * Each DIR holds KERNEL/SCENARIO/NAME.txt, as tests/captures/run describes. EXCEPTIONS has lines of a glob of
 * KERNEL/SCENARIO/NAME, the number of texts that differ for this reason, and the reason, separated by tabs. A text that
 * differs counts for the first glob that it matches; its name ends with #marks if only marks of delays
 * differ. Prints a line for each text that fails and for each exception; exit status 1 if a text differs without a
 * reason, or if an exception has another number of texts: a smaller one must be lowered.
 */
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/files/import/import.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/printed.h"
#include "tests/unit/values.h"

enum { EXCEPTIONS_MAX = 256, TEXT_MAX = 1 << 28, SHOWN = 160 };

static struct exception {
	char glob[128], reason[256];
	unsigned expected, found;
} exceptions[EXCEPTIONS_MAX];
static size_t nr_exceptions, dir_len;
static unsigned same, failed, excepted;
static unsigned long long lines;

static void read_exceptions(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[512];

	while (file && nr_exceptions < EXCEPTIONS_MAX && fgets(line, sizeof(line), file)) {
		struct exception *exception = &exceptions[nr_exceptions];

		nr_exceptions += *line != '#' && sscanf(line, "%127[^\t]\t%u\t%255[^\n]", exception->glob,
							&exception->expected, exception->reason) == 3;
	}
	if (!file || nr_exceptions == EXCEPTIONS_MAX) {
		fprintf(stderr, "import: cannot read '%s'\n", path);
		exit(2);
	}
	fclose(file);
}

struct rest {
	const char *at;
	size_t len;
};

static int read_rest(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct rest *rest = arg;
	size_t len = size < rest->len ? size : rest->len;

	(void)fail;
	memcpy(to, rest->at, len);
	rest->at += len;
	rest->len -= len;
	return (int)len;
}

static int import_and_report(const struct buf *text, struct import_counts *counts, struct buf *report,
			     struct fail *fail)
{
	const struct recast_options form = { .version = 7 };
	cleanup_fd int fd = memfd_create("imported", MFD_CLOEXEC);
	struct rest rest = { text->data, text->len };
	struct import *import = NULL;
	struct trace *trace = NULL;
	uint64_t size = 0;
	int r = import_new(NULL, &form, &import, fail);

	if (!r)
		r = import_read(import, &(struct import_source){ .read = read_rest, .arg = &rest }, fail);
	if (!r)
		r = import_write(import, fd, &size, fail);
	if (!r)
		*counts = import_counts(import);
	if (!r)
		r = trace_open_fd(dup(fd), "imported", &trace, fail);
	if (!r)
		r = printed_trace(trace, &(struct printed){ .format = "ftrace" }, report, fail);
	trace_free(trace);
	import_free(import);
	return r;
}

/* Takes the next line that is none of the header. Returns false at the end. */
static bool next(struct rest *rest, struct rest *ret)
{
	do {
		const char *end = rest->len ? memchr(rest->at, '\n', rest->len) : NULL;

		*ret = (struct rest){ rest->at, end ? (size_t)(end - rest->at) : rest->len };
		if (!rest->len)
			return false;
		rest->len -= ret->len + (end != NULL);
		rest->at += ret->len + (end != NULL);
	} while (ret->len && *ret->at == '#');
	return true;
}

/* Whether the lines of latency-format differ only in the mark of the delay, which is one character behind "us". */
static bool is_mark(const struct rest *a, const struct rest *b)
{
	size_t at = 0;

	if (a->len != b->len)
		return false;
	while (at < a->len && a->at[at] == b->at[at])
		at++;
	return at > 2 && at + 1 < a->len && !memcmp(a->at + at - 2, "us", 2) && a->at[at + 1] == ':' &&
	       !memcmp(a->at + at + 1, b->at + at + 1, a->len - at - 1);
}

/*
 * Returns whether the lines are equal, or tells the first ones that are not. *ret_marks: only marks of delays are not.
 */
static bool compare(const struct buf *want, const struct buf *got, bool *ret_marks, char *told, size_t size)
{
	struct rest a = { want->data, want->len }, b = { got->data, got->len }, line, other;

	for (;;) {
		bool more = next(&a, &line), too = next(&b, &other);

		if (!more && !too)
			return !*ret_marks;
		lines += more;
		if (more == too && line.len == other.len && !memcmp(line.at, other.at, line.len))
			continue;
		if (more && too && is_mark(&line, &other)) {
			*ret_marks = true;
			snprintf(told, size, "marks of delays");
			continue;
		}
		*ret_marks = false;
		snprintf(told, size, "'%.*s' came back as '%.*s'", (int)(line.len < SHOWN ? line.len : SHOWN),
			 more ? line.at : "", (int)(other.len < SHOWN ? other.len : SHOWN), too ? other.at : "");
		return false;
	}
}

static void judge(const char *name, const char *told)
{
	for (size_t i = 0; i < nr_exceptions; i++)
		if (!fnmatch(exceptions[i].glob, name, 0)) {
			exceptions[i].found++;
			excepted++;
			if (getenv("VERBOSE"))
				printf("excepted %s: %s\n", name, told);
			return;
		}
	printf("FAILED import: %s: %s\n", name, told);
	failed++;
}

static void judge_marks(const char *name, bool marks, const char *told)
{
	char full[600];

	snprintf(full, sizeof(full), "%s%s", name, marks ? "#marks" : "");
	judge(full, told);
}

static void judge_strange(const char *name, const char *told)
{
	printf("FAILED import: %s: a number that the text does not have: %s\n", name, told);
	failed++;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	static const char *const names[] = { "trace*.txt", "snapshot*.txt", "*.trace*.txt", "pipe[0-9].txt" };
	cleanup_buf struct buf want = BUF_INIT, got = BUF_INIT;
	cleanup_fd int fd = -1;
	char told[512], name[512];
	struct import_counts counts = { .events = 0 };
	struct fail fail = FAIL_INIT;
	bool is = false, marks = false;

	(void)st;
	if (type == FTW_D && !strcmp(path + ftw->base, "meta"))
		return FTW_SKIP_SUBTREE;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		is |= !fnmatch(names[i], path + ftw->base, 0);
	if (type != FTW_F || !is)
		return FTW_CONTINUE;
	snprintf(name, sizeof(name), "%s", path + dir_len);
	name[strlen(name) - strlen(".txt")] = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read_all(fd, TEXT_MAX, &want)) {
		judge(name, "cannot be read");
		return FTW_CONTINUE;
	}
	if (import_and_report(&want, &counts, &got, &fail))
		judge(name, fail.text);
	else if (values_find_strange(want.data, want.len, got.data, got.len, told, sizeof(told)))
		judge_strange(name, told);
	else if (compare(&want, &got, &marks, told, sizeof(told)))
		same++;
	else
		judge_marks(name, marks, told);
	return FTW_CONTINUE;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	read_exceptions(argv[1]);
	for (int i = 2; i < argc; i++) {
		dir_len = strlen(argv[i]) + 1;
		if (nftw(argv[i], visit, 16, FTW_PHYS | FTW_ACTIONRETVAL))
			return 2;
	}
	for (size_t i = 0; i < nr_exceptions; i++) {
		const struct exception *exception = &exceptions[i];

		if (exception->found)
			printf("skip %u texts %s: %s\n", exception->found, exception->glob, exception->reason);
		if (exception->found != exception->expected) {
			printf("FAILED import: %s: %u texts differ, but the list of exceptions says %u\n",
			       exception->glob, exception->found, exception->expected);
			failed++;
		}
	}
	fprintf(stderr, "import: %llu lines\n", lines);
	printf("import: %u passed, %u failed, %u skipped\n", same, failed, excepted);
	return failed > 0;
}
