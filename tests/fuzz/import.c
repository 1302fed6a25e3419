// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: any text as the kernel's `trace`. The imported file must be readable and have as many events as were imported.
 */
#include "lib/base/cleanup.h"
#include "lib/import/import.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint64_t count(int fd)
{
	struct reader reader;
	struct trace *trace = NULL;
	struct event event;
	uint64_t nr = 0;

	if (trace_open_fd(fd, "imported", &trace, NULL))
		return 0;
	reader_init(&reader);
	if (!reader_add_trace(&reader, trace, NULL) &&
	    !reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL))
		while (reader_next(&reader, &event, NULL) > 0)
			nr += event.kind == EVENT_RECORD;
	reader_release(&reader);
	trace_free(trace);
	return nr;
}

struct rest {
	const uint8_t *at;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct recast_options form = { .version = 7, .compress = true, .level = 1 };
	struct rest rest = { data, len };
	struct import *import = NULL;
	uint64_t size;
	int fd, r = import_new(NULL, &form, &import, NULL);

	if (!r)
		r = import_read(import, &(struct import_source){ .read = read_rest, .arg = &rest }, NULL);
	fd = r ? -1 : memfd_create("imported", MFD_CLOEXEC);
	if (fd >= 0 && !import_write(import, fd, &size, NULL) && count(dup(fd)) != import_counts(import).events)
		__builtin_trap();
	cleanup_fd_close(&fd);
	import_free(import);
	return 0;
}
