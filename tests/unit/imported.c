// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/imported.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/exported.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

static int read_text(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct imported_text *text = arg;
	size_t len = size < text->len ? size : text->len;

	(void)fail;
	memcpy(to, text->at, len);
	text->at += len;
	text->len -= len;
	return (int)len;
}

int imported_read(struct import *import, struct imported_text text, struct fail *fail)
{
	return import_read(import, &(struct import_source){ .read = read_text, .arg = &text }, fail);
}

int imported(const char *text, struct trace *formats, struct trace **ret, struct import_counts *counts,
	     struct fail *fail)
{
	const struct recast_options form = { .version = 7 };
	cleanup_fd int fd = memfd_create("imported", MFD_CLOEXEC);
	struct import *import = NULL;
	uint64_t size = 0;
	int r = import_new(formats, &form, &import, fail);

	if (!r)
		r = imported_read(import, (struct imported_text){ text, strlen(text) }, fail);
	if (!r)
		r = import_write(import, fd, &size, fail);
	if (!r)
		r = trace_open_fd(dup(fd), "imported", ret, fail);
	if (!r)
		*counts = import_counts(import);
	import_free(import);
	return r;
}

/* A trace of the text; NULL fails the test. */
static struct trace *import_checked(const char *text, struct trace *formats, struct import_counts *counts)
{
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;

	if (!CHECK(!imported(text, formats, &trace, counts, &fail)))
		CHECK_STR(fail.text, "");
	return trace;
}

struct import_counts imported_prints(const char *text, struct trace *formats, const char *want)
{
	cleanup_buf struct buf got = BUF_INIT;
	struct import_counts counts = { .events = 0 };
	struct fail fail = FAIL_INIT;
	struct trace *trace = import_checked(text, formats, &counts);

	if (!trace)
		return counts;
	while (*want == '#')
		want += strcspn(want, "\n") + 1;
	if (CHECK(!printed_trace(trace, &(struct printed){ .format = "ftrace" }, &got, &fail)))
		CHECK_STR(printed_body(&got), want);
	CHECK_STR(fail.text, "");
	trace_free(trace);
	return counts;
}

struct import_counts comes_back(const char *text)
{
	return imported_prints(text, NULL, text);
}

char *imported_fields(const char *text, const char *fields)
{
	struct import_counts counts;
	struct trace *trace = import_checked(text, NULL, &counts);
	char *all = trace ? exported_fields(trace, fields) : NULL;
	size_t names = all ? strcspn(all, "\n") + 1 : 0;

	if (all)
		memmove(all, all + names, strlen(all + names) + 1);
	trace_free(trace);
	return all;
}
