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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct recast_options form = { .version = 7, .compress = true, .level = 1 };
	const char *at = (const char *)data, *end = at + len;
	struct import *import = NULL;
	uint64_t size;
	int fd, r = import_new(NULL, &form, &import, NULL);

	while (!r && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t line = newline ? (size_t)(newline - at) : (size_t)(end - at);

		r = import_line(import, at, line, NULL);
		at += line + (newline != NULL);
	}
	fd = r ? -1 : memfd_create("imported", MFD_CLOEXEC);
	if (fd >= 0 && !import_write(import, fd, &size, NULL) && count(dup(fd)) != import_counts(import).events)
		__builtin_trap();
	cleanup_fd_close(&fd);
	import_free(import);
	return 0;
}
